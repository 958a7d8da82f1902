//! Every alarm on what reconciliation publishes rings when its fault is planted, and none does before.

use std::collections::BTreeSet;

use local::alarms::{Alarm, Measured};
use metrics_util::debugging::{DebugValue, DebuggingRecorder};
use runtime::Clock;
use tests::terms;

use crate::cloud::cloud;
use crate::lab::{Lab, SALE};

/// As long as the longest of these alarms looks back, in minutes.
const LONG: i64 = 5;
const MINUTE_MS: i64 = 60_000;

/// The minutes of a lab, in each of which reconciliation runs once.
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

    async fn run(&mut self, deps: &reconciliation::Deps) {
        let recorder = DebuggingRecorder::new();
        let snapshotter = recorder.snapshotter();
        {
            let _guard = metrics::set_default_local_recorder(&recorder);
            reconciliation::handle(deps).await.unwrap();
        }
        self.past += 1;
        for (key, _, _, value) in snapshotter.snapshot().into_vec() {
            let (DebugValue::Gauge(value), None) = (value, key.key().labels().next()) else { continue };
            self.measured.add_own(key.key().name(), self.past * MINUTE_MS, value.into_inner());
        }
    }

    /// The alarms that ring at the end of this minute.
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
    let late = reconciliation::Deps { clock: Clock::ahead_by_ms(130_000), ..lab.reconciliation() };
    minutes.run(&late).await;
    assert_eq!(minutes.ringing(), [].into());
    minutes.run(&late).await;
    assert_eq!(minutes.ringing(), ["outbox-too-old"].into());
}

#[tokio::test]
async fn orders_that_are_overdue_minute_after_minute_ring() {
    let lab = Lab::selling(terms(10, 1)).await;
    let mut minutes = Minutes::begin().await;
    let late = reconciliation::Deps { clock: Clock::ahead_by_ms(2_000_000), ..lab.reconciliation() };
    for number in 0..LONG {
        lab.buy(&format!("user-{number}")).await;
        minutes.run(&late).await;
    }
    assert!(minutes.ringing().contains("orders-overdue"), "{:?}", minutes.ringing());
}
