use std::fmt;

use sale::{Lane, RoundId, UserId};
use uuid::Uuid;

use crate::breakers::{SLOTS, slot};

/// The names of a lane's keys. They share a hash tag, so a script touches only one slot of a cluster.
#[derive(Clone, Copy)]
pub(crate) struct LaneKeys<'a> {
    pub(crate) round: &'a RoundId,
    pub(crate) lane: Lane,
}

macro_rules! names {
    ($($(#[$doc:meta])* $name:ident)*) => {
        $($(#[$doc])* pub(crate) fn $name(self) -> String {
            self.name(stringify!($name))
        })*
    };
}

macro_rules! names_of {
    ($($(#[$doc:meta])* $name:ident($($whose:ident: $type:ty),*) => $kind:literal, $of:expr;)*) => {
        $($(#[$doc])* pub(crate) fn $name(self, $($whose: $type),*) -> String {
            self.name_of($kind, $of)
        })*
    };
}

impl LaneKeys<'_> {
    names! {
        /// The counters and terms.
        sale
        /// The record of each user.
        buyers
        /// The returned units.
        free
        /// Reservations that no order has confirmed.
        outbox
        /// How often each answer was given.
        answers
        /// The users with a block in their record.
        blocked
        /// Units on their way from and to the lane.
        transfers
        /// Which caller loads the lane.
        loading
        /// That somebody asked for the lane to be loaded again.
        asked
    }

    names_of! {
        /// What processes were granted of one step's requests in a throttled sale.
        lease(step: &str) => "lease", step;
        /// The buyers that one load has read so far.
        staged(loading: Uuid) => "staged", loading.as_simple();
        /// The blocks that one load has read so far.
        staged_blocked(loading: Uuid) => "staged_blocked", loading.as_simple();
        /// The returned units that one load has read so far.
        staged_free(loading: Uuid) => "staged_free", loading.as_simple();
        /// The right answer to a user's challenge.
        challenge(user: &UserId, challenge: Uuid) => "challenge", format_args!("{user}:{}", challenge.as_simple());
        rate_of_user(user: &UserId) => "rate", format_args!("user:{user}");
        rate_of_address(ip: &str) => "rate", format_args!("address:{ip}");
        rate_of_everybody() => "rate", "everybody";
    }

    /// `reserve` needs these four for every request: the sale, the buyers, the returned units and the outbox.
    pub(crate) fn of_reserve(self) -> [String; 4] {
        let tag = self.to_string();
        ["sale", "buyers", "free", "outbox"].map(|kind| [kind, ":", &tag].concat())
    }

    fn name(self, kind: &str) -> String {
        format!("{kind}:{self}")
    }

    fn name_of(self, kind: &str, whose: impl fmt::Display) -> String {
        format!("{kind}:{self}:{whose}")
    }
}

/// The hash tag.
impl fmt::Display for LaneKeys<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RoundId { sale, number } = self.round;
        let (index, lanes) = (self.lane.index(), self.lane.lanes());
        if lanes == 1 {
            return write!(f, "{{{sale}:{number}:{index}}}");
        }
        // The tag's slot must be in the lane's range of slots, so that the lanes of a round are on different shards.
        // All numbers have the same chance, so on average as many are tried as there are lanes.
        let in_its_part = |tag: &String| slot(tag.as_bytes()) * usize::from(lanes) / SLOTS == usize::from(index);
        let mut tags = (0..u32::MAX).map(|k| format!("{sale}:{number}:{index}:{k}"));
        write!(f, "{{{}}}", tags.find(in_its_part).ok_or(fmt::Error)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_with_one_lane_has_the_tag_that_it_always_had() {
        let round = "lamp.7".parse().unwrap();
        assert_eq!(LaneKeys { round: &round, lane: Lane(0) }.sale(), "sale:{lamp:7:0}");
    }

    #[test]
    fn each_lane_has_a_slot_in_its_part() {
        for sale in ["lamp", "chair", "a", &"z".repeat(sale::MAX_SALE_ID_LENGTH)] {
            let round = format!("{sale}.1").parse().unwrap();
            for lanes in 2..=sale::MAX_LANES {
                for lane in Lane::all(lanes) {
                    let part = slot(LaneKeys { round: &round, lane }.sale().as_bytes()) * usize::from(lanes) / SLOTS;
                    assert_eq!(part, usize::from(lane.index()), "{sale}: {lane:?} of {lanes}");
                }
            }
        }
        // Keys in Redis must be found again by later versions.
        let round = "lamp.1".parse().unwrap();
        let tags = Lane::all(4).map(|lane| LaneKeys { round: &round, lane }.to_string());
        assert_eq!(tags.collect::<Vec<_>>(), ["{lamp:1:0:3}", "{lamp:1:1:1}", "{lamp:1:2:3}", "{lamp:1:3:1}"]);
    }
}
