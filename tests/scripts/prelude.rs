//! What tests of the scripts use everywhere.

pub(crate) use std::collections::{BTreeMap, BTreeSet};
pub(crate) use std::time::Duration;

pub(crate) use futures::future::join_all;
pub(crate) use redis::AsyncCommands;
pub(crate) use redis::aio::MultiplexedConnection;
pub(crate) use sale::*;
pub(crate) use stock::{
    Admit, Challenged, DonateFor, Donated, GcraLimit, Refused, Reseated, Reserve, RoundLoad, RoundStock, SoldOut, Stock,
};
use stock::{AdmitRequest, Applicant, ChallengeRequest};
pub(crate) use tests::{Dump, TestRound, dump, fresh_id, held, terms, undump, unsold, user};
pub(crate) use uuid::Uuid;

pub(crate) use crate::sequences::clock;

/// More than any test uses up.
pub(crate) const FREE: GcraLimit = GcraLimit { emission_interval_us: 1, burst: 1000 };
/// One, and then one an hour, so the limit does not refill during a test.
pub(crate) const ONE: GcraLimit = GcraLimit { emission_interval_us: 3_600_000_000, burst: 1 };
pub(crate) const TWO_MINUTES_MS: u32 = 120_000;

/// Somebody at the door of a sale.
pub(crate) struct Visitor<'a> {
    pub(crate) stock: RoundStock<'a>,
    pub(crate) user: UserId,
    pub(crate) ip: &'static str,
    pub(crate) per_user: GcraLimit,
    pub(crate) per_ip: GcraLimit,
    pub(crate) per_sale: Option<GcraLimit>,
    pub(crate) class: BuyerClass,
}

pub(crate) fn visitor<'a>(round: &'a TestRound, name: &str) -> Visitor<'a> {
    Visitor::at(round.stock(), user(name))
}

impl<'a> Visitor<'a> {
    pub(crate) fn at(stock: RoundStock<'a>, user: UserId) -> Self {
        Self { stock, user, ip: "192.0.2.1", per_user: FREE, per_ip: FREE, per_sale: None, class: BuyerClass::EVERYONE }
    }

    fn applicant(&self) -> Applicant<'_> {
        Applicant { user: &self.user, ip: self.ip, per_user: self.per_user, per_ip: self.per_ip }
    }

    pub(crate) async fn challenge(&self, id: Uuid, expected: &str) -> Challenged {
        let request = ChallengeRequest { applicant: self.applicant(), id, expected, life_ms: TWO_MINUTES_MS };
        self.stock.challenge(&request).await.unwrap()
    }

    /// Without an answer, asks for a pass of a sale without challenges.
    pub(crate) async fn admit(&self, id: Uuid, answer: Option<&str>) -> Admit {
        let (applicant, per_sale, class) = (self.applicant(), self.per_sale, self.class);
        self.stock.admit(&AdmitRequest { applicant, id, answer, per_sale, class }).await.unwrap()
    }

    pub(crate) async fn answer(&self, id: Uuid, answer: &str) -> Admit {
        self.admit(id, Some(answer)).await
    }

    /// Answers a challenge that was never issued.
    pub(crate) async fn guess(&self) -> Admit {
        self.answer(Uuid::now_v7(), "0").await
    }

    /// Gets a challenge and answers it correctly.
    pub(crate) async fn pass(&self) -> Admit {
        let id = Uuid::now_v7();
        assert_eq!(self.challenge(id, "23").await, Challenged::Issued);
        self.answer(id, "23").await
    }
}

/// A round, and the unit that alice has of it.
pub(crate) async fn alice_bought(total: u32, per_user_limit: u8) -> (TestRound, Reservation) {
    let round = TestRound::start(terms(total, per_user_limit)).await;
    let reservation = round.buy(&user("alice")).await;
    (round, reservation)
}

/// A script whose clock says `first` when it is read first, and then `now`.
pub(crate) fn script_at(script: &str, first: EpochMs, now: EpochMs) -> String {
    const READING: &str = "redis.call('TIME')";
    let says = |at: EpochMs| format!("{{'{}', '{:06}'}}", at.0 / 1000, at.0 % 1000 * 1000);
    assert!(script.contains(READING));
    script.replacen(READING, &says(first), 1).replace(READING, &says(now))
}

/// What `reserve` answers if Redis's clock says `now`.
pub(crate) async fn reserve_at(round: &TestRound, now: EpochMs, class: BuyerClass) -> String {
    let keys = ["sale", "buyers", "free", "outbox"].map(|key| format!("{key}:{{lamp:1:0}}"));
    let id = fresh_id(&round.id).uuid.as_simple().to_string();
    let mut eval = redis::cmd("EVAL");
    eval.arg(script_at(stock::expanded::RESERVE, now, now)).arg(keys.len()).arg(&keys[..]).arg(&[&*id, &id]);
    eval.arg(class.lead_s * 1000).arg(u8::from(class.has_quota));
    eval.query_async(&mut round.redis().await).await.unwrap()
}

pub(crate) async fn keys_like(round: &TestRound, pattern: &str) -> Vec<String> {
    round.redis().await.keys(pattern).await.unwrap()
}

/// The element that was pushed `ago` elements before the last.
pub(crate) fn back<T: Clone>(list: &[T], ago: impl Into<usize>) -> Option<T> {
    list.iter().rev().nth(ago.into() % list.len().max(1)).cloned()
}
