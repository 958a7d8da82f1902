//! Writes the module of each kernel: its sources as they are, and with each planted mistake.

mod kernels;

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

use kernels::{KERNELS, Kernel, Mistake, USES};

fn main() {
    let package = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let root = package.join("../..").canonicalize().expect("the workspace is there");
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-changed=src/scenarios");
    let mut code = String::new();
    for kernel in KERNELS {
        let scenario = package.join(format!("src/scenarios/{}.rs", kernel.name));
        writeln!(code, "pub mod {} {{", kernel.name).expect("strings can be written");
        code += &variant(kernel, None, &root, &out, &scenario);
        for mistake in kernel.mistakes {
            code += &variant(kernel, Some(mistake), &root, &out, &scenario);
        }
        code += "}\n";
    }
    fs::write(out.join("kernels.rs"), code).expect("the folder can be written");
}

fn variant(kernel: &Kernel, mistake: Option<&Mistake>, root: &Path, out: &Path, scenario: &Path) -> String {
    let name = mistake.map_or("as_it_is", |mistake| mistake.name);
    let uses = USES.iter().find(|(of, _)| *of == kernel.name).map_or("", |(_, uses)| uses);
    let mut code = format!("pub mod {name} {{\nuse crate::sync;\n{uses}\n");
    // Each text that is still to be replaced, somewhere in the sources.
    let mut replaced = mistake.map(Mistake::replaced).unwrap_or_default();
    for source in kernel.sources {
        let path = root.join(source);
        println!("cargo::rerun-if-changed={}", path.display());
        let module = path.file_stem().and_then(|stem| stem.to_str()).expect("a name").to_owned();
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        // Unit tests run only in the crate of the source, even when this crate is compiled for tests.
        let mut text = text.replace("#[cfg(test)]", "#[cfg(any())]");
        replaced.retain(|(right, wrong)| {
            let found = text.matches(right).count();
            assert!(found <= 1, "{name} replaces text found {found} times in {source}: {right}");
            text = text.replace(right, wrong);
            found == 0
        });
        let folder = out.join(kernel.name).join(name);
        fs::create_dir_all(&folder).expect("the folder can be written");
        let path = folder.join(format!("{module}.rs"));
        fs::write(&path, text).expect("the folder can be written");
        write!(code, "#[path = {path:?}]\npub mod {module};\n").expect("strings can be written");
    }
    let is = mistake.map_or("", |mistake| mistake.is);
    assert!(replaced.is_empty(), "{name} ({is}) replaces text that no source of {} has: {replaced:?}", kernel.name);
    code + &format!("#[path = {scenario:?}]\npub mod scenario;\n}}\n")
}
