use redis::AsyncCommands;
use sale::{EpochMs, Lane, Terms};
use stock::{Admit, AdmitRequest, Applicant, ChallengeRequest, Challenged, GcraLimit, RateLimited, Reserve};
use tests::{TestRound, terms, user};
use uuid::Uuid;

const LANE: Lane = Lane(0);
const TWO_MINUTES_MS: u32 = 120_000;
/// More than any test asks for.
const FREE: GcraLimit = GcraLimit { emission_interval_us: 1, burst: 1000 };
/// Three at once and then one an hour: nothing comes back while a test runs.
const THREE: GcraLimit = GcraLimit { emission_interval_us: 3_600_000_000, burst: 3 };

/// A user at the door of a round.
struct Door<'a> {
    round: &'a TestRound,
    name: &'static str,
    ip: &'static str,
    per_user: GcraLimit,
    per_ip: GcraLimit,
    per_sale: Option<GcraLimit>,
}

fn door<'a>(round: &'a TestRound, name: &'static str) -> Door<'a> {
    Door { round, name, ip: "192.0.2.1", per_user: FREE, per_ip: FREE, per_sale: None }
}

impl Door<'_> {
    async fn challenge(&self, id: Uuid, expected: &str) -> Challenged {
        let user = user(self.name);
        let request = ChallengeRequest { applicant: self.applicant(&user), id, expected, life_ms: TWO_MINUTES_MS };
        self.round.stock.challenge(&request).await.unwrap()
    }

    async fn answer(&self, id: Uuid, answer: &str) -> Admit {
        let user = user(self.name);
        let request = AdmitRequest { applicant: self.applicant(&user), id, answer, per_sale: self.per_sale };
        self.round.stock.admit(&request).await.unwrap()
    }

    fn applicant<'b>(&'b self, user: &'b sale::UserId) -> Applicant<'b> {
        let Self { round, ip, per_user, per_ip, .. } = *self;
        Applicant { sale: &round.sale, round: round.round, lane: LANE, user, ip, per_user, per_ip }
    }

    /// Answers a challenge that there never was.
    async fn wrong(&self) -> Admit {
        self.answer(Uuid::now_v7(), "0").await
    }

    /// Takes a challenge and answers it right.
    async fn pass(&self) -> Admit {
        let id = Uuid::now_v7();
        assert_eq!(self.challenge(id, "23").await, Challenged::Issued);
        self.answer(id, "23").await
    }
}

async fn now(round: &TestRound) -> i64 {
    let (seconds, micros): (i64, i64) = redis::cmd("TIME").query_async(&mut round.redis().await).await.unwrap();
    seconds * 1000 + micros / 1000
}

#[tokio::test]
async fn the_right_answer_admits_once() {
    let round = TestRound::start(terms(3, 1)).await;
    let alice = door(&round, "alice");
    let id = Uuid::now_v7();
    assert_eq!(alice.challenge(id, "23").await, Challenged::Issued);
    let before = now(&round).await;
    let Admit::Admitted { at_ms, returning } = alice.answer(id, "23").await else { panic!("the answer is right") };
    assert!((before..=now(&round).await).contains(&at_ms.0) && !returning);
    assert_eq!(alice.answer(id, "23").await, Admit::WrongAnswer, "it is used up");
}

#[tokio::test]
async fn a_wrong_answer_uses_the_challenge_up() {
    let round = TestRound::start(terms(3, 1)).await;
    let alice = door(&round, "alice");
    let id = Uuid::now_v7();
    alice.challenge(id, "23").await;
    assert_eq!(alice.answer(id, "32").await, Admit::WrongAnswer);
    assert_eq!(alice.answer(id, "23").await, Admit::WrongAnswer);
}

#[tokio::test]
async fn a_challenge_is_for_one_user_and_the_last_one_holds() {
    let round = TestRound::start(terms(3, 1)).await;
    let (alice, bob) = (door(&round, "alice"), door(&round, "bob"));
    let (first, last) = (Uuid::now_v7(), Uuid::now_v7());
    alice.challenge(first, "1").await;
    assert_eq!(bob.answer(first, "1").await, Admit::WrongAnswer);
    alice.challenge(last, "2").await;
    assert!(matches!(alice.answer(last, "2").await, Admit::Admitted { .. }));
    alice.challenge(last, "2").await;
    assert_eq!(alice.answer(first, "2").await, Admit::WrongAnswer);
}

#[tokio::test]
async fn a_challenge_ends_by_itself() {
    let round = TestRound::start(terms(3, 1)).await;
    let alice = door(&round, "alice");
    alice.challenge(Uuid::now_v7(), "1").await;
    let key = "challenge:{lamp:1:0}:alice";
    let left_ms: i64 = round.redis().await.pttl(key).await.unwrap();
    assert!((1..=i64::from(TWO_MINUTES_MS)).contains(&left_ms), "{left_ms}");
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
    assert_eq!(door(&early, "alice").pass().await, Admit::NotOpen(opens_at_ms));

    let over = TestRound::start(with(|terms| terms.closes_at_ms = EpochMs(terms.opens_at_ms.0 + 1))).await;
    assert_eq!(door(&over, "alice").challenge(Uuid::now_v7(), "1").await, Challenged::Closed);
    assert_eq!(door(&over, "alice").answer(Uuid::now_v7(), "1").await, Admit::Closed);

    let nothing = TestRound::start_empty();
    assert_eq!(door(&nothing, "alice").challenge(Uuid::now_v7(), "1").await, Challenged::UnknownSale);
    assert_eq!(door(&nothing, "alice").answer(Uuid::now_v7(), "1").await, Admit::UnknownSale);
    let keys: Vec<String> = nothing.redis().await.keys("*").await.unwrap();
    assert_eq!(keys, [""; 0], "what is not there leaves nothing behind");
}

