//! Every alarm on what our functions publish rings when its fault is planted, and none does before.

use local::alarms::{Alarm, Measured};
use metrics_util::debugging::DebugValue;

use crate::lotteries::{AFTER_S, end, lottery};
use crate::metrics::measured;
use crate::prelude::*;

/// As long as the longest of these alarms looks back, in minutes.
const LONG: i64 = 5;
const MINUTE_MS: i64 = 60_000;

/// The minutes of a lab, in each of which something is done once.
struct Minutes {
    alarms: Vec<Alarm>,
    measured: Measured,
    past: i64,
}

impl Minutes {
    async fn begin() -> Self {
        let template = cloud().await.deployment.home.join("cdk.out/FlashSale.template.json");
        Self { alarms: Alarm::all_of(&template).unwrap(), measured: Measured::default(), past: 0 }
    }

    async fn run(&mut self, deps: &reconciliation::ReconciliationDeps) {
        self.pass(async || drop(reconciliation::handle(deps).await.unwrap())).await;
    }

    /// Does this for a minute, and measures what it publishes.
    async fn pass(&mut self, what: impl AsyncFnOnce()) {
        self.past += 1;
        for (name, labels, value) in measured(what()).await {
            let value = match value {
                _ if !labels.is_empty() => continue,
                DebugValue::Gauge(value) => value.into_inner(),
                DebugValue::Counter(count) => count as f64,
                DebugValue::Histogram(_) => continue,
            };
            self.measured.add_own(&name, self.past * MINUTE_MS, value);
        }
    }

    fn ringing(&self) -> BTreeSet<&str> {
        let rings = |alarm: &&Alarm| alarm.rings(&self.measured, self.past * MINUTE_MS);
        self.alarms.iter().filter(rings).map(|alarm| &*alarm.name).collect()
    }
}

#[tokio::test]
async fn no_alarm_rings_in_a_sale_and_that_of_a_silent_reconciliation_does() {
    let lab = Lab::selling(terms(10, 1)).await;
    let mut minutes = Minutes::begin().await;
    for number in 0..LONG {
        lab.buy(&format!("user-{number}")).await;
        minutes.run(&lab.reconciliation()).await;
        assert_eq!(minutes.ringing(), [].into());
    }
    minutes.past += LONG;
    assert_eq!(minutes.ringing(), ["reconciliation-silent"].into());
}

#[tokio::test]
async fn a_unit_that_was_sold_twice_rings_at_once() {
    let lab = Lab::selling(terms(3, 1)).await;
    let mut carol = lab.reserve("carol").await;
    // A unit that the round never had.
    carol.unit = sale::Unit(4);
    lab.deliver(&[&carol]).await;
    let mut minutes = Minutes::begin().await;
    minutes.run(&lab.reconciliation()).await;
    assert!(minutes.ringing().contains("units-oversold"), "{:?}", minutes.ringing());
}

#[tokio::test]
async fn a_unit_that_stays_adrift_rings_and_one_that_comes_back_does_not() {
    let lab = Lab::selling(terms(3, 1)).await;
    lab.reserve("alice").await;
    lab.redis(&["HDEL", "buyers:{lamp:1:0}", "alice"]).await;
    let mut minutes = Minutes::begin().await;
    for _ in 0..LONG {
        minutes.run(&lab.reconciliation()).await;
    }
    assert_eq!(minutes.ringing(), [].into());
    let bob = lab.buy("bob").await;
    // Nothing repairs it.
    lab.delete_item(&format!("UNIT#{SALE}#1#{}", bob.unit)).await;
    for _ in 0..LONG {
        minutes.run(&lab.reconciliation()).await;
    }
    assert_eq!(minutes.ringing(), ["units-adrift"].into());
}

#[tokio::test]
async fn a_round_that_redis_loses_rings_once() {
    let lab = Lab::selling(terms(3, 1)).await;
    let mut minutes = Minutes::begin().await;
    lab.redis(&["FLUSHALL"]).await;
    minutes.run(&lab.reconciliation()).await;
    assert_eq!(minutes.ringing(), ["rounds-rebuilt"].into());
    minutes.run(&lab.reconciliation()).await;
    assert_eq!(minutes.ringing(), [].into());
}

