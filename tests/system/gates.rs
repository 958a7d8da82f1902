//! A sale's gate: which challenge it sets, and who may see the sale and buy.

use crate::admission::{enter, read_picture, reserve};
use crate::early_access::{lookups, write};
use crate::prelude::*;

fn asking(challenge: ChallengePolicy) -> Terms {
    let mut terms = terms(100, 1);
    terms.gate.challenge = challenge;
    terms
}

async fn post(lab: &Lab, user: &str, what: &str, body: &Value) -> Answer {
    lab.answer(&Ask::post(format!("/v1/sales/{SALE}/{what}")).by(user).json(body)).await
}

async fn edit(lab: &Lab, gate: &Value) -> Answer {
    let body = json!({ "round": 1, "round_version": lab.round().await.version, "gate": gate });
    lab.answer(&Ask::post_sale("edit").json(&body)).await
}

#[tokio::test]
async fn a_sale_offers_the_challenges_that_it_is_set_to() {
    let lab = Lab::selling(terms(100, 1)).await;
    let unsaid = lab.answer(&Ask::post(format!("/v1/sales/{SALE}/challenges")).by("alice")).await.expect(201);
    assert_eq!(unsaid.text("kind"), "picture");
    for body in [json!({ "kind": "song" }), json!({ "kind": null }), json!({ "picture": true })] {
        post(&lab, "alice", "challenges", &body).await.problem(400, "invalid_request");
    }
    for (policy, usual, kinds, refused) in [
        ("any", "picture", json!(["picture", "work"]), &["none"][..]),
        ("picture", "picture", json!(["picture"]), &["work", "none"]),
        ("work", "work", json!(["work"]), &["picture", "none"]),
        ("none", "none", json!(["none"]), &[]),
    ] {
        assert_eq!(edit(&lab, &json!({ "challenge": policy })).await.expect(200).body["gate"]["challenge"], policy);
        let asked = post(&lab, policy, "challenges", &json!({})).await.expect(201);
        assert_eq!((asked.text("kind"), &asked.body["kinds"]), (usual, &kinds));
        for kind in ["picture", "work", "none"] {
            let asked = post(&lab, policy, "challenges", &json!({ "kind": kind })).await;
            if refused.contains(&kind) {
                asked.problem(400, "invalid_request");
            } else {
                assert_eq!(asked.expect(201).text("kind"), if policy == "none" { "none" } else { kind });
            }
        }
    }
    // An edit of a gate leaves the rest of it.
    edit(&lab, &json!({ "groups_see": ["staff"], "challenge": "work" })).await.expect(200);
    let harder = edit(&lab, &json!({ "work_bits": 21 })).await.expect(200);
    let expected = json!({ "challenge": "work", "work_bits": 21, "groups_see": ["staff"] });
    assert_eq!(harder.body["gate"], expected, "the sale is still for staff only");
    let shown = edit(&lab, &json!({ "groups_see": [] })).await.expect(200);
    assert_eq!(shown.body["gate"].get("groups_see"), None);
}

#[tokio::test]
async fn a_sale_that_asks_nothing_gives_passes_and_keeps_its_rules() {
    let lab = Lab::selling(asking(ChallengePolicy::None)).await;
    let empty = Ask::post(format!("/v1/sales/{SALE}/tokens"));
    let admitted = lab.answer(&empty.clone().by("alice")).await.expect(201);
    reserve(&lab, &admitted, "mallory").await.problem(403, "bad_token");
    reserve(&lab, &admitted, "alice").await.expect(202);
    reserve(&lab, &post(&lab, "bob", "tokens", &json!({})).await.expect(201), "bob").await.expect(202);
    lab.answer(&empty).await.problem(401, "unauthorized");

    // Asking for a challenge first works too, and a repeated request gets the same pass.
    let asked = post(&lab, "carol", "challenges", &json!({})).await.expect(201);
    let members: Vec<&String> = asked.body.as_object().unwrap().keys().collect();
    assert_eq!(members, ["challenge_id", "expires_at", "kind", "kinds"]);
    let named = json!({ "challenge_id": asked.text("challenge_id") });
    let first = post(&lab, "carol", "tokens", &named).await.expect(201);
    assert_eq!(post(&lab, "carol", "tokens", &named).await.expect(201).body, first.body);
    reserve(&lab, &first, "carol").await.expect(202);

    lab.operate("blocked", &json!({ "user": "dora", "until": now().plus_s(60).to_string() })).await.expect(200);
    post(&lab, "dora", "tokens", &json!({})).await.problem(403, "blocked");

    // Her requests are used up until the year 2286.
    lab.redis(&["SET", &format!("rate:{{{SALE}:1:0}}:user:erin"), "9999999999999999"]).await;
    post(&lab, "erin", "tokens", &json!({})).await.problem(429, "rate_limited");

    for body in [json!({ "challenge_id": null }), json!({ "answer": "7" }), json!({ "challenge_id": "7" }), json!([])] {
        post(&lab, "frank", "tokens", &body).await.problem(400, "invalid_request");
    }
}

