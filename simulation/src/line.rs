//! Places and the front of a line, without a network or a clock, in the shape of `shared/line`, which takes its place here once
//! both are in one tree.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// All early places.
pub const WHOLE_PPB: u32 = 1_000_000_000;
/// How many people the line admits for a unit that is free, at most.
pub const OVERBOOKED: u64 = 10;
/// How long the line waits for somebody whom it has admitted, in seconds. Who comes later is still let in.
pub const TURN_S: u32 = 60;
/// The line moves once in so many milliseconds at most.
pub const LOOK_AGAIN_MS: u64 = 1_000;
/// A person, as rates count.
const MILLI: u64 = 1_000;

/// When somebody came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Before the opening. When exactly does not matter.
    Early,
    /// In this second after it.
    Late(u64),
}

/// A place, as a fraction of 2^64. Lower ones come first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place(pub u64);

impl Place {
    /// In parts per billion, rounded down.
    pub const fn ppb(self) -> u32 {
        ((self.0 as u128 * WHOLE_PPB as u128) >> 64) as u32
    }
}

/// What puts users in order: a keyed hash of their ids.
#[derive(Clone)]
pub struct Order(Hmac<Sha256>);

impl Order {
    /// The order that follows from a seed.
    pub fn of(seed: &[u8; 32]) -> Self {
        Self(Hmac::new_from_slice(seed).expect("HMAC takes keys of any length"))
    }

    /// Where a user stands: the first 8 bytes of HMAC-SHA256 of the id, big endian.
    pub fn place(&self, user: &str) -> Place {
        let digest: [u8; 32] = self.0.clone().chain_update(user).finalize().into_bytes().into();
        let (words, _) = digest.as_chunks::<8>();
        Place(u64::from_be_bytes(words[0]))
    }
}

/// How far a line has moved. It only ever moves on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Front {
    /// Every early place below this is admitted.
    pub early_ppb: u32,
    /// Everybody who came late before this second is admitted, once all early ones are.
    pub late_s: u64,
    /// And of this second every place below this.
    pub late_ppb: u32,
}

impl Front {
    /// Whether it is somebody's turn.
    pub const fn admits(&self, class: Class, place: Place) -> bool {
        match class {
            Class::Early => place.ppb() < self.early_ppb,
            Class::Late(second) => {
                let is_before = second < self.late_s || second == self.late_s && place.ppb() < self.late_ppb;
                self.early_ppb >= WHOLE_PPB && is_before
            }
        }
    }
}

/// How far a line is, and what it needs to know to go on.
#[derive(Debug, Clone, Copy, Default)]
pub struct Progress {
    /// When it moved last.
    pub at_ms: u64,
    /// How far it is.
    pub front: Front,
    /// People who came early, as far as they are counted.
    pub people: u64,
    /// What was too little to move by.
    pub carry: u64,
    /// People who were admitted and have neither bought nor run out of time, in thousandths.
    pub waited_for: u64,
    /// Units that were gone.
    pub taken: u64,
}

/// What a step depends on.
#[derive(Debug, Clone, Copy)]
pub struct Flow {
    /// Now.
    pub now_ms: u64,
    /// When the sale opens.
    pub opens_at_ms: u64,
    /// People who came early, as they are counted.
    pub people: u64,
    /// Late ones who wait.
    pub late_waiting: u64,
    /// Units that can be had now.
    pub free: u64,
    /// Units that are gone.
    pub taken: u64,
    /// How many of these may come back.
    pub may_return: u64,
    /// People to admit a second.
    pub per_s: u64,
}

/// What a step does.
#[derive(Debug, Clone, Copy)]
pub struct Advance {
    /// The line after it, but for the late ones.
    pub progress: Progress,
    /// How many late people to admit.
    pub late: u64,
}

/// Moves a line on at its rate, as long as those who were admitted and have neither bought nor run out of time could still be served
/// from free and returning units, or there are fewer than [`OVERBOOKED`] of them for each free unit. While nothing is free it stands
/// still. `None` if it is not time.
pub fn advance(before: &Progress, flow: &Flow) -> Option<Advance> {
    let since_ms = flow.now_ms.saturating_sub(before.at_ms.max(flow.opens_at_ms));
    if flow.now_ms < flow.opens_at_ms || since_ms < LOOK_AGAIN_MS && before.at_ms > 0 {
        return None;
    }
    let step_ms = since_ms.clamp(LOOK_AGAIN_MS, 10_000);
    let people = before.people.max(flow.people);
    let bought = flow.taken.saturating_sub(before.taken);
    let turn_ms = u64::from(TURN_S) * 1_000;
    let still_ms = turn_ms - since_ms.min(turn_ms);
    let waited_for = before.waited_for.saturating_sub(bought * MILLI) * still_ms / turn_ms;
    let can_serve = (flow.free + flow.may_return).max(flow.free * OVERBOOKED) * MILLI;
    let room = if flow.free == 0 { 0 } else { can_serve.saturating_sub(waited_for) };
    // People a second times milliseconds are thousandths of people.
    let budget = (flow.per_s * step_ms).min(flow.free * OVERBOOKED * step_ms).min(room);

    let (mut front, mut carry, mut left) = (before.front, before.carry, budget);
    if front.early_ppb < WHOLE_PPB {
        let given = u128::from(budget) * 1_000_000 + u128::from(carry);
        let needed = u128::from(WHOLE_PPB - front.early_ppb) * u128::from(people);
        if needed <= given && (people == 0 || budget > 0) {
            front.early_ppb = WHOLE_PPB;
            left = ((given - needed) / 1_000_000) as u64;
            carry = 0;
        } else {
            let parts = given.checked_div(u128::from(people)).unwrap_or(0);
            front.early_ppb += parts as u32;
            carry = (given - parts * u128::from(people)) as u64;
            left = 0;
        }
    }
    let (mut late, mut unused) = (0, 0);
    if front.early_ppb == WHOLE_PPB {
        let given = left + carry;
        late = (given / MILLI).min(flow.late_waiting);
        carry = given % MILLI;
        unused = (given / MILLI - late) * MILLI;
    }
    let waited_for = waited_for + budget.saturating_sub(unused);
    let progress = Progress { at_ms: flow.now_ms, front, people, carry, waited_for, taken: flow.taken };
    Some(Advance { progress, late })
}
