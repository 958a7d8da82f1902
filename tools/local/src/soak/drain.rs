//! The end of a run: everything under way comes to rest.

use std::time::{Duration, Instant};

use anyhow::Result;
use aws_sdk_dynamodb::Client as DynamoDb;
use parking_lot::Mutex;
use sale::OrderState;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::run::Run;
use super::sample::{Sample, Sampler};
use crate::recorded::every_order;
use crate::stages::Stage;

/// How long it may take. SQS redelivers a lost message within minutes, and a machine may be slow.
const PATIENCE: Duration = Duration::from_secs(15 * 60);
const POLL_EVERY: Duration = Duration::from_secs(3);

/// Where the units of a round are, as its audit says.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Audited {
    pub(super) round: String,
    pub(super) lanes: u16,
    pub(super) in_redis: bool,
    pub(super) clean: bool,
    pub(super) total: u64,
    pub(super) free: u64,
    pub(super) held: u64,
    pub(super) ordered: u64,
    pub(super) oversold: u64,
    pub(super) lost: u64,
    pub(super) duplicated: u64,
}

impl Audited {
    pub(super) fn wrong(&self) -> Option<String> {
        let Self { round, clean, total, free, held, ordered, oversold, lost, duplicated, .. } = self;
        let adds_up = free.saturating_add(*held).saturating_add(*ordered) == *total;
        let is_good = *clean && adds_up && [held, oversold, lost, duplicated].iter().all(|count| **count == 0);
        (!is_good).then(|| {
            format!(
                "{round}: {free} free + {held} held + {ordered} ordered of {total}; {oversold} oversold, {lost} lost, \
                 {duplicated} duplicated"
            )
        })
    }
}

#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Rest {
    pub(super) audits: Vec<Audited>,
    pub(super) pending: usize,
    pub(super) queued: u64,
    pub(super) seconds: f64,
    pub(super) is_at_rest: bool,
}

/// Waits until no message is in flight, no unit is held and no order is unpaid. Has lost messages sent again.
pub(super) async fn drain(run: &Run, sampler: &Sampler, samples: &Mutex<Vec<Sample>>) -> Result<Rest> {
    let stage = Stage::spinner("The backlog");
    let (began, dynamodb) = (Instant::now(), DynamoDb::new(&run.system.deployment.patient_aws_config()));
    loop {
        run.operator.heal().await;
        let sample = sampler.take(run.now_s()).await;
        let queued: u64 = sample.queues.values().map(|depth| depth.all()).sum();
        let is_seen = !sample.queues.is_empty();
        samples.lock().push(sample);
        let orders = every_order(&dynamodb, &run.system.deployment.table).await?;
        let pending = orders.iter().filter(|order| order.state == OrderState::Pending).count();
        let mut audits: Vec<Audited> = Vec::new();
        for one in run.board.all() {
            let mut audit = run.operator.audit(&one.round).await?;
            (audit["round"], audit["lanes"]) = (json!(one.round.to_string()), json!(one.lanes));
            audits.push(serde_json::from_value(audit)?);
        }
        let wrong: Vec<String> = audits.iter().filter_map(Audited::wrong).collect();
        let is_at_rest = is_seen && queued == 0 && pending == 0 && wrong.is_empty();
        let far = format!("{queued} messages, {pending} unpaid orders, {} rounds that are not clean", wrong.len());
        run.journal.note(run.now_s(), &format!("drain: {far} {}", wrong.join("; ")));
        if is_at_rest || began.elapsed() > PATIENCE {
            stage.done(far);
            return Ok(Rest { audits, pending, queued, seconds: began.elapsed().as_secs_f64(), is_at_rest });
        }
        stage.say(far);
        tokio::time::sleep(POLL_EVERY).await;
    }
}
