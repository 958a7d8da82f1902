//! `docs/shared-state.md` lists everything that requests share within a process, and names only tests that exist.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Types through which requests share mutable state.
const SHARING: &str = "AsyncMutex Cache Condvar FutureCache LazyLock Mutex Notify OnceCell OnceLock RefCell \
     RwLock Semaphore UnsafeCell";
const LIST: &str = "docs/shared-state.md";

/// A file, and a field, type or static declared in it.
type Item = (String, String);

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn the_list_has_what_is_shared_and_nothing_else() {
    let listed: Vec<Item> = rows().into_iter().flat_map(|(items, _)| items).collect();
    let is: BTreeSet<&Item> = listed.iter().collect();
    assert_eq!(is.len(), listed.len(), "an item is listed twice");
    let declared = declared();
    let missing: Vec<&Item> = declared.iter().filter(|item| !is.contains(item)).collect();
    assert!(missing.is_empty(), "{LIST} lacks {missing:#?}");
    let gone: Vec<&&Item> = is.iter().filter(|item| !declared.contains(**item)).collect();
    assert!(gone.is_empty(), "{LIST} lists items that do not exist: {gone:#?}");
}

#[test]
fn the_tests_that_the_list_names_are_there() {
    for (items, tests) in rows() {
        assert!(!tests.is_empty(), "no test covers {items:?}");
        for (path, test) in tests {
            let text = fs::read_to_string(root().join(&path)).unwrap_or_else(|error| panic!("{path}: {error}"));
            assert!(text.contains(&format!("fn {test}(")), "{path} has no test {test}");
        }
    }
}

#[test]
fn a_declaration_is_recognized_however_it_is_written() {
    let lines = "
        use std::sync::Mutex;
        static A: LazyLock<u8> = LazyLock::new(f);
        pub(crate) static B: u8 = 1;
        struct C(Arc<Mutex<u8>>);
        d: ArcSwapOption<E>,
        pub(super) f: [AtomicU64; 3],
        // Mutex
        fn g(h: &Mutex<u8>) -> MutexGuard<'_, u8> { Mutex::new(1) }
        type I = Cache<u8, u8>;
        let j = Semaphore::new(1);
        Self { k: Mutex::default() }
        other: Vec<CachedSale>, text: &'static str,
    ";
    let names: Vec<_> = lines.lines().filter_map(|line| declaration(line.trim())).collect();
    assert_eq!(names, ["A", "B", "C", "d", "f", "I", "j"]);
}

/// Each row of the table, with the tests that it names.
fn rows() -> Vec<(Vec<Item>, Vec<Item>)> {
    let text = fs::read_to_string(root().join(LIST)).unwrap();
    let rows = text.lines().filter(|line| line.starts_with("| `shared/") || line.starts_with("| `functions/"));
    rows.map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [what, _, _, tests] = cells[..] else { panic!("{row} does not have four columns") };
        (named(what), named(tests))
    })
    .collect()
}

/// What a cell names, as `path: name` or `path: name, name`.
fn named(cell: &str) -> Vec<Item> {
    let quoted = cell.split('`').skip(1).step_by(2).filter_map(|text| text.split_once(": "));
    quoted.flat_map(|(path, names)| names.split(", ").map(|name| (path.to_owned(), name.to_owned()))).collect()
}

fn declared() -> BTreeSet<Item> {
    let mut files = Vec::new();
    for folder in ["shared", "functions"] {
        sources(&root().join(folder), &mut files);
    }
    assert!(files.len() > 100, "too few sources found");
    let mut declared = BTreeSet::new();
    for path in files {
        let text = fs::read_to_string(&path).unwrap();
        // Tests come last in a file.
        let shipped = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        let file = path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
        for name in shipped.lines().filter_map(|line| declaration(line.trim())) {
            declared.insert((file.clone(), name.to_owned()));
        }
    }
    declared
}

/// The sources below a folder, without tests.
fn sources(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            if name != "tests" {
                sources(&path, files);
            }
        } else if name.ends_with(".rs") && name != "tests.rs" && name != "build.rs" {
            files.push(path);
        }
    }
}

/// The name that a line declares, if requests may share it. The whole line if the name is unclear.
fn declaration(line: &str) -> Option<&str> {
    let plain =
        ["pub(crate) ", "pub(super) ", "pub "].iter().find_map(|prefix| line.strip_prefix(prefix)).unwrap_or(line);
    if let Some(of_static) = plain.strip_prefix("static ") {
        return of_static.split(':').next();
    }
    let others = ["//", "#", "use ", "fn ", "async fn ", "const fn ", "impl", "where"];
    if others.iter().any(|prefix| plain.starts_with(prefix)) || !plain.split(WORDS_END).any(shares) {
        return None;
    }
    // A variable's value goes into a field of the same name.
    if let Some(rest) = ["struct ", "type ", "let mut ", "let "].iter().find_map(|prefix| plain.strip_prefix(prefix)) {
        return rest.split(WORDS_END).next();
    }
    match plain.split_once(": ") {
        Some((name, of)) if !name.contains(WORDS_END) && of.ends_with(',') => names_a_type(of).then_some(name),
        _ if names_a_type(plain) => Some(line),
        _ => None,
    }
}

const WORDS_END: fn(char) -> bool = |c| !c.is_alphanumeric() && c != '_';

fn names_a_type(text: &str) -> bool {
    let made = |word: &str| text.split(word).skip(1).all(|rest| rest.starts_with("::"));
    text.split(WORDS_END).any(|word| shares(word) && !made(word))
}

fn shares(word: &str) -> bool {
    SHARING.split(' ').any(|shared| shared == word) || word.starts_with("Atomic") || word.starts_with("ArcSwap")
}
