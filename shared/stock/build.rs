//! Expands the scripts of `lua/`, each into a constant with its name; see `lua/README.md`.

#[path = "src/expand.rs"]
mod expand;

use std::collections::BTreeMap;
use std::path::Path;

include!("src/cooldown.rs");

const LUA: &str = "../../lua";

fn main() {
    for path in [LUA, "build.rs", "src/cooldown.rs", "src/expand.rs", "src/sale_fields.rs"] {
        println!("cargo::rerun-if-changed={path}");
    }
    match expanded() {
        Ok(text) => {
            let folder = std::env::var("OUT_DIR").expect("cargo says where");
            std::fs::write(Path::new(&folder).join("expanded.rs"), text).expect("the folder can be written to");
        }
        Err(error) => println!("cargo::error={error}"),
    }
}

/// The module `expanded`.
fn expanded() -> Result<String, String> {
    let expander = expand::Expander {
        fields: expand::FIELDS,
        constants: &[("COOLDOWN_MS", COOLDOWN_MS)],
        fragments: scripts(&format!("{LUA}/fragments"))?,
    };
    let (mut text, mut all) = (String::new(), String::new());
    for (name, script) in scripts(LUA)? {
        let script = expander.expand(&format!("lua/{name}.lua"), &script)?;
        let constant = name.to_uppercase();
        text.push_str(&format!("/// `lua/{name}.lua`.\npub const {constant}: &str = {script:?};\n"));
        all.push_str(&format!("({name:?}, {constant}), "));
    }
    let layout = expand::layout(expand::FIELDS);
    text.push_str(&format!("/// Every script after its name.\npub const ALL: &[(&str, &str)] = &[{all}];\n"));
    text.push_str(&format!("/// The table of packed fields.\npub const LAYOUT: &str = {layout:?};\n"));
    Ok(text)
}

/// The Lua files of a folder, by name.
fn scripts(folder: &str) -> Result<BTreeMap<String, String>, String> {
    let error = |error: std::io::Error| format!("{folder}: {error}");
    let mut scripts = BTreeMap::new();
    for file in std::fs::read_dir(folder).map_err(error)? {
        let path = file.map_err(error)?.path();
        if path.extension().is_some_and(|extension| extension == "lua") {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            scripts.insert(name, std::fs::read_to_string(&path).map_err(error)?);
        }
    }
    Ok(scripts)
}
