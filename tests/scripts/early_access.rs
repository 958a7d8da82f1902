//! Early access for groups, and their quotas.

use crate::prelude::*;

const MEMBER: BuyerClass = BuyerClass { lead_s: 600, has_quota: true };
const STRANGER: BuyerClass = BuyerClass::EVERYONE;

/// Terms of a sale that opened a minute ago, with `units` of its `total` as the members' quota for half an hour.
fn with_quota(total: u32, per_user_limit: u8, units: u32) -> Terms {
    let quota = Some(MemberQuota { units, for_s: 1860 });
    let early_access = vec![EarlyAccess { group: "members".parse().unwrap(), lead_s: MEMBER.lead_s, quota }];
    Terms { early_access, ..terms(total, per_user_limit) }
}

async fn reserve(round: &TestRound, name: &str, class: BuyerClass) -> Reserve {
    round.stock().reserve(Uuid::now_v7(), &user(name), class).await.unwrap()
}

async fn buy(round: &TestRound, name: &str, class: BuyerClass) -> Reservation {
    round.sell_returned().await;
    match reserve(round, name, class).await {
        Reserve::Reserved(reservation) => reservation,
        other => panic!("{name}: {other:?}"),
    }
}

async fn quota(round: &TestRound) -> u32 {
    round.view().await.counters.quota
}

fn ms(moment: EpochMs, ms: i64) -> EpochMs {
    EpochMs(moment.0 + ms)
}

#[tokio::test]
async fn each_class_has_its_opening_and_all_have_one_end_to_the_millisecond() {
    let round = TestRound::start(terms(1000, 1)).await;
    let stock::Counters { opens_at_ms: opens, closes_at_ms: closes, .. } = round.view().await.counters;
    let first = opens.minus_s(MEMBER.lead_s);
    for (class, opening) in
        [(MEMBER, first), (STRANGER, opens), (BuyerClass { lead_s: 1, ..STRANGER }, opens.minus_s(1))]
    {
        assert_eq!(reserve_at(&round, ms(opening, -1), class).await, format!("not_open {}", opening.0), "{class:?}");
        for within in [opening, ms(closes, -1)] {
            assert_eq!(reserve_at(&round, within, class).await.split(' ').next(), Some("reserved"), "{class:?}");
        }
        assert_eq!(reserve_at(&round, closes, class).await, "closed", "{class:?}");
    }
    assert_eq!(reserve_at(&round, first, STRANGER).await, format!("not_open {}", opens.0), "everyone's opening");
}

#[tokio::test]
async fn the_quota_is_everyones_from_the_millisecond() {
    let round = TestRound::start(with_quota(5, 1, 5)).await;
    let until = round.view().await.counters.quota_until_ms;
    assert_eq!(reserve_at(&round, ms(until, -1), STRANGER).await, format!("quota_only {}", until.0));
    assert!(reserve_at(&round, ms(until, -1), MEMBER).await.starts_with("reserved"));
    assert_eq!(quota(&round).await, 4);
    for class in [STRANGER, STRANGER, MEMBER, STRANGER] {
        assert!(reserve_at(&round, until, class).await.starts_with("reserved"));
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
        assert_eq!(reserve(&round, "a", class).await, Reserve::Closed, "before everyone's opening");
    }
}

#[tokio::test]
async fn admission_knows_the_same_moments() {
    let admit = async |round: &TestRound, name: &str, class| Visitor { class, ..visitor(round, name) }.pass().await;
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

/// A unit in cooldown still belongs to the group's quota, so others hear when to come again and not just "sold out".
#[tokio::test]
async fn a_stranger_hears_of_the_moment_while_a_unit_is_in_cooldown() {
    let round = TestRound::start(with_quota(1, 1, 1)).await;
    let until = round.view().await.counters.quota_until_ms;
    let reservation = buy(&round, "m", MEMBER).await;
    let sold_out = reserve(&round, "s", STRANGER).await;
    assert!(matches!(sold_out, Reserve::SoldOut(SoldOut { next_release_ms: None, .. })), "{sold_out:?}");
    round.release(&reservation).await;
    assert!(matches!(reserve(&round, "n", MEMBER).await, Reserve::SoldOut(_)), "in cooldown");
    assert_eq!(reserve(&round, "s", STRANGER).await, Reserve::QuotaOnly(until));
    buy(&round, "n", MEMBER).await;
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
    assert_eq!(reserve(&round, "u", STRANGER).await, Reserve::QuotaOnly(until));
    round.release(&strangers).await;
    assert_eq!(quota(&round).await, 2);
    buy(&round, "u", STRANGER).await;
    assert_eq!(reserve(&round, "v", STRANGER).await, Reserve::QuotaOnly(until));

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

/// The ledger does not know which units a group bought, so it has its whole quota again, as far as units are left.
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
        assert!(matches!(reserve(&round, "late", STRANGER).await, Reserve::QuotaOnly(_)));
        for member in 0..expected {
            buy(&round, &format!("n{member}"), MEMBER).await;
        }
    }
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
