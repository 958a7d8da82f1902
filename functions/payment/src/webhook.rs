use std::collections::BTreeMap;

use api::{Code, Problem, signed_json_body, text_body};
use lambda_http::Request;
use sale::{MAX_PAYMENT_ID_LENGTH, Price, ReservationId};
use serde::Deserialize;
use serde::de::IgnoredAny;
use standardwebhooks::{HEADER_WEBHOOK_TIMESTAMP, Webhook};

/// The largest number of digits in a plausible timestamp: until the year 5138.
const MAX_TIMESTAMP_DIGITS: usize = 11;

#[derive(Debug)]
pub(crate) struct Paid {
    pub(crate) payment_id: String,
    pub(crate) reservation_id: ReservationId,
    pub(crate) price: Price,
}

#[derive(Debug)]
pub(crate) enum Event {
    Paid(Paid),
    /// An event of this type, which the system does not handle. Providers add types as they please.
    Other(String),
}

/// The fields of every callback. The form of `data` depends on the type.
#[derive(Deserialize)]
struct Envelope {
    #[serde(rename = "type")]
    kind: String,
}

/// Unknown fields are ignored, since providers add some as they please.
#[derive(Deserialize)]
struct Callback {
    #[serde(rename = "timestamp")]
    _timestamp: String,
    data: Data,
    #[serde(rename = "type")]
    _kind: String,
    #[serde(flatten)]
    unknown: Unknown,
}

#[derive(Deserialize)]
struct Data {
    payment_id: String,
    reservation_id: ReservationId,
    price_minor: u64,
    currency: sale::Currency,
    #[serde(flatten)]
    unknown: Unknown,
}

type Unknown = BTreeMap<String, IgnoredAny>;

/// How many keys the secret may have, one on each line: during a rotation, the new one and the old one.
const MAX_KEYS: usize = 2;

