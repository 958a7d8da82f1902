//! Random requests: no handler panics, fails, or gives an undocumented answer.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::prelude::*;

/// Requests in one run, unless the environment variable `FUZZ_S` sets how many seconds it lasts.
const REQUESTS: usize = 600;

/// Once everything is stopped, nobody can buy and all further requests get the same answer.
const LEFT_OUT: &str = "/v1/admin/stop";

/// Every route, with `*` for made-up path segments and query values.
fn routes() -> Vec<(&'static str, String)> {
    let route = |(method, path, operation): (String, &String, &Value)| {
        let method: &'static str = method.leak();
        let segments = path.split('/').map(|segment| if segment.starts_with('{') { "*" } else { segment });
        let parameters = operation["parameters"].as_array().into_iter().flatten();
        let queried = parameters.map(|parameter| OPENAPI.resolve(parameter)).filter(|it| it["in"] == "query");
        let query: Vec<_> = queried.map(|it| format!("{}=*", it["name"].as_str().expect("a name"))).collect();
        let question = if query.is_empty() { "" } else { "?" };
        (method, format!("{}{question}{}", segments.collect::<Vec<_>>().join("/"), query.join("&")))
    };
    OPENAPI.operations().filter(|(_, path, _)| *path != LEFT_OUT).map(route).collect()
}

/// Good bodies, some of whose bytes are then changed.
const BODIES: [&str; 8] = [
    "",
    "{}",
    r#"{"kind":"work"}"#,
    r#"{"challenge_id":"0198f0b2a4c57d1e8f00aabbccddeeff","answer":"17"}"#,
    r#"{"units":5}"#,
    r#"{"requests_per_s":null}"#,
    r#"{"user":"mallory","until":"2027-01-01T00:00:00Z","reason":"bots"}"#,
    r#"[[[[{"a":1e999}]]]]"#,
];

/// A path segment, as a client writes it.
fn segment() -> impl Strategy<Value = String> {
    let id = "[a-z0-9-]{1,40}";
    // An encoded slash would start another segment where the path is decoded.
    let byte = any::<u8>().prop_filter("no slash", |byte| *byte != b'/');
    let escaped = vec(byte, 1..40).prop_map(|bytes| bytes.iter().map(|byte| format!("%{byte:02X}")).collect());
    prop_oneof![
        3 => Just(SALE.to_owned()),
        2 => id,
        2 => "[a-zA-Z0-9._~|:@!$&'()*+,;=-]{1,90}",
        1 => "lamp\\.[0-9]{1,12}\\.[0-9a-f]{30,34}",
        1 => escaped,
    ]
}

/// A good body with bytes changed, cut off or inserted; or random bytes.
fn body() -> impl Strategy<Value = Vec<u8>> {
    let changed = |mut body: Vec<u8>, changes: Vec<(usize, u8, bool)>| {
        for (at, byte, insert) in changes {
            let at = at % (body.len() + 1);
            let end = if insert { at } else { body.len().min(at + 1) };
            drop(body.splice(at..end, [byte]));
        }
        body
    };
    let sample = |name: &'static str| events::sample(name)["body"].as_str().unwrap_or("{}").to_owned();
    let good = prop_oneof![
        select(&BODIES[..]).prop_map(str::to_owned),
        Just(sample("admin/create")),
        Just(events::sample("messages/payment").to_string()),
    ];
    let changes = vec((any::<usize>(), any::<u8>(), any::<bool>()), 0..4);
    prop_oneof![
        4 => (good, changes).prop_map(move |(good, changes)| changed(good.into_bytes(), changes)),
        1 => vec(any::<u8>(), 0..3000),
    ]
}

fn ask() -> impl Strategy<Value = Ask> {
    let header = "[ -~]{0,80}";
    let headers = (
        prop::option::of(header),
        select(&["application/json", "text/plain", "application/octet-stream", "application/json; charset=x"][..]),
        prop::option::of((header, "[0-9]{0,20}", header)),
    );
    let who = prop_oneof![Just(Who::User("alice".into())), Just(Who::Operator("olga".into())), Just(Who::Nobody)];
    (select(routes()), vec(segment(), 3), headers, body(), who, 0..6u8).prop_map(
        |((method, route), segments, (key, content_type, webhook), body, who, pass)| {
            let mut segments = segments.into_iter();
            let path = route
                .split('*')
                .map(str::to_owned)
                .reduce(|path, rest| format!("{path}{}{rest}", segments.next().unwrap_or_default()));
            let is_good = pass == 0 && route.contains("/reservations/*") && method == "POST";
            let made_up = Ask { method, ..Ask::post(path.unwrap_or_default()) };
            let to = if is_good { Ask::reserve(SALE, "alice") } else { made_up };
            let mut ask = Ask { body, who, ..to }.header("content-type", content_type);
            if let Some(key) = key {
                ask = ask.header("idempotency-key", key);
            }
            if let Some((signature, timestamp, id)) = webhook {
                ask = ask.header("webhook-signature", format!("v1,{signature}"));
                ask = ask.header("webhook-timestamp", timestamp).header("webhook-id", id);
            }
            ask
        },
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_is_sent_is_answered_as_documented() {
    let lab = Lab::selling(terms(50, 3)).await;
    let duration = std::env::var("FUZZ_S").ok().map(|s| Duration::from_secs(s.parse().expect("FUZZ_S is a number")));
    let (began, mut runner, asks) = (Instant::now(), TestRunner::default(), ask());
    let mut answers: BTreeMap<u16, usize> = BTreeMap::new();
    for number in 0.. {
        if duration.map_or(number >= REQUESTS, |duration| began.elapsed() > duration) {
            break;
        }
        let mut ask = asks.new_tree(&mut runner).unwrap().current();
        // A new user each time: one that a lucky request blocked or used up would hide the rest.
        if let Who::User(user) = &mut ask.who {
            *user = format!("user-{number}");
        }
        if number % 4 == 0 && ask.path.ends_with("/webhook") {
            ask = Ask::callback(ask.body, &lab.payment_key);
        }
        let answer = lab.answer(&ask).await;
        assert!(answer.status < 500 || answer.body["code"] != json!("internal"), "{ask:?}: {answer:?}");
        *answers.entry(answer.status).or_default() += 1;
    }
    println!("{answers:?}");
    assert!(answers.len() > 5, "too few kinds of answers: {answers:?}");
    let audit = lab.audit().await;
    assert_eq!((audit.oversold, audit.lost, audit.duplicated), (0, 0, 0), "{audit:?}");
}
