//! Parts that accept connections but answer late or never: every function ends before Lambda ends it.

use crate::parts::{Ran, all_ended, as_lambda_would};
use crate::prelude::*;

const UNITS: u32 = 60;
const BATCH: usize = 10;
/// Function runs in each trouble. Each has its own parts, as a process has.
const RUNS: usize = 15;
/// The time limit of the scheduled functions: as long as others have for a batch, so the test takes no longer for them.
const RUN_TIMEOUT: Duration = Duration::from_secs(20);
const NEVER: Duration = Duration::MAX;
const AT_ONCE: Duration = Duration::ZERO;

struct Trouble {
    name: &'static str,
    /// Whether Redis fails only after the connection is made.
    connected: bool,
    redis: Duration,
    services: &'static [Service],
    conduct: Conduct,
}

const ALL: &[Service] = &[Service::Sqs, Service::DynamoDb, Service::SecretsManager];
const DYNAMODB: &[Service] = &[Service::DynamoDb];
const HANGS: Conduct = Conduct::Hangs;
const SECOND: Conduct = Conduct::HangsEverySecond;
const LATE: Conduct = Conduct::AnswersAfter(Duration::from_millis(2500));
const REDIS_LATE: Duration = Duration::from_millis(800);

const TROUBLES: &[Trouble] = &[
    Trouble { name: "Redis stops answering", connected: true, redis: NEVER, services: &[], conduct: Conduct::Answers },
    Trouble { name: "DynamoDB hangs", connected: false, redis: AT_ONCE, services: DYNAMODB, conduct: HANGS },
    Trouble { name: "everything hangs", connected: true, redis: NEVER, services: ALL, conduct: HANGS },
    Trouble { name: "AWS hangs every second time", connected: true, redis: REDIS_LATE, services: ALL, conduct: SECOND },
    Trouble { name: "everything is late", connected: true, redis: REDIS_LATE, services: ALL, conduct: LATE },
];

struct Work {
    to_order: Vec<Reservation>,
    /// For the dead-letter function.
    dead: Vec<Reservation>,
    to_expire: Vec<Reservation>,
    queued: Reservation,
    ordered: Reservation,
}

impl Work {
    async fn prepare(lab: &Lab) -> Self {
        let names = |what: &str| (0..BATCH).map(|number| format!("{what}-{number}")).collect::<Vec<_>>();
        let (order, dead, expire) = (names("order"), names("dead"), names("expire"));
        for number in 0..BATCH {
            let body = format!("expiry {number} that nobody could read");
            lab.send("expiry_dlq", body).await;
        }
        Self {
            to_order: join_all(order.iter().map(|name| lab.reserve(name))).await,
            dead: join_all(dead.iter().map(|name| lab.reserve(name))).await,
            to_expire: join_all(expire.iter().map(|name| lab.buy(name))).await,
            queued: lab.reserve("queued").await,
            ordered: lab.buy("ordered").await,
        }
    }
}

/// The client may get any answer but a failure of the function itself.
async fn ask(recorder: &Recorder, deps: impl Handler, ask: Ask) {
    let answer = ask_function(recorder, &deps, &ask).await;
    assert!(matches!(answer.status, 200 | 202 | 409 | 503), "{answer:?}");
}

type Run<'a> = (&'static str, &'static str, BoxFuture<'a, ()>);

/// Every function, on each of its long paths.
fn runs<'a>(parts: &'a [Parts], lab: &'a Lab, work: &'a Work) -> Vec<Run<'a>> {
    let paid = Ask::paid("pay_1", &work.ordered.id.to_string(), 1, &lab.payment_key);
    let audit = Ask::get(format!("/v1/admin/sales/{SALE}/rounds/1/audit"));
    let restock = Ask::post_sale("restock").json(&json!({ "round": 1, "units": 1 })).header("idempotency-key", "key-1");
    let (mut own, recorder) = (parts.iter(), &lab.recorder);
    let mut each = || own.next().expect("parts for every run");
    let buyer = |parts: &Parts, request| ask(recorder, parts.start(reservation::ReservationDeps::new), request).boxed();
    let provider = |parts: &Parts, request| ask(recorder, parts.start(payment::PaymentDeps::new), request).boxed();
    let operator =
        |parts: &Parts, request: Ask| ask(recorder, parts.start(admin::AdminDeps::new), request.by_operator()).boxed();
    let order = each().start(order::OrderDeps::new);
    let dead_letter = each().start(dead_letter::DeadLetterDeps::new);
    let expiry = each().expiry();
    let warmup = warmup::WarmupDeps { run_timeout: RUN_TIMEOUT, ..each().start(warmup::WarmupDeps::new) };
    let daily_reset = each().start(daily_reset::DailyResetDeps::new);
    let daily_reset = daily_reset::DailyResetDeps { run_timeout: RUN_TIMEOUT, ..daily_reset };
    let reconciliation =
        reconciliation::ReconciliationDeps { run_timeout: RUN_TIMEOUT, ..each().start(sending_at_once) };
    let (to_order, dead, to_expire) =
        (message_batch(&work.to_order), message_batch(&work.dead), expiry_batch(&work.to_expire));
    vec![
        ("reservation", "reserve", buyer(each(), Ask::reserve(SALE, "new"))),
        ("reservation", "look", buyer(each(), Ask::status(&work.queued))),
        ("reservation", "cancel what is queued", buyer(each(), Ask::cancel(&work.queued))),
        ("reservation", "cancel an order", buyer(each(), Ask::cancel(&work.ordered))),
        ("reservation", "list", buyer(each(), Ask::get("/v1/orders").by("ordered"))),
        ("payment", "a wrong amount", provider(each(), paid)),
        ("admin", "audit", operator(each(), audit)),
        ("admin", "restock", operator(each(), restock)),
        ("admin", "redrive", operator(each(), Ask::post("/v1/admin/redrive/expiry"))),
        ("order", "a batch", async move { drop(order::handle(&order, to_order).await) }.boxed()),
        ("dead_letter", "a batch", async move { drop(dead_letter::handle(&dead_letter, dead).await) }.boxed()),
        ("expiry", "a batch", async move { drop(expiry::handle(&expiry, to_expire).await) }.boxed()),
        ("warmup", "a run", async move { drop(warmup::handle(&warmup).await) }.boxed()),
        ("daily_reset", "a run", async move { drop(daily_reset::handle(&daily_reset).await) }.boxed()),
        ("reconciliation", "a run", async move { drop(reconciliation::handle(&reconciliation).await) }.boxed()),
    ]
}