/// Parses a callback, if it is signed with a key of the secret, not more than five minutes ago. Fails with 401 without
/// a right signature, whatever is wrong with it; 400 if the signed body is no event of a documented form.
pub(crate) fn read(request: &Request, secret: &str) -> Result<Event, Problem> {
    let unauthorized = || Problem::new(Code::Unauthorized);
    let body = text_body(request)?;
    // The crate subtracts the timestamp from the clock unchecked, so only plausible times may reach it.
    let timestamp = request.headers().get(HEADER_WEBHOOK_TIMESTAMP).map_or(&[][..], |value| value.as_bytes());
    if timestamp.len() > MAX_TIMESTAMP_DIGITS || !timestamp.iter().all(u8::is_ascii_digit) {
        return Err(unauthorized());
    }
    // Whichever key fits: the crate compares in constant time.
    let keys = secret.lines().map(str::trim).filter(|key| !key.is_empty()).take(MAX_KEYS);
    let verify = |key: &str| Webhook::from_bytes(key.as_bytes().to_vec())?.verify(body.as_bytes(), request.headers());
    let verified: Vec<_> = keys.map(verify).collect();
    if !verified.iter().any(Result::is_ok) {
        let error = verified.into_iter().find_map(Result::err).map(|error| error.to_string());
        tracing::warn!(error, "a callback was refused");
        return Err(unauthorized());
    }
    let Envelope { kind } = signed_json_body(request)?;
    if kind != "payment.succeeded" {
        return Ok(Event::Other(kind));
    }
    let Callback { data, unknown, .. } = signed_json_body(request)?;
    let id = &data.payment_id;
    if !(1..=MAX_PAYMENT_ID_LENGTH).contains(&id.len()) || !id.bytes().all(|b| b.is_ascii_graphic()) {
        let why = format!("data.payment_id: 1 to {MAX_PAYMENT_ID_LENGTH} printable ASCII characters without spaces");
        return Err(Problem::invalid(why));
    }
    if !unknown.is_empty() || !data.unknown.is_empty() {
        metrics::counter!("CallbacksWithUnknownFields").increment(1);
        let fields: Vec<&String> = unknown.keys().chain(data.unknown.keys()).collect();
        tracing::info!(?fields, "unknown fields");
    }
    let price = Price { price_minor: data.price_minor, currency: data.currency };
    Ok(Event::Paid(Paid { payment_id: data.payment_id, reservation_id: data.reservation_id, price }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lambda_http::Body;
    use lambda_http::http::Request as HttpRequest;
    use std::time::{SystemTime, UNIX_EPOCH};

    const SECRET: &str = "a-test-key-of-some-length";
    const BODY: &str = include_str!("../../../events/messages/payment.json");

    fn now() -> i64 {
        SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() as i64
    }

    fn signed(body: &str, key: &str, timestamp: i64) -> Request {
        let webhook = Webhook::from_bytes(key.as_bytes().to_vec()).unwrap();
        let signature = webhook.sign("msg_1", timestamp, body.as_bytes()).unwrap();
        let head = HttpRequest::builder().header("content-type", "application/json").header("webhook-id", "msg_1");
        let head = head.header("webhook-timestamp", timestamp).header("webhook-signature", signature);
        head.body(Body::Text(body.to_owned())).unwrap()
    }

    #[test]
    fn a_signed_callback_is_read() {
        let Event::Paid(paid) = read(&signed(BODY, SECRET, now()), SECRET).unwrap() else { panic!("it is a payment") };
        assert_eq!(paid.payment_id, "pay_4711");
        assert_eq!(paid.price.price_minor, 990);
    }

    #[test]
    fn both_keys_count_while_the_provider_changes_over() {
        const BOTH: &str = "the new key of some length\na-test-key-of-some-length";
        assert!(read(&signed(BODY, "the new key of some length", now()), BOTH).is_ok());
        assert!(read(&signed(BODY, SECRET, now()), BOTH).is_ok(), "signed before the provider had the new key");
        assert!(read(&signed(BODY, BOTH, now()), BOTH).is_err());
        assert!(read(&signed(BODY, "a-third", now()), &format!("{BOTH}\na-third")).is_err());
    }

    #[test]
    fn any_wrong_signature_is_refused_alike() {
        let mut other_body = signed(BODY, SECRET, now());
        *other_body.body_mut() = Body::Text(BODY.replace("990", "991"));
        let mut other_id = signed(BODY, SECRET, now());
        other_id.headers_mut().insert("webhook-id", "msg_2".parse().unwrap());
        let header = |name: &'static str, value: &str| {
            let mut request = signed(BODY, SECRET, now());
            request.headers_mut().insert(name, value.parse().unwrap());
            request
        };
        let mut without = signed(BODY, SECRET, now());
        without.headers_mut().remove("webhook-signature");
        let refused = [
            signed(BODY, "another key", now()),
            signed(BODY, SECRET, now() - 301),
            signed(BODY, SECRET, now() + 302),
            other_body,
            other_id,
            without,
            header("webhook-signature", ""),
            header("webhook-signature", "v1,"),
            header("webhook-signature", "v2,AAAA"),
            header("webhook-timestamp", ""),
            header("webhook-timestamp", "-9223372036854775808"),
            header("webhook-timestamp", "9223372036854775807"),
            header("webhook-timestamp", "now"),
        ];
        for request in refused {
            assert_eq!(read(&request, SECRET).unwrap_err().code(), Code::Unauthorized, "{:?}", request.headers());
        }
    }

    #[test]
    fn what_is_not_known_is_passed_over() {
        let other = |body: &str| match read(&signed(body, SECRET, now()), SECRET) {
            Ok(Event::Other(kind)) => kind,
            other => panic!("{other:?}"),
        };
        assert_eq!(other(&BODY.replace("payment.succeeded", "payment.failed")), "payment.failed");
        assert_eq!(other(r#"{"type": "payout.created", "data": [[1], null]}"#), "payout.created");
        assert_eq!(other(r#"{"type": "ping"}"#), "ping");
        for more in [
            BODY.replace("\"data\"", "\"more\": {\"a\": [1]}, \"data\""),
            BODY.replace("\"currency\"", "\"method\": \"card\", \"currency\""),
        ] {
            assert_ne!(more, BODY);
            let Ok(Event::Paid(paid)) = read(&signed(&more, SECRET, now()), SECRET) else { panic!("{more}") };
            assert_eq!(paid.price.price_minor, 990);
        }
    }

    #[test]
    fn a_signed_body_still_has_to_be_right() {
        for (bad, code) in [
            ("", Code::InvalidRequest),
            ("[]", Code::InvalidRequest),
            (&*BODY.replace("990", "-990"), Code::InvalidRequest),
            (&*BODY.replace("990", "9.5"), Code::InvalidRequest),
            (&*BODY.replace("EUR", "euro"), Code::InvalidRequest),
            (&*BODY.replace("pay_4711", ""), Code::InvalidRequest),
            (&*BODY.replace("pay_4711", "pay\\u0000"), Code::InvalidRequest),
            (&*BODY.replace("pay_4711", "two words"), Code::InvalidRequest),
            (&*BODY.replace("pay_4711", "ключ"), Code::InvalidRequest),
            (&*BODY.replace("pay_4711", &"p".repeat(65)), Code::InvalidRequest),
            (&*BODY.replace("lamp.1.", ""), Code::InvalidRequest),
            (r#"{"data": {}}"#, Code::InvalidRequest),
            (r#"{"type": "payment.succeeded", "timestamp": "", "data": null}"#, Code::InvalidRequest),
            (r#"{"type": 1}"#, Code::InvalidRequest),
            (&*format!("{BODY}{}", " ".repeat(20_000)), Code::TooLarge),
        ] {
            assert_eq!(read(&signed(bad, SECRET, now()), SECRET).unwrap_err().code(), code, "{bad:.80}");
        }
        for (field, value) in [
            ("type", "\"payment.succeeded\""),
            ("timestamp", "\"2026-11-24T10:20:00Z\""),
            ("payment_id", "\"pay_4711\""),
            ("reservation_id", "\"lamp.1.0198f0b2a4c57d1e8f00aabbccddeeff\""),
            ("price_minor", "990"),
            ("currency", "\"EUR\""),
        ] {
            for other in [format!("\"more\": {value}"), format!("\"{field}\": null"), format!("\"{field}\": -1")] {
                let bad = BODY.replace(&format!("\"{field}\": {value}"), &other);
                assert_ne!(bad, BODY);
                let refused = read(&signed(&bad, SECRET, now()), SECRET).unwrap_err();
                assert_eq!(refused.code(), Code::InvalidRequest, "{bad}");
            }
        }
    }
}
