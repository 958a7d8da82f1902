use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use history::{Recorder, Redis};
use local::client::{Client, NewSale};
use local::cloud::Cloud;
use local::deployment::sealed;
use local::function::FunctionProcess;
use local::recorded;
use local::runtime_api::RuntimeApi;
use local::setup::set_up;
use local::stages::Stage;
use pass::KeyRing;
use sale::{EpochMs, RoundId, RoundNumber};
use serde_json::Value;

use crate::binaries::Binaries;
use crate::calls::redis_calls;
use crate::event::{Answer, Request};

/// Concurrent requests of one process, as on Lambda's managed instances.
pub(crate) const CONCURRENCY: usize = 64;
const FUNCTION_TIMEOUT: Duration = Duration::from_secs(10);
/// From publishing to opening: enough to warm up.
const OPENS_IN: Duration = Duration::from_secs(4);
/// The longest wait until every reservation has its order, and the time between two looks.
const SETTLED_WITHIN: Duration = Duration::from_secs(120);
const POLL_EVERY: Duration = Duration::from_millis(500);

/// The only round of a sale.
fn round(sale: &str) -> Result<RoundId> {
    Ok(RoundId { sale: sale.parse()?, number: RoundNumber(1) })
}

/// The deployed system, and beside it a second, optimized reservation function that is called without the emulator's slow
/// gateway.
pub(crate) struct System {
    pub(crate) cloud: Cloud,
    api: RuntimeApi,
    reservation: FunctionProcess,
    keys: KeyRing,
    /// What clients ask about sales of the run, and the answers.
    recorder: Recorder,
}

impl System {
    pub(crate) async fn start() -> Result<Self> {
        tokio::task::spawn_blocking(set_up).await??;
        tokio::task::spawn_blocking(|| Binaries::Shipped.build(&["reservation"])).await??;
        let stage = Stage::spinner("Starting and deploying");
        let cloud = Cloud::start().await?;
        stage.done(&cloud.deployment.api_url);
        let deployment = &cloud.deployment;
        let api = RuntimeApi::start(FUNCTION_TIMEOUT).await?;
        let settings = [
            ("AWS_LAMBDA_MAX_CONCURRENCY", CONCURRENCY.to_string()),
            ("REDIS_URL", deployment.redis_url.clone()),
            ("TABLE_NAME", deployment.table.clone()),
            ("ORDERS_QUEUE_URL", deployment.orders_queue_url.clone()),
            ("EXPIRY_QUEUE_URL", deployment.expiry_queue_url.clone()),
            ("REBUILDS_QUEUE_URL", deployment.rebuilds_queue_url.clone()),
            ("PASS_SECRET_ARN", deployment.pass_secret.clone()),
            ("METRICS_NAMESPACE", "bench".to_owned()),
            ("LOG_LEVEL", "error".to_owned()),
        ];
        let bootstrap = Binaries::Shipped.path("reservation");
        let endpoint = &deployment.endpoint;
        let reservation = FunctionProcess::start("reservation", &bootstrap, api.address(), endpoint, &settings)?;
        let keys = deployment.pass_ring().await?;
        Ok(Self { cloud, api, reservation, keys, recorder: Recorder::default() })
    }

    /// Opens sales of `units` for an hour, loaded before they open.
    pub(crate) async fn open(&self, sales: &[&str], units: u32) -> Result<()> {
        let client = Client::new(&self.cloud.deployment.api_url)?;
        let operator = self.cloud.issuer.operator_token("operator")?;
        let opens_in = OPENS_IN.as_secs() as i64;
        for sale in sales {
            client.open_sale(&operator, &NewSale::opening_in(sale, opens_in, 60 * 60, units, 900)).await?;
        }
        let published = Instant::now();
        self.cloud.deployment.invoke(&self.cloud.deployment.warmup_function).await?;
        tokio::time::sleep(OPENS_IN.saturating_sub(published.elapsed())).await;
        Ok(())
    }

    /// The audit of a sale.
    async fn audit(&self, sale: &str) -> Result<Value> {
        let client = Client::new(&self.cloud.deployment.api_url)?;
        let operator = self.cloud.issuer.operator_token("operator")?;
        client.operate("GET", &operator, &format!("/v1/admin/sales/{sale}/rounds/1/audit")).await
    }

    /// A pass like admission's, issued `ago_s` seconds ago.
    pub(crate) fn pass(&self, sale: &str, user: &str, ago_s: i64) -> Result<String> {
        let issued_at_ms = EpochMs(runtime::Clock::system().now().0 - ago_s * 1000);
        Ok(sealed(&self.keys, &round(sale)?, &user.parse()?, issued_at_ms))
    }

    /// Asks the function.
    pub(crate) async fn ask(&self, request: &Request) -> Result<Answer> {
        let made = self.api.invoke(request.event()).await?;
        Answer::read(&made).with_context(|| format!("no answer: {}", String::from_utf8_lossy(&made)))
    }

    /// Asks the function, and records question and answer. For sales of which [`Self::check_history`] is told.
    pub(crate) async fn ask_recorded(&self, request: &Request) -> Result<Answer> {
        let Request { method, path, user, key, .. } = request;
        let asking = self.recorder.send(history::Request { method, path, key: key.as_deref(), body: b"" }, user, 1);
        let answer = self.ask(request).await?;
        if let Some(asking) = asking {
            asking.hears_http(answer.status, answer.body.to_string().as_bytes());
        }
        Ok(answer)
    }

    /// Waits until every reservation of these sales has its order, and checks that what clients heard is possible and
    /// fits the ledger. To be called once, when all requests are answered.
    pub(crate) async fn check_history(&self, name: &str, sales: &[&str]) -> Result<()> {
        for sale in sales {
            self.at_rest(sale).await?;
        }
        let rounds: Vec<RoundId> = sales.iter().map(|sale| round(sale)).collect::<Result<_>>()?;
        // Redis may stop, but it does not end.
        let history = recorded::at_rest(&self.cloud.deployment, &self.recorder, &rounds, Redis::Keeps).await?;
        let (report, file) = recorded::judge(&history, name)?;
        println!("\nhistory: {report}");
        let kept = file.map(|file| format!("; it is in {}", file.display())).unwrap_or_default();
        ensure!(report.objections().is_empty(), "the history does not pass{kept}");
        Ok(())
    }

    /// The audit of a sale, once it is clean and nothing is held.
    pub(crate) async fn at_rest(&self, sale: &str) -> Result<Value> {
        let began = Instant::now();
        loop {
            self.cloud.deployment.invoke(&self.cloud.deployment.reconciliation_function).await?;
            let audit = self.audit(sale).await?;
            if audit["clean"] == true && audit["held"] == 0 {
                return Ok(audit);
            }
            ensure!(began.elapsed() < SETTLED_WITHIN, "{sale} does not come to rest: {audit}");
            tokio::time::sleep(POLL_EVERY).await;
        }
    }

    /// Memory of the function's process, in kB.
    pub(crate) fn resident_kb(&self) -> Result<u64> {
        self.reservation.resident_kb()
    }

    /// Calls that Redis gets while `work` runs.
    pub(crate) async fn redis_calls<T>(&self, work: impl Future<Output = Result<T>>) -> Result<usize> {
        redis_calls(&self.cloud.deployment.redis_url, work).await
    }
}
