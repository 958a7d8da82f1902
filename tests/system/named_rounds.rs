//! Steering names the round that it is about, and a key names one request.

use std::sync::atomic::{AtomicBool, Ordering};

use aws_sdk_dynamodb::Client as DynamoDb;
use aws_sdk_dynamodb::config::interceptors::BeforeTransmitInterceptorContextRef;
use aws_sdk_dynamodb::config::{ConfigBag, Intercept, RuntimeComponents};
use aws_sdk_dynamodb::error::BoxError;
use ledger::{Amend, Ledger};
use runtime::Clock;
use sale::{EpochMs, Recurrence, RoundNumber, Sale, Terms};
use serde_json::{Value, json};
use tests::terms;
use tokio::runtime::Handle;
use tokio::task::block_in_place;

use crate::answer::Answer;
use crate::ask::Ask;
use crate::cloud::cloud;
use crate::lab::{Lab, SALE};

const DAY_MS: i64 = 24 * 60 * 60 * 1000;
/// Half the length of the rounds: wider than clocks are put forward or back.
const HALF_MS: i64 = 3 * 60 * 60 * 1000;

fn ask(what: &str, body: &Value) -> Ask {
    Ask::post(format!("/v1/admin/sales/{SALE}/{what}")).by_operator().json(body)
}

fn keyed(what: &str, key: &str, body: &Value) -> Ask {
    ask(what, body).header("idempotency-key", key)
}

/// Every way to steer round `round`.
fn all_of(round: u32) -> Vec<Ask> {
    let only = json!({ "round": round });
    vec![
        ask("pause", &only),
        ask("resume", &only),
        ask("close", &only),
        keyed("restock", &format!("more-{round}"), &json!({ "round": round, "units": 5 })),
        ask("isolate", &json!({ "round": round, "requests_per_s": 20 })),
        ask("end_recurrence", &only),
    ]
}

/// A sale that comes again every day, in round 1, open.
async fn daily() -> Lab {
    let lab = Lab::new().await;
    let now = Clock::system().now().0;
    let (opens_at_ms, closes_at_ms) = (EpochMs(now - HALF_MS), EpochMs(now + HALF_MS));
    let terms = Terms { opens_at_ms, closes_at_ms, ..terms(5, 1) };
    let sale = SALE.parse().unwrap();
    lab.ledger.create_sale(&sale, &terms, Some(&Recurrence::daily("Europe/Berlin").unwrap())).await.unwrap();
    lab.ledger.publish_sale(&sale).await.unwrap();
    lab.load(SALE).await;
    lab
}

async fn begin_round_2(ledger: &Ledger) {
    let sale = SALE.parse().unwrap();
    let passed = ledger.amend_sale(&sale, "a day", |sale| {
        sale.terms.opens_at_ms.0 -= DAY_MS;
        sale.terms.closes_at_ms.0 -= DAY_MS;
        Ok::<_, ()>(())
    });
    assert!(matches!(passed.await.unwrap(), Amend::Made(_)));
    let deps = daily_reset::Deps { ledger: ledger.clone(), clock: Clock::system() };
    assert_eq!(daily_reset::handle(&deps).await.unwrap().begun, 1);
}

/// What steering may change.
fn steered(sale: &Sale) -> impl PartialEq + std::fmt::Debug + use<> {
    (sale.version, sale.paused, sale.isolated_requests_per_s, sale.recurrence.clone(), sale.terms.clone())
}

#[tokio::test]
async fn steering_that_names_no_round_is_refused() {
    let lab = daily().await;
    let before = lab.sale().await;
    for what in ["pause", "resume", "close", "end_recurrence"] {
        lab.answer(&ask(what, &json!({}))).await.problem(400, "invalid_request");
    }
    lab.answer(&keyed("restock", "key-1", &json!({ "units": 5 }))).await.problem(400, "invalid_request");
    lab.answer(&ask("isolate", &json!({ "requests_per_s": 5 }))).await.problem(400, "invalid_request");
    assert_eq!(lab.sale().await, before);
}

#[tokio::test]
async fn what_was_meant_for_yesterdays_round_changes_nothing_today() {
    let lab = daily().await;
    begin_round_2(&lab.ledger).await;
    let before = lab.sale().await;
    assert_eq!(before.round, RoundNumber(2));
    for wrong in [1, 3] {
        for ask in all_of(wrong) {
            let refused = lab.answer(&ask).await.problem(409, "round_changed");
            assert_eq!(refused.body["round"], 2, "it says which one runs");
        }
    }
    assert_eq!(lab.sale().await, before);
    lab.answer(&keyed("restock", "more-2", &json!({ "round": 2, "units": 5 }))).await.expect(200);
}

