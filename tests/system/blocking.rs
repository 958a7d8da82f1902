//! Blocked users.

use ledger::{BlockReason, BlockedBy, UserBlock, ViolationOutcome};

use crate::prelude::*;

const STRICT: DoorTerms = DoorTerms {
    violations: 2,
    violation_window_s: 600,
    blocked_for_s: 900,
    unpaid_limit: 3,
    planned_requests_per_s: None,
};

fn in_s(seconds: u32) -> EpochMs {
    now().plus_s(seconds)
}

fn block(name: &str, until: EpochMs) -> Ask {
    Ask::post("/v1/admin/blocked").by_operator().json(&json!({ "user": name, "until": until.to_string() }))
}

async fn blocked(lab: &Lab) -> Vec<String> {
    texts(lab.read("/v1/admin/blocked").await["blocked"].as_array().unwrap(), "user")
}

/// Sends forged passes, each of which must be refused.
async fn forge(deps: &reservation::ReservationDeps, name: &str, times: usize) {
    for _ in 0..times {
        let ask = Ask::post(format!("/v1/sales/{SALE}/reservations/forged")).by(name);
        deps.answer(&ask).await.problem(403, "bad_token");
    }
}

#[tokio::test]
async fn operators_keep_a_user_out_and_let_in_again() {
    let lab = Lab::selling(terms(5, 1)).await;
    // A name that a path has to encode.
    let name = "auth0|alice";
    let alice = lab.buy(name).await;
    let until = in_s(3600);
    for _ in 0..2 {
        let answer = lab.answer(&block(name, until)).await.expect(200);
        assert_eq!((answer.text("reason"), answer.text("by")), ("asked", "operators"));
        assert_eq!(blocked(&lab).await, [name]);
    }
    lab.answer(&Ask::reserve(SALE, name)).await.problem(403, "blocked");
    lab.reserve("bob").await;
    // A blocked user may still see her reservation and orders.
    lab.answer(&Ask::get(format!("/v1/reservations/{}", alice.id)).by(name)).await.expect(200);
    lab.answer(&Ask::get("/v1/orders").by(name)).await.expect(200);
    for _ in 0..2 {
        let left = lab.answer(&Ask::delete("/v1/admin/blocked/auth0%7Calice").by_operator()).await.expect(200);
        assert_eq!(left.body["blocked"], json!([]));
    }
    lab.answer(&Ask::reserve(SALE, name)).await.problem(409, "limit_reached");

    // Nobody ends it, and its item is still there.
    lab.answer(&block("carol", in_s(600))).await.expect(200);
    assert_eq!(blocked(&lab).await, ["carol"]);
    let admin = admin::AdminDeps { clock: Clock::ahead_by_ms(631_000), ..lab.admin() };
    let list = admin.answer(&Ask::get("/v1/admin/blocked").by_operator()).await.expect(200);
    assert_eq!(list.body["blocked"], json!([]), "it is over");
}

/// Processes need not be told: every request asks Redis.
#[tokio::test]
async fn a_block_and_its_end_hold_everywhere_at_once() {
    let lab = Lab::selling(terms(50, 1)).await;
    lab.open("other", &terms(50, 1)).await;
    let (reserving, admitting) = (lab.another_reservation(PATIENT), lab.another_admission(PATIENT));
    reserving.snapshots.now().await.unwrap();
    admitting.snapshots.now().await.unwrap();
    let reserve = async |sale: &str| reserving.answer(&Ask::reserve(sale, "eve")).await;
    let challenge = async || admitting.answer(&Ask::post(format!("/v1/sales/{SALE}/challenges")).by("eve")).await;
    lab.answer(&block("eve", in_s(3600))).await.expect(200);
    for sale in [SALE, "other"] {
        reserve(sale).await.problem(403, "blocked");
    }
    challenge().await.problem(403, "blocked");
    lab.answer(&Ask::delete("/v1/admin/blocked/eve").by_operator()).await.expect(200);
    for sale in [SALE, "other"] {
        reserve(sale).await.expect(202);
    }
    challenge().await.expect(201);
}

