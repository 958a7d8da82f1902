//! Groups that may buy before everyone else, and the lists of their members.

use crate::admission::{answer_request, enter, noted, reserve};
use crate::prelude::*;

pub(crate) const USERS: &str = "/v1/admin/groups/members/users";

/// Opens to everyone in five minutes, and opened to `group` five minutes ago.
fn members_first(group: &str) -> Terms {
    let (opens_at_ms, group) = (now().plus_s(300), group.parse().unwrap());
    let early_access = vec![EarlyAccess { group, lead_s: 600, quota: None }];
    Terms { opens_at_ms, early_access, ..terms(100, 1) }
}

/// Open to everyone, with `units` of its three units as the members' quota for another ten minutes.
pub(crate) fn with_quota(units: u32) -> Terms {
    let (group, quota) = ("members".parse().unwrap(), Some(MemberQuota { units, for_s: 660 }));
    Terms { early_access: vec![EarlyAccess { group, lead_s: 0, quota }], ..terms(3, 1) }
}

/// Adds these users to a list, or removes them.
pub(crate) async fn write(lab: &Lab, list: &str, users: &Value) -> Value {
    lab.operate(&format!("groups/{list}"), &json!({ "users": users })).await.expect(200).body
}

async fn add(lab: &Lab, users: &Value) -> Value {
    write(lab, "members/users", users).await
}

/// How often the functions have looked groups up since the last call.
pub(crate) fn lookups(lab: &Lab) -> usize {
    lab.calls.take_targets().iter().filter(|target| target.ends_with(".BatchGetItem")).count()
}

/// Gets a pass and asks for a unit, as a browser does.
async fn buy(lab: &Lab, user: &str) -> Answer {
    reserve(lab, &enter(lab, user).await.expect(201), user).await
}

/// Gives Redis other terms of the round, as if time had passed.
pub(crate) async fn amend(lab: &Lab, change: impl FnOnce(&mut Terms)) {
    let mut round = lab.round().await;
    change(&mut round.terms);
    lab.stock.round(&round.id).amend(&Round { version: round.version + 1, ..round.clone() }).await.unwrap();
}

#[tokio::test]
async fn members_buy_first_and_strangers_hear_when_everyone_may() {
    let offered = members_first("members");
    let lab = Lab::selling(offered.clone()).await;
    add(&lab, &json!(["alice", "carol"])).await;
    let opens_at = offered.opens_at_ms.to_string();

    let admitted = enter(&lab, "alice").await.expect(201);
    // For another user this pass is a forgery.
    reserve(&lab, &admitted, "bob").await.problem(403, "bad_token");
    reserve(&lab, &admitted, "alice").await.expect(202);

    assert_eq!(enter(&lab, "bob").await.problem(409, "not_open").text("opens_at"), opens_at);
    // Passes for everyone. Carol got hers before she was in the group.
    for user in ["bob", "carol"] {
        let refused = lab.answer(&Ask::reserve(SALE, user)).await.problem(409, "not_open");
        assert_eq!(refused.text("opens_at"), opens_at);
    }
    amend(&lab, |terms| terms.opens_at_ms = EpochMs(now().0 - 1)).await;
    buy(&lab, "bob").await.expect(202);
    lab.answer(&Ask::reserve(SALE, "carol")).await.expect(202);
}

#[tokio::test]
async fn who_is_taken_out_of_a_list_is_a_stranger() {
    let lab = Lab::selling(members_first("members")).await;
    add(&lab, &json!(["alice", "carol"])).await;
    write(&lab, "members/users/remove", &json!(["alice", "nobody"])).await;
    enter(&lab, "alice").await.problem(409, "not_open");
    enter(&lab, "carol").await.expect(201);
    // `member` is another group than `members`.
    write(&lab, "member/users", &json!(["dave"])).await;
    enter(&lab, "dave").await.problem(409, "not_open");
}

/// The token's claim names the operators, which are the sale's group here, so no list is looked up.
#[tokio::test]
async fn a_token_names_a_group() {
    let lab = Lab::selling(members_first("operators")).await;
    let olga = async |path: &str, body: Value| lab.answer(&Ask::post(path).by_operator().json(&body)).await;
    let asked = olga(&format!("/v1/sales/{SALE}/challenges"), json!({})).await.expect(201);
    let id = asked.text("challenge_id").to_owned();
    let right = json!({ "challenge_id": id, "answer": noted(&lab, "olga", &id).await });
    lookups(&lab);
    let admitted = olga(&format!("/v1/sales/{SALE}/tokens"), right).await.expect(201);
    assert_eq!(lookups(&lab), 0, "a claim needs no lookup");
    reserve(&lab, &admitted, "olga").await.expect(202);
    enter(&lab, "alice").await.problem(409, "not_open");
}

