//! Requests publish the counts when that is due.

use super::throttle::Throttle;
use crate::prelude::*;

/// Three requests come when it is due, and three more the next time.
pub fn it_is_done_once_by_one() {
    let every = Duration::from_secs(5);
    let work = Arc::new((Throttle::every(every), OneAtATime::default(), AtomicU32::new(0)));
    for times in 1..=2 {
        let requests = [(); 3].map(|()| {
            let work = Arc::clone(&work);
            thread::spawn(move || {
                let (throttle, doing, done) = &*work;
                throttle.try_do(|| {
                    let doing = doing.begin("it is done by one");
                    step();
                    drop(doing);
                    done.fetch_add(1, Ordering::Relaxed);
                });
            })
        });
        for request in requests {
            request.join().unwrap();
        }
        assert_eq!(work.2.load(Ordering::Relaxed), times, "it is done once");
        pass(every);
    }
}
