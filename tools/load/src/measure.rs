//! A closed loop: each client waits for its answer before its next request, and every request should succeed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use futures::future::try_join_all;
use hdrhistogram::Histogram;

const TIMEOUT: Duration = Duration::from_secs(180);
const DIGITS: u8 = 3;

pub struct Load {
    latency_ns: Histogram<u64>,
    took: Duration,
}

impl Load {
    pub fn throughput(&self) -> f64 {
        self.latency_ns.len() as f64 / self.took.as_secs_f64()
    }

    pub fn quantile_ms(&self, quantile: f64) -> f64 {
        self.latency_ns.value_at_quantile(quantile) as f64 / 1e6
    }
}

/// Sends numbered requests from `clients` that each wait for an answer before the next request. `ask` gets what they
/// share, and the numbers of the client and of the request.
pub async fn closed<S, A, F>(clients: usize, requests: usize, shared: S, ask: A) -> Result<Load>
where
    S: Send + Sync + 'static,
    A: Fn(Arc<S>, usize, usize) -> F + Send + Sync + 'static,
    F: Future<Output = Result<()>> + Send + 'static,
{
    let (shared, ask, next) = (Arc::new(shared), Arc::new(ask), Arc::new(AtomicUsize::new(0)));
    let start = Instant::now();
    let running = (0..clients).map(|client| {
        let (shared, ask, next) = (Arc::clone(&shared), Arc::clone(&ask), Arc::clone(&next));
        let task = tokio::spawn(async move {
            let mut latency_ns = Histogram::<u64>::new(DIGITS)?;
            loop {
                let n = next.fetch_add(1, Ordering::Relaxed);
                if n >= requests {
                    return Ok::<_, anyhow::Error>(latency_ns);
                }
                let asked = Instant::now();
                ask(Arc::clone(&shared), client, n).await?;
                latency_ns.record(asked.elapsed().as_nanos() as u64)?;
            }
        });
        async { task.await? }
    });
    let histograms = tokio::time::timeout(TIMEOUT, try_join_all(running)).await??;
    let took = start.elapsed();
    let mut latency_ns = Histogram::new(DIGITS)?;
    for histogram in histograms {
        latency_ns.add(histogram)?;
    }
    ensure!(latency_ns.len() == requests as u64, "{} of {requests} requests were answered", latency_ns.len());
    Ok(Load { latency_ns, took })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_error_ends_a_closed_loop() {
        let load = closed(2, 10, (), |_, _, n| async move {
            ensure!(n < 5, "five");
            Ok(())
        });
        assert!(load.await.is_err());
    }
}
