use tests::fresh_reservation;

use super::checked::{Outcome, clock, wrong};
use super::operation::{Change, Operation};
use super::orders::Order;
use super::sequence::{Message, Sequence, open_from};
use crate::prelude::*;

/// More repair runs than any sequence needs.
const MAX_RUNS: usize = 8;

impl Sequence {
    pub(super) async fn perform(&mut self, operation: &Operation) -> Outcome {
        use Operation::*;
        let round = self.round();
        match *operation {
            Reserve { user: number, sent } => drop(self.request(&user(number), sent).await?),
            Repeat { request } => {
                let Some((id, user)) = back(&self.requests, request) else { return Ok(()) };
                self.reserve(&id, &user, true).await?;
            }
            Deliver { message, dies_at } => {
                let Some(latest) = self.messages.len().checked_sub(1) else { return Ok(()) };
                self.deliver(latest - usize::from(message) % (latest + 1), dies_at).await?;
            }
            Cancel { request, dies_at } => {
                let Some((id, user)) = back(&self.requests, request) else { return Ok(()) };
                self.redis.calls_left = dies_at;
                let cancelled = self.cancel(&id, &user).await;
                self.survive(cancelled)?;
            }
            Expire { order, dies_at } => {
                let Some(order) = self.orders.back(order) else { return Ok(()) };
                let id = order.reservation.id.clone();
                let order = self.orders.step(&id, OrderState::Expired);
                self.redis.calls_left = dies_at;
                let applied = self.apply(&order).await;
                self.survive(applied)?;
            }
            Pay { order } => {
                let Some(order) = self.orders.back(order) else { return Ok(()) };
                let id = order.reservation.id.clone();
                self.orders.step(&id, OrderState::Paid);
            }
            Apply { order } => {
                let Some(order) = self.orders.back(order).cloned() else { return Ok(()) };
                self.apply(&order).await?;
            }
            ApplyLate { order } => {
                let read = self.orders.back(order).filter(|order| order.was_live).cloned();
                let Some(read) = read else { return Ok(()) };
                self.apply(&Order { state: OrderState::Pending, ..read }).await?;
            }
            Meddle { request, user: number } => {
                let other = user(number);
                let Some((id, _)) = back(&self.requests, request).filter(|(_, owner)| *owner != other) else {
                    return Ok(());
                };
                let reservation = Reservation { id, ..fresh_reservation(&round, &other, 1, 0) };
                self.redis.confirm(&reservation).await?;
                self.redis.release(&reservation, None, true).await?;
            }
            Update { change, heard } => {
                let changed = self.update(&round, |round| apply(change, round));
                if heard {
                    self.redis.amend(&changed).await?;
                }
            }
            Amend { version } => {
                let known = back(&self.rounds[&round], version).expect("every round has a version");
                self.redis.amend(&known).await?;
            }
            Load => self.load(&round).await?,
            NextRound if round.number > RoundNumber(1) => {}
            NextRound => {
                let next = RoundNumber(round.number.0 + 1);
                let next = RoundId { number: next, ..round.clone() };
                let first = Round { id: next.clone(), version: 1, ..self.current(&round).clone() };
                self.rounds.insert(next.clone(), vec![first]);
                self.load(&next).await?;
            }
            Due { most } => self.send_due(&round, most, self.patient).await?,
            Reconcile => self.reconcile(&round).await?,
            GoOn => self.go_on().await?,
            Wait => self.redis.wait().await?,
            GiveUpLate { request } => {
                let Some((id, user)) = back(&self.requests, request) else { return Ok(()) };
                self.give_up(&id, &user).await?;
            }
            Replicate => self.replica = Some(self.redis.replicate().await?),
            Failover => {
                let Some(replica) = &self.replica else { return Ok(()) };
                self.redis.fail_over(replica).await?;
            }
            LoseAll => self.redis.lose_all().await?,
            ReadLedger => self.reading = Some((self.current(&round).clone(), self.orders.taken(&round))),
            LoadAsRead => {
                let Some((read, taken)) = self.reading.take() else { return Ok(()) };
                self.redis.load(&read, taken).await?;
            }
            List => self.listing = self.list(&round).await?,
            Repair => {
                let Some(listing) = self.listing.clone() else { return Ok(()) };
                self.repair(listing).await?;
            }
        }
        Ok(())
    }

