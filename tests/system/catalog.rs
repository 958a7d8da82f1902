//! What the public sees of a sale: how soon, for how many calls, and when a part does not answer.

use std::sync::atomic::AtomicI64;

use lambda_http::RequestExt;
use tests::SlowProxy;

use crate::prelude::*;

const MADE_UP: usize = 1_000;
/// The shortest time for which the function keeps what it has read.
const KEPT_AT_LEAST: Duration = Duration::from_millis(600);
/// The ledger calls that read what has changed: the changes, the campaigns and the kill switches.
const ONE_READING: usize = 3;
/// Those of the first reading, which also lists all sales, from eight partitions, and reads their rounds.
const FIRST_READING: usize = ONE_READING + 8 + 1;

/// A public document, which must be there.
pub(crate) async fn shown(catalog: &catalog::CatalogDeps, path: &str) -> Answer {
    let answer = catalog.answer(&Ask::get(path)).await;
    assert_eq!((answer.status, answer.header("content-type")), (200, "application/json"), "{answer:?}");
    answer
}

async fn sees(catalog: &catalog::CatalogDeps, member: &str, value: &str) {
    let what = format!("{member} is {value}");
    let seen = async || (shown(catalog, "/v1/sales/lamp").await.text(member) == value).then_some(());
    Box::pin(until(&what, seen)).await;
}

/// How long a change may take to show.
pub(crate) const SEEN_WITHIN_MS: i64 = 2_000;

/// Looks once, as soon as a change must show. Only the wall clock moves, as while Lambda freezes a process.
async fn sees_in_time(catalog: &catalog::CatalogDeps, moved_ms: &AtomicI64, member: &str, value: &str) {
    moved_ms.fetch_add(SEEN_WITHIN_MS, Ordering::Relaxed);
    assert_eq!(shown(catalog, "/v1/sales/lamp").await.text(member), value);
}

#[tokio::test]
async fn what_is_left_is_seen_within_two_seconds() {
    let lab = Lab::selling(terms(20, 1)).await;
    let (clock, moved_ms) = movable_clock();
    let catalog = lab.catalog_at(clock);
    let card = shown(&catalog, "/v1/sales/lamp").await.body;
    assert_eq!((&card["availability"], &card["state"]), (&json!("available"), &json!("open")));
    for number in ["total", "free", "left", "version", "units"] {
        assert_eq!(card.get(number), None, "no number of units is public");
    }
    for number in 0..18 {
        lab.reserve(&format!("user-{number}")).await;
    }
    sees_in_time(&catalog, moved_ms, "availability", "few_left").await;
    let last = [lab.reserve("user-18").await, lab.reserve("user-19").await];
    sees_in_time(&catalog, moved_ms, "availability", "sold_out").await;
    for reservation in &last {
        lab.stock.round(&reservation.id.round).release(reservation, None, false).await.unwrap();
    }
    sees_in_time(&catalog, moved_ms, "availability", "few_left").await;
    lab.redis(&["FLUSHALL"]).await;
    sees_in_time(&catalog, moved_ms, "availability", "unknown").await;
    lab.load(SALE).await;
    sees_in_time(&catalog, moved_ms, "availability", "available").await;
    let [one, other] = [shown(&catalog, "/v1/sales/lamp").await, shown(&lab.catalog(), "/v1/sales/lamp").await];
    assert_eq!(one.header("etag"), other.header("etag"), "in every process");
}

#[tokio::test]
async fn a_sale_is_seen_to_be_published_paused_stopped_and_closed() {
    let lab = Lab::new().await;
    let (clock, moved_ms) = movable_clock();
    let catalog = lab.catalog_at(clock);
    rounds::draft(&lab.ledger, SALE, &rounds::from_to(3600, 3660, terms(20, 1)), None).await;
    catalog.answer(&Ask::get("/v1/sales/lamp")).await.problem(404, "unknown_sale");
    rounds::publish(&lab.ledger, SALE).await;
    let sees = async |state: &str| sees_in_time(&catalog, moved_ms, "state", state).await;
    sees("upcoming").await;
    let id = round(SALE, 1);
    let amend = async |change: &dyn Fn(&mut Round)| rounds::change(&lab.ledger, &id, change).await;
    amend(&|round| round.terms.opens_at_ms = EpochMs(0)).await;
    sees("open").await;
    amend(&|round| round.paused = true).await;
    sees("paused").await;
    amend(&|round| round.paused = false).await;
    sees("open").await;
    lab.ledger.stop(None).await.unwrap();
    sees("paused").await;
    lab.ledger.start(None).await.unwrap();
    sees("open").await;
    amend(&|round| round.terms.closes_at_ms = now()).await;
    sees("closed").await;
}

