use std::ops::RangeInclusive;

use super::*;
use crate::{Lane, Reservation, ReservationId, ReservationState, Slot, StoredReservation};
use ReservationState::*;
use Wrong::*;
use uuid::Uuid;

fn reservation(n: u128, unit: u32) -> Reservation {
    let id = ReservationId { round: "s.1".parse().unwrap(), uuid: Uuid::from_u128(n) };
    let user = format!("user-{n}").parse().unwrap();
    Reservation { id, user, lane: Lane(0), unit: Unit(unit), slot: Slot(0), reserved_at_ms: EpochMs(7) }
}

fn ledger(orders: &[(u128, u32)]) -> LedgerView {
    let guards: Vec<_> = orders.iter().map(|(n, unit)| reservation(*n, *unit)).collect();
    LedgerView { live_orders: guards.iter().map(LiveOrder::from).collect(), guards }
}

fn stock(free: &[RangeInclusive<u32>], reservations: &[(u128, u32, ReservationState)]) -> StockView {
    let stored = |(n, unit, state): &_| StoredReservation { reservation: reservation(*n, *unit), state: *state };
    StockView { free: free.to_vec(), reservations: reservations.iter().map(stored).collect() }
}

fn wrongs(audit: &Audit) -> Vec<(u32, Wrong)> {
    audit.discrepancies.iter().map(|d| (d.unit.0, d.wrong)).collect()
}

#[test]
fn each_unit_in_its_place() {
    let stock = stock(&[5..=6, 1..=1], &[(2, 2, Held), (3, 3, Held), (4, 4, Ordered), (9, 1, Released)]);
    let audit = audit(6, &stock, &ledger(&[(3, 3), (4, 4)]));
    assert!(audit.is_clean(), "{audit:?}");
    assert_eq!((audit.free, audit.held, audit.ordered), (3, 1, 2));
}

#[test]
fn an_order_that_redis_forgot_is_in_its_place() {
    let audit = audit(2, &stock(&[2..=2], &[]), &ledger(&[(1, 1)]));
    assert!(audit.is_clean(), "{audit:?}");
}

#[test]
fn a_unit_that_is_not_in_one_place_is_lost_duplicated_or_oversold() {
    let (none, one) = (|| ledger(&[]), || ledger(&[(1, 1)]));
    let guard_only = LedgerView { live_orders: Vec::new(), ..one() };
    let order_only = LedgerView { guards: Vec::new(), ..one() };
    let mut two_orders = one();
    two_orders.live_orders.push(LiveOrder::from(&reservation(2, 1)));
    for (stock, ledger, wrong) in [
        (stock(&[], &[]), none(), (1, Lost)),
        (stock(&[], &[(1, 1, Released)]), none(), (1, Lost)),
        (stock(&[], &[(1, 1, Ordered)]), none(), (1, Lost)),
        (stock(&[], &[]), guard_only, (1, Lost)),
        (stock(&[], &[]), order_only, (1, Lost)),
        (stock(&[1..=1, 1..=1], &[]), none(), (1, Duplicated)),
        (stock(&[1..=1], &[(1, 1, Held)]), none(), (1, Duplicated)),
        (stock(&[], &[(1, 1, Held), (2, 1, Held)]), none(), (1, Duplicated)),
        (stock(&[1..=1], &[]), one(), (1, Duplicated)),
        (stock(&[], &[(2, 1, Held)]), one(), (1, Duplicated)),
        (stock(&[1..=2], &[]), none(), (2, Duplicated)),
        (stock(&[], &[]), two_orders, (1, Oversold)),
        (stock(&[1..=1], &[]), ledger(&[(1, 2)]), (2, Oversold)),
    ] {
        assert_eq!(wrongs(&audit(1, &stock, &ledger)), [wrong], "{stock:?} {ledger:?}");
    }
}

#[test]
fn an_audit_is_not_clean_though_its_places_add_up() {
    let audit = audit(1, &stock(&[1..=1], &[]), &ledger(&[(1, 1)]));
    assert_eq!((audit.ordered, audit.free, audit.duplicated), (1, 0, 1));
    assert!(!audit.is_clean());
}

#[test]
fn a_discrepancy_names_every_place_of_its_unit() {
    let stock = stock(&[1..=1], &[(1, 1, Held), (2, 1, Ordered)]);
    let audit = audit(1, &stock, &ledger(&[(3, 1)]));
    let found = [
        "free in Redis".to_owned(),
        format!("held in Redis by {}", reservation(1, 1).id),
        format!("ordered in Redis by {}", reservation(2, 1).id),
        format!("guarded in the ledger for {}", reservation(3, 1).id),
        format!("in live order {}", reservation(3, 1).id),
    ];
    assert_eq!(audit.discrepancies[0].found, found);
}

#[test]
fn each_discrepancy_says_what_is_done_about_it() {
    let id = |n| reservation(n, 0).id;
    // 1 free and ordered, 2 ordered by one user in Redis and by another in the ledger, 3 ordered only in Redis, 4
    // nowhere, 5 held by one user and ordered by another, 6 ordered and unknown to Redis.
    let stock = stock(&[1..=1], &[(20, 2, Ordered), (30, 3, Ordered), (50, 5, Held)]);
    let audit = audit(6, &stock, &ledger(&[(1, 1), (2, 2), (5, 5), (6, 6)]));
    let repairs: Vec<_> = audit.discrepancies.iter().map(|d| (d.unit.0, d.repairs.clone())).collect();
    let release = |n, unit| Repair::Release { id: id(n), unit: Unit(unit) };
    let adopt = |n| Repair::Adopt { id: id(n) };
    let expected = [
        (1, vec![adopt(1)]),
        (2, vec![release(20, 2), adopt(2)]),
        (3, vec![release(30, 3)]),
        (5, vec![adopt(5)]),
        (4, vec![Repair::Restore { units: vec![Unit(4)] }]),
    ];
    assert_eq!(repairs, expected);
    assert_eq!(audit.discrepancies[0].since_ms, Some(EpochMs(7)));
    assert!(audit.repairs.contains(&adopt(6)), "in its place, and still to be made known");
}

#[test]
fn the_stock_may_be_large() {
    let audit = audit(10_000_000, &stock(&[2..=10_000_000], &[(1, 1, Held)]), &ledger(&[]));
    assert!(audit.is_clean(), "{audit:?}");
    assert_eq!((audit.free, audit.held), (9_999_999, 1));
}

#[test]
fn the_places_add_up() {
    let stock = stock(&[1..=3], &[(1, 4, Held), (2, 5, Ordered)]);
    let audit = audit(6, &stock, &ledger(&[(7, 3)]));
    assert_eq!(audit.free + audit.held + audit.ordered + audit.lost, audit.total);
    assert_eq!(wrongs(&audit), [(3, Duplicated), (5, Lost), (6, Lost)]);
}

/// The state after a lane was loaded without its units.
#[test]
fn all_that_is_in_no_place_is_given_back() {
    let audit = audit(50_000, &stock(&[1..=20_000], &[]), &ledger(&[]));
    assert_eq!((audit.lost, audit.discrepancies.len()), (30_000, MAX_DISCREPANCIES));
    let [Repair::Restore { units }] = audit.repairs.as_slice() else { panic!("{} repairs", audit.repairs.len()) };
    assert_eq!((units.len(), units[0], units[29_999]), (30_000, Unit(20_001), Unit(50_000)));
}
