//! Orders as a merchant finds and exports them.

use crate::prelude::*;

const AT_ONCE: usize = 16;

async fn lab() -> Lab {
    Lab::publishing(terms(1000, 5)).await
}

fn reservation(of: &RoundId, name: &str, unit: u32) -> Reservation {
    Reservation { reserved_at_ms: EpochMs(1_000), ..fresh_reservation(of, &user(name), unit, unit as u8) }
}

fn price() -> Price {
    terms(1, 1).price
}

fn pending(reservation: Reservation, at_ms: i64) -> Order {
    Order::pending(reservation, price(), EpochMs(at_ms), EpochMs(at_ms + 900_000))
}

async fn place(lab: &Lab, order: Order) -> ReservationId {
    rounds::place(&lab.ledger, order).await.reservation.id
}

/// Writes an order that never was to be paid.
async fn fence(lab: &Lab, order: Order) -> ReservationId {
    lab.ledger.fence(order).await.unwrap().reservation.id
}

async fn fence_all(lab: &Lab, orders: Vec<Order>) {
    let mut fenced = stream::iter(orders.into_iter().map(|order| lab.ledger.fence(order))).buffer_unordered(AT_ONCE);
    while let Some(order) = fenced.next().await {
        order.unwrap();
    }
}

async fn find(lab: &Lab, query: &str) -> Answer {
    lab.answer(&Ask::get(format!("/v1/admin/orders?{query}")).by_operator()).await
}

async fn walk(lab: &Lab, query: &str) -> (Vec<Value>, Vec<usize>) {
    let pages = lab.pages(Ask::get(format!("/v1/admin/orders?{query}")).by_operator()).await;
    let sizes = pages.iter().map(|page| page["orders"].as_array().unwrap().len()).collect();
    (listed(&pages, "orders"), sizes)
}

async fn found(lab: &Lab, query: &str, expected: &[&ReservationId]) {
    let (orders, _) = walk(lab, query).await;
    let expected: Vec<String> = expected.iter().map(ToString::to_string).collect();
    assert_eq!(texts(&orders, "reservation_id"), expected, "{query}");
}

#[tokio::test]
async fn pages_show_each_order_once_while_new_ones_are_written() {
    // Ten pages while others are written.
    const OLD: usize = 70;
    let lab = lab().await;
    let of = round(SALE, 1);
    let begun = now().0 - 1_000_000;
    // Many share a moment, and DynamoDB promises no order among these.
    let old: Vec<Order> = (0..OLD as i64)
        .map(|n| Order::cancelled(reservation(&of, &format!("old-{n}"), 1), EpochMs(begun + n / 20)))
        .collect();
    let expected: BTreeSet<String> = old.iter().map(|order| order.reservation.id.to_string()).collect();
    fence_all(&lab, old).await;

    let is_over = AtomicBool::new(false);
    let write = async {
        let mut written = 0;
        while !is_over.load(Ordering::Relaxed) {
            let new = Order::cancelled(reservation(&of, "new", 1), EpochMs(now().0));
            lab.ledger.fence(new).await.unwrap();
            written += 1;
        }
        written
    };
    let read = async {
        let walked = walk(&lab, "sale=lamp&limit=7").await;
        is_over.store(true, Ordering::Relaxed);
        walked
    };
    let (written, (orders, sizes)) = tokio::join!(write, read);
    assert!(written > 0);
    let shown = texts(&orders, "reservation_id");
    let distinct: BTreeSet<&String> = shown.iter().collect();
    assert_eq!(distinct.len(), shown.len(), "an order is shown twice");
    let missing: Vec<&String> = expected.iter().filter(|id| !distinct.contains(id)).collect();
    assert_eq!(missing, [] as [&String; 0]);
    assert!(sizes[..sizes.len() - 1].iter().all(|size| *size == 7), "{sizes:?}");
    let moments: Vec<&str> = orders.iter().map(|order| order["ordered_at"].as_str().unwrap()).collect();
    let parsed: Vec<jiff::Timestamp> = moments.iter().map(|at| at.parse().unwrap()).collect();
    assert!(parsed.is_sorted_by(|a, b| a >= b), "the newest first");

    let (all, _) = walk(&lab, "sale=lamp&limit=100").await;
    assert_eq!(all.len(), OLD + written, "every row is shown");
}

