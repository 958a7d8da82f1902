//! The reservation function where requests come by the clock.

use std::sync::Arc;

use anyhow::Result;
use load::measure::open;
use local::stages::Stage;
use serde::Serialize;

use super::shop::{CONCURRENCY, Shop, closed_by};
use super::{Effort, Report};

/// Parts of the throughput at which latencies are looked at: from there on they are those of a queue.
const SHARES: [f64; 5] = [0.1, 0.25, 0.5, 0.7, 0.85];

/// How long answers took when so many requests came in a second.
#[derive(Debug, Serialize)]
pub(crate) struct Offered {
    pub(crate) per_s: f64,
    pub(crate) p50_ms: f64,
    pub(crate) p90_ms: f64,
    pub(crate) p99_ms: f64,
}

/// What the function answers in when requests come at some rate.
pub(crate) async fn measure(shop: &Shop, effort: &Effort, report: &mut Report) -> Result<()> {
    let served = Arc::new(shop.serve("reservation", 1, CONCURRENCY).await?);
    shop.stock(0).await?;
    closed_by(&served, CONCURRENCY, shop.requests_of_buyers(effort.requests).await?, "409").await?;
    let most =
        closed_by(&served, CONCURRENCY, shop.requests_of_buyers(effort.requests).await?, "409").await?.throughput();
    let stage = Stage::steps("By rate", SHARES.len());
    for share in SHARES {
        let requests = Arc::new(shop.requests_of_buyers(effort.requests).await?);
        let served = Arc::clone(&served);
        let load = open(most * share, effort.requests, move |n| {
            let (served, request) = (Arc::clone(&served), requests[n].clone());
            async move { served.ask(request, "409").await }
        });
        let load = load.await?;
        let [p50_ms, p90_ms, p99_ms] = [0.5, 0.9, 0.99].map(|quantile| load.quantile_ms(quantile));
        report.rates.push(Offered { per_s: most * share, p50_ms, p90_ms, p99_ms });
        stage.step();
    }
    stage.done(format!("up to {:.0} requests/s", most * SHARES[SHARES.len() - 1]));
    Ok(())
}
