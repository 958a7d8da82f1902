//! Admission: challenges, and the passes that right answers earn.

use crate::prelude::*;

fn challenge_key(user: &str, id: &str) -> String {
    format!("challenge:{{{SALE}:1:0}}:{user}:{id}")
}

async fn ask(lab: &Lab, user: &str, kind: &str) -> Answer {
    lab.answer(&Ask::post(format!("/v1/sales/{SALE}/challenges")).by(user).json(&json!({ "kind": kind }))).await
}

async fn answer(lab: &Lab, user: &str, id: &str, answer: &str) -> Answer {
    lab.answer(&answer_request(user, id, answer)).await
}

pub(crate) fn answer_request(user: &str, id: &str, answer: &str) -> Ask {
    let body = json!({ "challenge_id": id, "answer": answer });
    Ask::post(format!("/v1/sales/{SALE}/tokens")).by(user).json(&body)
}

/// The right answer to a user's challenge, which Redis keeps until it is given.
pub(crate) async fn noted(lab: &Lab, user: &str, id: &str) -> Option<String> {
    let mut redis = tests::redis_at(&lab.valkey.url()).await;
    let noted: Option<String> = redis::cmd("GET").arg(challenge_key(user, id)).query_async(&mut redis).await.unwrap();
    noted?.strip_prefix("open ").map(str::to_owned)
}

/// Asks for a picture and looks its answer up in Redis, as no client can.
pub(crate) async fn read_picture(lab: &Lab, user: &str) -> (String, String) {
    let asked = ask(lab, user, "picture").await.expect(201);
    let id = asked.text("challenge_id").to_owned();
    let sum = noted(lab, user, &id).await.expect("Redis has it");
    (id, sum)
}

/// Has a user answer a challenge correctly.
pub(crate) async fn enter(lab: &Lab, user: &str) -> Answer {
    let (id, sum) = read_picture(lab, user).await;
    answer(lab, user, &id, &sum).await
}

/// Uses a pass.
pub(crate) async fn reserve(lab: &Lab, admitted: &Answer, user: &str) -> Answer {
    lab.answer(&Ask::post(admitted.text("reserve_path")).by(user)).await
}

#[tokio::test]
async fn an_answer_is_the_way_in() {
    let lab = Lab::selling(terms(100, 1)).await;
    let asked = ask(&lab, "alice", "picture").await.expect(201);
    let members: Vec<&String> = asked.body.as_object().unwrap().keys().collect();
    assert_eq!(members, ["challenge_id", "expires_at", "kind", "kinds", "picture"], "the answer is not included");
    let key = challenge_key("alice", asked.text("challenge_id"));
    let left_ms: i64 = lab.redis_text(&["PTTL", &key]).await.parse().unwrap();
    assert!((1..=120_000).contains(&left_ms), "{left_ms}");
    let admitted = enter(&lab, "alice").await.expect(201);
    assert!(admitted.text("reserve_path").ends_with(admitted.text("token")));
    reserve(&lab, &admitted, "mallory").await.problem(403, "bad_token");
    reserve(&lab, &admitted, "alice").await.expect(202);
}

#[tokio::test]
async fn a_wrong_answer_takes_its_challenge_and_counts_once_and_the_second_blocks() {
    let door = DoorTerms { violations: 2, ..DoorTerms::default() };
    let lab = Lab::selling(Terms { door, ..terms(100, 1) }).await;
    // A repeat after a lost 403, a late answer, and an answer to a challenge that was never made.
    let (id, _) = read_picture(&lab, "alice").await;
    for _ in 0..3 {
        answer(&lab, "alice", &id, "1").await.problem(403, "wrong_answer");
    }
    answer(&lab, "alice", &id, "2").await.problem(409, "challenge_over");
    answer(&lab, "alice", &"0".repeat(32), "1").await.problem(409, "challenge_over");
    let (id, sum) = read_picture(&lab, "alice").await;
    lab.redis(&["PEXPIRE", &challenge_key("alice", &id), "0"]).await;
    answer(&lab, "alice", &id, &sum).await.problem(409, "challenge_over");
    let (id, _) = read_picture(&lab, "alice").await;
    answer(&lab, "alice", &id, "1").await.problem(403, "wrong_answer");
    ask(&lab, "alice", "picture").await.problem(403, "blocked");
}

