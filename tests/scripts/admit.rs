use stock::{RateLimited, WinsSeen};

use crate::prelude::*;

const WRONG: Admit = Admit::WrongAnswer { again: false };
/// Three at once.
const THREE: GcraLimit = GcraLimit { burst: 3, ..ONE };

#[tokio::test]
async fn where_nothing_is_asked_a_pass_is_given_within_the_rules() {
    let round = TestRound::start(terms(1, 1)).await;
    let alice = Visitor { per_user: THREE, ..visitor(&round, "alice") };
    let id = Uuid::now_v7();
    let first = alice.admit(id, None).await;
    assert!(matches!(first, Admit::Admitted(_)));
    let again = join_all((0..10).map(|_| alice.admit(id, None))).await;
    assert!(again.iter().all(|answer| *answer == first), "one request: {again:?}");
    for _ in 0..2 {
        assert!(matches!(alice.admit(Uuid::now_v7(), None).await, Admit::Admitted(_)));
    }
    let limited = alice.admit(Uuid::now_v7(), None).await;
    assert!(matches!(limited, Admit::RateLimited(RateLimited { own: true, .. })), "{limited:?}");
    assert_eq!(alice.admit(id, None).await, first, "a retry is not charged again");

    round.reserve(&user("alice")).await;
    assert!(matches!(visitor(&round, "bob").admit(Uuid::now_v7(), None).await, Admit::SoldOut(_)));
}

#[tokio::test]
async fn the_right_answer_admits_once() {
    let round = TestRound::start(terms(3, 1)).await;
    let alice = visitor(&round, "alice");
    let id = Uuid::now_v7();
    assert_eq!(alice.challenge(id, "23").await, Challenged::Issued);
    let before = clock();
    let Admit::Admitted(at) = alice.answer(id, "23").await else { panic!("the answer is right") };
    assert!((before..=clock()).contains(&at));
    assert_eq!(alice.answer(id, "32").await, Admit::NoChallenge, "the challenge is used up");
}

/// Forgets the answer, as Redis does after some seconds.
async fn forget(round: &TestRound, name: &str, id: Uuid) {
    let _: () = round.redis().await.del(challenge_key(name, id)).await.unwrap();
}

fn challenge_key(name: &str, id: Uuid) -> String {
    format!("challenge:{{lamp:1:0}}:{name}:{}", id.as_simple())
}

#[tokio::test]
async fn a_right_answer_sent_again_is_the_same_admission() {
    let round = TestRound::start(terms(3, 1)).await;
    // Enough for one challenge and two answers.
    let alice = Visitor { per_user: THREE, ..visitor(&round, "alice") };
    let id = Uuid::now_v7();
    alice.challenge(id, "23").await;
    let first = alice.answer(id, "23").await;
    assert!(matches!(first, Admit::Admitted(_)));
    let again = join_all((0..10).map(|_| alice.answer(id, "23"))).await;
    assert!(again.iter().all(|answer| *answer == first), "{again:?}");
    let left_ms: i64 = round.redis().await.pttl(challenge_key("alice", id)).await.unwrap();
    assert!((1..=10_000).contains(&left_ms), "{left_ms}");
    forget(&round, "alice", id).await;
    assert_eq!(alice.answer(id, "23").await, Admit::NoChallenge);
}

#[tokio::test]
async fn a_wrong_answer_sent_again_is_the_same_mistake() {
    let round = TestRound::start(terms(3, 1)).await;
    // Enough for the challenge and two different answers.
    let alice = Visitor { per_user: THREE, ..visitor(&round, "alice") };
    let id = Uuid::now_v7();
    alice.challenge(id, "23").await;
    assert_eq!(alice.answer(id, "32").await, WRONG);
    for _ in 0..3 {
        assert_eq!(alice.answer(id, "32").await, Admit::WrongAnswer { again: true });
    }
    assert_eq!(alice.answer(id, "23").await, Admit::NoChallenge, "the challenge is used up");
}

#[tokio::test]
async fn a_challenge_that_is_noted_twice_is_charged_once_and_stays_as_it_is() {
    let round = TestRound::start(terms(3, 1)).await;
    let alice = Visitor { per_user: GcraLimit { burst: 2, ..THREE }, ..visitor(&round, "alice") };
    let id = Uuid::now_v7();
    for _ in 0..3 {
        assert_eq!(alice.challenge(id, "23").await, Challenged::Issued);
    }
    let admitted = alice.answer(id, "23").await;
    assert!(matches!(admitted, Admit::Admitted(_)));
    assert_eq!(alice.challenge(id, "23").await, Challenged::Issued, "a late repetition of the first call");
    assert_eq!(alice.answer(id, "23").await, admitted);
}

