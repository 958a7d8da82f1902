//! Functions whose clocks are minutes off: whatever they show, nothing is oversold or lost, and paid is final.

use crate::prelude::*;

const UNITS: u32 = 6;
const OFF_MS: i64 = 5 * 60 * 1000;
const WINDOW_MS: i64 = 900 * 1000;

/// How far each clock is ahead.
#[derive(Debug, Clone, Copy)]
struct Off {
    reservation: i64,
    order: i64,
    expiry: i64,
    reconciliation: i64,
}

impl Off {
    /// Fast and slow clocks, so that any two of them are off in each of the four ways: what goes wrong is between two.
    fn all() -> [Self; 6] {
        let all = [[1, 1, 1, 1], [1, -1, -1, -1], [-1, 1, -1, -1], [-1, -1, 1, -1], [-1, -1, -1, 1], [-1, -1, -1, -1]];
        all.map(|signs| {
            let [reservation, order, expiry, reconciliation] = signs.map(|sign| sign * OFF_MS);
            Self { reservation, order, expiry, reconciliation }
        })
    }
}

/// A lab whose functions have these clocks, all of them `later_ms` later.
struct Clocks<'a> {
    lab: &'a Lab,
    off: Off,
    later_ms: i64,
}

impl Clocks<'_> {
    fn clock(&self, off_ms: i64) -> Clock {
        Clock::ahead_by_ms(off_ms + self.later_ms)
    }

    async fn ask(&self, ask: Ask) -> Answer {
        let clock = self.clock(self.off.reservation);
        let deps = reservation::ReservationDeps { clock, ..self.lab.reservation() };
        // Otherwise the pass would be refused before a wrong clock could do any harm.
        let ask = ask.let_in_at(clock.now());
        ask_function(&self.lab.recorder, &deps, &ask).await
    }

    async fn reserve(&self, name: &str) -> Reservation {
        self.lab.sell_returned().await;
        self.lab.reservation_of(self.ask(Ask::reserve(SALE, name)).await, name).await
    }

    async fn order(&self, reservations: &[&Reservation]) {
        let deps = order::OrderDeps { clock: self.clock(self.off.order), ..self.lab.order() };
        let batch = message_batch(reservations.iter().copied());
        assert_eq!(order::handle(&deps, batch).await.batch_item_failures.len(), 0);
    }

    async fn expire(&self, reservations: &[&Reservation]) {
        let deps = expiry::ExpiryDeps { clock: self.clock(self.off.expiry), ..self.lab.expiry_in(0) };
        let batch = expiry_batch(reservations.iter().copied());
        assert_eq!(expiry::handle(&deps, batch).await.batch_item_failures.len(), 0);
    }

    async fn reconcile(&self) {
        let clock = self.clock(self.off.reconciliation);
        let deps = reconciliation::ReconciliationDeps { clock, ..self.lab.reconciliation() };
        assert_eq!(reconciliation::handle(&deps).await.unwrap().failed, 0);
    }

    async fn pay(&self, reservation: &Reservation) -> Answer {
        let deps = payment::PaymentDeps { clock: self.clock(-self.off.order), ..self.lab.payment() };
        let paid = Ask::paid_for(&format!("pay_{}", reservation.user), reservation, &self.lab.payment_key);
        ask_function(&self.lab.recorder, &deps, &paid).await
    }

    async fn states(&self, reservations: &[&Reservation]) -> Vec<OrderState> {
        join_all(reservations.iter().map(|order| self.lab.order_of(order).map(|order| order.state))).await
    }
}

async fn loaded_by(clock: Clock, terms: &Terms) -> Lab {
    let lab = Lab::publishing(terms.clone()).await;
    assert_eq!(warmup::handle(&warmup::WarmupDeps { clock, ..lab.warmup() }).await.unwrap().loaded, 1);
    lab
}

