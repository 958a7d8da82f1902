//! Checks two lanes in every interleaving, and that each mistake breaks the property that it should.

mod passed;

use model::{LaneMistake, LaneProtocol, Run, longest_run};
use stateright::{Checker, HasDiscoveries, Model};

const ONE_PLACE: &str = "a unit is in exactly one record";
const TOLD: &str = "nobody is told sold out while a unit was free throughout";
const AT_AN_END: &str = "at an end everything is sold, or nobody wants more";

const fn right(at_once: usize, crashes: u8, losses: u8, returns: u8) -> LaneProtocol {
    LaneProtocol { at_once, crashes, losses, returns, early_finds: 1, mistake: None }
}

/// Concurrent requests, with deaths, losses and returns one at a time.
const SMALL: [LaneProtocol; 6] =
    [right(3, 0, 0, 0), right(2, 1, 0, 0), right(2, 0, 0, 1), right(2, 0, 1, 0), right(1, 1, 1, 0), right(1, 0, 2, 0)];
/// Two requests, one of which dies, and one lost lane: 1.3 million states.
const LARGE: LaneProtocol = right(2, 1, 1, 0);

#[test]
fn lanes_are_right_in_every_interleaving() {
    passed::once("lanes_are_right_in_every_interleaving", || {
        let mut seen = std::collections::BTreeSet::new();
        for protocol in SMALL.into_iter().chain([LARGE]) {
            let checker = protocol.checker().finish_when(HasDiscoveries::AnyFailures).spawn_bfs().join();
            println!("{protocol:?}: {} different states, depth {}", checker.unique_state_count(), checker.max_depth());
            assert!(checker.unique_state_count() > 5_000, "{protocol:?}");
            checker.assert_no_discovery(ONE_PLACE);
            for property in protocol.properties() {
                match (property.expectation, checker.discovery(property.name)) {
                    (stateright::Expectation::Sometimes, Some(_)) => _ = seen.insert(property.name),
                    (stateright::Expectation::Always, Some(path)) => panic!("{}: {path:?}", property.name),
                    _ => {}
                }
            }
        }
        assert_eq!(seen.len(), 3, "what should happen somewhere did: {seen:?}");
    });
}

/// Without cycles every run ends, and a property says that everything is sold at the end.
#[test]
fn every_run_ends() {
    passed::once("every_run_ends", || {
        for protocol in SMALL {
            let run = longest_run(&protocol);

            assert!(matches!(run, Run::Ends(steps) if steps > 20), "{run:?}");
        }
    });
}

#[test]
fn each_mistake_is_caught() {
    passed::once("each_mistake_is_caught", || {
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
            let protocol = LaneProtocol { mistake: Some(mistake), ..scope };
            let checker = protocol.checker().finish_when(HasDiscoveries::AllOf([caught_by].into())).spawn_bfs().join();
            let path = checker.discovery(caught_by);
            println!("{mistake:?}: {:?}", path.clone().map(|path| path.into_actions()));
            assert!(path.is_some(), "{mistake:?} is not caught by: {caught_by}");
        }
    });
}
