//! The reservation function under open-loop load: requests arrive by the clock.

use std::sync::Arc;

use anyhow::Result;
use load::measure::open;
use local::stages::Stage;

use super::effort::Effort;
use super::measured::{Offered, Report};
use super::shop::{CONCURRENCY, Shop, closed_by};

/// Shares of the throughput at which latencies are measured. Beyond the last one they are a queue's.
const SHARES: [f64; 5] = [0.1, 0.25, 0.5, 0.7, 0.85];

/// Measures how long the function takes to answer at different rates.
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
