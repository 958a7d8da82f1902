//! Visitors at an even rate, from the beginning to the end of a run.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;

use super::dice::Dice;
use super::mischief::try_something;
use super::run::Run;
use super::visitor::Visit;

/// One visitor in this many misbehaves.
const MISBEHAVES: usize = 15;
/// How long visitors may stay after the end.
const LAST_LEAVE: Duration = Duration::from_secs(180);

pub(super) async fn come(run: &Arc<Run>) {
    let (lasts_s, every_s) = (run.program.lasts_s(), 1.0 / run.program.visitors_per_s);
    let mut visits = JoinSet::new();
    for n in 0..(lasts_s / every_s) as usize {
        tokio::time::sleep_until(run.at(n as f64 * every_s)).await;
        let run = Arc::clone(run);
        visits.spawn(async move { visit(&run, n).await });
        while visits.try_join_next().is_some() {}
    }
    let all = async { while visits.join_next().await.is_some() {} };
    // Visitors who still have not left are dropped with the set. Their last requests may take effect, and are recorded
    // that way.
    let _ = tokio::time::timeout(LAST_LEAVE, all).await;
}

async fn visit(run: &Run, n: usize) {
    // Each visitor has dice of their own, so their luck does not depend on how fast others are served.
    let mut dice = Dice::new(run.program.seed, 1 + n as u64);
    let Some(on_sale) = dice.pick(&run.board.live(run.now_s())).cloned() else { return };
    // While there are two sides, half of the visitors come through each.
    let sides = run.system.sides();
    let Some(side) = dice.pick(&sides).cloned() else { return };
    drop(sides);
    run.tally.counts().visitors += 1;
    let misbehaves = dice.one_in(MISBEHAVES);
    let people = if misbehaves { &run.mischievous } else { &run.people };
    let person = &people[dice.below(people.len())];
    let visit = Visit { run, side, n, person, on_sale };
    if misbehaves {
        try_something(&visit, &mut dice).await;
    } else {
        visit.buy(&mut dice).await;
    }
}