#[tokio::test]
async fn while_it_is_paused_or_stopped_and_once_it_is_closed() {
    let lab = Lab::selling(terms(100, 1)).await;
    let (id, sum) = read_picture(&lab, "alice").await;
    lab.update("pause", json!({})).await;
    answer(&lab, "alice", &id, &sum).await.problem(503, "paused");
    lab.update("resume", json!({})).await;
    for stopped in [None, Some(SALE.parse().unwrap())] {
        lab.ledger.stop(stopped.as_ref()).await.unwrap();
        lab.refresh_snapshots().await;
        ask(&lab, "alice", "picture").await.problem(503, "paused");
        answer(&lab, "alice", &id, &sum).await.problem(503, "paused");
        lab.ledger.start(stopped.as_ref()).await.unwrap();
        lab.refresh_snapshots().await;
    }
    answer(&lab, "alice", &id, &sum).await.expect(201);

    let (id, sum) = read_picture(&lab, "alice").await;
    lab.update("close", json!({})).await;
    ask(&lab, "alice", "picture").await.problem(410, "closed");
    answer(&lab, "alice", &id, &sum).await.problem(410, "closed");
}

#[tokio::test]
async fn who_asks_too_often_hears_when_to_ask_again() {
    let lab = Lab::selling(terms(100, 1)).await;
    let limited = loop {
        let asked = ask(&lab, "alice", "work").await;
        if asked.status != 201 {
            break asked.problem(429, "rate_limited");
        }
    };
    assert_eq!(limited.header("ratelimit-policy"), r#""challenge";q=20;w=60"#);
    let key = format!("rate:{{{SALE}:1:0}}:user:alice");
    let used_up_us: u64 = lab.redis_text(&["GET", &key]).await.parse().unwrap();
    ask(&lab, "bob", "work").await.expect(201);
    // A slow machine would give her time for another request: these are used up until the year 2286.
    lab.redis(&["SET", &key, "9999999999999999", "KEEPTTL"]).await;
    answer(&lab, "alice", &"0".repeat(32), "1").await.problem(429, "rate_limited");
    let retry_after_s: u64 = limited.header("retry-after").parse().unwrap();
    assert_eq!(limited.header("ratelimit"), format!(r#""challenge";r=0;t={retry_after_s}"#));
    // Waiting this long is enough: the requests were made so much earlier then.
    lab.redis(&["SET", &key, &(used_up_us - retry_after_s * 1_000_000).to_string(), "KEEPTTL"]).await;
    ask(&lab, "alice", "work").await.expect(201);

    // All who come from one address are counted together. Its requests are used up until the year 2286.
    lab.redis(&["SET", &format!("rate:{{{SALE}:1:0}}:address:203.0.113.7"), "9999999999999999"]).await;
    ask(&lab, "carol", "work").await.problem(429, "rate_limited");
}

#[tokio::test]
async fn work_instead_of_a_picture() {
    let lab = Lab::selling(terms(100, 1)).await;
    let asked = ask(&lab, "alice", "work").await.expect(201);
    assert_eq!(asked.body["work"], json!({ "bits": sale::USUAL_WORK_BITS }));
    let work = |asked: &Answer| pass::work(asked.text("challenge_id").parse().unwrap());
    answer(&lab, "alice", asked.text("challenge_id"), &work(&asked)).await.expect(201);

    for (kind, said) in [("work", "work"), ("work", "17"), ("picture", "work"), ("picture", "none")] {
        let asked = ask(&lab, kind, kind).await.expect(201);
        answer(&lab, kind, asked.text("challenge_id"), said).await.problem(403, "wrong_answer");
    }
    // Work is no answer to a picture.
    let asked = ask(&lab, "picture", "picture").await.expect(201);
    answer(&lab, "picture", asked.text("challenge_id"), &work(&asked)).await.problem(403, "wrong_answer");
}
