//! The recorded data.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// An interned text of a history: each is stored once, however many operations use it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(u32);

#[derive(Debug, Clone, Default)]
pub struct Names {
    known: HashMap<Arc<str>, Name>,
    texts: Vec<Arc<str>>,
}

/// A client's question. `N` is [`Name`] in memory and text in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Question<N> {
    /// Asks for a unit. Requests of one user with one key are the same question; without a key each is its own.
    Reserve {
        key: Option<N>,
    },
    /// Asks for a reservation's status.
    Look {
        reservation: N,
    },
    Cancel {
        reservation: N,
    },
    Pay {
        reservation: N,
        /// The payment and its amount. The same text is the same question.
        payment: N,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer<N> {
    Accepted {
        reservation: N,
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
    /// Ordered and not yet paid.
    PendingPayment,
    /// Ordered, with nothing to pay. Final.
    Granted,
    Paid,
    Expired,
    Cancelled,
    /// Never became an order. Final.
    Failed,
}

/// The refusals that the checks tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, strum::Display)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Refusal {
    SoldOut,
    /// The user has as many as the limit allows.
    LimitReached,
    NotOpen,
    UnknownReservation,
    /// Any other, such as a rate limit.
    #[strum(to_string = "a refusal")]
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, strum::Display)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum PaymentOutcome {
    /// The payment paid for the order.
    Applied,
    RefundDue,
    #[strum(to_string = "that it contradicts an earlier one")]
    Contradicts,
}

/// One request of a client and its answer. Moments are nanoseconds of the recorder's monotonic clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operation<N> {
    pub round: N,
    pub user: N,
    #[serde(rename = "ask")]
    pub question: Question<N>,
    /// Just before it was sent.
    pub call_ns: u64,
    /// Just after the answer came. None if there was none.
    pub return_ns: Option<u64>,
    pub answer: Answer<N>,
}

/// An order as the ledger has it once the system is at rest. Times are milliseconds since the Unix epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order<N> {
    pub round: N,
    pub reservation: N,
    pub user: N,
    pub unit: u32,
    pub status: Status,
    /// Why it failed.
    #[serde(default = "Option::default", skip_serializing_if = "Option::is_none")]
    pub reason: Option<N>,
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
    /// The most units that a user may have at once.
    pub limit: u32,
    pub supply: Supply,
    pub redis: Redis,
    pub buyers: Buyers,
    /// The cooldown of a returned unit, in milliseconds.
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
    /// The texts that everything else refers to.
    pub names: Names,
    /// The described rounds. Operations of other rounds are not checked.
    pub rounds: Vec<Round>,
    /// The operations, in any order.
    pub operations: Vec<Operation<Name>>,
    /// The orders, in any order.
    pub orders: Vec<Order<Name>>,
    /// Number of refusals that were not kept because there were too many.
    pub left_out: u64,
}

impl Names {
    /// The name of a text.
    ///
    /// # Panics
    /// If there are more than four billion.
    pub fn name(&mut self, text: &str) -> Name {
        if let Some(known) = self.known.get(text) {
            return *known;
        }
        let name = Name(u32::try_from(self.texts.len()).expect("fewer than four billion texts"));
        let text: Arc<str> = text.into();
        self.texts.push(Arc::clone(&text));
        self.known.insert(text, name);
        name
    }

    pub fn find(&self, text: &str) -> Option<Name> {
        self.known.get(text).copied()
    }

    pub fn text(&self, name: Name) -> &str {
        &self.texts[name.0 as usize]
    }
}

impl<N> Question<N> {
    pub fn map<M>(self, mut name: impl FnMut(N) -> M) -> Question<M> {
        match self {
            Self::Reserve { key } => Question::Reserve { key: key.map(name) },
            Self::Look { reservation } => Question::Look { reservation: name(reservation) },
            Self::Cancel { reservation } => Question::Cancel { reservation: name(reservation) },
            Self::Pay { reservation, payment } => {
                Question::Pay { reservation: name(reservation), payment: name(payment) }
            }
        }
    }
}

impl<N> Answer<N> {
    pub fn map<M>(self, name: impl FnOnce(N) -> M) -> Answer<M> {
        match self {
            Self::Accepted { reservation, unit } => Answer::Accepted { reservation: name(reservation), unit },
            Self::Is { status, unit } => Answer::Is { status, unit },
            Self::Payment(outcome) => Answer::Payment(outcome),
            Self::Refused(refusal) => Answer::Refused(refusal),
            Self::Unknown => Answer::Unknown,
        }
    }
}

impl<N> Operation<N> {
    pub fn map<M>(self, mut name: impl FnMut(N) -> M) -> Operation<M> {
        let Self { round, user, question, call_ns, return_ns, answer } = self;
        let (round, user) = (name(round), name(user));
        Operation { round, user, question: question.map(&mut name), call_ns, return_ns, answer: answer.map(name) }
    }

    /// The last moment at which it may have taken effect. A request whose answer was lost may still be on its way to
    /// Redis.
    pub(crate) fn last_ns(&self) -> u64 {
        match (&self.answer, self.return_ns) {
            (Answer::Unknown, _) | (_, None) => u64::MAX,
            (_, Some(at)) => at,
        }
    }
}

impl<N> Order<N> {
    pub fn map<M>(self, mut name: impl FnMut(N) -> M) -> Order<M> {
        let Self { round, reservation, user, unit, status, reason, reserved_ms, ended_ms } = self;
        let (round, reservation, user) = (name(round), name(reservation), name(user));
        Order { round, reservation, user, unit, status, reason: reason.map(name), reserved_ms, ended_ms }
    }
}

impl PaymentOutcome {
    /// The outcome with this name in the API's answer.
    pub fn named(text: &str) -> Option<Self> {
        match text {
            "applied" => Some(Self::Applied),
            "refund_due" => Some(Self::RefundDue),
            "payment_reused" | "amount_changed" => Some(Self::Contradicts),
            _ => None,
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

    pub fn named(text: &str) -> Option<Self> {
        text.parse().ok()
    }
}
