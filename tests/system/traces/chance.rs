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
    Order(Reservation, Option<Point>),
    Expire(Reservation, Option<Point>),
    Cancel(Reservation),
    Pay(Reservation),
    Reconcile,
    WarmUp,
    Lose,
}

/// What the queues have, and what buyers know.
#[derive(Default)]
struct Learned {
    /// By the reservations' numbers.
    reservations: BTreeMap<u8, Reservation>,
    orders: Vec<Reservation>,
    expiries: Vec<Reservation>,
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
        if !self.has_lost && !self.reservations.is_empty() && dice.random_bool(0.1) {
            return vec![Event::Lose];
        }
        let many = dice.random_range(1..=3);
        (0..many).filter_map(|_| self.one(dice)).collect()
    }

    fn one(&mut self, dice: &mut StdRng) -> Option<Event> {
        match dice.random_range(0..11) {
            0..3 => pick(dice, &USERS).map(Event::Ask),
            3..6 => {
                let reservation = pick(dice, &self.orders)?;
                Some(Event::Order(reservation, point(dice, &["TransactWriteItems", "EVALSHA confirm", "SendMessage"])))
            }
            6..8 => {
                let reservation = pick(dice, &self.expiries)?;
                Some(Event::Expire(reservation, point(dice, &["TransactWriteItems", "EVALSHA release"])))
            }
            // Not while the round is lost: loading it reads guards one after the other, and the model all at once.
            10 if !self.is_lost => Some(Event::Reconcile),
            8 | 10 => pick(dice, &Vec::from_iter(self.reservations.values().cloned())).map(Event::Cancel),
            _ => {
                let is_paid = |reservation: &&Reservation| self.paid.contains(&reservation.id);
                let payable: Vec<Reservation> =
                    self.expiries.iter().filter(|reservation| !is_paid(reservation)).cloned().collect();
                let reservation = pick(dice, &payable)?;
                self.paid.push(reservation.id.clone());
                Some(Event::Pay(reservation))
            }
        }
    }

    /// Notes the outcome: a message is gone or comes again.
    fn note(&mut self, event: Event, how: How) {
        let forget = |reservations: &mut Vec<Reservation>, reservation: &Reservation| {
            if let Some(at) = reservations.iter().position(|known| known == reservation) {
                reservations.remove(at);
            }
        };
        match (event, how) {
            (Event::Order(reservation, _), How::Done) => forget(&mut self.orders, &reservation),
            (Event::Expire(reservation, _), How::Done) => forget(&mut self.expiries, &reservation),
            (Event::Reconcile | Event::WarmUp, _) => self.is_lost = false,
            (Event::Lose, _) => (self.is_lost, self.has_lost) = (true, true),
            _ => {}
        }
    }

    fn read(&mut self, trace: &Trace) {
        for record in &trace.records[self.read..] {
            match &record.what {
                What::Does { effect: Effect::SendOrder { seat }, .. } => {
                    let reservation = reservation(trace, *seat);
                    self.orders.push(reservation.clone());
                    self.reservations.insert(seat.id, reservation);
                }
                What::Does { effect: Effect::SendExpiry { id }, .. } => {
                    self.expiries.extend(self.reservations.get(id).cloned());
                }
                _ => {}
            }
        }
        self.read = trace.records.len();
    }
}

fn reservation(trace: &Trace, Seat { id, unit, slot }: Seat) -> Reservation {
    let (name, digits) = trace.header.names[usize::from(id)].split_once(' ').expect("a user and an id");
    let id = ReservationId { round: round(SALE, 1), uuid: digits.parse().unwrap() };
    let (unit, slot, reserved_at_ms) = (Unit(u32::from(unit) + 1), Slot(slot), now());
    Reservation { id, user: user(name), lane: Lane::default(), unit, slot, reserved_at_ms }
}

fn happens<'a>(world: &'a World, event: &'a Event) -> BoxFuture<'a, How> {
    Box::pin(async move {
        match event {
            Event::Ask(name) => drop(world.ask(name, "key", None).await),
            Event::Order(reservation, point) => return world.order(reservation, point.clone()).await,
            Event::Expire(reservation, point) => return world.expire(reservation, point.clone()).await,
            Event::Cancel(reservation) => drop(world.cancel(reservation, None).await),
            Event::Pay(reservation) => drop(world.pay(reservation).await),
            Event::Reconcile => world.reconcile().await,
            Event::WarmUp => world.warm_up().await,
            Event::Lose => world.lose().await,
        }
        How::Done
    })
}
