//! The table of crates in `ARCHITECTURE.md` lists every crate below all those that it uses.

use std::process::Command;

use crate::prelude::*;

/// Cargo's metadata of the workspace, without dependencies.
pub(crate) static METADATA: LazyLock<Value> = LazyLock::new(|| {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let output = cargo.args(["metadata", "--no-deps", "--format-version=1"]).current_dir(local::paths::root()).output();
    let output = output.expect("cargo starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON")
});

/// Each crate's folder, and the workspace crates that it uses.
fn crates() -> BTreeMap<&'static str, (&'static str, BTreeSet<&'static str>)> {
    let packages = METADATA["packages"].as_array().expect("there are packages");
    let name = |of: &'static Value| of["name"].as_str().expect("all have a name");
    let names: BTreeSet<&str> = packages.iter().map(name).collect();
    let crates = packages.iter().map(|package| {
        let manifest = package["manifest_path"].as_str().expect("all have a manifest");
        let folder = manifest.strip_prefix(METADATA["workspace_root"].as_str().expect("there is a root"));
        let folder = folder.and_then(|path| path.strip_prefix('/')?.strip_suffix("/Cargo.toml")).expect("within it");
        let used = package["dependencies"].as_array().expect("a list").iter().filter(|used| used["kind"] != "dev");
        (name(package), (folder, used.map(name).filter(|used| names.contains(used)).collect()))
    });
    crates.collect()
}

#[test]
fn architecture_has_every_crate_below_those_that_it_uses() {
    let architecture = std::fs::read_to_string(local::paths::root().join("ARCHITECTURE.md")).unwrap();
    let (_, table) = architecture.split_once("| crate | knows | does not know |\n").expect("the table of crates");
    let crates = crates();
    let row_of = |name: &str| {
        let folder = crates[name].0;
        if folder.starts_with("functions/") { "functions/*" } else { folder }
    };
    let mut rows: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (name, (_, uses)) in &crates {
        rows.entry(row_of(name)).or_default().extend(uses.iter().map(|used| row_of(used)));
    }
    let (mut above, mut mistakes) = (BTreeSet::new(), Vec::new());
    for line in table.lines().skip(1).take_while(|line| line.starts_with('|')) {
        let name = line.split('`').nth(1).unwrap_or_else(|| panic!("a row begins with its crate: {line}"));
        match rows.remove(name) {
            None => mistakes.push(format!("take out: {line}")),
            Some(uses) => {
                let below: Vec<_> = uses.difference(&above).collect();
                if !below.is_empty() {
                    mistakes.push(format!("move `{name}` below {below:?}, which it uses"));
                }
            }
        }
        above.insert(name);
    }
    mistakes.extend(rows.keys().map(|name| format!("add: | `{name}` | … | … |")));
    assert!(mistakes.is_empty(), "in the table of crates of ARCHITECTURE.md\n{}", mistakes.join("\n"));
}

#[test]
fn no_function_uses_another_and_what_is_shared_uses_none() {
    let crates = crates();
    let shipped = |folder: &str| folder.starts_with("functions/") || folder.starts_with("shared/");
    for (name, (folder, uses)) in crates.iter().filter(|(_, (folder, _))| shipped(folder)) {
        let not_shared: Vec<_> = uses.iter().filter(|used| !crates[*used].0.starts_with("shared/")).collect();
        assert!(not_shared.is_empty(), "{name} in {folder} uses {not_shared:?}");
    }
}

#[test]
fn each_public_type_has_a_name_of_its_own_and_no_file_imports_one_that_imports_it() {
    for check in ["tests/names.sh", "tests/circles.py"] {
        let said = Command::new(local::paths::root().join(check)).output().expect("a shell and Python");
        assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    }
}
