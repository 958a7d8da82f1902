//! Requests of every sort: good, bad and absurd ones.

use std::time::{SystemTime, UNIX_EPOCH};

use local::identity::{AUDIENCE, Issuer};
use serde_json::{Value, json};

#[derive(Debug, Clone)]
pub(crate) struct Sent {
    pub(crate) what: String,
    pub(crate) method: &'static str,
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl std::fmt::Display for Sent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {} {}", self.what, self.method, self.path)
    }
}

impl Sent {
    fn new(what: impl Into<String>, method: &'static str, path: impl Into<String>) -> Self {
        Self { what: what.into(), method, path: path.into(), headers: Vec::new(), body: Vec::new() }
    }

    fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    fn token(self, token: &str) -> Self {
        self.header("authorization", format!("Bearer {token}"))
    }

    fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }
}

/// Name of requests with a token whose subject is not a string.
pub(crate) const SUBJECT: &str = "a token whose subject is";

/// Routes for all requests: key, whether a token is required, and scopes.
pub(crate) const ROUTES: [(&str, bool, &[&str]); 8] = [
    ("GET /open", false, &[]),
    ("POST /open", false, &[]),
    ("GET /v1/orders", true, &[]),
    ("POST /v1/sales/{sale_id}/reservations/{token}", true, &[]),
    ("GET /v1/sales/{sale_id}", false, &[]),
    ("GET /v1/sales/all", false, &[]),
    ("GET /files/{proxy+}", false, &[]),
    ("GET /scoped", true, &["orders.read", "orders.all"]),
];

pub(crate) fn all(issuer: &Issuer) -> Vec<Sent> {
    [paths(), queries(), headers(), bodies(), tokens(issuer), answers()].concat()
}

fn paths() -> Vec<Sent> {
    let paths = "/open /open/ /open/more /Open //open ///open / /nowhere /v1 /v1/sales /v1/sales/ /v1/sales/lamp \
        /v1/sales/lamp/ /v1/sales/all /v1/sales/ALL /v1/sales/a.b~c-d_e /v1/sales/%C3%BC /v1/sales/ü /v1/sales/a%20b \
        /v1/sales/a+b /v1/sales/a%2Fb /v1/sales/a%252Fb /v1/sales/%25 /v1/sales/%00 /v1/sales/%E5%BA%97 /v1/sales/: \
        /v1/sales/a;b=c /v1/sales/@ /v1/sales/.. /v1/sales/. /v1/sales/a,b /v1/sales/' /v1/sales/{sale_id} \
        /v1/sales/(x) /files/a /files/a/b/c /files/ /files /files/a%20b/c%2Fd /files//a /files/a//b";
    let paths = paths.split(' ').chain([""]);
    let methods = ["GET", "POST", "DELETE", "PUT", "PATCH", "HEAD", "OPTIONS"];
    let each = paths.map(|path| Sent::new("a path", "GET", path));
    each.chain(methods.into_iter().flat_map(|method| {
        ["/open", "/v1/sales/lamp", "/nowhere"].into_iter().map(move |path| Sent::new("a method", method, path))
    }))
    .collect()
}

fn queries() -> Vec<Sent> {
    let queries = "a=1 a=1&b=2 a=1&a=2 b=2&a=1&a=3 a= a=%20 a=%26 a=b=c %61=1 a=%C3%BC a=1,2 a=1&a=2,3 a=%2B a=/? \
        cursor=eyJwayI6IkEifQ%3D%3D a[]=1&a[]=2 a.b=c a=%E5%BA%97 A=1&a=2";
    queries.split(' ').map(|query| Sent::new("a query", "GET", format!("/open?{query}"))).collect()
}

