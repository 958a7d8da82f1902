//! The limit of a campaign: how many live orders a user may have in all of its sales.

use fulfilment::{cancel, expire};
use ledger::{PutCampaign, Taken};

use crate::prelude::*;

const SALES: [&str; 3] = ["lamp", "chair", "pot"];

fn autumn(limit_per_user: Option<u8>, version: u32) -> Campaign {
    let sale_ids = SALES.map(|sale| sale.parse().unwrap()).to_vec();
    Campaign { id: "autumn".parse().unwrap(), title: "Autumn".into(), sale_ids, limit_per_user, version }
}

/// Three sales of up to two units a user, in a campaign with this limit.
async fn lab(limit_per_user: Option<u8>) -> Lab {
    let lab = Lab::new().await;
    for sale in SALES {
        lab.open(sale, &terms(10, 2)).await;
    }
    assert_eq!(lab.ledger.put_campaign(&autumn(limit_per_user, 1)).await.unwrap(), PutCampaign::Now);
    lab
}

/// Reserves, and delivers the message to a new process, which has not read the campaign yet.
async fn buy(lab: &Lab, sale: &str, name: &str) -> Order {
    let reservation = lab.accepted(&Ask::reserve(sale, name), name).await;
    deliver(lab, &reservation).await;
    lab.order_of(&reservation).await
}

async fn deliver(lab: &Lab, reservation: &Reservation) {
    let order = order::OrderDeps::new(&lab.another_process()).unwrap();
    let batch = message_batch([reservation]);
    assert!(order::handle(&order, batch).await.batch_item_failures.is_empty());
}

/// The ids of the orders that the ledger counts for a user.
async fn counted(lab: &Lab, name: &str) -> Vec<String> {
    let item = items(&lab.dynamodb, &lab.table).await.remove(&format!("CAMPAIGN_USER#autumn#{name}"));
    item.and_then(|item| item.get("orders")?.as_ss().ok().cloned()).unwrap_or_default()
}

#[tokio::test]
async fn an_order_beyond_the_limit_fails_and_its_unit_is_sold_again() {
    let lab = lab(Some(2)).await;
    let first = buy(&lab, "lamp", "alice").await;
    let second = buy(&lab, "chair", "alice").await;
    assert_eq!((first.state, second.state), (OrderState::Pending, OrderState::Pending));
    assert_eq!(first.campaigns, ["autumn".parse::<CampaignId>().unwrap()]);
    let third = buy(&lab, "pot", "alice").await;
    assert_eq!((third.state, third.failure), (OrderState::Failed, Some(Failure::CampaignLimit)));
    let pot = lab.stock.round(&round("pot", 1)).counters().await.unwrap().unwrap();
    assert_eq!(pot.available(now()), 10, "the unit is free again");
    let seen = lab.answer(&Ask::status(&third.reservation)).await.expect(200);
    assert_eq!((seen.text("status"), seen.text("reason")), ("failed", "campaign_limit"));
    // The failure does not count against alice, and other users are not affected.
    assert_eq!(buy(&lab, "pot", "bob").await.state, OrderState::Pending);
    // A repeated message finds the existing order.
    deliver(&lab, &second.reservation).await;
    deliver(&lab, &third.reservation).await;
    assert_eq!(counted(&lab, "alice").await.len(), 2);
    assert_eq!(lab.order_of(&third.reservation).await, third);
}

#[tokio::test]
async fn what_ends_unpaid_makes_room_once() {
    let lab = lab(Some(1)).await;
    let first = buy(&lab, "lamp", "alice").await;
    lab.answer(&Ask::cancel(&first.reservation)).await.expect(200);
    lab.answer(&Ask::cancel(&first.reservation)).await;
    assert!(counted(&lab, "alice").await.is_empty());
    let second = buy(&lab, "chair", "alice").await;
    assert_eq!(second.state, OrderState::Pending);
    // A late repeat of the first order's end takes nothing from the second.
    let _ =
        cancel(&lab.stock, &lab.ledger, &lab.snapshots, &first.reservation.id, &user("alice"), now()).await.unwrap();
    assert_eq!(counted(&lab, "alice").await, [second.reservation.id.to_string()]);
    expire(&lab.stock, &lab.ledger, &second.reservation.id, now().plus_s(3600)).await.unwrap();
    assert!(counted(&lab, "alice").await.is_empty());
    assert_eq!(buy(&lab, "pot", "alice").await.state, OrderState::Pending);
}

