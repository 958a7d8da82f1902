//! Checks the models of the draw, lanes, and reads in every interleaving. Each mistake breaks the property it should.

mod passed;

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::hash::Hash;

use model::{
    Bounds, DrawMistake, DrawProtocol, LaneMistake, LaneProtocol, ReadsMistake, ReadsProtocol, Run, longest_run,
};
use stateright::{Checker, Expectation, HasDiscoveries, Model};

trait Part:
    Model<State: Clone + Debug + PartialEq + Hash + Send + Sync + 'static, Action: Clone + Debug + PartialEq>
    + Clone
    + Debug
    + Send
    + Sync
    + 'static
{
}

impl Part for DrawProtocol {}
impl Part for LaneProtocol {}
impl Part for ReadsProtocol {}

/// No property is violated in any of these scopes, and what should happen somewhere does.
fn are_right<M: Part>(protocols: impl IntoIterator<Item = M>, least_states: usize) {
    let (mut seen, mut never) = (BTreeSet::new(), BTreeSet::new());
    for protocol in protocols {
        let checker = protocol.clone().checker().finish_when(HasDiscoveries::AnyFailures).spawn_bfs().join();
        println!("{protocol:?}: {} different states, depth {}", checker.unique_state_count(), checker.max_depth());
        assert!(checker.unique_state_count() > least_states, "{protocol:?}");
        for property in protocol.properties() {
            match (property.expectation, checker.discovery(property.name)) {
                (Expectation::Sometimes, Some(_)) => _ = seen.insert(property.name),
                (Expectation::Sometimes, None) => _ = never.insert(property.name),
                (Expectation::Always, Some(path)) => panic!("{}: {path:?}", property.name),
                _ => {}
            }
        }
    }
    assert!(never.is_subset(&seen), "what never happens: {never:?}");
}

/// Without cycles every run ends, and a property says what holds at the end.
fn ends<M: Part>(protocol: &M, least_steps: usize) {
    let run = longest_run(protocol);
    assert!(matches!(run, Run::Ends(steps) if steps > least_steps), "{run:?}");
}

fn is_caught(protocol: impl Part, mistake: impl Debug, caught_by: &'static str) {
    let checker = protocol.checker().finish_when(HasDiscoveries::AllOf([caught_by].into())).spawn_bfs().join();
    let actions = checker.discovery(caught_by).map(|path| path.into_actions());
    println!("{mistake:?}: {actions:?}");
    assert!(actions.is_some(), "{mistake:?} is not caught by: {caught_by}");
}

#[test]
fn the_draw_is_right() {
    passed::once("the_draw_is_right", || {
        let protocol = |crashes, loses_redis, mistake| DrawProtocol { crashes, loses_redis, mistake };
        for loses_redis in [false, true] {
            are_right([protocol(2, loses_redis, None)], 3_000);
            ends(&protocol(1, loses_redis, None), 10);
        }
        const LOST: bool = true;
        for (mistake, loses_redis, caught_by) in [
            (DrawMistake::LateUnchecked, LOST, "who has an order of a closed draw was counted"),
            (DrawMistake::FenceEarly, false, "nobody is late unless Redis lost the round"),
            (DrawMistake::FenceAtEnd, LOST, "who has an order of a closed draw was counted"),
            (DrawMistake::CountWhileIndexLags, false, "who has an order of a closed draw was counted"),
            (DrawMistake::CountAgain, false, "each prize has the winner of what was published"),
            (DrawMistake::CountAgain, false, "nobody wins twice"),
            (DrawMistake::NoteBeforeSend, false, "a prize that is done has its winner, who was sent for"),
        ] {
            is_caught(protocol(1, loses_redis, Some(mistake)), mistake, caught_by);
        }
    });
}

#[test]
fn reads_are_right() {
    passed::once("reads_are_right", || {
        [false, true].into_iter().for_each(|audits| are_right([ReadsProtocol { audits, mistake: None }], 500));
        for (mistake, audits, caught_by) in [
            (ReadsMistake::UnreadIsGone, false, "no user has more live orders than the limit"),
            (ReadsMistake::FreedIsFull, false, "the limit is only said to be reached if it was"),
            (ReadsMistake::NothingIsFreed, false, "the limit is only said to be reached if it was"),
            (ReadsMistake::IndexesBelieved, true, "the audit calls no unit oversold"),
            (ReadsMistake::Unconditional, true, "the audit calls no unit oversold"),
        ] {
            is_caught(ReadsProtocol { audits, mistake: Some(mistake) }, mistake, caught_by);
        }
    });
}

#[test]
fn lanes_are_right() {
    const ONE_PLACE: &str = "a unit is in exactly one record";
    const TOLD: &str = "nobody is told sold out while a unit was free throughout";
    const AT_AN_END: &str = "at an end everything is sold, or nobody wants more";
    let right = |at_once, crashes, losses, returns| {
        let bounds = Bounds { crashes, losses, returns, early_finds: 1 };
        LaneProtocol { at_once, bounds, mistake: None }
    };
    passed::once("lanes_are_right", || {
        // Concurrent requests, with deaths, losses and returns one at a time.
        let small = [(3, 0, 0, 0), (2, 1, 0, 0), (2, 0, 0, 1), (2, 0, 1, 0), (1, 1, 1, 0), (1, 0, 2, 0)];
        let small = small.map(|(at_once, crashes, losses, returns)| right(at_once, crashes, losses, returns));
        // Two requests, one of which dies, and one lost lane: 1.3 million states.
        are_right(small.into_iter().chain([right(2, 1, 1, 0)]), 5_000);
        small.iter().for_each(|protocol| ends(protocol, 20));
        for (mistake, scope, caught_by) in [
            (LaneMistake::AcceptTwice, right(2, 0, 0, 0), ONE_PLACE),
            (LaneMistake::DonateWithoutRecord, right(1, 0, 0, 0), ONE_PLACE),
            (LaneMistake::DonateWithoutRecord, right(1, 1, 0, 0), AT_AN_END),
            (LaneMistake::DeleteBeforeAccept, right(1, 1, 0, 0), ONE_PLACE),
            (LaneMistake::DeleteBeforeAccept, right(1, 1, 0, 0), AT_AN_END),
            (LaneMistake::SoldOutByHomeLane, right(1, 0, 0, 0), TOLD),
            (LaneMistake::SoldOutByOneReading, right(2, 0, 0, 0), TOLD),
            (LaneMistake::LoadUnfenced, right(2, 0, 1, 0), ONE_PLACE),
            (LaneMistake::LoadForgetsTransfers, right(1, 0, 1, 0), ONE_PLACE),
        ] {
            is_caught(LaneProtocol { mistake: Some(mistake), ..scope }, mistake, caught_by);
        }
    });
}
