//! How much of everything a sale uses from beginning to end.

use serde::Serialize;

use crate::deployment as d;
use crate::inputs::{Assumptions, Inputs, Line};
use crate::load::{Load, POLL_EARLY_S, POLL_S, POLL_SOON_S, POLLS_OF_A_WINNER, SOON_S, comes_early_s};
use crate::quotas::{
    ADMISSION_S, CATALOG_S, EDGE_CACHES, LINE_POLL_EARLY_S, ORDER_BATCH_S, OTHER_S, RESERVATION_S, TICKET_S,
};

/// Longest delay of a message: an expiry comes in hops of it.
const HOP_S: f64 = 900.0;
/// Minutes for which a winner listens.
const LISTENS_MIN: f64 = 5.0;
/// Requests to SQS for a message: send, receive and delete. Its batch may have no other message.
const REQUESTS_OF_A_MESSAGE: f64 = 3.0;
/// How often a process reads the kill switches and the changes of the sales, in seconds, and the read units of both,
/// with what it reads of rounds and lists now and then.
const REFRESH_S: f64 = 2.0;
const REFRESH_READS: f64 = 1.5;
/// Read units a second that a busy process takes from the partition of each: half a unit every two seconds.
pub const SNAPSHOT_READS_PER_S: f64 = READ / REFRESH_S;
/// Partitions of the list of published sales, and the size of a sale in it, in KB.
const PUBLISHED_LISTS: f64 = 8.0;
const LISTED_KB: f64 = 0.13;
/// How long a process goes on with its list, in seconds, at least.
const LISTED_FOR_S: f64 = 480.0;
/// What an eventually consistent read of 4 KB costs.
const READ: f64 = 0.5;
const READ_KB: f64 = 4.0;

/// Read units a second from one partition of the list, which each process reads when it starts and then now and then.
pub fn list_reads_per_s(processes: f64, started_per_s: f64, published_sales: f64) -> f64 {
    let reads = (published_sales / PUBLISHED_LISTS * LISTED_KB / READ_KB).max(1.0).ceil() * READ;
    (started_per_s + processes / LISTED_FOR_S) * reads
}

/// Read units a second of a sale that is changed: each process reads it again when it hears of the change.
pub fn changed_round_reads_per_s(processes: f64, round_kb: f64) -> f64 {
    processes / REFRESH_S * (round_kb / READ_KB).max(1.0).ceil() * READ
}

/// Quantities, each in the unit that AWS counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Totals {
    pub gateway_requests: f64,
    /// Requests to CloudFront, including those for the gateway.
    pub edge_requests: f64,
    pub edge_gb: f64,
    /// Events that functions handle.
    pub invocations: f64,
    pub gb_s: f64,
    /// Write units of the table and its indexes.
    pub writes: f64,
    pub reads: f64,
    pub queue_requests: f64,
    /// Events on the bus of the merchant's systems.
    pub bus_events: f64,
    pub push_messages: f64,
    pub push_minutes: f64,
    pub logs_gb: f64,
}

impl Totals {
    /// The parts of a whole sale.
    pub fn of_sale(inputs: &Inputs, assumed: &Assumptions, line: Option<&Line>) -> Vec<Self> {
        let audience = inputs.audience as f64;
        let units = f64::from(inputs.units).min(audience);
        let orders = units / (1.0 - assumed.unpaid_share);
        let load = Load::new(inputs, assumed, line);
        let mut parts = vec![Self::of_orders(orders, units, assumed), Self::of_attempts(load.all_the_way, assumed)];
        match line {
            None => {
                parts.push(Self::of_page(audience, polls_each(assumed) * audience, assumed));
                // Latecomers learn that it is sold out when they ask for a challenge.
                parts.push(Self::of_refused(audience - load.all_the_way, assumed));
            }
            Some(line) => parts.push(Self::of_line(audience, assumed, line, &load)),
        }
        parts
    }

    /// Requests at the edge that go on to functions, which take this many seconds. An environment serves some ten requests
    /// a second, and reads sales and kill switches every two seconds.
    fn of_requests(requests: f64, seconds: f64) -> Self {
        Self {
            gateway_requests: requests,
            edge_requests: requests,
            invocations: requests,
            gb_s: seconds * d::function_gb(),
            reads: requests / 10.0 / REFRESH_S * REFRESH_READS,
            logs_gb: requests * d::LOG_BYTES / 1e9,
            ..Self::default()
        }
    }

