//! Campaigns: operators write them, and the public sees those that have a published sale.

use crate::bad_requests::with;
use crate::catalog::SEEN_WITHIN_MS;
use crate::prelude::*;

fn autumn(sales: &[&str]) -> Value {
    json!({ "campaign_id": "autumn", "title": "Autumn", "sale_ids": sales })
}

#[tokio::test]
async fn a_campaign_shows_its_published_sales_in_its_order_and_a_change_within_two_seconds() {
    let lab = Lab::new().await;
    let now = now();
    for (sale, opens_at_ms, closes_at_ms) in
        [("lamp", now.minus_s(60), now.plus_s(60)), ("chair", now.plus_s(60), now.plus_s(600))]
    {
        lab.open(sale, &Terms { opens_at_ms, closes_at_ms, ..terms(10, 1) }).await;
    }
    rounds::draft(&lab.ledger, "pot", &terms(10, 1), None).await;
    lab.operate("campaigns", &autumn(&["chair", "pot", "lamp"])).await.expect(201);
    let winter = json!({ "campaign_id": "winter", "title": "Winter", "sale_ids": ["pot"] });
    lab.operate("campaigns", &winter).await.expect(201);

    let (clock, moved_ms) = movable_clock();
    let catalog = lab.catalog_at(clock);
    let list = shown(&catalog, "/v1/campaigns").await.body;
    assert_eq!(list["campaigns"].as_array().unwrap().len(), 1, "winter has nothing to show yet: {list}");
    let line = &list["campaigns"][0];
    assert_eq!((&line["campaign_id"], &line["title"]), (&json!("autumn"), &json!("Autumn")));
    let moment = |name: &str| line[name].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    assert_eq!((moment("opens_at").into(), moment("closes_at").into()), (now.minus_s(60), now.plus_s(600)));

    let page = shown(&catalog, "/v1/campaigns/autumn").await;
    assert_eq!(page.text("title"), "Autumn");
    assert_eq!(texts(page.body["sales"].as_array().unwrap(), "sale_id"), ["chair", "lamp"]);
    let [chair, lamp] = [0, 1].map(|n| &page.body["sales"][n]);
    assert_eq!((&chair["state"], &lamp["state"]), (&json!("upcoming"), &json!("open")));
    let mut alone = shown(&catalog, "/v1/sales/lamp").await.body;
    alone.as_object_mut().unwrap().remove("server_time");
    assert_eq!(*lamp, alone, "a sale is the same wherever it is shown");
    catalog.answer(&Ask::get("/v1/campaigns/winter")).await.problem(404, "unknown_campaign");
    assert_eq!(lab.read("/v1/admin/campaigns").await["campaigns"][1]["campaign_id"], "winter");

    let change = json!({ "campaign_id": "autumn", "title": "Late autumn", "sale_ids": ["lamp"], "version": 1 });
    lab.operate("campaigns", &change).await.expect(200);
    moved_ms.store(SEEN_WITHIN_MS, Ordering::Relaxed);
    assert_eq!(shown(&catalog, "/v1/campaigns/autumn").await.text("title"), "Late autumn");
}

#[tokio::test]
async fn the_list_has_every_published_sale_the_open_ones_first() {
    let lab = Lab::new().await;
    for (sale, opens_in_s, closes_in_s) in
        [("over", -600, -60), ("later", 1200, 1800), ("open", -60, 600), ("soon", 60, 600), ("closing", -60, 300)]
    {
        lab.publish(sale, &rounds::from_to(opens_in_s, closes_in_s, terms(10, 1))).await;
    }
    rounds::draft(&lab.ledger, "draft", &terms(10, 1), None).await;
    lab.operate("campaigns", &autumn(&["soon", "draft"])).await.expect(201);
    lab.load("open").await;

    let catalog = lab.catalog();
    let list = shown(&catalog, "/v1/sales").await;
    let sales = texts(list.body["sales"].as_array().unwrap(), "sale_id");
    assert_eq!(sales, ["closing", "open", "soon", "later", "over"]);
    let campaigns = list.body["campaigns"].as_array().unwrap();
    assert_eq!(campaigns.iter().map(|line| &line["campaign_id"]).collect::<Vec<_>>(), ["autumn"]);
    // A sale that Redis does not have yet is "unknown" even if it is open; one that opens much later is not expected there.
    let of = |n: usize| list.body["sales"][n]["availability"].as_str().unwrap().to_owned();
    assert_eq!([0, 1, 2, 3].map(of), ["unknown", "available", "unknown", "available"]);
    lab.load("soon").await;
    let prepared = async || (shown(&catalog, "/v1/sales/soon").await.text("availability") == "available").then_some(());
    until("the sale is prepared", prepared).await;
}

#[tokio::test]
async fn operators_do_not_undo_each_other() {
    let lab = Lab::new().await;
    for sale in ["lamp", "chair", "pot"] {
        rounds::draft(&lab.ledger, sale, &terms(1, 1), None).await;
    }
    let made = lab.operate("campaigns", &autumn(&["lamp"])).await.expect(201);
    assert_eq!(made.body, json!({ "campaign_id": "autumn", "title": "Autumn", "sale_ids": ["lamp"], "version": 1 }));
    lab.operate("campaigns", &autumn(&["lamp"])).await.expect(200);
    let changed = lab.operate("campaigns", &autumn(&["chair"])).await.problem(409, "campaign_changed");
    assert_eq!(changed.body["version"], 1);

    let of = |version: u32, sales: &[&str]| with(&autumn(sales), "version", Some(json!(version)));
    let first = lab.operate("campaigns", &of(1, &["lamp", "chair"])).await.expect(200);
    assert_eq!(first.body["version"], 2);
    let again = lab.operate("campaigns", &of(1, &["lamp", "chair"])).await.expect(200);
    assert_eq!(again.body, first.body, "a repeat after a lost answer");
    lab.operate("campaigns", &of(1, &["lamp", "pot"])).await.problem(409, "campaign_changed");
    lab.operate("campaigns", &of(2, &[])).await.expect(200);
    lab.operate("campaigns", &of(1, &["lamp", "chair"])).await.problem(409, "campaign_changed");
    let nowhere = with(&of(1, &[]), "campaign_id", Some(json!("winter")));
    lab.operate("campaigns", &nowhere).await.problem(404, "unknown_campaign");

    // Neither a new campaign nor a change may name a sale that there is not.
    let typo = ["lmap", "lamp", "chiar"];
    for refused in [with(&autumn(&typo), "campaign_id", Some(json!("winter"))), of(3, &typo)] {
        let refused = lab.operate("campaigns", &refused).await.problem(400, "invalid_request");
        assert_eq!(refused.text("detail"), "sale_ids: no such sale: lmap, chiar");
    }
    lab.operate("campaigns", &of(3, &["pot"])).await.expect(200);
}
