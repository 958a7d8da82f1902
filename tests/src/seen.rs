//! What a run did, as the proxies in front of its services saw it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::LazyLock;

/// Operations of AWS and commands of Redis that change nothing but their own connection.
const READS: &str = "BatchGetItem CLIENT EXISTS GET GETBIT GetItem HELLO HGET HGETALL HKEYS HLEN HMGET HSCAN LINDEX LLEN LRANGE \
     PEXPIRETIME PFCOUNT PING PTTL Query STRLEN TIME ZCARD ZCOUNT ZRANGE ZSCORE";

static READING_SCRIPTS: LazyLock<HashMap<&str, bool>> = LazyLock::new(|| {
    let is_read = |call: &str| {
        let command = call.strip_prefix('\'').and_then(|call| call.split('\'').next());
        command.is_some_and(reads)
    };
    stock::expanded::ALL.iter().map(|(name, text)| (*name, text.split("call(").skip(1).all(is_read))).collect()
});

fn reads(operation: &str) -> bool {
    READS.split(' ').any(|read| read == operation)
}

/// Whether an effect of this kind changes nothing.
fn is_read(kind: &str) -> bool {
    match kind.strip_prefix("EVALSHA ") {
        Some(script) => READING_SCRIPTS.get(script).is_some_and(|reads| *reads),
        None => reads(kind),
    }
}

/// One request of a run, identified by its kind: its position among all requests changes with concurrent ones.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Effect {
    /// The operation at AWS, or the command of Redis with the name of its script: `SendMessage`, `EVALSHA reserve`.
    pub kind: String,
    /// How many requests of this kind the run made before.
    pub nth: usize,
}

impl Effect {
    pub fn is_read(&self) -> bool {
        is_read(&self.kind)
    }
}

/// The services while nothing changes them. At two moments of a flow with the same calm, they are the same.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Calm {
    /// The effect that changed them last, if no other change was under way beside it.
    pub after: Option<Effect>,
    changes: usize,
}

#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) effects: BTreeSet<Effect>,
    /// Changes that were begun and have no answer.
    open: usize,
    /// The change that is open alone, since it was begun.
    alone: Option<Effect>,
    /// How the services are while no change is open.
    calm: Calm,
    /// The reads that were begun in a calm and have no answer.
    reading: BTreeMap<Effect, Calm>,
    pub(crate) calms: BTreeMap<Effect, Calm>,
}

impl Seen {
    pub(crate) fn begin(&mut self, kind: &str) -> Effect {
        let nth = self.effects.iter().filter(|before| before.kind == kind).count();
        let effect = Effect { kind: kind.to_owned(), nth };
        self.effects.insert(effect.clone());
        let is_calm = self.open == 0;
        if is_read(kind) {
            if is_calm {
                self.reading.insert(effect.clone(), self.calm.clone());
            }
            return effect;
        }
        if is_calm {
            self.calms.insert(effect.clone(), self.calm.clone());
        }
        self.change();
        self.alone = is_calm.then(|| effect.clone());
        self.open += 1;
        effect
    }

    pub(crate) fn end(&mut self, effect: Effect) {
        if !effect.is_read() {
            self.open -= 1;
            self.calm.after = self.alone.take();
        } else if let Some(calm) = self.reading.remove(&effect)
            && calm == self.calm
            && self.open == 0
        {
            self.calms.insert(effect, calm);
        }
    }

    pub(crate) fn interrupt(&mut self) {
        self.change();
        self.alone = None;
    }

    fn change(&mut self) {
        self.calm = Calm { after: None, changes: self.calm.changes + 1 };
    }
}

#[cfg(test)]
mod tests;