fn headers() -> Vec<Sent> {
    let with = |name: &str, value: &str| Sent::new("headers", "GET", "/open").header(name, value);
    let some = [
        ("x-one", "1"),
        ("X-Mixed-Case", "Kept"),
        ("cookie", "a=1; b=2"),
        ("x-empty", ""),
        ("x-quote", "\"a\", 'b'; c=\\d"),
        ("accept", "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"),
        ("idempotency-key", "0123456789abcdef"),
        ("user-agent", "a browser (of a sort) 1.0"),
        ("origin", "https://shop.example"),
        ("forwarded", "for=198.51.100.9"),
        ("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
        ("range", "bytes=0-1"),
        ("if-none-match", "\"abc\""),
    ];
    let mut all: Vec<Sent> = some.map(|(name, value)| with(name, value)).into();
    all.push(with("x-long", &"v".repeat(4_000)));
    for n in 0..20 {
        all.push(with(&format!("x-number-{n}"), &n.to_string()).header("x-common", "c".repeat(n)));
    }
    all
}

fn bodies() -> Vec<Sent> {
    let types = "application/json,application/json; charset=utf-8,APPLICATION/JSON,text/plain,text/csv,application/xml,\
        application/javascript,application/problem+json,application/octet-stream,application/x-www-form-urlencoded,\
        multipart/form-data; boundary=x,image/png,";
    let bodies: [&[u8]; 7] =
        [b"", b"{}", b"{\"a\":\"\\u00fc\"}", "{\"a\":\"ü店\"}".as_bytes(), b"a=1&b=2", b"\xff\xfe\x00binary", b" "];
    let mut all = Vec::new();
    for kind in types.split(',') {
        for body in bodies {
            let sent = Sent::new("a body", "POST", "/open").body(body);
            all.push(if kind.is_empty() { sent } else { sent.header("content-type", kind) });
        }
    }
    all.push(Sent::new("a long body", "POST", "/open").header("content-type", "text/plain").body("b".repeat(1 << 20)));
    all
}

fn tokens(issuer: &Issuer) -> Vec<Sent> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let good = json!({ "iss": issuer.url(), "aud": AUDIENCE, "sub": "alice", "iat": now - 5, "exp": now + 3_600 });
    let changed = |changes: &Value| {
        let mut claims = good.clone();
        for (name, value) in changes.as_object().unwrap() {
            claims[name] = value.clone();
            if value.is_null() {
                claims.as_object_mut().unwrap().remove(name);
            }
        }
        issuer.sign(&claims).unwrap()
    };
    let changes = json!([
        {}, { "sub": "user-ü" }, { "groups": ["operators"] }, { "groups": ["operators", "staff"] }, { "groups": [] },
        { "admin": true, "level": 3, "share": 0.5, "nothing": "" },
        { "aud": [AUDIENCE] }, { "aud": ["elsewhere", "another"] }, { "aud": "elsewhere" }, { "aud": [] }, { "aud": null },
        { "aud": null, "client_id": AUDIENCE }, { "aud": null, "client_id": "elsewhere" },
        { "aud": "elsewhere", "client_id": AUDIENCE },
        { "iss": "https://elsewhere.example" }, { "iss": null },
        { "exp": now - 1 }, { "exp": now + 1_000_000 }, { "exp": null },
        { "nbf": now + 600 }, { "nbf": now - 600 }, { "iat": now + 600 }, { "iat": null },
        { "scope": "orders.read" }, { "scope": "orders.write orders.all" }, { "scp": ["orders.read", "x"] },
        { "scope": "orders" },
    ]);
    let mut all = Vec::new();
    for change in changes.as_array().unwrap() {
        for path in ["/v1/orders", "/scoped"] {
            all.push(Sent::new(format!("a token with {change}"), "GET", path).token(&changed(change)));
        }
    }
    for subject in [json!(null), json!(42), json!(true), json!(["alice"]), json!({ "name": "alice" })] {
        let mut claims = good.clone();
        claims["sub"] = subject.clone();
        all.push(Sent::new(format!("{SUBJECT} {subject}"), "GET", "/v1/orders").token(&issuer.sign(&claims).unwrap()));
    }
    let token = changed(&json!({}));
    let parts: Vec<&str> = token.split('.').collect();
    let of = |header: Value, signature: &str| {
        use base64::Engine;
        let header = base64::prelude::BASE64_URL_SAFE_NO_PAD.encode(header.to_string());
        format!("{header}.{}.{signature}", parts[1])
    };
    let bad = [
        String::new(),
        "nonsense".to_owned(),
        "a.b.c".to_owned(),
        "..".to_owned(),
        format!("{}.{}", parts[0], parts[1]),
        format!("{}.{}.", parts[0], parts[1]),
        format!("{}.{}.{}", parts[0], parts[1], &parts[2][1..]),
        format!("{token}.more"),
        of(json!({ "alg": "none", "kid": "local" }), ""),
        of(json!({ "alg": "RS256" }), parts[2]),
        of(json!({ "alg": "RS256", "kid": "unknown" }), parts[2]),
        of(json!({ "alg": "HS256", "kid": "local" }), parts[2]),
    ];
    for token in bad {
        all.push(Sent::new(format!("the token {token:.20}"), "GET", "/v1/orders").token(&token));
    }
    let with = |header: String| Sent::new("a token's header", "GET", "/v1/orders").header("authorization", header);
    all.push(Sent::new("no token", "GET", "/v1/orders"));
    all.push(Sent::new("no token, no route", "GET", "/v1/order"));
    all.push(with(token.clone()));
    all.push(with(format!("bearer {token}")));
    all.push(with("Basic YWxpY2U6c2VjcmV0".to_owned()));
    all.push(with("Bearer".to_owned()));
    for path in ["/v1/sales/lamp/reservations/a-pass_1", "/v1/sales/a%20b/reservations/%C3%BC"] {
        all.push(Sent::new("a reservation", "POST", path).token(&token).header("idempotency-key", "k"));
    }
    all
}

