//! A search is complete and takes no input, so the same sources always come to the same result. What passed is noted beside
//! the programs, and not searched again until a source changes. A program that was only linked again is no reason.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

/// Everything that decides what a search finds: model and checker of histories ask no other crate of the workspace.
const SOURCES: [&str; 3] = ["src", "tests", "../../Cargo.lock"];

/// Searches, unless the same search passed before with the same sources. A search that does not pass panics.
pub(crate) fn once(test: &str, search: impl FnOnce()) {
    let program = std::env::current_exe().expect("a program has a path");
    let note = program.with_file_name(format!("model-{}-{test}.passed", env!("CARGO_CRATE_NAME")));
    let digest = digest();
    if std::fs::read_to_string(&note).is_ok_and(|noted| noted == digest) {
        println!("{test} passed before, and no source has changed since (see {})", note.display());
        return;
    }
    search();
    std::fs::write(&note, &digest).expect("the folder of programs can be written to");
}

fn digest() -> String {
    let model = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = BTreeSet::new();
    SOURCES.into_iter().for_each(|source| add_files(&model.join(source), &mut files));
    let mut hasher = DefaultHasher::new();
    for file in files {
        file.strip_prefix(model).expect("it is below it").hash(&mut hasher);
        std::fs::read(&file).expect("a source can be read").hash(&mut hasher);
    }
    format!("{:016x}\n", hasher.finish())
}

/// Adds a file, or every file below a folder.
fn add_files(path: &Path, files: &mut BTreeSet<PathBuf>) {
    if !path.is_dir() {
        files.insert(path.to_owned());
        return;
    }
    for entry in std::fs::read_dir(path).expect("a folder of sources can be read") {
        add_files(&entry.expect("its entries too").path(), files);
    }
}
