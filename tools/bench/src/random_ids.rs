//! Random ids that were never issued: what they cost in memory and in calls to Redis.

use anyhow::Result;
use clap::Args;
use futures::{StreamExt, TryStreamExt, stream};
use local::stages::Stage;
use uuid::Uuid;

use crate::event::Request;
use crate::system::System;

const OUTSTANDING: usize = 128;
const READINGS: usize = 10;
/// Users and addresses that send them.
const USERS: usize = 1_000;
const ADDRESSES: [&str; 4] = ["203.0.113.7", "203.0.113.8", "198.51.100.9", "2001:db8::1"];

#[derive(Debug, Args)]
pub(crate) struct Plan {
    /// Made-up ids: half of sales, half of reservations
    #[arg(long, default_value_t = 1_000_000)]
    ids: usize,
}

pub(crate) async fn run(plan: &Plan) -> Result<()> {
    let system = System::start().await?;
    system.open(&["lamp"], 100).await?;
    let passes: Vec<String> = (0..USERS).map(|n| system.pass("lamp", &user(n), 0)).collect::<Result<_>>()?;
    let stage = Stage::steps("Made-up ids", plan.ids);
    let mut readings = vec![system.resident_kb()?];
    let asking = async {
        for reading in 0..READINGS {
            let (system, passes, stage) = (&system, &passes, &stage);
            stream::iter(0..plan.ids / READINGS)
                .map(|n| async move {
                    let random = Uuid::new_v4().as_simple().to_string();
                    let (user, ip) = (user(n % USERS), ADDRESSES[n % ADDRESSES.len()]);
                    let request = if n % 2 == 0 {
                        Request::reserve(&format!("sale-{}", &random[..16]), &passes[n % USERS], &user, ip)
                    } else {
                        Request::look(&format!("sale-{}.1.{random}", reading), &user, ip)
                    };
                    let answer = system.ask(&request).await?;
                    stage.step();
                    anyhow::ensure!(answer.status < 500, "{request:?}: {answer:?}");
                    Ok(())
                })
                .buffer_unordered(OUTSTANDING)
                .try_collect::<Vec<()>>()
                .await?;
            readings.push(system.resident_kb()?);
        }
        Ok(())
    };
    let calls = system.redis_calls(asking).await?;
    stage.done(format!("{} requests", plan.ids));
    println!("\ncalls to Redis for {} requests: {calls}", plan.ids);
    println!("memory of the function's process in kB, at first and after each tenth: {readings:?}");
    Ok(())
}

fn user(n: usize) -> String {
    format!("user-{n}")
}
