//! Bad requests to every route, and the problem that each must get. They are about alice's reservation, which has a pending
//! order, and its sale: each is refused only for its own fault.

use crate::prelude::*;

pub(crate) struct Bad {
    pub(crate) what: String,
    pub(crate) ask: Ask,
    pub(crate) status: u16,
    pub(crate) code: &'static str,
}

const JSON: &str = "application/json";

pub(crate) fn bad(what: impl Into<String>, ask: Ask, status: u16, code: &'static str) -> Bad {
    Bad { what: what.into(), ask, status, code }
}

pub(crate) fn invalid(what: impl Into<String>, ask: Ask) -> Bad {
    bad(what, ask, 400, "invalid_request")
}

fn long(length: usize) -> String {
    "a".repeat(length)
}

pub(crate) fn bad_keys() -> [String; 6] {
    ["", "two words", "\t", "ключ", &long(65), &long(10_000)].map(str::to_owned)
}

/// What every operator's request about a sale is refused for: an invalid id, or a sale that does not exist.
pub(crate) fn about_sales(what: &str, ask: impl Fn(&str) -> Ask) -> Vec<Bad> {
    // What an id may be is tested in `sale`; these show that a route reads its own as such.
    let ids = ["Lamp", "lamp%00", &long(49)];
    let mut cases: Vec<Bad> = ids.map(|id| invalid(format!("{what}: sale id"), ask(id))).into();
    cases.push(bad(format!("{what}: no such sale"), ask("bad-nowhere"), 404, "unknown_sale"));
    cases
}

/// The same of a request about a round.
fn about_rounds(what: &str, ask: impl Fn(&str, &str) -> Ask) -> Vec<Bad> {
    let mut cases = about_sales(what, |id| ask(id, "1"));
    cases.extend(BAD_ROUNDS.iter().map(|round| invalid(format!("{what}: round"), ask(SALE, round))));
    cases
}

