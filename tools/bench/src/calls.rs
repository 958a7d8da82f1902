use anyhow::Result;
use futures::StreamExt;
use uuid::Uuid;

/// Each process flushes its answer counts to Redis once a second, independent of requests.
const BESIDE: &str = "\"answers:{";

/// Counts the calls that the Redis at `url` gets while `work` runs, without those that scripts make inside it.
pub(crate) async fn redis_calls<T>(url: &str, work: impl Future<Output = Result<T>>) -> Result<usize> {
    let client = redis::Client::open(url)?;
    let mut marker = client.get_multiplexed_async_connection().await?;
    let mut lines = client.get_async_monitor().await?.into_on_message::<String>();
    let end = Uuid::now_v7().to_string();
    let counting = async {
        let mut calls = 0;
        while let Some(line) = lines.next().await {
            // TIME [DATABASE CLIENT] "WORD" …
            if line.contains(&end) {
                return Ok(calls);
            }
            calls += usize::from(!line.contains(" lua] ") && !line.contains(BESIDE));
        }
        anyhow::bail!("the connection that monitors Redis ended")
    };
    let working = async {
        work.await?;
        let _: String = redis::cmd("ECHO").arg(&end).query_async(&mut marker).await?;
        Ok(())
    };
    let (calls, done): (Result<usize>, Result<()>) = futures::future::join(counting, working).await;
    done?;
    calls
}
