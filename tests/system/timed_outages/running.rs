//! Lets time pass until nothing is left to do.

use super::common::{Fleet, Heard, OUTAGE, STEP_S, UNITS, When, World};
use crate::prelude::*;

/// As in `infra/cdk/lib/functions.ts`.
const EVERY_S: u32 = 60;
/// Steps after which nothing may be left to do: the work takes no longer than the outage.
const MOST_STEPS: u32 = OUTAGE;
/// Only ends a test that would hang.
const LONG: Duration = Duration::from_secs(60);

impl World {
    /// Lets time pass: buyers come, messages are delivered, and once a minute the schedules run.
    pub(super) async fn pass(&mut self, steps: u32) {
        for _ in 0..steps {
            self.step().await;
        }
    }

    async fn step(&mut self) {
        self.move_on().await;
        self.buyers_come().await;
        if self.when != When::During || self.has_queues {
            self.deliver().await;
        }
        if self.now() >= self.next_run_at {
            self.next_run_at = self.now().plus_s(EVERY_S);
            self.run_schedules().await;
        }
    }

    async fn move_on(&mut self) {
        self.time.pass(STEP_S);
        let now = self.now();
        let deadline = Instant::now() + LONG;
        loop {
            let (s, us): (i64, i64) = redis::cmd("TIME").query_async(&mut self.clock_of_redis).await.unwrap();
            if s * 1000 + us / 1000 >= now.0 {
                return;
            }
            assert!(Instant::now() < deadline, "Redis does not follow the test's clock");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    async fn deliver(&mut self) {
        let (now, Fleet { order, dead_letter, .. }) = (self.time.clock().now(), &self.fleet);
        self.queues.deliver(self.lab.queue("orders"), now, |batch| order::handle(order, batch)).await;
        self.queues.deliver(self.lab.queue("orders_dlq"), now, |batch| dead_letter::handle(dead_letter, batch)).await;
    }

    /// Also those that fail on a busy machine, which come again.
    async fn deliver_all(&mut self) {
        for _ in 0..MOST_STEPS {
            self.deliver().await;
            if self.queues.hidden() == 0 {
                return;
            }
            self.move_on().await;
        }
        panic!("{MOST_STEPS} steps were not enough: {} hidden", self.queues.hidden());
    }

    async fn run_schedules(&mut self) {
        // Whatever fails is done a minute later.
        let Fleet { warmup, reconciliation, .. } = &self.fleet;
        let (_, run) = tokio::join!(warmup::handle(warmup), reconciliation::handle(reconciliation));
        self.last_run = run.ok();
        self.runs += 1;
    }

    /// Lets time pass until nothing is left to do, once the part is back, and prints how long that took. Returns
    /// how much there was to do.
    async fn work_off(&mut self, test: &str) -> usize {
        self.when = When::After;
        let (back_at, runs) = (self.now(), self.runs);
        let owed: Vec<ReservationId> = self.told().map(|(_, id)| id).collect();
        let (reservations, messages) = (owed.len() - self.orders(&owed).await.len(), self.queues.hidden());
        let mut ordered_s = None;
        for steps in 1..=MOST_STEPS {
            self.steps_back = steps;
            self.step().await;
            let after_s = self.now().since_ms(back_at) / 1000;
            if ordered_s.is_none() && self.orders(&owed).await.len() == owed.len() {
                ordered_s = Some(after_s);
            }
            if let Some(ordered_s) = ordered_s
                && self.runs > runs
                && self.is_idle().await
            {
                eprintln!(
                    "{test} left {reservations} reservations without an order and {messages} messages to come again; all \
                     were orders after {ordered_s} s, and nothing was left to do after {after_s} s"
                );
                return reservations + messages;
            }
        }
        panic!("{MOST_STEPS} steps were not enough: {} hidden, {:?}", self.queues.hidden(), self.last_run);
    }

    pub(super) async fn orders(&self, ids: &[ReservationId]) -> Vec<Order> {
        self.lab.ledger.orders(ids).await.unwrap()
    }

    /// Whether no message is left, and the last reconciliation had nothing to do.
    async fn is_idle(&self) -> bool {
        let Some(run) = &self.last_run else { return false };
        let did = run.sent + run.adopted + run.released + run.restored + run.rebuilt + run.overdue + run.failed;
        did == 0
            && self.queues.hidden() == 0
            && self.lab.depth("orders").await == [0; 3]
            && self.lab.depth("orders_dlq").await == [0; 3]
    }

    /// The work that the outage left is done. Refused buyers ask again and others take what is left. Then each
    /// reservation that a buyer knows of must be one order of theirs, each unit must be sold once, and no buyer may be
    /// blamed for anything. `may_be_refused` says who may hear 503 although the part is back. Returns how much work the
    /// outage had left.
    pub(super) async fn ends_well(
        mut self,
        test: &str,
        redis: Redis,
        may_be_refused: impl Fn(&Heard) -> bool,
    ) -> usize {
        let left = self.work_off(test).await;
        for heard in self.heard(When::After) {
            match heard.answer.status {
                503 if may_be_refused(heard) => drop(heard.answer.clone().problem(503, "overloaded")),
                status => assert_eq!(status, 202, "{heard:?}"),
            }
        }
        assert!(self.looks > 0, "a reservation is looked at");
        for name in self.refused() {
            self.ask(name, true).await.expect(202);
        }
        self.deliver_all().await;
        let free = self.lab.clean_audit().await.0;
        for number in 0..free {
            self.ask(format!("late-{number}"), true).await.expect(202);
        }
        self.ask("too-late".to_owned(), true).await.problem(409, "sold_out");
        self.deliver_all().await;
        assert_eq!(self.lab.clean_audit().await, (0, 0, UNITS), "nothing is oversold, lost or held for ever");

        let told: Vec<(String, ReservationId)> = self.told().collect();
        for (name, id) in &told {
            let order = self.lab.ledger.order(id).await.unwrap().unwrap_or_else(|| panic!("{name}'s {id} is lost"));
            let wanted = if self.paid.contains(name) { OrderState::Paid } else { OrderState::Pending };
            assert_eq!((order.state, &order.reservation.user), (wanted, &user(name)));
        }
        let items = items(&self.lab.dynamodb, &self.lab.table).await;
        let count = |kind: &str| items.keys().filter(|key| key.starts_with(kind)).count();
        assert_eq!((count("ORDER#"), told.len()), (UNITS as usize, UNITS as usize), "one order for each");
        assert_eq!(["VIOLATIONS#", "BLOCKED#"].map(count), [0; 2], "no buyer is blamed");
        self.lab.check_history_by(Clocks::Apart, test, &[SALE], redis).await;
        left
    }
}
