//! Every key in Redis: its kind, its lifetime and its size.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::Result;
use serde::Serialize;

/// How many keys one step of a scan covers, with one batch of requests about them.
const PAGE: usize = 500;
const MOST_NAMED: usize = 10;
/// The longest lifetime of a round's keys: a day after its last possible order. No round of a run is open for an hour.
const LONGEST_OF_A_ROUND: Duration = Duration::from_secs(25 * 60 * 60);
/// The longest lifetime of rates and challenges: a rate's window and a challenge's life are at most two minutes.
const LONGEST_OF_A_VISIT: Duration = Duration::from_secs(130);
/// The longest lifetime of a lease. A process renews its own every second.
const LONGEST_OF_A_LEASE: Duration = Duration::from_secs(3);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Life {
    /// As long as its round: one key of this kind for each lane.
    Round,
    /// No longer than a visit or a loading.
    Fleeting(Duration),
}

/// The kinds of keys that `lua/README.md` lists, by their longest lifetime. All of them expire.
const KINDS: [(&str, Life); 4] = [
    ("sale buyers free outbox answers blocked transfers loading people early early_more arrivals line", Life::Round),
    ("challenge rate", Life::Fleeting(LONGEST_OF_A_VISIT)),
    ("lease asked", Life::Fleeting(LONGEST_OF_A_LEASE)),
    // They become a round's keys. If the loading dies, they are left behind and live as long as those.
    ("staged staged_blocked staged_free", Life::Fleeting(LONGEST_OF_A_ROUND)),
];

pub(super) fn kinds() -> impl Iterator<Item = (&'static str, Life)> {
    KINDS.into_iter().flat_map(|(kinds, life)| kinds.split(' ').map(move |kind| (kind, life)))
}

/// The keys of one round that live as long as it does.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(super) struct OfRound {
    pub(super) keys: u64,
    pub(super) bytes: u64,
    /// Hash tags: one for each lane.
    pub(super) lanes: u64,
}

#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Keys {
    pub(super) by_kind: BTreeMap<String, u64>,
    /// Some keys that never expire but should.
    pub(super) without_ttl: Vec<String>,
    /// Some keys whose TTL exceeds the limit of their kind.
    pub(super) too_long: Vec<String>,
    pub(super) unknown: Vec<String>,
    pub(super) by_round: BTreeMap<String, OfRound>,
    pub(super) bytes: u64,
    /// The memory that Redis has allocated for data and clients.
    pub(super) used_bytes: u64,
    pub(super) resident_bytes: u64,
}

#[derive(Debug, Clone)]
struct Key {
    name: String,
    /// Milliseconds; -1 if it never expires, -2 if it is gone.
    ttl_ms: i64,
    bytes: u64,
}

fn kind(name: &str) -> &str {
    name.split_once(':').map_or(name, |(kind, _)| kind)
}

/// The hash tag of a name, and the round in it: `{lamp:1:0}` is of `lamp.1`.
fn round(name: &str) -> Option<(&str, String)> {
    let tag = name.split_once('{')?.1.split_once('}')?.0;
    let mut parts = tag.split(':');
    Some((tag, format!("{}.{}", parts.next()?, parts.next()?)))
}

impl Keys {
    fn add(&mut self, Key { name, ttl_ms, bytes }: Key, tags: &mut BTreeMap<String, Vec<String>>) {
        if ttl_ms == -2 {
            return;
        }
        let kind = kind(&name);
        *self.by_kind.entry(kind.to_owned()).or_default() += 1;
        self.bytes += bytes;
        let life = kinds().find(|known| known.0 == kind).map(|known| known.1);
        let longest = match life {
            None => return note(&mut self.unknown, name),
            Some(Life::Round) => LONGEST_OF_A_ROUND,
            Some(Life::Fleeting(longest)) => longest,
        };
        if life == Some(Life::Round)
            && let Some((tag, round)) = round(&name)
        {
            let of_round = self.by_round.entry(round.clone()).or_default();
            (of_round.keys, of_round.bytes) = (of_round.keys + 1, of_round.bytes + bytes);
            let tags = tags.entry(round).or_default();
            if !tags.iter().any(|known| known == tag) {
                tags.push(tag.to_owned());
                of_round.lanes += 1;
            }
        }
        if ttl_ms == -1 {
            note(&mut self.without_ttl, name);
        } else if i128::from(ttl_ms) > longest.as_millis() as i128 {
            note(&mut self.too_long, format!("{name}: {} s", ttl_ms / 1000));
        }
    }

