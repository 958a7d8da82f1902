//! A user's orders, page by page.

use crate::prelude::*;

/// One more than fits on two pages, to see that none is lost or shown twice at a page boundary.
const ORDERS: usize = 2 * ledger::ORDERS_PAGE as usize + 1;

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
        reservations.push(lab.accepted(&Ask::reserve(sales[n / 20], "alice"), "alice").await);
    }
    for batch in reservations.chunks(BATCH) {
        let batch: Vec<&Reservation> = batch.iter().collect();
        assert!(lab.deliver(&batch).await.batch_item_failures.is_empty());
    }
    let pages = lab.pages(Ask::get("/v1/orders").by("alice")).await;
    let sizes: Vec<_> = pages.iter().map(|page| page["orders"].as_array().unwrap().len()).collect();
    assert_eq!(sizes, [20, 20, 1]);
    let orders = listed(&pages, "orders");
    let mut ids: Vec<String> = reservations.iter().map(|reservation| reservation.id.to_string()).collect();
    let mut shown = texts(&orders, "reservation_id");
    // Two orders of one batch may be of the same millisecond.
    let batch_of = |id: &String| ids.iter().position(|each| each == id).expect("it is the user's") / BATCH;
    let batches: Vec<usize> = shown.iter().map(batch_of).collect();
    assert!(batches.is_sorted_by(|later, earlier| later >= earlier), "{batches:?}");
    shown.sort_unstable();
    ids.sort_unstable();
    assert_eq!(shown, ids);
}
