//! What a draw among a crowd costs: the built `draw` against the emulator, with a computed index of entries.
//!
//!     ENTRIES=1000000 PRIZES=100 PROFILE=release cargo nextest run --profile long --workspace --run-ignored only --no-capture crowded_draw
//!
//! The emulator scans its whole table for each page of an index. So a proxy answers for the index of live orders, with pages
//! as large and as slow as DynamoDB's. The emulator does the rest: the winners' orders, the chunks, the draw.

use std::sync::atomic::AtomicU64;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use ledger::ROUND_SHARDS;
use sale::award::{self, merkle};
use tests::{Server, Upstream};

use crate::lotteries::lottery;
use crate::prelude::*;

/// DynamoDB ends a page at a megabyte of what is stored (developer guide, "Paginating table query results").
const PAGE_BYTES: usize = 1 << 20;
/// The size of an item in the index: its four attributes with their names, and the hundred bytes that an index adds (developer
/// guide, "Global secondary indexes", "Storage considerations").
const ITEM_BYTES: usize = 190;
const PAGE_DELAY: Duration = Duration::from_millis(100);
/// How often the memory of the process is read.
const POLL_EVERY: Duration = Duration::from_millis(5);

/// The index of live orders: unit after unit, each with an order.
struct Index {
    upstream: Upstream,
    id: RoundId,
    entries: u32,
}

fn order_id(id: &RoundId, unit: u32) -> ReservationId {
    let uuid = Uuid::from_u128(0x0198_f0b2_a4c5_7d1e_8f00_0000_0000_0000 | u128::from(unit));
    ReservationId { round: id.clone(), uuid }
}

impl Index {
    fn page(&self, query: &Value) -> Value {
        let shard = query["ExpressionAttributeValues"][":shard"]["S"].as_str().unwrap();
        let shard: u32 = shard.rsplit('#').next().unwrap().parse().unwrap();
        let after = query["ExclusiveStartKey"]["unit"]["N"].as_str().map(|unit| unit.parse::<u32>().unwrap());
        let first = after.map_or(if shard == 0 { ROUND_SHARDS } else { shard }, |unit| unit + ROUND_SHARDS);
        let units = (first..=self.entries).step_by(ROUND_SHARDS as usize).take(PAGE_BYTES / ITEM_BYTES);
        let pk = |unit| json!({ "S": format!("ORDER#{}", order_id(&self.id, unit)) });
        let number = |unit: u32| json!({ "N": unit.to_string() });
        let items: Vec<Value> = units.map(|unit| json!({ "pk": pk(unit), "unit": number(unit) })).collect();
        let mut answer = json!({ "Count": items.len(), "ScannedCount": items.len() });
        if let Some(last) = items.last().filter(|_| items.len() == PAGE_BYTES / ITEM_BYTES) {
            let shard = query["ExpressionAttributeValues"][":shard"].clone();
            answer["LastEvaluatedKey"] = json!({ "pk": last["pk"], "unit": last["unit"], "live_shard": shard });
        }
        answer["Items"] = json!(items);
        answer
    }
}

async fn answer(State(index): State<Arc<Index>>, headers: HeaderMap, body: Bytes) -> Response {
    let query = serde_json::from_slice::<Value>(&body).unwrap_or_default();
    if query["IndexName"] == "orders_by_round" {
        tokio::time::sleep(PAGE_DELAY).await;
        let page = tokio::task::block_in_place(|| index.page(&query).to_string());
        return ([("content-type", "application/x-amz-json-1.0")], page).into_response();
    }
    index.upstream.pass(&headers, body).await.unwrap_or_else(|_| StatusCode::BAD_GATEWAY.into_response())
}

/// A figure of a measurement, from the environment.
fn setting(name: &str, otherwise: u32) -> u32 {
    std::env::var(name).map_or(otherwise, |text| text.parse().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement"]
async fn prizes_are_drawn_among_a_crowd() {
    let (entries, prizes) = (setting("ENTRIES", 100_000), setting("PRIZES", 100));
    let counts = [1, prizes - 1];
    let lab = Lab::new().await;
    let now = Clock::system().now();
    let terms = rounds::from_to(-7200, -3600, lottery(entries, &counts));
    rounds::draft(&lab.ledger, SALE, &terms, None).await;
    rounds::publish(&lab.ledger, SALE).await;
    let (id, of_round) = (round(SALE, 1), lab.round().await);
    // Fenced long ago, so that the entries are counted at once.
    let fence = lab.dynamodb.put_item().table_name(&lab.table).item("pk", AttributeValue::S(format!("DRAW#{SALE}#1")));
    fence.item("fenced_at_ms", AttributeValue::N((now.0 - 1_800_000).to_string())).send().await.unwrap();

    let key = award::shuffle_key(&lab.ledger.committed_seed(&of_round).await.unwrap(), None);
    let winners: Vec<(u32, u64)> = award::winners(&counts, entries, &key).collect();
    let orders = futures::stream::iter(&winners).map(|(unit, _)| {
        let fresh = fresh_reservation(&id, &user(format!("user-{unit}")), *unit, 1);
        let order = Order::granted(Reservation { id: order_id(&id, *unit), ..fresh }, terms.price, now, None);
        let ledger = &lab.ledger;
        async move { ledger.place_within(order, &[], false).await.unwrap() }
    });
    let placed: Vec<Placed> = orders.buffer_unordered(16).collect().await;
    assert!(placed.iter().all(|placed| matches!(placed, Placed::Order(_))));

    let upstream = Upstream::new(&cloud().await.deployment.endpoint);
    let index = Arc::new(Index { upstream, id: id.clone(), entries });
    let router = Router::new().fallback(answer).layer(DefaultBodyLimit::disable()).with_state(index);
    let server = Server::http(router);
    let program =
        std::env::var("PROFILE").map_or("lambda/draw/bootstrap".to_owned(), |profile| format!("{profile}/draw"));
    let (api, process) = lab.process("draw", &program, &server.url(), []).await;

    println!("{entries} entries, {prizes} prizes, build: {program}, a page of the index takes {PAGE_DELAY:?}");
    let peak_kb = AtomicU64::new(0);
    let drawing = async {
        for number in 1..=20 {
            let began = Instant::now();
            let made = api.invoke(b"{}".to_vec()).await.unwrap();
            let summary: Value = serde_json::from_slice(&made).unwrap();
            println!("run {number}: {:.1?} {summary}", began.elapsed());
            if summary["drawn"] == 1 {
                return;
            }
        }
    };
    let looking = async {
        loop {
            peak_kb.fetch_max(process.resident_kb().unwrap(), Ordering::Relaxed);
            tokio::time::sleep(POLL_EVERY).await;
        }
    };
    tokio::select! { () = drawing => {}, () = looking => {} }

    let draw = lab.ledger.draw(&id).await.unwrap().unwrap();
    let closed = draw.closed.expect("the draw is closed");
    println!("peak memory: {:.0} MB", peak_kb.load(Ordering::Relaxed) as f64 / 1000.0);
    // That each prize has its winner is tested in `lotteries`.
    assert!(draw.drawn_at_ms.is_some());
    let leaf = |unit| merkle::leaf_hash(&merkle::entry(unit, &order_id(&id, unit).to_string()));
    assert_eq!((closed.entries, closed.root), (entries, merkle::root_of_hashes((1..=entries).map(leaf).collect())));
}