    /// People who stand in line: their tickets, and their polls of its document.
    pub fn of_line(people: f64, assumed: &Assumptions, line: &Line, load: &Load) -> Self {
        let comes_early_s = comes_early_s(assumed, line);
        let waits_s = load.sold_out_s.map_or(load.rush_s, |sold_out_s| sold_out_s.min(load.rush_s));
        let early = people * assumed.rush_share;
        let polls = early * (comes_early_s / LINE_POLL_EARLY_S)
            // And a last one that tells everybody it is over.
            + people * (1.0 + waits_s / load.line_poll_s);
        let asked_for_s = f64::from(line.opens_early_s) + waits_s + load.line_poll_s;
        let documents = if assumed.past_the_edge { polls } else { polls.min(EDGE_CACHES * asked_for_s) };
        let tickets = people;
        let requests = documents + tickets;
        Self {
            edge_requests: people * d::PAGE_FILES + polls + tickets,
            edge_gb: (people * (d::PAGE_BYTES + d::ANSWER_BYTES) + polls * d::LINE_DOCUMENT_BYTES) / 1e9,
            ..Self::of_requests(requests, requests * TICKET_S)
        }
    }

    /// People who ask for a challenge and learn that the sale is sold out.
    pub fn of_refused(people: f64, assumed: &Assumptions) -> Self {
        let all = people * assumed.challenges_each / (1.0 - assumed.again_share);
        Self { edge_gb: all * d::ANSWER_BYTES / 1e9, ..Self::of_requests(all, all * ADMISSION_S) }
    }

    /// People who load the page, and polls of the card.
    pub fn of_page(people: f64, polls: f64, assumed: &Assumptions) -> Self {
        let whole = if assumed.past_the_edge { polls } else { polls.min(EDGE_CACHES * asked_for_s(assumed)) };
        Self {
            edge_requests: people * d::PAGE_FILES + polls,
            edge_gb: (people * d::PAGE_BYTES + polls * d::ANSWER_BYTES) / 1e9,
            reads: 0.0,
            ..Self::of_requests(whole, whole * CATALOG_S)
        }
    }

    /// People who ask for a challenge, answer it and send a reservation.
    pub fn of_attempts(people: f64, assumed: &Assumptions) -> Self {
        let people = people / (1.0 - assumed.again_share);
        let challenges = people * assumed.challenges_each;
        let answers = people * assumed.answers_each;
        let reservations = people * assumed.reservations_each;
        let all = challenges + answers + reservations;
        let seconds = (challenges + answers) * ADMISSION_S + reservations * RESERVATION_S;
        Self {
            edge_gb: (challenges * d::CHALLENGE_BYTES + (answers + reservations) * d::ANSWER_BYTES) / 1e9,
            ..Self::of_requests(all, seconds)
        }
    }

    /// Orders, some of them paid.
    pub fn of_orders(orders: f64, paid: f64, assumed: &Assumptions) -> Self {
        let expired = orders - paid;
        let hops = (assumed.payment_window_s / HOP_S).ceil();
        let polls = orders * POLLS_OF_A_WINNER;
        let requests = polls + paid;
        let batches = orders / d::PROD.batch;
        // The merchant's systems get two events per order: when it is made, and when it is paid or ends.
        let bus_events = orders * 2.0;
        let events = batches + orders * hops + orders * 2.0 + orders / d::PROD.batch * 2.0 + bus_events;
        let seconds = polls * RESERVATION_S + batches * ORDER_BATCH_S + (events - batches + paid) * OTHER_S;
        Self {
            gateway_requests: requests,
            edge_requests: polls,
            edge_gb: polls * d::ANSWER_BYTES / 1e9,
            invocations: requests + events,
            gb_s: seconds * d::function_gb(),
            writes: orders * (writes_of_an_order(assumed) + d::INDEX_WRITES_OF_AN_ORDER)
                + paid * d::WRITES_OF_A_PAYMENT
                + expired * (d::WRITES_OF_AN_EXPIRY + campaign_writes(assumed))
                // A connection comes and goes, with its index.
                + orders * 4.0,
            reads: polls + orders * 2.0,
            bus_events,
            queue_requests: orders * REQUESTS_OF_A_MESSAGE * (1.0 + hops),
            push_messages: orders * 2.0,
            push_minutes: orders * LISTENS_MIN,
            logs_gb: (requests + events) * d::LOG_BYTES / 1e9,
        }
    }
}

/// How often one person's page polls the card, on average.
pub fn polls_each(assumed: &Assumptions) -> f64 {
    let after = 1.0 + assumed.stay_s / POLL_S;
    let soon = assumed.wait_s.min(SOON_S) / POLL_SOON_S;
    let early = (assumed.wait_s - SOON_S).max(0.0) / POLL_EARLY_S;
    after + assumed.rush_share * (soon + early)
}

/// Seconds during which pages poll the card.
fn asked_for_s(assumed: &Assumptions) -> f64 {
    assumed.wait_s + assumed.rush_s + assumed.stay_s
}

/// Write units of the transaction that places an order, including the limits of its campaigns.
pub fn writes_of_an_order(assumed: &Assumptions) -> f64 {
    d::WRITES_OF_AN_ORDER + campaign_writes(assumed)
}

fn campaign_writes(assumed: &Assumptions) -> f64 {
    f64::from(assumed.campaign_limits) * d::WRITES_OF_A_CAMPAIGN_LIMIT
}
