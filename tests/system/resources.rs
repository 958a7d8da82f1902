//! One test's tables and queues, and everything in them.

use aws_sdk_dynamodb::types::{BillingMode, GlobalSecondaryIndex};
use aws_sdk_sqs::types::{MessageSystemAttributeName, QueueAttributeName as Attribute};

use crate::prelude::*;

/// Creates a table with the keys and indexes of the table `model`.
pub(crate) async fn make_table(dynamodb: &DynamoDb, model: &str, name: &str) {
    let model = dynamodb.describe_table().table_name(model).send().await.unwrap().table.unwrap();
    let indexes = model.global_secondary_indexes.unwrap().into_iter().map(|index| {
        let index = GlobalSecondaryIndex::builder()
            .set_index_name(index.index_name)
            .set_key_schema(index.key_schema)
            .set_projection(index.projection);
        index.build().unwrap()
    });
    dynamodb
        .create_table()
        .table_name(name)
        .set_attribute_definitions(model.attribute_definitions)
        .set_key_schema(model.key_schema)
        .set_global_secondary_indexes(Some(indexes.collect()))
        .billing_mode(BillingMode::PayPerRequest)
        .send()
        .await
        .unwrap();
}

/// Creates a queue with the deployed queues' visibility timeout, and returns its URL.
pub(crate) async fn make_queue(sqs: &Sqs, name: &str) -> String {
    let queue = sqs.create_queue().queue_name(name).attributes(Attribute::VisibilityTimeout, "180");
    queue.send().await.unwrap().queue_url.unwrap()
}

pub(crate) async fn make_secret(what: &str, text: &str) -> String {
    let name = format!("{what}-{}", Uuid::now_v7().as_simple());
    let secret = json!({ "Name": name, "SecretString": text, "ClientRequestToken": Uuid::now_v7() });
    secrets_manager().await.call("secretsmanager.CreateSecret", &secret).await.unwrap();
    name
}

pub(crate) async fn secrets_manager() -> AwsClient {
    AwsClient::secrets_manager(&cloud().await.deployment.patient_aws_config())
}

/// Messages in a queue: visible, received and delayed ones.
pub(crate) async fn depth(sqs: &Sqs, url: &str) -> [u32; 3] {
    let names = [
        Attribute::ApproximateNumberOfMessages,
        Attribute::ApproximateNumberOfMessagesNotVisible,
        Attribute::ApproximateNumberOfMessagesDelayed,
    ];
    let wanted = Some(names.to_vec());
    let output = sqs.get_queue_attributes().queue_url(url).set_attribute_names(wanted).send().await.unwrap();
    let attributes = output.attributes.unwrap();
    names.map(|name| attributes[&name].parse().unwrap())
}

pub(crate) async fn receive(sqs: &Sqs, url: &str) -> Vec<Message> {
    let receive = sqs.receive_message().queue_url(url).max_number_of_messages(10);
    let receive = receive.message_system_attribute_names(MessageSystemAttributeName::All);
    receive.send().await.unwrap().messages.unwrap_or_default()
}

/// Shows a received message again, as if it had been hidden for long enough.
pub(crate) async fn show_again(sqs: &Sqs, url: &str, message: &Message) {
    let receipt = message.receipt_handle().unwrap();
    let shown = sqs.change_message_visibility().queue_url(url).receipt_handle(receipt).visibility_timeout(0);
    shown.send().await.unwrap();
}

/// Receives every visible message from a queue, in the batches in which they come.
pub(crate) async fn receive_batches(sqs: &Sqs, url: &str) -> Vec<Vec<Message>> {
    let mut batches = Vec::new();
    until("every visible message is received", async || {
        loop {
            let messages = receive(sqs, url).await;
            if messages.is_empty() {
                break;
            }
            batches.push(messages);
        }
        (depth(sqs, url).await[0] == 0).then_some(())
    })
    .await;
    batches
}

pub(crate) async fn items(dynamodb: &DynamoDb, table: &str) -> BTreeMap<String, BTreeMap<String, AttributeValue>> {
    let mut items = BTreeMap::new();
    let mut scan = dynamodb.scan().table_name(table).consistent_read(true).into_paginator().items().send();
    while let Some(item) = scan.next().await {
        let item = item.unwrap();
        items.insert(item["pk"].as_s().unwrap().clone(), item.into_iter().collect());
    }
    items
}

/// Every key in Redis, as `DUMP` returns it, with the time at which it expires.
pub(crate) async fn keys(url: &str) -> BTreeMap<String, (Vec<u8>, i64)> {
    let mut redis = tests::redis_at(url).await;
    let names: Vec<String> = redis::cmd("KEYS").arg("*").query_async(&mut redis).await.unwrap();
    let mut keys = BTreeMap::new();
    for name in names {
        let dump: (Vec<u8>, i64) =
            redis::pipe().cmd("DUMP").arg(&name).cmd("PEXPIRETIME").arg(&name).query_async(&mut redis).await.unwrap();
        keys.insert(name, dump);
    }
    keys
}