async fn in_trouble(trouble: &Trouble, lab: &Lab, work: &Work) -> Vec<Ran> {
    let mut parts = Vec::new();
    for _ in 0..RUNS {
        let own = Parts::of(lab).await;
        if trouble.connected {
            until("Redis is connected", async || own.stock.round(&round(SALE, 1)).is_loaded().await.ok()).await;
        }
        own.redis.delay(trouble.redis);
        trouble.services.iter().for_each(|service| own.aws.set(*service, trouble.conduct));
        parts.push(own);
    }
    let runs = runs(&parts, lab, work).into_iter();
    let ran = runs.map(|(function, what, work)| {
        as_lambda_would(function, format!("{what} while {}", trouble.name), RUN_TIMEOUT, work)
    });
    join_all(ran).await
}

async fn afterwards(trouble: &Trouble, lab: &Lab, work: &Work) {
    heal(lab).await;
    let audit = lab.audit().await;
    assert!(audit.is_clean() && audit.held == 0, "{}: {audit:?}", trouble.name);
    for reservation in work.to_order.iter().chain(&work.dead).chain(&work.to_expire) {
        let order = lab.ledger.order(&reservation.id).await.unwrap();
        assert!(order.is_some(), "{}: {} has no order", trouble.name, reservation.id);
    }
    // By the clock of the function that expires orders, every payment window is over.
    lab.check_history_by(Clocks::Apart, "hanging", &[SALE], Redis::Keeps).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_function_ends_by_itself() {
    let mut prepared = Vec::new();
    for trouble in TROUBLES {
        let lab = Lab::selling(terms(UNITS, 1)).await;
        let work = Work::prepare(&lab).await;
        prepared.push((trouble, lab, work));
    }
    let ran = join_all(prepared.iter().map(|(trouble, lab, work)| in_trouble(trouble, lab, work))).await;
    let ran: Vec<Ran> = ran.into_iter().flatten().collect();
    for run in &ran {
        println!("{run:?}");
    }
    all_ended(&ran);
    join_all(prepared.iter().map(|(trouble, lab, work)| afterwards(trouble, lab, work))).await;
}

/// Reserves while Redis is this late, and again once it answers at once, in a process of its own.
async fn ask_twice(lab: &Lab, name: &str, late: Duration) -> [Answer; 2] {
    let (free, held, _) = lab.clean_audit().await;
    let parts = Parts::of(lab).await;
    let deps = parts.start(reservation::ReservationDeps::new);
    let reserve = Ask::reserve(SALE, name).header("idempotency-key", "key-1");
    // A first call connects and loads the script, so that the next call is only this request. On a busy machine Redis may
    // not answer it in time, which a client is told by another time to wait.
    let unknown = Ask::reserve("no-sale", name);
    until("Redis says that it does not have a sale", async || {
        let answer = deps.answer(&unknown).await;
        (answer.problem(503, "overloaded").header("retry-after") == "1").then_some(())
    })
    .await;
    parts.redis.delay(late);
    let first = deps.answer(&reserve).await;
    until("Redis has made the reservation, in time or not", async || {
        (lab.clean_audit().await == (free - 1, held + 1, 0)).then_some(())
    })
    .await;
    parts.redis.delay(AT_ONCE);
    let second = until("Redis is in time again", async || {
        Some(deps.answer(&reserve).await).filter(|answer| !matches!(answer.status, 429 | 503))
    })
    .await;
    assert_eq!(lab.clean_audit().await, (free - 1, held + 1, 0));
    [first, second]
}

#[tokio::test]
async fn a_late_redis_is_waited_for_and_one_that_is_too_late_is_not() {
    const TRIES: u32 = 8;
    let lab = Lab::selling(terms(TRIES + 1, 1)).await;
    let mut tries = 0..TRIES;
    // Late, but with time to spare, which a very busy machine uses up once or twice.
    let [first, second] = loop {
        let number = tries.next().expect("a late Redis is waited for");
        let answers = ask_twice(&lab, &format!("alice-{number}"), Duration::from_millis(200)).await;
        if answers[0].status != 503 {
            break answers;
        }
    };
    assert_eq!(first.expect(202).text("reservation_id"), second.expect(202).text("reservation_id"));
    let [first, second] = ask_twice(&lab, "bob", Duration::from_millis(1500)).await;
    assert_eq!(first.problem(503, "overloaded").header("retry-after"), "2");
    second.expect(202);
}
