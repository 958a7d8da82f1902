//! Translates requests and answers of the HTTP API.

use std::num::NonZeroU32;

use serde::Deserialize;
use serde_json::Value;

use crate::record::{Answer, Name, Question, Refusal, Status};
use crate::recorder::{Asking, Recorder};

#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    pub method: &'a str,
    /// The path, with or without a query.
    pub path: &'a str,
    pub key: Option<&'a str>,
    pub body: &'a [u8],
}

/// The round of a reservation's id, which is `SALE.ROUND.UUID`.
fn round_of(reservation: &str) -> Option<&str> {
    Some(reservation.rsplit_once('.')?.0)
}

impl Recorder {
    /// `user` sends a request now. `round` is the number of the round, since a request for a unit does not name it.
    /// None for requests that are not recorded.
    pub fn send(&self, request: Request<'_>, user: &str, round: u32) -> Option<Asking> {
        let path = request.path.split_once('?').map_or(request.path, |(path, _)| path);
        let segments: Vec<&str> = path.split('/').skip(1).collect();
        let of = |reservation, question| Some(self.ask(round_of(reservation)?, user, question));
        match (request.method, segments.as_slice()) {
            ("POST", ["v1", "sales", sale, "reservations", _]) => {
                let key = request.key.map(Name::of);
                Some(self.ask(&format!("{sale}.{round}"), user, Question::Reserve { key }))
            }
            ("GET", ["v1", "reservations", id]) => of(id, Question::Look { reservation: Name::of(id) }),
            ("DELETE", ["v1", "reservations", id]) => of(id, Question::Cancel { reservation: Name::of(id) }),
            ("POST", ["v1", "payments", "webhook"]) => {
                let paid = &serde_json::from_slice::<Value>(request.body).ok()?["data"];
                let (id, price_minor) = (paid["reservation_id"].as_str()?, paid["price_minor"].as_u64()?);
                let (payment, currency) = (paid["payment_id"].as_str()?, paid["currency"].as_str()?);
                let payment = Name::of(&format!("{payment} {price_minor} {currency}"));
                of(id, Question::Pay { reservation: Name::of(id), payment })
            }
            _ => None,
        }
    }
}

impl Asking {
    pub fn hears_http(self, status: u16, body: &[u8]) {
        self.hears(answer(status, &serde_json::from_slice(body).unwrap_or_default()));
    }
}

fn answer(status: u16, body: &Value) -> Answer {
    let named = |field: &str| body[field].as_str().and_then(|text| text.parse::<Status>().ok());
    let unit = NonZeroU32::deserialize(&body["unit"]).ok();
    match (status, body["code"].as_str()) {
        (202, _) => match body["reservation_id"].as_str() {
            Some(reservation) => Answer::Accepted { reservation: Name::of(reservation), unit },
            None => Answer::Unknown,
        },
        (200, _) => match (body["outcome"].as_str(), named("status")) {
            (Some(outcome), _) => outcome.parse().map_or(Answer::Unknown, Answer::Payment),
            (None, Some(status)) => Answer::Is { status, unit },
            (None, None) => Answer::Unknown,
        },
        (409, Some("not_cancellable")) => match named("reservation_status") {
            Some(status) => Answer::Is { status, unit: None },
            None => Answer::Refused(Refusal::Other),
        },
        (400..500, code) => Answer::Refused(code.and_then(|code| code.parse().ok()).unwrap_or(Refusal::Other)),
        _ => Answer::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Operation;

    /// The recorded question and answer as text, if they are recorded.
    fn recorded(method: &str, path: &str, body: &str, status: u16, answer: &str) -> Option<String> {
        let recorder = Recorder::default();
        let request = Request { method, path, key: Some("k"), body: body.as_bytes() };
        recorder.send(request, "alice", 3)?.hears_http(status, answer.as_bytes());
        let Operation { round, question, call_ns, return_ns, answer, .. } = recorder.take().operations[0];
        assert!(call_ns <= return_ns.expect("an answer"));
        Some(format!("{round} {question:?} {answer:?}"))
    }

    #[test]
    fn requests_and_answers_are_read() {
        let reserve = "POST /v1/sales/lamp/reservations/a-pass";
        let id = "lamp.3.0198f0b2a4c57d1e8f00aabbccddeeff";
        let poll = format!("/v1/reservations/{id}");
        let of_problem = |status, code: &str| format!(r#"{{"code":"{code}","status":{status}}}"#);
        let (reserves, looks) = (r#"Reserve { key: Some(Name("k")) }"#, r#"Look { reservation: Name("ID") }"#);
        let reads = |asked: &str, body: &str, status, answer: &str, question: &str, expected: &str| {
            let (method, path) = asked.split_once(' ').unwrap();
            let read = recorded(method, path, body, status, answer).expect("recorded");
            assert_eq!(read.replace(id, "ID"), format!("lamp.3 {question} {expected}"));
        };
        for (status, code, expected) in [
            (409, "sold_out", "Refused(SoldOut)"),
            (409, "limit_reached", "Refused(LimitReached)"),
            (425, "not_open", "Refused(NotOpen)"),
            (429, "rate_limited", "Refused(Other)"),
            (503, "overloaded", "Unknown"),
        ] {
            reads(reserve, "", status, &of_problem(status, code), reserves, expected);
        }
        let accepted = format!(r#"{{"reservation_id":"{id}","status":"queued"}}"#);
        reads(reserve, "", 202, &accepted, reserves, r#"Accepted { reservation: Name("ID"), unit: None }"#);
        let shown = r#"{"status":"pending_payment","unit":17}"#;
        let is_pending = "Is { status: PendingPayment, unit: Some(17) }";
        reads(&format!("GET {poll}?expedite=true"), "", 200, shown, looks, is_pending);
        let unknown = of_problem(404, "unknown_reservation");
        reads(&format!("GET {poll}"), "", 404, &unknown, looks, "Refused(UnknownReservation)");
        let paid = r#"{"code":"not_cancellable","status":409,"reservation_status":"paid"}"#;
        let cancels = r#"Cancel { reservation: Name("ID") }"#;
        reads(&format!("DELETE {poll}"), "", 409, paid, cancels, "Is { status: Paid, unit: None }");
        let callback = format!(
            r#"{{"data":{{"payment_id":"p","reservation_id":"{id}","price_minor":990,"currency":"EUR"}},"type":"t"}}"#
        );
        let pays = r#"Pay { reservation: Name("ID"), payment: Name("p 990 EUR") }"#;
        reads("POST /v1/payments/webhook", &callback, 200, r#"{"outcome":"applied"}"#, pays, "Payment(Applied)");
    }

    #[test]
    fn what_is_no_json_leaves_open_what_happened() {
        let heard = recorded("POST", "/v1/sales/lamp/reservations/p", "", 502, "<html>").expect("recorded");
        assert!(heard.ends_with("Unknown"), "{heard}");
        assert!(recorded("GET", "/v1/sales/lamp", "", 200, "{}").is_none());
        assert!(recorded("GET", "/v1/orders", "", 200, "{}").is_none());
    }

    #[test]
    fn whoever_gives_up_may_have_been_heard() {
        let recorder = Recorder::default();
        let request = Request { method: "POST", path: "/v1/sales/lamp/reservations/p", key: None, body: b"" };
        drop(recorder.send(request, "alice", 1));
        let [operation] = recorder.take().operations[..] else { panic!("one operation") };
        assert_eq!((operation.return_ns, operation.answer), (None, Answer::Unknown));
    }
}
