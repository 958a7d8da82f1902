//! One test's tables, queues and secrets.

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
async fn depth(sqs: &Sqs, url: &str) -> [u32; 3] {
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

pub(crate) async fn delete(sqs: &Sqs, url: &str, message: &Message) {
    let receipt = message.receipt_handle().unwrap();
    sqs.delete_message().queue_url(url).receipt_handle(receipt).send().await.unwrap();
}

/// A lab's queues, by their names.
impl Lab {
    pub(crate) async fn depth(&self, queue: &str) -> [u32; 3] {
        depth(&self.sqs, self.queue(queue)).await
    }

    pub(crate) async fn send(&self, queue: &str, body: impl Into<String>) {
        self.sqs.send_message().queue_url(self.queue(queue)).message_body(body).send().await.unwrap();
    }

    pub(crate) async fn receive(&self, queue: &str) -> Vec<Message> {
        receive(&self.sqs, self.queue(queue)).await
    }

    pub(crate) async fn delete(&self, queue: &str, message: &Message) {
        delete(&self.sqs, self.queue(queue), message).await;
    }

    /// Shows a received message again, as if it had been hidden for long enough. One that has come back by itself may have
    /// another receipt now.
    pub(crate) async fn show_again(&self, queue: &str, message: &Message) {
        let shown = self.sqs.change_message_visibility().queue_url(self.queue(queue)).visibility_timeout(0);
        let _ = shown.receipt_handle(message.receipt_handle().unwrap()).send().await;
    }

    pub(crate) async fn receive_again(&self, queue: &str, message: &Message) -> Vec<Message> {
        self.show_again(queue, message).await;
        let some = async || Some(self.receive(queue).await).filter(|messages| !messages.is_empty());
        until("the message comes back", some).await
    }

    pub(crate) async fn emptied(&self, queue: &str) -> Vec<String> {
        let mut bodies = Vec::new();
        loop {
            let messages = self.receive(queue).await;
            if messages.is_empty() {
                return bodies;
            }
            for message in messages {
                self.delete(queue, &message).await;
                bodies.push(message.body.unwrap());
            }
        }
    }

    pub(crate) async fn delete_queue(&self, queue: &str) {
        self.sqs.delete_queue().queue_url(self.queue(queue)).send().await.unwrap();
    }
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
