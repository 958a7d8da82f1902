//! Compiles the sources that each file of `src/scenarios` names: as they are, and once with each mistake that its comments plant.
//! Writes a test for each scenario.
//!
//! A mistake is told by comments above its scenario: what it is, in quotes the rule that it breaks unless that is the scenario's
//! name, and the lines that it replaces (`-`) and by what (`+`), wherever they are indented. Without any, those of the one before.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// What sources expect in their own crate.
const USES: &str = "#[allow(unused_imports)]\nuse {api::Code, crate::sync::{self, Clock, Moment}, stock::{Reserve, SoldOut, StockError}};\n";

/// The right text and the wrong one.
type Replaced = (String, String);

struct Kernel<'a> {
    name: &'a str,
    scenario: &'a Path,
    sources: Vec<PathBuf>,
    out: &'a Path,
}

fn main() {
    let package = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let root = package.join("../..").canonicalize().expect("the workspace is there");
    println!("cargo::rerun-if-changed=src/scenarios");
    let files = fs::read_dir(package.join("src/scenarios")).expect("a folder");
    let mut scenarios: Vec<PathBuf> = files.map(|file| file.expect("a file").path()).collect();
    scenarios.sort();
    let (mut modules, mut tests) = (String::new(), String::new());
    for scenario in &scenarios {
        let name = scenario.file_stem().and_then(|stem| stem.to_str()).expect("a name");
        let text = fs::read_to_string(scenario).expect("a scenario");
        let sources = text.lines().find_map(|line| line.strip_prefix("//! Sources: ")).expect("it names its sources");
        let sources = sources.split(' ').map(|source| root.join(source)).collect();
        let (module, test) = Kernel { name, scenario, sources, out: &out }.compile(&text);
        modules += &format!("pub mod {name} {{\n{module}}}\n");
        tests += &format!(
            "mod {name} {{\n#[allow(unused_imports)]\nuse schedules::{{assert_caught, explore, explore_all, {name}::*}};\n{test}}}\n"
        );
    }
    fs::write(out.join("kernels.rs"), modules).expect("the folder can be written");
    fs::write(out.join("tests.rs"), tests).expect("the folder can be written");
}

impl Kernel<'_> {
    /// The modules of the sources, and the tests of their scenarios.
    fn compile(&self, text: &str) -> (String, String) {
        let (mut modules, mut tests) = (self.variant("as_it_is", Vec::new()), String::new());
        let (mut explore, mut catches, mut mistakes) = ("explore", String::new(), 0);
        let mut lines = text.lines().peekable();
        let mut replaced: Vec<Replaced> = Vec::new();
        while let Some(line) = lines.next() {
            if line == "// Under every schedule." {
                explore = "explore_all";
            } else if let Some(is) = line.strip_prefix("// Mistake") {
                let rule = is.strip_prefix(" \"").and_then(|is| is.split('"').next()).unwrap_or("SCENARIO_IN_WORDS");
                let mut marked = Vec::new();
                while let Some(line) = lines.next_if(|line| line.starts_with("// -") || line.starts_with("// +")) {
                    marked.push(line.split_at("// -".len()));
                }
                if !marked.is_empty() {
                    // A pair is what is right, marked -, and then what is wrong, marked +.
                    let pairs = marked.chunk_by(|one, next| one.0 == next.0 || one.0 == "// -");
                    replaced = pairs.map(|pair| (marked_by("// -", pair), marked_by("// +", pair))).collect();
                }
                mistakes += 1;
                let mistake = format!("mistake_{mistakes}");
                modules += &self.variant(&mistake, replaced.clone());
                catches += &format!("assert_caught({mistake}::scenario::SCENARIO, {rule:?});\n");
            } else if let Some(scenario) = line.strip_prefix("pub fn ").and_then(|line| line.strip_suffix("() {")) {
                let catches = std::mem::take(&mut catches).replace("SCENARIO_IN_WORDS", &scenario.replace('_', " "));
                let catches = catches.replace("SCENARIO", scenario);
                tests +=
                    &format!("#[test]\nfn {scenario}() {{\n{explore}(as_it_is::scenario::{scenario});\n{catches}}}\n");
                explore = "explore";
            }
        }
        (modules, tests)
    }

    fn variant(&self, variant: &str, mut replaced: Vec<Replaced>) -> String {
        let mut code = format!("pub mod {variant} {{\n{USES}");
        let folder = self.out.join(self.name).join(variant);
        fs::create_dir_all(&folder).expect("the folder can be written");
        for source in &self.sources {
            println!("cargo::rerun-if-changed={}", source.to_string_lossy());
            let text = fs::read_to_string(source).unwrap_or_else(|error| panic!("{}: {error}", source.display()));
            // Unit tests run only in the crate of the source, even when this crate is compiled for tests.
            let text = text.replace("#[cfg(test)]", "#[cfg(any())]");
            let mut text: String = text.lines().flat_map(|line| [line.trim_start(), "\n"]).collect();
            replaced.retain(|(right, wrong)| {
                let found = text.matches(right).count();
                assert!(found <= 1, "a mistake of {} replaces text found {found} times: {right}", self.name);
                text = text.replace(right, wrong);
                found == 0
            });
            let path = folder.join(source.file_name().expect("a name"));
            fs::write(&path, text).expect("the folder can be written");
            code +=
                &format!("#[path = {path:?}]\npub mod {};\n", source.file_stem().expect("a name").to_string_lossy());
        }
        assert!(replaced.is_empty(), "a mistake replaces text that no source of {} has: {replaced:?}", self.name);
        code + &format!("#[path = {:?}]\npub mod scenario;\n}}\n", self.scenario)
    }
}

fn marked_by(mark: &str, lines: &[(&str, &str)]) -> String {
    let lines = lines.iter().filter(|line| line.0 == mark).map(|line| line.1.trim());
    lines.collect::<Vec<_>>().join("\n")
}
