//! A sale's life apart from its running rounds: edited, deleted, withdrawn, duplicated, and found by its state.

use crate::prelude::*;

fn post(what: &str, body: &Value) -> Ask {
    Ask::post_sale(what).json(body)
}

fn edit(body: &Value) -> Ask {
    post("edit", body)
}

fn withdraw() -> Ask {
    Ask::post_sale("withdraw")
}

fn delete() -> Ask {
    Ask::delete(format!("/v1/admin/sales/{SALE}")).by_operator()
}

/// Answers with this ledger and a clock this far ahead.
async fn answer_with(lab: &Lab, ledger: &Ledger, ahead_ms: i64, ask: &Ask) -> Answer {
    let (ledger, clock) = (ledger.clone(), Clock::ahead_by_ms(ahead_ms));
    admin::AdminDeps { ledger, clock, ..lab.admin() }.answer(ask).await
}

fn to_come(opens_in_s: i64) -> Terms {
    rounds::from_to(opens_in_s, opens_in_s + 3600, terms(5, 1))
}

/// The round can never sell, whatever Redis's clock says.
async fn is_closed_for_good(lab: &Lab) {
    let counters = lab.counters().await;
    assert!(counters.closes_at_ms < counters.opens_at_ms, "{counters:?}");
}

#[tokio::test]
async fn a_draft_is_edited_as_the_version_that_was_seen() {
    let lab = Lab::new().await;
    rounds::draft(&lab.ledger, SALE, &to_come(3600), None).await;
    let better = edit(&json!({ "version": 1, "title": "A better lamp", "price_minor": 890, "total": 7 }));
    let better = better.header("idempotency-key", "key-1");
    let edited = lab.answer(&better).await.expect(200).body;
    let told = ["version", "title", "price_minor", "currency", "total"].map(|member| edited[member].clone());
    assert_eq!(json!(told), json!([2, "A better lamp", 890, "EUR", 7]));
    let before = lab.offer().await;
    assert_eq!(lab.answer(&better).await.expect(200).body, edited, "a retry");
    let late = lab.answer(&edit(&json!({ "version": 1, "title": "A worse lamp" }))).await.problem(409, "sale_changed");
    assert_eq!(late.body["version"], 2);
    let other = edit(&json!({ "version": 2, "title": "Another" })).header("idempotency-key", "key-1");
    lab.answer(&other).await.problem(409, "key_reused");
    for bad in [
        json!({ "version": 2, "title": null }),
        json!({ "version": 2, "title": "" }),
        json!({ "version": 2, "total": 0 }),
        json!({ "version": 2, "closes_at": "2026-01-01T00:00:00Z", "opens_at": "2025-01-01T00:00:00Z" }),
        json!({ "version": 2, "state": "published" }),
        json!({ "version": 2, "sale_id": "another" }),
        json!({ "version": 2, "round": 1, "round_version": 1 }),
        json!({ "round": 1, "title": "A lamp" }),
        json!({ "title": "A lamp" }),
    ] {
        lab.answer(&edit(&bad)).await.problem(400, "invalid_request");
    }
    lab.answer(&edit(&json!({ "round": 1, "round_version": 1, "total": 5 }))).await.problem(409, "not_amendable");
    assert_eq!(lab.offer().await, before, "none of it was written");

    let daily = edit(&json!({ "version": 2, "recurrence": { "every": "day", "time_zone": "Etc/UTC" } }));
    assert_eq!(lab.answer(&daily).await.expect(200).body["recurrence"]["every"], "day");
    let once = edit(&json!({ "version": 3, "recurrence": null }));
    assert_eq!(lab.answer(&once).await.expect(200).body["recurrence"], Value::Null);
    let seen = lab.read(format!("/v1/admin/sales/{SALE}")).await;
    let last = seen["log"].as_array().unwrap().last().unwrap();
    let told = (&last["action"], &last["by"], &last["parameters"]);
    assert_eq!(told, (&json!("edit"), &json!("olga"), &json!(r#"version 3: {"recurrence":null}"#)));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_of_a_draft_that_is_published_meanwhile_changes_nothing() {
    let lab = Lab::new().await;
    rounds::draft(&lab.ledger, SALE, &to_come(3600), None).await;
    let publish = |ledger: Ledger| async move { rounds::publish(&ledger, SALE).await };
    let ledger = lab.meanwhile("PutItem", publish);
    let ask = edit(&json!({ "version": 1, "price_minor": 1 }));
    answer_with(&lab, &ledger, 0, &ask).await.problem(409, "sale_changed");
    assert_eq!(lab.round().await.terms.price.price_minor, 990);
    assert_eq!(lab.offer().await.terms, lab.round().await.terms);
    // The sale does not recur, so no later round would use the offer.
    lab.answer(&edit(&json!({ "version": 2, "price_minor": 1 }))).await.problem(409, "not_amendable");
}

#[tokio::test]
async fn an_edit_of_a_loaded_round_reaches_redis() {
    let lab = Lab::selling(terms(5, 1)).await;
    lab.buy("alice").await;
    let seen = lab.round().await;
    let until = seen.terms.closes_at_ms.plus_s(60);
    let of_round = |change: Value| {
        let mut body = json!({ "round": 1, "round_version": 1 });
        body.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        edit(&body)
    };
    for (change, reason) in [
        (json!({ "price_minor": 1 }), "price cannot"),
        (json!({ "per_user_limit": 2 }), "per_user_limit cannot"),
        (json!({ "opens_at": until.minus_s(120).to_string() }), "opens_at cannot"),
        (json!({ "total": 4 }), "total cannot be less than 5"),
        (json!({ "rain": { "at_once": 1 } }), "rain cannot"),
        (json!({ "recurrence": null }), "recurrence cannot"),
    ] {
        let refused = lab.answer(&of_round(change)).await.problem(409, "not_amendable");
        assert!(refused.text("detail").starts_with(reason), "{refused:?}");
    }
    lab.answer(&of_round(json!({ "closes_at": "2026-01-02T00:00:00Z" }))).await.problem(400, "invalid_request");
    assert_eq!(lab.round().await, seen, "none of it was written");

    let longer = of_round(json!({ "closes_at": until.to_string(), "total": 6, "title": "More lamps" }));
    let edited = lab.answer(&longer).await.expect(200).body;
    let told = ["total", "title", "round_version"].map(|member| edited[member].clone());
    assert_eq!(json!(told), json!([6, "More lamps", 2]));
    let redis = lab.counters().await;
    assert_eq!((redis.closes_at_ms, redis.last_unit, redis.version), (until, 6, 2));
    let late = lab.answer(&longer).await.problem(409, "sale_changed");
    assert_eq!(late.body["version"], 2);
    let other = edit(&json!({ "round": 2, "round_version": 1, "title": "None" }));
    assert_eq!(lab.answer(&other).await.problem(409, "round_changed").body["round"], 1, "the current round");
    assert_eq!(lab.clean_audit().await, (5, 0, 1));
}

#[tokio::test]
async fn an_edit_of_the_rounds_to_come_leaves_this_one_alone() {
    let lab = Lab::new().await;
    rounds::publish_daily(&lab.ledger, SALE, &terms(5, 1)).await;
    let seen = lab.round().await;
    let edited = lab.answer(&edit(&json!({ "version": 2, "price_minor": 890, "total": 9 }))).await.expect(200).body;
    assert_eq!((&edited["price_minor"], &edited["rounds_to_come"]["price_minor"]), (&json!(990), &json!(890)));
    assert_eq!(lab.round().await, seen);
    rounds::pass_a_day(&lab.ledger, SALE).await;
    let next = lab.ledger.begin_next(&round(SALE, 1), now()).await.unwrap();
    assert!(matches!(next, ledger::Begun::Now(_)), "{next:?}");
    let next = lab.round().await;
    assert_eq!((next.id.number.0, next.terms.price.price_minor, next.terms.total), (2, 890, 9));
}

#[tokio::test]
async fn a_draft_is_deleted_and_its_id_is_free() {
    let lab = Lab::new().await;
    lab.answer(&delete()).await.problem(404, "unknown_sale");
    rounds::draft(&lab.ledger, SALE, &to_come(3600), None).await;
    let deleted = lab.answer(&delete()).await;
    assert_eq!((deleted.status, deleted.header("cache-control")), (204, "no-store"));
    assert!(lab.contents().await.items.is_empty());
    lab.answer(&delete()).await.problem(404, "unknown_sale");
    lab.publish(SALE, &to_come(3600)).await;
    let before = lab.contents().await;
    lab.answer(&delete()).await.problem(409, "not_amendable");
    assert_eq!(lab.contents().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_published_sale_always_has_its_offer() {
    // The draft is deleted while it is being published.
    let lab = Lab::new().await;
    rounds::draft(&lab.ledger, SALE, &to_come(3600), None).await;
    let ledger = lab.meanwhile("TransactWriteItems", |ledger| async move {
        assert_eq!(ledger.delete_draft(&SALE.parse().unwrap()).await.unwrap(), ledger::Deleted::Now);
    });
    let publish = Ask::post_sale("publish");
    answer_with(&lab, &ledger, 0, &publish).await.problem(404, "unknown_sale");
    assert!(lab.contents().await.items.is_empty());
    // It is published while it is being deleted.
    rounds::draft(&lab.ledger, SALE, &to_come(3600), None).await;
    let publish = |ledger: Ledger| async move { rounds::publish(&ledger, SALE).await };
    let ledger = lab.meanwhile("DeleteItem", publish);
    answer_with(&lab, &ledger, 0, &delete()).await.problem(409, "not_amendable");
    assert_eq!((lab.offer().await.state, lab.round().await.version), (SaleState::Published, 1));
}

/// The sale can be looked at and nothing else.
async fn is_withdrawn(lab: &Lab) {
    assert_eq!(lab.offer().await.state, SaleState::Withdrawn);
    assert_eq!(lab.read(format!("/v1/admin/sales/{SALE}")).await["state"], "withdrawn");
    let before = lab.contents().await;
    lab.answer(&withdraw()).await.expect(200);
    let publish = Ask::post_sale("publish");
    let (first, version) = (json!({ "round": 1 }), lab.offer().await.version);
    let round_version = lab.round().await.version;
    for ask in [
        publish,
        delete(),
        post("pause", &first),
        post("resume", &first),
        post("close", &first),
        post("restock", &json!({ "round": 1, "units": 1 })).header("idempotency-key", "key-9"),
        edit(&json!({ "version": version, "title": "Again" })),
        edit(&json!({ "round": 1, "round_version": round_version, "closes_at": "2099-01-01T00:00:00Z" })),
    ] {
        lab.answer(&ask).await.problem(409, "not_amendable");
    }
    lab.operate("sales", &new_sale(SALE, &json!({}))).await.problem(409, "sale_exists");
    assert_eq!(lab.contents().await, before, "none of these changed anything");
    lab.answer(&Ask::get(format!("/v1/sales/{SALE}"))).await.problem(404, "unknown_sale");
    let challenge = Ask::post(format!("/v1/sales/{SALE}/challenges")).by("alice");
    lab.answer(&challenge.json(&json!({ "kind": "work" }))).await.problem(404, "unknown_sale");
    // Nobody can get a pass. Anyone who has one finds the sale over or missing.
    let refused = lab.answer(&Ask::reserve(SALE, "alice")).await;
    assert!([404, 410, 503].contains(&refused.status), "{refused:?}");
    let loaded = warmup::handle(&lab.warmup()).await.unwrap().loaded;
    let reconciled = lab.reconcile().await;
    assert_eq!((loaded, reconciled.failed, reconciled.rebuilt), (0, 0, 0));
}

#[tokio::test]
async fn a_sale_is_withdrawn_before_it_is_loaded() {
    let lab = Lab::new().await;
    let terms = to_come(300);
    lab.publish(SALE, &terms).await;
    let (offer, read) = (lab.offer().await, lab.round().await);
    assert_eq!(lab.answer(&withdraw()).await.expect(200).text("state"), "withdrawn");
    let versions = (lab.offer().await.version, lab.round().await.version);
    assert_eq!(versions, (offer.version + 1, read.version + 1), "whoever has read it before cannot change it");
    is_withdrawn(&lab).await;
    // The same terms do not make a new sale the old one.
    assert!(matches!(rounds::draft(&lab.ledger, SALE, &terms, None).await, ledger::Created::Other(_)));
    // A warmup that read the round before it was withdrawn loads one that can never sell.
    fulfilment::load_round(&lab.stock, &lab.ledger, &read, now()).await.unwrap();
    is_closed_for_good(&lab).await;
}

#[tokio::test]
async fn a_sale_is_withdrawn_after_it_is_loaded() {
    let lab = Lab::publishing(to_come(300)).await;
    assert_eq!(warmup::handle(&lab.warmup()).await.unwrap().loaded, 1);
    lab.answer(&withdraw()).await.expect(200);
    is_closed_for_good(&lab).await;
    assert!(lab.counters().await.paused);
    is_withdrawn(&lab).await;
    is_closed_for_good(&lab).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sale_that_is_loaded_or_resumed_as_it_is_withdrawn_is_withdrawn() {
    let lab = Lab::publishing(to_come(300)).await;
    let stock = lab.stock.clone();
    let ledger = lab.meanwhile("TransactWriteItems", |ledger| async move {
        let read = rounds::latest_round(&ledger, &SALE.parse().unwrap()).await;
        fulfilment::load_round(&stock, &ledger, &read, now()).await.unwrap();
    });
    answer_with(&lab, &ledger, 0, &withdraw()).await.expect(200);
    is_closed_for_good(&lab).await;

    let lab = Lab::publishing(to_come(300)).await;
    warmup::handle(&lab.warmup()).await.unwrap();
    let ledger = lab.meanwhile(r#""withdrawn""#, |ledger| async move {
        rounds::change(&ledger, &round(SALE, 1), |round| round.paused = false).await;
    });
    answer_with(&lab, &ledger, 0, &withdraw()).await.expect(200);
    lab.refresh_snapshots().await;
    is_closed_for_good(&lab).await;
    is_withdrawn(&lab).await;
}

#[tokio::test]
async fn a_withdrawal_that_gets_no_further_and_then_comes_too_late_leaves_nothing_paused() {
    const AFTER_THE_OPENING_MS: i64 = 600_000;
    let lab = Lab::publishing(to_come(300)).await;
    assert_eq!(warmup::handle(&lab.warmup()).await.unwrap().loaded, 1);
    let deps = admin::AdminDeps { stock: stock::Stock::new("redis://127.0.0.1:1").unwrap(), ..lab.admin() };
    let interrupted = deps.answer(&withdraw()).await;
    assert_eq!((interrupted.status, lab.round().await.paused), (503, true), "{interrupted:?}");
    let late = async || answer_with(&lab, &lab.ledger, AFTER_THE_OPENING_MS, &withdraw()).await;
    late().await.problem(409, "not_amendable");
    assert!(!lab.round().await.paused && !lab.counters().await.paused);

    lab.answer(&post("pause", &json!({ "round": 1 }))).await.expect(200);
    late().await.problem(409, "not_amendable");
    assert!(lab.round().await.paused, "the operator meant this pause");
}

#[tokio::test]
async fn what_was_bought_from_is_not_withdrawn_by_a_slow_clock() {
    let lab = Lab::selling(terms(5, 1)).await;
    lab.answer(&withdraw()).await.problem(409, "not_amendable");
    lab.buy("alice").await;
    answer_with(&lab, &lab.ledger, -3_600_000, &withdraw()).await.problem(409, "not_amendable");
    assert_eq!((lab.offer().await.state, lab.round().await.paused), (SaleState::Published, false));
    lab.buy("bob").await;
    assert_eq!(lab.clean_audit().await, (3, 0, 2));
}

#[tokio::test]
async fn a_round_that_redis_may_have_lost_is_not_withdrawn() {
    let lab = Lab::publishing(to_come(300)).await;
    lab.ledger.mark_loaded(&round(SALE, 1), now()).await.unwrap();
    lab.answer(&withdraw()).await.problem(503, "overloaded");
    assert_eq!((lab.offer().await.state, lab.round().await.paused), (SaleState::Published, true));
    assert_eq!(warmup::handle(&lab.warmup()).await.unwrap().loaded, 1);
    lab.answer(&withdraw()).await.expect(200);
    is_closed_for_good(&lab).await;
}

#[tokio::test]
async fn sales_are_found_by_their_state() {
    let lab = Lab::new().await;
    for (sale, ago_s) in [("ended-2", 1200), ("ended-1", 600), ("ended-3", 1800)] {
        lab.publish(sale, &rounds::from_to(-7200, -ago_s, terms(5, 1))).await;
    }
    lab.publish("running", &terms(5, 1)).await;
    lab.publish("coming", &to_come(1800)).await;
    lab.publish(SALE, &to_come(1800)).await;
    lab.answer(&withdraw()).await.expect(200);
    for sale in ["draft-1", "draft-2"] {
        rounds::draft(&lab.ledger, sale, &to_come(1800), None).await;
    }
    rounds::publish_daily(&lab.ledger, "daily", &terms(5, 1)).await;
    rounds::pass_a_day(&lab.ledger, "daily").await;
    assert!(matches!(lab.ledger.begin_next(&round("daily", 1), now()).await.unwrap(), ledger::Begun::Now(_)));

    for (state, wanted) in [
        ("draft", vec!["draft-1", "draft-2"]),
        ("published", vec!["coming"]),
        ("open", vec!["daily", "running"]),
        ("ended", vec!["ended-1", "ended-2", "ended-3"]),
        ("withdrawn", vec![SALE]),
    ] {
        let path = format!("/v1/admin/sales?state={state}");
        let whole = lab.pages(Ask::get(&path).by_operator()).await;
        let single = lab.pages(Ask::get(format!("{path}&limit=1")).by_operator()).await;
        assert_eq!(whole.len(), 1, "{state}");
        assert!(single.iter().all(|page| page["sales"].as_array().unwrap().len() <= 1), "{state}");
        for pages in [whole, single] {
            let mut found = texts(&listed(&pages, "sales"), "sale_id");
            if state != "ended" {
                found.sort();
            }
            assert_eq!(found, wanted, "{state} on {} pages", pages.len());
        }
    }
    let mut today = texts(lab.read("/v1/admin/sales").await["sales"].as_array().unwrap(), "sale_id");
    today.sort();
    assert_eq!(today, ["coming", "daily", "running"]);
    let first = lab.read("/v1/admin/sales?state=ended&limit=1").await;
    let of_another = format!("state=draft&cursor={}", first["next_cursor"].as_str().unwrap());
    let bad = "state=over state= limit=5 state=draft&limit=0 state=draft&limit=101 state=draft&cursor=x states=draft";
    for query in bad.split(' ').chain([&*of_another]) {
        let answer = lab.answer(&Ask::get(format!("/v1/admin/sales?{query}")).by_operator()).await;
        answer.problem(400, "invalid_request");
    }
}

#[tokio::test]
async fn a_sale_is_duplicated_as_a_draft() {
    let lab = Lab::selling(terms(5, 1)).await;
    lab.answer(&edit(&json!({ "round": 1, "round_version": 1, "title": "More lamps", "total": 9 }))).await.expect(200);
    lab.answer(&post("close", &json!({ "round": 1 }))).await.expect(200);
    let copy = post("duplicate", &json!({ "sale_id": "lantern", "opens_at": "2099-03-01T00:00:00Z" }));
    let made = lab.answer(&copy).await.expect(201).body;
    let told = ["sale_id", "state", "version", "title", "total", "closes_at"].map(|member| made[member].clone());
    assert_eq!(json!(told), json!(["lantern", "draft", 1, "More lamps", 5, "2099-03-01T01:01:00Z"]));
    assert_eq!(lab.answer(&copy).await.expect(200).body, made);
    let other = post("duplicate", &json!({ "sale_id": "lantern", "opens_at": "2099-03-02T00:00:00Z" }));
    lab.answer(&other).await.problem(409, "sale_exists");
    let itself = post("duplicate", &json!({ "sale_id": SALE, "opens_at": "2099-03-02T00:00:00Z" }));
    lab.answer(&itself).await.problem(409, "sale_exists");
    let over = post("duplicate", &json!({ "sale_id": "old", "closes_at": "2026-01-01T00:00:00Z" }));
    lab.answer(&over).await.problem(400, "invalid_request");
}

#[tokio::test]
async fn what_is_so_for_good_is_written_once() {
    let lab = Lab::new().await;
    rounds::publish_daily(&lab.ledger, SALE, &terms(5, 1)).await;
    for what in ["end_recurrence", "close"] {
        let first = lab.answer(&post(what, &json!({ "round": 1 }))).await.expect(200).body;
        let before = lab.contents().await;
        assert_eq!(lab.answer(&post(what, &json!({ "round": 1 }))).await.expect(200).body, first);
        assert_eq!(lab.contents().await, before, "{what}");
    }
}