async fn a_sale_with(off: Off) {
    use OrderState::{Cancelled, Expired, Paid, Pending};
    let lab = loaded_by(Clock::ahead_by_ms(off.reconciliation), &terms(UNITS, 1)).await;
    let mut at = Clocks { lab: &lab, off, later_ms: 0 };
    let (alice, bob, carol) = (at.reserve("alice").await, at.reserve("bob").await, at.reserve("carol").await);
    let (dave, eve, frank) = (at.reserve("dave").await, at.reserve("eve").await, at.reserve("frank").await);
    at.ask(Ask::reserve(SALE, "grace")).await.problem(409, "sold_out");
    let all = [&alice, &bob, &carol, &dave, &eve, &frank];
    at.order(&all[..5]).await;
    at.order(&all[..5]).await;
    // Frank cancels before he has an order. His message comes afterwards.
    for buyer in [&bob, &frank] {
        at.ask(Ask::cancel(buyer)).await.expect(200);
    }
    at.order(&[&frank]).await;
    assert_eq!(at.pay(&alice).await.expect(200).text("outcome"), "applied");

    // Two clocks differ by ten minutes at most. The window is longer, so no order has expired.
    at.expire(&all).await;
    at.reconcile().await;
    assert_eq!(at.states(&all).await, [Paid, Cancelled, Pending, Pending, Pending, Cancelled], "{off:?}");
    assert_eq!(lab.clean_audit().await, (2, 0, 4), "{off:?}");

    // At the true end of the window, some clocks show it and others do not. Eve pays meanwhile.
    at.later_ms = WINDOW_MS;
    let ((), (), eves) = tokio::join!(at.expire(&all), at.reconcile(), at.pay(&eve));
    let outcome = eves.expect(200).text("outcome").to_owned();
    assert!(lab.audit().await.is_clean(), "{off:?}");
    let eves_order = lab.order_of(&eve).await;
    assert_eq!(eves_order.state, if outcome == "applied" { Paid } else { Expired }, "{off:?}");
    assert_eq!(eves_order.refunds_due.len(), usize::from(outcome == "refund_due"), "{off:?}");

    // Ten minutes later, by any clock, unpaid orders have expired.
    at.later_ms = WINDOW_MS + 2 * OFF_MS + 1000;
    at.expire(&all).await;
    at.reconcile().await;
    let states = at.states(&all).await;
    assert_eq!(states, [Paid, Cancelled, Expired, Expired, eves_order.state, Cancelled], "{off:?}");
    assert_eq!(at.pay(&carol).await.expect(200).text("outcome"), "refund_due");
    let live = 1 + u32::from(outcome == "applied");
    assert_eq!(lab.clean_audit().await, (UNITS - live, 0, live), "{off:?}");

    // By Redis's clock the sale is still open: all returned units are sold again, and no more.
    for late in 0..UNITS - live {
        let late = at.reserve(&format!("late-{late}")).await;
        at.order(&[&late]).await;
    }
    at.ask(Ask::reserve(SALE, "too-late")).await.problem(409, "sold_out");
    assert_eq!(lab.clean_audit().await, (0, 0, UNITS), "{off:?}");
    lab.check_history_by(history::Clocks::Apart, "wrong_clocks", &[SALE], Redis::Keeps).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_invariants_hold_by_any_clock() {
    for some in Off::all().chunks(3) {
        let sales = some.iter().map(|off| tokio::time::timeout(Duration::from_secs(600), a_sale_with(*off)));
        assert!(join_all(sales).await.iter().all(Result::is_ok), "a sale ends");
    }
}

/// Redis's clock decides when the sale is open.
#[tokio::test]
async fn a_wrong_clock_neither_opens_a_sale_nor_keeps_it_open() {
    let before = rounds::from_to(120, 3600, terms(UNITS, 1));
    let after = rounds::from_to(-600, -120, terms(UNITS, 1));
    for (terms, believes_open, refusal) in [(before, OFF_MS, (409, "not_open")), (after, -OFF_MS, (410, "closed"))] {
        let lab = loaded_by(Clock::ahead_by_ms(believes_open), &terms).await;
        let off = Off { reservation: believes_open, order: 0, expiry: 0, reconciliation: believes_open };
        let at = Clocks { lab: &lab, off, later_ms: 0 };
        at.reconcile().await;
        at.ask(Ask::reserve(SALE, "alice")).await.problem(refusal.0, refusal.1);
        assert_eq!(lab.clean_audit().await, (UNITS, 0, 0));
    }
}

/// SQS measures the window, so a wrong clock in the order function alone makes no order's message come early or late.
#[tokio::test]
async fn a_message_expires_its_order_after_the_window_by_any_clock_of_the_order_function() {
    for off_ms in [OFF_MS, -OFF_MS] {
        let lab = Lab::selling(terms(UNITS, 1)).await;
        let off = Off { reservation: 0, order: off_ms, expiry: 0, reconciliation: 0 };
        let at = Clocks { lab: &lab, off, later_ms: 0 };
        let alice = at.reserve("alice").await;
        lab.calls.take();
        at.order(&[&alice]).await;
        let sends = lab.calls.take().into_iter().filter(|call| call.target == "AmazonSQS.SendMessage");
        let delays: Vec<Value> = sends.map(|call| call.body["DelaySeconds"].clone()).collect();
        assert_eq!(delays, [WINDOW_MS / 1000]);
    }
}
