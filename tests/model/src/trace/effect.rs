//! What a step of the model looks like from outside. This maps the code's calls to the model's steps: the recorder derives
//! these effects from the functions' calls to Redis, DynamoDB and SQS, and [`Protocol::sights`] says which of them a job's
//! next step shows.

use serde::{Deserialize, Serialize};

use crate::Protocol;
use crate::job::{After, Job, Next, Refusal, Who};
use crate::protocol::remove;
use crate::scripts::Answer;
use crate::state::State;
use crate::stored::{Guards, Order, OrderState, Redis, Seat};

/// One effect with its answer. Reservations and users are numbered as they appear, units and slots from 0.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    // `reserve`. The seat is that of the reservation in the answer.
    Reserve { id: u8, answer: Answer, seat: Option<Seat> },
    Confirm { id: u8, answer: Answer },
    // `release`, with the unit that another order has.
    Release { id: u8, of_another: Option<u8>, answer: Answer },
    // `reseat`. The seat after it is that of the reservation in the answer.
    Reseat { seat: Seat, answer: Answer, to: Option<Seat> },
    Adopt { seat: Seat, answer: Answer },
    // `restore`, of all these units in one step.
    Restore { units: Vec<u8>, answer: Answer },
    // `load`, with the taken units. None if the round was loaded already.
    Load { taken: Option<Guards>, answer: Answer },
    // The transaction that puts an order and its two guards, if none of the three exists.
    Place { seat: Seat, answer: Written },
    // The write that puts a failed order, if there is none yet.
    Fence { seat: Seat, state: OrderState, answer: Written },
    // The transaction that ends a PENDING order and deletes its guards.
    End { id: u8, to: OrderState, answer: Written },
    // The transaction that makes a PENDING order PAID, and whether it succeeded.
    Pay { id: u8, taken: bool },
    // The transaction that notes a payment for refund.
    Refund { id: u8 },
    // A consistent read of an order.
    ReadOrder { id: u8, found: Option<OrderState> },
    // A consistent read of a unit's guard.
    ReadUnit { unit: u8, found: Option<u8> },
    SendOrder { seat: Seat },
    SendExpiry { id: u8 },
    // A write to modelled data that no step of the model makes. Never explained.
    Unknown { what: String },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Written {
    Made,
    There(OrderState),
    UnitTaken, // The unit is guarded for another order.
    SlotTaken, // Only the slot is guarded for another order.
    Absent,
}

impl Effect {
    /// Whether this is the same effect, ignoring the answer.
    pub(super) fn is_same_deed(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Release { id, of_another, .. }, Self::Release { id: other, of_another: unit, .. }) => {
                (id, of_another) == (other, unit)
            }
            (Self::Adopt { seat, .. }, Self::Adopt { seat: other, .. }) => seat == other,
            (Self::Restore { units, .. }, Self::Restore { units: others, .. }) => {
                units.iter().any(|unit| others.contains(unit))
            }
            (Self::Load { taken, .. }, Self::Load { taken: other, .. }) => taken == other,
            (Self::End { id, to, .. }, Self::End { id: other, to: state, .. }) => (id, to) == (other, state),
            _ => false,
        }
    }
}

impl Protocol {
    /// The effects that the next step of a job may show, and what becomes of the job. None if the step only decides what to do
    /// next. If several, any one: a function may read that an order has ended instead of trying to end it.
    pub(super) fn sights(&self, state: &State, job: Job) -> (Vec<Effect>, After) {
        let mut changed = state.clone();
        remove(&mut changed, job);
        let after = self.step(&mut changed, job);
        let Seat { id, unit, .. } = job.seat;
        let order = state.ledger.orders[usize::from(id)];
        let sights = match job.next {
            Next::Start => match job.who {
                Who::Reservation => vec![Effect::SendOrder { seat: job.seat }],
                Who::Order | Who::DeadLetter => vec![placing(state, job.seat, after)],
                Who::Expiry | Who::Reconciliation => ending(id, order, OrderState::Expired),
                Who::Cancel if state.redis.is_held(id) || order.is_none() => Vec::new(),
                Who::Cancel => ending(id, order, OrderState::Cancelled),
            },
            Next::Cancel => ending(id, order, OrderState::Cancelled),
            Next::Place(seat) => vec![placing(state, seat, after)],
            Next::Reseat(seat, refusal) => {
                let (answer, to) = self.reseat(&mut state.redis.clone(), seat, refusal);
                vec![Effect::Reseat { seat, answer, to }]
            }
            Next::Fence(seat, state) => {
                let answer = order.map_or(Written::Made, |order| Written::There(order.state));
                vec![Effect::Fence { seat, state, answer }]
            }
            Next::Apply(OrderState::Pending | OrderState::Paid) => {
                vec![Effect::Confirm { id, answer: self.confirm(&mut state.redis.clone(), id) }]
            }
            Next::Apply(ended) => {
                let of_another = order.filter(|_| ended == OrderState::SoldOut).map(|order| order.unit);
                vec![self.releasing(&state.redis, id, of_another)]
            }
            Next::SendExpiry => vec![Effect::SendExpiry { id }],
            Next::Release(of_another) => vec![self.releasing(&state.redis, id, of_another)],
            Next::Adopt | Next::AdoptThenGo(_) => {
                let seat = order.map(|Order { unit, slot, .. }| Seat { id, unit, slot });
                seat.map(|seat| self.adopting(&state.redis, seat)).into_iter().collect()
            }
            Next::Restore => vec![Effect::Restore { units: vec![unit], answer: Answer::Restored }],
            Next::Load(_) if state.redis.loaded => vec![Effect::Load { taken: None, answer: Answer::Present }],
            Next::Load(taken) => vec![Effect::Load { taken: Some(taken), answer: Answer::Loaded }],
            // Only in mistakes.
            Next::EndAfterRelease | Next::Open(_) => Vec::new(),
        };
        (sights, after)
    }

    pub(super) fn adopting(&self, redis: &Redis, seat: Seat) -> Effect {
        Effect::Adopt { seat, answer: self.adopt(&mut redis.clone(), seat) }
    }

    pub(super) fn releasing(&self, redis: &Redis, id: u8, of_another: Option<u8>) -> Effect {
        Effect::Release { id, of_another, answer: self.release(&mut redis.clone(), id, of_another) }
    }
}

fn placing(state: &State, seat: Seat, after: After) -> Effect {
    let order = state.ledger.orders[usize::from(seat.id)];
    let answer = match (order, after) {
        (Some(order), _) => Written::There(order.state),
        (None, After::Goes(Next::Reseat(_, Refusal { unit: true, .. }))) => Written::UnitTaken,
        (None, After::Goes(Next::Reseat(..))) => Written::SlotTaken,
        (None, _) => Written::Made,
    };
    Effect::Place { seat, answer }
}

fn ending(id: u8, order: Option<Order>, to: OrderState) -> Vec<Effect> {
    let state = order.map(|order| order.state);
    let answer = match state {
        None => Written::Absent,
        Some(OrderState::Pending) => return vec![Effect::End { id, to, answer: Written::Made }],
        Some(state) => Written::There(state),
    };
    vec![Effect::End { id, to, answer }, Effect::ReadOrder { id, found: state }]
}
