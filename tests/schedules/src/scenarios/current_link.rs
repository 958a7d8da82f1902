//! Calls share a link to Redis, and replace one that has gone silent.

use super::current_link::{CurrentLink, Opened};
use crate::prelude::*;

/// Links and credentials are numbers here.
type Links = CurrentLink<u32, u32>;

fn opened(links: &Links, credentials: u32, link: u32) -> Arc<Opened<u32, u32>> {
    links.opened(Some(Arc::new(credentials)), |_| Ok::<_, ()>(link)).unwrap()
}

/// Three calls come before there is a link.
pub fn one_makes_a_link_for_all() {
    let links = Arc::new((Links::new(), AtomicU32::new(0)));
    let calls = [(); 3].map(|()| {
        let links = Arc::clone(&links);
        thread::spawn(move || {
            let make = |_: Option<&u32>| {
                step();
                Ok::<_, ()>(links.1.fetch_add(1, Ordering::Relaxed))
            };
            links.0.opened(Some(Arc::new(1)), make).unwrap().link
        })
    });
    let shared = calls.map(|call| call.join().unwrap());
    assert_eq!((shared, links.1.load(Ordering::Relaxed)), ([0; 3], 1), "one makes a link for all");
}

/// Two calls find the same link silent.
pub fn the_first_replaces_it() {
    let links = Arc::new(Links::new());
    let silent = opened(&links, 1, 0);
    let calls = [1, 2].map(|link| {
        let (links, silent) = (Arc::clone(&links), Arc::clone(&silent));
        thread::spawn(move || {
            links.replace(&silent, link);
            let seen = opened(&links, 1, 9).link;
            step();
            assert_eq!(opened(&links, 1, 9).link, seen, "the first replaces it");
        })
    });
    for call in calls {
        call.join().unwrap();
    }
}

/// A call finds a link silent while another one comes with new credentials.
pub fn old_credentials_do_not_come_back() {
    let links = Arc::new(Links::new());
    let silent = opened(&links, 1, 0);
    let call = {
        let links = Arc::clone(&links);
        thread::spawn(move || links.replace(&silent, 1))
    };
    opened(&links, 2, 2);
    call.join().unwrap();
    assert_eq!(opened(&links, 2, 9).link, 2, "old credentials do not come back");
}

/// Three calls find a link silent. Connecting takes a while and may fail or time out, and the call that connects may be dropped.
pub fn one_connects_and_leaves_it_to_others_after() {
    let links = Arc::new((Links::new(), OneAtATime::default()));
    let silent = opened(&links.0, 1, 0);
    let calls = [1, 2, 3].map(|link| {
        let (links, silent) = (Arc::clone(&links), Arc::clone(&silent));
        spawn(async move {
            let connecting = async {
                let _connects = links.1.begin("one connects");
                yield_now().await;
                if link == 2 { Err(()) } else { Ok(link) }
            };
            until_given_up(links.0.renew(&silent, Duration::ZERO, connecting)).await;
        })
    });
    block_on(async {
        all(calls).await;
        let current = opened(&links.0, 1, 9);
        assert_eq!(current.age(), Duration::ZERO);
        let mut tries = 0;
        while opened(&links.0, 1, 9).link != 4 {
            tries += 1;
            assert!(tries < 100, "another call may connect");
            let _ = links.0.renew(&current, Duration::ZERO, async { Ok::<_, ()>(4) }).await;
        }
    });
}
