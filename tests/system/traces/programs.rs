//! Built functions with a mistake in them, each as a process of its own: a script is changed in the program, or a source
//! before it is compiled.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use local::build::cargo;

use super::mutated::asked_twice;
use super::right::{Scenario, scenario};
use super::world::{Program, World, at};
use crate::prelude::*;
use tests::When::After;

/// A mistake in the program of a function.
pub(super) struct Wrong {
    pub(super) scenario: Scenario,
    pub(super) function: &'static str,
    /// The name of a script, or the path of a source.
    place: &'static str,
    /// What it has there once, and what the program has there instead.
    part: &'static str,
    other: &'static str,
    /// The record that the model cannot explain.
    pub(super) rejected_at: &'static str,
}

/// In a script. Its text is in the program as it is.
pub(super) const SCRIPTS: &[Wrong] = &[
    Wrong {
        scenario: scenario!("program-releases-without-its-check", 1, 1, cancelled_twice),
        function: "reservation",
        place: "release",
        part: "at and state ~= 'r'",
        other: "at",
        rejected_at: "Release { id: 0",
    },
    Wrong {
        scenario: scenario!("program-reserves-without-the-limit", 2, 1, asked_twice),
        function: "reservation",
        place: "reserve",
        part: "if #live >= per_user_limit then",
        other: "if false then",
        rejected_at: "Reserve { id: 1",
    },
];

/// In the order of the steps. These programs have to be compiled.
pub(super) const SOURCES: &[Wrong] = &[
    Wrong {
        scenario: scenario!("program-confirms-before-the-write", 1, 1, bought),
        function: "order",
        place: "shared/fulfilment/src/place.rs",
        part: "            let taken = match self.ledger.place_within(",
        other: "            self.apply(&order, now).await?;\n            let taken = match self.ledger.place_within(",
        rejected_at: "Confirm { id: 0",
    },
    Wrong {
        scenario: scenario!("program-acknowledges-before-the-order", 1, 1, bought),
        function: "order",
        place: "functions/order/src/lib.rs",
        part: "    let order = deps.fulfilment.place(",
        other: "    if reservation.unit.0 > 0 {\n        return Ok(());\n    }\n    let order = deps.fulfilment.place(",
        rejected_at: "Ends { how: Done }",
    },
    Wrong {
        scenario: scenario!("program-answers-before-the-message", 1, 1, asked),
        function: "reservation",
        place: "functions/reservation/src/reserve.rs",
        part: "    send(deps, request, reservation).await?;\n    tracing::info!(",
        other: "    tracing::info!(",
        rejected_at: "Ends { how: Done }",
    },
    Wrong {
        scenario: scenario!("program-cancels-without-a-fence", 1, 1, cancelled_before_the_order),
        function: "reservation",
        place: "shared/fulfilment/src/cancel.rs",
        part: "ledger.fence(Order::cancelled(reservation, now)).await?",
        other: "Order::cancelled(reservation, now)",
        rejected_at: "Release { id: 0",
    },
    Wrong {
        scenario: scenario!("program-releases-before-the-write", 1, 1, cancelled_after_the_order),
        function: "reservation",
        place: "shared/fulfilment/src/cancel.rs",
        part: "            let ended = ledger.end_unpaid(",
        other: "            stock.round(&id.round).release(&order.reservation, None, true).await?;\n            \
                let ended = ledger.end_unpaid(",
        rejected_at: "Release { id: 0",
    },
];

/// The cancellation dies after the release. Another buyer has the unit when it is repeated.
async fn cancelled_twice(world: &World) {
    let alice = world.buy("alice").await;
    assert!(world.cancel(&alice, at("EVALSHA release", After)).await.is_none());
    world.buy("bob").await;
    world.cancel(&alice, None).await.unwrap().expect(200);
}

async fn bought(world: &World) {
    world.buy("alice").await;
}

async fn asked(world: &World) {
    world.ask("alice", "key", None).await.unwrap().expect(202);
}