#[tokio::test]
async fn who_has_a_reservation_comes_in_when_all_is_sold() {
    let round = TestRound::start(terms(1, 1)).await;
    let (_, hold) = round.buy(&user("alice")).await;
    let sold_out = Admit::SoldOut { last_won_at_ms: hold.reserved_at_ms };
    assert_eq!(door(&round, "bob").pass().await, sold_out);
    assert!(matches!(door(&round, "alice").pass().await, Admit::Admitted { returning: true, .. }));
    let Reserve::SoldOut { last_won_at_ms } = round.reserve(&user("bob")).await.1 else { panic!("it is") };
    assert_eq!(last_won_at_ms, hold.reserved_at_ms);
}

#[tokio::test]
async fn a_sold_out_sale_leaves_the_challenge_alone() {
    let round = TestRound::start(terms(1, 1)).await;
    let (id, _) = round.buy(&user("alice")).await;
    let bob = door(&round, "bob");
    let challenge = Uuid::now_v7();
    bob.challenge(challenge, "23").await;
    assert!(matches!(bob.answer(challenge, "23").await, Admit::SoldOut { .. }));
    round.stock.release(&id, LANE, &user("alice"), None).await.unwrap();
    assert!(matches!(bob.answer(challenge, "23").await, Admit::Admitted { returning: false, .. }));
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
    let alice = Door { per_user: THREE, ..door(&round, "alice") };
    for _ in 0..3 {
        assert_eq!(alice.wrong().await, Admit::WrongAnswer);
    }
    assert!(limited(alice.wrong().await, true));
    assert!(limited(alice.wrong().await, true), "a refused request is not counted");
    assert_eq!((Door { per_user: THREE, ..door(&round, "bob") }).wrong().await, Admit::WrongAnswer);

    for name in ["carol", "dave", "erin"] {
        let door = Door { per_ip: THREE, ip: "192.0.2.9", ..door(&round, name) };
        assert_eq!(door.wrong().await, Admit::WrongAnswer);
    }
    assert!(limited((Door { per_ip: THREE, ip: "192.0.2.9", ..door(&round, "frank") }).wrong().await, false));
    assert_eq!((Door { per_ip: THREE, ip: "192.0.2.8", ..door(&round, "frank") }).wrong().await, Admit::WrongAnswer);

    for _ in 0..5 {
        let wrong = (Door { per_sale: Some(THREE), ..door(&round, "mallory") }).wrong().await;
        assert_eq!(wrong, Admit::WrongAnswer, "it is not charged to the sale");
    }
    for name in ["gina", "hal", "ivy"] {
        let right = (Door { per_sale: Some(THREE), ..door(&round, name) }).pass().await;
        assert!(matches!(right, Admit::Admitted { .. }));
    }
    let (id, jo) = (Uuid::now_v7(), Door { per_sale: Some(THREE), ..door(&round, "jo") });
    jo.challenge(id, "5").await;
    assert!(limited(jo.answer(id, "5").await, false));
    let later = Door { per_sale: None, ..jo };
    assert!(matches!(later.answer(id, "5").await, Admit::Admitted { .. }), "the challenge was left alone");
}

#[tokio::test]
async fn what_one_rate_refuses_the_others_do_not_count() {
    let round = TestRound::start(terms(3, 1)).await;
    let one = GcraLimit { burst: 1, ..THREE };
    let busy = Door { per_user: THREE, per_ip: one, ..door(&round, "alice") };
    assert_eq!(busy.answer(Uuid::now_v7(), "0").await, Admit::WrongAnswer);
    for _ in 0..5 {
        assert!(matches!(busy.answer(Uuid::now_v7(), "0").await, Admit::RateLimited(_)));
    }
    let elsewhere = Door { ip: "192.0.2.2", ..busy };
    assert_eq!(elsewhere.answer(Uuid::now_v7(), "0").await, Admit::WrongAnswer, "her second of three");
}

#[tokio::test]
async fn what_was_used_up_comes_back_at_the_rate() {
    let round = TestRound::start(terms(3, 1)).await;
    let quick = GcraLimit { emission_interval_us: 50_000, burst: 1 };
    let alice = Door { per_user: quick, ..door(&round, "alice") };
    let (began, mut taken) = (now(&round).await, 0);
    while taken < 3 {
        match alice.answer(Uuid::now_v7(), "0").await {
            Admit::WrongAnswer => taken += 1,
            Admit::RateLimited(limited) => assert!((1..=50).contains(&limited.retry_after_ms)),
            other => panic!("{other:?}"),
        }
    }
    let ended = now(&round).await;
    assert!(ended - began >= 99, "three within {} ms", ended - began);
    let keys: Vec<String> = round.redis().await.keys("rate:*").await.unwrap();
    assert!(keys.iter().all(|key| key.starts_with("rate:{lamp:1:0}:")), "{keys:?}");
}
