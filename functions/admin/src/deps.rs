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
    pub orders: String,
    pub orders_dlq: String,
    pub expiry: String,
    pub expiry_dlq: String,
    pub winners: String,
    pub winners_dlq: String,
    pub webhook: String,
    pub webhook_dlq: String,
    pub quarantine: String,
}

#[derive(Clone)]
pub struct AdminDeps {
    pub stock: Stock,
    pub ledger: Ledger,
    pub sqs: aws_sdk_sqs::Client,
    pub queues: Arc<QueueUrls>,
    pub order_counts: OrderCounts,
    pub picture_hosts: PictureHosts,
    pub drand_key: DrandKey,
    /// The terms of rounds, which have the names of prizes.
    pub terms: TermsCache,
    pub operators: Operators,
    pub clock: Clock,
}

impl AdminDeps {
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