/// Begins the next round at the moment at which an operator's change is on its way to DynamoDB.
struct NextRoundMeanwhile {
    ledger: Ledger,
    done: AtomicBool,
}

impl std::fmt::Debug for NextRoundMeanwhile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("NextRoundMeanwhile")
    }
}

impl Intercept for NextRoundMeanwhile {
    fn name(&self) -> &'static str {
        "NextRoundMeanwhile"
    }

    fn read_before_transmit(
        &self,
        context: &BeforeTransmitInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let target = context.request().headers().get("x-amz-target").unwrap_or_default();
        if target.ends_with("PutItem") && !self.done.swap(true, Ordering::Relaxed) {
            block_in_place(|| Handle::current().block_on(begin_round_2(&self.ledger)));
        }
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_round_that_begins_between_decision_and_change_is_left_alone() {
    for ask in all_of(1) {
        let lab = daily().await;
        let meanwhile = NextRoundMeanwhile { ledger: lab.ledger.clone(), done: AtomicBool::new(false) };
        let config = cloud().await.deployment.patient_aws_config();
        let config = aws_sdk_dynamodb::config::Builder::from(&config).interceptor(meanwhile).build();
        let deps = admin::Deps { ledger: Ledger::new(DynamoDb::from_conf(config), &lab.table), ..lab.admin() };
        let refused = Answer::of_handler(&ask, admin::handle(&deps, ask.request()).await);
        assert_eq!(refused.problem(409, "round_changed").body["round"], 2);
        let sale = lab.sale().await;
        assert_eq!(
            (sale.round, sale.paused, sale.isolated_requests_per_s),
            (RoundNumber(2), false, None),
            "{}",
            ask.path
        );
        assert_eq!((sale.terms.total, sale.recurrence.is_some()), (5, true), "{}", ask.path);
    }
}

#[tokio::test]
async fn a_key_that_named_another_request_is_refused() {
    let lab = Lab::selling(terms(3, 1)).await;
    let restock = |units: u32| keyed("restock", "key-1", &json!({ "round": 1, "units": units }));
    assert_eq!(lab.answer(&restock(2)).await.expect(200).body["total"], 5);
    assert_eq!(lab.answer(&restock(2)).await.expect(200).body["total"], 5, "the same again");
    let before = lab.sale().await;
    let others = [
        restock(20),
        keyed("pause", "key-1", &json!({ "round": 1 })),
        keyed("isolate", "key-1", &json!({ "round": 1, "requests_per_s": 2 })),
        keyed("restock", "key-1", &json!({ "round": 2, "units": 2 })),
    ];
    for other in others {
        lab.answer(&other).await.problem(409, "key_reused");
    }
    assert_eq!(lab.sale().await, before);
    // Not a part of another key.
    assert_eq!(
        lab.answer(&keyed("restock", "key", &json!({ "round": 1, "units": 1 }))).await.expect(200).body["total"],
        6
    );
}

/// The previous version remembered the action and the key alone.
#[tokio::test]
async fn a_key_that_the_previous_version_remembered_still_changes_nothing() {
    let lab = Lab::selling(terms(3, 1)).await;
    let id = SALE.parse().unwrap();
    let made = lab.ledger.amend_sale(&id, "restock-key-1", |sale| {
        sale.terms.total += 2;
        Ok::<_, ()>(())
    });
    assert!(matches!(made.await.unwrap(), Amend::Made(_)));
    let again = keyed("restock", "key-1", &json!({ "round": 1, "units": 2 }));
    assert_eq!(lab.answer(&again).await.expect(200).body["total"], 5);
}

#[tokio::test]
async fn a_round_that_is_over_takes_no_units_and_is_not_resumed() {
    let lab = Lab::selling(terms(3, 1)).await;
    let restock = keyed("restock", "key-1", &json!({ "round": 1, "units": 2 }));
    lab.answer(&restock).await.expect(200);
    lab.answer(&ask("close", &json!({ "round": 1 }))).await.expect(200);
    let before = steered(&lab.sale().await);
    let late = [keyed("restock", "key-2", &json!({ "round": 1, "units": 2 })), ask("resume", &json!({ "round": 1 }))];
    for ask in late {
        let refused = lab.answer(&ask).await.problem(409, "not_amendable");
        assert_eq!(refused.text("detail"), "round 1 is over");
    }
    assert_eq!(steered(&lab.sale().await), before);
    lab.answer(&restock).await.expect(200);
    assert_eq!(lab.sale().await.terms.total, 5, "what was done before its end is done");
}
