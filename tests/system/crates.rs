//! The table of crates in `ARCHITECTURE.md` is what `cargo metadata` says.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::sync::LazyLock;

use serde_json::Value;

/// The row of all functions, and what a crate uses that uses all of them.
const FUNCTIONS: &str = "functions/*";

/// What cargo says of the workspace, without what it needs of others.
pub(crate) static METADATA: LazyLock<Value> = LazyLock::new(|| {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let output = cargo.args(["metadata", "--no-deps", "--format-version=1"]).current_dir(local::paths::root()).output();
    let output = output.expect("cargo starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON")
});

/// A crate: where it is, and the crates of the workspace that it is made with.
struct Crate {
    folder: String,
    uses: BTreeSet<&'static str>,
}

fn crates() -> BTreeMap<&'static str, Crate> {
    let packages = METADATA["packages"].as_array().expect("there are packages");
    let name = |of: &'static Value| of["name"].as_str().expect("all have a name");
    let names: BTreeSet<&str> = packages.iter().map(name).collect();
    let crates = packages.iter().map(|package| {
        let manifest = package["manifest_path"].as_str().expect("all have a manifest");
        let folder = manifest.strip_prefix(METADATA["workspace_root"].as_str().expect("there is a root"));
        let folder = folder.and_then(|path| path.strip_prefix('/')?.strip_suffix("/Cargo.toml")).expect("within it");
        let used = package["dependencies"].as_array().expect("a list").iter().filter(|used| used["kind"] != "dev");
        let uses = used.map(name).filter(|used| names.contains(used)).collect();
        (name(package), Crate { folder: folder.to_owned(), uses })
    });
    crates.collect()
}

/// The crates of each row.
fn rows() -> BTreeMap<String, BTreeSet<&'static str>> {
    let crates = crates();
    let is_function = |name: &str| crates[name].folder.starts_with("functions/");
    let functions: BTreeSet<&str> = crates.keys().copied().filter(|name| is_function(name)).collect();
    let mut rows: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for (name, Crate { folder, uses }) in &crates {
        let row = if is_function(name) { FUNCTIONS } else { folder };
        let uses_all = uses.is_superset(&functions);
        let shown = uses.iter().copied().filter(|used| !uses_all || !functions.contains(used));
        rows.entry(row.to_owned()).or_default().extend(shown.chain(uses_all.then_some(FUNCTIONS)));
    }
    rows
}

/// The words in backticks.
fn named(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

#[test]
fn architecture_has_every_crate_and_what_it_uses() {
    let architecture = std::fs::read_to_string(local::paths::root().join("ARCHITECTURE.md")).unwrap();
    let (_, table) =
        architecture.split_once("| crate | knows | does not know | uses |\n").expect("the table of crates");
    let mut mistakes = Vec::new();
    let mut rows = rows();
    for line in table.lines().skip(1).take_while(|line| line.starts_with('|')) {
        let [_, name, knows, does_not_know, uses, _] = line.split('|').map(str::trim).collect::<Vec<_>>()[..] else {
            panic!("a row has four cells: {line}");
        };
        let name = named(name).next().unwrap_or_else(|| panic!("a row begins with its crate: {line}"));
        match rows.remove(name) {
            None => mistakes.push(format!("take out: {line}")),
            Some(made_with) if made_with == named(uses).collect() => {}
            Some(made_with) => {
                mistakes.push(format!("write:    | `{name}` | {knows} | {does_not_know} | {} |", cell(&made_with)));
            }
        }
    }
    mistakes.extend(rows.iter().map(|(name, uses)| format!("add:      | `{name}` | … | … | {} |", cell(uses))));
    assert!(mistakes.is_empty(), "in the table of crates of ARCHITECTURE.md\n{}", mistakes.join("\n"));
}

fn cell(uses: &BTreeSet<&str>) -> String {
    let names: Vec<String> = uses.iter().map(|name| format!("`{name}`")).collect();
    if names.is_empty() { "–".to_owned() } else { names.join(", ") }
}

#[test]
fn no_function_uses_another_and_what_is_shared_uses_none() {
    let crates = crates();
    let shipped = |folder: &str| folder.starts_with("functions/") || folder.starts_with("shared/");
    for (name, Crate { folder, uses }) in crates.iter().filter(|(_, of)| shipped(&of.folder)) {
        let not_shared: Vec<_> = uses.iter().filter(|used| !crates[*used].folder.starts_with("shared/")).collect();
        assert!(not_shared.is_empty(), "{name} in {folder} uses {not_shared:?}");
    }
}
