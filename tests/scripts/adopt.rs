use crate::prelude::*;

fn order(round: &TestRound, name: &str, unit: u32, slot: u8) -> Reservation {
    round.fresh_reservation(&user(name), unit, slot)
}

async fn units_left(round: &TestRound) -> Vec<u32> {
    let mut units: Vec<u32> = round.view().await.free.into_iter().flatten().collect();
    units.sort_unstable();
    assert_eq!(units.len() as u32, round.view().await.counters.free());
    units
}

#[tokio::test]
async fn a_unit_that_was_never_handed_out_is_taken_out_of_the_rest() {
    let round = TestRound::start(terms(6, 1)).await;
    let order = order(&round, "alice", 4, 0);
    assert!(round.stock().adopt(&order).await.unwrap());
    assert!(!round.stock().adopt(&order).await.unwrap());
    assert_eq!(units_left(&round).await, [1, 2, 3, 5, 6]);
    assert!(matches!(round.reserve(&user("alice")).await, Reserve::AlreadyReserved(_)));
}

#[tokio::test]
async fn a_reservation_of_it_becomes_ordered_on_the_ledgers_unit() {
    let (round, reservation) = alice_bought(3, 1).await;
    let moved = Reservation { id: reservation.id.clone(), ..order(&round, "alice", 3, reservation.slot.0) };
    assert!(round.stock().adopt(&moved).await.unwrap());
    let found = round.stored(&reservation).await.unwrap();
    assert_eq!((found.reservation.unit, found.state), (Unit(3), ReservationState::Ordered));
    assert_eq!(units_left(&round).await, [2], "unit 1 is in no place until reconciliation checks the ledger");
}

#[tokio::test]
async fn what_redis_knows_to_have_ended_stays_ended() {
    let (round, reservation) = alice_bought(3, 1).await;
    round.release(&reservation).await;
    let ended = Reservation { id: reservation.id, ..order(&round, "alice", reservation.unit.0, 0) };
    assert!(!round.stock().adopt(&ended).await.unwrap());
    assert_eq!(round.stored(&ended).await.unwrap().state, ReservationState::Released);
    assert_eq!(units_left(&round).await, [1, 2, 3]);
}

#[tokio::test]
async fn an_order_that_is_known_takes_its_unit_back() {
    let round = TestRound::start(terms(3, 1)).await;
    let bob = round.buy(&user("bob")).await;
    let order = order(&round, "alice", bob.unit.0, 0);
    round.stock().adopt(&order).await.unwrap();
    // Bob had the unit too and gives it back, but it stays alice's.
    round.release(&bob).await;
    assert_eq!(units_left(&round).await, [1, 2, 3]);
    assert!(round.stock().adopt(&order).await.unwrap());
    assert!(!round.stock().adopt(&order).await.unwrap());
    assert_eq!(units_left(&round).await, [2, 3]);
}