#[tokio::test]
async fn a_round_that_cannot_be_read_rings_after_five_minutes() {
    let lab = Lab::selling(terms(3, 1)).await;
    let mut minutes = Minutes::begin().await;
    minutes.run(&lab.reconciliation()).await;
    lab.redis(&["SET", "sale:{lamp:1:0}", "nonsense", "KEEPTTL"]).await;
    for _ in 1..LONG {
        minutes.run(&lab.reconciliation()).await;
        assert_eq!(minutes.ringing(), [].into(), "one run was good");
    }
    minutes.run(&lab.reconciliation()).await;
    assert_eq!(minutes.ringing(), ["reconciliation-failing"].into());
}

#[tokio::test]
async fn a_reservation_that_gets_no_order_rings_in_the_second_minute() {
    let lab = Lab::selling(terms(3, 1)).await;
    lab.reserve("alice").await;
    let mut minutes = Minutes::begin().await;
    let late = reconciliation::ReconciliationDeps { clock: Clock::ahead_by_ms(130_000), ..lab.reconciliation() };
    minutes.run(&late).await;
    assert_eq!(minutes.ringing(), [].into());
    minutes.run(&late).await;
    assert_eq!(minutes.ringing(), ["outbox-too-old"].into());
}

#[tokio::test]
async fn orders_that_are_overdue_minute_after_minute_ring() {
    let lab = Lab::selling(terms(10, 1)).await;
    let mut minutes = Minutes::begin().await;
    let late = reconciliation::ReconciliationDeps { clock: Clock::ahead_by_ms(2_000_000), ..lab.reconciliation() };
    for number in 0..LONG {
        lab.buy(&format!("user-{number}")).await;
        minutes.run(&late).await;
    }
    assert!(minutes.ringing().contains("orders-overdue"), "{:?}", minutes.ringing());
}

/// The alarms that ring without reconciliation, which is silent here.
fn beside_silence(minutes: &Minutes) -> BTreeSet<&str> {
    let mut ringing = minutes.ringing();
    assert!(ringing.remove("reconciliation-silent"));
    ringing
}

#[tokio::test]
async fn a_draw_that_cannot_be_finished_rings_after_five_minutes() {
    let lab = Lab::selling(lottery(10, &[1])).await;
    lab.reserve("alice").await;
    end(&lab).await;
    let mut minutes = Minutes::begin().await;
    for minute in 0..=LONG {
        assert_eq!(beside_silence(&minutes), [].into(), "{minute} minutes");
        let late_s = if minute == 0 { AFTER_S } else { 7200 };
        minutes.pass(async || drop(draw::handle(&lab.draw_in(late_s)).await.unwrap())).await;
    }
    assert_eq!(beside_silence(&minutes), ["draws-late"].into());
}

#[tokio::test]
async fn an_entry_that_comes_after_its_draw_has_begun_rings_at_once() {
    let lab = Lab::selling(lottery(10, &[1])).await;
    let bob = lab.reserve("bob").await;
    end(&lab).await;
    lab.ledger.fence_draw(&lab.round().await, Clock::ahead_by_ms(AFTER_S * 1000).now()).await.unwrap();
    let mut minutes = Minutes::begin().await;
    minutes.pass(async || lab.deliver_in(AFTER_S, &[&bob]).await).await;
    assert_eq!(beside_silence(&minutes), ["entries-late"].into());
}

#[tokio::test]
async fn a_payment_that_contradicts_an_earlier_one_rings_at_once() {
    let lab = Lab::selling(terms(3, 1)).await;
    let reservation = lab.buy("alice").await;
    let mut minutes = Minutes::begin().await;
    for (minor, ringing) in [(990, BTreeSet::new()), (991, ["payments-mismatched"].into())] {
        let paid = Ask::paid("pay_1", &reservation.id.to_string(), minor, &lab.payment_key);
        minutes.pass(async || drop(lab.answer(&paid).await.expect(200))).await;
        assert_eq!(beside_silence(&minutes), ringing);
    }
}

/// What only AWS measures cannot be planted here: these ring at their limits and not below.
#[tokio::test]
async fn alarms_on_what_aws_measures_ring_at_their_limits() {
    let minutes = Minutes::begin().await;
    let aws: Vec<&Alarm> = minutes.alarms.iter().filter(|alarm| alarm.is_on_aws()).collect();
    assert!(aws.len() > 15, "{aws:?}");
    for alarm in aws {
        let measured = |value: f64| {
            let mut measured = Measured::default();
            (1..=LONG).for_each(|minute| measured.add_for(alarm, minute * MINUTE_MS, value));
            alarm.rings(&measured, LONG * MINUTE_MS)
        };
        assert!(!measured(alarm.threshold - 1.0) && measured(alarm.threshold), "{alarm:?}");
    }
}
