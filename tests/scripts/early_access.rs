//! Early access for groups, and their quotas.

use std::sync::Arc;

use crate::prelude::*;

const MEMBER: BuyerClass = BuyerClass { lead_s: 600, has_quota: true };
const STRANGER: BuyerClass = BuyerClass::EVERYONE;
const NEVER: EpochMs = EpochMs(0);

/// Terms of a sale that opened a minute ago, with `units` of its `total` as the members' quota for half an hour from
/// the opening.
fn with_quota(total: u32, per_user_limit: u8, units: u32) -> Terms {
    let quota = Some(MemberQuota { units, for_s: 1860 });
    let early_access = vec![EarlyAccess { group: "members".parse().unwrap(), lead_s: MEMBER.lead_s, quota }];
    Terms { early_access, ..terms(total, per_user_limit) }
}

async fn reserve(round: &TestRound, user: &UserId, class: BuyerClass) -> Reserve {
    round.stock().reserve(Uuid::now_v7(), user, class).await.unwrap()
}

async fn buy(round: &TestRound, name: &str, class: BuyerClass) -> sale::Reservation {
    round.sell_returned().await;
    match reserve(round, &user(name), class).await {
        Reserve::Reserved(reservation) => reservation,
        other => panic!("{name}: {other:?}"),
    }
}

async fn quota(round: &TestRound) -> u32 {
    round.view().await.counters.quota
}

/// Ends the quota, as if the moment had come.
async fn the_moment_comes(round: &TestRound, mut terms: Terms) {
    terms.early_access.clear();
    let changed = sale::Round { version: 2, ..first_version(round.id.clone(), terms) };
    round.stock().amend(&changed).await.unwrap();
    assert_eq!(round.view().await.counters.quota_until_ms, NEVER);
}

/// The script's answer if Redis's clock said `now`.
async fn code_at(round: &TestRound, script: &str, now: EpochMs, keys: &[String], args: &[String]) -> String {
    let text = script.replace(
        "local time = redis.call('TIME')",
        &format!("local time = {{'{}', '{:06}'}}", now.0 / 1000, now.0 % 1000 * 1000),
    );
    assert!(text.contains("local time = {"));
    let mut eval = redis::cmd("EVAL");
    eval.arg(text).arg(keys.len()).arg(keys).arg(args).query_async(&mut round.redis().await).await.unwrap()
}

async fn reserve_at(round: &TestRound, now: EpochMs, class: BuyerClass) -> String {
    let keys = ["sale", "buyers", "free", "outbox"].map(|key| format!("{key}:{{lamp:1:0}}"));
    let id = fresh_id(&round.id).uuid.as_simple().to_string();
    let (lead_ms, in_group) = (class.lead_s * 1000, u8::from(class.has_quota));
    let args = [id.clone(), id, lead_ms.to_string(), in_group.to_string()];
    let answer = code_at(round, stock::expanded::RESERVE, now, &keys, &args).await;
    if answer.starts_with("reserved") { "reserved".to_owned() } else { answer }
}

fn ms(moment: EpochMs, ms: i64) -> EpochMs {
    EpochMs(moment.0 + ms)
}

#[tokio::test]
async fn each_class_has_its_opening_to_the_millisecond() {
    let round = TestRound::start(terms(1000, 1)).await;
    let opens = round.view().await.counters.opens_at_ms;
    let first = opens.minus_s(MEMBER.lead_s);
    for (class, opening) in
        [(MEMBER, first), (STRANGER, opens), (BuyerClass { lead_s: 1, ..STRANGER }, opens.minus_s(1))]
    {
        assert_eq!(reserve_at(&round, ms(opening, -1), class).await, format!("not_open {}", opening.0), "{class:?}");
        assert_eq!(reserve_at(&round, opening, class).await, "reserved", "{class:?}");
    }
    assert_eq!(reserve_at(&round, first, STRANGER).await, format!("not_open {}", opens.0), "everyone's opening");
}

#[tokio::test]
async fn the_quota_is_everyones_from_the_millisecond() {
    let round = TestRound::start(with_quota(5, 1, 5)).await;
    let until = round.view().await.counters.quota_until_ms;
    assert_eq!(reserve_at(&round, ms(until, -1), STRANGER).await, format!("quota_only {}", until.0));
    assert_eq!(reserve_at(&round, ms(until, -1), MEMBER).await, "reserved");
    assert_eq!(quota(&round).await, 4);
    for class in [STRANGER, STRANGER, MEMBER, STRANGER] {
        assert_eq!(reserve_at(&round, until, class).await, "reserved");
    }
    assert!(reserve_at(&round, until, STRANGER).await.starts_with("sold_out"), "all are sold");
}

