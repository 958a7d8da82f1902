use redis::{Arg, Cmd, ErrorKind, RedisError, ServerErrorKind};
use runtime::Clock;
use runtime::breaker::Breaker;

use crate::address::Address;

pub(crate) const SLOTS: usize = 16_384;
/// How many neighbouring slots share a breaker: they are nearly always on one shard, and the others go on.
const SLOTS_OF_A_BREAKER: usize = 256;

/// The circuit breakers in front of Redis: one for a single node, one for each range of slots of a cluster.
pub(crate) struct Breakers(Vec<Breaker>);

impl Breakers {
    pub(crate) fn of(address: &Address, clock: Clock) -> Self {
        let breakers = match address {
            Address::Node(_) => 1,
            Address::Cluster(_) => SLOTS / SLOTS_OF_A_BREAKER,
        };
        Self((0..breakers).map(|_| Breaker::new("Redis", clock)).collect())
    }

    pub(crate) fn before(&self, command: &Cmd) -> &Breaker {
        if let [only] = self.0.as_slice() {
            return only;
        }
        &self.0[slot(first_key(command).unwrap_or_default()) / SLOTS_OF_A_BREAKER]
    }
}

/// Whether the error means that Redis is unavailable: no connection, a lost one, no answer in time, or refused
/// credentials; or no node has the key's slot at the moment, and retrying has not helped. Any other error is an answer.
pub(crate) fn is_unanswered(error: &RedisError) -> bool {
    match error.kind() {
        ErrorKind::Io | ErrorKind::ClusterConnectionNotFound | ErrorKind::AuthenticationFailed => true,
        ErrorKind::Server(kind) => matches!(
            kind,
            ServerErrorKind::ClusterDown
                | ServerErrorKind::MasterDown
                | ServerErrorKind::BusyLoading
                | ServerErrorKind::ReadOnly
                | ServerErrorKind::TryAgain
                | ServerErrorKind::Moved
                | ServerErrorKind::Ask
        ),
        _ => false,
    }
}

fn first_key(command: &Cmd) -> Option<&[u8]> {
    let mut words = command.args_iter();
    let before = match words.next()? {
        // Skips the script or its digest, and the number of keys.
        Arg::Simple(b"EVAL" | b"EVALSHA") => 2,
        _ => 0,
    };
    match words.nth(before)? {
        Arg::Simple(key) => Some(key),
        _ => None,
    }
}

/// The slot of a key: the hash of its hash tag, or of the whole key without one.
pub(crate) fn slot(key: &[u8]) -> usize {
    let tag = key.iter().position(|byte| *byte == b'{').and_then(|open| {
        let rest = &key[open + 1..];
        rest.iter().position(|byte| *byte == b'}').map(|close| &rest[..close])
    });
    let hashed = tag.filter(|tag| !tag.is_empty()).unwrap_or(key);
    usize::from(crc16::State::<crc16::XMODEM>::calculate(hashed)) % SLOTS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_a_lane_have_one_breaker_and_the_cluster_spreads_sales_over_many() {
        // From CLUSTER KEYSLOT.
        assert_eq!(
            [slot(b"123456789"), slot(b"foo"), slot(b"{foo}:1"), slot(b"x:{}")],
            [12_739, 12_182, 12_182, 15_947]
        );
        let breakers = Breakers::of(&Address::Cluster(Vec::new()), Clock::system());
        let script =
            redis::cmd("EVALSHA").arg("digest").arg(2).arg("sale:{lamp:1:0}").arg("free:{lamp:1:0}").to_owned();
        let plain = redis::cmd("HGET").arg("buyers:{lamp:1:0}").arg("alice").to_owned();
        assert!(std::ptr::eq(breakers.before(&script), breakers.before(&plain)));
        let others = redis::cmd("GET").arg("sale:{chair:1:0}").to_owned();
        assert!(!std::ptr::eq(breakers.before(&others), breakers.before(&plain)));
        breakers.before(&redis::cmd("PING"));
    }
}