async fn cancelled_before_the_order(world: &World) {
    let alice = world.reserve("alice").await;
    world.cancel(&alice, None).await.unwrap().expect(200);
    world.order(&alice, None).await;
}

async fn cancelled_after_the_order(world: &World) {
    let alice = world.buy("alice").await;
    world.cancel(&alice, None).await.unwrap().expect(200);
}

fn replaced(text: &str, Wrong { place, part, other, .. }: &Wrong) -> String {
    assert_eq!(text.matches(part).count(), 1, "{place} has {part:?} once");
    text.replace(part, other)
}

pub(super) fn built(function: &'static str) -> Program {
    let file = paths::target().join("lambda").join(function).join("bootstrap");
    Program { function, file, script: None }
}

/// The built program, which has another text of a script in every place where it had that script.
pub(super) fn with_script(wrong: &Wrong) -> Program {
    let (name, text) = stock::expanded::ALL.iter().find(|(name, _)| *name == wrong.place).expect("a script");
    // Nothing else in the program may move.
    let script = format!("{:<1$}", replaced(text, wrong), text.chars().count());
    let mut program = std::fs::read(built(wrong.function).file).unwrap();
    let is_at =
        |program: &[u8], at: usize| program[at] == text.as_bytes()[0] && program[at..].starts_with(text.as_bytes());
    let places: Vec<usize> = (0..program.len() - text.len()).filter(|at| is_at(&program, *at)).collect();
    assert!(!places.is_empty(), "the program has no {name}; `make build`");
    for at in places {
        program[at..at + text.len()].copy_from_slice(script.as_bytes());
    }
    let file = folder().join(wrong.scenario.name);
    let coming = file.with_extension("coming");
    std::fs::write(&coming, program).unwrap();
    copy(&coming, &file);
    std::fs::remove_file(coming).unwrap();
    Program { function: wrong.function, file, script: Some(((*name).to_owned(), script)) }
}

/// The programs of all of [`SOURCES`], compiled from a copy of the checkout in which one source is wrong at a time.
pub(super) fn compiled() -> Vec<Program> {
    let (root, checkout) = (paths::root(), folder().join("checkout"));
    let mut list = Command::new("git");
    list.current_dir(&root).args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    let listed = String::from_utf8(list.output().expect("git is there").stdout).unwrap();
    for name in listed.split_terminator('\0').filter(|name| root.join(name).is_file()) {
        put(&checkout.join(name), &std::fs::read(root.join(name)).unwrap());
    }
    let compile = |wrong: &Wrong| {
        let (source, file) = (checkout.join(wrong.place), folder().join(wrong.scenario.name));
        let right = std::fs::read_to_string(&source).unwrap();
        put(&source, replaced(&right, wrong).as_bytes());
        let target = folder().join("target");
        let mut build = cargo();
        // Not in the target folder of this checkout: cargo would take the crates of the copy for its own.
        build.current_dir(&checkout).arg("build").arg("--target-dir").arg(&target).args(["--bin", wrong.function]);
        let is_built = build.status().expect("cargo is there").success();
        put(&source, right.as_bytes());
        assert!(is_built, "{} does not compile", wrong.scenario.name);
        copy(&target.join("debug").join(wrong.function), &file);
        Program { function: wrong.function, file, script: None }
    };
    SOURCES.iter().map(compile).collect()
}

fn folder() -> PathBuf {
    let folder = paths::target().join("wrong-programs");
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Writes a file, unless it has this content: cargo goes by the times of files.
fn put(file: &Path, content: &[u8]) {
    if std::fs::read(file).is_ok_and(|before| before == content) {
        return;
    }
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, content).unwrap();
}

/// Copies a program. In a process of its own: a program that is open for writing cannot be started, and processes that
/// other tests start inherit what this one has open.
fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("--remove-destination").args([from, to]).status();
    assert!(copied.expect("cp is there").success(), "{}", to.display());
    std::fs::set_permissions(to, PermissionsExt::from_mode(0o755)).unwrap();
}
