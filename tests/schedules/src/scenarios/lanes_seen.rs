//! Buyers search the other lanes of a round for units.
//! Sources: shared/stock/src/lanes_seen.rs

use stock::{Reserve, SoldOut, StockError, WinsSeen};

use super::lanes_seen::{LanesSeen, RoundSeen, Stamp};
use crate::prelude::*;

fn sold_out() -> SoldOut {
    SoldOut { wins: WinsSeen::at(EpochMs(1)), lasts: Duration::from_secs(60), next_release_ms: None }
}

async fn search(
    (seen, searching): &(RoundSeen, UnderWay),
    found: Result<Reserve, StockError>,
) -> Result<Reserve, StockError> {
    let at_home = async { Ok(Reserve::SoldOut(sold_out())) };
    let search = async {
        let _search = searching.begin_alone("one request searches");
        yield_now().await;
        found
    };
    seen.search_in_turn(at_home, search).await
}

/// Three buyers come, and each request may be dropped. The remaining units are in transit, so none of them gets one. The next
/// buyer may still search.
// Mistake: the lock is released before the search.
// - let _searching = match self.searching
// + let _ = match self.searching
pub fn one_request_searches() {
    let state = Arc::new((RoundSeen::default(), UnderWay::default()));
    at_once(&state, 3, async |state, _| {
        let _ = until_given_up(search(state, Err(StockError::OnTheWay))).await;
    });
    let next = block_on(search(&state, Ok(Reserve::Blocked)));
    assert!(matches!(next, Ok(Reserve::Blocked)), "the next one may search");
}

/// One request finds a unit, and a later one finds that none is left. Then no request goes by the first finding.
pub fn what_is_found_later_holds() {
    let seen = Arc::new(RoundSeen::default());
    let first = async |seen: &RoundSeen, _: usize| {
        let _searching = seen.searching.lock().await;
        if seen.sold_out().is_none() {
            seen.note_units(Stamp::now());
        }
    };
    at_once_and(&seen, 1, first, async |seen| {
        let _searching = seen.searching.lock().await;
        seen.note_sold_out(Stamp::now(), sold_out());
    });
    assert!(seen.sold_out().is_some() && !seen.may_have_units(), "what is found later holds");
}

/// Two requests are the first for the same round. They share what they see; requests for another round do not.
// Mistake: a round is looked up under one lock and kept under another.
// - Arc::clone(rounds.entry(round.clone()).or_default())
// + drop(rounds);
// + let seen = Arc::<RoundSeen>::default();
// + lock(&self.0).insert(round.clone(), Arc::clone(&seen));
// + seen
pub fn all_see_the_same_round() {
    let lanes = Arc::new(LanesSeen::default());
    let of_lamps = async |lanes: &LanesSeen| lanes.of(&lamps());
    let (theirs, mine) = at_once_and(&lanes, 1, async |lanes, _| lanes.of(&lamps()), of_lamps);
    *mine.leases_from.lock().unwrap() = Some((Stamp::now(), lanes.any_lane(2)));
    assert!(
        Arc::ptr_eq(&mine, &theirs[0]) && theirs[0].leases_from.lock().unwrap().is_some(),
        "all see the same round"
    );
    assert!(!Arc::ptr_eq(&mine, &lanes.of(&RoundId { number: RoundNumber(2), ..lamps() })));
}
