//! Checks the draw at the end of a round in every interleaving, and that each mistake breaks the property that it should.

mod passed;

use model::{DrawMistake, DrawProtocol, Run, longest_run};
use stateright::{Checker, HasDiscoveries, Model};

fn right(crashes: u8, loses_redis: bool) -> DrawProtocol {
    DrawProtocol { crashes, loses_redis, mistake: None }
}

#[test]
fn the_draw_is_right_in_every_interleaving() {
    passed::once("the_draw_is_right_in_every_interleaving", || {
        for protocol in [right(2, false), right(2, true)] {
            let checker = protocol.checker().spawn_bfs().join();
            println!("{protocol:?}: {} different states", checker.unique_state_count());
            assert!(checker.unique_state_count() > 3_000);
            checker.assert_properties();
        }
    });
}

/// Without cycles every run ends, and a property says that the draw is done at the end.
#[test]
fn every_run_ends() {
    passed::once("every_run_ends", || {
        for protocol in [right(1, false), right(1, true)] {
            let run = longest_run(&protocol);
            assert!(matches!(run, Run::Ends(steps) if steps > 10), "{run:?}");
        }
    });
}

#[test]
fn each_mistake_is_caught() {
    passed::once("each_mistake_is_caught", || {
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
            let protocol = DrawProtocol { crashes: 1, loses_redis, mistake: Some(mistake) };
            let checker = protocol.checker().finish_when(HasDiscoveries::AllOf([caught_by].into())).spawn_bfs().join();
            assert!(checker.discovery(caught_by).is_some(), "{mistake:?} is not caught by: {caught_by}");
        }
    });
}
