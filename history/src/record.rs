//! What is recorded.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// A text of a history. Each is kept once, however many operations name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(u32);

/// The texts of a history.
#[derive(Debug, Clone, Default)]
pub struct Names {
    known: HashMap<Arc<str>, Name>,
    texts: Vec<Arc<str>>,
}

/// What a client asked. `N` is [`Name`] in memory and text in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Question<N> {
    /// For a unit. Requests of one user with one key are the same question; without a key each is one of its own.
    Reserve {
        /// The idempotency key.
        key: Option<N>,
    },
    /// Where a reservation stands.
    Look {
        /// The reservation.
        reservation: N,
    },
    /// To give a reservation back.
    Cancel {
        /// The reservation.
        reservation: N,
    },
    /// The payment provider tells of a payment.
    Pay {
        /// What is paid.
        reservation: N,
        /// The payment and its amount: the same text is the same question.
        payment: N,
    },
}

/// What the client was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer<N> {
    /// A unit is reserved.
    Accepted {
        /// The reservation.
        reservation: N,
        /// The unit, if the answer names it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unit: Option<NonZeroU32>,
    },
    /// How the reservation stands.
    Is {
        /// Its status.
        status: Status,
        /// The unit, if the answer names it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unit: Option<NonZeroU32>,
    },
    /// What became of a payment.
    Payment(PaymentOutcome),
    /// No, and nothing has changed.
    Refused(Refusal),
    /// No answer, or one that leaves open whether the request took effect or ever will.
    Unknown,
}

/// Where a reservation stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Held, without an order.
    Queued,
    /// Ordered, to be paid.
    PendingPayment,
    /// Ordered, with nothing to pay. Final.
    Granted,
    /// Paid. Final.
    Paid,
    /// Not paid in time. Final.
    Expired,
    /// Given back. Final.
    Cancelled,
    /// It never became an order. Final.
    Failed,
}

/// A refusal, as far as the checks tell them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// Nothing is left.
    SoldOut,
    /// The user has as many as may be.
    LimitReached,
    /// It has not opened.
    NotOpen,
    /// The user has no such reservation.
    UnknownReservation,
    /// Anything else, such as a rate.
    Other,
}

/// What the payment provider is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PaymentOutcome {
    /// The order is paid by it.
    Applied,
    /// It is to be given back.
    RefundDue,
    /// It contradicts what came before.
    Contradicts,
}

/// One request of a client and its answer. Moments are nanoseconds of the recorder's monotonic clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operation<N> {
    /// The round that it is about.
    pub round: N,
    /// Who asked.
    pub user: N,
    /// What was asked.
    #[serde(rename = "ask")]
    pub question: Question<N>,
    /// Just before it was sent.
    pub call_ns: u64,
    /// Just after the answer came. None if none did.
    pub return_ns: Option<u64>,
    /// What was heard.
    pub answer: Answer<N>,
}

/// An order as the ledger has it when all has come to rest. Its moments are milliseconds since the Unix epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order<N> {
    /// The round that it is in.
    pub round: N,
    /// The reservation that it was made of.
    pub reservation: N,
    /// Whose it is.
    pub user: N,
    /// Its unit.
    pub unit: u32,
    /// Where it stands.
    pub status: Status,
    /// Why it failed.
    #[serde(default = "Option::default", skip_serializing_if = "Option::is_none")]
    pub reason: Option<N>,
    /// When its unit was reserved, by Redis's clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reserved_ms: Option<i64>,
    /// When it was paid, expired, cancelled or failed: read from the function's clock before that was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_ms: Option<i64>,
}

/// What is known of a round, which decides what can be checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Round {
    /// Its name, such as `lamp.1`.
    pub id: String,
    /// Its units: 1 to this number.
    pub units: u32,
    /// Most units that a user may have at a time.
    pub limit: u32,
    /// When its units can be had.
    pub supply: Supply,
    /// Whether Redis may forget.
    pub redis: Redis,
    /// Whether anybody buys whose requests are not in the history.
    pub buyers: Buyers,
    /// How long a unit that came back is kept from everybody, in milliseconds.
    pub held_back_ms: u64,
    /// Whether moments of other clocks can be compared with those of the recorder.
    pub clocks: Clocks,
    /// Whether the history has the ledger's orders.
    pub ledger: Ledger,
}

