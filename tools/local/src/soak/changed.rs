//! A function that differs from the built one in one byte: a letter of a comment in a script that it contains. To Redis that
//! is another script, since it identifies scripts by their digests. Building the function again would take minutes and
//! achieve the same.

use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::archives::archive_of;

/// The script that is changed: the one that hands out units.
const SCRIPT: &str = stock::expanded::RESERVE;
/// How the script begins, up to the first letter of its first comment.
const COMMENT: &str = "-- ";

pub(super) struct Changed {
    pub(super) archive: Vec<u8>,
    pub(super) scripts: Scripts,
}

#[derive(Debug, Clone, serde::Serialize)]
pub(super) struct Scripts {
    pub(super) old: String,
    pub(super) new: String,
}

fn changed_script() -> Result<String> {
    let rest = SCRIPT.strip_prefix(COMMENT).context("the script does not begin with a comment")?;
    let mut letters = rest.chars();
    let first = letters.next().filter(char::is_ascii_uppercase).context("its comment does not begin with a capital")?;
    Ok(format!("{COMMENT}{}{}", first.to_ascii_lowercase(), letters.as_str()))
}

/// Replaces each `old` in the program by a text of the same length. Returns how many there were.
fn replaced(mut program: Vec<u8>, old: &[u8], new: &[u8]) -> (Vec<u8>, usize) {
    let (mut from, mut count) = (0, 0);
    while let Some(at) = program[from..].windows(old.len()).position(|part| part == old) {
        let end = from + at + old.len();
        program[from + at..end].copy_from_slice(new);
        (from, count) = (end, count + 1);
    }
    (program, count)
}

impl Changed {
    pub(super) fn of(bootstrap: &Path, beside: &Path) -> Result<Self> {
        let program = std::fs::read(bootstrap).with_context(|| format!("cannot read {}", bootstrap.display()))?;
        let new = changed_script()?;
        let (program, count) = replaced(program, SCRIPT.as_bytes(), new.as_bytes());
        ensure!(count > 0, "the script is not in {}; run `make build`", bootstrap.display());
        std::fs::create_dir_all(beside)?;
        let changed = beside.join("bootstrap");
        std::fs::write(&changed, program)?;
        let digest = |text: &str| redis::Script::new(text).get_hash().to_owned();
        Ok(Self { archive: archive_of(&changed)?, scripts: Scripts { old: digest(SCRIPT), new: digest(&new) } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_changed_script_differs_in_a_comment_alone() {
        let new = changed_script().unwrap();
        let lines: Vec<(&str, &str)> = SCRIPT.lines().zip(new.lines()).filter(|(old, new)| old != new).collect();
        let [(old, new_line)] = lines[..] else { panic!("{lines:?}") };
        assert!(old.starts_with("-- ") && old.eq_ignore_ascii_case(new_line), "{old}\n{new_line}");
        assert_eq!(new.len(), SCRIPT.len());
    }

    #[test]
    fn every_copy_is_replaced_and_nothing_else() {
        let (program, count) = replaced(b"..ab.aab.a".to_vec(), b"ab", b"xy");
        assert_eq!((&*program, count), (&b"..xy.axy.a"[..], 2));
        assert_eq!(replaced(b"nothing".to_vec(), b"ab", b"xy").1, 0);
    }
}