#[tokio::test]
async fn ten_at_once_make_one_load() {
    let lab = Lab::selling(terms(20, 1)).await;
    for path in ["/v1/sales/lamp", "/v1/campaigns"] {
        let catalog = lab.catalog();
        lab.calls.take();
        let ten = join_all((0..10).map(|_| shown(&catalog, path)));
        let (answers, redis) = redis_calls(&lab.valkey.url(), ten).await;
        assert_eq!(lab.calls.take_targets().len(), FIRST_READING, "{path}");
        assert_eq!(redis, if path.contains("sales") { vec!["GET"] } else { vec![] }, "{path}");
        assert!(answers.iter().all(|answer| answer.header("etag") == answers[0].header("etag")));
    }
}

#[tokio::test]
async fn a_flood_of_made_up_ids_reaches_nothing() {
    let lab = Lab::selling(terms(20, 1)).await;
    let catalog = lab.catalog();
    lab.calls.take();
    for path in ["/v1/sales/Lamp", "/v1/campaigns/a_b", "/v1/sales/-"] {
        catalog.answer(&Ask::get(path)).await.problem(400, "invalid_request");
    }
    assert_eq!(lab.calls.take_targets(), [""; 0], "what is no id is looked up nowhere");
    shown(&catalog, "/v1/sales/lamp").await;
    lab.calls.take();
    let began = Instant::now();
    let request = Ask::get("/v1/sales/lamp").request();
    let flood = async {
        for n in 0..MADE_UP {
            let request = request.clone().with_raw_http_path(format!("/v1/sales/made-up-{n}"));
            assert_eq!(catalog::handle(&catalog, request).await.status(), 404);
        }
    };
    let ((), redis) = redis_calls(&lab.valkey.url(), flood).await;
    let readings = 2 + began.elapsed().as_millis() / KEPT_AT_LEAST.as_millis();
    let (aws, readings) = (lab.calls.take_targets().len(), readings as usize);
    assert!(aws <= readings * ONE_READING + FIRST_READING, "{aws} calls in time for {readings} readings");
    assert_eq!(redis.len(), 0);
    // The one that there is may have been forgotten by now.
    assert!(catalog.shelf.rounds().await <= 1);
    catalog.answer(&Ask::get("/v1/sales/made-up-0")).await.problem(404, "unknown_sale");
    catalog.answer(&Ask::get("/v1/campaigns/made-up-0")).await.problem(404, "unknown_campaign");
}

/// A part that does not answer costs the page that part's data and a short delay.
#[tokio::test]
async fn without_redis_the_page_says_that_it_does_not_know() {
    let lab = Lab::selling(terms(20, 1)).await;
    let nobody = Stock::new("redis://127.0.0.1:1").unwrap();
    let slow = SlowProxy::start(SocketAddr::from(([127, 0, 0, 1], lab.valkey.port())));
    slow.delay(Duration::MAX);
    let silent = Stock::new(&format!("redis://{}", slow.address())).unwrap();
    let catalog_with = |stock: Stock| catalog::CatalogDeps::new(&lab.another_process().with(stock)).unwrap();
    for stock in [nobody, silent.clone()] {
        let catalog = catalog_with(stock);
        let card = shown(&catalog, "/v1/sales/lamp").await;
        assert_eq!((card.text("availability"), card.text("state")), ("unknown", "open"));
    }
    let catalog = catalog_with(silent);
    sees(&catalog, "availability", "unknown").await;
    slow.delay(Duration::ZERO);
    sees(&catalog, "availability", "available").await;
}