/// When the units of a round can be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Supply {
    /// All of them, by anybody, from the opening on, and never more.
    AtOnce,
    /// Some come later (rain, restock) or are kept for some (early access). What `sold_out` says is not checked.
    Withheld,
}

/// Whether Redis may forget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Redis {
    /// It forgets nothing in this run, so what it holds is as certain as an order.
    Keeps,
    /// From this moment on it may have forgotten anything, also of what came before. Only orders are certain.
    MayForgetFrom(u64),
}

/// Whose requests are in the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Buyers {
    /// Everybody's.
    Recorded,
    /// Others buy as well.
    AndOthers,
}

/// Whether moments of the ledger can be compared with those of the recorder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Clocks {
    /// No: they may show anything.
    Apart,
    /// All run on one machine, whose clock nobody sets.
    Together {
        /// What the wall clock showed at the recorder's 0, in milliseconds since the Unix epoch.
        zero_ms: i64,
        /// How far the two may be apart, in milliseconds.
        within_ms: u32,
    },
}

/// Whether the history has the ledger's orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ledger {
    /// No.
    NotRead,
    /// It has every order of the round, read from this moment on, when nothing was under way: nobody asked, no message waited
    /// and nothing was held.
    AtRest(u64),
}

/// What clients asked and heard, and what became of it.
#[derive(Debug, Clone, Default)]
pub struct History {
    /// The texts that everything else names.
    pub names: Names,
    /// Its rounds. Operations of other rounds are not checked.
    pub rounds: Vec<Round>,
    /// In any order.
    pub operations: Vec<Operation<Name>>,
    /// In any order.
    pub orders: Vec<Order<Name>>,
    /// Refusals that were heard and not kept, since there were too many.
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

    /// The name of a text that is known.
    pub fn find(&self, text: &str) -> Option<Name> {
        self.known.get(text).copied()
    }

    /// The text of a name.
    pub fn text(&self, name: Name) -> &str {
        &self.texts[name.0 as usize]
    }
}

impl<N> Question<N> {
    /// The same question with other names.
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
    /// The same answer with other names.
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
    /// The same operation with other names.
    pub fn map<M>(self, mut name: impl FnMut(N) -> M) -> Operation<M> {
        let Self { round, user, question, call_ns, return_ns, answer } = self;
        let (round, user) = (name(round), name(user));
        Operation { round, user, question: question.map(&mut name), call_ns, return_ns, answer: answer.map(name) }
    }

    /// The last moment at which it may have taken effect. What failed on its way back may still be under way to Redis.
    pub(crate) fn last_ns(&self) -> u64 {
        match (&self.answer, self.return_ns) {
            (Answer::Unknown, _) | (_, None) => u64::MAX,
            (_, Some(at)) => at,
        }
    }
}

impl<N> Order<N> {
    /// The same order with other names.
    pub fn map<M>(self, mut name: impl FnMut(N) -> M) -> Order<M> {
        let Self { round, reservation, user, unit, status, reason, reserved_ms, ended_ms } = self;
        let (round, reservation, user) = (name(round), name(reservation), name(user));
        Order { round, reservation, user, unit, status, reason: reason.map(name), reserved_ms, ended_ms }
    }
}

impl Status {
    /// Whether nothing follows it.
    pub const fn is_final(self) -> bool {
        !matches!(self, Self::Queued | Self::PendingPayment)
    }

    /// Whether there is an order that has the unit.
    pub const fn is_ordered(self) -> bool {
        matches!(self, Self::PendingPayment | Self::Granted | Self::Paid)
    }

    /// Its name in files and answers.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::PendingPayment => "pending_payment",
            Self::Granted => "granted",
            Self::Paid => "paid",
            Self::Expired => "expired",
            Self::Cancelled => "cancelled",
            Self::Failed => "failed",
        }
    }

    /// The status of this name.
    pub fn named(text: &str) -> Option<Self> {
        use Status::*;
        [Queued, PendingPayment, Granted, Paid, Expired, Cancelled, Failed].into_iter().find(|one| one.as_str() == text)
    }
}