#[tokio::test]
async fn many_orders_at_the_same_moment_are_no_more_than_the_limit() {
    let lab = lab(Some(2)).await;
    let mut reservations = Vec::new();
    for sale in SALES {
        for _ in 0..2 {
            let ask = Ask::reserve(sale, "alice").header("idempotency-key", Uuid::now_v7().to_string());
            reservations.push(lab.accepted(&ask, "alice").await);
        }
    }
    join_all(reservations.iter().map(|reservation| deliver(&lab, reservation))).await;
    let orders = join_all(reservations.iter().map(|reservation| lab.order_of(reservation))).await;
    let (live, failed): (Vec<&Order>, Vec<&Order>) =
        orders.iter().partition(|order| order.state == OrderState::Pending);
    assert!(failed.iter().all(|order| order.failure == Some(Failure::CampaignLimit)), "{failed:?}");
    assert_eq!((live.len(), counted(&lab, "alice").await.len()), (2, 2));
}

#[tokio::test]
async fn a_limit_that_is_changed_holds_from_then_on() {
    let lab = lab(None).await;
    let before = buy(&lab, "lamp", "alice").await;
    assert!(before.campaigns.is_empty() && counted(&lab, "alice").await.is_empty(), "no limit, no counting");
    lab.ledger.put_campaign(&autumn(Some(1), 2)).await.unwrap();
    let first = buy(&lab, "chair", "alice").await;
    assert_eq!(first.state, OrderState::Pending);
    assert_eq!(buy(&lab, "pot", "alice").await.failure, Some(Failure::CampaignLimit));
    // Without the limit no order fails, and an order that was counted under it still makes room when it ends.
    lab.ledger.put_campaign(&autumn(None, 3)).await.unwrap();
    assert_eq!(buy(&lab, "pot", "alice").await.state, OrderState::Pending);
    lab.answer(&Ask::cancel(&first.reservation)).await.expect(200);
    assert!(counted(&lab, "alice").await.is_empty());
}

/// Another order's unit is replaced first, so that an order that fails at the campaign's limit gives back a unit of its own.
#[tokio::test]
async fn a_taken_unit_and_a_full_campaign_are_told_apart() {
    let lab = lab(Some(1)).await;
    buy(&lab, "chair", "alice").await;
    let of_bob = buy(&lab, "lamp", "bob").await;
    let id: RoundId = round("lamp", 1);
    let reservation = fresh_reservation(&id, &user("alice"), of_bob.reservation.unit.0, 1);
    let order = Order::pending(reservation, terms(1, 1).price, now(), now().plus_s(60));
    let limits = [autumn(Some(1), 1).limit_of(&id.sale).unwrap()];
    let placed = lab.ledger.place_within(order, &limits, false).await.unwrap();
    assert_eq!(placed, Placed::Taken(Taken { unit: true, slot: false, campaign: true }));
}

#[tokio::test]
async fn a_sale_has_so_many_limits_and_no_more() {
    let lab = Lab::publishing(terms(10, 1)).await;
    let campaign = |id: &str, limit: u8| json!({ "campaign_id": id, "title": "Days", "sale_ids": ["lamp"], "limit_per_user": limit });
    assert_eq!(lab.operate("campaigns", &campaign("days", 3)).await.expect(201).body["limit_per_user"], 3);
    for n in 2..=5 {
        lab.operate("campaigns", &campaign(&format!("days-{n}"), 100)).await.expect(201);
    }
    // The index is eventually consistent.
    let full = async || (lab.ledger.campaigns().await.unwrap().len() == 5).then_some(());
    until("five campaigns", full).await;
    lab.operate("campaigns", &campaign("days-6", 1)).await.problem(400, "invalid_request");
    let without = json!({ "campaign_id": "days-6", "title": "Days", "sale_ids": ["lamp"] });
    lab.operate("campaigns", &without).await.expect(201);
}