    /// The number of keys that do not live as long as a round.
    pub(super) fn fleeting(&self) -> u64 {
        kinds().filter(|(_, life)| *life != Life::Round).filter_map(|(kind, _)| self.by_kind.get(kind)).sum()
    }

    pub(super) fn all(&self) -> u64 {
        self.by_kind.values().sum()
    }
}

fn note(names: &mut Vec<String>, name: String) {
    if names.len() < MOST_NAMED {
        names.push(name);
    }
}

pub(super) async fn look(url: &str) -> Result<Keys> {
    let mut connection = redis::Client::open(url)?.get_multiplexed_async_connection().await?;
    let (mut keys, mut tags) = (Keys::default(), BTreeMap::new());
    let mut seen = std::collections::HashSet::new();
    let mut cursor = 0_u64;
    loop {
        let mut step = redis::cmd("SCAN");
        let (next, names): (u64, Vec<String>) =
            step.arg(cursor).arg("COUNT").arg(PAGE).query_async(&mut connection).await?;
        // A scan may return a key twice.
        let names: Vec<String> = names.into_iter().filter(|name| seen.insert(name.clone())).collect();
        let mut facts = redis::pipe();
        for name in &names {
            facts.cmd("PTTL").arg(name).cmd("MEMORY").arg("USAGE").arg(name).arg("SAMPLES").arg(0);
        }
        if !names.is_empty() {
            let facts: Vec<Option<i64>> = facts.query_async(&mut connection).await?;
            for (name, facts) in names.into_iter().zip(facts.chunks(2)) {
                let [ttl_ms, bytes] = facts else { continue };
                // It may have expired since the scan.
                let (Some(ttl_ms), Some(bytes)) = (*ttl_ms, *bytes) else { continue };
                keys.add(Key { name, ttl_ms, bytes: bytes.unsigned_abs() }, &mut tags);
            }
        }
        cursor = next;
        if cursor == 0 {
            break;
        }
    }
    let memory: String = redis::cmd("INFO").arg("memory").query_async(&mut connection).await?;
    let figure = |name: &str| {
        let line = memory.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line.and_then(|figure| figure.trim().parse().ok()).unwrap_or_default()
    };
    (keys.used_bytes, keys.resident_bytes) = (figure("used_memory"), figure("used_memory_rss"));
    Ok(keys)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths;
    use crate::valkey::Valkey;

    #[test]
    fn every_key_that_is_documented_is_known() {
        let page = std::fs::read_to_string(paths::root().join("lua/README.md")).unwrap();
        let rows = page.lines().filter(|line| line.starts_with("| `"));
        let names = rows.filter_map(|row| row.split('|').nth(1)).flat_map(|cell| cell.split('`').skip(1).step_by(2));
        let mut documented: Vec<&str> = names.filter(|name| name.contains('{')).map(kind).collect();
        documented.sort_unstable();
        documented.dedup();
        let mut known: Vec<&str> = kinds().map(|kind| kind.0).collect();
        known.sort_unstable();
        assert_eq!(known, documented);
    }

    #[tokio::test]
    async fn what_lives_too_long_is_seen_in_a_real_server() {
        let valkey = Valkey::start().unwrap();
        let mut connection =
            redis::Client::open(valkey.url()).unwrap().get_multiplexed_async_connection().await.unwrap();
        let mut fill = redis::pipe();
        for number in 0..2_000 {
            fill.cmd("SET").arg(format!("rate:{{lamp:1:0}}:user:{number}")).arg(1).arg("PX").arg(60_000).ignore();
        }
        for name in ["sale:{lamp:1:0}", "sale:{lamp:1:1:3}", "rate:{lamp:1:0}:user:slow", "nobody:knows"] {
            fill.cmd("SET").arg(name).arg("x").arg("EX").arg(3_600).ignore();
        }
        fill.cmd("SET").arg("buyers:{lamp:1:0}").arg("planted").ignore();
        let () = fill.query_async(&mut connection).await.unwrap();

        let keys = look(&valkey.url()).await.unwrap();
        assert_eq!((keys.all(), keys.fleeting()), (2_005, 2_001));
        assert_eq!(keys.without_ttl, ["buyers:{lamp:1:0}"]);
        assert_eq!(keys.unknown, ["nobody:knows"]);
        let [slow] = &keys.too_long[..] else { panic!("{:?}", keys.too_long) };
        assert!(slow.starts_with("rate:{lamp:1:0}:user:slow: 3"), "{slow}");
        let lamp = &keys.by_round["lamp.1"];
        assert_eq!((lamp.keys, lamp.lanes), (3, 2));
        assert!(keys.bytes > lamp.bytes && keys.used_bytes > keys.bytes && keys.resident_bytes > 0, "{keys:?}");
    }
}
