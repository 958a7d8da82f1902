//! What operators do in a run. Each request is repeated with its key until it is answered: processes die.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use hyper::Method;
use load::{Request, Token};
use sale::{EpochMs, RoundId, RoundNumber};
use serde_json::{Value, json};

use super::system::System;
use crate::client::NewSale;
use crate::stack::STACK;

/// How long a request may keep failing, and the pause between attempts.
const PATIENCE: Duration = Duration::from_secs(120);
const PAUSE: Duration = Duration::from_millis(500);
/// The time from a round's loading to its opening.
pub(super) const OPENS_IN_S: i64 = 2;
pub(super) const DAILY: &str = "daily";
const DAILY_LIMIT: u8 = 2;

pub(super) struct Operator {
    system: Arc<System>,
    token: Token,
}

impl Operator {
    pub(super) fn of(system: Arc<System>) -> Result<Self> {
        let token = system.issuer.operator_token("operator")?.parse()?;
        Ok(Self { system, token })
    }

    /// Repeats a request until the answer is final. A refusal is an error.
    async fn ask(&self, method: Method, path: &str, key: Option<&str>, body: Option<&Value>) -> Result<Value> {
        let mut request = Request::new(method, path)?.token(&self.token);
        if let Some(key) = key {
            request = request.key(key);
        }
        if let Some(body) = body {
            request = request.json(body);
        }
        let deadline = Instant::now() + PATIENCE;
        loop {
            let side = self.system.sides().pop().context("there is a gateway")?;
            let heard = side.load.send(0, &request).await;
            match heard {
                Ok(answer) if answer.status < 300 => return Ok(answer.json()),
                Ok(answer) if (400..500).contains(&answer.status) && answer.status != 429 => {
                    bail!("{path} is refused: {} {}", answer.status, answer.json())
                }
                heard if Instant::now() >= deadline => bail!("{path} gets no answer: {heard:?}"),
                _ => tokio::time::sleep(PAUSE).await,
            }
        }
    }

    async fn run(&self, function: &str) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            match self.system.deployment.invoke(function).await {
                Ok(_) => return Ok(()),
                Err(error) if Instant::now() >= deadline => return Err(error),
                Err(_) => tokio::time::sleep(PAUSE).await,
            }
        }
    }

    pub(super) async fn open(&self, sale: &NewSale, is_daily: bool) -> Result<()> {
        let mut document = serde_json::to_value(sale)?;
        if is_daily {
            document["recurrence"] = json!({ "every": "day", "time_zone": "Etc/UTC" });
            document["per_user_limit"] = json!(DAILY_LIMIT);
        }
        let id = document["sale_id"].as_str().context("a sale has an id")?.to_owned();
        self.ask(Method::POST, "/v1/admin/sales", None, Some(&document)).await?;
        self.ask(Method::POST, &format!("/v1/admin/sales/{id}/publish"), None, None).await?;
        self.load().await
    }

    async fn load(&self) -> Result<()> {
        self.run(&self.system.deployment.warmup_function).await
    }

    /// Begins a day of the daily sale: `daily_reset` begins its next round, which opens tomorrow, and the operator brings that
    /// forward to now, and its end to `open_s` later.
    pub(super) async fn next_day(&self, day: RoundNumber, open_s: f64) -> Result<()> {
        let path = format!("/v1/admin/sales/{DAILY}");
        let deadline = Instant::now() + PATIENCE;
        let shown = loop {
            let shown = self.ask(Method::GET, &path, None, None).await?;
            match shown["round"].as_u64() {
                Some(round) if round >= u64::from(day.0) => break shown,
                _ if Instant::now() >= deadline => bail!("round {day} of the daily sale does not begin: {shown}"),
                _ => self.run(&format!("{STACK}-daily_reset")).await?,
            }
            tokio::time::sleep(PAUSE).await;
        };
        let now = runtime::Clock::system().now();
        let at = |after_s: f64| EpochMs(now.0 + (after_s * 1000.0) as i64).to_string();
        let change = json!({
            "round": day, "round_version": shown["round_version"],
            "opens_at": at(OPENS_IN_S as f64), "closes_at": at(OPENS_IN_S as f64 + open_s),
        });
        self.ask(Method::POST, &format!("{path}/edit"), Some(&format!("day-{day}")), Some(&change)).await?;
        self.load().await
    }

    pub(super) async fn update(&self, round: &RoundId, how: &str, key: &str, mut more: Value) -> Result<()> {
        more["round"] = json!(round.number);
        let path = format!("/v1/admin/sales/{}/{how}", round.sale);
        self.ask(Method::POST, &path, Some(key), Some(&more)).await.map(drop)
    }

    pub(super) async fn retitle(&self, round: &RoundId, key: &str, title: &str) -> Result<()> {
        let shown = self.ask(Method::GET, &format!("/v1/admin/sales/{}", round.sale), None, None).await?;
        self.update(round, "edit", key, json!({ "round_version": shown["round_version"], "title": title })).await
    }

    pub(super) async fn look(&self) -> Result<()> {
        self.ask(Method::GET, &format!("/v1/admin/sales/{DAILY}"), None, None).await.map(drop)
    }

    pub(super) async fn audit(&self, RoundId { sale, number }: &RoundId) -> Result<Value> {
        self.ask(Method::GET, &format!("/v1/admin/sales/{sale}/rounds/{number}/audit"), None, None).await
    }

    /// Runs the functions that repair, once, and ignores failures.
    pub(super) async fn heal(&self) {
        let deployment = &self.system.deployment;
        for function in [&deployment.warmup_function, &deployment.reconciliation_function] {
            let _ = deployment.invoke(function).await;
        }
    }
}
