//! Red packets. The ledger alone knows what a unit won.

use aws_sdk_dynamodb::primitives::Blob;
use futures::future::join;
use process::OrderCounts;
use sale::Parts;
use sale::award::{self, Table};

use crate::draws::free;
use crate::lotteries::orders;
use crate::prelude::*;

/// An amount that no number of parts here divides.
pub(crate) const TOTAL_MINOR: u64 = 1_000_003;

/// Terms of a red packet with this many parts, already open.
pub(crate) fn packet(parts: u32) -> Terms {
    let split = Allocation::Split { total_minor: TOTAL_MINOR, min_minor: 1, parts: Parts::Drawn, beacon: false };
    free(parts, split)
}

/// What each unit of a round won, computed from its seed without the ledger's table. The round is committed to it.
pub(crate) async fn table_of(lab: &Lab, id: &RoundId) -> Table {
    let round = lab.ledger.round(id).await.unwrap().expect("the ledger has it");
    let seed = lab.ledger.seed(id).await.unwrap().expect("it has a seed").seed;
    let table = Table::of(&round.terms.plan().expect("it has awards"), &seed, None).unwrap();
    let commitment = award::commit(id.sale.as_str(), id.number.0, &seed, &table.digest());
    assert_eq!(round.commitment, Some(commitment));
    table
}

/// The latest round's live orders. Each has its own unit, and what that unit won.
async fn live_orders(lab: &Lab) -> Vec<Order> {
    let round = lab.round().await;
    let table = table_of(lab, &round.id).await;
    let orders = orders(lab).await;
    for order in &orders {
        let won = round.terms.allocation.award(table.award(order.reservation.unit.0));
        assert_eq!((order.state, order.award), (OrderState::Granted, won), "{order:?}");
        assert!(won.is_some());
    }
    let units: BTreeSet<Unit> = orders.iter().map(|order| order.reservation.unit).collect();
    assert_eq!(units.len(), orders.len(), "one unit for each order");
    orders
}

/// The packet's unclaimed amount, in minor units. With what orders have, it adds up to the packet's total.
pub(crate) async fn unclaimed(lab: &Lab) -> i64 {
    let (round, orders) = (lab.round().await, live_orders(lab).await);
    let audited = lab.audited(&round).await;
    let awarded = audited.awarded.expect("the round has awards");
    assert!(audited.audit.is_clean() && awarded.is_exact(), "{:?} {awarded:?}", audited.audit);
    assert_eq!(awarded.orders as usize, orders.len());
    let tally = awarded.amount.expect("it is an amount");
    let amounts = orders.into_iter().map(|order| match order.award {
        Some(Award::Amount { amount_minor }) => i64::try_from(amount_minor).unwrap(),
        other => panic!("{other:?} is not an amount"),
    });
    let sum: i64 = amounts.sum();
    assert_eq!((tally.awarded, tally.total), (sum, i64::try_from(TOTAL_MINOR).unwrap()));
    assert_eq!(sum + tally.unclaimed, tally.total);
    tally.unclaimed
}

#[tokio::test]
async fn a_packet_that_is_bought_out_adds_up_to_the_cent() {
    const PARTS: usize = 5;
    let lab = Lab::selling(packet(PARTS as u32)).await;
    assert_eq!(unclaimed(&lab).await, i64::try_from(TOTAL_MINOR).unwrap());
    for buyer in 0..PARTS {
        let reservation = lab.reserve(&format!("user-{buyer}")).await;
        let (one, other) = join(lab.deliver(&[&reservation]), lab.deliver(&[&reservation, &reservation])).await;
        assert!(one.batch_item_failures.is_empty() && other.batch_item_failures.is_empty());
        assert_eq!(lab.reservation_state(&reservation).await, ReservationState::Ordered);
        let order = lab.order_of(&reservation).await;
        assert_eq!((order.pay_by_ms, order.ended_at_ms), (None, None));
        assert_eq!(live_orders(&lab).await.len(), buyer + 1);
        assert!((unclaimed(&lab).await == 0) == (buyer + 1 == PARTS));
    }
    assert_eq!(lab.clean_audit().await, (0, 0, PARTS as u32));
    assert_eq!(lab.depth("expiry").await, [0; 3], "nothing expires");
    assert_eq!(lab.ledger.overdue(EpochMs(i64::MAX)).await.unwrap(), []);
    lab.answer(&Ask::reserve(SALE, "late")).await.problem(409, "sold_out");
    let counts = OrderCounts::new(lab.ledger.clone(), Clock::system());
    for _ in 0..2 {
        let counted = counts.of_round(&round(SALE, 1), PARTS as u32).await.unwrap();
        assert_eq!((counted.unpaid, counted.granted, counted.paid), (0, PARTS as u32, 0));
    }
}

