//! Checks reads beside transactions in every interleaving, and that each mistake breaks the property that it should.

mod passed;

use model::{ReadsMistake, ReadsProtocol};
use stateright::{Checker, HasDiscoveries, Model};

#[test]
fn reads_are_right_in_every_interleaving() {
    passed::once("reads_are_right_in_every_interleaving", || {
        for audits in [false, true] {
            let protocol = ReadsProtocol { audits, mistake: None };
            let checker = protocol.checker().spawn_bfs().join();
            println!("{protocol:?}: {} different states", checker.unique_state_count());
            assert!(checker.unique_state_count() > 500);
            checker.assert_properties();
        }
    });
}

#[test]
fn each_mistake_is_caught() {
    passed::once("each_mistake_is_caught", || {
        for (mistake, audits, caught_by) in [
            (ReadsMistake::UnreadIsGone, false, "no user has more live orders than the limit"),
            (ReadsMistake::FreedIsFull, false, "the limit is only said to be reached if it was"),
            (ReadsMistake::NothingIsFreed, false, "the limit is only said to be reached if it was"),
            (ReadsMistake::IndexesBelieved, true, "the audit calls no unit oversold"),
            (ReadsMistake::Unconditional, true, "the audit calls no unit oversold"),
        ] {
            let protocol = ReadsProtocol { audits, mistake: Some(mistake) };
            let checker = protocol.checker().finish_when(HasDiscoveries::AllOf([caught_by].into())).spawn_bfs().join();
            let path = checker.discovery(caught_by);
            println!("{mistake:?}: {:?}", path.clone().map(|path| path.into_actions()));
            assert!(path.is_some(), "{mistake:?} is not caught by: {caught_by}");
        }
    });
}