fn answers() -> Vec<Sent> {
    let plain = json!([
        { "statusCode": 204 }, { "statusCode": 200, "body": "text" }, { "hello": "there" }, "just text",
        { "statusCode": 200, "headers": { "content-type": "text/plain; charset=utf-8" }, "body": "ü店" },
        { "statusCode": 200, "headers": { "X-Custom": "a, b", "Cache-Control": "max-age=1" }, "body": "" },
        { "statusCode": 200, "cookies": ["a=1; Path=/", "b=2"], "body": "{}" },
        { "statusCode": 200, "body": "aGVsbG8=", "isBase64Encoded": true },
        { "statusCode": 200, "headers": { "content-type": "image/png" }, "body": "iVBORw0KGgo=", "isBase64Encoded": true },
        { "statusCode": 200, "body": "aGVsbG8=", "isBase64Encoded": false },
        { "statusCode": 302, "headers": { "location": "https://shop.example/" } },
        { "statusCode": 200, "headers": {}, "multiValueHeaders": {}, "body": "{}", "isBase64Encoded": false },
    ]);
    let mut answers = plain.as_array().unwrap().clone();
    for status in [201, 202, 400, 401, 403, 404, 409, 410, 413, 415, 422, 429, 500, 502, 503] {
        answers.push(json!({
            "statusCode": status, "headers": { "content-type": "application/problem+json", "retry-after": "2" },
            "body": json!({ "status": status, "code": "c" }).to_string(),
        }));
    }
    let answer = |answer: Value| {
        Sent::new(format!("the answer {answer}"), "GET", "/open")
            .header("x-do", "answer")
            // A header may have other characters, but our client sends only ASCII.
            .header("x-answer", escaped(&answer.to_string()))
    };
    let mut all: Vec<Sent> = answers.into_iter().map(answer).collect();
    all.push(Sent::new("an error", "GET", "/open").header("x-do", "fail"));
    all.push(answer(json!({ "statusCode": "ok" })));
    all
}

/// JSON with only ASCII characters.
fn escaped(json: &str) -> String {
    let mut escaped = String::new();
    for letter in json.chars() {
        if letter.is_ascii() {
            escaped.push(letter);
        } else {
            let mut units = [0; 2];
            escaped.extend(letter.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
        }
    }
    escaped
}