#[tokio::test]
async fn without_a_question_a_sale_opens_pauses_and_sells_out_as_any_other() {
    let opens_at_ms = now().plus_s(200);
    let coming = Lab::selling(Terms { opens_at_ms, ..asking(ChallengePolicy::None) }).await;
    let early = post(&coming, "alice", "tokens", &json!({})).await.problem(409, "not_open");
    assert_eq!(early.text("opens_at"), opens_at_ms.to_string());

    let lab = Lab::selling(Terms { total: 1, ..asking(ChallengePolicy::None) }).await;
    lab.update("pause", json!({})).await;
    post(&lab, "alice", "tokens", &json!({})).await.problem(503, "paused");
    lab.update("resume", json!({})).await;
    let admitted = post(&lab, "alice", "tokens", &json!({})).await.expect(201);
    reserve(&lab, &admitted, "alice").await.expect(202);
    post(&lab, "bob", "tokens", &json!({})).await.problem(409, "sold_out");
    post(&lab, "alice", "tokens", &json!({})).await.expect(201);
    lab.update("close", json!({})).await;
    post(&lab, "bob", "tokens", &json!({})).await.problem(410, "closed");
}

#[tokio::test]
async fn what_a_challenge_asked_holds_when_the_sale_changes() {
    let lab = Lab::selling(asking(ChallengePolicy::None)).await;
    let unasked = post(&lab, "alice", "challenges", &json!({})).await.expect(201).text("challenge_id").to_owned();
    edit(&lab, &json!({ "challenge": "work", "work_bits": 12 })).await.expect(200);
    post(&lab, "alice", "tokens", &json!({ "challenge_id": unasked })).await.problem(409, "challenge_over");
    for body in [json!({}), json!({ "challenge_id": "0".repeat(32) })] {
        post(&lab, "alice", "tokens", &body).await.problem(400, "invalid_request");
    }

    let asked = post(&lab, "alice", "challenges", &json!({})).await.expect(201);
    assert_eq!(asked.body["work"], json!({ "bits": 12 }));
    let id = asked.text("challenge_id");
    let done = json!({ "challenge_id": id, "answer": pass::work(id.parse().unwrap()) });
    // The work gets harder while alice solves an easy challenge: hers still counts and is no violation.
    edit(&lab, &json!({ "challenge": "work", "work_bits": 24 })).await.expect(200);
    assert_eq!(post(&lab, "bob", "challenges", &json!({})).await.expect(201).body["work"], json!({ "bits": 24 }));
    post(&lab, "alice", "tokens", &done).await.expect(201);

    // Once the sale sets no challenge, even a wrong answer to an earlier one gets a pass.
    edit(&lab, &json!({ "challenge": "any" })).await.expect(200);
    let (id, _) = read_picture(&lab, "carol").await;
    edit(&lab, &json!({ "challenge": "none" })).await.expect(200);
    post(&lab, "carol", "tokens", &json!({ "challenge_id": id, "answer": "1" })).await.expect(201);
}

fn groups(names: &[&str]) -> Vec<sale::GroupName> {
    names.iter().map(|name| name.parse().unwrap()).collect()
}

#[tokio::test]
async fn only_groups_that_may_buy_get_a_pass() {
    let mut offered = terms(100, 1);
    offered.gate.groups_buy = groups(&["staff", "members"]);
    let lab = Lab::selling(offered).await;
    write(&lab, "members/users", &json!(["alice"])).await;
    let admitted = enter(&lab, "alice").await.expect(201);
    reserve(&lab, &admitted, "alice").await.expect(202);
    // A user who may not buy may still look, and a right answer is no violation.
    assert_eq!(lab.answer(&Ask::get(format!("/v1/sales/{SALE}"))).await.status, 200);
    enter(&lab, "bob").await.problem(403, "not_a_member");
    write(&lab, "staff/users", &json!(["bob"])).await;
    enter(&lab, "bob").await.expect(201);

    // A group in the token's claim needs no lookup.
    edit(&lab, &json!({ "challenge": "none", "groups_buy": ["operators"] })).await.expect(200);
    lookups(&lab);
    let olga = Ask::post(format!("/v1/sales/{SALE}/tokens")).by_operator().json(&json!({}));
    let admitted = lab.answer(&olga).await.expect(201);
    assert_eq!(lookups(&lab), 0);
    reserve(&lab, &admitted, "olga").await.expect(202);
    post(&lab, "alice", "tokens", &json!({})).await.problem(403, "not_a_member");

    edit(&lab, &json!({ "challenge": "any", "groups_buy": [] })).await.expect(200);
    enter(&lab, "carol").await.expect(201);
}

