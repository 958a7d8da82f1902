//! The people: when they come, and what they do when it is their turn.

use pass::line::{Class, LineOrder, Place};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use sale::award::Seed;
use sale::{Lane, UserId};

use crate::scenario::{Places, Scenario};

#[derive(Debug, Clone)]
pub struct Person {
    /// When the user opens the page, in milliseconds after the opening.
    pub arrives_ms: i32,
    /// The ticket's class, once there is one.
    pub class: Option<Class>,
    pub place: Place,
    pub home: u8,
    pub wants: u8,
    pub has: u8,
    /// Units ever held.
    pub won: u8,
    /// Requests that reached the gateway.
    pub asked: u16,
    pub tries: u8,
    /// Whether the user came when the turn came.
    pub came: bool,
    pub state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Before the ticket, or waiting in line.
    InLine,
    /// The turn has come.
    AtFront,
    /// The turn has come, but the user is away.
    Away,
    /// Heard "sold out", and stays in case a unit comes back.
    Hopes,
    /// Heard that it is over, or left.
    Left,
}

pub struct Chance(StdRng);

impl Chance {
    pub fn of(seed: u64) -> Self {
        Self(StdRng::seed_from_u64(seed))
    }

    pub fn part(&mut self) -> f64 {
        self.0.random()
    }

    pub fn happens(&mut self, probability: f64) -> bool {
        self.part() < probability
    }

    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.part()).ln()
    }

    /// A normally distributed number, by Box and Muller.
    pub fn normal(&mut self) -> f64 {
        (-2.0 * (1.0 - self.part()).ln()).sqrt() * (std::f64::consts::TAU * self.part()).cos()
    }

    pub fn bytes(&mut self) -> [u8; 32] {
        self.0.random()
    }
}

pub fn crowd(scenario: &Scenario, chance: &mut Chance) -> Vec<Person> {
    let order = LineOrder::of(&Seed(chance.bytes()));
    let earliest = -f64::from(scenario.opens_early_s);
    let person = |n: u32| {
        let is_early = chance.happens(scenario.early_share);
        let at_s = if is_early {
            // Nobody comes before the line opens.
            (-chance.exponential(scenario.comes_early_s)).max(earliest * (1.0 - chance.part() * 0.01))
        } else {
            chance.exponential(scenario.comes_late_s)
        };
        let user: UserId = format!("user-{n}").parse().expect("a name without spaces");
        let wants = if chance.happens(scenario.wants_more_share) { scenario.limit_per_user } else { 1 };
        let place = match scenario.places {
            Places::Line => order.place(&user),
            Places::FirstCome => Place(((1.0 - (at_s / earliest).clamp(0.0, 1.0)) * u64::MAX as f64) as u64),
        };
        Person {
            arrives_ms: (at_s * 1_000.0) as i32,
            class: None,
            place,
            home: Lane::home_of(&user, scenario.lanes as u16).index() as u8,
            wants,
            has: 0,
            won: 0,
            asked: 0,
            tries: 0,
            came: false,
            state: State::InLine,
        }
    };
    (0..scenario.people).map(person).collect()
}