#[tokio::test]
async fn a_challenge_is_for_one_user_and_holds_beside_another() {
    let round = TestRound::start(terms(3, 1)).await;
    let (alice, bob) = (visitor(&round, "alice"), visitor(&round, "bob"));
    let (first, last) = (Uuid::now_v7(), Uuid::now_v7());
    alice.challenge(first, "1").await;
    assert_eq!(bob.answer(first, "1").await, Admit::NoChallenge);
    // As in two tabs.
    alice.challenge(last, "2").await;
    assert!(matches!(alice.answer(last, "2").await, Admit::Admitted(_)));
    assert!(matches!(alice.answer(first, "1").await, Admit::Admitted(_)));
}

#[tokio::test]
async fn a_challenge_ends_by_itself() {
    let round = TestRound::start(terms(3, 1)).await;
    let (alice, id) = (visitor(&round, "alice"), Uuid::now_v7());
    alice.challenge(id, "1").await;
    let left_ms: i64 = round.redis().await.pttl(challenge_key("alice", id)).await.unwrap();
    assert!((1..=i64::from(TWO_MINUTES_MS)).contains(&left_ms), "{left_ms}");
    forget(&round, "alice", id).await;
    assert_eq!(alice.answer(id, "1").await, Admit::NoChallenge);
}

#[tokio::test]
async fn only_while_there_is_something_to_buy() {
    let with = |change: fn(&mut Terms)| {
        let mut terms = terms(1, 1);
        change(&mut terms);
        terms
    };
    let opens_at_ms = EpochMs(terms(1, 1).closes_at_ms.0 - 1);
    let early = TestRound::start(Terms { opens_at_ms, ..terms(1, 1) }).await;
    let (alice, id) = (visitor(&early, "alice"), Uuid::now_v7());
    assert_eq!(alice.challenge(id, "23").await, Challenged::Issued);
    assert_eq!(alice.answer(id, "23").await, Admit::NotOpen(opens_at_ms));
    let kept: String = early.redis().await.get(challenge_key("alice", id)).await.unwrap();
    assert!(kept.starts_with("open "), "the challenge can still be answered: {kept}");

    let over = TestRound::start(with(|terms| terms.closes_at_ms = EpochMs(terms.opens_at_ms.0 + 1))).await;
    assert_eq!(visitor(&over, "alice").challenge(Uuid::now_v7(), "1").await, Challenged::Closed);
    assert_eq!(visitor(&over, "alice").answer(Uuid::now_v7(), "1").await, Admit::Closed);

    let nothing = TestRound::start_empty();
    assert_eq!(visitor(&nothing, "alice").challenge(Uuid::now_v7(), "1").await, Challenged::UnknownSale);
    assert_eq!(visitor(&nothing, "alice").answer(Uuid::now_v7(), "1").await, Admit::UnknownSale);
    assert_eq!(keys_like(&nothing, "*").await, [""; 0], "a missing sale leaves no keys behind");
}

#[tokio::test]
async fn who_has_a_reservation_comes_in_when_all_is_sold() {
    let (round, reservation) = alice_bought(1, 1).await;
    let lasts = Duration::from_millis(stock::COOLDOWN_MS.into());
    let sold_out = SoldOut { wins: WinsSeen::at(reservation.reserved_at_ms), lasts, next_release_ms: None };
    assert_eq!(visitor(&round, "bob").pass().await, Admit::SoldOut(sold_out));
    assert!(matches!(visitor(&round, "alice").pass().await, Admit::Admitted(_)));
    let Reserve::SoldOut(told) = round.reserve(&user("bob")).await else { panic!("it is sold out") };
    assert_eq!(told.wins, WinsSeen::at(reservation.reserved_at_ms));
}

