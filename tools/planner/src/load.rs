//! The arrival model: how many requests each part gets in its busiest second, and how many environments serve them.

use serde::Serialize;

use crate::curves::{Rush, tickets_within};
use crate::deployment::PAGE_FILES;
use crate::inputs::{Assumptions, Inputs, Line};
use crate::quotas::{
    ADMISSION_S, CATALOG_S, EDGE_CACHES, EDGE_REQUESTS, LAMBDA_REQUESTS_PER_CONCURRENCY, LINE_POLLS_OF_EDGE,
    MANAGED_CONCURRENCY, MANAGED_ENVIRONMENTS_LEAST, MANAGED_REQUESTS_PER_S_PER_CPU, RESERVATION_S,
    SCRIPTS_PER_S_PER_SHARD, TICKET_S,
};

/// The page spreads its polls: up to a quarter later, an eighth on average (`web/js/timing.js`).
const SPREAD: f64 = 1.125;
/// Seconds between polls of a card when the sale is about to open (`web/js/views/sale.js`).
pub const POLL_SOON_S: f64 = 10.0 * SPREAD;
/// Seconds between polls of a card otherwise.
pub const POLL_S: f64 = 10.0 * SPREAD;
/// Seconds between polls long before it opens.
pub const POLL_EARLY_S: f64 = 30.0 * SPREAD;
/// How many seconds before the opening "soon" begins.
pub const SOON_S: f64 = 120.0;
/// Polls of a reservation in its first ten seconds (`web/js/watch.js`): at once, after two seconds, and when push
/// reports the order; one more in case push is not connected yet.
pub const FIRST_POLLS: f64 = 4.0;
/// Seconds that these take.
const FIRST_POLLS_S: f64 = 10.0;
/// Polls of a reservation until it is paid, two minutes later: besides push, one each half minute and at the payment.
pub const POLLS_OF_A_WINNER: f64 = 9.0;
/// The seconds over which the last tickets before the opening are averaged.
const LAST_TICKETS_S: f64 = 60.0;

/// The load in the busiest second, in requests a second.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Load {
    /// People who have the page open when it opens.
    pub waiting: f64,
    /// People who press the button, in the busiest second. With a line: people whose turn comes.
    pub arrivals_per_s: f64,
    /// Polls of the card that reach the gateway just before the opening.
    pub polls_before_per_s: f64,
    /// Polls of the card that reach the gateway, in the rush.
    pub polls_per_s: f64,
    pub challenges_per_s: f64,
    pub answers_per_s: f64,
    /// Challenges and answers, in the second with most of both.
    pub admission_per_s: f64,
    pub reservations_per_s: f64,
    pub reservation_polls_per_s: f64,
    /// Tickets for the line, in the last second before the opening.
    pub tickets_per_s: f64,
    /// Tickets for the line, once the sale is open.
    pub late_tickets_per_s: f64,
    /// Polls of the line's document that reach the gateway.
    pub documents_per_s: f64,
    /// Seconds between two polls of the line's document by a page.
    pub line_poll_s: f64,
    /// All requests at the gateway, before the opening or after it, whichever is more.
    pub gateway_per_s: f64,
    /// The same, as a mean over the rush.
    pub gateway_mean_per_s: f64,
    pub edge_per_s: f64,
    /// Scripts that the sale's lanes run.
    pub scripts_per_s: f64,
    /// Calls that a single shard answers however many lanes there are: late people's tickets, and one count of answers a
    /// second from each process (`tally`).
    pub scripts_of_one_shard_per_s: f64,
    pub processes: f64,
    /// Those that count answers and reserve units.
    pub counting_processes: f64,
    /// WebSocket connections that winners open.
    pub connections_per_s: f64,
    pub sign_ins_per_s: f64,
    /// People who take every step before they learn that it is sold out.
    pub all_the_way: f64,
    /// Seconds from the opening until nothing is left. `None` if there is a unit for everybody.
    pub sold_out_s: Option<f64>,
    /// Seconds until everybody has pressed the button, or has had a turn.
    pub rush_s: f64,
    /// The busiest second, as a multiple of the mean.
    pub peak_factor: f64,
    /// Seconds in which requests come without a pause, so bursts do not help.
    pub fullest_s: f64,
}

impl Load {
    pub fn new(inputs: &Inputs, assumed: &Assumptions, line: Option<&Line>) -> Self {
        let mut load = match line {
            Some(line) => Self::in_line(inputs, assumed, line),
            None => Self::at_once(inputs, assumed),
        };
        let functions = at_the_gate(&load);
        load.processes = functions.iter().map(|function| function.environments).sum();
        let count = functions.iter().filter(|function| ["admission", "reservation"].contains(&function.function));
        load.counting_processes = count.map(|function| function.environments).sum();
        load.scripts_of_one_shard_per_s = load.counting_processes + load.late_tickets_per_s;
        load
    }

