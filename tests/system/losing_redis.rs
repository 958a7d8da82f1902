//! Redis dies in the middle of a stampede and comes back with nothing, without its last writes, or with all of them.

use aws_sdk_sqs::error::ProvideErrorMetadata;
use tokio::sync::watch;
use tokio::task::block_in_place;

use crate::heal::{is_whole, won};
use crate::packets::{packet, unclaimed};
use crate::prelude::*;

const BUYERS: usize = 1000;
const UNITS: u32 = 200;
const AT_ONCE: usize = 50;
const CONSUMERS: usize = 2;
/// How many answers past the number of units Redis may still die: all units are gone then, and most have no order yet.
const LAST_DEATH: u64 = 20;
/// A failover loses the writes of at most this many answers.
const LAST_WRITES: u64 = 60;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Loss {
    Everything,
    /// All writes after this many answers.
    WritesAfter(usize),
    Nothing,
}

#[derive(Debug)]
struct Case {
    death: usize,
    loss: Loss,
    /// Whether orders wait until refused buyers have asked again, so that reservations that Redis forgot compete with
    /// newer ones.
    orders_wait: bool,
}

impl Case {
    fn random(run: usize) -> Self {
        let (dice, _) = Uuid::new_v4().as_u64_pair();
        let last_death = u64::from(UNITS) + LAST_DEATH;
        let death = 1 + (dice % last_death) as usize;
        let before = 1 + (dice / last_death % LAST_WRITES) as usize;
        let loss = match run % 3 {
            0 => Loss::Everything,
            1 => Loss::WritesAfter(death.saturating_sub(before)),
            _ => Loss::Nothing,
        };
        Self { death, loss, orders_wait: (run / 3).is_multiple_of(2) }
    }
}

struct Heard {
    buyer: usize,
    answer: Answer,
    /// Whether Redis was empty from before the request until after the answer.
    while_lost: bool,
    /// Whether Redis was up for all of that time.
    while_there: bool,
}

fn ask(buyer: usize) -> Ask {
    Ask::reserve(SALE, &format!("user-{buyer}")).header("idempotency-key", "key-1")
}

/// A message whose handling outlasts the visibility timeout is delivered again, and the emulator refuses its old
/// receipt.
fn still_ours<T, E: ProvideErrorMetadata + std::fmt::Debug>(done: Result<T, E>) {
    if let Err(error) = done {
        assert_eq!(error.code(), Some("ReceiptHandleIsInvalid"), "{error:?}");
    }
}

/// Handles messages, each twice at once, while `may` allows it. Failed ones return to the queue at once.
pub(crate) async fn consume(deps: order::OrderDeps, sqs: Sqs, url: String, mut may: watch::Receiver<bool>) -> usize {
    let mut failures = 0;
    while may.wait_for(|may| *may).await.is_ok() {
        let messages = receive(&sqs, &url).await;
        let twice = messages.iter().chain(&messages);
        let failed = order::handle(&deps, events::received(twice)).await.batch_item_failures;
        failures += failed.len();
        for message in &messages {
            let receipt = message.receipt_handle().unwrap();
            if failed.iter().any(|failure| Some(&*failure.item_identifier) == message.message_id()) {
                let back = sqs.change_message_visibility().queue_url(&url).receipt_handle(receipt);
                still_ours(back.visibility_timeout(0).send().await);
            } else {
                still_ours(sqs.delete_message().queue_url(&url).receipt_handle(receipt).send().await);
            }
        }
    }
    failures
}

/// Runs the stampede and kills Redis in it. Returns what the buyers heard, and whether Redis may have forgotten
/// anything.
async fn stampede(lab: &mut Lab, case: &Case) -> (Vec<Heard>, Redis) {
    let (dying, lost) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let (deps, recorder) = (lab.reservation(), lab.recorder.clone());
    if case.loss == Loss::WritesAfter(0) {
        lab.redis(&["SAVE"]).await;
    }
    let mut answers = stream::iter(0..BUYERS)
        .map(|buyer| {
            let (deps, dying, lost) = (deps.clone(), Arc::clone(&dying), Arc::clone(&lost));
            let recorder = recorder.clone();
            tokio::spawn(async move {
                let while_lost = lost.load(Ordering::SeqCst);
                let answer = ask_function(&recorder, &deps, &ask(buyer)).await;
                Heard { buyer, answer, while_lost, while_there: !dying.load(Ordering::SeqCst) }
            })
        })
        .buffer_unordered(AT_ONCE);
    let (mut heard, mut redis) = (Vec::new(), Redis::Keeps);
    while let Some(one) = answers.next().await {
        heard.push(one.unwrap());
        if case.loss == Loss::WritesAfter(heard.len()) {
            lab.redis(&["SAVE"]).await;
        }
        if heard.len() == case.death {
            dying.store(true, Ordering::SeqCst);
            if case.loss != Loss::Nothing {
                redis = Redis::MayForgetFrom(lab.recorder.now_ns());
            }
            die(lab, case.loss).await;
            lost.store(case.loss == Loss::Everything, Ordering::SeqCst);
        }
    }
    (heard, redis)
}

