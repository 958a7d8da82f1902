//! Passes: a sealed pass opens for the right user, sale and time, and nothing else does.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use pass::{BadToken, KeyRing, PASS_LIFE_S, Pass};
use proptest::prelude::*;
use sale::{BuyerClass, EpochMs, MAX_LEAD_S, RoundNumber, SaleId, UserId};

const KEY1: &str = "the first key, of thirty-two bytes or more";
const KEY2: &str = "another key, of thirty-two bytes or more";

fn ring(signing: u8, keys: &[(u8, &str)]) -> KeyRing {
    let keys: String = keys.iter().map(|(number, key)| format!(r#","key{number}":"{key}""#)).collect();
    format!(r#"{{"signing":{signing}{keys}}}"#).parse().unwrap()
}

#[derive(Debug, Clone)]
struct Granted {
    sale: SaleId,
    user: UserId,
    pass: Pass,
}

impl Granted {
    fn seal(&self, ring: &KeyRing) -> String {
        ring.seal(&self.pass, &self.sale, &self.user)
    }

    fn open(&self, ring: &KeyRing, token: &str) -> Result<Pass, BadToken> {
        ring.open(token, &self.sale, &self.user, self.pass.issued_at_ms)
    }
}

prop_compose! {
    fn granted()(
        sale in "[a-z0-9][a-z0-9-]{0,47}",
        user in "[!-~]{1,60}".prop_filter("a user id", |text| text.parse::<UserId>().is_ok()),
        round in 1_u32..,
        at in 0_i64..4_000_000_000_000,
        lead_s in prop_oneof![Just(0), Just(MAX_LEAD_S), 0..=MAX_LEAD_S],
        has_quota: bool,
    ) -> Granted {
        let class = BuyerClass { lead_s, has_quota };
        let pass = Pass { round: RoundNumber(round), issued_at_ms: EpochMs(at), class };
        Granted { sale: sale.parse().unwrap(), user: user.parse().unwrap(), pass }
    }
}

fn after(at: EpochMs, ms: i64) -> EpochMs {
    EpochMs(at.0 + ms)
}

proptest! {
    #[test]
    fn what_is_sealed_opens_while_it_holds(granted in granted(), age in -5_000_i64..300_000) {
        let ring = ring(1, &[(1, KEY1)]);
        let token = granted.seal(&ring);
        prop_assert!(token.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_'), "fit for a path");
        let opened = ring.open(&token, &granted.sale, &granted.user, after(granted.pass.issued_at_ms, age));
        prop_assert_eq!(opened, Ok(granted.pass));
    }

    #[test]
    fn it_ends_and_does_not_come_from_the_future(granted in granted(), more in 0_i64..10_000_000_000) {
        let ring = ring(1, &[(1, KEY1)]);
        let token = granted.seal(&ring);
        let life_ms = i64::from(PASS_LIFE_S) * 1000;
        for age in [life_ms + more, -5_001 - more] {
            let now = after(granted.pass.issued_at_ms, age);
            prop_assert_eq!(ring.open(&token, &granted.sale, &granted.user, now), Err(BadToken));
        }
    }

    #[test]
    fn it_is_of_one_user_and_one_sale(mine in granted(), other in granted()) {
        let ring = ring(1, &[(1, KEY1)]);
        let token = mine.seal(&ring);
        prop_assume!(mine.user != other.user && mine.sale != other.sale);
        let now = mine.pass.issued_at_ms;
        prop_assert_eq!(ring.open(&token, &mine.sale, &other.user, now), Err(BadToken));
        prop_assert_eq!(ring.open(&token, &other.sale, &mine.user, now), Err(BadToken));
    }

    #[test]
    fn letters_do_not_move_between_sale_and_user(text in "[a-z0-9]{2,40}", cut in 1_usize..40, other in 1_usize..40) {
        let (cut, other) = (cut.min(text.len() - 1), other.min(text.len() - 1));
        prop_assume!(cut != other);
        let ring = ring(1, &[(1, KEY1)]);
        let (sale, user) = (text[..cut].parse().unwrap(), text[cut..].parse().unwrap());
        let pass = Pass { round: RoundNumber(1), issued_at_ms: EpochMs(0), class: BuyerClass::EVERYONE };
        let token = Granted { sale, user, pass }.seal(&ring);
        let moved = Granted { sale: text[..other].parse().unwrap(), user: text[other..].parse().unwrap(), pass };
        prop_assert_eq!(moved.open(&ring, &token), Err(BadToken));
    }

    /// Includes the bits of version, key number, class, round and time.
    #[test]
    fn no_bit_can_be_changed(granted in granted()) {
        let ring = ring(1, &[(1, KEY1), (2, KEY2)]);
        let bytes = URL_SAFE_NO_PAD.decode(granted.seal(&ring)).unwrap();
        for bit in 0..bytes.len() * 8 {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            prop_assert_eq!(granted.open(&ring, &URL_SAFE_NO_PAD.encode(changed)), Err(BadToken), "bit {}", bit);
        }
    }

    #[test]
    fn it_has_one_text(granted in granted(), place in 0_usize..63, letter in "[A-Za-z0-9_=+/ -]", more in "[ -~]{1,80}") {
        let ring = ring(1, &[(1, KEY1)]);
        let token = granted.seal(&ring);
        let mut changed = token.clone();
        changed.replace_range(place..=place, &letter);
        prop_assert_eq!(granted.open(&ring, &changed).is_ok(), changed == token);
        for wrong in [format!("{token}{more}"), format!("{more}{token}"), token[..place].to_owned(), token[place + 1..].to_owned()] {
            prop_assert_eq!(granted.open(&ring, &wrong), Err(BadToken), "{}", wrong);
        }
    }

    #[test]
    fn any_other_text_is_refused_and_nothing_panics(granted in granted(), text in ".{0,200}", bytes: [u8; 32]) {
        let ring = ring(1, &[(1, KEY1)]);
        prop_assert_eq!(granted.open(&ring, &text), Err(BadToken));
        prop_assert_eq!(granted.open(&ring, &URL_SAFE_NO_PAD.encode(bytes)), Err(BadToken));
    }

    #[test]
    fn a_seal_of_other_keys_is_refused(granted in granted()) {
        let mine = ring(1, &[(1, KEY1)]);
        prop_assert_eq!(granted.open(&mine, &granted.seal(&ring(1, &[(1, KEY2)]))), Err(BadToken));
        prop_assert_eq!(granted.open(&mine, &granted.seal(&ring(2, &[(2, KEY1)]))), Err(BadToken), "a future key");
    }

    /// Processes see each step at different times: some are always one step behind.
    #[test]
    fn keys_change_without_a_gap(granted in granted()) {
        let steps = [
            ring(1, &[(1, KEY1)]),
            ring(1, &[(1, KEY1), (2, KEY2)]),
            ring(2, &[(1, KEY1), (2, KEY2)]),
            ring(2, &[(2, KEY2)]),
        ];
        for pair in steps.windows(2) {
            for (from, to) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                prop_assert_eq!(granted.open(&pair[to], &granted.seal(&pair[from])), Ok(granted.pass));
            }
        }
        prop_assert_eq!(granted.open(&steps[3], &granted.seal(&steps[0])), Err(BadToken), "in the end the old key is gone");
    }
}

#[test]
fn a_pass_says_its_version_its_key_the_class_the_round_and_the_time() {
    for (class, bits) in [
        (BuyerClass { lead_s: 0x08_0b0c, has_quota: true }, [0x10_u8, 0x16, 0x19]),
        (BuyerClass { lead_s: 1, has_quota: false }, [0, 0, 2]),
        (BuyerClass::EVERYONE, [0, 0, 0]),
    ] {
        let pass = Pass { round: RoundNumber(7), issued_at_ms: EpochMs(0x0102_0304_0506), class };
        let granted = Granted { sale: "lamp".parse().unwrap(), user: "alice".parse().unwrap(), pass };
        let bytes = URL_SAFE_NO_PAD.decode(granted.seal(&ring(1, &[(1, KEY1)]))).unwrap();
        let head = [&[1, 1][..], &bits[..], &[0, 0, 0, 7, 1, 2, 3, 4, 5, 6][..]].concat();
        assert_eq!((bytes.len(), &bytes[..15]), (15 + 32, &head[..]), "{class:?}");
    }
}