    /// Everybody presses the button within seconds.
    fn at_once(inputs: &Inputs, assumed: &Assumptions) -> Self {
        let audience = inputs.audience as f64;
        let units = f64::from(inputs.units);
        let waiting = audience * assumed.rush_share;
        let mean = waiting / assumed.rush_s;
        let rush = Rush::new(waiting, assumed);
        let sold_out_s = rush.until(units);
        let again = again(assumed);
        let (ce, ae, re) = (assumed.challenges_each, assumed.answers_each, assumed.reservations_each);
        let fullest = |challenges, answers| rush.fullest(sold_out_s, challenges, answers) * again;

        let cached = |polls: f64| if assumed.past_the_edge { polls } else { polls.min(EDGE_CACHES) };
        let polls_before_per_s = cached(waiting / POLL_SOON_S);
        let polls_per_s = cached(waiting / POLL_S);
        let won_in_rush = units.min(mean * FIRST_POLLS_S.max(assumed.rush_s));
        let reservation_polls_per_s = won_in_rush * FIRST_POLLS / FIRST_POLLS_S;
        let steps = fullest(ce, ae + re);
        let all_the_way = rush.before(sold_out_s).max((units / (1.0 - assumed.unpaid_share)).min(audience));
        let steps_s = assumed.rush_s + assumed.solve_s;
        let steps_mean = (waiting * ce + rush.before(sold_out_s) * (ae + re)) * again / steps_s;
        let polls = polls_per_s + reservation_polls_per_s;
        let gateway_per_s = (steps + polls).max(polls_before_per_s);
        let unseen_by_gateway = waiting / POLL_S.min(POLL_SOON_S) - polls_per_s.min(polls_before_per_s);
        let loads_per_s = waiting / assumed.wait_s.max(1.0);
        Self {
            waiting,
            arrivals_per_s: mean * assumed.peak_factor,
            polls_before_per_s,
            polls_per_s,
            challenges_per_s: fullest(ce, 0.0),
            answers_per_s: fullest(0.0, ae),
            admission_per_s: fullest(ce, ae),
            reservations_per_s: fullest(0.0, re),
            reservation_polls_per_s,
            gateway_per_s,
            gateway_mean_per_s: (steps_mean + polls).max(polls_before_per_s),
            edge_per_s: gateway_per_s + unseen_by_gateway.max(0.0) + loads_per_s * PAGE_FILES,
            scripts_per_s: steps + reservation_polls_per_s,
            connections_per_s: fullest(0.0, re).min(won_in_rush),
            sign_ins_per_s: loads_per_s * assumed.sign_in_share,
            all_the_way,
            sold_out_s,
            rush_s: assumed.rush_s,
            peak_factor: assumed.peak_factor,
            fullest_s: assumed.rush_s.max(SOON_S),
            ..Self::default()
        }
    }

    /// People wait in line for their turn.
    fn in_line(inputs: &Inputs, assumed: &Assumptions, line: &Line) -> Self {
        let audience = inputs.audience as f64;
        let units = f64::from(inputs.units);
        let per_s = f64::from(line.admits_per_s).min(audience);
        let again = again(assumed);
        let waiting = audience * assumed.rush_share;
        let comes_early_s = comes_early_s(assumed, line);
        let tickets = |last_s: f64| waiting * tickets_within(last_s, comes_early_s) / last_s * again;
        let tickets_per_s = tickets(1.0);
        let comes_late_per_s = (audience - waiting) / assumed.comes_late_s;
        let late_tickets_per_s = comes_late_per_s * again;

        let line_poll_s = assumed.line_poll_s.max(waiting / (EDGE_REQUESTS.value * LINE_POLLS_OF_EDGE));
        let cached = |polls: f64| if assumed.past_the_edge { polls } else { polls.min(EDGE_CACHES) };
        let polls_per_s = cached(per_s * assumed.stay_s / POLL_S);
        let documents_per_s = cached(waiting / line_poll_s);
        let step = |each: f64| per_s * each * again;
        let (challenges_per_s, answers_per_s, reservations_per_s) =
            (step(assumed.challenges_each), step(assumed.answers_each), step(assumed.reservations_each));
        let steps = challenges_per_s + answers_per_s + reservations_per_s;
        let buys_per_s = per_s * assumed.comes_share;
        let reservation_polls_per_s = units.min(buys_per_s * FIRST_POLLS_S) * FIRST_POLLS / FIRST_POLLS_S;
        let orders = units / (1.0 - assumed.unpaid_share);
        let after = steps + reservation_polls_per_s + late_tickets_per_s + documents_per_s + polls_per_s;
        let gateway_per_s = after.max(tickets_per_s + documents_per_s);
        let loads_per_s = (waiting / comes_early_s).max(comes_late_per_s);
        Self {
            waiting,
            arrivals_per_s: per_s,
            polls_per_s,
            challenges_per_s,
            answers_per_s,
            admission_per_s: challenges_per_s + answers_per_s,
            reservations_per_s,
            reservation_polls_per_s,
            tickets_per_s,
            late_tickets_per_s,
            documents_per_s,
            line_poll_s,
            gateway_per_s,
            gateway_mean_per_s: after.max(tickets(LAST_TICKETS_S) + documents_per_s),
            edge_per_s: gateway_per_s
                + waiting / line_poll_s
                + per_s * assumed.stay_s / POLL_S
                + loads_per_s * PAGE_FILES,
            scripts_per_s: steps + reservation_polls_per_s,
            connections_per_s: buys_per_s.min(units),
            sign_ins_per_s: loads_per_s * assumed.sign_in_share,
            all_the_way: (orders / assumed.comes_share).min(audience),
            // The first people have to notice their turn and answer a challenge.
            sold_out_s: (units < audience * assumed.comes_share)
                .then_some(units / buys_per_s + line_poll_s / 2.0 + assumed.solve_s),
            rush_s: audience / per_s,
            peak_factor: 1.0,
            fullest_s: LAST_TICKETS_S,
            ..Self::default()
        }
    }