async fn die(lab: &mut Lab, loss: Loss) {
    match loss {
        Loss::Everything => return block_in_place(|| lab.valkey.kill_and_restart()).unwrap(),
        Loss::WritesAfter(_) => {}
        Loss::Nothing => {
            lab.redis(&["CLIENT", "PAUSE", "60000", "WRITE"]).await;
            lab.redis(&["SAVE"]).await;
        }
    }
    block_in_place(|| lab.valkey.kill_and_restart_from_snapshot()).unwrap();
}

async fn run(case: Case, terms: Terms) {
    let mut lab = Lab::selling(terms).await;
    let (orders, may) = watch::channel(!case.orders_wait);
    let consumers: Vec<_> = (0..CONSUMERS)
        .map(|_| tokio::spawn(consume(lab.order(), lab.sqs.clone(), lab.queue("orders").to_owned(), may.clone())))
        .collect();
    let (heard, redis) = stampede(&mut lab, &case).await;

    let mut promised: BTreeSet<ReservationId> = BTreeSet::new();
    let mut refused = Vec::new();
    for Heard { buyer, answer, while_lost, while_there } in &heard {
        promised.extend(won(answer));
        // A process may repeat what Redis said up to a second ago.
        let sold_out = answer.body["code"] == "sold_out";
        assert!(!while_lost || answer.status == 503 || sold_out, "{answer:?}");
        assert!(!while_there || answer.status != 503, "{answer:?}");
        if answer.status == 503 {
            refused.push(*buyer);
        }
    }
    let early = promised.len();
    let began = Instant::now();
    if case.loss == Loss::Everything {
        while_the_keys_are_missing(&lab, &heard).await;
        assert_eq!(warmup::handle(&lab.warmup()).await.unwrap().loaded, 1);
    }

    let deps = lab.reservation();
    until("calls reach Redis again", async || lab.stock.round(&round(SALE, 1)).is_loaded().await.ok()).await;
    let again: Vec<Answer> = stream::iter(&refused)
        .map(async |buyer| {
            until("it is back", async || {
                let answer = ask_function(&lab.recorder, &deps, &ask(*buyer)).await;
                (answer.status != 503).then_some(answer)
            })
            .await
        })
        .buffer_unordered(AT_ONCE)
        .collect()
        .await;
    orders.send(true).unwrap();
    until("the orders are placed", async || (lab.depth("orders").await == [0; 3]).then_some(())).await;
    orders.send(false).unwrap();
    drop(orders);
    let mut failures = 0;
    for consumer in consumers {
        failures += consumer.await.unwrap();
    }
    heal(&lab).await;
    let healed_in = began.elapsed();

    promised.extend(again.iter().filter_map(won));
    let live = check(&lab, &promised).await;
    lab.check_history("losing_redis", &[SALE], redis).await;
    println!(
        "{case:?}: {} refused, {early} + {} promised, {live} of them live and {} released, {failures} deliveries failed, \
         clean after {} ms",
        refused.len(),
        promised.len() - early,
        promised.len() - live,
        healed_in.as_millis()
    );
}

/// No answer says that a sale, a unit or a reservation does not exist.
async fn while_the_keys_are_missing(lab: &Lab, heard: &[Heard]) {
    let restoring = async || {
        let answer = lab.answer(&Ask::reserve(SALE, "late")).await;
        if answer.body["code"] == "sold_out" {
            return None;
        }
        let answer = answer.problem(503, "overloaded");
        (answer.body["detail"] == "the sale is being restored").then_some(())
    };
    until("Redis answers again", restoring).await;
    for Heard { buyer, answer, .. } in heard {
        lab.answer(&ask(*buyer)).await.problem(503, "overloaded");
        if let Some(id) = won(answer) {
            let look = lab.answer(&Ask::get(format!("/v1/reservations/{id}")).by(&format!("user-{buyer}"))).await;
            if look.status != 200 {
                look.problem(503, "overloaded");
            }
        }
    }
}

