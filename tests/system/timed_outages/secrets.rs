//! Without Secrets Manager, while a key changes.

use super::common::{MINUTE, PAYMENT_KEY, STEP_S, When, World};
use crate::prelude::*;

const NEXT_KEY: &str = "the next key of payments, which is long enough too";
/// A process reads a secret again a minute after a failure. The rest of the time is for a request to arrive.
const MOST_STEPS: u32 = 3 * MINUTE;

/// Returns how many seconds after the outage the new key is in use.
pub(super) async fn without_secrets_manager() -> u64 {
    let mut world = World::selling().await;
    world.pass(MINUTE).await;
    let payments = world.start(payment::PaymentDeps::new);
    world.pay(&payments, PAYMENT_KEY).await.expect(200);

    world.lose(|world| &world.secrets, Reach::Refuses, true).await;
    let mut new = Vec::new();
    for minute in 0..10 {
        world.pass(MINUTE).await;
        world.pay(&payments, PAYMENT_KEY).await.expect(200);
        // The provider repeats the callback, and the buyer may ask again.
        let without_keys = world.start(payment::PaymentDeps::new);
        world.pay(&without_keys, PAYMENT_KEY).await.problem(503, "overloaded");
        let without_keys = world.start(reservation::ReservationDeps::new);
        let refused = world.ask_of(&without_keys).await.problem(503, "overloaded");
        assert!(refused.body["reservation_id"].is_null());
        new.push(without_keys);
        if minute == 5 {
            world.payments_are_signed_with(NEXT_KEY).await;
        }
    }
    for heard in world.heard(When::During).filter(|heard| !heard.of_new) {
        assert_eq!(heard.answer.status, 202, "a process that has the keys goes on: {heard:?}");
    }
    world.looks_are_honest();

    world.secrets.set(Reach::Answers).await;
    for deps in &new {
        world.ask_of(deps).await.expect(202);
    }
    let mut steps = 0;
    loop {
        let answer = world.pay(&payments, NEXT_KEY).await;
        if answer.status == 200 {
            break;
        }
        answer.problem(401, "unauthorized");
        assert!(steps < MOST_STEPS, "the process reads the new key in time");
        world.pass(1).await;
        steps += 1;
    }
    let in_use_s = u64::from(steps * STEP_S);
    eprintln!("ten minutes without Secrets Manager: the new key is in use after {in_use_s} s");
    world.work_off().await;
    assert!(world.heard(When::After).all(|heard| heard.answer.status == 202));
    world.ends_well("ten_minutes_without_secrets_manager", Redis::Keeps).await;
    in_use_s
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_minutes_without_secrets_manager() {
    without_secrets_manager().await;
}
