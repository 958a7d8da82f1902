//! The dependencies that a context can make: each is a method here and a feature of its name in `Cargo.toml`.
#![cfg_attr(
    not(any(feature = "secrets", feature = "sqs", feature = "ledger", feature = "push_gateway")),
    expect(unused)
)]

#[cfg(feature = "push_gateway")]
use messaging::push;
#[cfg(feature = "queues")]
use messaging::queue;

use crate::{Context, ContextError};

macro_rules! queues {
    ($($feature:literal $name:ident: $queue:ident at $setting:literal;)*) => {
        $(#[cfg(feature = $feature)]
        pub fn $name(&self) -> Result<queue::$queue, ContextError> {
            self.queue($setting, queue::$queue::new)
        })*
    };
}

/// Each method fails if a setting that it reads is missing or unusable. None connects: the first call does.
impl Context {
    /// DynamoDB: the table `TABLE_NAME`.
    #[cfg(feature = "ledger")]
    pub fn ledger(&self) -> Result<ledger::Ledger, ContextError> {
        use aws_sdk_dynamodb::{Client, config::Builder};
        let connect = || {
            // A variable of the AWS SDKs, for a proxy or an endpoint of one's own.
            let endpoint = self.settings().optional("AWS_ENDPOINT_URL_DYNAMODB");
            let mut config = Builder::from(self.aws());
            if endpoint.is_some() {
                config.set_endpoint_url(endpoint);
            }
            Ok(Client::from_conf(config.build()))
        };
        self.once("", || Ok(ledger::Ledger::new(self.once("", connect)?, self.settings().required("TABLE_NAME")?)))
    }

    /// Redis at `REDIS_URL`. The secret `REDIS_AUTH_SECRET_ARN` has the credentials, if any; the file `REDIS_CA_FILE`
    /// has the certificate authority, unless it is a public one.
    #[cfg(feature = "stock")]
    pub fn stock(&self) -> Result<stock::Stock, ContextError> {
        self.once("", || {
            let authority = self.settings().optional("REDIS_CA_FILE").map(std::fs::read).transpose();
            let access = stock::Access {
                url: self.settings().required("REDIS_URL")?,
                credentials: self.optional_secret("REDIS_AUTH_SECRET_ARN")?,
                authority: authority.map_err(|error| ContextError::unusable("REDIS_CA_FILE", error))?,
                clock: self.clock(),
            };
            let stock = stock::Stock::open(access).map_err(|error| ContextError::unusable("REDIS_URL", error))?;
            let connecting = stock.clone();
            self.before_the_first_request("Redis", async move { Ok(connecting.connect().await?) });
            Ok(stock)
        })
    }

    #[cfg(feature = "sqs")]
    pub fn sqs(&self) -> Result<aws_sdk_sqs::Client, ContextError> {
        self.once("", || Ok(aws_sdk_sqs::Client::new(self.aws())))
    }

    queues! {
        "order_queue" order_queue: OrderQueue at "ORDERS_QUEUE_URL";
        "expiry_queue" expiry_queue: ExpiryQueue at "EXPIRY_QUEUE_URL";
        "rebuild_queue" rebuild_queue: RebuildQueue at "REBUILDS_QUEUE_URL";
        "winner_queue" winner_queue: WinnerQueue at "WINNERS_QUEUE_URL";
        "webhook_queue" webhook_queue: WebhookQueue at "WEBHOOK_QUEUE_URL";
        "emitter_failures" emitter_failures: EmitterFailures at "EMITTER_FAILURES_QUEUE_URL";
        "quarantine" quarantine: Quarantine at "QUARANTINE_QUEUE_URL";
    }

    /// Reservations that are not orders yet: the queues at `ORDERS_QUEUE_URL` and `ORDERS_DLQ_URL`.
    #[cfg(feature = "order_backlog")]
    pub fn order_backlog(&self) -> Result<queue::OrderBacklog, ContextError> {
        self.once("", || {
            let [orders, dead] = ["ORDERS_QUEUE_URL", "ORDERS_DLQ_URL"].map(|name| self.settings().required(name));
            Ok(queue::OrderBacklog::new(self.sqs()?, orders?, dead?))
        })
    }

