//! Random runs: who asks, pays and cancels, which messages are delivered concurrently, where a function dies and when
//! Redis loses its keys.

use model::Seat;
use model::trace::{Effect, How, Trace, What};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use tests::Point;
use tests::When::{After, Before};

use super::world::{World, at};
use crate::prelude::*;

const USERS: [&str; 3] = ["alice", "bob", "carol"];
/// Steps of a run, with up to three events at once.
const EVENTS: usize = 12;

#[derive(Debug, Clone)]
enum Event {
    Ask(&'static str),
    Order(Claim, Option<Point>),
    Expire(Claim, Option<Point>),
    Cancel(Claim),
    Pay(Claim),
    Reconcile,
    WarmUp,
    Lose,
}

/// What the queues have, and what buyers know.
#[derive(Default)]
struct Learned {
    /// By the reservations' numbers.
    claims: BTreeMap<u8, Claim>,
    orders: Vec<Claim>,
    expiries: Vec<Claim>,
    paid: Vec<ReservationId>,
    /// How many of the trace's records were read.
    read: usize,
    is_lost: bool,
    has_lost: bool,
}

pub(super) async fn by_chance(world: &World, seed: u64) {
    let (mut dice, mut known) = (StdRng::seed_from_u64(seed), Learned::default());
    world.warm_up().await;
    known.read(&world.so_far());
    for _ in 0..EVENTS {
        let events = known.next(&mut dice);
        let done = join_all(events.iter().map(|event| happens(world, event))).await;
        for (event, how) in events.into_iter().zip(done) {
            known.note(event, how);
        }
        known.read(&world.so_far());
    }
    if known.is_lost {
        world.warm_up().await;
    }
    world.reconcile().await;
}

fn pick<T: Clone>(dice: &mut StdRng, from: &[T]) -> Option<T> {
    (!from.is_empty()).then(|| from[dice.random_range(0..from.len())].clone())
}

fn point(dice: &mut StdRng, kinds: &[&str]) -> Option<Point> {
    let (kind, when) = (pick(dice, kinds)?, if dice.random_bool(0.5) { Before } else { After });
    dice.random_bool(0.3).then(|| at(kind, when))?
}

impl Learned {
    fn next(&mut self, dice: &mut StdRng) -> Vec<Event> {
        if self.is_lost && dice.random_bool(0.4) {
            return vec![if dice.random_bool(0.5) { Event::Reconcile } else { Event::WarmUp }];
        }
        if !self.has_lost && !self.claims.is_empty() && dice.random_bool(0.1) {
            return vec![Event::Lose];
        }
        let many = dice.random_range(1..=3);
        (0..many).filter_map(|_| self.one(dice)).collect()
    }

    fn one(&mut self, dice: &mut StdRng) -> Option<Event> {
        match dice.random_range(0..11) {
            0..3 => pick(dice, &USERS).map(Event::Ask),
            3..6 => {
                let claim = pick(dice, &self.orders)?;
                Some(Event::Order(claim, point(dice, &["TransactWriteItems", "EVALSHA confirm", "SendMessage"])))
            }
            6..8 => {
                let claim = pick(dice, &self.expiries)?;
                Some(Event::Expire(claim, point(dice, &["TransactWriteItems", "EVALSHA release"])))
            }
            // Not while the round is lost: loading it reads guards one after the other, and the model all at once.
            10 if !self.is_lost => Some(Event::Reconcile),
            8 | 10 => pick(dice, &Vec::from_iter(self.claims.values().cloned())).map(Event::Cancel),
            _ => {
                let is_paid = |claim: &&Claim| self.paid.contains(&claim.id);
                let payable: Vec<Claim> = self.expiries.iter().filter(|claim| !is_paid(claim)).cloned().collect();
                let claim = pick(dice, &payable)?;
                self.paid.push(claim.id.clone());
                Some(Event::Pay(claim))
            }
        }
    }

    /// Notes the outcome: a message is gone or comes again.
    fn note(&mut self, event: Event, how: How) {
        let forget = |claims: &mut Vec<Claim>, claim: &Claim| {
            if let Some(at) = claims.iter().position(|known| known == claim) {
                claims.remove(at);
            }
        };
        match (event, how) {
            (Event::Order(claim, _), How::Done) => forget(&mut self.orders, &claim),
            (Event::Expire(claim, _), How::Done) => forget(&mut self.expiries, &claim),
            (Event::Reconcile | Event::WarmUp, _) => self.is_lost = false,
            (Event::Lose, _) => (self.is_lost, self.has_lost) = (true, true),
            _ => {}
        }
    }

    /// Reads what was sent since the last call.
    fn read(&mut self, trace: &Trace) {
        for record in &trace.records[self.read..] {
            match &record.what {
                What::Does { effect: Effect::SendOrder { seat }, .. } => {
                    let claim = claim(trace, *seat);
                    self.orders.push(claim.clone());
                    self.claims.insert(seat.id, claim);
                }
                What::Does { effect: Effect::SendExpiry { id }, .. } => {
                    self.expiries.extend(self.claims.get(id).cloned());
                }
                _ => {}
            }
        }
        self.read = trace.records.len();
    }
}

fn claim(trace: &Trace, Seat { id, unit, slot }: Seat) -> Claim {
    let (name, digits) = trace.header.names[usize::from(id)].split_once(' ').expect("a user and an id");
    let id = ReservationId { round: round(SALE, 1), uuid: digits.parse().unwrap() };
    let (unit, slot, reserved_at_ms) = (Unit(u32::from(unit) + 1), Slot(slot), Clock::system().now());
    Claim { id, user: user(name), lane: Lane::default(), unit, slot, reserved_at_ms }
}

fn happens<'a>(world: &'a World, event: &'a Event) -> BoxFuture<'a, How> {
    Box::pin(async move {
        match event {
            Event::Ask(name) => drop(world.ask(name, "key", None).await),
            Event::Order(claim, point) => return world.order(claim, point.clone()).await,
            Event::Expire(claim, point) => return world.expire(claim, point.clone()).await,
            Event::Cancel(claim) => drop(world.cancel(claim, None).await),
            Event::Pay(claim) => drop(world.pay(claim).await),
            Event::Reconcile => world.reconcile().await,
            Event::WarmUp => world.warm_up().await,
            Event::Lose => world.lose().await,
        }
        How::Done
    })
}
