use std::sync::Arc;

use api::Operators;
use ledger::Ledger;
use process::{OrderCounts, TermsCache};
use runtime::Clock;
use sale::award::beacon::DrandKey;
use stock::Stock;

use crate::pictures::PictureHosts;

context::deps! {
    /// URLs of the queues whose dead letters can be sent back, and of their dead-letter queues.
    QueueUrls(context) {
        pub orders: String = context.settings().required("ORDERS_QUEUE_URL")?,
        pub orders_dlq: String = context.settings().required("ORDERS_DLQ_URL")?,
        pub expiry: String = context.settings().required("EXPIRY_QUEUE_URL")?,
        pub expiry_dlq: String = context.settings().required("EXPIRY_DLQ_URL")?,
        pub winners: String = context.settings().required("WINNERS_QUEUE_URL")?,
        pub winners_dlq: String = context.settings().required("WINNERS_DLQ_URL")?,
        pub webhook: String = context.settings().required("WEBHOOK_QUEUE_URL")?,
        pub webhook_dlq: String = context.settings().required("WEBHOOK_DLQ_URL")?,
        pub quarantine: String = context.settings().required("QUARANTINE_QUEUE_URL")?,
    }
}

context::deps! {
    AdminDeps(context) {
        pub stock: Stock = context.stock()?,
        pub ledger: Ledger = context.ledger()?,
        pub sqs: aws_sdk_sqs::Client = context.sqs()?,
        pub queues: Arc<QueueUrls> = Arc::new(QueueUrls::new(context)?),
        pub order_counts: OrderCounts = context.order_counts()?,
        pub picture_hosts: PictureHosts = PictureHosts::new(context.settings().optional("PICTURE_HOSTS")),
        pub drand_key: DrandKey = DrandKey::quicknet(),
        /// The terms of rounds, which have the names of prizes.
        pub terms: TermsCache = context.terms()?,
        pub operators: Operators = {
            let settings = context.settings();
            Operators::new(settings.required("OPERATOR_GROUP")?, &settings.required("OPERATOR_CLAIM")?)
        },
        pub clock: Clock = context.clock(),
    }
}