#[tokio::test]
async fn each_filter() {
    let lab = lab().await;
    let (one, other) = (round(SALE, 1), round("chair", 1));
    lab.publish("chair", &terms(10, 1)).await;
    let at = |minute: i64| 1_795_510_800_000 + minute * 60_000;
    let moment = |minute| EpochMs(at(minute)).to_string();
    let first = place(&lab, pending(reservation(&one, "alice", 1), at(0))).await;
    let second = place(&lab, pending(reservation(&one, "bob", 2), at(1))).await;
    let third = place(&lab, Order::granted(reservation(&one, "carol", 3), price(), EpochMs(at(2)), None)).await;
    let fourth = fence(&lab, Order::failed(reservation(&one, "dave", 4), Failure::SoldOut, EpochMs(at(3)))).await;
    let fifth = fence(&lab, Order::cancelled(reservation(&one, "alice", 5), EpochMs(at(4)))).await;
    let chair = place(&lab, pending(reservation(&other, "alice", 1), at(5))).await;
    lab.ledger.pay(&second, "pay_2", price(), EpochMs(at(6))).await.unwrap();
    let order = lab.ledger.order(&first).await.unwrap().unwrap();
    lab.ledger.end_unpaid(&order, Transition::Expire, EpochMs(at(30))).await.unwrap();

    let all = [&fifth, &fourth, &third, &second, &first];
    let by_state =
        [("expired", &first), ("paid", &second), ("granted", &third), ("failed", &fourth), ("cancelled", &fifth)];
    for (state, id) in by_state {
        found(&lab, &format!("sale=lamp&state={state}"), &[id]).await;
        found(&lab, &format!("sale=lamp&state={state}&limit=1"), &[id]).await;
    }
    let cases: [(&str, &[&ReservationId]); 14] = [
        ("sale=lamp", &all),
        ("sale=lamp&round=1", &all),
        ("sale=chair", &[&chair]),
        ("sale=lamp&state=pending_payment", &[]),
        ("user=alice", &[&chair, &fifth, &first]),
        ("user=alice&limit=1", &[&chair, &fifth, &first]),
        ("user=alice&sale=lamp", &[&fifth, &first]),
        ("user=alice&sale=lamp&round=2", &[]),
        ("user=alice&state=pending_payment", &[&chair]),
        ("user=nobody", &[]),
        (&format!("user=alice&from={}", moment(4)), &[&chair, &fifth]),
        (&format!("sale=lamp&from={}&to={}", moment(1), moment(3)), &[&third, &second]),
        (&format!("sale=lamp&to={}", moment(1)), &[&first]),
        (&format!("sale=lamp&from={}", moment(9)), &[]),
    ];
    for (query, expected) in cases {
        found(&lab, query, expected).await;
    }

    let paid = &walk(&lab, "sale=lamp&state=paid").await.0[0];
    let expected = json!({
        "reservation_id": second.to_string(), "sale_id": "lamp", "round": 1, "user": "bob", "unit": 2, "state": "paid",
        "price_minor": 990, "currency": "EUR", "reserved_at": "1970-01-01T00:00:01Z", "ordered_at": "2026-11-24T09:01:00Z",
        "pay_by": "2026-11-24T09:16:00Z", "ended_at": "2026-11-24T09:06:00Z", "payment_id": "pay_2",
    });
    assert_eq!(*paid, expected);
}

/// Orders of a round: more than an export, a report or a search reads at once, so each has a second page.
const ORDERS: usize = 1_045;
/// Cancelled ones. Of the others, one is paid, one is pending, and the oldest failed.
const CANCELLED: usize = ORDERS - 3;