#[tokio::test]
async fn a_sold_out_sale_leaves_the_challenge_alone() {
    let (round, reservation) = alice_bought(1, 1).await;
    let bob = visitor(&round, "bob");
    let challenge = Uuid::now_v7();
    bob.challenge(challenge, "23").await;
    assert!(matches!(bob.answer(challenge, "23").await, Admit::SoldOut(_)));
    round.release(&reservation).await;
    assert!(round.view().await.counters.cooldown_until_ms > reservation.reserved_at_ms, "a cooldown has begun");
    // A longer one, which is not over before the next answer.
    tests::set_cooldown_until(&mut round.redis().await, "sale:{lamp:1:0}", clock().plus_s(3600)).await.unwrap();
    let Admit::SoldOut(told) = bob.answer(challenge, "23").await else { panic!("the unit is in cooldown") };
    assert!(told.lasts <= Duration::from_secs(3600), "it outlasts the cooldown: {told:?}");
    round.sell_returned().await;
    assert!(matches!(bob.answer(challenge, "23").await, Admit::Admitted(_)));
}

#[tokio::test]
async fn a_user_an_address_and_a_sale_have_each_a_rate() {
    let round = TestRound::start(terms(3, 1)).await;
    let limited = |answer, by_own: bool| match answer {
        Admit::RateLimited(RateLimited { retry_after_ms, own }) => {
            own == by_own && (3_500_000..=3_600_000).contains(&retry_after_ms)
        }
        _ => false,
    };
    let alice = Visitor { per_user: THREE, ..visitor(&round, "alice") };
    for _ in 0..3 {
        assert_eq!(alice.guess().await, Admit::NoChallenge);
    }
    assert!(limited(alice.guess().await, true));
    assert!(limited(alice.guess().await, true), "a refused request is not counted");
    assert_eq!((Visitor { per_user: THREE, ..visitor(&round, "bob") }).guess().await, Admit::NoChallenge);

    for name in ["carol", "dave", "erin"] {
        let visitor = Visitor { per_ip: THREE, ip: "192.0.2.9", ..visitor(&round, name) };
        assert_eq!(visitor.guess().await, Admit::NoChallenge);
    }
    assert!(limited((Visitor { per_ip: THREE, ip: "192.0.2.9", ..visitor(&round, "frank") }).guess().await, false));
    let elsewhere = Visitor { per_ip: THREE, ip: "192.0.2.8", ..visitor(&round, "frank") };
    assert_eq!(elsewhere.guess().await, Admit::NoChallenge);

    for name in ["gina", "hal", "ivy"] {
        let right = (Visitor { per_sale: Some(THREE), ..visitor(&round, name) }).pass().await;
        assert!(matches!(right, Admit::Admitted(_)));
    }
    for _ in 0..5 {
        let guess = (Visitor { per_sale: Some(THREE), ..visitor(&round, "mallory") }).guess().await;
        assert_eq!(guess, Admit::NoChallenge, "a wrong guess does not count for the sale");
    }
    let (id, jo) = (Uuid::now_v7(), Visitor { per_sale: Some(THREE), ..visitor(&round, "jo") });
    jo.challenge(id, "5").await;
    assert!(limited(jo.answer(id, "5").await, false));
    let later = Visitor { per_sale: None, ..jo };
    assert!(matches!(later.answer(id, "5").await, Admit::Admitted(_)), "the challenge is still valid");
}

#[tokio::test]
async fn what_one_rate_refuses_the_others_do_not_count() {
    let round = TestRound::start(terms(3, 1)).await;
    let busy = Visitor { per_user: THREE, per_ip: ONE, ..visitor(&round, "alice") };
    assert_eq!(busy.guess().await, Admit::NoChallenge);
    for _ in 0..5 {
        assert!(matches!(busy.guess().await, Admit::RateLimited(_)));
    }
    let elsewhere = Visitor { ip: "192.0.2.2", ..busy };
    assert_eq!(elsewhere.guess().await, Admit::NoChallenge, "her second of three");
}

#[tokio::test]
async fn what_was_used_up_comes_back_at_the_rate() {
    let round = TestRound::start(terms(3, 1)).await;
    let alice = Visitor { per_user: GcraLimit { emission_interval_us: 50_000, burst: 1 }, ..visitor(&round, "alice") };
    let (began, mut taken) = (clock(), 0);
    while taken < 3 {
        match alice.guess().await {
            Admit::NoChallenge => taken += 1,
            Admit::RateLimited(limited) => assert!((1..=50).contains(&limited.retry_after_ms)),
            other => panic!("{other:?}"),
        }
    }
    let took_ms = clock().since_ms(began);
    assert!(took_ms >= 99, "three requests within {took_ms} ms");
    let keys = keys_like(&round, "rate:*").await;
    assert!(keys.iter().all(|key| key.starts_with("rate:{lamp:1:0}:")), "{keys:?}");
}
