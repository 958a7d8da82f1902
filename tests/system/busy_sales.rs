//! Sales with far more demand than expected: found, shown, and limited if the deployment says so.

use ledger::NotedTraffic;

use crate::prelude::*;

/// More than twice the requests a minute that a sale without a plan is expected to get.
const CROWD: u64 = 1_000_000;

/// Runs reconciliation with its clock this many minutes ahead.
pub(crate) async fn look(lab: &Lab, minute: i64, throttle_busy_to: Option<u32>) -> usize {
    let clock = Clock::ahead_by_ms(minute * 60_000);
    let deps = reconciliation::ReconciliationDeps { clock, throttle_busy_to, ..lab.reconciliation() };
    let summary = reconciliation::handle(&deps).await.unwrap();
    assert_eq!(summary.failed, 0, "{summary:?}");
    summary.busy
}

/// Adds this many answers to Redis's counts, as processes do.
pub(crate) async fn answered(lab: &Lab, code: &'static str, count: u64) {
    lab.stock.round(&round(SALE, 1)).tally(&BTreeMap::from([(code, count)])).await.unwrap();
}

/// Has the crowd come between two looks. The sale is found busy.
async fn gets_busy(lab: &Lab, throttle_busy_to: Option<u32>) {
    assert_eq!(look(lab, 0, throttle_busy_to).await, 0);
    answered(lab, "challenged", CROWD).await;
    assert_eq!(look(lab, 1, throttle_busy_to).await, 1);
}

pub(crate) async fn noted(lab: &Lab) -> NotedTraffic {
    lab.ledger.traffic_of([&round(SALE, 1)]).await.unwrap().remove(&round(SALE, 1)).unwrap()
}

async fn shown(lab: &Lab) -> Value {
    lab.read(format!("/v1/admin/sales/{SALE}")).await
}

async fn limit(lab: &Lab) -> Value {
    shown(lab).await["throttle_requests_per_s"].clone()
}

pub(crate) async fn throttles(lab: &Lab) -> usize {
    lab.round().await.log.entries().iter().filter(|entry| entry.action == "throttle").count()
}

#[tokio::test]
async fn a_sale_that_nobody_planned_is_found_busy_and_shown_until_the_crowd_has_gone() {
    let lab = Lab::selling(terms(9, 1)).await;
    gets_busy(&lab, None).await;
    let list = lab.read("/v1/admin/sales").await;
    let page = lab.read("/v1/admin/sales?state=open").await;
    let one = shown(&lab).await;
    for busy in [&list["sales"][0]["busy"], &page["sales"][0]["busy"], &one["busy"]] {
        // A minute by the clocks, plus the time that the runs took.
        let rate = busy["requests_per_s"].as_u64().unwrap();
        assert!((6_000..=CROWD / 60).contains(&rate), "{busy}");
        assert_eq!(busy["expected_requests_per_s"], 3_000);
    }
    assert_eq!((limit(&lab).await, throttles(&lab).await), (Value::Null, 0), "limiting it is left to operators");
    let ask = Ask::get(format!("/v1/admin/sales/{SALE}")).by_operator();
    let in_minutes = async |minutes: i64| {
        let deps = admin::AdminDeps { clock: Clock::ahead_by_ms(minutes * 60_000), ..lab.admin() };
        deps.answer(&ask).await.expect(200).body["busy"].clone()
    };
    assert!(in_minutes(2).await.is_object());
    assert_eq!(in_minutes(9).await, Value::Null, "what was seen long ago is not shown as of now");

    assert_eq!(look(&lab, 2, None).await, 0);
    assert_eq!(shown(&lab).await["busy"], Value::Null);
}

#[tokio::test]
async fn real_requests_count_and_those_who_hear_sold_out_do_not() {
    const BUYERS: u64 = 130;
    let door = DoorTerms { planned_requests_per_s: Some(1), ..DoorTerms::default() };
    let lab = Lab::selling(Terms { door, ..terms(200, 1) }).await;
    look(&lab, 0, None).await;
    for number in 0..BUYERS {
        lab.answer(&Ask::reserve(SALE, &format!("user-{number}"))).await.expect(202);
    }
    answered(&lab, "sold_out", CROWD).await;
    lab.snapshots.flush_answers(&lab.stock).await;
    look(&lab, 1, None).await;
    let Traffic { asked, requests_per_s, .. } = noted(&lab).await.traffic;
    assert!(asked == BUYERS && requests_per_s <= 2, "{asked} at {requests_per_s}/s");
}

#[tokio::test]
async fn it_is_limited_once_however_many_look_and_who_undoes_that_is_obeyed() {
    let lab = Lab::selling(terms(9, 1)).await;
    look(&lab, 0, Some(50)).await;
    answered(&lab, "challenged", CROWD).await;
    join_all((0..4).map(|_| look(&lab, 1, Some(50)))).await;
    assert_eq!((limit(&lab).await, throttles(&lab).await), (json!(50), 1));

    lab.throttle(None).await;
    answered(&lab, "challenged", CROWD).await;
    assert_eq!(look(&lab, 2, Some(50)).await, 1, "the sale is still busy");
    assert_eq!((limit(&lab).await, throttles(&lab).await), (Value::Null, 2));
}

#[tokio::test]
async fn a_sale_is_limited_to_no_less_than_was_planned_whatever_else_was_done() {
    let door = DoorTerms { planned_requests_per_s: Some(4_000), ..DoorTerms::default() };
    let lab = Lab::selling(Terms { door, ..terms(9, 1) }).await;
    // Operators may use any idempotency key, even one that looks like the limit's own.
    for (key, what) in [("busy", "pause"), ("busy-1", "resume")] {
        let ask = Ask::post_sale(what).header("idempotency-key", key);
        lab.answer(&ask.json(&json!({ "round": 1 }))).await.expect(200);
    }
    gets_busy(&lab, Some(50)).await;
    assert_eq!(limit(&lab).await, json!(4_000));
}

#[tokio::test]
async fn what_an_operator_limited_stays_so() {
    let lab = Lab::selling(terms(9, 1)).await;
    lab.throttle(Some(700)).await;
    gets_busy(&lab, Some(50)).await;
    assert_eq!((limit(&lab).await, throttles(&lab).await), (json!(700), 1));
}

#[tokio::test]
async fn a_look_that_was_frozen_notes_nothing() {
    let lab = Lab::selling(terms(9, 1)).await;
    look(&lab, 0, None).await;
    let stale = noted(&lab).await;
    look(&lab, 1, None).await;
    let busy = Traffic { requests_per_s: u32::MAX, busy_since_ms: Some(stale.traffic.at_ms), ..stale.traffic };
    assert!(!lab.ledger.note_traffic(&lab.round().await, Some(&stale), busy, true).await.unwrap());
    assert!(!lab.ledger.note_traffic(&lab.round().await, None, busy, true).await.unwrap(), "also if nothing was noted");
    assert_eq!(shown(&lab).await["busy"], Value::Null);
}

#[tokio::test]
async fn a_limit_that_is_none_is_refused_at_the_start() {
    let lab = Lab::new().await;
    for given in ["0", "100001", "many", "-1"] {
        let settings = lab.settings().with("THROTTLE_BUSY_SALES_TO", given);
        let context = Context::new(settings, lab.another_process().aws().clone(), Clock::system());
        let refused = reconciliation::ReconciliationDeps::new(&context).err().expect(given);
        assert!(matches!(refused, ContextError::Unusable { setting: "THROTTLE_BUSY_SALES_TO", .. }), "{refused}");
    }
}