/// A lab with that round, and the id of the order that failed.
async fn lab_with_many_orders() -> (Lab, ReservationId) {
    let lab = lab().await;
    let of = round(SALE, 1);
    let failed = fence(&lab, Order::failed(reservation(&of, "last", 3), Failure::SoldOut, EpochMs(1))).await;
    let paid = place(&lab, pending(reservation(&of, "=cmd()", 1), 500)).await;
    lab.ledger.pay(&paid, "+pay", price(), EpochMs(600)).await.unwrap();
    // Two payments too many, one of which is given back.
    lab.ledger.pay(&paid, "pay_2", price(), EpochMs(700)).await.unwrap();
    lab.ledger.pay(&paid, "pay_3", price(), EpochMs(800)).await.unwrap();
    lab.ledger.mark_refunded("pay_2", &user("olga"), EpochMs(900)).await.unwrap();
    let late = Reservation { reserved_at_ms: EpochMs(7_000), ..reservation(&of, "bob", 2) };
    place(&lab, pending(late, 8_000)).await;
    // Some orders of the same moment are on both sides of a page boundary.
    let many = (0..CANCELLED as i64)
        .map(|n| Order::cancelled(reservation(&of, &format!("u,\"{n}"), 3), EpochMs(9_000 + n / 40)));
    fence_all(&lab, many.collect()).await;
    // An order made after the first page was requested is on no page of an export or a report.
    lab.ledger.fence(Order::cancelled(reservation(&of, "later", 3), EpochMs(now().0 + 3_600_000))).await.unwrap();
    (lab, failed)
}

/// One test, because the orders take seconds to write.
#[tokio::test]
async fn more_orders_than_a_page_are_searched_exported_and_reported_in_pages() {
    let (lab, failed) = lab_with_many_orders().await;
    // A page for a rare state reads a bounded number of orders, even if none matches, and links to the next page.
    let (orders, sizes) = walk(&lab, "sale=lamp&state=failed").await;
    assert_eq!((texts(&orders, "reservation_id"), sizes), (vec![failed.to_string()], vec![0, 1]));
    an_export_has_the_rows_that_the_orders_are(&lab).await;
    the_pages_of_a_report_add_up_to_the_orders(&lab).await;
}

#[tokio::test]
async fn what_is_wrong_is_told_by_its_name() {
    let lab = lab().await;
    for n in 0..3 {
        place(&lab, pending(reservation(&round(SALE, 1), "alice", n + 1), 1_000 + i64::from(n))).await;
    }
    let next = async |query: &str| find(&lab, query).await.expect(200).text("next_cursor").to_owned();
    let (of_sale, of_user) = (next("sale=lamp&limit=1").await, next("user=alice&limit=1").await);
    find(&lab, &format!("sale=lamp&limit=2&cursor={of_sale}")).await.expect(200);
    let refused_for = async |name: &str, queries: &[&str]| {
        for query in queries {
            let refused = find(&lab, query).await.problem(400, "invalid_request");
            assert!(refused.text("detail").starts_with(&format!("{name}: ")), "{query}: {refused:?}");
        }
    };
    refused_for("sale", &["", "state=paid", "sale=Lamp", "sale=lamp&sale=chair"]).await;
    refused_for("round", &["round=1", "round=1&user=alice", "sale=lamp&round=0"]).await;
    refused_for("state", &["sale=lamp&state=PAID", "sale=lamp&state=queued"]).await;
    refused_for("user", &["user="]).await;
    refused_for("from", &["sale=lamp&from=yesterday"]).await;
    refused_for("to", &["sale=lamp&to=7", "sale=lamp&from=2026-11-24T10:00:00Z&to=2026-11-24T10:00:00Z"]).await;
    for limit in ["0", "101", "07", "two"] {
        refused_for("limit", &[&*format!("sale=lamp&limit={limit}")]).await;
    }
    refused_for("sate", &["sale=lamp&sate=paid"]).await;
    for (of, cursor) in [("sale=lamp", &*of_user), ("user=alice", &*of_sale), ("user=bob", &*of_user)] {
        refused_for("cursor", &[&*format!("{of}&cursor={cursor}")]).await;
    }
    for other in ["cursor=", "cursor=next", &format!("state=paid&cursor={of_sale}")] {
        refused_for("cursor", &[&*format!("sale=lamp&{other}")]).await;
    }
    refused_for("cursor", &[&*format!("sale=lamp&from=2026-11-24T10:00:00Z&cursor={of_sale}")]).await;
    find(&lab, "sale=table").await.problem(404, "unknown_sale");
    find(&lab, "sale=lamp&round=2").await.problem(404, "unknown_sale");
    let export =
        async |query: &str| lab.answer(&Ask::get(format!("/v1/admin/sales/lamp/rounds/{query}")).by_operator()).await;
    for (query, name) in [("format=xls", "format"), ("cursor=x", "cursor"), ("limit=5", "limit")] {
        let refused = export(&format!("1/orders?{query}")).await.problem(400, "invalid_request");
        assert!(refused.text("detail").starts_with(&format!("{name}: ")), "{query}");
    }
    export("2/orders").await.problem(404, "unknown_sale");
    export("none/orders").await.problem(400, "invalid_request");
}

