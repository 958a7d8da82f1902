//! Operations in words.

use std::fmt;

use crate::record::{Answer, Operation, Question};

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { user, question, call_ns, return_ns, answer, .. } = *self;
        f.write_str(if user.text().is_empty() { "the payment provider" } else { user.text() })?;
        match question {
            Question::Reserve { key: None } => write!(f, " asked for a unit"),
            Question::Reserve { key: Some(key) } => write!(f, " asked for a unit (key {key})"),
            Question::Look { reservation } => write!(f, " looked at {reservation}"),
            Question::Cancel { reservation } => write!(f, " cancelled {reservation}"),
            Question::Pay { reservation, payment } => write!(f, " told of {payment} for {reservation}"),
        }?;
        write!(f, " at {} and heard ", moment(call_ns))?;
        match return_ns {
            None => write!(f, "nothing"),
            Some(at) => write!(f, "{answer} at {}", moment(at)),
        }
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Accepted { reservation, .. } => write!(f, "accepted as {reservation}"),
            Self::Is { status, unit: None } => write!(f, "{status}"),
            Self::Is { status, unit: Some(unit) } => write!(f, "{status}, unit {unit},"),
            Self::Payment(outcome) => write!(f, "{outcome}"),
            Self::Refused(refusal) => write!(f, "{refusal}"),
            Self::Unknown => write!(f, "an error"),
        }
    }
}

pub(super) fn moment(ns: u64) -> String {
    if ns == u64::MAX { "the end".to_owned() } else { format!("{:.6} s", ns as f64 / 1e9) }
}
