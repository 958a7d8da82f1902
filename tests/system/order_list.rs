//! A user's orders, page by page.

use crate::prelude::*;

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
    const BATCH: usize = 10;
    let lab = Lab::new().await;
    // A round has at most twenty units for one user.
    let sales = ["lamp", "chair", "vase"];
    for sale in sales {
        lab.open(sale, &terms(20, 20)).await;
    }
    let mut reservations = Vec::new();
    for n in 0..ORDERS {
        let answer = lab.answer(&Ask::reserve(sales[n / 20], "alice")).await.expect(202);
        reservations.push(lab.reservation_of(answer.text("reservation_id"), "alice").await);
    }
    for batch in reservations.chunks(BATCH) {
        let batch: Vec<&Reservation> = batch.iter().collect();
        assert!(lab.deliver(&batch).await.batch_item_failures.is_empty());
    }
    let (orders, sizes) = walk(async |path| lab.answer(&Ask::get(path).by("alice")).await).await;
    assert_eq!(sizes, [20, 20, 1]);
    let mut ids: Vec<String> = reservations.iter().map(|reservation| reservation.id.to_string()).collect();
    let mut shown: Vec<&str> = orders.iter().map(|order| order["reservation_id"].as_str().unwrap()).collect();
    // Two orders of one batch may be of the same millisecond.
    let batch_of = |id: &&str| ids.iter().position(|each| each == id).expect("it is the user's") / BATCH;
    let batches: Vec<usize> = shown.iter().map(batch_of).collect();
    assert!(batches.is_sorted_by(|later, earlier| later >= earlier), "{batches:?}");
    shown.sort_unstable();
    ids.sort_unstable();
    assert_eq!(shown, ids);
}