    /// Scripts that a sale's lanes run in a second. With several lanes, a process whose lane is empty reads the others
    /// once a second, and its requests cost nothing then. So only the larger of the two counts.
    pub fn scripts_on(&self, lanes: u32) -> f64 {
        self.scripts_per_s.max(self.counting_processes * f64::from(lanes - 1))
    }

    /// Scripts a second of the shard that has tickets and counts answers, if each lane has a shard.
    pub fn scripts_of_line_shard(&self, lanes: u32) -> f64 {
        self.tickets_per_s.max(self.scripts_of_one_shard_per_s + self.scripts_on(lanes) / f64::from(lanes))
    }

    /// Scripts a second that this many lanes can run on this many shards, besides the sale's tallies on one of them.
    pub fn room_for_scripts(&self, lanes: u32, shards: u32) -> f64 {
        let busiest = (SCRIPTS_PER_S_PER_SHARD - self.counting_processes).max(0.0);
        f64::from(lanes) / f64::from(lanes.div_ceil(shards)) * busiest
    }
}

/// The functions that serve the crowd.
pub fn at_the_gate(load: &Load) -> Vec<Sized> {
    let mut all = vec![
        Sized::new("admission", load.admission_per_s, ADMISSION_S),
        Sized::new("reservation", load.reservations_per_s + load.reservation_polls_per_s, RESERVATION_S),
        Sized::new("catalog", load.polls_before_per_s.max(load.polls_per_s), CATALOG_S),
    ];
    if load.tickets_per_s > 0.0 {
        let tickets = load.tickets_per_s.max(load.late_tickets_per_s);
        all.push(Sized::new("line", tickets + load.documents_per_s, TICKET_S));
    }
    all
}

/// Environments that are busy at the same time: the last tickets come before the opening, and the first turns after it.
pub fn busy_at_once(load: &Load) -> f64 {
    let of = |per_s: f64| Sized::new("line", per_s + load.documents_per_s, TICKET_S).environments;
    let gate = at_the_gate(load).into_iter().filter(|function| function.function != "line");
    let after: f64 = gate.map(|function| function.environments).sum();
    if load.tickets_per_s > 0.0 { of(load.tickets_per_s).max(after + of(load.late_tickets_per_s)) } else { after }
}

/// How many seconds before the opening the early ones come, on average.
pub fn comes_early_s(assumed: &Assumptions, line: &Line) -> f64 {
    assumed.comes_early_s.unwrap_or(f64::from(line.opens_early_s) / 6.0)
}

/// How often a request is sent, including repeats after 429 or 503.
fn again(assumed: &Assumptions) -> f64 {
    1.0 / (1.0 - assumed.again_share)
}

/// What one function needs in the busiest second.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sized {
    pub function: &'static str,
    pub requests_per_s: f64,
    /// Environments with one request at a time, as deployed.
    pub environments: f64,
    /// Environments of one processor with many concurrent requests, on Lambda Managed Instances: the binaries support
    /// it, but it is not deployed.
    pub managed_environments: f64,
}

impl Sized {
    fn new(function: &'static str, requests_per_s: f64, seconds: f64) -> Self {
        let busy = requests_per_s * seconds;
        // A shorter request counts as a tenth of a second.
        let environments = busy.max(requests_per_s / LAMBDA_REQUESTS_PER_CONCURRENCY.value).ceil();
        let managed_environments = (busy / MANAGED_CONCURRENCY.value)
            .max(requests_per_s / MANAGED_REQUESTS_PER_S_PER_CPU)
            .ceil()
            .max(MANAGED_ENVIRONMENTS_LEAST.value);
        Self { function, requests_per_s, environments, managed_environments }
    }
}
