//! The scripts, their headers, `lua/README.md` and the crate `stock` agree.

use std::path::PathBuf;

use stock::ScriptCode;
use stock::expanded::{ALL, LAYOUT};

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

/// The answers in a script's code: string literals that are codes or look like an answer, in lines that return or prepare
/// an answer.
fn answers(script: &str) -> BTreeSet<String> {
    let code: Vec<&str> = script.lines().filter(|line| !line.trim_start().starts_with("--")).collect();
    let mut answers = BTreeSet::new();
    for line in &code {
        if !line.contains("return") && !line.contains("refusal = ") {
            continue;
        }
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

/// Rows of the table of answers: the code, and the scripts that answer it.
fn documented() -> Vec<(String, BTreeSet<String>)> {
    let readme = std::fs::read_to_string(lua().join("README.md")).unwrap();
    let table = readme.split("## Answers").nth(1).unwrap();
    let rows = table.lines().filter(|line| line.starts_with("| `"));
    rows.map(|row| {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        (cells[1].trim_matches('`').to_owned(), cells[2].split(", ").map(str::to_owned).collect())
    })
    .collect()
}

#[test]
fn rust_and_the_readme_list_the_same_codes_once() {
    let rust: Vec<&str> = ScriptCode::ALL.iter().map(|code| code.as_str()).collect();
    let readme: Vec<String> = documented().into_iter().map(|row| row.0).collect();
    assert_eq!(rust, readme);
    assert_eq!(rust.iter().collect::<BTreeSet<_>>().len(), rust.len(), "a code is there twice");
}

#[test]
fn each_script_answers_what_the_readme_says_it_answers() {
    for &(name, script) in ALL {
        let from: BTreeSet<String> =
            documented().into_iter().filter(|row| row.1.contains(name)).map(|row| row.0).collect();
        assert_eq!(answers(script), from, "{name}");
    }
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

/// Rewrites the table if it differs. The next run passes.
#[test]
fn the_readme_has_the_table_of_packed_fields() {
    let path = lua().join("README.md");
    let readme = std::fs::read_to_string(&path).unwrap();
    let (begin, end) = ("<!-- fields -->\n", "<!-- end of fields -->\n");
    let (before, rest) = readme.split_once(begin).unwrap();
    let (table, after) = rest.split_once(end).unwrap();
    if table != LAYOUT {
        std::fs::write(&path, [before, begin, LAYOUT, end, after].concat()).unwrap();
        panic!("the table of fields in lua/README.md was out of date and is now rewritten: commit it");
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
