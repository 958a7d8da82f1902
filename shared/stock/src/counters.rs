use sale::EpochMs;

/// A type as it stands in the packed string: big endian, in so many bytes. `expand.rs` has the same for the scripts.
trait Packed: Sized {
    const BYTES: usize;

    fn of(number: u64) -> Self;

    /// Takes one off the front. What is missing counts as 0.
    fn take(bytes: &mut &[u8]) -> Self {
        let (own, rest) = bytes.split_at_checked(Self::BYTES).unwrap_or((&[], &[]));
        *bytes = rest;
        Self::of(own.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }
}

impl Packed for u32 {
    const BYTES: usize = 4;

    fn of(number: u64) -> Self {
        number as Self
    }
}

impl Packed for EpochMs {
    const BYTES: usize = 6;

    fn of(number: u64) -> Self {
        Self(number as i64)
    }
}

impl Packed for u8 {
    const BYTES: usize = 1;

    fn of(number: u64) -> Self {
        number as Self
    }
}

impl Packed for bool {
    const BYTES: usize = 1;

    fn of(number: u64) -> Self {
        number != 0
    }
}

macro_rules! sale_fields {
    (
        version_before { $($(#[$doc:meta])* $name:ident: $type:ident,)* }
        since { $($(#[$new_doc:meta])* $new_name:ident: $new_type:ident,)* }
    ) => {
        /// The counters and terms of a round in Redis: the packed string `sale:{tag}`.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct Counters {
            $($(#[$doc])* pub $name: $type,)*
            $($(#[$new_doc])* pub $new_name: $new_type,)*
        }

        impl Counters {
            /// What the version before wrote: the first so many bytes.
            const BYTES_BEFORE: usize = $(<$type>::BYTES +)* 0;

            /// Reads the packed string. What a later version appended is passed over.
            pub(crate) fn unpack(mut bytes: &[u8]) -> Option<Self> {
                (bytes.len() >= Self::BYTES_BEFORE).then(|| Self {
                    $($name: Packed::take(&mut bytes),)*
                    $($new_name: Packed::take(&mut bytes),)*
                })
            }
        }

        /// Zeros.
        impl Default for Counters {
            fn default() -> Self {
                Self { $($name: Packed::of(0),)* $($new_name: Packed::of(0),)* }
            }
        }
    };
}

include!("sale_fields.rs");

impl Counters {
    /// Units that can be handed out.
    pub const fn free(&self) -> u32 {
        self.returned + (self.last_unit + 1).saturating_sub(self.next_unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What lies in Redis stays readable: no field may move.
    #[test]
    fn reads_what_this_version_and_the_one_before_wrote() {
        let packed: Vec<u8> = (1..=69).collect();
        let moment = |first: i64| EpochMs((0..6).fold(0, |ms, at| ms << 8 | (first + at)));
        let before = Counters {
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
            ..Counters::default()
        };
        let now = Counters {
            sellable_at_ms: moment(53),
            unpaid_limit: 59,
            set_aside_until_ms: moment(60),
            set_aside: 0x4243_4445,
            ..before.clone()
        };
        assert_eq!(Counters::unpack(&packed), Some(now));
        assert_eq!(Counters::unpack(&packed[..52]), Some(before));
        assert_eq!(Counters::unpack(&packed[..51]), None);
    }

    #[test]
    fn what_a_later_version_appended_is_passed_over() {
        let packed: Vec<u8> = (1..=200).collect();
        let last = Counters::unpack(&packed).unwrap();
        assert_eq!((last.next_unit, last.set_aside), (0x0102_0304, 0x4243_4445));
    }
}
