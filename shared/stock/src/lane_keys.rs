use std::fmt;

use sale::{Lane, RoundId, UserId};
use uuid::Uuid;

use crate::breakers::{SLOTS, slot};

/// The names of one lane's keys. They share a hash tag, so a script touches one slot of a cluster.
#[derive(Clone, Copy)]
pub(crate) struct LaneKeys<'a> {
    pub(crate) round: &'a RoundId,
    pub(crate) lane: Lane,
}

impl LaneKeys<'_> {
    /// The counters and terms.
    pub(crate) fn sale(self) -> String {
        self.name("sale")
    }

    /// The record of each user.
    pub(crate) fn buyers(self) -> String {
        self.name("buyers")
    }

    /// The units that came back.
    pub(crate) fn free(self) -> String {
        self.name("free")
    }

    /// Whose reservations may have to be sent again.
    pub(crate) fn outbox(self) -> String {
        self.name("outbox")
    }

    /// How often each answer was given.
    pub(crate) fn answers(self) -> String {
        self.name("answers")
    }

    /// Who has a note of a denial.
    pub(crate) fn denied(self) -> String {
        self.name("denied")
    }

    /// What is on its way from the lane and to it.
    pub(crate) fn transfers(self) -> String {
        self.name("transfers")
    }

    /// Who loads the lane.
    pub(crate) fn loading(self) -> String {
        self.name("loading")
    }

    /// What processes were granted of one step of an isolated sale.
    pub(crate) fn lease(self, step: &str) -> String {
        self.name_of("lease", step)
    }

    /// What one loading has read of the buyers so far.
    pub(crate) fn staged(self, loading: Uuid) -> String {
        self.name_of("staged", loading.as_simple())
    }

    /// And of their denials.
    pub(crate) fn staged_denied(self, loading: Uuid) -> String {
        self.name_of("staged_denied", loading.as_simple())
    }

    /// What a challenge of a user is answered with.
    pub(crate) fn challenge(self, user: &UserId, challenge: Uuid) -> String {
        self.name_of("challenge", format_args!("{user}:{}", challenge.as_simple()))
    }

    /// How often a user has come.
    pub(crate) fn rate_of_user(self, user: &UserId) -> String {
        self.name_of("rate", format_args!("user:{user}"))
    }

    /// How often an address has.
    pub(crate) fn rate_of_address(self, ip: &str) -> String {
        self.name_of("rate", format_args!("address:{ip}"))
    }

    /// And all together.
    pub(crate) fn rate_of_everybody(self) -> String {
        self.name_of("rate", "everybody")
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
        // Its slot lies in the lane's part of the slots, so that the lanes of a round are on different shards. Every number
        // has the same chance, so as many as there are lanes are tried on average.
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
        // Stored: what lies in Redis is found again.
        let round = "lamp.1".parse().unwrap();
        let tags = Lane::all(4).map(|lane| LaneKeys { round: &round, lane }.to_string());
        assert_eq!(tags.collect::<Vec<_>>(), ["{lamp:1:0:3}", "{lamp:1:1:1}", "{lamp:1:2:3}", "{lamp:1:3:1}"]);
    }
}
