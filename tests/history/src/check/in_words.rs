//! Operations in words.

use crate::record::{Answer, Name, Names, Operation, Question};

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
            Answer::Is { status, unit: None } => status.to_string(),
            Answer::Is { status, unit: Some(unit) } => format!("{status}, unit {unit},"),
            Answer::Payment(outcome) => outcome.to_string(),
            Answer::Refused(refusal) => refusal.to_string(),
            Answer::Unknown => "an error".to_owned(),
        }
    }
}

pub(super) fn moment(ns: u64) -> String {
    if ns == u64::MAX { "the end".to_owned() } else { format!("{:.6} s", ns as f64 / 1e9) }
}