#[tokio::test]
async fn who_is_closed_out_early_is_told_so() {
    let mut terms = with_quota(5, 1, 5);
    let now = terms.opens_at_ms.0 + 60_000;
    terms.opens_at_ms = EpochMs(now + 300_000);
    terms.closes_at_ms = EpochMs(now);
    let round = TestRound::start(terms).await;
    for class in [MEMBER, STRANGER] {
        assert_eq!(reserve(&round, &user("a"), class).await, Reserve::Closed, "before everyone's opening");
    }
}

#[tokio::test]
async fn admission_knows_the_same_moments() {
    const FREE: GcraLimit = GcraLimit { emission_interval_us: 1, burst: 1000 };
    let admit = async |round: &TestRound, name: &str, class| {
        let (user, id) = (user(name), Uuid::now_v7());
        let applicant = Applicant { user: &user, ip: "192.0.2.1", per_user: FREE, per_ip: FREE };
        let asked = ChallengeRequest { applicant, id, expected: "23", life_ms: 60_000 };
        assert_eq!(round.stock().challenge(&asked).await.unwrap(), Challenged::Issued);
        let answered = AdmitRequest { applicant, id, answer: Some("23"), per_sale: None, class };
        round.stock().admit(&answered).await.unwrap()
    };
    let mut later = terms(5, 1);
    later.opens_at_ms = later.opens_at_ms.plus_s(360);
    let round = TestRound::start(later.clone()).await;
    assert!(matches!(admit(&round, "a", MEMBER).await, Admit::Admitted(_)));
    assert_eq!(admit(&round, "b", STRANGER).await, Admit::NotOpen(later.opens_at_ms));
    let soon = BuyerClass { lead_s: 60, has_quota: true };
    assert_eq!(admit(&round, "c", soon).await, Admit::NotOpen(later.opens_at_ms.minus_s(60)));

    let round = TestRound::start(with_quota(3, 1, 2)).await;
    let until = round.view().await.counters.quota_until_ms;
    assert!(matches!(admit(&round, "s", STRANGER).await, Admit::Admitted(_)), "one unit is everyone's");
    buy(&round, "s", STRANGER).await;
    assert_eq!(admit(&round, "t", STRANGER).await, Admit::QuotaOnly(until));
    assert!(matches!(admit(&round, "s", STRANGER).await, Admit::Admitted(_)), "a buyer may ask for the unit again");
    assert!(matches!(admit(&round, "m", MEMBER).await, Admit::Admitted(_)));
}

#[tokio::test]
async fn nobody_else_gets_the_quota_and_then_all_is_sold() {
    let offered = with_quota(10, 1, 4);
    let round = TestRound::start(offered.clone()).await;
    let until = round.view().await.counters.quota_until_ms;
    for stranger in 0..6 {
        buy(&round, &format!("s{stranger}"), STRANGER).await;
    }
    assert_eq!(reserve(&round, &user("late"), STRANGER).await, Reserve::QuotaOnly(until));
    for member in 0..2 {
        buy(&round, &format!("m{member}"), MEMBER).await;
    }
    assert_eq!(reserve(&round, &user("late"), STRANGER).await, Reserve::QuotaOnly(until));
    let again = buy(&round, "m2", MEMBER).await;
    assert!(matches!(round.reserve_as(&again.id, &user("m2")).await, Reserve::Replayed(_)), "in any class");
    the_moment_comes(&round, offered).await;
    buy(&round, "late", STRANGER).await;
    assert!(matches!(reserve(&round, &user("later"), STRANGER).await, Reserve::SoldOut(_)));
}

/// A unit in cooldown still belongs to the group's quota, so others hear when to come again and not just "sold out".
#[tokio::test]
async fn a_stranger_hears_of_the_moment_while_a_unit_is_in_cooldown() {
    let round = TestRound::start(with_quota(1, 1, 1)).await;
    let until = round.view().await.counters.quota_until_ms;
    let reservation = buy(&round, "m", MEMBER).await;
    let sold_out = reserve(&round, &user("s"), STRANGER).await;
    assert!(matches!(sold_out, Reserve::SoldOut(SoldOut { next_release_ms: None, .. })), "{sold_out:?}");
    round.release(&reservation).await;
    assert!(matches!(reserve(&round, &user("n"), MEMBER).await, Reserve::SoldOut(_)), "in cooldown");
    assert_eq!(reserve(&round, &user("s"), STRANGER).await, Reserve::QuotaOnly(until));
    buy(&round, "n", MEMBER).await;
}

/// The group's purchases use up its own quota first, so that the promised rest is left for others.
#[tokio::test]
async fn a_group_that_buys_early_leaves_the_rest_to_everyone() {
    let round = TestRound::start(with_quota(10, 1, 4)).await;
    for member in 0..4 {
        buy(&round, &format!("m{member}"), MEMBER).await;
    }
    assert_eq!(quota(&round).await, 0);
    buy(&round, "m4", MEMBER).await;
    for stranger in 0..5 {
        buy(&round, &format!("s{stranger}"), STRANGER).await;
    }
    assert!(matches!(reserve(&round, &user("late"), STRANGER).await, Reserve::SoldOut(_)));
}

