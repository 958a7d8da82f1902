//! A built function behind a Runtime API, with Valkey and a mock of AWS that answers with a set delay.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use axum::body::Bytes;
use load::measure::{Load, closed};
use local::deployment::sealed;
use local::function::FunctionProcess;
use local::runtime_api::RuntimeApi;
use pass::KeyRing;
use sale::EpochMs;
use serde_json::{Value, json};

use super::aws::Aws;
use super::rivals::{Ring, Rival, SALE, round, terms};
use crate::binaries::Binaries;

/// Concurrent requests of one process.
pub(crate) const CONCURRENCY: usize = 64;
const FUNCTION_TIMEOUT: Duration = Duration::from_secs(10);
/// Longest wait for an answer: a process may have died.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);
const PASS_KEYS: &str = r#"{"signing":1,"key1":"0123456789abcdef0123456789abcdef"}"#;

/// Most buyers of a round that a process remembers.
const MOST_BUYERS: usize = 10_000;

/// Largest share of refusals of the other kind in a measurement: a mark lasts for a second, and while it is renewed all
/// requests in flight go to Redis.
const MOST_ASKED: f64 = 0.25;
/// Most requests until a refusal comes from the expected side, and the time between two.
pub(crate) const PROBES: usize = 80;
const BETWEEN_PROBES: Duration = Duration::from_millis(250);

/// Which part refuses when a round is sold out.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Refusal {
    /// The process, from memory.
    Mark,
    /// Redis.
    Redis,
}

/// The services around the functions.
pub(crate) struct Shop {
    pub(crate) ring: Ring,
    pub(crate) aws: Aws,
    pub(crate) binaries: Binaries,
    keys: KeyRing,
}

/// One function's processes behind a Runtime API of their own.
pub(crate) struct Served {
    api: RuntimeApi,
    processes: Vec<FunctionProcess>,
}

/// Sends requests to a function in a closed loop and expects `status` from each.
pub(crate) async fn closed_by(
    served: &Arc<Served>,
    clients: usize,
    requests: Vec<Bytes>,
    status: &'static str,
) -> Result<Load> {
    let (count, shared) = (requests.len(), (Arc::clone(served), requests));
    closed(clients, count, shared, move |shared, _, n| async move {
        let (served, requests) = &*shared;
        served.ask(requests[n].clone(), status).await
    })
    .await
}

impl Shop {
    pub(crate) async fn open(binaries: Binaries) -> Result<Self> {
        let aws = Aws::start(round_item()?, PASS_KEYS);
        Ok(Self { ring: Ring::open().await?, aws, binaries, keys: PASS_KEYS.parse()? })
    }

    pub(crate) fn settings(&self) -> Vec<(&'static str, String)> {
        settings(&self.ring.valkey.url())
    }

    /// Starts `processes` of a function. A `concurrency` above one is Lambda's concurrent mode.
    pub(crate) async fn serve(&self, name: &'static str, processes: usize, concurrency: usize) -> Result<Served> {
        let api = RuntimeApi::start(FUNCTION_TIMEOUT).await?;
        let mut settings = self.settings();
        if concurrency > 1 {
            settings.push(("AWS_LAMBDA_MAX_CONCURRENCY", concurrency.to_string()));
        }
        let start =
            |_| FunctionProcess::start(name, &self.binaries.path(name), api.address(), &self.aws.endpoint(), &settings);
        let processes = (0..processes).map(start).collect::<Result<_>>()?;
        Ok(Served { api, processes })
    }

    pub(crate) fn pass(&self, user: &str) -> Result<String> {
        Ok(sealed(&self.keys, &round(SALE)?, &user.parse()?, runtime::Clock::system().now()))
    }

    /// Puts `units` on sale in an empty Redis.
    pub(crate) async fn stock(&self, units: u32) -> Result<()> {
        self.ring.empty().await?;
        self.ring.offer(Rival::Reserve, SALE, units).await
    }

