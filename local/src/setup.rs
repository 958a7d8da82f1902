//! Installing and building.

use anyhow::Result;

use crate::build::build_functions;
use crate::install::install;
use crate::stages::Stage;

/// Installs the local cloud and builds the functions, as far as either is not done yet.
///
/// # Errors
/// If a tool is missing or fails; the message names it.
pub fn set_up() -> Result<()> {
    let stage = Stage::spinner("Installing the local cloud");
    install()?;
    stage.done("Valkey, AWS emulator, CDK");
    let stage = Stage::spinner("Building the functions");
    stage.say("the first time takes minutes");
    build_functions()?;
    stage.done("target/lambda");
    Ok(())
}
