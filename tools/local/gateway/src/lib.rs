//! API Gateway and Lambda as they were deployed on the emulator, but at this machine's full speed.
//!
//! The emulator's own gateway and its way of running functions are correct but slow. This one reads what was deployed
//! from the emulator's control plane and serves it: the same routes, tokens, throttles, events and answers, with the
//! functions' own programs. Queues, tables, streams and schedules stay with the emulator.

mod answer;
mod authorizer;
mod cors;
mod deployed;
pub mod event;
pub mod function;
pub mod paths;
pub mod pool;
pub mod process;
mod routes;
pub mod runtime_api;
mod served;
mod server;

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::pool::PoolCounts;
use crate::process::loopback;

pub use deployed::MAX_TIMEOUT;
pub use pool::Concurrency;
pub use served::Served;

const MOST_FILES: u64 = 16_384;

/// A gateway on the loopback. Dropping it ends it, together with the functions behind it.
pub struct Gateway {
    address: SocketAddr,
    served: Arc<Served>,
    server: JoinHandle<()>,
}

impl Gateway {
    /// Serves the HTTP API that is deployed on the emulator at `endpoint`, on `port`, or on a free port if that is 0. Its
    /// functions' programs and logs are in `home`. Fails if the API has a feature that this gateway does not support.
    pub async fn start(endpoint: &str, port: u16, home: &Path, concurrency: Concurrency) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.context("the gateway's port is taken")?;
        Self::start_within(MAX_TIMEOUT, listener, endpoint, home, concurrency).await
    }

    /// The same on a port that was bound before, with this longest time for a request and for its head.
    pub async fn start_within(
        max_timeout: Duration,
        listener: TcpListener,
        endpoint: &str,
        home: &Path,
        concurrency: Concurrency,
    ) -> Result<Self> {
        let concurrency = concurrency.within(command_line::allow_open_files(MOST_FILES));
        let served = deployed::read(endpoint, home, concurrency, max_timeout).await.context("the deployed API")?;
        let served = Arc::new(served);
        let address = listener.local_addr()?;
        let server = Arc::clone(&served).serve(listener);
        Ok(Self { address, served, server })
    }

    pub fn url(&self) -> String {
        loopback(self.address.port())
    }

    pub fn served(&self) -> Arc<Served> {
        Arc::clone(&self.served)
    }

    pub fn counts(&self) -> BTreeMap<String, PoolCounts> {
        self.served.pools.iter().map(|(name, pool)| (name.clone(), pool.counts())).collect()
    }

    pub fn process_groups(&self, function: &str) -> Vec<u32> {
        self.served.pools.get(function).map_or_else(Vec::new, |pool| pool.process_groups())
    }

    /// Waits until it ends, which it does not do by itself. Fails if it fails.
    pub async fn ended(mut self) -> Result<()> {
        Ok((&mut self.server).await?)
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.server.abort();
        // Open connections continue, and keep what serves them.
        self.served.pools.values().for_each(|pool| pool.end());
    }
}