    #[cfg(feature = "queues")]
    fn queue<Q: Clone + Send + Sync + 'static>(
        &self,
        setting: &'static str,
        new: fn(aws_sdk_sqs::Client, String, runtime::Clock) -> Q,
    ) -> Result<Q, ContextError> {
        self.once("", || Ok(new(self.sqs()?, self.settings().required(setting)?, self.clock())))
    }

    #[cfg(feature = "snapshots")]
    pub fn snapshots(&self) -> Result<process::Snapshots, ContextError> {
        self.once("", || {
            let snapshots = process::Snapshots::new(self.ledger()?, self.clock());
            let reading = snapshots.clone();
            self.before_the_first_request("the snapshot", async move { Ok(reading.now().await.map(drop)?) });
            Ok(snapshots)
        })
    }

    #[cfg(feature = "terms")]
    pub fn terms(&self) -> Result<process::TermsCache, ContextError> {
        self.once("", || Ok(process::TermsCache::new(self.ledger()?, self.clock())))
    }

    #[cfg(feature = "awards")]
    pub fn awards(&self) -> Result<process::AwardCache, ContextError> {
        self.once("", || Ok(process::AwardCache::new(self.ledger()?)))
    }

    #[cfg(feature = "order_counts")]
    pub fn order_counts(&self) -> Result<process::OrderCounts, ContextError> {
        self.once("", || Ok(process::OrderCounts::new(self.ledger()?, self.clock())))
    }

    #[cfg(feature = "pass_keys")]
    pub fn pass_keys(&self) -> Result<gate::PassKeys, ContextError> {
        self.once("", || self.secret("PASS_SECRET_ARN"))
    }

    /// The key that verifies the payment provider's signatures, in the secret `PAYMENT_SECRET_ARN`.
    #[cfg(feature = "payment_secret")]
    pub fn payment_secret(&self) -> Result<runtime::Secret, ContextError> {
        self.secret("PAYMENT_SECRET_ARN")
    }

    /// The key that signs notifications of winners, in the secret `WINNER_SECRET_ARN`.
    #[cfg(feature = "winner_secret")]
    pub fn winner_secret(&self) -> Result<runtime::Secret, ContextError> {
        self.secret("WINNER_SECRET_ARN")
    }

    /// The key that signs events for the merchant's address, in the secret `WEBHOOK_SECRET_ARN`.
    #[cfg(feature = "webhook_secret")]
    pub fn webhook_secret(&self) -> Result<runtime::Secret, ContextError> {
        self.secret("WEBHOOK_SECRET_ARN")
    }

    /// The CDN, if any, with its keys in the secret `EDGE_KEY_SECRET_ARN`. `EDGE_ONLY=on` refuses what bypasses it.
    #[cfg(feature = "http")]
    pub(crate) fn edge(&self) -> Result<api::Edge, ContextError> {
        let is_only_way_in = self.settings().optional("EDGE_ONLY").is_some_and(|only| only == "on");
        Ok(api::Edge::new(self.optional_secret("EDGE_KEY_SECRET_ARN")?, is_only_way_in))
    }

    /// The buyers' WebSocket connections, managed at `PUSH_ENDPOINT`.
    #[cfg(feature = "push_gateway")]
    pub fn push_gateway(&self) -> Result<push::Gateway, ContextError> {
        self.once("", || Ok(push::Gateway::new(self.aws(), self.settings().required("PUSH_ENDPOINT")?)))
    }

    #[cfg(feature = "secrets")]
    fn secret<T>(&self, setting: &'static str) -> Result<runtime::Secret<T>, ContextError>
    where
        T: std::str::FromStr<Err: std::error::Error + Send + Sync + 'static> + Send + Sync + 'static,
    {
        self.once(setting, || {
            // The only client of this type that a context keeps.
            let secrets_manager = self.once("", || Ok(runtime::AwsClient::secrets_manager(self.aws())))?;
            let secret = runtime::Secret::new(secrets_manager, self.settings().required(setting)?, self.clock());
            let reading = secret.clone();
            self.before_the_first_request(setting, async move { Ok(reading.get().await.map(drop)?) });
            Ok(secret)
        })
    }

    /// The secret that `setting` names, or `None` if it is not set, for optional parts of a deployment.
    #[cfg(feature = "secrets")]
    fn optional_secret<T>(&self, setting: &'static str) -> Result<Option<runtime::Secret<T>>, ContextError>
    where
        T: std::str::FromStr<Err: std::error::Error + Send + Sync + 'static> + Send + Sync + 'static,
    {
        self.settings().optional(setting).map(|_| self.secret(setting)).transpose()
    }
}