#[tokio::test]
async fn to_a_stranger_a_members_sale_does_not_exist() {
    let mut offered = terms(100, 1);
    offered.gate.groups_see = groups(&["members"]);
    offered.goods.description = "For members.".into();
    let lab = Lab::selling(offered).await;
    write(&lab, "members/users", &json!(["alice"])).await;
    let campaign = json!({ "campaign_id": "days", "title": "Days", "sale_ids": [SALE] });
    lab.operate("campaigns", &campaign).await.expect(201);

    // No cacheable answer shows it, not even to a member.
    lab.answer(&Ask::get(format!("/v1/sales/{SALE}")).by("alice")).await.problem(404, "unknown_sale");
    lab.answer(&Ask::get("/v1/campaigns/days")).await.problem(404, "unknown_campaign");
    assert_eq!(lab.answer(&Ask::get("/v1/campaigns")).await.body["campaigns"], json!([]));

    // No route reveals that its id exists.
    for (method, path) in [
        ("GET", "/v1/sales/ID"),
        ("GET", "/v1/members/sales/ID"),
        ("GET", "/v1/sales/ID/reservation"),
        ("GET", "/v1/sales/ID/rounds/1/draw"),
        ("POST", "/v1/sales/ID/challenges"),
        ("POST", "/v1/sales/ID/tokens"),
        ("POST", "/v1/sales/ID/reservations/made-up"),
    ] {
        let given = json!({ "challenge_id": "0".repeat(32), "answer": "7" });
        let ask = |id: &str| {
            let ask = Ask { method, ..Ask::get(path.replace("ID", id)) }.by("mallory");
            if path.ends_with("tokens") { ask.json(&given) } else { ask }
        };
        let [hidden, unknown] = [lab.answer(&ask(SALE)).await, lab.answer(&ask("nothing")).await];
        assert_eq!((hidden.status, &hidden.body), (unknown.status, &unknown.body));
        assert_eq!(hidden.header("cache-control"), unknown.header("cache-control"));
    }
    let admission = lab.admission();
    lookups(&lab);
    for _ in 0..30 {
        let challenge = Ask::post(format!("/v1/sales/{SALE}/challenges")).by("eve");
        assert_eq!(admission.answer(&challenge).await.status, 404, "a 429 would reveal the sale");
    }
    assert_eq!(lookups(&lab), 1, "a flood is looked up once");
    let stopped = json!({ "sale_id": SALE });
    lab.operate("stop", &stopped).await.expect(200);
    post(&lab, "mallory", "challenges", &json!({})).await.problem(404, "unknown_sale");
    post(&lab, "alice", "challenges", &json!({})).await.problem(503, "paused");
    lab.operate("start", &stopped).await.expect(200);

    let mine = lab.answer(&Ask::get("/v1/members/sales").by("alice")).await.expect(200);
    assert_eq!(mine.body["sales"][0]["sale_id"], SALE);
    assert_eq!(mine.header("cache-control"), "no-store");
    let theirs = lab.answer(&Ask::get("/v1/members/sales").by("mallory")).await.expect(200);
    assert_eq!(theirs.body["sales"], json!([]));
    lab.answer(&Ask::get("/v1/members/sales")).await.problem(401, "unauthorized");
    let card = lab.answer(&Ask::get(format!("/v1/members/sales/{SALE}")).by("alice")).await.expect(200);
    assert_eq!((card.text("sale_id"), card.header("cache-control")), (SALE, "no-store"));
    assert_eq!(card.text("description"), "For members.", "members see the description");
    let admitted = enter(&lab, "alice").await.expect(201);
    reserve(&lab, &admitted, "alice").await.expect(202);
    lab.answer(&Ask::get(format!("/v1/sales/{SALE}/reservation")).by("alice")).await.expect(200);
}

async fn from(lab: &Lab, address: &str, ask: Ask) -> Answer {
    lab.answer(&ask.coming_from(address)).await
}

