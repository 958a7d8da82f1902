//! The processes of functions that the emulator runs. It starts them itself, so they are read from `/proc`.

use std::path::Path;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::process::{members, resident_of};

pub(super) struct Worker {
    pub(super) function: String,
    pub(super) resident_kb: u64,
    id: i32,
}

/// Every process of a function in the emulator's group.
pub(super) fn workers(group: u32) -> Vec<Worker> {
    let worker = |process: std::path::PathBuf| {
        let function = function_of(&process)?;
        let id = process.file_name()?.to_str()?.parse().ok()?;
        Some(Worker { function, resident_kb: resident_of(&process)?, id })
    };
    members(group).filter_map(worker).collect()
}

/// Resident memory of the emulator without its functions, in kB.
pub(super) fn emulator_kb(group: u32) -> Option<u64> {
    members(group).filter(|process| function_of(process).is_none()).filter_map(|process| resident_of(&process)).max()
}

fn function_of(process: &Path) -> Option<String> {
    let environment = std::fs::read(process.join("environ")).ok()?;
    let mut variables = environment.split(|byte| *byte == 0);
    let name = variables.find_map(|variable| variable.strip_prefix(b"AWS_LAMBDA_FUNCTION_NAME="))?;
    String::from_utf8(name.to_vec()).ok()
}

impl Worker {
    /// Kills it, like `kill -9`. Returns whether it was running.
    pub(super) fn kill(&self) -> bool {
        kill(Pid::from_raw(self.id), Signal::SIGKILL).is_ok()
    }
}