#[tokio::test]
async fn what_comes_back_goes_to_whom_it_was_for() {
    let round = TestRound::start(with_quota(4, 2, 2)).await;
    let until = round.view().await.counters.quota_until_ms;
    // Twice the same user: the second reservation has to work with the note of the first.
    let (first, second) = (buy(&round, "m", MEMBER).await, buy(&round, "m", MEMBER).await);
    let strangers = buy(&round, "s", STRANGER).await;
    let last = buy(&round, "t", STRANGER).await;
    assert_eq!(quota(&round).await, 0);

    for reservation in [&first, &first, &second] {
        round.release(reservation).await;
    }
    assert_eq!(quota(&round).await, 2, "a release that runs twice counts once");
    round.sell_returned().await;
    assert_eq!(reserve(&round, &user("u"), STRANGER).await, Reserve::QuotaOnly(until));
    round.release(&strangers).await;
    assert_eq!(quota(&round).await, 2);
    buy(&round, "u", STRANGER).await;
    assert_eq!(reserve(&round, &user("v"), STRANGER).await, Reserve::QuotaOnly(until));

    // Another purchase after a release, and its release: by then the note is the first part of the record.
    let third = buy(&round, "m", MEMBER).await;
    assert_eq!(quota(&round).await, 1);
    round.release(&third).await;
    assert_eq!(quota(&round).await, 2);
    buy(&round, "n", MEMBER).await;
    buy(&round, "o", MEMBER).await;
    round.release(&last).await;
    round.sell_returned().await;
    buy(&round, "v", STRANGER).await;
    assert_eq!((quota(&round).await, round.view().await.counters.free()), (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_group_gets_its_units_in_any_crowd() {
    for seed in 0..2 {
        let round = Arc::new(TestRound::start(with_quota(30, 1, 10)).await);
        let crowd = (0..100).map(|buyer| {
            let round = Arc::clone(&round);
            tokio::spawn(async move {
                let class = if (buyer + seed) % 10 == 0 { MEMBER } else { STRANGER };
                let got = reserve(&round, &user(buyer), class).await;
                match got {
                    Reserve::Reserved(_) => (class.has_quota, true),
                    Reserve::QuotaOnly(_) | Reserve::SoldOut(_) => (class.has_quota, false),
                    other => panic!("{other:?}"),
                }
            })
        });
        let got: Vec<(bool, bool)> = join_all(crowd).await.into_iter().map(Result::unwrap).collect();
        let winners = |in_group| got.iter().filter(|(group, won)| *group == in_group && *won).count();
        assert_eq!((winners(true), winners(false)), (10, 20));
    }
}

/// The ledger does not know which units a group bought, so the group has its whole quota again, as far as units are
/// left.
#[tokio::test]
async fn redis_that_lost_the_round_has_the_whole_quota_again() {
    for (sold, expected) in [(2, 3), (8, 2)] {
        let round = TestRound::start_empty();
        let taken = (1..=sold).map(|unit| round.fresh_reservation(&user(format!("m{unit}")), unit, 0)).collect();
        round.load(with_quota(10, 1, 3), taken).await;
        assert_eq!(quota(&round).await, expected, "{sold} sold");
        for stranger in 0..10 - sold - expected {
            buy(&round, &format!("s{stranger}"), STRANGER).await;
        }
        assert!(matches!(reserve(&round, &user("late"), STRANGER).await, Reserve::QuotaOnly(_)));
        for member in 0..expected {
            buy(&round, &format!("n{member}"), MEMBER).await;
        }
    }
}

/// A change of the terms does not refill what the group has used of its quota.
#[tokio::test]
async fn new_terms_refill_nothing() {
    let terms = with_quota(5, 1, 2);
    let round = TestRound::start(terms.clone()).await;
    buy(&round, "m", MEMBER).await;
    let changed = sale::Round { version: 2, ..first_version(round.id.clone(), terms) };
    round.stock().amend(&changed).await.unwrap();
    assert_eq!(quota(&round).await, 1);
}

/// A user whose block ends keeps the note that makes a release give a unit back to the quota.
#[tokio::test]
async fn a_block_leaves_the_note_alone() {
    let round = TestRound::start(with_quota(3, 1, 2)).await;
    let reservation = buy(&round, "m", MEMBER).await;
    for until in [Some(EpochMs(i64::MAX / 2_000_000)), None] {
        round.stock().note_blocks(&[(user("m"), until)]).await.unwrap();
    }
    round.release(&reservation).await;
    assert_eq!(quota(&round).await, 2);
}
