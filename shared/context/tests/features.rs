//! Checks that a function's `Cargo.toml` lists exactly the features of `context` that its code uses. The compiler
//! cannot tell, because in a workspace build every function has the features of all.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn declared(manifest: &str) -> BTreeSet<String> {
    let (_, context) = manifest.split_once("\ncontext = ").expect("it has the context");
    let (_, features) = context.split_once("features = [").expect("with features");
    let (features, _) = features.split_once(']').expect("a list");
    features.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

fn sources(folder: &Path) -> String {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| if path.is_dir() { sources(&path) } else { fs::read_to_string(path).unwrap() }).collect()
}

/// The features of this crate, except for those that the others build on.
fn features() -> Vec<&'static str> {
    let (_, features) = include_str!("../Cargo.toml").split_once("[features]\n").unwrap();
    let lines = features.split_once("\n[").unwrap().0.lines();
    let names = lines.filter_map(|line| Some(line.split_once(" = ")?.0));
    names.filter(|name| !["queues", "secrets"].contains(name)).collect()
}

/// Whether it calls `serve` with how its dependencies are made.
fn serves_with(source: &str, serve: &str) -> bool {
    let call = format!("{serve}(");
    source.lines().map(str::trim_start).any(|line| line.starts_with(&call) && line.contains("Deps::new,"))
}

fn asked_for(source: &str, feature: &str) -> bool {
    match feature {
        "http" => serves_with(source, "serve"),
        "crowd" => serves_with(source, "serve_crowd"),
        _ => source.contains(&format!("context.{feature}()")),
    }
}

#[test]
fn functions_declare_what_they_ask_for() {
    let functions = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../functions");
    let functions: Vec<PathBuf> = fs::read_dir(functions).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(functions.len() >= 17, "{functions:?}");
    let mut used = BTreeSet::new();
    for function in functions {
        let source = sources(&function.join("src"));
        let asked: BTreeSet<String> =
            features().into_iter().filter(|feature| asked_for(&source, feature)).map(str::to_owned).collect();
        let manifest = fs::read_to_string(function.join("Cargo.toml")).unwrap();
        assert_eq!(declared(&manifest), asked, "{}", function.display());
        used.extend(asked);
    }
    assert_eq!(used, features().into_iter().map(str::to_owned).collect(), "a feature that no function uses can go");
}