struct Export {
    text: String,
    rows: usize,
    about: usize,
    pages: usize,
}

async fn export(lab: &Lab, format: &str) -> Export {
    let mut path = format!("/v1/admin/sales/lamp/rounds/1/orders?format={format}");
    let mut export = Export { text: String::new(), rows: 0, about: 0, pages: 0 };
    loop {
        let page = lab.answer(&Ask::get(&path).by_operator()).await;
        assert_eq!((page.status, page.header("cache-control")), (200, "no-store"));
        export.pages += 1;
        export.text += page.body.as_str().unwrap();
        export.rows += page.header("export-rows").parse::<usize>().unwrap();
        if export.pages == 1 {
            export.about = page.header("export-rows-about").parse().unwrap();
        }
        match page.header("link").strip_prefix('<').and_then(|link| link.split_once('>')) {
            Some((next, relation)) => {
                assert_eq!(relation, "; rel=\"next\"");
                path = next.to_owned();
            }
            None => return export,
        }
    }
}

async fn an_export_has_the_rows_that_the_orders_are(lab: &Lab) {
    let lines = export(lab, "jsonl").await;
    assert_eq!((lines.rows, lines.about, lines.pages), (ORDERS, ORDERS, 2));
    let mut rows: Vec<Value> = lines.text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let to = EpochMs(now().0).to_string();
    let (mut orders, _) = walk(lab, &format!("sale=lamp&limit=100&to={to}")).await;
    let by_id = |order: &Value| order["reservation_id"].as_str().unwrap().to_owned();
    rows.sort_by_key(by_id);
    orders.sort_by_key(by_id);
    assert_eq!(rows.len(), ORDERS);
    assert_eq!(rows, orders);
    let taken = rows.iter().find(|row| row["state"] == "paid").unwrap();
    assert_eq!((&taken["refund"], &taken["payment_id"]), (&json!("due"), &json!("+pay")));

    let sheet = export(lab, "csv").await;
    assert_eq!((sheet.rows, sheet.pages), (ORDERS, 2));
    let mut reader = csv::Reader::from_reader(sheet.text.as_bytes());
    let columns: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
    let mut cells: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    cells.sort_by_key(|row| row[0].to_owned());
    assert_eq!(cells.len(), ORDERS);
    for (row, order) in cells.iter().zip(&orders) {
        for (column, cell) in columns.iter().zip(row) {
            let value = &order[column];
            let told = match value {
                Value::Null => String::new(),
                Value::String(text) if column.ends_with("_at") || column == "pay_by" => {
                    EpochMs::from(text.parse::<jiff::Timestamp>().unwrap()).to_string()
                }
                Value::String(text) if text.starts_with(['=', '+']) => format!("'{text}"),
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            assert_eq!(cell, told, "{column} of {order}");
        }
    }
    assert_eq!(sheet.text.matches("reservation_id").count(), 1, "only the first page has the header row");

    let page = Ask::get("/v1/admin/sales/lamp/rounds/1/orders").by_operator();
    let first = lab.answer(&page).await;
    let next = first.header("link").split(['<', '>']).nth(1).unwrap().to_owned();
    let mixed = lab.answer(&Ask::get(next.replace("csv", "jsonl")).by_operator()).await;
    assert!(mixed.problem(400, "invalid_request").text("detail").starts_with("cursor: "));
}

async fn the_pages_of_a_report_add_up_to_the_orders(lab: &Lab) {
    let path = "/v1/admin/sales/lamp/rounds/1/report";
    let pages = lab.pages(Ask::get(path).by_operator()).await;
    assert_eq!(pages.len(), 2);
    let sum = |pointer: &str| pages.iter().filter_map(|page| page.pointer(pointer)?.as_u64()).sum::<u64>();
    let states = ["paid", "pending_payment", "cancelled", "expired", "granted", "failed"];
    let orders: Vec<u64> = states.iter().map(|state| sum(&format!("/orders/{state}"))).collect();
    assert_eq!(orders, [1, 1, CANCELLED as u64, 0, 0, 1]);
    assert_eq!(sum("/revenue_minor"), 990);
    let refunds: Vec<u64> =
        ["due", "due_minor", "made", "made_minor"].iter().map(|name| sum(&format!("/refunds/EUR/{name}"))).collect();
    assert_eq!(refunds, [1, 990, 1, 990]);
    let last = pages.iter().filter_map(|page| page["last_kept_at"].as_str()).max().unwrap();
    assert_eq!(EpochMs::from(last.parse::<jiff::Timestamp>().unwrap()), EpochMs(7_000));
    assert_eq!(pages[0]["as_of"], pages[1]["as_of"]);
    let next = pages[0]["next_cursor"].as_str().unwrap();
    let other = Ask::get(format!("/v1/admin/sales/lamp/rounds/1/orders?cursor={next}")).by_operator();
    assert!(lab.answer(&other).await.problem(400, "invalid_request").text("detail").starts_with("cursor: "));
}

#[tokio::test]
async fn an_order_says_what_happened_when() {
    let lab = lab().await;
    let of = round(SALE, 1);
    let id = place(&lab, pending(reservation(&of, "alice", 1), 2_000)).await;
    let order = lab.ledger.order(&id).await.unwrap().unwrap();
    lab.ledger.end_unpaid(&order, Transition::Cancel, EpochMs(3_000)).await.unwrap();
    lab.ledger.pay(&id, "pay_1", price(), EpochMs(4_000)).await.unwrap();
    lab.ledger.mark_refunded("pay_1", &user("olga"), EpochMs(5_000)).await.unwrap();
    let look = async |id: &ReservationId| lab.read(format!("/v1/admin/orders/{id}")).await;
    let told = look(&id).await;
    let at = |second: i64| format!("1970-01-01T00:00:0{second}Z");
    assert_eq!(
        told["history"],
        json!([
            { "at": at(1), "event": "reserved" },
            { "at": at(2), "event": "ordered" },
            { "at": at(3), "event": "cancelled" },
            { "at": at(4), "event": "refund_due", "payment_id": "pay_1" },
            { "at": at(5), "event": "refunded", "payment_id": "pay_1", "by": "olga" },
        ])
    );
    assert_eq!(
        told["payments"],
        json!([{
            "payment_id": "pay_1", "outcome": "refunded", "price_minor": 990, "currency": "EUR", "noted_at": at(4),
            "refunded_at": at(5), "refunded_by": "olga",
        }])
    );
    assert_eq!((&told["state"], &told["refund"]), (&json!("cancelled"), &json!("refunded")));

    let paid = place(&lab, pending(reservation(&of, "bob", 2), 2_000)).await;
    lab.ledger.pay(&paid, "pay_2", price(), EpochMs(3_000)).await.unwrap();
    let told = look(&paid).await;
    assert_eq!(told["history"][2], json!({ "at": at(3), "event": "paid", "payment_id": "pay_2" }));
    assert_eq!(told["payments"][0]["outcome"], "applied");
    let never = Order::failed(reservation(&of, "eve", 3), Failure::SoldOut, EpochMs(6_000));
    let told = look(&fence(&lab, never).await).await;
    let events = [&told["history"][0]["event"], &told["history"][1]["event"], &told["reason"]];
    assert_eq!(events, ["reserved", "failed", "sold_out"]);
    assert_eq!(told["history"].as_array().unwrap().len(), 2, "{told}");

    let unknown = Ask::get(format!("/v1/admin/orders/{}", reservation(&of, "x", 9).id)).by_operator();
    lab.answer(&unknown).await.problem(404, "unknown_reservation");
    lab.answer(&Ask::get("/v1/admin/orders/lamp").by_operator()).await.problem(400, "invalid_request");
    assert_eq!(OrderState::Cancelled, lab.ledger.order(&id).await.unwrap().unwrap().state);
}
