//! Operations in words.

use crate::record::{Answer, Name, Names, Operation, PaymentOutcome, Question, Refusal};

/// Names operations and moments.
pub(super) struct InWords<'a>(pub(super) &'a Names);

impl InWords<'_> {
    pub(super) fn text(&self, name: Name) -> &str {
        self.0.text(name)
    }

    pub(super) fn operation(&self, operation: &Operation<Name>) -> String {
        let user = match self.text(operation.user) {
            "" => "the payment provider",
            user => user,
        };
        let asked = match operation.question {
            Question::Reserve { key: None } => "asked for a unit".to_owned(),
            Question::Reserve { key: Some(key) } => format!("asked for a unit (key {})", self.text(key)),
            Question::Look { reservation } => format!("looked at {}", self.text(reservation)),
            Question::Cancel { reservation } => format!("cancelled {}", self.text(reservation)),
            Question::Pay { reservation, payment } => {
                format!("told of {} for {}", self.text(payment), self.text(reservation))
            }
        };
        let called = moment(operation.call_ns);
        match operation.return_ns {
            None => format!("{user} {asked} at {called} and heard nothing"),
            Some(at) => {
                format!("{user} {asked} at {called} and heard {} at {}", self.answer(operation.answer), moment(at))
            }
        }
    }

    pub(super) fn answer(&self, answer: Answer<Name>) -> String {
        match answer {
            Answer::Accepted { reservation, .. } => format!("accepted as {}", self.text(reservation)),
            Answer::Is { status, unit: None } => status.as_str().to_owned(),
            Answer::Is { status, unit: Some(unit) } => format!("{}, unit {unit},", status.as_str()),
            Answer::Payment(PaymentOutcome::Applied) => "applied".to_owned(),
            Answer::Payment(PaymentOutcome::RefundDue) => "refund_due".to_owned(),
            Answer::Payment(PaymentOutcome::Contradicts) => "that it contradicts an earlier one".to_owned(),
            Answer::Refused(Refusal::SoldOut) => "sold_out".to_owned(),
            Answer::Refused(Refusal::LimitReached) => "limit_reached".to_owned(),
            Answer::Refused(Refusal::NotOpen) => "not_open".to_owned(),
            Answer::Refused(Refusal::UnknownReservation) => "unknown_reservation".to_owned(),
            Answer::Refused(Refusal::Other) => "a refusal".to_owned(),
            Answer::Unknown => "an error".to_owned(),
        }
    }
}

pub(super) fn moment(ns: u64) -> String {
    if ns == u64::MAX { "the end".to_owned() } else { format!("{:.6} s", ns as f64 / 1e9) }
}