/// Redis lost the blocks or never got them: loading a round brings them back, and so does reconciliation.
#[tokio::test]
async fn what_redis_does_not_know_of_blocks_it_is_told_again() {
    let lab = Lab::selling(terms(50, 1)).await;
    lab.buy("alice").await;
    for name in ["alice", "eve"] {
        lab.answer(&block(name, in_s(3600))).await.expect(200);
    }
    lab.redis(&["FLUSHALL"]).await;
    lab.load(SALE).await;
    for name in ["alice", "eve"] {
        lab.answer(&Ask::reserve(SALE, name)).await.problem(403, "blocked");
    }
    // A block and its end reach only the ledger, as when Redis does not answer or the process dies.
    let block =
        UserBlock { user: user("mallory"), until_ms: in_s(60), reason: BlockReason::Asked, by: BlockedBy::Operators };
    lab.ledger.block(&block).await.unwrap();
    lab.ledger.allow(&user("eve")).await.unwrap();
    let rounds = [lab.round().await];
    let reconcile = async || fulfilment::reconcile_blocks(&lab.stock, &lab.ledger, &rounds, in_s(0)).await.unwrap();
    assert_eq!(reconcile().await, 2);
    assert_eq!(reconcile().await, 0);
    lab.answer(&Ask::reserve(SALE, "mallory")).await.problem(403, "blocked");
    lab.answer(&Ask::reserve(SALE, "alice")).await.problem(403, "blocked");
    lab.reserve("eve").await;
    lab.ledger.allow(&user("alice")).await.unwrap();
    assert_eq!(reconcile().await, 1);
    lab.answer(&Ask::reserve(SALE, "alice")).await.problem(409, "limit_reached");
    assert_eq!(lab.clean_audit().await, (48, 1, 1));
}

#[tokio::test]
async fn whoever_was_blocked_can_be_let_in_through_the_gateway() {
    let list = async || {
        let list = Ask::get("/v1/admin/blocked").by_operator().send().await.expect(200);
        texts(list.body["blocked"].as_array().unwrap(), "user")
    };
    for name in
        ["gateway|a/b", "https://id/7?q=1#x", "gateway//", "/gateway", "gateway%41", "gateway+plus", "gateway/../x"]
    {
        block(name, in_s(600)).send().await.expect(200);
        assert!(list().await.contains(&name.to_owned()), "{name}");
        for _ in 0..2 {
            Ask::post("/v1/admin/allow").by_operator().json(&json!({ "user": name })).send().await.expect(200);
            assert!(!list().await.contains(&name.to_owned()), "{name}");
        }
    }
}

#[tokio::test]
async fn forged_passes_are_violations_and_enough_of_them_a_block() {
    let lab = Lab::selling(Terms { door: STRICT, ..terms(5, 1) }).await;
    // Violations of one user count together, whatever processes they come to.
    forge(&lab.reservation(), "mallory", 1).await;
    assert_eq!(blocked(&lab).await, [""; 0]);
    let another = lab.reservation();
    forge(&another, "mallory", 1).await;
    assert_eq!(blocked(&lab).await, ["mallory"]);
    lab.calls.take();
    forge(&another, "mallory", 100).await;
    assert_eq!(lab.calls.take_targets(), [""; 0], "a flood does not reach the ledger");
    lab.answer(&Ask::reserve(SALE, "mallory")).await.problem(403, "blocked");
    lab.reserve("alice").await;
    // Allowed again, with no violations left. The process that saw the block goes by it until it ends, so another one
    // is asked.
    lab.answer(&Ask::delete("/v1/admin/blocked/mallory").by_operator()).await.expect(200);
    forge(&lab.reservation(), "mallory", 1).await;
    lab.reserve("mallory").await;
}

