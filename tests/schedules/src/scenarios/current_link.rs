//! Calls share a link to Redis, and replace one that has gone silent.
//! Sources: shared/stock/src/current_link.rs

use super::current_link::{CurrentLink, Opened};
use crate::prelude::*;

/// Links and credentials are numbers here.
type Links = CurrentLink<u32, u32>;

fn opened(links: &Links, credentials: u32, link: u32) -> Arc<Opened<u32, u32>> {
    links.opened(Some(Arc::new(credentials)), |_| Ok::<_, ()>(link)).unwrap()
}

fn with_a_silent_one() -> Arc<(Links, Arc<Opened<u32, u32>>)> {
    let links = Links::new();
    let silent = opened(&links, 1, 0);
    Arc::new((links, silent))
}

/// Three calls come before there is a link.
// Mistake: a call that waited while another made a link makes one too.
// - unwrap_or_else(PoisonError::into_inner);
// - if let Some(opened) = known() {
// + unwrap_or_else(PoisonError::into_inner);
// + if let Some(opened) = known().filter(|_| false) {
pub fn one_makes_a_link_for_all() {
    let state = Arc::new((Links::new(), AtomicU32::new(0)));
    let shared = at_once(&state, 3, async |(links, made), _| {
        let make = |_: Option<&u32>| {
            step();
            Ok::<_, ()>(made.fetch_add(1, Relaxed))
        };
        links.opened(Some(Arc::new(1)), make).unwrap().link
    });
    assert_eq!((shared, state.1.load(Relaxed)), (vec![0; 3], 1), "one makes a link for all");
}

/// Two calls find the same link silent.
// Mistake: a call that found a link silent replaces the newer one that is there by now.
// - self.opened.compare_and_swap(&Some(Arc::clone(old)), Some(Arc::new(fresh)));
// + self.opened.store(Some(Arc::new(fresh)));
pub fn the_first_replaces_it() {
    at_once(&with_a_silent_one(), 2, async |(links, silent), number| {
        links.replace(silent, number as u32 + 1);
        let seen = opened(links, 1, 9).link;
        step();
        assert_eq!(opened(links, 1, 9).link, seen, "the first replaces it");
    });
}

/// A call finds a link silent while another one comes with new credentials.
// Mistake: a call that found a link silent replaces the newer one that is there by now.
pub fn old_credentials_do_not_come_back() {
    let state = with_a_silent_one();
    at_once_and(&state, 1, async |(links, silent), _| links.replace(silent, 1), async |(links, _)| opened(links, 2, 2));
    assert_eq!(opened(&state.0, 2, 9).link, 2, "old credentials do not come back");
}

/// Three calls find a link silent. Connecting takes a while and may fail or time out, and the call that connects may be dropped.
// Mistake "one connects": the permit to renew is given back before the link is renewed.
// - let Ok(_renewing) = self.renewing
// + let Ok(_) = self.renewing
pub fn one_connects_and_leaves_it_to_others_after() {
    let links = Links::new();
    let silent = opened(&links, 1, 0);
    let state = Arc::new((links, silent, UnderWay::default()));
    at_once(&state, 3, async |(links, silent, connecting), number| {
        let connecting = async {
            let _connects = connecting.begin_alone("one connects");
            yield_now().await;
            if number == 1 { Err(()) } else { Ok(number as u32 + 1) }
        };
        until_given_up(links.renew(silent, Duration::ZERO, connecting)).await;
    });
    let links = &state.0;
    let current = opened(links, 1, 9);
    assert_eq!(current.age(), Duration::ZERO);
    let mut tries = 0;
    while opened(links, 1, 9).link != 4 {
        tries += 1;
        assert!(tries < 100, "another call may connect");
        let _ = block_on(links.renew(&current, Duration::ZERO, async { Ok::<_, ()>(4) }));
    }
}
