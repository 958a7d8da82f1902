//! The table of `docs/recovery.md`:
//!
//!     RUNS=7 cargo nextest run --profile long --workspace --run-ignored only --no-capture table_of_backlogs

use super::dynamodb::without_dynamodb;
use super::redis::{without_redis_which_comes_back_empty, without_redis_which_keeps_everything};
use super::running::Backlog;
use super::secrets::without_secrets_manager;
use super::sqs::without_sqs;
use crate::crowded_draw::setting;

/// What several runs of an outage left, and how long it took to do it.
struct Backlogs(Vec<Backlog>);

impl Backlogs {
    fn range(&self, of: impl Fn(&Backlog) -> u64 + Clone) -> String {
        range(self.0.iter().map(of))
    }

    /// A row of the table. `left` gets how many reservations have no order yet, and how many messages come again.
    fn row(&self, without: &str, left: impl Fn(&str, &str) -> String) -> String {
        let reservations = self.range(|one| one.reservations as u64);
        let left = left(&reservations, &self.range(|one| one.messages as u64));
        let ordered = match &*reservations {
            "0" => "at once".to_owned(),
            _ => format!("{} s", self.range(|one| one.ordered_s)),
        };
        format!("| {without} | {left} | {ordered} | {} s |", self.range(|one| one.done_s))
    }
}

fn range(of: impl Iterator<Item = u64> + Clone) -> String {
    let (least, most) = (of.clone().min().expect("there was a run"), of.max().expect("there was a run"));
    if least == most { least.to_string() } else { format!("{least} to {most}") }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement"]
async fn table_of_backlogs() {
    let [mut dynamodb, mut sqs, mut redis, mut empty] = [const { Backlogs(Vec::new()) }; 4];
    let mut keys = Vec::new();
    for _ in 0..setting("RUNS", 1) {
        dynamodb.0.push(without_dynamodb().await);
        sqs.0.push(without_sqs().await);
        redis.0.push(without_redis_which_keeps_everything().await);
        empty.0.push(without_redis_which_comes_back_empty().await);
        keys.push(without_secrets_manager().await);
    }
    println!("| without | left behind | all are orders after | nothing left to do after |");
    println!("| --- | --- | --- | --- |");
    let left = |held: &str, _: &str| format!("{held} reservations, and their messages");
    println!("{}", dynamodb.row("DynamoDB", left));
    let left = |held: &str, _: &str| format!("{held} reservations whose messages were not sent");
    println!("{}", sqs.row("SQS", left));
    let left = |_: &str, messages: &str| format!("{messages} messages of orders that were made meanwhile");
    println!("{}", redis.row("Redis, which keeps its data", left));
    let left = |_: &str, messages: &str| format!("{messages} such messages");
    println!("{}", empty.row("Redis, which comes back empty", left));
    let in_use = range(keys.into_iter());
    println!("| Secrets Manager | a key that was changed meanwhile | | {in_use} s: the new key is in use |");
}
