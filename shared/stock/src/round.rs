use sale::{Lane, Reservation, Round, RoundId, UserId};

use crate::Stock;
use crate::connection::RedisConnection;
use crate::lane_keys::LaneKeys;
use crate::lanes_seen::LanesSeen;

/// The stock of one round, whether Redis has it or not. Knows the round's lanes and their keys.
#[derive(Clone, Copy)]
pub struct RoundStock<'a> {
    pub(crate) connection: &'a RedisConnection,
    pub(crate) seen: &'a LanesSeen,
    pub(crate) id: &'a RoundId,
    pub(crate) lanes: u16,
    /// The lane it is restricted to, if any.
    only: Option<Lane>,
}

impl Stock {
    /// The stock of a round with one lane, or of any reservation of a round, since a reservation names its lane.
    pub const fn round<'a>(&'a self, id: &'a RoundId) -> RoundStock<'a> {
        self.round_in(id, 1)
    }

    pub const fn round_in<'a>(&'a self, id: &'a RoundId, lanes: u16) -> RoundStock<'a> {
        RoundStock { connection: &self.connection, seen: &self.seen, id, lanes, only: None }
    }

    pub const fn of<'a>(&'a self, round: &'a Round) -> RoundStock<'a> {
        self.round_in(&round.id, round.terms.lanes)
    }
}

impl<'a> RoundStock<'a> {
    pub fn each_lane(self) -> impl Iterator<Item = Self> {
        let indices = self.only.map_or(0..self.lanes, |only| only.index()..only.index() + 1);
        indices.map(move |index| self.only(Lane::new(index, self.lanes)))
    }

    /// Whether this is the lane, or includes the lane, that has everything of the user.
    pub fn is_home_of(self, user: &UserId) -> bool {
        self.only.is_none_or(|only| only == Lane::home_of(user, self.lanes))
    }

    /// The hash tag of a lane's keys, in braces.
    pub fn tag(self, lane: Lane) -> String {
        self.keys_in(lane).to_string()
    }

    pub(crate) const fn only(self, lane: Lane) -> Self {
        Self { only: Some(lane), ..self }
    }

    pub(crate) const fn is_of_lanes(self) -> bool {
        self.lanes > 1 && self.only.is_none()
    }

    /// The same with the number of lanes that the reservation names.
    pub(crate) fn of_reservation(self, reservation: &Reservation) -> Self {
        debug_assert_eq!(reservation.id.round, *self.id, "a reservation of another round");
        Self { lanes: reservation.lane.lanes(), only: None, ..self }
    }

    pub(crate) fn keys_of(self, reservation: &Reservation) -> LaneKeys<'a> {
        debug_assert_eq!(reservation.id.round, *self.id, "a reservation of another round");
        self.keys_in(reservation.lane)
    }

    /// The keys of a user's home lane, which has everything of the user in the round.
    pub(crate) fn home_of(self, user: &UserId) -> LaneKeys<'a> {
        self.keys_in(Lane::home_of(user, self.lanes))
    }

    /// The lane it is restricted to, or the first one.
    pub(crate) fn lane(self) -> Lane {
        self.only.unwrap_or(Lane::new(0, self.lanes))
    }

    /// The keys of the lane it is restricted to, or of the first one.
    pub(crate) fn keys(self) -> LaneKeys<'a> {
        self.keys_in(self.lane())
    }

    pub(crate) const fn keys_in(self, lane: Lane) -> LaneKeys<'a> {
        LaneKeys { round: self.id, lane }
    }
}
