//! Compares our checks with stateright's on small histories.
//!
//! We accept every history that stateright accepts: otherwise ours would be a false alarm. The reverse does not hold, by design.
//! We look at one unit, one reservation or one user at a time and never search for an order of all requests, so an answer that
//! contradicts no single other answer passes.

#[path = "../../model/tests/passed/mod.rs"]
mod passed;

use history::check;

use crate::dice::Dice;
use crate::small::{Fault, is_linearizable, small};

const EACH: u64 = 200;

#[test]
fn we_accept_what_stateright_accepts() {
    passed::once("we_accept_what_stateright_accepts", compare);
}

fn compare() {
    let (mut all_rejected, mut all_found) = (0, 0);
    for fault in [Fault::None, Fault::AnotherAnswer, Fault::AnotherTime, Fault::OneUnitMore, Fault::Forgets] {
        let (mut rejected, mut found, mut requests) = (0_u64, 0_u64, 0);
        for seed in 0..EACH {
            let history = small(&mut Dice::new(seed), fault);
            let (is_linearizable, report) = (is_linearizable(&history), check(&history));
            requests += history.operations.len();
            assert!(fault != Fault::None || is_linearizable, "seed {seed}: {history:#?}");
            assert!(!is_linearizable || report.is_consistent(), "{fault:?}, seed {seed}: {report}\n{history:#?}");
            rejected += u64::from(!is_linearizable);
            found += u64::from(!report.is_consistent());
        }
        println!(
            "{fault:?}: {EACH} histories with {requests} requests; stateright rejects {rejected}, we {found} of them"
        );
        (all_rejected, all_found) = (all_rejected + rejected, all_found + found);
    }
    println!("together: {all_found} of {all_rejected}");
    assert!(all_rejected >= EACH, "{all_rejected}");
    assert!(all_found * 100 >= all_rejected * 50, "{all_found} of {all_rejected}");
}
