//! The arrival model: how many requests which part hears in its fullest second.

use serde::Serialize;

use crate::deployment::PAGE_FILES;
use crate::inputs::{Assumptions, Inputs};
use crate::quotas::EDGE_CACHES;

/// The page spreads its looks: up to a quarter longer, an eighth on average (`web/js/timing.js`).
const SPREAD: f64 = 1.125;
/// Seconds between looks at a card when the sale is about to open (`web/js/views/sale.js`).
pub const LOOK_SOON_S: f64 = 10.0 * SPREAD;
/// Seconds between looks at a card otherwise.
pub const LOOK_S: f64 = 10.0 * SPREAD;
/// Seconds between looks long before it opens.
pub const LOOK_EARLY_S: f64 = 30.0 * SPREAD;
/// Seconds before the opening at which "soon" begins.
pub const SOON_S: f64 = 120.0;
/// Looks at a reservation in its first ten seconds (`web/js/watch.js`): at once, after two seconds, and when push tells of
/// the order; one more in case push is not up yet.
pub const FIRST_LOOKS: f64 = 4.0;
/// Seconds that these take.
const FIRST_LOOKS_S: f64 = 10.0;
/// Looks at a reservation until it is paid, two minutes later: beside push, one each half a minute, and the payment's own.
pub const LOOKS_OF_A_WINNER: f64 = 9.0;

/// What comes, in requests a second, in the fullest second.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Load {
    /// People who have the page open when it opens.
    pub waiting: f64,
    /// People who press the button, in the fullest second.
    pub arrivals_per_s: f64,
    /// Looks at the card that reach the gateway, just before the opening.
    pub looks_before_per_s: f64,
    /// Looks at the card that reach the gateway, in the rush.
    pub looks_per_s: f64,
    /// Challenges.
    pub challenges_per_s: f64,
    /// Answers to them.
    pub answers_per_s: f64,
    /// Reservations.
    pub reservations_per_s: f64,
    /// Looks at reservations.
    pub reservation_looks_per_s: f64,
    /// All that the gateway hears: before the opening or after it, whichever is more.
    pub gateway_per_s: f64,
    /// The same, as a mean over the rush.
    pub gateway_mean_per_s: f64,
    /// All that CloudFront hears.
    pub edge_per_s: f64,
    /// Scripts that the sale's shard runs.
    pub scripts_per_s: f64,
    /// WebSocket connections that winners open.
    pub connections_per_s: f64,
    /// Seconds until everybody has pressed the button: the rush, or what the waiting room takes.
    pub rush_s: f64,
    /// The fullest second, as a multiple of the mean.
    pub peak_factor: f64,
    /// Seconds in which requests come one after another without a pause, so that no burst helps.
    pub fullest_s: f64,
}

impl Load {
    /// What these people do.
    pub fn new(inputs: &Inputs, assumed: &Assumptions) -> Self {
        let audience = inputs.audience as f64;
        let units = f64::from(inputs.units);
        let (mean, peak, waiting, rush_s) = match assumed.waiting_room_per_s {
            // Nobody waits on our page: who is let in, presses the button and stays for a while.
            Some(per_s) => {
                let per_s = per_s.min(audience);
                (per_s, per_s, (per_s * assumed.stay_s).min(audience), audience / per_s)
            }
            None => {
                let rush = audience * assumed.rush_share;
                let mean = rush / assumed.rush_s;
                (mean, mean * assumed.peak_factor, rush, assumed.rush_s)
            }
        };
        let cached = |looks: f64| if assumed.past_the_edge { looks } else { looks.min(EDGE_CACHES) };
        let every_s = if assumed.waiting_room_per_s.is_some() { LOOK_S } else { LOOK_SOON_S };
        let looks_before_per_s = cached(waiting / every_s);
        let looks_per_s = cached(waiting / LOOK_S);
        let won_in_rush = units.min(mean * FIRST_LOOKS_S.max(assumed.rush_s.min(rush_s)));
        let reservation_looks_per_s = won_in_rush * FIRST_LOOKS / FIRST_LOOKS_S;

        let of = |arrivals: f64| {
            let gate = arrivals * (assumed.challenges_each + assumed.answers_each + assumed.reservations_each);
            gate + looks_per_s + reservation_looks_per_s
        };
        let reservations_per_s = peak * assumed.reservations_each;
        let scripts = peak * (assumed.challenges_each + assumed.answers_each) + reservations_per_s;
        let loads_per_s = match assumed.waiting_room_per_s {
            Some(_) => mean,
            None => waiting / assumed.wait_s.max(1.0),
        };
        let unseen_by_gateway = (waiting / LOOK_S).max(waiting / every_s) - looks_per_s.min(looks_before_per_s);
        Self {
            waiting,
            arrivals_per_s: peak,
            looks_before_per_s,
            looks_per_s,
            challenges_per_s: peak * assumed.challenges_each,
            answers_per_s: peak * assumed.answers_each,
            reservations_per_s,
            reservation_looks_per_s,
            gateway_per_s: of(peak).max(looks_before_per_s),
            gateway_mean_per_s: of(mean).max(looks_before_per_s),
            edge_per_s: of(peak).max(looks_before_per_s) + unseen_by_gateway.max(0.0) + loads_per_s * PAGE_FILES,
            scripts_per_s: scripts + reservation_looks_per_s,
            connections_per_s: reservations_per_s.min(won_in_rush),
            rush_s,
            peak_factor: if mean > 0.0 { peak / mean } else { 1.0 },
            fullest_s: if assumed.waiting_room_per_s.is_some() { rush_s } else { assumed.rush_s.max(SOON_S) },
        }
    }
}
