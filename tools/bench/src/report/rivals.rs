//! `reserve.lua` and the bare script that everyone writes first, both as plain calls to Redis.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use load::measure::{Load, closed};
use local::valkey::Valkey;
use redis::AsyncConnectionConfig;
use redis::aio::MultiplexedConnection;
use sale::{DoorTerms, RoundId, RoundNumber, Terms};
use serde_json::json;
use stock::{RoundLoad, Stock};
use uuid::Uuid;

/// Only stock and buyers: a reservation here is not safe to repeat, and cannot be found, sent again or given back.
const BARE: &str = "
local stock, bought = tonumber(redis.call('GET', KEYS[1])), redis.call('HGET', KEYS[2], ARGV[1])
if tonumber(bought or 0) >= 1 then return 'limit' end
if stock < 1 then return 'sold_out' end
redis.call('DECRBY', KEYS[1], 1)
redis.call('HSET', KEYS[2], ARGV[1], 1)
return 'reserved'";
const BARE_STOCK: &str = "stock:{bare}";
const BARE_BOUGHT: &str = "bought:{bare}";

/// Longest wait for an answer: on a busy machine a batch takes longer than the client's default of half a second.
const PATIENCE: Duration = Duration::from_secs(60);

/// The sale of every measurement.
pub(crate) const SALE: &str = "lamp";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rival {
    Reserve,
    Bare,
}

/// A Valkey with both scripts loaded.
pub(crate) struct Ring {
    pub(crate) valkey: Valkey,
    pub(crate) stock: Stock,
    client: redis::Client,
    reserve: String,
    bare: String,
}

pub(crate) fn round(sale: &str) -> Result<RoundId> {
    Ok(RoundId { sale: sale.parse()?, number: RoundNumber(1) })
}

/// Terms of an open sale with `total` units.
pub(crate) fn terms(total: u32) -> Result<Terms> {
    let now = runtime::Clock::system().now();
    Ok(serde_json::from_value(json!({
        "title": "A lamp", "opens_at_ms": now.minus_s(60), "closes_at_ms": now.plus_s(3_600), "total": total,
        "per_user_limit": 1, "price_minor": 990, "currency": "EUR", "payment_window_s": 900,
        "door": DoorTerms::default(),
    }))?)
}

/// A round with these terms from which nobody has bought.
pub(crate) fn unsold(terms: Terms) -> RoundLoad {
    let epoch_ms = runtime::Clock::system().now();
    RoundLoad { terms, paused: false, version: 1, epoch_ms, taken: Vec::new(), blocked: Vec::new() }
}

impl Ring {
    pub(crate) async fn open() -> Result<Self> {
        let valkey = tokio::task::spawn_blocking(Valkey::start).await??;
        let client = redis::Client::open(valkey.url())?;
        let mut connection = client.get_multiplexed_async_connection().await?;
        let mut load = async |script: &str| -> Result<String> {
            Ok(redis::cmd("SCRIPT").arg("LOAD").arg(script).query_async(&mut connection).await?)
        };
        let (reserve, bare) = (load(stock::expanded::RESERVE).await?, load(BARE).await?);
        Ok(Self { stock: Stock::new(&valkey.url())?, valkey, client, reserve, bare })
    }

    pub(crate) async fn connection(&self) -> Result<MultiplexedConnection> {
        let patient = AsyncConnectionConfig::new().set_response_timeout(Some(PATIENCE));
        Ok(self.client.get_multiplexed_async_connection_with_config(&patient).await?)
    }

    pub(crate) async fn empty(&self) -> Result<()> {
        Ok(redis::cmd("FLUSHALL").arg("SYNC").query_async(&mut self.connection().await?).await?)
    }

    pub(crate) async fn offer(&self, rival: Rival, sale: &str, units: u32) -> Result<()> {
        match rival {
            Rival::Reserve => {
                // A sale has at least one unit; for zero, its first buyer takes it.
                self.stock.round(&round(sale)?).load(&unsold(terms(units.max(1))?)).await?;
                if units == 0 {
                    let answer: String =
                        self.call(rival, sale, "first").query_async(&mut self.connection().await?).await?;
                    ensure!(answer.starts_with("reserved"), "{answer}");
                }
                Ok(())
            }
            Rival::Bare => {
                Ok(redis::cmd("SET").arg(BARE_STOCK).arg(units).query_async(&mut self.connection().await?).await?)
            }
        }
    }

    /// Makes these calls in a closed loop, with a client for each connection, and expects answers that begin so.
    pub(crate) async fn closed(
        connections: Vec<MultiplexedConnection>,
        calls: Vec<redis::Cmd>,
        expected: &'static str,
    ) -> Result<Load> {
        let (clients, count) = (connections.len(), calls.len());
        closed(clients, count, (connections, calls), move |shared, client, n| async move {
            let (connections, calls) = &*shared;
            let answer: String = calls[n].query_async(&mut connections[client].clone()).await?;
            ensure!(answer.starts_with(expected), "{answer} instead of {expected}");
            Ok(())
        })
        .await
    }

    pub(crate) fn call(&self, rival: Rival, sale: &str, user: &str) -> redis::Cmd {
        let mut call = redis::cmd("EVALSHA");
        match rival {
            Rival::Reserve => {
                call.arg(&self.reserve).arg(4);
                for kind in ["sale", "buyers", "free", "outbox"] {
                    call.arg(format!("{kind}:{{{sale}:1:0}}"));
                }
                call.arg(user).arg(Uuid::now_v7().as_simple().to_string());
            }
            Rival::Bare => {
                call.arg(&self.bare).arg(2).arg(BARE_STOCK).arg(BARE_BOUGHT).arg(user);
            }
        }
        call
    }

    pub(crate) async fn info(&self, field: &str) -> Result<String> {
        let info: String = redis::cmd("INFO").arg("everything").query_async(&mut self.connection().await?).await?;
        let found = info.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
        Ok(found.with_context(|| format!("Valkey's INFO has no {field}"))?.trim().to_owned())
    }

    pub(crate) async fn scripts_run(&self) -> Result<u64> {
        let told: String = redis::cmd("INFO").arg("commandstats").query_async(&mut self.connection().await?).await?;
        let calls = ["evalsha", "eval"].map(|name| {
            let line = told.lines().find_map(|line| line.strip_prefix(&format!("cmdstat_{name}:calls=")));
            line.and_then(|rest| rest.split(',').next()?.parse::<u64>().ok()).unwrap_or(0)
        });
        Ok(calls.iter().sum())
    }

    /// Microseconds of server time per script since the last call.
    pub(crate) async fn take_script_us(&self) -> Result<f64> {
        let told = self.info("cmdstat_evalsha").await?;
        let each = told.split(',').find_map(|part| part.strip_prefix("usec_per_call="));
        let each = each.with_context(|| format!("no time of scripts: {told}"))?.parse()?;
        let _: () = redis::cmd("CONFIG").arg("RESETSTAT").query_async(&mut self.connection().await?).await?;
        Ok(each)
    }
}
