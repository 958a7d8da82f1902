use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use local::client::{Client, NewSale};
use local::cloud::Cloud;
use local::function::FunctionProcess;
use local::runtime_api::RuntimeApi;
use local::setup::set_up;
use local::stages::Stage;
use pass::{Grant, KeyRing};
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

/// The deployed system, and beside it a second, optimized reservation function that is called without the emulator's slow
/// gateway.
pub(crate) struct System {
    pub(crate) cloud: Cloud,
    api: RuntimeApi,
    reservation: FunctionProcess,
    keys: KeyRing,
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
            ("PASS_SECRET_ARN", deployment.pass_secret.clone()),
            ("METRICS_NAMESPACE", "bench".to_owned()),
            ("LOG_LEVEL", "error".to_owned()),
        ];
        let bootstrap = Binaries::Shipped.path("reservation");
        let endpoint = &deployment.endpoint;
        let reservation = FunctionProcess::start("reservation", &bootstrap, api.address(), endpoint, &settings)?;
        let keys = deployment.pass_ring().await?;
        Ok(Self { cloud, api, reservation, keys })
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
    pub(crate) async fn audit(&self, sale: &str) -> Result<Value> {
        let client = Client::new(&self.cloud.deployment.api_url)?;
        let operator = self.cloud.issuer.operator_token("operator")?;
        client.operate("GET", &operator, &format!("/v1/admin/sales/{sale}/rounds/1/audit")).await
    }

    /// A pass like admission's, issued `ago_s` seconds ago.
    pub(crate) fn pass(&self, sale: &str, user: &str, ago_s: i64) -> Result<String> {
        let issued_at_ms = EpochMs(runtime::Clock::system().now().0 - ago_s * 1000);
        let round = RoundId { sale: sale.parse()?, number: RoundNumber(1) };
        Ok(self.keys.seal(&Grant {
            round: &round,
            user: &user.parse()?,
            issued_at_ms,
            class: sale::BuyerClass::EVERYONE,
        }))
    }

    /// Asks the function.
    pub(crate) async fn ask(&self, request: &Request) -> Result<Answer> {
        let made = self.api.invoke(request.event()).await?;
        Answer::read(&made).with_context(|| format!("no answer: {}", String::from_utf8_lossy(&made)))
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