#[tokio::test]
async fn the_ledger_is_asked_once_and_only_while_it_matters_and_without_it_nothing_is_guessed() {
    let lab = Lab::selling(members_first("members")).await;
    add(&lab, &json!(["bob"])).await;
    lookups(&lab);
    enter(&lab, "alice").await.problem(409, "not_open");
    assert_eq!(lookups(&lab), 1);
    let admitted = enter(&lab, "bob").await.expect(201);
    assert_eq!(lookups(&lab), 1);
    reserve(&lab, &admitted, "bob").await.expect(202);
    assert_eq!(lookups(&lab), 0, "a reservation never looks groups up");
    let no_table = Ledger::new(lab.dynamodb.clone(), "there-is-no-such-table");
    let deps = admission::AdmissionDeps { ledger: no_table, ..lab.admission() };
    deps.answer(&answer_request("bob", &"0".repeat(32), "1")).await.problem(503, "overloaded");

    let mut long_open = members_first("members");
    long_open.opens_at_ms = EpochMs(now().0 - 601_000);
    for (offered, why) in [(terms(3, 1), "nobody may buy early"), (long_open, "everyone may buy by now")] {
        let lab = Lab::selling(offered).await;
        lookups(&lab);
        enter(&lab, "alice").await.expect(201);
        assert_eq!(lookups(&lab), 0, "{why}");
    }
}

#[tokio::test]
async fn the_quota_waits_for_members_and_then_for_everyone() {
    let lab = Lab::selling(with_quota(2)).await;
    let until = lab.round().await.terms.quota().unwrap().1.to_string();
    add(&lab, &json!(["alice", "bob"])).await;
    lab.answer(&Ask::reserve(SALE, "s1")).await.expect(202);
    // All share one process: a stranger's `sold_out` must not be repeated to a member.
    let late = lab.answer(&Ask::reserve(SALE, "s2")).await.problem(409, "sold_out");
    assert_eq!(late.text("next_release_at"), until);
    assert_eq!(enter(&lab, "s2").await.problem(409, "sold_out").text("next_release_at"), until);
    buy(&lab, "alice").await.expect(202);
    lab.answer(&Ask::reserve(SALE, "s2")).await.problem(409, "sold_out");

    amend(&lab, |terms| terms.opens_at_ms = EpochMs(now().0 - 660_000)).await;
    lab.answer(&Ask::reserve(SALE, "s2")).await.expect(202);
    let problem = lab.answer(&Ask::reserve(SALE, "s3")).await.problem(409, "sold_out");
    assert_eq!(problem.body.get("next_release_at"), None);
    assert_eq!(lab.clean_audit().await, (0, 3, 0));
}

#[tokio::test]
async fn operators_create_it_and_everybody_sees_it() {
    let lab = Lab::new().await;
    let early_access = json!([{ "group": "members", "lead_s": 6500, "quota": { "units": 3, "for_s": 60 } }]);
    let change = json!({ "opens_at": in_s(7000), "closes_at": in_s(8000), "total": 10, "early_access": early_access });
    let sale = new_sale(SALE, &change);
    assert_eq!(lab.operate("sales", &sale).await.expect(201).body["early_access"], early_access);
    let publish = Ask::post_sale("publish");
    assert_eq!(lab.answer(&publish).await.expect(200).body["early_access"], early_access);
    assert_eq!(warmup::handle(&lab.warmup()).await.unwrap().loaded, 1, "it is loaded before its first group");
    // On a very busy machine the catalog may answer 503 at first.
    let shown = until("the card of the sale", async || {
        let card = lab.answer(&Ask::get(format!("/v1/sales/{SALE}"))).await;
        (card.status == 200).then_some(card.body)
    })
    .await;
    let opens = lab.round().await.terms.opens_at_ms;
    let line = &shown["early_access"][0];
    let at = |text: &Value| EpochMs::from(text.as_str().unwrap().parse::<jiff::Timestamp>().unwrap());
    assert_eq!((line["group"].as_str(), shown["state"].as_str()), (Some("members"), Some("upcoming")));
    assert_eq!(at(&line["opens_at"]), opens.minus_s(6500));
    assert_eq!(at(&line["quota_until"]), opens.plus_s(60));
    assert_eq!(at(&shown["opens_at"]), opens, "everyone's opening");
}

#[tokio::test]
async fn a_long_list_is_read_in_pages() {
    let lab = Lab::selling(members_first("members")).await;
    let mut wanted = BTreeSet::new();
    for request in 0..2 {
        // Ids with the characters that separate keys.
        let users: Vec<String> = (0..600).map(|user| format!("auth0|{request}#{user}/e")).collect();
        add(&lab, &json!(users)).await;
        wanted.extend(users);
    }
    let groups = ["members".parse().unwrap()];
    assert_eq!(lab.ledger.groups_of(&user("auth0|1#7/e"), &groups).await.unwrap(), groups);

    let pages = lab.pages(Ask::get(USERS).by_operator()).await;
    assert!(pages.len() >= 2 && pages.iter().all(|page| page["users"].as_array().unwrap().len() <= 1000));
    let seen: Vec<String> = serde_json::from_value(listed(&pages, "users").into()).unwrap();
    assert_eq!((seen.len(), BTreeSet::from_iter(seen)), (wanted.len(), wanted), "each once");
    let largest: Vec<String> = (0..1000).map(|user| format!("{user:\"<255}")).collect();
    assert_eq!(add(&lab, &json!(largest)).await["users"], 1000, "the longest ids, quoted and escaped");
    assert_eq!(add(&lab, &json!(["alice", "alice"])).await["users"], 2);
    let nobody = lab.read("/v1/admin/groups/nobody/users").await;
    assert_eq!(nobody, json!({ "group": "nobody", "users": [] }));
    enter(&lab, "auth0|1#599/e").await.expect(201);
    enter(&lab, "auth0|1#600/e").await.problem(409, "not_open");
}
