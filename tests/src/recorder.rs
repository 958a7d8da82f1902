//! Records what the functions do, from outside: proxies in front of Redis and AWS read each request with its answer and
//! record those that are steps of the model. The functions run unmodified.

mod aws;
mod names;
mod proxy;
mod redis;

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use model::trace::{Effect, Function, Header, How, Record, Trace, What};
use model::{Ledger, Redis};
use sale::ReservationId;

pub use self::aws::Queues;
use self::names::Names;
pub use self::proxy::{Mutants, Recorded};
pub use self::redis::Held;

#[derive(Clone)]
pub struct Recorder(Arc<Inner>);

struct Inner {
    queues: Queues,
    moments: AtomicU64,
    runs: AtomicU32,
    names: Mutex<Names>,
    records: Mutex<Vec<Record>>,
}

/// One run of a function, for a message, a request or a schedule.
#[derive(Clone)]
pub struct Run {
    recorder: Recorder,
    number: u32,
}

impl Recorder {
    pub fn new(queues: Queues) -> Self {
        let (moments, runs) = (AtomicU64::new(1), AtomicU32::new(1));
        Self(Arc::new(Inner { queues, moments, runs, names: Mutex::default(), records: Mutex::default() }))
    }

    pub fn begin(&self, function: Function, of: Option<&ReservationId>) -> Run {
        let number = self.0.runs.fetch_add(1, Ordering::SeqCst);
        let id = of.map(|id| self.names().id(&id.to_string()));
        self.at_once(number, What::Begins { function, id });
        Run { recorder: self.clone(), number }
    }

    /// Records an event in Redis that no function caused, from a moment until now.
    pub fn happened(&self, from: u64, what: What) {
        self.note(from, 0, what);
    }

    /// Records the contents while nothing is under way. The items are the table's, in DynamoDB's JSON.
    pub fn holds<'a>(&self, redis: &Held, items: impl IntoIterator<Item = &'a serde_json::Value>) {
        let redis: Redis = redis.read(&mut self.names()).redis;
        let ledger: Ledger = aws::ledger(items, &mut self.names());
        self.at_once(0, What::Holds { redis, ledger: Box::new(ledger) });
    }

    pub fn moment(&self) -> u64 {
        self.0.moments.fetch_add(1, Ordering::SeqCst)
    }

    /// The trace so far, of a round with this many units and this limit per user.
    pub fn trace(&self, units: u8, limit: u8, receives: u8) -> Trace {
        let (names, users) = self.names().all();
        let mut records = self.0.records.lock().unwrap_or_else(PoisonError::into_inner).clone();
        records.sort_by_key(|record| record.from);
        Trace { header: Header { units, limit, receives, users, names }, records }
    }

    fn names(&self) -> MutexGuard<'_, Names> {
        self.0.names.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn at_once(&self, run: u32, what: What) {
        let from = self.moment();
        self.note(from, run, what);
    }

    fn note(&self, from: u64, run: u32, what: What) {
        let mut records = self.0.records.lock().unwrap_or_else(PoisonError::into_inner);
        records.push(Record { from, to: self.moment(), run, what });
    }
}

impl Run {
    pub fn did(&self, from: u64, effect: Effect, redis: Option<Redis>) {
        self.recorder.note(from, self.number, What::Does { effect, redis });
    }

    pub fn end(self, how: How) {
        self.recorder.at_once(self.number, What::Ends { how });
    }
}

/// The file for the trace of this name.
pub fn trace_path(name: &str) -> PathBuf {
    let folder = local::paths::root().join("target/traces");
    std::fs::create_dir_all(&folder).expect("a folder in target");
    folder.join(format!("{name}.jsonl"))
}
