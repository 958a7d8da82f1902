//! A sample of the system's state.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use messaging::queue::{self, Depth};
use serde::Serialize;

use super::keys::{self, Keys};
use super::system::{System, emulator_kb, workers};
use crate::deployment::Deployment;
use crate::process::resident_of;
use crate::stack::STACK;

/// The emulator. It keeps everything in memory, so its memory is reported but not judged.
pub(super) const EMULATOR: &str = "the emulator";
/// This program. It keeps the history, so it is not judged either.
pub(super) const SOAK: &str = "the soak itself";
/// Redis. Its keys, and its memory beyond them, are judged instead.
pub(super) const REDIS: &str = "Redis";

#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Sample {
    /// Seconds from the beginning.
    pub(super) at_s: f64,
    /// Resident memory of the largest process of each kind, in kB.
    pub(super) memory_kb: BTreeMap<String, u64>,
    /// None while Redis does not answer.
    pub(super) keys: Option<Keys>,
    pub(super) items: Option<u64>,
    pub(super) queues: BTreeMap<&'static str, Depth>,
}

fn queues(deployment: &Deployment) -> [(&'static str, &str); 9] {
    [
        ("orders", &deployment.orders_queue_url),
        ("expiry", &deployment.expiry_queue_url),
        ("winners", &deployment.winners_queue_url),
        ("orders, dead", &deployment.orders_dlq_url),
        ("expiry, dead", &deployment.expiry_dlq_url),
        ("winners, dead", &deployment.winners_dlq_url),
        ("webhook, dead", &deployment.webhook_dlq_url),
        ("emitter, dead", &deployment.emitter_failures_queue_url),
        ("quarantine", &deployment.quarantine_queue_url),
    ]
}

/// Whether a queue is for messages that could not be handled.
pub(super) fn is_for_the_dead(queue: &str) -> bool {
    queue.ends_with("dead") || queue == "quarantine"
}

pub(super) struct Sampler {
    system: Arc<System>,
    sqs: aws_sdk_sqs::Client,
    dynamodb: aws_sdk_dynamodb::Client,
}

impl Sampler {
    pub(super) fn of(system: Arc<System>) -> Self {
        let config = system.deployment.patient_aws_config();
        Self { sqs: aws_sdk_sqs::Client::new(&config), dynamodb: aws_sdk_dynamodb::Client::new(&config), system }
    }

    pub(super) async fn take(&self, at_s: f64) -> Sample {
        let deployment = &self.system.deployment;
        let keys = keys::look(&deployment.redis_url).await.ok();
        let table = self.dynamodb.describe_table().table_name(&deployment.table).send().await.ok();
        let items = table.and_then(|table| table.table?.item_count).map(i64::unsigned_abs);
        let mut memory_kb = self.memory_kb();
        if let Some(keys) = &keys {
            memory_kb.insert(REDIS.to_owned(), keys.resident_bytes / 1024);
        }
        Sample { at_s, memory_kb, keys, items, queues: self.depths().await.unwrap_or_default() }
    }

    pub(super) async fn depths(&self) -> Result<BTreeMap<&'static str, Depth>> {
        let mut depths = BTreeMap::new();
        for (name, url) in queues(&self.system.deployment).into_iter().filter(|(_, url)| !url.is_empty()) {
            depths.insert(name, queue::depth(&self.sqs, url).await?);
        }
        Ok(depths)
    }

    /// The same by the names that AWS knows the queues by.
    pub(super) async fn depths_by_queue(&self) -> Result<Vec<(String, Depth)>> {
        let depths = self.depths().await?;
        let named = queues(&self.system.deployment)
            .into_iter()
            .filter_map(|(name, url)| Some((url.rsplit('/').next()?.to_owned(), *depths.get(name)?)));
        Ok(named.collect())
    }

    fn memory_kb(&self) -> BTreeMap<String, u64> {
        let mut memory = BTreeMap::new();
        let mut add = |kind: String, kb: u64| {
            let most = memory.entry(kind).or_default();
            *most = kb.max(*most);
        };
        let short = |name: &str| name.strip_prefix(STACK).map_or(name, |rest| rest.trim_start_matches('-')).to_owned();
        for side in self.system.sides() {
            for (name, counts) in side.gateway.counts().into_iter().filter(|(_, counts)| counts.running > 0) {
                add(format!("{}, {} gateway", short(&name), side.name), counts.resident_kb);
            }
        }
        let group = self.system.emulator.group();
        for worker in workers(group) {
            add(short(&worker.function), worker.resident_kb);
        }
        let others = [(EMULATOR, emulator_kb(group)), (SOAK, resident_of(Path::new("/proc/self")))];
        others.into_iter().filter_map(|(kind, kb)| Some((kind, kb?))).for_each(|(kind, kb)| add(kind.to_owned(), kb));
        memory
    }
}
