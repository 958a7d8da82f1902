use sha2::{Digest, Sha256};

use super::UserId;

/// The largest number of lanes of a round.
pub const MAX_LANES: u16 = 16;

number!(
    /// A part of a round's units with its own Redis keys.
    ///
    /// Its number contains the number of lanes, so that a reservation alone determines its keys: 0 for the only lane,
    /// otherwise 16 times the number of lanes plus the index. It is stored in orders and messages.
    #[derive(Default)]
    Lane,
    u16
);

impl Lane {
    pub const fn new(index: u16, lanes: u16) -> Self {
        if lanes <= 1 { Self(0) } else { Self(lanes * MAX_LANES + index) }
    }

    pub fn all(lanes: u16) -> impl ExactSizeIterator<Item = Self> + Clone {
        (0..lanes.max(1)).map(move |index| Self::new(index, lanes))
    }

    /// The lane in which a round with this many lanes keeps everything about the user.
    pub fn home_of(user: &UserId, lanes: u16) -> Self {
        if lanes <= 1 {
            return Self(0);
        }
        let digest = Sha256::digest(user.as_str());
        let first = digest.first_chunk().map_or(0, |first| u64::from_be_bytes(*first));
        Self::new((first % u64::from(lanes)) as u16, lanes)
    }

    /// The lane's index, from 0.
    pub const fn index(self) -> u16 {
        if self.lanes() == 1 { self.0 } else { self.0 % MAX_LANES }
    }

    pub const fn lanes(self) -> u16 {
        if self.0 < 2 * MAX_LANES { 1 } else { self.0 / MAX_LANES }
    }

    /// The first and last unit, from 1, that it is dealt of `total`. The first is the greater one if it gets none.
    pub const fn dealt(self, total: u32) -> (u32, u32) {
        let (index, lanes, total) = (self.index() as u64, self.lanes() as u64, total as u64);
        if lanes == 1 {
            return (1, total as u32);
        }
        ((index * total / lanes) as u32 + 1, ((index + 1) * total / lanes) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Entries and orders are stored by these results, so they must never change.
    #[test]
    fn home_lanes_stay_as_they_are() {
        let home = |user: &str, lanes| Lane::home_of(&user.parse().unwrap(), lanes).index();
        let homes = |user: &str| [1, 2, 3, 4, 8, 16].map(|lanes| home(user, lanes));
        // From `printf alice | sha256sum`: the first 8 bytes are the number.
        assert_eq!(homes("alice"), [0, 1, 2, 3, 7, 15]);
        assert_eq!(homes("bob"), [0, 0, 2, 2, 2, 10]);
        assert_eq!(homes("carol"), [0, 0, 2, 2, 6, 14]);
        assert_eq!(homes("0198f0b2-a4c5-7d1e-8f00-aabbccddeeff"), [0, 1, 1, 1, 5, 13]);
    }

    #[test]
    fn users_are_spread_evenly() {
        let mut users = [0u32; MAX_LANES as usize];
        for number in 0..16_000 {
            let user = format!("user-{number}").parse().unwrap();
            users[usize::from(Lane::home_of(&user, MAX_LANES).index())] += 1;
        }
        // Six standard deviations of a fair split.
        assert!(users.iter().all(|users| users.abs_diff(1000) < 6 * 31), "{users:?}");
    }

    #[test]
    fn a_number_says_which_of_how_many_it_is() {
        let numbers = [(0, 1), (0, 2), (1, 2), (15, 16)].map(|(index, lanes)| Lane::new(index, lanes).0);
        assert_eq!(numbers, [0, 32, 33, 271]);
        for lanes in 1..=MAX_LANES {
            for (index, lane) in (0..).zip(Lane::all(lanes)) {
                assert_eq!((lane.index(), lane.lanes()), (index, lanes));
            }
        }
    }

    #[test]
    fn every_unit_is_dealt_once() {
        for lanes in 1..=MAX_LANES {
            for total in [1, 2, 15, 16, 17, 100, 10_000_000] {
                let mut next = 1;
                for lane in Lane::all(lanes) {
                    let (first, last) = lane.dealt(total);
                    assert_eq!(first, next, "{lane:?} of {total}");
                    let (dealt, even) = (last + 1 - first, total / u32::from(lanes));
                    assert!((even..=even + 1).contains(&dealt), "{lane:?} has {dealt} of {total}");
                    next = last + 1;
                }
                assert_eq!(next, total + 1);
            }
        }
    }
}
