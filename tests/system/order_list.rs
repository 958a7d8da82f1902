//! A user's orders, page by page.

use futures::StreamExt;
use serde_json::json;

use crate::ask::Ask;
use crate::lab::Lab;
use crate::shop::Shop;
use crate::wait::until;

/// One more than fits on two pages, to see that none is lost or shown twice at a page boundary.
const ORDERS: usize = 2 * ledger::ORDERS_PAGE as usize + 1;

/// Every order that the pages show, and the size of each page.
async fn walk(page: impl AsyncFn(String) -> crate::answer::Answer) -> (Vec<serde_json::Value>, Vec<usize>) {
    let (mut orders, mut sizes, mut path) = (Vec::new(), Vec::new(), "/v1/orders".to_owned());
    loop {
        let body = page(path).await.expect(200).body;
        let shown = body["orders"].as_array().unwrap().clone();
        sizes.push(shown.len());
        orders.extend(shown);
        match body["next_cursor"].as_str() {
            Some(cursor) => path = format!("/v1/orders?cursor={cursor}"),
            None => return (orders, sizes),
        }
    }
}

#[tokio::test]
async fn pages_show_each_order_once_and_the_newest_first() {
    let shops = futures::stream::iter(0..3)
        .then(|n| async move { Shop::open(&format!("pages-{n}"), json!({ "total": 20, "per_user_limit": 20 })).await });
    let shops: Vec<Shop> = shops.collect().await;
    let mut ids = Vec::new();
    for n in 0..ORDERS {
        ids.push(shops[n / 20].reserve("paige").await);
    }
    let page = async |path: String| Ask::get(path).by("paige").send().await;
    let (orders, sizes) = until("all orders are there", async || {
        let (orders, sizes) = walk(page).await;
        // Queued reservations come before the pages.
        let is_ordered = orders.iter().all(|order| order["status"] != "queued");
        (orders.len() >= ORDERS && is_ordered).then_some((orders, sizes))
    })
    .await;
    assert_eq!(sizes, [20, 20, 1]);
    let mut shown: Vec<&str> = orders.iter().map(|order| order["reservation_id"].as_str().unwrap()).collect();
    assert_eq!(shown[20..].len(), 21);
    shown.sort_unstable();
    ids.sort_unstable();
    assert_eq!(shown, ids);
}

#[tokio::test]
async fn the_newest_order_stands_first() {
    let lab = Lab::selling(tests::terms(5, 5)).await;
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.insert(0, lab.buy("alice").await.id.to_string());
    }
    let (orders, _) = walk(async |path| lab.answer(&Ask::get(path).by("alice")).await).await;
    let shown: Vec<&str> = orders.iter().map(|order| order["reservation_id"].as_str().unwrap()).collect();
    assert_eq!(shown, ids);
}
