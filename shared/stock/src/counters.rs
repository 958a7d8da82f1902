use sale::{EpochMs, RainPlan};

/// A type in the packed string: big endian, with a fixed number of bytes. `expand.rs` does the same for the scripts.
trait Packed: Sized {
    const BYTES: usize;

    fn of(number: u64) -> Self;

    /// Reads one from the front. `None` if there are too few bytes.
    fn take(bytes: &mut &[u8]) -> Option<Self> {
        let (own, rest) = bytes.split_at_checked(Self::BYTES)?;
        *bytes = rest;
        Some(Self::of(own.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))))
    }
}

macro_rules! packed {
    ($($type:ty: $bytes:literal, |$number:ident| $of:expr;)*) => {
        $(impl Packed for $type {
            const BYTES: usize = $bytes;

            fn of($number: u64) -> Self {
                $of
            }
        })*
    };
}

packed! {
    u32: 4, |number| number as Self;
    EpochMs: 6, |number| Self(number as i64);
    u8: 1, |number| number as Self;
    bool: 1, |number| number != 0;
}

macro_rules! sale_fields {
    ($($(#[$doc:meta])* $name:ident: $type:ident,)*) => {
        /// The counters and terms of a round in Redis: the packed string `sale:{tag}`.
        #[derive(Debug, Clone, Default, PartialEq, Eq)]
        pub struct Counters {
            $($(#[$doc])* pub $name: $type,)*
            pub plan: Option<RainPlan>,
            pub lanes: Vec<Counters>,
            /// In a lane: the number of its loading, if it may lack units that it had before Redis lost it. In a round:
            /// the number of any such lane.
            pub short: Option<u64>,
            /// In a lane whose set of returned units did not change while it was read: how many units that has.
            pub in_set: Option<u32>,
        }

        impl Counters {
            /// Parses the packed string. Fields appended by a later version are ignored.
            pub(crate) fn unpack(mut bytes: &[u8]) -> Option<Self> {
                let plan = bytes.get(PLAN_AT..).and_then(|text| str::from_utf8(text).ok()?.parse().ok());
                Some(Self {
                    $($name: Packed::take(&mut bytes)?,)*
                    plan,
                    ..Self::default()
                })
            }
        }
    };
}

include!("sale_fields.rs");

impl Counters {
    /// The units of the round, including those still to become available.
    pub fn total(&self) -> u32 {
        self.plan.as_ref().map_or(self.last_unit, |plan| plan.last.max(self.last_unit))
    }

    /// Units that were not handed out or came back, including those still to become available.
    pub fn free(&self) -> u32 {
        self.free_to(self.total())
    }

    pub fn available(&self, at: EpochMs) -> u32 {
        self.free_to(self.plan.as_ref().map_or(self.last_unit, |plan| plan.available(at).max(self.last_unit)))
    }

    /// Units that can be handed out at this time. `None` if none are known but some lanes may have units.
    pub fn known_available(&self, at: EpochMs) -> Option<u32> {
        Some(self.available(at)).filter(|available| *available > 0 || self.short.is_none())
    }

    /// Units that came back and are in the set, but not in the count, so that nobody can get them.
    pub fn uncounted(&self) -> u32 {
        self.each_lane().iter().map(|lane| lane.in_set.map_or(0, |in_set| in_set.saturating_sub(lane.returned))).sum()
    }

    /// Whether no lane's set changed while it was read.
    pub fn is_read_still(&self) -> bool {
        self.each_lane().iter().all(|lane| lane.in_set.is_some())
    }

    pub fn is_miscounted(&self) -> bool {
        self.each_lane().iter().any(|lane| lane.in_set.is_some_and(|in_set| in_set != lane.returned))
    }

    fn each_lane(&self) -> &[Self] {
        if self.lanes.is_empty() { std::slice::from_ref(self) } else { &self.lanes }
    }

    const fn free_to(&self, last: u32) -> u32 {
        self.returned + (last + 1).saturating_sub(self.next_unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_field_is_read_and_none_may_be_missing() {
        let packed: Vec<u8> = (1..=75).collect();
        let moment = |first: i64| EpochMs((0..6).fold(0, |ms, at| ms << 8 | (first + at)));
        let counters = Counters {
            next_unit: 0x0102_0304,
            last_unit: 0x0506_0708,
            returned: 0x090a_0b0c,
            moves: 0x0d0e_0f10,
            last_won_at_ms: moment(17),
            per_user_limit: 23,
            paused: true,
            opens_at_ms: moment(25),
            closes_at_ms: moment(31),
            epoch_ms: moment(37),
            expires_at_ms: moment(43),
            version: 0x3132_3334,
            cooldown_until_ms: moment(53),
            unpaid_limit: 59,
            next_drop_ms: moment(60),
            quota_until_ms: moment(66),
            quota: 0x4849_4a4b,
            ..Counters::default()
        };
        assert_eq!(Counters::unpack(&packed).as_ref(), Some(&counters));
        assert_eq!(Counters::unpack(&packed[..74]), None);
        let appended: Vec<u8> = (1..=200).collect();
        assert_eq!(Counters::unpack(&appended), Some(counters), "what a later version appended is passed over");
    }

    #[test]
    fn a_plan_follows_the_fields() {
        let plan = "9 1000 2 500 1000+3";
        let counters = |plan: &str| {
            let head = [0, 0, 0, 3, 0, 0, 0, 3, 0, 0, 0, 1].into_iter().chain([0; PLAN_AT - 12]);
            Counters::unpack(&head.chain(plan.bytes()).collect::<Vec<u8>>()).unwrap()
        };
        let raining = counters(&format!("{plan}   "));
        assert_eq!(raining.plan, plan.parse().ok());
        assert_eq!((raining.total(), raining.free()), (9, 8), "one came back, and 3 to 9 were never handed out");
        assert_eq!([0, 1000, 1500, 9000].map(|at| raining.available(EpochMs(at))), [2, 2, 4, 8]);
        let ended = counters("    ");
        assert_eq!((ended.plan.clone(), ended.total(), ended.free(), ended.available(EpochMs(0))), (None, 3, 2, 2));
    }
}
