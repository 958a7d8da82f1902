//! A small crowd for the running cloud, to watch on the operators' page.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};
use clap::Args;
use command_line::{people, whole};
use load::users::{Credentials, Crowd, LONGEST_WAIT, TRIES};
use load::{Answer, Curve, Plan, visits};
use parking_lot::Mutex;
use sale::{Price, SaleId};

use crate::client::{Client, payment_of};
use crate::deployment::sealed;
use crate::running::api;
use crate::sales::{Obstacle, ensure_no_line, obstacle, shown_round, time};
use crate::stages::{Stage, progress_line};
use crate::up::pages;

/// One person in this many does the work at the gate. If everybody did, it would take this machine too long.
const THROUGH_THE_GATE: usize = 20;
/// One person in this many cancels, and one in this many lets the payment window pass.
const CANCELS: usize = 9;
const FORGETS: usize = 7;
/// How long people take to pay: the shortest time, and how much it varies.
const SHORTEST_THOUGHT_MS: u64 = 500;
const THOUGHTS_MS: u64 = 6_000;

#[derive(Debug, Args)]
pub struct Visitors {
    /// How many people
    #[arg(long, env = "BUYERS", default_value_t = 200, value_parser = whole(1..=10_000_u32))]
    buyers: u32,
    /// The sale
    #[arg(long, env = "SALE", default_value = "lamp")]
    sale: SaleId,
    /// Seconds over which they come
    #[arg(long, env = "OVER_S", default_value_t = 60, value_parser = whole(1..=3_600_u64))]
    over_s: u64,
}

/// Sends people at an even rate. Of those who get a unit most pay, some cancel, and some never pay.
pub async fn send_crowd(visitors: &Visitors) -> Result<()> {
    let (client, deployment, issuer) = api()?;
    let page = client.sale(visitors.sale.as_str()).await?;
    ensure_no_line(&page, "this crowd", "`./flash demo --kind line` sends one that can")?;
    if let Some(obstacle) = obstacle(&page, jiff::Timestamp::now()) {
        eprintln!("{}", foreseen(obstacle, visitors)?);
    }
    let round = shown_round(&visitors.sale, &page)?;

    let stage = Stage::spinner("Signing identities");
    // Different people from the previous crowd.
    let now = runtime::Clock::system().now();
    let names = (0..visitors.buyers).map(|n| format!("crowd-{}-{n:04}", now.0 / 1_000));
    let bearers = Arc::new(issuer.bearers(names).await?);
    let ring = deployment.pass_ring().await?;
    let credentials = bearers.iter().enumerate().map(|(n, bearer)| {
        let pass = (n % THROUGH_THE_GATE != THROUGH_THE_GATE - 1).then(|| sealed(&ring, &round, &bearer.user, now));
        Credentials { token: bearer.token.clone(), pass }
    });
    let credentials = credentials.collect();
    let payment_key = Arc::new(deployment.payment_key().await?);
    stage.done(people(bearers.len() as u64));

    let is_free = page["price_minor"] == 0;
    let failed = if is_free { "got no order" } else { "got an error when they paid or cancelled" };
    let target = deployment.api_url.parse()?;
    let crowd = Arc::new(Crowd::new(load::Client::new(target), visitors.sale.clone(), credentials, 0.0)?);
    let plan = Plan::new(visitors.buyers as usize, Duration::from_secs(visitors.over_s), Curve::Even)?;
    let became: Arc<Mutex<BTreeMap<&str, usize>>> = Arc::default();
    let outcome = visits(&plan, progress_line(), |visit| {
        let (crowd, client, became) = (Arc::clone(&crowd), client.clone(), Arc::clone(&became));
        let (bearers, payment_key) = (Arc::clone(&bearers), Arc::clone(&payment_key));
        async move {
            let Some(id) = crowd.buy(&visit).await else { return };
            tokio::time::sleep(thought(visit.n)).await;
            let token = &bearers[visit.n].text;
            let end = if is_free {
                client.ordered(token, &id).await.map(|_| "got it, with nothing to pay")
            } else {
                end(&client, visit.n, token, &payment_key, &id).await
            };
            let mut became = became.lock();
            *became.entry(end.unwrap_or(failed)).or_default() += 1;
        }
    });
    let outcome = outcome.await;
    println!("{} came. Answers to their reservations:", people(outcome.users as u64));
    for ((_, answer), latency_us) in outcome.answers.iter().filter(|((step, _), _)| *step == "reserve") {
        println!("  {:>6}  {}", latency_us.len(), in_words(answer));
    }
    let became = became.lock();
    if became.is_empty() {
        println!("Nobody got a unit.");
    } else {
        println!("What they did with their units:");
    }
    for (end, count) in &*became {
        println!("  {count:>6}  {end}");
    }
    if let Some(stopped) = outcome.stopped {
        println!("  {}", stopped.reason());
    }
    Ok(())
}

fn foreseen(obstacle: Obstacle, Visitors { sale, over_s, .. }: &Visitors) -> Result<String> {
    let (_, operators) = pages(sale.as_str())?;
    let told = obstacle.told(sale.as_str(), &operators);
    let waits_s = LONGEST_WAIT.as_secs();
    match obstacle {
        Obstacle::NotOpen { wait_s, .. } if wait_s.unsigned_abs() < over_s + waits_s => Ok(format!(
            "{sale} opens in {}. People who come more than {waits_s} s before that leave; the others wait.",
            time(wait_s)
        )),
        Obstacle::Paused => Ok(format!(
            "{sale} is paused or stopped, or waits for its beacon: people are told to come back, and leave after {TRIES} attempts. See {operators}"
        )),
        Obstacle::NotOpen { .. } | Obstacle::Closed => bail!("{told}"),
    }
}

fn in_words(answer: &Answer) -> String {
    match (answer.status, &*answer.code) {
        (Some(202), _) => "reserved (202)".to_owned(),
        (Some(409), "sold_out") => "sold out (409 sold_out)".to_owned(),
        _ => answer.to_string(),
    }
}

/// What a person does with a reservation, determined by the number.
async fn end(client: &Client, n: usize, token: &str, payment_key: &str, id: &str) -> Result<&'static str> {
    if n % CANCELS == CANCELS - 1 {
        client.cancel(token, id).await?;
        Ok("cancelled")
    } else if n % FORGETS == FORGETS - 1 {
        Ok("left it unpaid")
    } else {
        // The price is in the order.
        let price: Price = serde_json::from_value(client.ordered(token, id).await?)?;
        match &*client.tell_of_payment(payment_key, &payment_of(id), id, price).await? {
            "applied" => Ok("paid"),
            _ => Ok("paid too late"),
        }
    }
}

/// Spread deterministically, so that every crowd is alike.
const fn thought(n: usize) -> Duration {
    Duration::from_millis(SHORTEST_THOUGHT_MS + (n as u64 * 977) % THOUGHTS_MS)
}
