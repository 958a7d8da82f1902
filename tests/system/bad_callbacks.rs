//! Bad callbacks that the provider has signed.

use crate::bad_requests::{Bad, Target, bad, invalid, long, never_good, with, wrong_types};
use crate::prelude::*;

pub(crate) fn all(target: &Target) -> Vec<Bad> {
    let good = json!({
        "type": "payment.succeeded",
        "timestamp": "2026-11-24T10:20:00Z",
        "data": { "payment_id": "pay_1", "reservation_id": target.reservation, "price_minor": 990, "currency": "EUR" },
    });
    let signed = |body: Vec<u8>| Ask::callback(body, &target.key);
    let mut cases = Vec::new();
    for (what, content_type, body, status, code) in never_good() {
        let mut ask = signed(body);
        ask.headers.retain(|(name, _)| *name != "content-type");
        if let Some(content_type) = content_type {
            ask = ask.header("content-type", content_type);
        }
        cases.push(bad(format!("callback: {what}"), ask, status, code));
    }
    cases.push(invalid("callback: no body", signed(Vec::new())));
    let mut push = |what: String, body: Value| {
        cases.push(invalid(format!("callback: {what}"), signed(body.to_string().into_bytes())));
    };
    for member in ["type", "timestamp", "data"] {
        push(format!("without {member}"), with(&good, member, None));
        for value in wrong_types() {
            push(format!("{member} is {value}"), with(&good, member, Some(value)));
        }
    }
    let data = |member: &str, value: Option<Value>| with(&good, "data", Some(with(&good["data"], member, value)));
    for member in ["payment_id", "reservation_id", "price_minor", "currency"] {
        push(format!("data without {member}"), data(member, None));
        for value in wrong_types() {
            push(format!("data.{member} is {value}"), data(member, Some(value)));
        }
    }
    for id in ["", "two words", "a\u{0}", "ключ", &long(65), &long(10_000)] {
        push("data.payment_id".to_owned(), data("payment_id", Some(json!(id))));
    }
    for id in ["", "lamp", &format!("{}\u{0}", target.reservation), &long(10_000)] {
        push("data.reservation_id".to_owned(), data("reservation_id", Some(json!(id))));
    }
    let unknown = format!("{}.1.{}", target.sale, "0".repeat(32));
    let unknown = data("reservation_id", Some(json!(unknown))).to_string();
    cases.push(bad("callback: unknown", signed(unknown.into_bytes()), 404, "unknown_reservation"));
    let other_key = Ask::callback(good.to_string(), "another key");
    cases.push(bad("callback: another key", other_key, 401, "unauthorized"));
    let mut unsigned = signed(good.to_string().into_bytes());
    unsigned.headers.retain(|(name, _)| *name != "webhook-signature");
    cases.push(bad("callback: not signed", unsigned, 401, "unauthorized"));
    cases
}