/// Its fault, content type and body, and the status and code of the problem.
type BadBody = (&'static str, Option<&'static str>, Vec<u8>, u16, &'static str);

/// Percent-encoded, as in a path.
const BAD_ROUNDS: [&str; 9] = ["0", "-1", "01", "%2B1", "1.0", "x", "%00", "1%0A", "4294967296"];

fn never_good() -> Vec<BadBody> {
    let mut mega = br#"{"a":""#.to_vec();
    mega.resize(1024 * 1024, b'a');
    mega.extend(br#""}"#);
    let deep = [vec![b'['; 8000], vec![b']'; 8000]].concat();
    vec![
        ("not JSON", Some(JSON), b"sale_id=lamp".to_vec(), 400, "invalid_request"),
        ("half JSON", Some(JSON), br#"{"a":"#.to_vec(), 400, "invalid_request"),
        ("JSON and more", Some(JSON), b"{}{}".to_vec(), 400, "invalid_request"),
        ("a list", Some(JSON), b"[1]".to_vec(), 400, "invalid_request"),
        ("an empty list", Some(JSON), b"[]".to_vec(), 400, "invalid_request"),
        ("null", Some(JSON), b"null".to_vec(), 400, "invalid_request"),
        ("a text", Some(JSON), br#""lamp""#.to_vec(), 400, "invalid_request"),
        ("a number", Some(JSON), b"-1".to_vec(), 400, "invalid_request"),
        ("an unknown field", Some(JSON), br#"{"admin":true}"#.to_vec(), 400, "invalid_request"),
        ("control characters", Some(JSON), b"{\"a\x01\":\"\x00\x1b\"}".to_vec(), 400, "invalid_request"),
        ("half a character", Some(JSON), b"{\"\xff\xfe\":1}".to_vec(), 400, "invalid_request"),
        ("8,000 brackets", Some(JSON), deep, 400, "invalid_request"),
        ("1 MB", Some(JSON), mega.clone(), 413, "too_large"),
        ("1 MB of text", Some("text/plain"), mega, 413, "too_large"),
        ("17 kB of spaces", Some(JSON), vec![b' '; 17 * 1024], 413, "too_large"),
        ("another content type", Some("text/plain"), b"{}".to_vec(), 415, "unsupported_media_type"),
        ("a form", Some("application/x-www-form-urlencoded"), b"a=1".to_vec(), 415, "unsupported_media_type"),
        ("no content type", None, b"{}".to_vec(), 415, "unsupported_media_type"),
        ("bytes", Some("application/octet-stream"), vec![0xff, 0x00, 0xfe], 400, "invalid_request"),
    ]
}

/// Bodies that show that a route reads its body with `shared/api/src/body.rs`.
const ON_EACH_ROUTE: [&str; 4] = ["half JSON", "an unknown field", "17 kB of spaces", "another content type"];

pub(crate) fn with_bodies(route: &str, ask: &Ask) -> Vec<Bad> {
    let mut cases = with_every_body(route, |body| ask.clone().body(body));
    cases.retain(|bad| ON_EACH_ROUTE.iter().any(|what| bad.what.ends_with(what)));
    assert_eq!(cases.len(), ON_EACH_ROUTE.len());
    cases
}

fn with_every_body(route: &str, ask: impl Fn(Vec<u8>) -> Ask) -> Vec<Bad> {
    let cases = never_good().into_iter().map(|(what, content_type, body, status, code)| {
        let ask = content_type.into_iter().fold(ask(body), |ask, it| ask.header("content-type", it));
        bad(format!("{route}: {what}"), ask, status, code)
    });
    cases.collect()
}

fn reserve() -> Vec<Bad> {
    let good = Ask::reserve(SALE, "alice");
    // Like every request without a body.
    let mut cases = with_every_body("reserve", |body| good.clone().body(body));
    // Percent-encoded, as in a path.
    let ids = "Lamp -lamp -1 a.b a_b %00 lamp%00 lamp%0A %1B%5B2J %7F lamp%20 %C3%A9 %FF a%23b a%3Fb %7Blamp%7D lamp%2525 \
        ..%5C.. *";
    for id in ids.split(' ').chain([&*long(49), &long(10_000)]) {
        cases.push(invalid("reserve: sale id", Ask::reserve(id, "mallory")));
    }
    let passes = ["0", "1", "-1", "x", "%00", "1%00", &long(62), &long(63), &long(64), &long(10_000)];
    for (forger, pass) in passes.into_iter().enumerate() {
        // Each from another user: so many from one would block that user.
        let ask = Ask::post(format!("/v1/sales/{SALE}/reservations/{pass}")).by(&format!("forger-{forger}"));
        cases.push(bad("reserve: token", ask, 403, "bad_token"));
    }
    for key in bad_keys() {
        let ask = Ask::reserve(SALE, "mallory").header("idempotency-key", key);
        cases.push(invalid("reserve: idempotency key", ask));
    }
    cases
}

fn reservations(id: &str) -> Vec<Bad> {
    let path = |id: &str| format!("/v1/reservations/{id}");
    let mut cases = with_bodies("cancel", &Ask::delete(path(id)).by("alice"));
    // What a reservation's id may be is tested in `sale` too.
    let (_, uuid) = id.rsplit_once('.').unwrap();
    for id in [uuid.to_owned(), format!("{id}%00"), format!("{SALE}.01.{uuid}"), long(10_000)] {
        cases.push(invalid("look: id", Ask::get(path(&id)).by("alice")));
        cases.push(invalid("cancel: id", Ask::delete(path(&id)).by("alice")));
    }
    let unknown = format!("{SALE}.1.{}", "0".repeat(32));
    cases.push(bad("look: unknown", Ask::get(path(&unknown)).by("alice"), 404, "unknown_reservation"));
    cases.push(bad("cancel: unknown", Ask::delete(path(&unknown)).by("alice"), 404, "unknown_reservation"));
    let cursors = "x 1 1. . ID x.ID 1.ID0 1.5.ID 9223372036854775808.ID 1.ID%00 %00";
    for cursor in cursors.split(' ').chain(["", &format!("1.{}", long(10_000))]) {
        let cursor = cursor.replace("ID", id);
        cases.push(invalid("orders: cursor", Ask::get(format!("/v1/orders?cursor={cursor}")).by("alice")));
    }
    cases
}

/// A body with one member replaced or removed.
pub(crate) fn with(body: &Value, member: &str, value: Option<Value>) -> Value {
    let mut body = body.clone();
    let members = body.as_object_mut().unwrap();
    match value {
        Some(value) => members.insert(member.to_owned(), value),
        None => members.remove(member),
    };
    body
}

pub(crate) fn wrong_types() -> [Value; 6] {
    [json!(null), json!(true), json!([]), json!({}), json!(1.5), json!(-1)]
}

fn create() -> Vec<Bad> {
    let good = new_sale("bad-new", &json!({}));
    let ask = || Ask::post("/v1/admin/sales").by_operator();
    // Like every request with a body.
    let mut cases = with_every_body("create", |body| ask().body(body));
    cases.push(invalid("create: no body", ask().header("content-type", JSON)));
    cases.push(bad("create: nothing at all", ask(), 415, "unsupported_media_type"));
    let mut push = |what: String, body: Value| cases.push(invalid(format!("create: {what}"), ask().json(&body)));
    for member in good.as_object().unwrap().keys() {
        push(format!("without {member}"), with(&good, member, None));
        for value in wrong_types() {
            push(format!("{member} is {value}"), with(&good, member, Some(value)));
        }
        if !good[member].is_string() {
            for value in [json!("1"), json!(0.5), json!(1e30), json!(u64::MAX)] {
                push(format!("{member} is {value}"), with(&good, member, Some(value)));
            }
        }
    }
    push("an unknown member".to_owned(), with(&good, "state", Some(json!("published"))));
    let mut free = good.clone();
    for (member, value) in [("settlement", json!("free")), ("price_minor", json!(0)), ("per_user_limit", json!(1))] {
        free[member] = value;
    }
    // Bounds are tested in `sale`; these show that each member is held to its own.
    for (member, value) in [
        ("sale_id", json!("Lamp")),
        ("title", json!("a\nb")),
        ("opens_at", json!("2026-01-01")),
        ("opens_at", json!("1969-12-31T23:59:59Z")),
        ("opens_at", json!("9999-12-31T00:00:00Z")),
        ("closes_at", good["opens_at"].clone()),
        ("total", json!(10_000_001)),
        ("per_user_limit", json!(21)),
        ("price_minor", json!(1_000_000_000_001u64)),
        ("currency", json!("eur")),
        ("payment_window_s", json!(86_401)),
        ("description", json!(long(2001))),
        ("pictures", json!(["https://elsewhere.example.com/kettle.webp"])),
        ("pictures", json!(["/v1/orders"])),
        ("list_price_minor", good["price_minor"].clone()),
        ("terms_url", json!("javascript:alert(1)")),
        ("expected_audience", json!(0)),
        ("early_access", json!([{ "group": "gold members", "lead_s": 60 }])),
        ("early_access", json!([{ "group": "members", "lead_s": 0 }])),
        ("early_access", json!([{ "group": "members", "lead_s": 60, "quota": { "units": 101, "for_s": 60 } }])),
        ("early_access", json!([{ "group": "members", "lead_s": 60, "phase": 1 }])),
    ] {
        push(format!("{member} is {:.40}", value.to_string()), with(&good, member, Some(value)));
    }
    for recurrence in
        [json!("daily"), json!({ "every": "day" }), json!({ "every": "day", "time_zone": "Nowhere/Land" })]
    {
        push(format!("recurrence is {recurrence}"), with(&good, "recurrence", Some(recurrence)));
    }
    let mut overlapping = with(&good, "recurrence", Some(json!({ "every": "day", "time_zone": "Etc/UTC" })));
    overlapping["opens_at"] = json!("2098-01-01T00:00:00Z");
    overlapping["closes_at"] = json!("2098-01-02T00:00:01Z");
    push("a round that still runs when the next one opens".to_owned(), overlapping);
    // What an allocation may be is tested in `sale`, and how it is read in `functions/admin`.
    let split = json!({ "kind": "split", "total_minor": 100_000, "min_minor": 1, "parts": "drawn" });
    for allocation in [
        json!(null),
        with(&split, "kind", None),
        with(&split, "parts", Some(json!("random"))),
        with(&split, "min_minor", Some(json!(100_001))),
    ] {
        push(format!("allocation is {allocation}"), with(&free, "allocation", Some(allocation)));
    }
    push("settlement is a gift".to_owned(), with(&free, "settlement", Some(json!("gift"))));
    push("a price of what is free".to_owned(), with(&free, "price_minor", Some(json!(990))));
    let names = ["sale_id", "title", "opens_at", "closes_at", "total", "per_user_limit", "price_minor", "currency"];
    let fields: Vec<&Value> =
        names.iter().map(|name| &good[name]).chain([&good["payment_window_s"], &Value::Null]).collect();
    push("the members as a list".to_owned(), json!(fields));
    let twice = good.to_string().replacen('{', r#"{"sale_id":"bad-new","#, 1);
    cases.push(invalid("create: a member twice", ask().header("content-type", JSON).body(twice)));
    cases
}

fn draw() -> Vec<Bad> {
    let draw = |id: &str, round: &str| Ask::get(format!("/v1/sales/{id}/rounds/{round}/draw"));
    let mut cases = about_rounds("draw", draw);
    for (what, round) in [("a round without one", "1"), ("a round to come", "2")] {
        cases.push(bad(format!("draw: {what}"), draw(SALE, round), 404, "unknown_sale"));
    }
    cases
}

fn other_admin() -> Vec<Bad> {
    let publish = |id: &str| Ask::post(format!("/v1/admin/sales/{id}/publish")).by_operator();
    let look = |id: &str| Ask::get(format!("/v1/admin/sales/{id}")).by_operator();
    let audit = |id: &str, round: &str| Ask::get(format!("/v1/admin/sales/{id}/rounds/{round}/audit")).by_operator();
    let mut cases = with_bodies("publish", &publish(SALE));
    cases.extend(about_sales("publish", publish));
    cases.extend(about_sales("sale", look));
    cases.extend(about_rounds("audit", audit));
    cases.push(bad("audit: a round to come", audit(SALE, "2"), 404, "unknown_sale"));
    cases
}

/// What else may be wrong with what the provider signs is tested in `functions/payment`.
fn callbacks(reservation: &str, key: &str) -> Vec<Bad> {
    let mut cases = with_every_body("callback", |body| {
        let mut ask = Ask::callback(body, key);
        ask.headers.retain(|(name, _)| *name != "content-type");
        ask
    });
    let unknown = format!("{SALE}.1.{}", "0".repeat(32));
    let unknown = Ask::paid("pay_1", &unknown, 990, key);
    cases.push(bad("callback: unknown", unknown, 404, "unknown_reservation"));
    let other_key = Ask::paid("pay_1", reservation, 990, "another key");
    cases.push(bad("callback: another key", other_key, 401, "unauthorized"));
    cases
}

/// Bodies that an operator posts in vain.
fn posted(path: &str, bodies: impl IntoIterator<Item = Value>) -> impl Iterator<Item = Bad> {
    bodies.into_iter().map(move |body| invalid(format!("{path}: {body}"), Ask::post(path).by_operator().json(&body)))
}

/// Bounds are tested in `sale`; these show that each member is held to its own.
fn campaigns() -> Vec<Bad> {
    let good = json!({ "campaign_id": "bad-new", "title": "Autumn", "sale_ids": [SALE] });
    let bodies = [
        ("title", json!("a\nb")),
        ("sale_ids", json!([SALE, SALE])),
        ("sale_ids", json!(["Lamp"])),
        ("campaign_id", json!("Autumn")),
        ("version", json!(0)),
        ("version", json!(u32::MAX)),
        ("version", json!("1")),
        ("total", json!(1)),
        ("limit_per_user", json!(0)),
        ("limit_per_user", json!(101)),
        ("limit_per_user", json!(-1)),
        ("limit_per_user", json!(300)),
        ("limit_per_user", json!("2")),
        ("limit_per_user", json!(1.5)),
    ];
    posted("/v1/admin/campaigns", bodies.map(|(member, value)| with(&good, member, Some(value)))).collect()
}

/// What a network may be is tested in `sale`.
fn blocks() -> Vec<Bad> {
    let until = in_s(3600);
    let bodies = [
        json!({ "network": "10.0.0.0/8", "until": until }),
        json!({ "network": "everybody", "until": until }),
        json!({ "address": "192.0.2.0/24", "until": until }),
        json!({ "address": "192.0.2", "until": until }),
        json!({ "address": 7, "until": until }),
        json!({ "until": until }),
        json!({ "user": "alice", "address": "192.0.2.1", "until": until }),
        json!({ "user": "alice", "until": until, "note": "why" }),
        json!({ "address": "192.0.2.1", "until": until, "note": "" }),
        json!({ "address": "192.0.2.1", "until": until, "note": "n".repeat(121) }),
        json!({ "address": "192.0.2.1", "until": in_s(0) }),
        json!({ "address": "192.0.2.1" }),
    ];
    posted("/v1/admin/blocked", bodies).collect()
}

fn groups() -> Vec<Bad> {
    let users = "/v1/admin/groups/members/users";
    let many: Vec<String> = (0..1001).map(|user| format!("u{user}")).collect();
    let mut cases = vec![invalid("users: cursor", Ask::get(format!("{users}?cursor=a%20b")).by_operator())];
    for path in [users, &format!("{users}/remove")] {
        for users in [json!([]), json!(many), json!(["a b"]), json!([""]), json!([7]), json!("alice"), json!(null)] {
            cases.extend(posted(path, [json!({ "users": users })]));
        }
        cases.extend(posted(path, [json!({ "users": ["a"], "group": "b" })]));
        let large = Ask::post(path).by_operator().json(&json!({ "users": [long(520_000)] }));
        cases.push(bad("users: large", large, 413, "too_large"));
    }
    for group in ["a.b", &long(49)] {
        let path = format!("/v1/admin/groups/{group}/users");
        cases.extend(posted(&path, [json!({ "users": ["alice"] })]));
        cases.push(invalid("users: group", Ask::get(&path).by_operator()));
    }
    cases
}

/// A lottery's winners can be sent again once it is drawn.
fn resend() -> Vec<Bad> {
    let path = |id: &str, round: &str| format!("/v1/admin/sales/{id}/rounds/{round}/winners/resend");
    let resend = |id: &str, round: &str, body: Value| Ask::post(path(id, round)).by_operator().json(&body);
    let good = || json!({ "after": 0 });
    let mut cases = with_bodies("resend", &Ask::post(path(SALE, "1")).by_operator());
    cases.extend(about_rounds("resend", |id, round| resend(id, round, good())));
    cases.push(bad("resend: no draw", resend(SALE, "1", good()), 404, "unknown_sale"));
    for body in [json!({}), json!({ "after": -1 }), json!({ "after": 4_294_967_296_u64 })] {
        cases.push(invalid(format!("resend: {body}"), resend(SALE, "1", body)));
    }
    cases
}

/// What does not say what to stop or start does neither.
fn switches() -> Vec<Bad> {
    let mut cases = Vec::new();
    for path in ["/v1/admin/stop", "/v1/admin/start"] {
        let bodies = [json!({ "sale_id": null }), json!({ "sale": SALE }), json!({ "sale_id": "" }), json!([])];
        cases.extend(posted(path, bodies));
        let switch = Ask::post(path).by_operator();
        cases.push(bad(format!("{path}: nothing at all"), switch.clone(), 415, "unsupported_media_type"));
        let nowhere = switch.json(&json!({ "sale_id": "nowhere" }));
        cases.push(bad(format!("{path}: no such sale"), nowhere, 404, "unknown_sale"));
    }
    cases
}

pub(crate) fn all(reservation: &str, key: &str) -> Vec<Bad> {
    let operators = [create(), other_admin(), resend(), campaigns(), blocks(), groups(), switches()];
    let others = [reserve(), reservations(reservation), draw(), callbacks(reservation, key)];
    operators.into_iter().chain(others).flatten().collect()
}
