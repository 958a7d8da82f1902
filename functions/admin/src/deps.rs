use std::sync::Arc;

use api::Operators;
use context::{Context, ContextError};
use ledger::Ledger;
use process::{OrderCounts, TermsCache};
use runtime::Clock;
use sale::award::beacon::DrandKey;
use stock::Stock;

use crate::pictures::PictureHosts;

/// URLs of the queues whose dead letters can be sent back, and of their dead-letter queues.
#[derive(Clone)]
pub struct QueueUrls {
    /// Reservations that will become orders.
    pub orders: String,
    /// Reservations that could not become orders.
    pub orders_dlq: String,
    /// Orders whose payment window is open.
    pub expiry: String,
    /// Expiry messages that failed.
    pub expiry_dlq: String,
    /// Winners to notify.
    pub winners: String,
    /// Winners who could not be reported to the gift service.
    pub winners_dlq: String,
    /// Events for the merchant's address.
    pub webhook: String,
    /// Events that it did not accept.
    pub webhook_dlq: String,
    /// Messages that nobody could read.
    pub quarantine: String,
}

/// The function's dependencies.
#[derive(Clone)]
pub struct AdminDeps {
    /// Redis.
    pub stock: Stock,
    /// DynamoDB.
    pub ledger: Ledger,
    /// SQS.
    pub sqs: aws_sdk_sqs::Client,
    /// The queues.
    pub queues: Arc<QueueUrls>,
    /// The counts of orders in rounds that operators watch.
    pub order_counts: OrderCounts,
    /// The hosts that pictures may come from.
    pub picture_hosts: PictureHosts,
    /// The key that drand signs its rounds with.
    pub drand_key: DrandKey,
    /// The terms of rounds, which have the names of prizes.
    pub terms: TermsCache,
    /// Decides who is an operator.
    pub operators: Operators,
    /// The clock.
    pub clock: Clock,
}

impl AdminDeps {
    /// Makes the dependencies from the settings. Fails if a setting is missing or unusable.
    pub fn new(context: &Context) -> Result<Self, ContextError> {
        let settings = context.settings();
        let queues = QueueUrls {
            orders: settings.required("ORDERS_QUEUE_URL")?,
            orders_dlq: settings.required("ORDERS_DLQ_URL")?,
            expiry: settings.required("EXPIRY_QUEUE_URL")?,
            expiry_dlq: settings.required("EXPIRY_DLQ_URL")?,
            winners: settings.required("WINNERS_QUEUE_URL")?,
            winners_dlq: settings.required("WINNERS_DLQ_URL")?,
            webhook: settings.required("WEBHOOK_QUEUE_URL")?,
            webhook_dlq: settings.required("WEBHOOK_DLQ_URL")?,
            quarantine: settings.required("QUARANTINE_QUEUE_URL")?,
        };
        let operators = Operators::new(settings.required("OPERATOR_GROUP")?, &settings.required("OPERATOR_CLAIM")?);
        Ok(Self {
            stock: context.stock()?,
            ledger: context.ledger()?,
            sqs: context.sqs()?,
            queues: Arc::new(queues),
            order_counts: context.order_counts()?,
            picture_hosts: PictureHosts::new(settings.optional("PICTURE_HOSTS")),
            drand_key: DrandKey::quicknet(),
            terms: context.terms()?,
            operators,
            clock: context.clock(),
        })
    }
}