    /// Waits for a load of refusals and checks which part refused, by the number of scripts that Redis ran.
    pub(crate) async fn refused<T>(
        &self,
        by: Refusal,
        requests: usize,
        load: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let before = self.ring.scripts_run().await?;
        let load = load.await?;
        let asked = (self.ring.scripts_run().await? - before) as f64 / requests as f64;
        match by {
            Refusal::Mark => ensure!(asked < MOST_ASKED, "with the mark, {:.0} % asked Redis", asked * 100.0),
            Refusal::Redis => ensure!(asked > 1.0 - MOST_ASKED, "only {:.0} % asked Redis", asked * 100.0),
        }
        Ok(load)
    }

    /// Asks until this part refuses: a process takes up to five seconds to read the buyers, and remembers an answer of Redis
    /// for a second. `ask` gets a number, so that each request can have its own user.
    pub(crate) async fn until_refused(&self, by: Refusal, ask: impl AsyncFn(usize) -> Result<()>) -> Result<()> {
        for n in 0..PROBES {
            let before = self.ring.scripts_run().await?;
            ask(n).await?;
            if (self.ring.scripts_run().await? > before) == matches!(by, Refusal::Redis) {
                return Ok(());
            }
            tokio::time::sleep(BETWEEN_PROBES).await;
        }
        bail!("never refused by {by:?}")
    }

    /// Requests for a unit of `count` users, each from an address of its own.
    pub(crate) fn requests(&self, users: &str, count: usize) -> Result<Vec<Bytes>> {
        self.requests_with("first-try", users, count)
    }

    /// Requests of `count` users who had a unit and gave it back. The mark does not cover buyers, so each request goes to
    /// Redis. Call this before a process learns that the round is sold out.
    pub(crate) async fn requests_of_buyers(&self, count: usize) -> Result<Vec<Bytes>> {
        ensure!(count <= MOST_BUYERS, "a round with more buyers has no mark");
        let client = redis::Client::open(self.ring.valkey.url())?;
        let mut redis = client.get_multiplexed_async_connection().await?;
        let mut noting = redis::pipe();
        for n in 0..count {
            let reservation = format!("0 r {:032x} {} 1", n + 1, n + 1);
            noting.hset(format!("buyers:{{{SALE}:1:0}}"), format!("buyer-{n}"), reservation).ignore();
        }
        let () = noting.query_async(&mut redis).await?;
        self.requests("buyer", count)
    }

    /// Likewise, with this key.
    pub(crate) fn requests_with(&self, key: &str, users: &str, count: usize) -> Result<Vec<Bytes>> {
        let request = |n: usize| {
            let user = format!("{users}-{n}");
            let ip = format!("10.{}.{}.{}", n >> 16 & 255, n >> 8 & 255, n & 255);
            Ok(reserve(SALE, &self.pass(&user)?, &user, &ip, key).into())
        };
        (0..count).map(request).collect()
    }
}

impl Served {
    pub(crate) async fn ask(&self, event: Bytes, status: &'static str) -> Result<()> {
        let made = self.invoke(event).await?;
        // Without a JSON parser, since this runs beside the measured code.
        let found = made.windows(status.len()).any(|window| window == status.as_bytes());
        ensure!(found, "no {status}: {}", String::from_utf8_lossy(&made));
        Ok(())
    }

    pub(crate) async fn invoke(&self, event: Bytes) -> Result<Bytes> {
        Ok(tokio::time::timeout(ANSWER_TIMEOUT, self.api.invoke(event)).await.context("no answer")??)
    }

    /// Memory of all processes, in MB.
    pub(crate) fn resident_mb(&self) -> Result<f64> {
        let kb = self.processes.iter().map(FunctionProcess::resident_kb).sum::<Result<u64>>()?;
        Ok(kb as f64 / 1024.0)
    }
}

