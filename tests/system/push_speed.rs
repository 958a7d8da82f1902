//! How fast the deployed WebSocket API is, which the emulator serves: `make up`, the demo and the tests leave it there.

use crate::crowded_draw::setting;
use crate::prelude::*;
use crate::push::{dial, next, place};

/// Clients that open sockets at the same time, and writers of orders.
const AT_ONCE: usize = 16;

/// The element that this share of the others is not above.
fn quantile(sorted: &[Duration], share: f64) -> Duration {
    sorted[((sorted.len() - 1) as f64 * share).round() as usize]
}

/// Run it with `SOCKETS=1000 cargo nextest run --profile long --workspace --run-ignored only --no-capture push_speed`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a measurement"]
async fn every_buyer_of_a_rush_hears_over_a_socket() {
    let cloud = cloud().await;
    let dynamodb = aws_sdk_dynamodb::Client::new(&cloud.deployment.patient_aws_config());
    let ledger = Ledger::new(dynamodb, &cloud.deployment.table);
    let sockets = setting("SOCKETS", 500) as usize;
    let run = Uuid::new_v4().as_simple().to_string();
    let names: Vec<String> = (0..sockets).map(|number| format!("listener-{}-{number}", &run[..8])).collect();

    let begun = Instant::now();
    let opened = futures::stream::iter(&names).map(async |name| {
        let begun = Instant::now();
        let socket = dial(&cloud.issuer.token(name).unwrap()).await.expect("the user is let in");
        (name, socket, begun.elapsed())
    });
    let opened: Vec<_> = opened.buffer_unordered(AT_ONCE).collect().await;
    let took = begun.elapsed();
    let mut opening: Vec<Duration> = opened.iter().map(|(_, _, took)| *took).collect();
    opening.sort_unstable();
    println!(
        "{sockets} sockets opened in {took:.1?}, {:.0} a second, {AT_ONCE} at once; p50 {:.0?}, p99 {:.0?}",
        sockets as f64 / took.as_secs_f64(),
        quantile(&opening, 0.5),
        quantile(&opening, 0.99),
    );

    // Everybody listens, and orders are written as fast as the emulator's table takes them.
    let (placed, mut places) = tokio::sync::mpsc::unbounded_channel();
    let mut listening = tokio::task::JoinSet::new();
    for (name, mut socket, _) in opened {
        let name = name.clone();
        listening.spawn(async move {
            let heard = next(&mut socket).await;
            (name, (heard["reservation_id"].as_str().expect("an id").to_owned(), Instant::now()))
        });
    }
    let begun = Instant::now();
    let written = futures::stream::iter(&names).for_each_concurrent(AT_ONCE, async |name| {
        let order = place(&ledger, name).await;
        placed.send((name.clone(), order.reservation.id.to_string(), Instant::now())).expect("somebody listens");
    });
    written.await;
    let writing = begun.elapsed();
    drop(placed);
    let heard: HashMap<_, _> = listening.join_all().await.into_iter().collect();
    let told = begun.elapsed();

    let mut waits = Vec::new();
    while let Some((name, id, at)) = places.recv().await {
        let (reservation, heard_at) = &heard[&name];
        assert_eq!(*reservation, id, "of the own order");
        waits.push(heard_at.saturating_duration_since(at));
    }
    waits.sort_unstable();
    println!(
        "{sockets} orders written in {writing:.1?}, {:.0} a second; all were heard of after {told:.1?}, {:.0} a second; \
         from the order to its message p50 {:.2?}, p99 {:.2?}",
        sockets as f64 / writing.as_secs_f64(),
        sockets as f64 / told.as_secs_f64(),
        quantile(&waits, 0.5),
        quantile(&waits, 0.99),
    );
    assert_eq!(waits.len(), sockets);
}
