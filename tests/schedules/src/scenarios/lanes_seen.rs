//! Buyers search the other lanes of a round for units.

use stock::{Reserve, SoldOut, StockError, WinsSeen};

use super::lanes_seen::{LanesSeen, RoundSeen, Stamp};
use crate::prelude::*;

fn sold_out() -> SoldOut {
    SoldOut { wins: WinsSeen::at(EpochMs(1)), lasts: Duration::from_secs(60), next_release_ms: None }
}

/// Three buyers come, and each request may be dropped. The remaining units are in transit, so none of them gets one. The next
/// buyer may still search.
pub fn one_request_searches() {
    let seen = Arc::new((RoundSeen::default(), OneAtATime::default()));
    let search = async |seen: &(RoundSeen, OneAtATime), found: Result<Reserve, StockError>| {
        let at_home = async { Ok(Reserve::SoldOut(sold_out())) };
        let search = async {
            let _search = seen.1.begin("one request searches");
            yield_now().await;
            found
        };
        seen.0.search_in_turn(at_home, search).await
    };
    let buyers = [(); 3].map(|()| {
        let seen = Arc::clone(&seen);
        spawn(async move {
            let _ = until_given_up(search(&seen, Err(StockError::OnTheWay))).await;
        })
    });
    block_on(async {
        all(buyers).await;
        assert!(matches!(search(&seen, Ok(Reserve::Blocked)).await, Ok(Reserve::Blocked)), "the next one may search");
    });
}

/// One request finds a unit, and a later one finds that none is left. Then no request goes by the first finding.
pub fn what_is_found_later_holds() {
    let seen = Arc::new(RoundSeen::default());
    let first = {
        let seen = Arc::clone(&seen);
        spawn(async move {
            let _searching = seen.searching.lock().await;
            if seen.sold_out().is_none() {
                seen.note_units(Stamp::now());
            }
        })
    };
    block_on(async {
        {
            let _searching = seen.searching.lock().await;
            seen.note_sold_out(Stamp::now(), sold_out());
        }
        first.await.unwrap();
        assert!(seen.sold_out().is_some() && !seen.may_have_units(), "what is found later holds");
    });
}

/// Two requests are the first for the same round. They share what they see; requests for another round do not.
pub fn all_see_the_same_round() {
    let lanes = LanesSeen::default();
    let other = {
        let lanes = lanes.clone();
        thread::spawn(move || lanes.of(&round(1)))
    };
    let (mine, theirs) = (lanes.of(&round(1)), other.join().unwrap());
    *mine.leases_from.lock().unwrap() = Some((Stamp::now(), lanes.any_lane(2)));
    assert!(Arc::ptr_eq(&mine, &theirs) && theirs.leases_from.lock().unwrap().is_some(), "all see the same round");
    assert!(!Arc::ptr_eq(&mine, &lanes.of(&round(2))));
}

fn round(number: u32) -> RoundId {
    RoundId { sale: "lamp".parse().unwrap(), number: RoundNumber(number) }
}