    async fn send_due(&mut self, round: &RoundId, most: usize, wait: bool) -> Outcome {
        for reservation in self.redis.due(round, most, wait).await? {
            self.send(reservation);
        }
        Ok(())
    }

    /// No user has more live orders than the limit.
    pub(super) fn check_limit(&self) -> Outcome {
        for round in self.rounds.keys() {
            let mut orders: BTreeMap<&UserId, usize> = BTreeMap::new();
            for order in self.orders.live(round) {
                *orders.entry(&order.reservation.user).or_default() += 1;
            }
            let limit = usize::from(self.current(round).terms.per_user_limit);
            if let Some((user, number)) = orders.into_iter().find(|(_, number)| *number > limit) {
                return wrong(format!("{user} has {number} live orders"));
            }
        }
        Ok(())
    }

    /// As long as Redis loses nothing, no unit is in two places, and none is in no place unless a process died.
    pub(super) async fn check_places(&self) -> Outcome {
        for round in self.rounds.keys() {
            let Some((audit, _)) = self.audit(round).await? else { return wrong("the round is gone") };
            if audit.oversold + audit.duplicated > 0 || !(audit.is_clean() || self.died) {
                return wrong(format!("the audit of round {round}: {audit:?}"));
            }
        }
        Ok(())
    }

    /// Runs the queue and the schedules at the end, until there is nothing left to do.
    pub(super) async fn heal(&mut self) -> Outcome {
        let rounds: Vec<RoundId> = self.rounds.keys().cloned().collect();
        let mut left = None;
        for _ in 0..MAX_RUNS {
            for round in &rounds {
                self.load(round).await?;
                let current = self.current(round).clone();
                self.redis.amend(&current).await?;
                self.send_due(round, 1000, false).await?;
                for message in 0..self.messages.len() {
                    if !self.messages[message].done {
                        self.deliver(message, None).await?;
                    }
                }
                self.reconcile(round).await?;
            }
            left = self.left_to_do().await?;
            if left.is_none() {
                return self.check_limit();
            }
        }
        wrong(left.expect("a reason"))
    }

    async fn left_to_do(&self) -> Outcome<Option<String>> {
        let unanswered = |message: &&Message| self.orders.get(&message.reservation.id).is_none();
        if let Some(Message { reservation, .. }) = self.messages.iter().find(unanswered) {
            return Ok(Some(format!("neither an order nor a release: {reservation:?}")));
        }
        for round in self.rounds.keys() {
            let Some((audit, _)) = self.audit(round).await? else { return wrong("the round is gone") };
            if !audit.is_clean() || !audit.repairs.is_empty() || audit.held > 0 {
                return Ok(Some(format!("the audit of round {round} in the end: {audit:?}")));
            }
        }
        Ok(None)
    }

    /// Every free unit of the current round can be bought.
    pub(super) async fn sell_out(&mut self) -> Outcome {
        let round = self.round();
        let changed = self.update(&round, |round| {
            apply(Change::OpenNow, round);
            round.paused = false;
            // As if early access had ended.
            round.terms.early_access.clear();
        });
        self.redis.amend(&changed).await?;
        self.redis.wait().await?;
        let mut free = self.redis.models[&round].free();
        for number in 0.. {
            match self.request(&user(format!("late-{number}")), false).await? {
                Reserve::Reserved(reservation) if free.remove(&reservation.unit.0) => {}
                Reserve::SoldOut(_) if free.is_empty() => return Ok(()),
                other => return wrong(format!("{other:?} with {free:?} free")),
            }
        }
        Ok(())
    }
}

fn apply(change: Change, round: &mut Round) {
    let now = clock();
    match change {
        Change::Resume => round.paused = false,
        Change::Pause => round.paused = true,
        Change::Restock(more) => round.terms.total += more,
        Change::Close => round.terms.closes_at_ms = EpochMs(round.terms.opens_at_ms.0.min(now.0 - 1) + 1),
        Change::OpenLater => open_from(round, now, 3600),
        Change::OpenNow => open_from(round, now, -60),
    }
}
