//! Checks the models of the draw, lanes, and reads in every interleaving. Each mistake breaks the property it should.

mod passed;
mod search;

use std::collections::BTreeSet;

use model::{Bounds, DrawMistake, DrawProtocol, LaneMistake, LaneProtocol, ReadsMistake, ReadsProtocol};
use search::{Searched, all_happens, ends, holds, is_caught};

/// No property is violated in any of these scopes, and what should happen somewhere does.
fn are_right<M: Searched>(protocols: &[M], least_states: usize) {
    let mut seen = BTreeSet::new();
    for protocol in protocols {
        let (states, happens) = holds(*protocol, &format!("{protocol:?}"));
        assert!(states > least_states, "{protocol:?}");
        seen.extend(happens);
    }
    all_happens(protocols[0], &seen);
}

#[test]
fn the_draw_is_right() {
    passed::once("the_draw_is_right", || {
        let protocol = |crashes, loses_redis, mistake| DrawProtocol { crashes, loses_redis, mistake };
        for loses_redis in [false, true] {
            are_right(&[protocol(2, loses_redis, None)], 3_000);
            ends(protocol(1, loses_redis, None), 10);
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
        [false, true].into_iter().for_each(|audits| are_right(&[ReadsProtocol { audits, mistake: None }], 500));
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
        are_right(&[&small[..], &[right(2, 1, 1, 0)]].concat(), 5_000);
        small.into_iter().for_each(|protocol| ends(protocol, 20));
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
