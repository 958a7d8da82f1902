use sale::{Claim, Lane, RoundId, UserId};

use crate::Stock;
use crate::connection::RedisConnection;
use crate::lane_keys::LaneKeys;

/// The one lane that a round has.
const LANE: Lane = Lane(0);

/// The stock of one round, whether Redis has it or not. Knows the round's lanes and their keys.
#[derive(Clone, Copy)]
pub struct RoundStock<'a> {
    pub(crate) connection: &'a RedisConnection,
    pub(crate) id: &'a RoundId,
}

impl Stock {
    /// The stock of a round. Costs no call.
    pub const fn round<'a>(&'a self, id: &'a RoundId) -> RoundStock<'a> {
        RoundStock { connection: &self.connection, id }
    }
}

impl<'a> RoundStock<'a> {
    /// The keys of the lane that a claim's unit came from.
    pub(crate) fn keys_of(self, claim: &Claim) -> LaneKeys<'a> {
        debug_assert_eq!(claim.id.round, *self.id, "a claim of another round");
        LaneKeys { round: self.id, lane: claim.lane }
    }

    /// The keys of a user's home lane: everything that a user has in the round is in it.
    pub(crate) const fn home_of(self, _user: &UserId) -> LaneKeys<'a> {
        self.keys()
    }

    /// The keys of the whole round.
    pub(crate) const fn keys(self) -> LaneKeys<'a> {
        LaneKeys { round: self.id, lane: LANE }
    }
}