/// A request for a unit, as API Gateway's HTTP APIs pass it on to a function.
fn reserve(sale: &str, pass: &str, user: &str, ip: &str, key: &str) -> Vec<u8> {
    let path = format!("/v1/sales/{sale}/reservations/{pass}");
    let event = json!({
        "version": "2.0", "routeKey": "$default", "rawPath": path, "rawQueryString": "",
        "headers": { "accept": "*/*", "content-length": "0", "host": "shop.example", "idempotency-key": key },
        "requestContext": {
            "accountId": "123456789012", "apiId": "a1b2c3d4e5", "stage": "$default", "routeKey": "$default",
            "requestId": "JKJaXmPLvHcESHA=", "domainName": "shop.example", "domainPrefix": "shop",
            "time": "24/Nov/2026:09:00:00 +0000", "timeEpoch": 1_795_510_800_000u64,
            "authorizer": { "jwt": { "claims": { "sub": user, "iss": "https://issuer.example" }, "scopes": null } },
            "http": { "method": "POST", "path": path, "protocol": "HTTP/1.1", "sourceIp": ip, "userAgent": "bench" },
        },
        "isBase64Encoded": false,
    });
    event.to_string().into_bytes()
}

/// The settings of every function, with a Redis at `redis_url`.
pub(crate) fn settings(redis_url: &str) -> Vec<(&'static str, String)> {
    let queues = "ORDERS_QUEUE_URL ORDERS_DLQ_URL EXPIRY_QUEUE_URL EXPIRY_DLQ_URL WINNERS_QUEUE_URL WINNERS_DLQ_URL \
                  WEBHOOK_QUEUE_URL WEBHOOK_DLQ_URL REBUILDS_QUEUE_URL QUARANTINE_QUEUE_URL EMITTER_FAILURES_QUEUE_URL";
    let secrets = "PASS_SECRET_ARN PAYMENT_SECRET_ARN WINNER_SECRET_ARN WEBHOOK_SECRET_ARN";
    let others = [
        ("REDIS_URL", redis_url),
        ("TABLE_NAME", "flash-sale"),
        ("EVENT_BUS_NAME", "events"),
        ("PUSH_ENDPOINT", "http://127.0.0.1:1/push"),
        ("JWT_ISSUER", "http://127.0.0.1:1"),
        ("JWT_AUDIENCE", "shop"),
        ("OPERATOR_CLAIM", "groups"),
        ("OPERATOR_GROUP", "operators"),
        ("METRICS_NAMESPACE", "bench"),
        ("LOG_LEVEL", "error"),
    ];
    let queue = |name: &'static str| (name, format!("https://sqs.us-east-1.amazonaws.com/123456789012/{name}"));
    let secret = |name: &'static str| (name, format!("arn:aws:secretsmanager:us-east-1:123456789012:secret:{name}"));
    let mut all: Vec<_> = others.map(|(name, value)| (name, value.to_owned())).into();
    all.extend(queues.split(' ').map(queue).chain(secrets.split(' ').map(secret)));
    all
}

/// The round as an item of the ledger and its index of published rounds.
fn round_item() -> Result<Value> {
    let terms = terms(10_000_000)?;
    let EpochMs(opens_at_ms) = terms.opens_at_ms;
    let EpochMs(closes_at_ms) = terms.closes_at_ms;
    let number = |value: i64| json!({ "N": value.to_string() });
    let text = |value: &str| json!({ "S": value });
    Ok(json!({
        "pk": text(&format!("ROUND#{SALE}#1")), "sale_list": text("published#0"), "first_opens_at_ms": number(opens_at_ms), "sale": text(SALE), "round": number(1),
        "version": number(1), "loaded_at_ms": number(0), "lanes": number(1), "paused": { "BOOL": false }, "title": text(&terms.title),
        "opens_at_ms": number(opens_at_ms), "closes_at_ms": number(closes_at_ms), "total": number(terms.total.into()),
        "per_user_limit": number(terms.per_user_limit.into()), "price_minor": number(990), "currency": text("EUR"),
        "payment_window_s": number(terms.payment_window_s.into()),
        "door": { "M": {
            "violations": number(terms.door.violations.into()), "violation_window_s": number(terms.door.violation_window_s.into()),
            "blocked_for_s": number(terms.door.blocked_for_s.into()), "unpaid_limit": number(terms.door.unpaid_limit.into()),
        } },
    }))
}