/// A sale that is published after its opening is also loaded after it. That is no loss.
#[tokio::test]
async fn only_a_round_that_was_lost_may_have_reservations_that_nobody_knows() {
    let lab = Lab::publishing(terms(2, 1)).await;
    assert_eq!(warmup::handle(&lab.warmup()).await.unwrap().loaded, 1);
    lab.refresh_snapshots().await;
    lab.buy("alice").await;
    let made_up = Ask::get(format!("/v1/reservations/{SALE}.1.{}", Uuid::now_v7().simple())).by("bob");
    lab.answer(&made_up).await.problem(404, "unknown_reservation");
    lab.redis(&["FLUSHALL"]).await;
    assert_eq!(warmup::handle(&lab.warmup()).await.unwrap().loaded, 1);
    lab.answer(&made_up).await.problem(503, "overloaded");
    let restoring = async |user| {
        let ask = Ask::get(format!("/v1/sales/{SALE}/reservation")).by(user);
        lab.answer(&ask).await.expect(200).body["restoring"].clone()
    };
    assert_eq!(restoring("bob").await, true);
    assert!(restoring("alice").await.is_null(), "she has all that she may have");
}

/// Checks that the sale is whole, and sells the rest of it. Returns how many of the promised orders are live.
async fn check(lab: &Lab, promised: &BTreeSet<ReservationId>) -> usize {
    let (audit, live) = is_whole(lab, SALE, UNITS, promised).await;
    for late in 0..audit.free {
        lab.buy(&format!("late-{late}")).await;
    }
    lab.answer(&Ask::reserve(SALE, "too-late")).await.problem(409, "sold_out");
    assert_eq!(lab.clean_audit().await, (0, 0, UNITS));
    if lab.round().await.terms.allocation.has_awards() {
        assert_eq!(unclaimed(lab).await, 0, "to the cent");
    }
    live
}

/// A process that read the ledger before the sale was published does not know the sale, and Redis has lost it. No
/// answer may say that it does not exist: clients take that as final.
#[tokio::test]
async fn a_published_sale_that_redis_lost_is_never_unknown() {
    let lab = Lab::new().await;
    let (clock, moved_ms) = movable_clock();
    let recorder = &lab.recorder;
    let (reserving, admitting) = (lab.another_reservation(clock), lab.another_admission(clock));
    reserving.snapshots.now().await.unwrap();
    admitting.snapshots.now().await.unwrap();
    // Not with the lab's helpers, which refresh its snapshots.
    rounds::draft(&lab.ledger, SALE, &terms(9, 1), None).await;
    rounds::publish(&lab.ledger, SALE).await;
    lab.load(SALE).await;
    let ask = Ask::reserve(SALE, "early");
    let id = ask_function(recorder, &reserving, &ask).await.expect(202).text("reservation_id").to_owned();
    lab.redis(&["FLUSHALL"]).await;
    // A snapshot is good for a few more seconds, but for only one to say that a sale does not exist.
    moved_ms.store(1000, Ordering::Relaxed);
    for number in 0..8 {
        let user = format!("user-{number}");
        let refused = ask_function(recorder, &reserving, &Ask::reserve(SALE, &user)).await.problem(503, "overloaded");
        assert!(refused.headers.contains_key("retry-after"));
        let challenge = Ask::post(format!("/v1/sales/{SALE}/challenges")).by(&user);
        let refused = admitting.answer(&challenge).await;
        assert!(refused.problem(503, "overloaded").headers.contains_key("retry-after"));
        let look = Ask::get(format!("/v1/reservations/{id}")).by("early");
        ask_function(recorder, &reserving, &look).await.problem(503, "overloaded");
    }
    heal(&lab).await;
    lab.check_history_of_a_loss("losing_redis_unknown").await;
}

/// Runs once for each kind of loss, or as often as the environment variable `STAMPEDES` says.
#[tokio::test(flavor = "multi_thread")]
async fn redis_may_die_at_any_moment_of_a_stampede() {
    let runs = std::env::var("STAMPEDES").map_or(3, |runs| runs.parse().expect("STAMPEDES is a number"));
    for number in 0..runs {
        let case = Case::random(number);
        let about = format!("{case:?}");
        // With several lanes, a lost write may be one that moves units between them. Whoever then gets another unit of
        // a packet gets what that one won.
        let loses_writes = matches!(case.loss, Loss::WritesAfter(_));
        let terms = if loses_writes { Terms { lanes: 4, ..packet(UNITS) } } else { terms(UNITS, 1) };
        tokio::time::timeout(Duration::from_secs(900), run(case, terms)).await.expect(&about);
    }
}
