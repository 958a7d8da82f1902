//! The format of a trace: lines of JSON. The first one describes the setup of the run.

use std::fmt::Write;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

use super::effect::Effect;
use crate::scope::{Request, Scope};
use crate::stored::{IDS, Ledger, Redis, SLOTS, UNITS, USERS};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    pub units: u8,
    pub limit: u8,
    pub receives: u8,       // Deliveries of a message before it becomes a dead letter.
    pub users: Vec<u8>,     // The number of each reservation's user.
    pub names: Vec<String>, // The reservations' real ids, for readers of the trace.
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Function {
    Reservation,
    Order,
    DeadLetter, // A message of the order queue's dead letters.
    Expiry,
    Cancel,
    Payment,
    Reconciliation, // Reconciliation or warmup.
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    Done,   // It answered, or acknowledged its message.
    Failed, // It gave its message back.
    Died,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// A function begins; with the reservation that its message or request names.
    Begins { function: Function, id: Option<u8> },
    /// It does something; with the contents of Redis afterwards, if it was a script.
    Does {
        effect: Effect,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        redis: Option<Redis>,
    },
    /// It ends.
    Ends { how: How },
    /// Redis loses everything.
    Loses {},
    /// Redis will return to its current contents after a failover.
    Saves {},
    /// Redis returns to the saved contents.
    FailsOver {},
    /// Nothing is under way, and these are the contents.
    Holds { redis: Redis, ledger: Box<Ledger> },
}

/// An event between two logical times. One that ended before another began came first; overlapping ones in any order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    pub from: u64,
    pub to: u64,
    /// The number of the function's run, or 0 for none.
    pub run: u32,
    #[serde(flatten)]
    pub what: What,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    pub header: Header,
    /// The events, in the order of their beginnings.
    pub records: Vec<Record>,
}

impl Trace {
    /// Reads lines of JSON. Fails if they are not a trace.
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

    /// The scope in which to explain the run: enough failures for it, and its requests, payments and losses.
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
            // Leaking is fine, since a program reads only a few traces.
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
