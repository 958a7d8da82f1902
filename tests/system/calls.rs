//! Records the functions' calls to AWS and Redis.

use aws_sdk_sqs::config::Intercept;

use crate::hooks::before_send;
use crate::prelude::*;

/// A request to AWS. Each retry counts as one.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    /// Service and operation: `AmazonSQS.SendMessage`.
    pub(crate) target: String,
    pub(crate) body: Value,
}

/// Records every request of the clients that use it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Calls(Arc<Mutex<Vec<Call>>>);

impl Calls {
    pub(crate) fn hook(&self) -> impl Intercept + 'static {
        let calls = Arc::clone(&self.0);
        before_send(move |context| {
            let request = context.request();
            let target = request.headers().get("x-amz-target").unwrap_or_default().to_owned();
            let body = request.body().bytes().and_then(|bytes| serde_json::from_slice(bytes).ok()).unwrap_or_default();
            calls.lock().unwrap().push(Call { target, body });
            Ok(())
        })
    }

    pub(crate) fn take(&self) -> Vec<Call> {
        std::mem::take(&mut self.0.lock().unwrap())
    }

    pub(crate) fn take_targets(&self) -> Vec<String> {
        self.take().into_iter().map(|call| call.target).collect()
    }
}

/// The first words of the commands that clients, and not scripts, send to the Redis at `url` while `work` runs.
pub(crate) async fn redis_calls<T>(url: &str, work: impl Future<Output = T>) -> (T, Vec<String>) {
    let client = redis::Client::open(url).unwrap();
    let mut marker = tests::redis_at(url).await;
    let mut lines = client.get_async_monitor().await.unwrap().into_on_message::<String>();
    let done = work.await;
    let end = Uuid::now_v7().to_string();
    let _: String = redis::cmd("ECHO").arg(&end).query_async(&mut marker).await.unwrap();
    let mut calls = Vec::new();
    while let Some(line) = lines.next().await {
        // TIME [DATABASE CLIENT] "WORD" "ARGUMENT" …
        let (client, command) = line.split_once('[').and_then(|(_, rest)| rest.split_once("] ")).expect("a line");
        if command.contains(&end) {
            break;
        }
        if !client.ends_with("lua") {
            calls.push(command.split('"').nth(1).unwrap_or_default().to_uppercase());
        }
    }
    (done, calls)
}
