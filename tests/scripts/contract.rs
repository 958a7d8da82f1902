//! The scripts, their headers and the crate `stock` agree.

use std::path::PathBuf;

use stock::ScriptCode;
use stock::expanded::ALL;

use crate::prelude::*;

fn lua() -> PathBuf {
    local::paths::root().join("lua")
}

/// The names and source texts of the scripts in a folder.
fn written(folder: PathBuf) -> Vec<(String, String)> {
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let scripts = files.filter(|path| path.extension().is_some_and(|extension| extension == "lua"));
    scripts
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, std::fs::read_to_string(path).unwrap())
        })
        .collect()
}

/// The answers in a script's code: string literals that look like one, in lines that return or prepare one.
fn answers(script: &str) -> BTreeSet<String> {
    let code = script.lines().filter(|line| !line.trim_start().starts_with("--"));
    let mut answers = BTreeSet::new();
    for line in code.filter(|line| line.contains("return") || line.contains("refusal = ")) {
        for literal in line.split('\'').skip(1).step_by(2) {
            let word = literal.split(' ').next().unwrap();
            if word.len() > 1 && word.chars().all(|c| c.is_ascii_lowercase() || c == '_') {
                answers.insert(word.to_owned());
            }
        }
    }
    answers
}

fn header(script: &str) -> String {
    script.lines().take_while(|line| line.starts_with("--")).collect::<Vec<_>>().join("\n")
}

#[test]
fn rust_knows_what_the_scripts_answer_and_nothing_else() {
    let answered: BTreeSet<String> = ALL.iter().flat_map(|(_, script)| answers(script)).collect();
    let known: BTreeSet<String> = ScriptCode::ALL.iter().map(|code| code.as_str().to_owned()).collect();
    assert_eq!(answered, known);
}

#[test]
fn each_header_names_keys_arguments_and_every_answer() {
    for &(name, script) in ALL {
        let header = header(script);
        for part in ["KEYS", "ARGV", "Returns"] {
            assert!(header.contains(part), "the header of {name} lacks {part}");
        }
        for answer in answers(script) {
            assert!(header.contains(&answer), "{name} answers {answer} but its header does not say so");
        }
        let most = |what: &str| {
            let opening = format!("{what}[");
            let uses = script
                .match_indices(&opening)
                .filter_map(|(at, _)| script[at + opening.len()..].split(']').next().unwrap().parse::<usize>().ok());
            uses.max().unwrap_or(0)
        };
        for number in 1..=most("KEYS") {
            assert!(header.contains(&format!("{number} ")), "{name} does not say what KEYS[{number}] is");
        }
    }
}

/// Packed fields, and values that scripts and Rust share, are spelled only once, and every fragment is used.
#[test]
fn directives_stand_for_what_is_spelled_elsewhere() {
    let (scripts, fragments) = (written(lua()), written(lua().join("fragments")));
    for (name, _) in &fragments {
        let line = format!("--- @include {name}");
        let mut all = scripts.iter().chain(&fragments);
        assert!(all.any(|(_, text)| text.lines().any(|other| other.trim() == line)), "no script includes {name}");
    }
    for (name, text) in scripts.iter().chain(&fragments) {
        for spelled in ["struct.", "SETRANGE", "GETRANGE", "#sale", "local COOLDOWN_MS"] {
            assert!(!text.contains(spelled), "{name} spells {spelled}");
        }
    }
}

#[test]
fn no_script_makes_up_a_key() {
    for &(name, script) in ALL {
        for (at, _) in script.match_indices("redis.call(") {
            let call = script[at..].lines().next().unwrap();
            let Some(argument) = call.split(", ").nth(1) else { continue };
            let key = argument.split(|c: char| !(c.is_alphanumeric() || "_[]".contains(c))).next().unwrap();
            assert!(key.starts_with("KEYS[") || key.ends_with("_key"), "{name}: {call}");
        }
    }
}
