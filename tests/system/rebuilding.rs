//! A round that Redis has lost comes back because a buyer asks for it. No schedule runs here.

use fulfilment::{Loading, load_round};
use messaging::queue::RebuildMessage;

use crate::prelude::*;

const BUYERS: usize = 200;

impl Lab {
    /// Delivers everything in the queue of rebuilds.
    async fn rebuild(&self) {
        let messages = self.receive("rebuilds").await;
        let done = warmup::rebuild(&self.warmup(), events::received(&messages)).await;
        assert!(done.batch_item_failures.is_empty(), "nothing comes back");
        for message in &messages {
            self.delete("rebuilds", message).await;
        }
    }

    async fn is_loaded(&self) -> bool {
        self.stock.of(&self.round().await).is_loaded().await.unwrap()
    }
}

fn about(id: &str) -> String {
    RebuildMessage::new(id.parse().unwrap()).to_body()
}

#[tokio::test]
async fn a_buyer_who_misses_a_round_gets_it_back() {
    let lab = Lab::selling(Terms { lanes: 4, ..terms(20, 1) }).await;
    let alice = lab.buy("alice").await;
    for _ in 0..2 {
        lab.redis(&["FLUSHALL"]).await;
        until("bob has a unit", async || {
            let answer = lab.answer(&Ask::reserve(SALE, "bob")).await;
            if answer.status == 202 {
                return Some(());
            }
            let refused = answer.problem(503, "overloaded");
            assert_eq!(refused.header("retry-after"), "1");
            lab.rebuild().await;
            None
        })
        .await;
        let again = lab.answer(&Ask::reserve(SALE, "alice")).await.problem(409, "limit_reached");
        assert_eq!(again.body["reservation_ids"], json!([alice.id.to_string()]));
    }
    assert_eq!(lab.clean_audit().await, (18, 1, 1));
    // An order from before the loss still gives its unit back.
    lab.answer(&Ask::cancel(&alice)).await.expect(200);
    assert_eq!(lab.clean_audit().await, (19, 1, 0));
}

/// A pass outlives Redis; a challenge does not. Whoever needs a new one brings the round back, too.
#[tokio::test]
async fn somebody_who_asks_for_a_challenge_brings_it_back() {
    let lab = Lab::selling(terms(3, 1)).await;
    lab.redis(&["FLUSHALL"]).await;
    let ask = Ask::post(format!("/v1/sales/{SALE}/challenges")).by("alice");
    until("alice has a challenge", async || {
        let answer = lab.answer(&ask).await;
        lab.rebuild().await;
        (answer.status == 201).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_storm_of_requests_asks_once_and_one_consumer_loads() {
    let lab = Lab::selling(terms(20, 1)).await;
    lab.redis(&["FLUSHALL"]).await;
    let processes: Vec<_> = (0..4).map(|_| lab.reservation()).collect();
    let began = tokio::time::Instant::now();
    let ask = async |buyer: usize| {
        let request = Ask::reserve(SALE, &format!("user-{buyer}")).request();
        reservation::handle(&processes[buyer % processes.len()], request).await.status().as_u16()
    };
    let answers = join_all((0..BUYERS).map(ask)).await;
    assert!(answers.iter().all(|status| *status == 503), "{answers:?}");
    // One for each second that the storm lasted.
    let seconds = began.elapsed().as_secs() as u32 + 1;
    let asked: u32 = lab.depth("rebuilds").await.iter().sum();
    assert!((1..=seconds).contains(&asked), "{asked} messages in {seconds} s");

    let now = now();
    let read = lab.round().await;
    let loads = join_all((0..4).map(|_| load_round(&lab.stock, &lab.ledger, &read, now))).await;
    let count = |what| loads.iter().filter(|load| matches!(load, Ok(loading) if *loading == what)).count();
    assert_eq!(count(Loading::Loaded), 1, "{loads:?}");
    assert_eq!(count(Loading::Underway) + count(Loading::Present), 3, "{loads:?}");
}

/// The lease, and not the script, keeps the second one away: it reads no guard.
#[tokio::test(flavor = "multi_thread")]
async fn while_one_loads_another_reads_nothing_and_a_dead_one_gives_way() {
    let lab = Lab::selling(terms(3, 1)).await;
    lab.redis(&["FLUSHALL"]).await;
    let (read, now) = (lab.round().await, now());
    let (stock, same) = (lab.stock.clone(), read.clone());
    let ledger = lab.meanwhile("Query", move |second| async move {
        assert_eq!(load_round(&stock, &second, &same, now).await.unwrap(), Loading::Underway);
    });
    assert_eq!(load_round(&lab.stock, &ledger, &read, now).await.unwrap(), Loading::Loaded);

    lab.redis(&["FLUSHALL"]).await;
    let dead = Uuid::new_v4();
    assert!(lab.ledger.let_load(&read.id, dead, now, now.plus_s(3)).await.unwrap());
    assert_eq!(load_round(&lab.stock, &lab.ledger, &read, now.plus_s(2)).await.unwrap(), Loading::Underway);
    assert_eq!(load_round(&lab.stock, &lab.ledger, &read, now.plus_s(3)).await.unwrap(), Loading::Loaded);
    assert!(lab.ledger.let_load(&read.id, dead, now.plus_s(4), now.plus_s(7)).await.unwrap(), "it was given back");
}

#[tokio::test]
async fn a_message_is_only_a_hint() {
    let lab = Lab::selling(terms(3, 1)).await;
    let before = lab.contents().await;
    let deliver = async |bodies: Vec<String>| {
        let done = warmup::rebuild(&lab.warmup(), events::batch(bodies)).await;
        assert!(done.batch_item_failures.is_empty(), "nothing comes back");
    };
    // Late, garbled, about nothing.
    deliver(vec![about("lamp.1"), "\0".into(), about("nowhere.1"), about("lamp.9")]).await;
    assert_eq!(lab.contents().await, before);

    lab.redis(&["FLUSHALL"]).await;
    let pause = async |paused| rounds::change(&lab.ledger, &round(SALE, 1), |round| round.paused = paused).await;
    pause(true).await;
    deliver(vec![about("lamp.1")]).await;
    assert!(!lab.is_loaded().await, "nobody buys from a paused round");
    pause(false).await;
    deliver(vec![about("lamp.1"), about("lamp.1")]).await;
    assert!(lab.is_loaded().await);

    let lab = Lab::publishing(rounds::from_to(-7200, -3600, terms(3, 1))).await;
    let done = warmup::rebuild(&lab.warmup(), events::batch([about("lamp.1")])).await;
    assert!(done.batch_item_failures.is_empty());
    lab.reconcile().await;
    assert!(!lab.is_loaded().await, "a round that is over");
}
