//! Requests for a sale are counted while the count is reported.

use super::demand::Demand;
use crate::prelude::*;

/// Two requests come while the count is reported.
pub fn each_request_is_reported_once() {
    let demand = Arc::new(Demand::default());
    let requests = [(); 2].map(|()| {
        let demand = Arc::clone(&demand);
        thread::spawn(move || demand.count())
    });
    let reported = demand.take();
    for request in requests {
        request.join().unwrap();
    }
    assert_eq!(reported + demand.take(), 2, "a request is reported once");
}