/// Everything that a lab stores.
#[derive(Debug, PartialEq)]
pub(crate) struct Contents {
    pub(crate) keys: BTreeMap<String, (Vec<u8>, i64)>,
    pub(crate) items: BTreeMap<String, BTreeMap<String, AttributeValue>>,
    pub(crate) depths: BTreeMap<&'static str, [u32; 3]>,
}

impl Lab {
    pub(crate) async fn contents(&self) -> Contents {
        let mut depths = BTreeMap::new();
        // Anybody may ask for a rebuild.
        for (name, url) in self.queues().filter(|(name, _)| *name != "rebuilds") {
            depths.insert(name, depth(&self.sqs, url).await);
        }
        Contents { keys: keys(&self.valkey.url()).await, items: items(&self.dynamodb, &self.table).await, depths }
    }

    /// Resets Redis to what it was when `keys` was read, as a failover to a lagging replica does.
    pub(crate) async fn rewind(&self, keys: &BTreeMap<String, (Vec<u8>, i64)>) {
        self.redis_written_at.get_or_init(|| self.recorder.now_ns());
        let mut redis = tests::redis_at(&self.valkey.url()).await;
        let () = redis::cmd("FLUSHALL").query_async(&mut redis).await.unwrap();
        for (name, (dump, expires_at_ms)) in keys {
            let mut restore = redis::cmd("RESTORE");
            restore.arg(name).arg(expires_at_ms).arg(dump).arg("ABSTTL");
            let () = restore.query_async(&mut redis).await.unwrap();
        }
    }

    /// Sends a command to Redis, bypassing the scripts.
    pub(crate) async fn redis(&self, command: &[&str]) {
        self.redis_written_at.get_or_init(|| self.recorder.now_ns());
        let mut redis = tests::redis_at(&self.valkey.url()).await;
        let done: redis::Value = redis::cmd(command[0]).arg(&command[1..]).query_async(&mut redis).await.unwrap();
        assert_ne!(done, redis::Value::Int(0), "{command:?} changed nothing");
    }

    /// Redis's answer to a command, bypassing the scripts.
    pub(crate) async fn redis_text(&self, command: &[&str]) -> String {
        let mut redis = tests::redis_at(&self.valkey.url()).await;
        redis::cmd(command[0]).arg(&command[1..]).query_async(&mut redis).await.unwrap()
    }

    pub(crate) async fn delete_item(&self, pk: &str) {
        let delete = self.dynamodb.delete_item().table_name(&self.table).key("pk", AttributeValue::S(pk.to_owned()));
        delete.condition_expression("attribute_exists(pk)").send().await.unwrap();
    }

    /// Sets an attribute of an item regardless of the rules.
    pub(crate) async fn set_attribute(&self, pk: &str, name: &str, value: AttributeValue) {
        let update = self.dynamodb.update_item().table_name(&self.table).key("pk", AttributeValue::S(pk.to_owned()));
        let update = update.update_expression("SET #name = :value").expression_attribute_names("#name", name);
        update.expression_attribute_values(":value", value).send().await.unwrap();
    }

    /// What an operator reads there.
    pub(crate) async fn read(&self, path: impl Into<String>) -> Value {
        self.answer(&Ask::get(path).by_operator()).await.expect(200).body
    }

    /// The answers to a request and to those that it leads to, page by page.
    pub(crate) async fn pages(&self, ask: Ask) -> Vec<Value> {
        let (mut pages, mut path) = (Vec::new(), ask.path.clone());
        loop {
            let page = self.answer(&Ask { path, ..ask.clone() }).await.expect(200).body;
            let next = page["next_cursor"].as_str().map(str::to_owned);
            pages.push(page);
            let Some(next) = next else { return pages };
            path = format!("{}{}cursor={next}", ask.path, if ask.path.contains('?') { '&' } else { '?' });
        }
    }

    /// Delivers the messages that expire these orders, to a function whose clock is this far ahead.
    pub(crate) async fn expire(&self, reservations: &[&Reservation], ahead_s: i64) {
        let messages = reservations.iter().map(|order| ExpiryMessage::new(order.id.clone(), EpochMs(0)).to_body());
        let expired = expiry::handle(&self.expiry_in(ahead_s), events::batch(messages)).await;
        assert!(expired.batch_item_failures.is_empty());
    }

    pub(crate) async fn reconcile(&self) -> reconciliation::ReconciliationSummary {
        reconciliation::handle(&self.reconciliation()).await.unwrap()
    }

    /// Reconciles with a clock that is this far ahead.
    pub(crate) async fn reconcile_in(&self, ahead_ms: i64) -> reconciliation::ReconciliationSummary {
        let clock = Clock::ahead_by_ms(ahead_ms);
        let deps = reconciliation::ReconciliationDeps { clock, ..self.reconciliation() };
        Box::pin(reconciliation::handle(&deps)).await.unwrap()
    }
}

/// The members of all pages' lists.
pub(crate) fn listed(pages: &[Value], list: &str) -> Vec<Value> {
    pages.iter().flat_map(|page| page[list].as_array().unwrap().clone()).collect()
}

/// An item as a stream has it.
pub(crate) fn image(item: &BTreeMap<String, AttributeValue>) -> Value {
    let item: HashMap<_, _> = item.clone().into_iter().collect();
    serde_json::to_value(serde_dynamo::Item::from(item)).unwrap()
}
