use fulfilment::DRAW_AFTER_S;
use ledger::Beacon;
use sale::award::drand::DrandRound;
use sale::award::{self, Seed};
use sale::{Allocation, EpochMs, Round};
use serde::Serialize;

/// Seconds from the end of a round until its seed is public. Anybody with the seed knows what the next unit wins, so it
/// must no longer be possible to get one: the clocks of Redis, which ends a round, and of the functions differ by much
/// less than this, and a round that is over is not extended.
pub const DRAW_REVEAL_AFTER_S: u32 = DRAW_AFTER_S;
/// How many winners are listed. The others can be computed.
const MOST_WINNERS: usize = 1_000;

/// A round with awards, and its seed once it is public.
pub(crate) struct Draw {
    pub(crate) round: Round,
    pub(crate) seed: Option<Seed>,
    pub(crate) at_end: Option<ledger::Draw>,
    pub(crate) beacon: Option<Beacon>,
    pub(crate) winners: Vec<Winner>,
}

#[derive(Serialize)]
pub(crate) struct Winner {
    prize: u64,
    entry: u32,
}

impl Draw {
    /// `seed` must be the one committed to. Computes the winners once seed, entries and the beacon, if any, are known.
    pub(crate) fn new(round: Round, seed: Option<Seed>, at_end: Option<ledger::Draw>, beacon: Option<Beacon>) -> Self {
        let is_decided = beacon.is_some() || !round.terms.allocation.has_beacon();
        let closed = at_end.as_ref().and_then(|draw| draw.closed).filter(|_| is_decided);
        let randomness = beacon.as_ref().map(Beacon::randomness);
        let winners = match (&seed, closed, &round.terms.allocation) {
            (Some(seed), Some(closed), Allocation::Prizes { prizes, .. }) => {
                let counts: Vec<u32> = prizes.iter().map(|prize| prize.count).collect();
                let winners = award::winners(&counts, closed.entries, &award::shuffle_key(seed, randomness.as_ref()));
                winners.take(MOST_WINNERS).map(|(entry, prize)| Winner { prize, entry }).collect()
            }
            _ => Vec::new(),
        };
        Self { round, seed, at_end, beacon, winners }
    }

    pub(crate) fn is_final(&self) -> bool {
        let is_drawn = self.at_end.as_ref().is_none_or(|draw| draw.drawn_at_ms.is_some());
        self.seed.is_some() && is_drawn && !self.awaits_beacon()
    }

    pub(crate) const fn awaits_beacon(&self) -> bool {
        self.round.terms.allocation.has_beacon() && self.beacon.is_none()
    }

    pub(crate) fn drand_round(&self) -> Option<DrandRound> {
        let of_entries = self.at_end.as_ref().and_then(|draw| draw.closed).and_then(|closed| closed.drand_round);
        self.round.drand_round.or(of_entries)
    }
}

pub(crate) const fn reveals_at(closes_at: EpochMs) -> EpochMs {
    closes_at.plus_s(DRAW_REVEAL_AFTER_S)
}
