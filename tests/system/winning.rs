//! Winners are notified: all of them, at the pace that the settings allow.

use axum::http::StatusCode;
use messaging::queue::WinnerMessage;

use crate::lotteries::{AFTER_S, end, lottery, winner_messages};
use crate::prelude::*;
use crate::webhooks::{Conduct, Receiver, listening};

const PRIZES: u32 = 12;
const PER_S: u32 = 20;

/// What the gift service took, by its ids.
fn came(gifts: &Receiver) -> BTreeMap<String, Vec<Value>> {
    let mut came = BTreeMap::<String, Vec<Value>>::new();
    for (id, body) in &*gifts.took.lock().unwrap() {
        came.entry(id.clone()).or_default().push(body.clone());
    }
    came
}

/// A lottery whose prizes all have winners, none of whom was notified.
async fn drawn(prizes: u32) -> Lab {
    let lab = Lab::selling(lottery(prizes, &[1, prizes - 1])).await;
    for n in 0..prizes {
        lab.buy(&format!("user-{n}")).await;
    }
    end(&lab).await;
    assert_eq!(draw::handle(&lab.draw_in(AFTER_S)).await.unwrap().drawn, 1);
    lab
}

fn function(lab: &Lab, url: &str, per_s: u32) -> winners::WinnersDeps {
    let settings = lab.settings().with("GIFT_URL", url).with("WINNERS_PER_S", per_s.to_string());
    let context = Context::new(settings, lab.another_process().aws().clone(), Clock::system());
    winners::WinnersDeps::new(&context.with(lab.ledger.clone())).unwrap()
}

fn message(position: u32) -> String {
    WinnerMessage::new(round(SALE, 1), position).to_body()
}

#[tokio::test]
async fn each_winner_is_notified_once_at_the_pace_that_is_set() {
    let lab = drawn(PRIZES).await;
    let (gifts, url) = listening(&lab, &[]).await;
    let deps = function(&lab, &url, PER_S);
    let began = Instant::now();
    for batch in (1..=PRIZES).collect::<Vec<_>>().chunks(10) {
        // Each message twice, as SQS may deliver it. A batch's messages are handled concurrently.
        for _ in 0..2 {
            let bodies = batch.iter().map(|position| message(*position));
            assert!(winners::handle(&deps, events::batch(bodies)).await.batch_item_failures.is_empty());
        }
    }
    let least = Duration::from_secs(1) * (PRIZES - 1) / PER_S;
    assert!(began.elapsed() >= least, "{:?} for {PRIZES} winners is faster than {PER_S} a second", began.elapsed());
    assert!(gifts.asked.lock().unwrap().iter().all(|asked| asked.idempotency_key.as_ref() == Some(&asked.id)));
    let came = came(&gifts);
    let ids: BTreeSet<String> = (1..=PRIZES).map(|position| format!("{SALE}.1.{position}")).collect();
    assert_eq!(came.keys().cloned().collect::<BTreeSet<_>>(), ids);
    assert!(came.values().all(|bodies| bodies.len() == 1), "no winner is notified twice");
    let users: BTreeSet<&str> = came.values().map(|bodies| bodies[0]["data"]["user"].as_str().unwrap()).collect();
    assert_eq!(users.len(), PRIZES as usize);
    let first = &came[&format!("{SALE}.1.1")][0];
    assert_eq!((&first["type"], &first["data"]["prize"]), (&"prize.won".into(), &"Prize 1".into()));
}

#[tokio::test]
async fn what_the_gift_service_does_not_take_comes_back() {
    let lab = drawn(2).await;
    let refusals = [
        Conduct::Answers(StatusCode::INTERNAL_SERVER_ERROR),
        Conduct::Redirects,
        Conduct::Answers(StatusCode::NOT_FOUND),
    ];
    let (gifts, url) = listening(&lab, &refusals).await;
    let deps = function(&lab, &url, 1000);
    for _ in refusals {
        let failed = winners::handle(&deps, events::batch([message(1)])).await.batch_item_failures;
        assert_eq!(failed.len(), 1);
        assert_eq!(lab.ledger.winner(&round(SALE, 1), 1).await.unwrap().unwrap().notified_at_ms, None);
    }
    // Along with messages that can never succeed.
    let bodies = [message(1), message(3), "poison".to_owned()];
    assert_eq!(winners::handle(&deps, events::batch(bodies)).await.batch_item_failures.len(), 2);
    let asked: Vec<String> = gifts.asked.lock().unwrap().iter().map(|asked| asked.body.clone()).collect();
    assert_eq!(asked, vec![asked[0].clone(); refusals.len() + 1], "each try is the same");
    assert_eq!(gifts.led_astray.load(std::sync::atomic::Ordering::Relaxed), 0);
    assert_eq!(came(&gifts).into_keys().collect::<Vec<_>>(), [format!("{SALE}.1.1")]);
    assert!(lab.ledger.winner(&round(SALE, 1), 1).await.unwrap().unwrap().notified_at_ms.is_some());
}

/// A deployment gets its gift service after some draws.
#[tokio::test]
async fn winners_of_a_time_without_a_gift_service_are_sent_to_it_later() {
    let prizes = 3;
    let lab = drawn(prizes).await;
    let resend = |after: u32| {
        let path = format!("/v1/admin/sales/{SALE}/rounds/1/winners/resend");
        Ask::post(path).by_operator().json(&json!({ "after": after }))
    };
    let handled = async |deps: &winners::WinnersDeps| {
        let messages = winner_messages(&lab).await;
        let batch = events::batch(messages.iter().map(|position| message(*position)));
        assert!(winners::handle(deps, batch).await.batch_item_failures.is_empty());
        messages.into_iter().collect::<BTreeSet<u32>>()
    };
    let nobody = winners::WinnersDeps::new(&lab.another_process()).unwrap();
    assert_eq!(handled(&nobody).await, BTreeSet::from([1, 2, 3]));
    for position in 1..=prizes {
        let winner = lab.ledger.winner(&round(SALE, 1), position).await.unwrap().unwrap();
        assert_eq!(winner.notified_at_ms, None, "no winner was notified");
    }

    let (gifts, url) = listening(&lab, &[]).await;
    let deps = function(&lab, &url, 1000);
    assert_eq!(lab.answer(&resend(1)).await.expect(200).body, json!({ "sent": 2 }));
    assert_eq!(handled(&deps).await, BTreeSet::from([2, 3]));
    // Requested twice before any winner was notified.
    for _ in 0..2 {
        assert_eq!(lab.answer(&resend(0)).await.expect(200).body, json!({ "sent": 1 }));
    }
    assert_eq!(handled(&deps).await, BTreeSet::from([1]));
    assert_eq!(lab.answer(&resend(0)).await.expect(200).body, json!({ "sent": 0 }));
    let ids: Vec<String> = (1..=prizes).map(|position| format!("{SALE}.1.{position}")).collect();
    assert_eq!(came(&gifts).into_keys().collect::<Vec<_>>(), ids);
}

pub(crate) async fn with_gifts(lab: &Lab) -> Settings {
    lab.settings().with("GIFT_URL", listening(lab, &[]).await.1)
}
