use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use parking_lot::Mutex;
use sale::RoundId;

/// How long to wait for a round that is about to open, and how often to check.
const PATIENCE: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(200);
/// How long before the opening visitors already come.
const TOO_EARLY_S: f64 = 1.0;

#[derive(Debug, Clone)]
pub(super) struct OnSale {
    pub(super) round: RoundId,
    pub(super) lanes: u16,
    /// Seconds from the beginning.
    pub(super) opens_s: f64,
    pub(super) closes_s: f64,
    /// When it was created, by the recorder's clock.
    pub(super) made_ns: u64,
}

#[derive(Default)]
pub(super) struct Board(Mutex<Vec<OnSale>>);

impl Board {
    pub(super) fn add(&self, on_sale: OnSale) {
        self.0.lock().push(on_sale);
    }

    pub(super) fn all(&self) -> Vec<OnSale> {
        self.0.lock().clone()
    }

    /// The rounds that visitors come for at this moment.
    pub(super) fn live(&self, now_s: f64) -> Vec<OnSale> {
        let live = |one: &&OnSale| (one.opens_s - TOO_EARLY_S..one.closes_s).contains(&now_s);
        self.0.lock().iter().filter(live).cloned().collect()
    }

    pub(super) fn closed(&self, round: &RoundId, now_s: f64) {
        for one in self.0.lock().iter_mut().filter(|one| one.round == *round) {
            one.closes_s = one.closes_s.min(now_s);
        }
    }

    /// The round of a sale that is open now, or will be in a moment. `now_s` returns the time.
    pub(super) async fn open(&self, sale: &str, now_s: impl Fn() -> f64) -> Result<RoundId> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let at_s = now_s();
            let is_open =
                |one: &&OnSale| one.round.sale.as_str() == sale && (one.opens_s..one.closes_s).contains(&at_s);
            let open = self.0.lock().iter().find(is_open).map(|one| one.round.clone());
            if open.is_some() || Instant::now() >= deadline {
                return open.with_context(|| format!("no round of {sale} is open"));
            }
            tokio::time::sleep(POLL).await;
        }
    }
}
