//! Everything that a lab stores.

use tests::{Dump, dump, undump};

use crate::lab::QUEUES;
use crate::prelude::*;

/// Every key in Redis.
pub(crate) async fn keys(url: &str) -> Dump {
    let mut redis = tests::redis_at(url).await;
    let names: Vec<String> = redis::cmd("KEYS").arg("*").query_async(&mut redis).await.unwrap();
    dump(&mut redis, names).await.unwrap()
}

#[derive(Debug, PartialEq)]
pub(crate) struct Contents {
    pub(crate) keys: Dump,
    pub(crate) items: BTreeMap<String, BTreeMap<String, AttributeValue>>,
    pub(crate) depths: BTreeMap<&'static str, [u32; 3]>,
}

impl Lab {
    pub(crate) async fn contents(&self) -> Contents {
        let mut depths = BTreeMap::new();
        // Anybody may ask for a rebuild.
        for (name, _) in QUEUES.into_iter().filter(|(name, _)| *name != "rebuilds") {
            depths.insert(name, self.depth(name).await);
        }
        Contents { keys: keys(&self.valkey.url()).await, items: items(&self.dynamodb, &self.table).await, depths }
    }

    /// Resets Redis to what it was when `keys` was read, as a failover to a lagging replica does.
    pub(crate) async fn rewind(&self, keys: &Dump) {
        self.redis_written_at.get_or_init(|| self.recorder.now_ns());
        let mut redis = tests::redis_at(&self.valkey.url()).await;
        let () = redis::cmd("FLUSHALL").query_async(&mut redis).await.unwrap();
        undump(&mut redis, keys).await.unwrap();
    }

    /// Runs `work`, whose writes to Redis are then lost in a failover.
    pub(crate) async fn lose_what<T>(&self, work: impl Future<Output = T>) -> T {
        let before = keys(&self.valkey.url()).await;
        let done = work.await;
        self.rewind(&before).await;
        done
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

    pub(crate) async fn put_item(&self, item: BTreeMap<String, AttributeValue>) {
        let put = self.dynamodb.put_item().table_name(&self.table).set_item(Some(item.into_iter().collect()));
        put.send().await.unwrap();
    }

    pub(crate) async fn delete_item(&self, pk: &str) {
        let delete = self.dynamodb.delete_item().table_name(&self.table).key("pk", AttributeValue::S(pk.to_owned()));
        delete.condition_expression("attribute_exists(pk)").send().await.unwrap();
    }

    /// Puts mallory's live order on the unit that another order has, regardless of the rules.
    pub(crate) async fn put_second_order(&self, first: &Reservation) {
        let mut second = items(&self.dynamodb, &self.table).await.remove(&format!("ORDER#{}", first.id)).unwrap();
        let id = fresh_id(&first.id.round).to_string();
        let pk = format!("ORDER#{id}");
        let changes = [("pk", &*pk), ("id", &*id), ("user", "mallory"), ("orders_of", "mallory")];
        second.extend(changes.map(|(name, text)| (name.to_owned(), AttributeValue::S(text.to_owned()))));
        self.put_item(second).await;
    }

    /// Sets an attribute of an item regardless of the rules.
    pub(crate) async fn set_attribute(&self, pk: &str, name: &str, value: AttributeValue) {
        let update = self.dynamodb.update_item().table_name(&self.table).key("pk", AttributeValue::S(pk.to_owned()));
        let update = update.update_expression("SET #name = :value").expression_attribute_names("#name", name);
        update.expression_attribute_values(":value", value).send().await.unwrap();
    }
}

/// An item as a stream has it.
pub(crate) fn image(item: &BTreeMap<String, AttributeValue>) -> Value {
    let item: HashMap<_, _> = item.clone().into_iter().collect();
    serde_json::to_value(serde_dynamo::Item::from(item)).unwrap()
}
