//! The form of a trace: lines of JSON, of which the first says what the run was of.

use std::fmt::Write;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

use super::effect::Effect;
use crate::scope::{Request, Scope};
use crate::state::{IDS, Ledger, Redis, SLOTS, UNITS, USERS};

/// What a run was of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// Units in the round.
    pub units: u8,
    /// Live orders that a user may have.
    pub limit: u8,
    /// Deliveries of a message until it is a dead letter.
    pub receives: u8,
    /// Whose each reservation is: the number of its user.
    pub users: Vec<u8>,
    /// What the reservations are called outside, for who reads the trace.
    pub names: Vec<String>,
}

/// A function that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Function {
    /// A request for a reservation.
    Reservation,
    /// A message of the order queue.
    Order,
    /// A message of the order queue's dead letters.
    DeadLetter,
    /// A message of the expiry queue.
    Expiry,
    /// A request to cancel.
    Cancel,
    /// A payment.
    Payment,
    /// Reconciliation, or a warmup.
    Reconciliation,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// It answered, or acknowledged its message.
    Done,
    /// It gave its message back.
    Failed,
    /// Its process died.
    Died,
}

/// What was seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "fields that are called what they are")]
pub enum What {
    /// A function begins, with the reservation of its message or request.
    Begins { function: Function, id: Option<u8> },
    /// It does something, and what Redis holds after that, if it was a script.
    Does {
        effect: Effect,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        redis: Option<Redis>,
    },
    /// It ends.
    Ends { how: How },
    /// Redis loses all keys.
    Loses {},
    /// What Redis will have after a failover is what it has now.
    Saves {},
    /// Redis has what was saved, and nothing since.
    FailsOver {},
    /// Nothing is under way, and this is what there is.
    Holds { redis: Redis, ledger: Box<Ledger> },
}

/// What was seen between two moments, which are counted and not measured. Whatever ended before something else began also
/// happened before it; what overlaps may have happened in either order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// When it began.
    pub from: u64,
    /// When it was over.
    pub to: u64,
    /// The number of the function's run; 0 if it is nobody's.
    pub run: u32,
    /// What was seen.
    #[serde(flatten)]
    pub what: What,
}

/// A run as it was seen from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// What it was of.
    pub header: Header,
    /// What was seen, in the order in which it began.
    pub records: Vec<Record>,
}

impl Trace {
    /// Reads lines of JSON.
    ///
    /// # Errors
    /// If they are not a trace.
    pub fn read(text: &str) -> Result<Self> {
        let mut lines = text.lines();
        let header = serde_json::from_str(lines.next().context("it is empty")?).context("line 1")?;
        let read = |(at, line)| serde_json::from_str(line).with_context(|| format!("line {}", at + 2));
        let mut records = lines.enumerate().map(read).collect::<Result<Vec<Record>>>()?;
        records.sort_by_key(|record| record.from);
        Ok(Self { header, records })
    }

    /// Writes it as lines of JSON.
    pub fn to_lines(&self) -> String {
        let mut text = serde_json::to_string(&self.header).expect("it has text keys");
        for record in &self.records {
            let _ = write!(text, "\n{}", serde_json::to_string(record).expect("it has text keys"));
        }
        text + "\n"
    }

    /// How much of everything the run had: the model gets as much trouble as it may need to explain it, and no more requests,
    /// payments and losses than there were.
    pub(super) fn scope(&self) -> Result<Scope> {
        let Header { units, limit, receives, users, .. } = &self.header;
        let has_room = usize::from(*units) <= UNITS && usize::from(*limit) <= SLOTS && users.len() <= IDS;
        ensure!(has_room && users.iter().all(|user| usize::from(*user) < USERS), "the model has no room for this");
        let count = |is: &dyn Fn(&What) -> bool| self.records.iter().filter(|record| is(&record.what)).count() as u8;
        let begins = |which| count(&|what| matches!(what, What::Begins { function, .. } if *function == which));
        let requests: Vec<Request> = users
            .iter()
            .zip(0..)
            .map(|(user, of)| {
                let is_its =
                    |what: &What| matches!(what, What::Does { effect: Effect::Reserve { id, .. }, .. } if *id == of);
                Request { user: *user, tries: count(&is_its) }
            })
            .collect();
        Ok(Scope {
            name: "a trace",
            units: *units,
            limit: *limit,
            // A scope lives as long as the program; a trace is read once or twice in it.
            requests: requests.leak(),
            receives: *receives,
            duplicates: u8::MAX,
            crashes: count(&|what| matches!(what, What::Ends { how: How::Failed | How::Died })),
            cancels: begins(Function::Cancel),
            payments: begins(Function::Payment),
            failovers: count(&|what| matches!(what, What::FailsOver {})),
            lost_writes: u8::MAX,
            wipes: count(&|what| matches!(what, What::Loses {})),
            reconcilers: self.records.len(),
            repairs: true,
        })
    }
}