#[tokio::test]
async fn addresses_and_networks_are_kept_out_until_their_moment() {
    let lab = Lab::selling(asking(ChallengePolicy::None)).await;
    let until = now().plus_s(3600).to_string();
    let bots = json!({ "network": "198.51.100.77/24", "until": until, "note": "bots" });
    let blocked = lab.operate("blocked", &bots).await.expect(200);
    assert_eq!((blocked.text("network"), blocked.text("note")), ("198.51.100.0/24", "bots"));
    assert_eq!((blocked.text("operator"), blocked.text("reason")), ("olga", "asked"));
    lab.operate("blocked", &json!({ "address": "2001:db8::7", "until": until })).await.expect(200);
    lab.operate("blocked", &json!({ "user": "dora", "until": until })).await.expect(200);

    let tokens = || Ask::post(format!("/v1/sales/{SALE}/tokens")).by("alice");
    let challenges = || Ask::post(format!("/v1/sales/{SALE}/challenges")).by("alice");
    for address in ["198.51.100.0", "198.51.100.255", "::ffff:198.51.100.9", "2001:db8::7"] {
        for ask in [challenges(), tokens(), Ask::reserve(SALE, "alice")] {
            from(&lab, address, ask).await.problem(403, "blocked");
        }
        // They may still look, like a blocked user.
        from(&lab, address, Ask::get("/v1/orders").by("alice")).await.expect(200);
    }
    for address in ["198.51.101.0", "2001:db8::8", "203.0.113.7"] {
        from(&lab, address, tokens()).await.expect(201);
    }

    let listed = lab.read("/v1/admin/blocked").await;
    assert_eq!(listed["blocked"][0]["user"], "dora");
    let networks = listed["blocked_networks"].as_array().unwrap();
    assert_eq!((&networks[0]["network"], &networks[1]["address"]), (&json!("198.51.100.0/24"), &json!("2001:db8::7")));

    lab.operate("allow", &json!({ "network": "198.51.100.0/24" })).await.expect(200);
    from(&lab, "198.51.100.9", tokens()).await.expect(201);
    let left = lab.operate("allow", &json!({ "address": "2001:db8::7" })).await.expect(200);
    assert_eq!(left.body["blocked_networks"], json!([]));
    from(&lab, "2001:db8::7", tokens()).await.expect(201);

    // A block ends by itself.
    let short = json!({ "address": "192.0.2.1", "until": now().plus_s(600).to_string() });
    lab.operate("blocked", &short).await.expect(200);
    from(&lab, "192.0.2.1", tokens()).await.problem(403, "blocked");
    let later = lab.another_admission(Clock::ahead_by_ms(601_000));
    later.answer(&tokens().coming_from("192.0.2.1")).await.expect(201);
}

#[tokio::test]
async fn so_many_networks_are_blocked_and_no_more() {
    let lab = Lab::new().await;
    let blocked = |n: usize| ledger::NetworkBlock {
        network: format!("10.1.{}.{}", n / 256, n % 256).parse().unwrap(),
        until_ms: now().plus_s(3600),
        note: None,
        by: user("olga"),
        at_ms: now(),
    };
    // Concurrent operators do not undo each other's blocks.
    join_all((0..8).map(async |n| lab.ledger.block_network(&blocked(n), now()).await.unwrap())).await;
    assert_eq!(lab.ledger.blocked_networks(now()).await.unwrap().len(), 8);
    for n in 8..ledger::MAX_BLOCKED_NETWORKS {
        lab.ledger.block_network(&blocked(n), now()).await.unwrap();
    }
    let until = now().plus_s(3600).to_string();
    lab.operate("blocked", &json!({ "address": "192.0.2.1", "until": until })).await.problem(400, "invalid_request");
    // A block that is listed already can be changed when the list is full.
    lab.operate("blocked", &json!({ "address": "10.1.0.7", "until": until })).await.expect(200);
    let known = async || lab.ledger.recent_kill_switches(None).await.unwrap().blocked_networks.len();
    assert_eq!(known().await, ledger::MAX_BLOCKED_NETWORKS);
    // Expired blocks make room.
    let later = now().plus_s(7200);
    let one = ledger::NetworkBlock { until_ms: later.plus_s(60), ..blocked(300) };
    lab.ledger.block_network(&one, later).await.unwrap();
    assert_eq!(known().await, 1);
    lab.ledger.stop(None).await.unwrap();
    assert!(lab.ledger.kill_switches().await.unwrap().stopped, "kill switches and networks do not undo each other");
}
