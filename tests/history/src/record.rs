//! The recorded data.

use std::collections::HashMap;
use std::fmt;
use std::io::{self, BufRead, Write};
use std::num::NonZeroU32;
use std::sync::{LazyLock, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

/// A text of a history. Each is stored once, however many operations use it, and for as long as the program runs, which
/// records or reads only a few histories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "&'static str")]
pub struct Name(&'static &'static str);

/// Requests of one user for a unit with one key are the same question; without a key each is its own. The text of a
/// payment has its amount, and the same text is the same question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    Reserve { key: Option<Name> },
    Look { reservation: Name },
    Cancel { reservation: Name },
    Pay { reservation: Name, payment: Name },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    Accepted {
        reservation: Name,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unit: Option<NonZeroU32>,
    },
    Is {
        status: Status,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unit: Option<NonZeroU32>,
    },
    Payment(PaymentOutcome),
    /// Refused, without any effect.
    Refused(Refusal),
    /// No answer, or one that leaves open whether the request took effect or ever will.
    Unknown,
}

/// Its text is its name in files and answers.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, strum::Display, strum::EnumString,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Status {
    /// Held in Redis, without an order yet.
    Queued,
    PendingPayment,
    /// Ordered, with nothing to pay. Final.
    Granted,
    Paid,
    Expired,
    Cancelled,
    /// Never became an order. Final.
    Failed,
}

/// The refusals that the checks tell apart. Their names are the API's codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, strum::Display, strum::EnumString)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Refusal {
    SoldOut,
    LimitReached,
    NotOpen,
    UnknownReservation,
    /// Any other, such as a rate limit.
    #[strum(to_string = "a refusal")]
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, strum::Display, strum::EnumString)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum PaymentOutcome {
    Applied,
    RefundDue,
    #[strum(to_string = "that it contradicts an earlier one")]
    #[strum(serialize = "payment_reused", serialize = "amount_changed")]
    Contradicts,
}

/// One request of a client and its answer. Moments are nanoseconds of the recorder's monotonic clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operation {
    pub round: Name,
    pub user: Name,
    #[serde(rename = "ask")]
    pub question: Question,
    /// Just before it was sent.
    pub call_ns: u64,
    /// Just after the answer came. None if there was none.
    pub return_ns: Option<u64>,
    pub answer: Answer,
}

/// An order as the ledger has it once the system is at rest. Times are milliseconds since the Unix epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    pub round: Name,
    pub reservation: Name,
    pub user: Name,
    pub unit: u32,
    pub status: Status,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Name>,
    /// When its unit was reserved, by Redis's clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reserved_ms: Option<i64>,
    /// When it was paid, expired, cancelled or failed, by the function's clock just before it wrote that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_ms: Option<i64>,
}

/// What is known about a round. This decides what can be checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Round {
    /// Its name, such as `lamp.1`.
    pub id: String,
    /// Number of units, which are numbered from 1.
    pub units: u32,
    pub limit: u32,
    pub supply: Supply,
    pub redis: Redis,
    pub buyers: Buyers,
    pub cooldown_ms: u64,
    pub clocks: Clocks,
    pub ledger: LedgerReading,
}

/// When the units of a round are available.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Supply {
    /// All of them to all users from the opening on, and never more.
    AtOnce,
    /// Some come later (rain, restock) or are reserved for a group (early access). `sold_out` is not checked.
    Withheld,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Redis {
    /// It forgets nothing in this run, so its reservations are as certain as orders.
    Keeps,
    /// From this moment on it may have forgotten anything, including earlier data. Only orders are certain.
    MayForgetFrom(u64),
}

/// Which buyers' requests are in the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Buyers {
    /// Those of all buyers.
    Recorded,
    AndOthers,
}

/// Whether times of the ledger can be compared with the recorder's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Clocks {
    /// No: its clocks may show anything.
    Apart,
    /// Yes: everything runs on one machine, and its clock is not set during the run.
    Together {
        /// The wall clock at the recorder's 0, in milliseconds since the Unix epoch.
        zero_ms: i64,
        /// The largest difference of the two, in milliseconds.
        within_ms: u32,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LedgerReading {
    NotRead,
    /// It has every order of the round, read from this moment on, with the system at rest: no requests, no waiting
    /// messages and no reservations.
    AtRest(u64),
}

/// What clients asked and heard, and the resulting orders.
#[derive(Debug, Clone, Default)]
pub struct History {
    /// The described rounds. Operations of other rounds are not checked.
    pub rounds: Vec<Round>,
    pub operations: Vec<Operation>,
    pub orders: Vec<Order>,
}

impl Name {
    pub fn of(text: &str) -> Self {
        static KNOWN: LazyLock<Mutex<HashMap<&str, Name>>> = LazyLock::new(Mutex::default);
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(name) = known.get(text) {
            return *name;
        }
        let text: &'static str = String::leak(text.to_owned());
        let name = Self(Box::leak(Box::new(text)));
        known.insert(text, name);
        name
    }

    pub const fn text(self) -> &'static str {
        self.0
    }
}

/// A placeholder until a name is set.
impl Default for Name {
    fn default() -> Self {
        Self(&"")
    }
}

impl From<String> for Name {
    fn from(text: String) -> Self {
        Self::of(&text)
    }
}

impl From<Name> for &'static str {
    fn from(name: Name) -> Self {
        name.text()
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.text(), f)
    }
}

impl Operation {
    /// The last moment at which it may have taken effect. A request whose answer was lost may still be under way.
    pub(crate) fn last_ns(&self) -> u64 {
        match (&self.answer, self.return_ns) {
            (Answer::Unknown, _) | (_, None) => u64::MAX,
            (_, Some(at)) => at,
        }
    }
}

impl Status {
    pub const fn is_final(self) -> bool {
        !matches!(self, Self::Queued | Self::PendingPayment)
    }

    /// Whether there is an order with a unit.
    pub const fn is_ordered(self) -> bool {
        matches!(self, Self::PendingPayment | Self::Granted | Self::Paid)
    }
}

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

pub(crate) fn moment(ns: u64) -> String {
    if ns == u64::MAX { "the end".to_owned() } else { format!("{:.6} s", ns as f64 / 1e9) }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Round(Round),
    Operation(Operation),
    Order(Order),
}

impl History {
    pub fn write(&self, mut to: impl Write) -> io::Result<()> {
        let rounds = self.rounds.iter().cloned().map(Line::Round);
        let operations = self.operations.iter().copied().map(Line::Operation);
        let orders = self.orders.iter().copied().map(Line::Order);
        for line in rounds.chain(operations).chain(orders) {
            serde_json::to_writer(&mut to, &line)?;
            to.write_all(b"\n")?;
        }
        to.flush()
    }

    /// Reads what [`Self::write`] wrote. Fails if reading fails, or a line is not part of a history.
    pub fn read(from: impl BufRead) -> io::Result<Self> {
        let mut history = Self::default();
        for (at, text) in from.lines().enumerate() {
            let line: Line = serde_json::from_str(&text?)
                .map_err(|error| io::Error::other(format!("line {} is not one of a history: {error}", at + 1)))?;
            match line {
                Line::Round(round) => history.rounds.push(round),
                Line::Operation(operation) => history.operations.push(operation),
                Line::Order(order) => history.orders.push(order),
            }
        }
        Ok(history)
    }
}