/// More parts than a chunk has.
#[tokio::test]
async fn a_large_table_is_kept_in_chunks() {
    let parts = 2 * u32::try_from(award::CHUNK_VALUES).unwrap() + 5;
    let lab = Lab::selling(packet(parts)).await;
    let id = round(SALE, 1);
    let table = table_of(&lab, &id).await;
    let mut kept = Vec::new();
    for number in 0..3 {
        kept.extend(lab.ledger.table_chunk(&id, number).await.unwrap().expect("it is kept"));
    }
    assert_eq!(kept, table.values());
    assert_eq!(lab.ledger.table_chunk(&id, 3).await.unwrap(), None);
    for buyer in 0..5 {
        lab.buy(&format!("user-{buyer}")).await;
    }
    assert_eq!(live_orders(&lab).await.len(), 5);
    unclaimed(&lab).await;
}

#[tokio::test]
async fn who_gets_another_unit_wins_what_that_one_won() {
    let lab = Lab::selling(packet(3)).await;
    let bob = lab.lose_what(lab.buy("bob")).await;
    let won = lab.order_of(&bob).await.award;
    let alice = lab.reserve("alice").await;
    assert_eq!((bob.unit, alice.unit), (Unit(1), Unit(1)), "handed out twice");
    for _ in 0..2 {
        assert!(lab.deliver(&[&alice]).await.batch_item_failures.is_empty());
        assert_eq!(lab.order_of(&alice).await.reservation.unit, Unit(2));
        assert_eq!((live_orders(&lab).await.len(), lab.clean_audit().await), (2, (1, 0, 2)));
    }
    assert_eq!(lab.order_of(&bob).await.award, won);
    // A second reservation of bob's exceeds the limit, and its unit goes to carol.
    let second = lab.reserve("bob").await;
    assert!(lab.deliver(&[&second]).await.batch_item_failures.is_empty());
    let failed = lab.order_of(&second).await;
    assert_eq!((failed.failure, failed.award), (Some(Failure::LimitReached), None), "nobody learns what it won");
    assert_eq!(lab.buy("carol").await.unit, second.unit);
    assert_eq!(unclaimed(&lab).await, 0);
    lab.check_history_of_a_loss("packets_rewound").await;
}

#[tokio::test]
async fn a_reservation_of_a_free_round_is_never_cancelled() {
    let lab = Lab::selling(packet(2)).await;
    let alice = lab.reserve("alice").await;
    let refused = async |status: &str| {
        let before = lab.contents().await;
        let problem = lab.answer(&Ask::cancel(&alice)).await.problem(409, "not_cancellable");
        assert_eq!(problem.body["reservation_status"], status);
        assert_eq!(lab.contents().await, before, "nothing was written");
    };
    refused("queued").await;
    assert!(lab.deliver(&[&alice]).await.batch_item_failures.is_empty());
    refused("granted").await;
    // A stranger is told the same as for a reservation that does not exist.
    lab.answer(&Ask::cancel(&alice).by("bob")).await.problem(404, "unknown_reservation");
    assert_eq!((live_orders(&lab).await.len(), lab.clean_audit().await), (1, (1, 0, 1)));
}

#[tokio::test]
async fn a_payment_for_what_is_free_is_given_back_and_nothing_expires() {
    let lab = Lab::selling(packet(2)).await;
    let alice = lab.buy("alice").await;
    let before = lab.order_of(&alice).await;
    for price_minor in [0, 990] {
        let payment = format!("pay_{price_minor}");
        for _ in 0..2 {
            let ask = Ask::paid(&payment, &alice.id.to_string(), price_minor, &lab.payment_key);
            assert_eq!(lab.answer(&ask).await.expect(200).text("outcome"), "refund_due");
        }
    }
    let mut after = lab.order_of(&alice).await;
    let mut refunds = std::mem::take(&mut after.refunds_due);
    refunds.sort();
    assert_eq!(refunds, ["pay_0", "pay_990"]);
    assert_eq!(after, before);
    let contents = lab.contents().await;
    lab.expire(&[&alice], 100_000).await;
    assert_eq!(lab.contents().await, contents);
}

/// The table would not be the promised one, so nobody may buy by it.
#[tokio::test]
async fn a_round_whose_seed_is_not_the_one_that_it_is_committed_to_is_not_loaded() {
    let lab = Lab::publishing(packet(5)).await;
    let put = lab.dynamodb.put_item().table_name(&lab.table);
    let put = put.item("pk", AttributeValue::S(format!("SEED#{SALE}#1")));
    put.item("seed", AttributeValue::B(Blob::new([7; 32]))).send().await.unwrap();
    let refused = fulfilment::load_round(&lab.stock, &lab.ledger, &lab.round().await, now()).await;
    assert!(refused.is_err(), "{refused:?}");
    assert!(!lab.stock.round(&round(SALE, 1)).is_loaded().await.unwrap());
    assert_eq!(lab.ledger.table_chunk(&round(SALE, 1), 0).await.unwrap(), None);
}
