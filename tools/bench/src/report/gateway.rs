//! The local gateway in front of the reservation function, verifying a JWT in each request, compared with the function
//! alone: what the gateway itself costs.

use std::sync::Arc;

use anyhow::{Result, ensure};
use load::measure::{Load, closed};
use load::{Answer, Client, Outcome, Plan, ProgressLine, Request, run};
use local::control::Control;
use local::emulator::Emulator;
use local::gateway::{Concurrency, Gateway};
use local::identity::{Bearer, Issuer};
use local::stages::Stage;
use serde_json::json;

use super::aws::EmulatorQueue;
use super::effort::Effort;
use super::figure::{Line, Unit, in_turns, median};
use super::measured::Report;
use super::rivals::SALE;
use super::shop::{CONCURRENCY, PROBES, Refusal, Shop, closed_by};

const FUNCTION: &str = "reservation";
const ORDERS_QUEUE: &str = "ORDERS_QUEUE_URL";
const TIMEOUT_S: u64 = 10;
const ROUTE: &str = "POST /v1/sales/{sale_id}/reservations/{token}";

/// Longest p99 at half the maximum throughput.
const P99_MS: f64 = 25.0;
/// Least throughput of winners, as a share of the queue's own.
const OF_THE_QUEUE: f64 = 0.9;
const MESSAGE_BYTES: usize = 400;
/// A round has one winner for this many refusals, because a winner takes several times as long.
const WINNERS_ONE_OF: usize = 5;
/// Share of the throughput at which latencies are measured.
const HALF: f64 = 0.5;

/// The function behind a gateway on its own emulator. It talks to the mock that answers at once, as it does alone.
struct Front {
    gateway: Gateway,
    client: Arc<Client>,
    queue: Arc<EmulatorQueue>,
    issuer: Issuer,
    _emulator: Emulator,
}

impl Front {
    async fn open(shop: &Shop) -> Result<Self> {
        let port = shop.ring.valkey.port();
        let emulator = tokio::task::spawn_blocking(move || Emulator::start(port)).await??;
        let issuer = Issuer::publish(&emulator.endpoint()).await?;
        let control = Control::new(&emulator.endpoint());
        let mut settings = shop.settings();
        let queue = EmulatorQueue::create(&emulator.endpoint(), "orders", CONCURRENCY).await?;
        settings.retain(|(name, _)| *name != ORDERS_QUEUE);
        settings.extend([("AWS_ENDPOINT_URL", shop.aws.endpoint()), (ORDERS_QUEUE, queue.url.clone())]);
        control.create_function(FUNCTION, &shop.binaries.path(FUNCTION), TIMEOUT_S, &settings).await?;
        let api = control.create_api(FUNCTION, issuer.url(), json!({}), json!({})).await?;
        control.create_route(&api, ROUTE, true, json!({})).await?;
        let concurrency = Concurrency { at_once: CONCURRENCY, most: 1 };
        let gateway = Gateway::start(&emulator.endpoint(), 0, emulator.home(), concurrency).await?;
        let client = Arc::new(Client::with_connections(gateway.url().parse()?, CONCURRENCY));
        Ok(Self { gateway, client, queue: Arc::new(queue), issuer, _emulator: emulator })
    }

    /// Requests of `count` users, each with a token and a pass.
    async fn requests(&self, shop: &Shop, users: &str, count: usize) -> Result<Arc<Vec<Request>>> {
        let bearers = self.issuer.bearers((0..count).map(|n| format!("{users}-{n}"))).await?;
        let requests = bearers.iter().map(|Bearer { user, token, .. }| {
            Ok(Request::reserve(SALE, &shop.pass(user.as_str())?)?.token(token).key("first-try"))
        });
        Ok(Arc::new(requests.collect::<Result<_>>()?))
    }

    async fn closed(&self, requests: &Arc<Vec<Request>>, status: u16) -> Result<Load> {
        let shared = (Arc::clone(&self.client), Arc::clone(requests));
        closed(CONCURRENCY, requests.len(), shared, move |shared, _, n| async move {
            let (client, requests) = &*shared;
            expect(client, n, &requests[n], status).await
        })
        .await
    }

    async fn messages(&self, count: usize) -> Result<Load> {
        let shared = (Arc::clone(&self.queue), "m".repeat(MESSAGE_BYTES));
        closed(CONCURRENCY, count, shared, |shared, _, _| async move { shared.0.send(&shared.1).await }).await
    }

    async fn open_loop(&self, requests: &Arc<Vec<Request>>, per_s: f64, status: u16) -> Result<Outcome> {
        let (client, plan) = (&self.client, Plan::at_rate(requests.len(), per_s)?);
        let outcome = run(&plan, ProgressLine::silent(), |n| {
            let (client, requests) = (Arc::clone(client), Arc::clone(requests));
            async move {
                client.send(n, &requests[n]).await.map_or_else(|failure| Answer::from(&failure), |made| made.answer())
            }
        });
        let outcome = outcome.await;
        ensure!(outcome.count(status) == outcome.sent, "not only {status}: {:?}", outcome.answers.keys());
        Ok(outcome)
    }
}

