//! What tests of the scripts use everywhere.

pub(crate) use std::collections::{BTreeMap, BTreeSet};
pub(crate) use std::time::Duration;

pub(crate) use futures::future::join_all;
pub(crate) use redis::AsyncCommands;
pub(crate) use redis::aio::MultiplexedConnection;
pub(crate) use sale::*;
pub(crate) use stock::{
    Admit, AdmitRequest, Applicant, ChallengeRequest, Challenged, DonateFor, Donated, GcraLimit, Refused, Reseated,
    Reserve, RoundLoad, SoldOut, Stock,
};
pub(crate) use tests::{TestRound, first_version, fresh_id, held, terms, unsold, user};
pub(crate) use uuid::Uuid;

pub(crate) use crate::sequences::clock;

/// More than any test uses up.
pub(crate) const FREE: GcraLimit = GcraLimit { emission_interval_us: 1, burst: 1000 };

pub(crate) fn applicant(user: &UserId) -> Applicant<'_> {
    Applicant { user, ip: "192.0.2.1", per_user: FREE, per_ip: FREE }
}

pub(crate) fn answered<'a>(applicant: Applicant<'a>, id: Uuid, answer: Option<&'a str>) -> AdmitRequest<'a> {
    AdmitRequest { applicant, id, answer, per_sale: None, class: BuyerClass::EVERYONE }
}

/// A script whose clock says `now`.
pub(crate) fn script_at(script: &str, now: EpochMs) -> String {
    let set = format!("local time = {{'{}', '{:06}'}}", now.0 / 1000, now.0 % 1000 * 1000);
    let text = script.replace("local time = redis.call('TIME')", &set);
    assert!(text.contains(&set));
    text
}

/// What `reserve` answers if Redis's clock says `now`.
pub(crate) async fn reserve_at(round: &TestRound, now: EpochMs, class: BuyerClass) -> String {
    let keys = ["sale", "buyers", "free", "outbox"].map(|key| format!("{key}:{{lamp:1:0}}"));
    let id = fresh_id(&round.id).uuid.as_simple().to_string();
    let mut eval = redis::cmd("EVAL");
    eval.arg(script_at(stock::expanded::RESERVE, now)).arg(keys.len()).arg(&keys[..]).arg(&[&*id, &id]);
    eval.arg(class.lead_s * 1000).arg(u8::from(class.has_quota));
    eval.query_async(&mut round.redis().await).await.unwrap()
}

pub(crate) async fn keys_like(round: &TestRound, pattern: &str) -> Vec<String> {
    round.redis().await.keys(pattern).await.unwrap()
}

/// Keys with their contents and expiry times.
pub(crate) type Dump = Vec<(String, Vec<u8>, i64)>;

/// What these keys hold, without those that do not exist. Fails if Redis does.
pub(crate) async fn dump(
    redis: &mut MultiplexedConnection,
    keys: impl IntoIterator<Item = String>,
) -> redis::RedisResult<Dump> {
    let mut dumped = Vec::new();
    for key in keys {
        let mut dump = redis::pipe();
        dump.cmd("DUMP").arg(&key).cmd("PEXPIRETIME").arg(&key);
        let (dump, expires_at): (Option<Vec<u8>>, i64) = dump.query_async(redis).await?;
        dumped.extend(dump.map(|dump| (key, dump, expires_at)));
    }
    Ok(dumped)
}

/// Creates the keys again. Fails if Redis does.
pub(crate) async fn undump(redis: &mut MultiplexedConnection, dump: &Dump) -> redis::RedisResult<()> {
    for (key, dump, expires_at) in dump {
        let mut restore = redis::cmd("RESTORE");
        restore.arg(key).arg(expires_at).arg(dump).arg("ABSTTL");
        let () = restore.query_async(redis).await?;
    }
    Ok(())
}

/// The element that was pushed `ago` elements before the last.
pub(crate) fn back<T: Clone>(list: &[T], ago: impl Into<usize>) -> Option<T> {
    list.iter().rev().nth(ago.into() % list.len().max(1)).cloned()
}
