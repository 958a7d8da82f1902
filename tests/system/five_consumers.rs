//! The same order message, delivered to five consumers at once.

use crate::prelude::*;

const RESERVATIONS: u32 = 20;
const CONSUMERS: usize = 5;

async fn deliver_to_all(lab: &Arc<Lab>, reservation: &Reservation) {
    let consumers = (0..CONSUMERS).map(|_| {
        let (deps, event) = (lab.order(), message_batch(&[reservation]));
        tokio::spawn(async move { order::handle(&deps, event).await })
    });
    for response in join_all(consumers).await {
        assert!(response.unwrap().batch_item_failures.is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn five_deliveries_are_one_order_with_one_unit_and_one_slot() {
    let lab = Arc::new(Lab::selling(terms(RESERVATIONS, 2)).await);
    for buyer in 0..RESERVATIONS / 2 {
        // Two orders of one user, in different slots.
        for _ in 0..2 {
            let reservation = lab.reserve(&format!("user-{buyer}")).await;
            deliver_to_all(&lab, &reservation).await;
            let order = lab.order_of(&reservation).await;
            assert_eq!((order.state, order.reservation.unit), (OrderState::Pending, reservation.unit));
        }
    }
    let items = items(&lab.dynamodb, &lab.table).await;
    let count = |kind: &str| items.keys().filter(|key| key.starts_with(kind)).count();
    let each = RESERVATIONS as usize;
    // The other four are the offer, the round, who loaded it, and what has changed for sale.
    assert_eq!((count("ORDER#"), count("UNIT#"), count("SLOT#"), items.len()), (each, each, each, 3 * each + 4));
    assert_eq!(lab.clean_audit().await, (0, 0, RESERVATIONS));
    lab.check_history("five_consumers", &[SALE], Redis::Keeps).await;
}