async fn expect(client: &Client, n: usize, request: &Request, status: u16) -> Result<()> {
    let response = client.send(n, request).await?;
    ensure!(response.status == status, "{} instead of {status}", response.answer());
    Ok(())
}

pub(crate) async fn measure(effort: &Effort, report: &mut Report) -> Result<()> {
    let shop = Shop::open(effort.binaries).await?;
    let alone = Arc::new(shop.serve(FUNCTION, 1, CONCURRENCY).await?);
    let front = Front::open(&shop).await?;
    // First, because the process remembers once the round is sold out.
    let winners = winners(effort, &shop, &front).await?;
    let stage = Stage::steps("Through the gateway", 2 * (effort.rounds + 1));
    let against = "the function alone, without HTTP, tokens and a client";
    let (mut rates, mut latencies) = (Vec::new(), Vec::new());
    for (by, users, [name, what], [p99_name, p99_what]) in [
        (
            Refusal::Mark,
            "new",
            ["gateway_marked", "through the gateway with a JWT each, sold-out mark set"],
            ["gateway_marked_p99", "p99 through the gateway at half of that rate, mark set"],
        ),
        (
            Refusal::Redis,
            "buyer",
            ["gateway_sold_out", "likewise, sold out in Redis"],
            ["gateway_sold_out_p99", "likewise, sold out in Redis"],
        ),
    ] {
        shop.stock(0).await?;
        let requests = front.requests(&shop, users, effort.requests).await?;
        let events = match by {
            Refusal::Mark => shop.requests(users, effort.requests)?,
            Refusal::Redis => shop.requests_of_buyers(effort.requests).await?,
        };
        let probes = front.requests(&shop, &format!("probe-of-{users}"), PROBES).await?;
        let probes_alone = shop.requests(&format!("probe-of-{users}"), PROBES)?;
        let two = async |round: usize| {
            if matches!(by, Refusal::Mark) || round == 0 {
                shop.until_refused(by, |n| expect(&front.client, n, &probes[n], 409)).await?;
                shop.until_refused(by, |n: usize| alone.ask(probes_alone[n].clone(), "409")).await?;
            }
            let alone = closed_by(&alone, CONCURRENCY, events.clone(), "409");
            let loads = [
                shop.refused(by, effort.requests, front.closed(&requests, 409)).await?,
                shop.refused(by, effort.requests, alone).await?,
            ];
            anyhow::Ok(loads.map(|load| load.throughput()))
        };
        let [most, most_alone] = in_turns(effort.rounds, &stage, two).await?;
        let (mut at_half, half) = (Vec::new(), median(&most) * HALF);
        for _ in 0..effort.rounds {
            let load = front.open_loop(&requests, half, 409);
            at_half.push(shop.refused(by, effort.requests, load).await?);
        }
        rates.push(Line::rates(name, what, against, [&most, &most_alone], "requests/s"));
        let middle = |quantile| median(&at_half.iter().map(|load| load.quantile_ms(quantile)).collect::<Vec<_>>());
        let [p50, p90, p99] = [0.5, 0.9, 0.99].map(middle);
        let rounds = at_half.iter().map(|load| load.quantile_ms(0.99) / P99_MS).collect();
        let measured = format!("p50 {p50:.1}, p90 {p90:.1}, p99 {p99:.1} ms at {half:.0} requests/s");
        let line = Line::new(p99_name, p99_what, format!("{P99_MS} ms"), (Unit::Ratio, rounds), measured);
        latencies.push(line.at_most(1.0));
    }
    stage.done(rates.iter().map(|line| line.measured.as_str()).collect::<Vec<_>>().join(" and "));
    report.lines.extend(rates.into_iter().chain(latencies));
    report.lines.push(winners);
    ensure!(front.gateway.counts()[FUNCTION].deaths == 0, "the function died");
    Ok(())
}

/// Winners whose messages go to the emulator's queue, compared with that queue alone.
async fn winners(effort: &Effort, shop: &Shop, front: &Front) -> Result<Line> {
    let count = (effort.requests / WINNERS_ONE_OF).max(1);
    let stage = Stage::steps("Winners through the gateway", effort.rounds + 1);
    shop.aws.pass_messages_to(Some(Arc::clone(&front.queue)));
    let two = async |round: usize| {
        shop.stock(count as u32).await?;
        let requests = front.requests(shop, &format!("winner-{round}"), count).await?;
        let loads = [front.closed(&requests, 202).await?, front.messages(count).await?];
        anyhow::Ok(loads.map(|load| load.throughput()))
    };
    let [won, queued] = in_turns(effort.rounds, &stage, two).await?;
    shop.aws.pass_messages_to(None);
    stage.done(format!("{:.0} reservations/s", median(&won)));
    let what = "winners through the gateway with a JWT each";
    let against = "messages straight to the emulator's queue";
    Ok(Line::rates("gateway_winners", what, against, [&won, &queued], "a second").at_least(OF_THE_QUEUE))
}