/// A user gets past the limit only if Redis forgets reservations, which is not the user's fault.
#[tokio::test]
async fn neither_an_order_that_fails_at_the_limit_nor_a_pass_that_has_ended_is_a_violation() {
    let lab = Lab::selling(Terms { door: STRICT, ..terms(9, 1) }).await;
    for _ in 0..=STRICT.violations {
        let ended = Ask::reserve(SALE, "alice").let_in_at(now().minus_s(3600));
        lab.answer(&ended).await.problem(403, "bad_token");
    }
    assert_eq!(blocked(&lab).await, [""; 0]);
    lab.buy("alice").await;
    for _ in 0..=STRICT.violations {
        // Redis forgets what alice has.
        lab.redis(&["FLUSHALL"]).await;
        lab.load(SALE).await;
        lab.redis(&["HDEL", &format!("buyers:{{{SALE}:1:0}}"), "alice"]).await;
        let second = lab.reserve("alice").await;
        assert!(lab.deliver(&[&second]).await.batch_item_failures.is_empty());
        assert_eq!(lab.order_of(&second).await.failure, Some(sale::Failure::LimitReached));
        assert_eq!(blocked(&lab).await, [""; 0]);
    }
}

/// Counts a violation of eve, of which this many block.
async fn count(ledger: &Ledger, violations: u32, at: EpochMs) -> ViolationOutcome {
    let door = DoorTerms { violations, ..STRICT };
    ledger.count_violation(&user("eve"), BlockReason::WrongAnswers, &door, at).await.unwrap()
}

#[tokio::test]
async fn violations_add_up_within_their_window_only() {
    let lab = Lab::new().await;
    let violation = async |at_s: u32| count(&lab.ledger, 3, in_s(at_s)).await;
    assert_eq!(violation(0).await, ViolationOutcome::Counted(1));
    assert_eq!(violation(300).await, ViolationOutcome::Counted(2));
    assert_eq!(violation(601).await, ViolationOutcome::Counted(1), "a new window");
    let all = join_all((0..2).map(|_| violation(602))).await;
    let until = all.iter().find_map(|outcome| match outcome {
        ViolationOutcome::Blocked(until) => Some(*until),
        ViolationOutcome::Counted(_) => None,
    });
    assert!(until.expect("the third violation blocks").since_ms(in_s(602)) > 890_000, "{all:?}");
}

#[tokio::test]
async fn violations_at_once_begin_one_window_and_none_is_lost_or_counted_twice() {
    let (lab, now) = (Lab::new().await, now());
    let counts = join_all((0..10).map(|_| count(&lab.ledger, 100, now))).await;
    assert!((1..=10).all(|count| counts.contains(&ViolationOutcome::Counted(count))), "{counts:?}");
    let parts = Parts::patient(&lab).await;
    parts.aws.set(Service::DynamoDb, Conduct::LosesOneAnswer);
    assert_eq!(count(&parts.ledger, 100, now).await, ViolationOutcome::Counted(11));
    assert_eq!(parts.aws.answered("DynamoDB_20120810.UpdateItem"), 2, "the answer was lost");
    assert_eq!(count(&lab.ledger, 100, now).await, ViolationOutcome::Counted(12));
}

#[tokio::test]
async fn the_system_does_not_shorten_a_block_and_operators_may() {
    let lab = Lab::new().await;
    let block = |until_ms, by| UserBlock { user: user("eve"), until_ms, reason: BlockReason::ForgedTokens, by };
    let long = block(in_s(5000), BlockedBy::Operators);
    lab.ledger.block(&long).await.unwrap();
    assert_eq!(lab.ledger.block(&block(in_s(1000), BlockedBy::System)).await.unwrap(), long);
    assert_eq!(lab.ledger.blocked(in_s(0)).await.unwrap(), [long]);
    let short = block(in_s(100), BlockedBy::Operators);
    lab.ledger.block(&short).await.unwrap();
    let longer = block(in_s(1000), BlockedBy::System);
    assert_eq!(lab.ledger.block(&longer).await.unwrap(), longer);
    assert_eq!(lab.ledger.blocked(in_s(0)).await.unwrap(), [longer]);
}
