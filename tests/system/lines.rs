//! The line in front of a sale: tickets, the order, who is admitted, and what happens when Redis is lost.

use pass::line::{self, LineDocument, LineOrder, LineState, Place, WHOLE_PPB, commit};
use sale::award::Hex;
use stock::{Joined, Joining};

use crate::prelude::*;

pub(crate) const LINE: LineTerms = LineTerms { opens_early_s: 3600, admits_per_s: 2, paused: false };

/// A sale of this many units that opened a minute ago. The gate sets no challenge, so a token is all that it takes.
pub(crate) fn with_line(total: u32, line: LineTerms) -> Terms {
    let mut terms = Terms { line: Some(line), ..terms(total, 1) };
    terms.gate.challenge = ChallengePolicy::None;
    terms
}

pub(crate) fn names(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("user-{number}")).collect()
}

/// A lab whose functions know that the sale's round is loaded.
pub(crate) async fn selling(terms: Terms) -> Lab {
    let lab = Lab::selling(terms).await;
    lab.refresh_snapshots().await;
    lab
}

/// Puts these users in line, as if they had come before the opening.
pub(crate) async fn queue_up(lab: &Lab, names: &[String]) {
    let id = round(SALE, 1);
    let join = async |name: &String| {
        let user = user(name);
        let joining = Joining {
            user: &user,
            tickets_from: EpochMs(0),
            opens_at: now().plus_s(3600),
            closes_at: now().plus_s(7200),
            expires_at: now().plus_s(7200),
            expected: None,
        };
        assert_eq!(lab.stock.round(&id).join_line(&joining).await.unwrap(), Joined::Early);
    };
    for some in names.chunks(100) {
        join_all(some.iter().map(join)).await;
    }
}

/// Moves the opening to some seconds ago.
async fn open(lab: &Lab, ago_s: u32) {
    let opens_at_ms = now().minus_s(ago_s);
    rounds::change(&lab.ledger, &round(SALE, 1), |round| round.terms.opens_at_ms = opens_at_ms).await;
    lab.refresh_snapshots().await;
}

/// Lets this much time pass for the line, whose last step is so much earlier then.
async fn pass(lab: &Lab, ms: u64) {
    let key = format!("line:{{{SALE}:1:line}}");
    let progress: line::Progress = lab.redis_text(&["GET", &key]).await.parse().unwrap();
    let earlier = line::Progress { at_ms: progress.at_ms - ms, ..progress };
    lab.redis(&["SET", &key, &earlier.to_string(), "KEEPTTL"]).await;
}

pub(crate) async fn ask_for_ticket(lab: &Lab, name: &str) -> Answer {
    lab.answer(&Ask::post(format!("/v1/sales/{SALE}/tickets")).by(name)).await
}

async fn ticket(lab: &Lab, name: &str) -> String {
    ask_for_ticket(lab, name).await.expect(201).text("ticket").to_owned()
}

pub(crate) async fn look(lab: &Lab) -> LineDocument {
    let seen = lab.answer(&Ask::get(format!("/v1/sales/{SALE}/line"))).await;
    assert_eq!((seen.status, seen.header("cache-control")), (200, "public, max-age=1, stale-if-error=30"), "{seen:?}");
    assert!(seen.body.to_string().len() < 1000, "{}", seen.body);
    serde_json::from_value(seen.body).unwrap()
}

/// Waits until the line has moved on from there.
async fn until_it_moves(lab: &Lab, reached_ppb: u32) -> LineDocument {
    until("the line moves", async || Some(look(lab).await).filter(|seen| seen.admitted.early_ppb > reached_ppb)).await
}

/// These users' places, as anyone can compute them, after checking the seed against the published commitment.
fn places(names: &[String], document: &LineDocument, published: &str) -> BTreeMap<String, Place> {
    let seed = document.seed().expect("it is open");
    assert_eq!(commit(&document.round_id(), &seed).to_string(), published);
    let order = LineOrder::of(&seed);
    names.iter().map(|name| (name.clone(), order.place(&user(name)))).collect()
}

fn come(what: &str, name: &str, ticket: Option<&str>, watermark: Option<&str>) -> Ask {
    let headers = [("x-line-ticket", ticket), ("x-line-watermark", watermark)];
    let ask = Ask::post(format!("/v1/sales/{SALE}/{what}")).by(name);
    headers
        .into_iter()
        .filter_map(|(header, text)| Some((header, text?)))
        .fold(ask, |ask, (header, text)| ask.header(header, text))
}

/// Asks for a token with a ticket and the document's watermark.
async fn enter(lab: &Lab, name: &str, ticket: &str, document: &LineDocument) -> Answer {
    lab.answer(&come("tokens", name, Some(ticket), document.watermark.as_deref())).await
}

#[tokio::test]
async fn tickets_are_given_from_their_moment_on_and_say_when_somebody_came() {
    let opens_at_ms = now().plus_s(1000);
    let too_early =
        Lab::selling(Terms { opens_at_ms, ..with_line(10, LineTerms { opens_early_s: 100, ..LINE }) }).await;
    let refused = ask_for_ticket(&too_early, "alice").await.problem(409, "not_open");
    assert_eq!(refused.text("opens_at"), opens_at_ms.minus_s(100).to_string());

    let lab = selling(Terms { opens_at_ms, ..with_line(10, LINE) }).await;
    let first = ask_for_ticket(&lab, "alice").await.expect(201).body;
    assert_eq!((&first["class"], &first["came_at"]), (&json!("early"), &Value::Null));
    assert_eq!(ask_for_ticket(&lab, "alice").await.expect(201).body, first, "another device has the same place");
    lab.answer(&Ask::post(format!("/v1/sales/{SALE}/tickets"))).await.problem(401, "unauthorized");

    let before = look(&lab).await;
    assert_eq!((before.state, before.seed.as_deref(), before.watermark.as_deref()), (LineState::Before, None, None));
    assert_eq!((before.people.estimate, before.admitted.early_ppb), (1, 0));
    let card = lab.answer(&Ask::get(format!("/v1/sales/{SALE}"))).await;
    assert_eq!(card.status, 200, "{card:?}");
    assert_eq!(card.body["line"]["tickets_from"], json!(before.tickets_from), "a page needs this");
    let seed = lab.ledger.line(&round(SALE, 1)).await.unwrap().unwrap().seed;
    let hidden = Hex(&seed.0).to_string();
    assert!(!serde_json::to_string(&before).unwrap().contains(&hidden));
    lab.answer(&come("tokens", "alice", first["ticket"].as_str(), None)).await.problem(409, "not_your_turn");

    open(&lab, 2).await;
    assert_eq!(ask_for_ticket(&lab, "alice").await.expect(201).text("class"), "early", "a lost ticket is issued again");
    let late = ask_for_ticket(&lab, "bob").await.expect(201).body;
    assert_eq!(late["class"], "late");
    assert_eq!(ask_for_ticket(&lab, "bob").await.expect(201).body, late, "the first arrival counts");
    let after = look(&lab).await;
    assert_eq!(after.seed.as_deref(), Some(&*hidden));
    assert_eq!(after.commitment, before.commitment);
    assert_eq!(commit(&round(SALE, 1), &after.seed().unwrap()).to_string(), before.commitment);
}

#[tokio::test]
async fn passes_are_given_only_at_the_front() {
    let lab = selling(with_line(100, LineTerms { admits_per_s: 10, ..LINE })).await;
    let names = names(60);
    queue_up(&lab, &names).await;
    let document = look(&lab).await;
    assert_eq!(document.state, LineState::Moving);
    let places = places(&names, &document, &document.commitment);
    let early_ppb = document.admitted.early_ppb;
    // The line catches up on two seconds at ten a second.
    assert!((300_000_000..=400_000_000).contains(&early_ppb), "{early_ppb}");
    let mut counts = [0, 0];
    for (name, place) in &places {
        let ticket = ticket(&lab, name).await;
        let admitted = place.ppb() < early_ppb;
        counts[usize::from(admitted)] += 1;
        let answer = enter(&lab, name, &ticket, &document).await;
        if admitted {
            answer.expect(201);
        } else {
            let refused = answer.problem(409, "not_your_turn");
            assert_eq!(refused.body["admitted"]["early_ppb"], early_ppb);
            assert_eq!(refused.text("line_path"), format!("/v1/sales/{SALE}/line"));
        }
    }
    assert!(counts.iter().all(|count| *count > 5), "{counts:?}");

    let first = places.iter().min_by_key(|(_, place)| **place).unwrap().0;
    let ticket = ticket(&lab, first).await;
    let watermark = document.watermark.as_deref();
    for what in ["challenges", "tokens"] {
        lab.answer(&come(what, first, Some(&ticket), watermark)).await.expect(201);
        let refused = lab.answer(&come(what, first, None, watermark)).await.problem(403, "no_ticket");
        assert_eq!(refused.header("retry-after"), "2");
        lab.answer(&come(what, first, watermark, watermark)).await.problem(403, "no_ticket");
        lab.answer(&come(what, "mallory", Some(&ticket), watermark)).await.problem(403, "no_ticket");
        lab.answer(&come(what, first, Some(&ticket), None)).await.problem(409, "not_your_turn");
        lab.answer(&come(what, first, Some(&ticket), Some(&ticket))).await.problem(409, "not_your_turn");
        // Sealed with key 255, which does not exist.
        let unknown = format!("Af8{}", &watermark.unwrap()[3..]);
        let refused = lab.answer(&come(what, first, Some(&ticket), Some(&unknown))).await;
        assert!(refused.problem(400, "invalid_request").text("detail").starts_with("x-line-watermark"));
    }
}

#[tokio::test]
async fn late_ones_come_after_all_early_ones() {
    let lab = selling(with_line(100, LineTerms { admits_per_s: 20, ..LINE })).await;
    queue_up(&lab, &names(60)).await;
    let late = ticket(&lab, "late").await;
    let first = look(&lab).await;
    assert!(first.admitted.early_ppb < WHOLE_PPB && first.admitted.late_until.is_none(), "{:?}", first.admitted);
    enter(&lab, "late", &late, &first).await.problem(409, "not_your_turn");
    let admitted = until("the late one is admitted", async || {
        let document = look(&lab).await;
        (enter(&lab, "late", &late, &document).await.status == 201).then_some(document)
    })
    .await;
    assert_eq!((admitted.admitted.early_ppb, admitted.people.late), (WHOLE_PPB, 1));
}

#[tokio::test]
async fn when_redis_is_lost_nobody_loses_a_place_and_nobody_is_sent_back() {
    // It opened long enough ago for the longest possible first step, two seconds at 50 a second, however slow the
    // machine is.
    let opens_at_ms = EpochMs(now().0 - 20_000);
    let line = LineTerms { admits_per_s: 50, ..LINE };
    let lab = selling(Terms { opens_at_ms, ..with_line(2_000, line) }).await;
    let names = names(2_000);
    queue_up(&lab, &names).await;
    let before = look(&lab).await;
    let places_before = places(&names, &before, &before.commitment);
    let mut tickets = BTreeMap::new();
    // Every twentieth place, so that some are on each side of both watermarks.
    let mut in_order: Vec<&String> = names.iter().collect();
    in_order.sort_by_key(|name| places_before[*name]);
    for name in in_order.into_iter().step_by(20) {
        tickets.insert(name.clone(), ticket(&lab, name).await);
    }
    let late = ask_for_ticket(&lab, "late").await.expect(201).body;

    lab.redis(&["FLUSHALL"]).await;
    lab.load(SALE).await;
    let after = look(&lab).await;
    assert_eq!(places(&names, &after, &before.commitment), places_before, "the order follows from the seed alone");
    assert!(after.admitted.watermark() >= before.admitted.watermark(), "{:?} {:?}", after.admitted, before.admitted);
    // The ceiling is ten seconds ahead: 500 of the 2,000. The count may be off by 7 %.
    let ahead = after.admitted.early_ppb - before.admitted.early_ppb;
    assert!((233_500_000..=269_000_000).contains(&ahead), "{:?} {:?}", before.admitted, after.admitted);
    assert_eq!(after.people.estimate, before.people.estimate, "people in line are not forgotten");
    let mut counts = [0, 0];
    for (name, ticket) in &tickets {
        let place = places_before[name].ppb();
        let answer = enter(&lab, name, ticket, &before).await;
        assert_eq!(answer.status == 201, place < before.admitted.early_ppb, "{name} with the watermark from before");
        let answer = enter(&lab, name, ticket, &after).await;
        assert_eq!(answer.status == 201, place < after.admitted.early_ppb, "{name} with the current watermark");
        counts[usize::from(answer.status == 201)] += 1;
    }
    assert!(counts.iter().all(|count| *count > 2), "{counts:?}");
    // A late ticket carries its second, whatever Redis has forgotten.
    let text = late["ticket"].as_str().unwrap();
    enter(&lab, "late", text, &after).await.problem(409, "not_your_turn");
    let reached = after.admitted.early_ppb;
    until("the line goes on", async || {
        let admitted = look(&lab).await.admitted;
        (admitted.early_ppb > reached || admitted.early_ppb == WHOLE_PPB).then_some(())
    })
    .await;
}

/// Redis has lost the round, and no process has loaded it again. The line stands, and is not mistaken for an empty one.
#[tokio::test]
async fn a_line_whose_round_is_not_there_admits_nobody() {
    let lab = selling(with_line(100, LINE)).await;
    queue_up(&lab, &names(400)).await;
    lab.redis(&["DEL", &format!("sale:{{{SALE}:1:0}}")]).await;
    for _ in 0..2 {
        let document = look(&lab).await;
        assert_eq!((document.state, document.admitted.early_ppb), (LineState::Paused, 0));
        assert_eq!(lab.ledger.line(&round(SALE, 1)).await.unwrap().unwrap().ceiling, None);
    }
    lab.load(SALE).await;
    let moving = until_it_moves(&lab, 0).await;
    assert!(moving.admitted.early_ppb < WHOLE_PPB / 2, "{:?}", moving.admitted);
}

/// Until a round is loaded its opening can be postponed, even once it has passed.
#[tokio::test]
async fn the_order_is_secret_as_long_as_the_opening_can_be_put_off() {
    let lab = Lab::publishing(with_line(100, LINE)).await;
    let before = look(&lab).await;
    assert_eq!((before.state, before.seed, before.watermark), (LineState::Before, None, None));
    lab.load(SALE).await;
    lab.refresh_snapshots().await;
    let after = look(&lab).await;
    assert!(after.seed.is_some() && after.watermark.is_some(), "{after:?}");
}

#[tokio::test]
async fn people_whom_redis_lost_before_the_opening_are_still_people() {
    let opens_at_ms = now().plus_s(1000);
    let lab = selling(Terms { opens_at_ms, ..with_line(100, LINE) }).await;
    queue_up(&lab, &names(400)).await;
    let before = look(&lab).await;
    assert_eq!(lab.ledger.line(&round(SALE, 1)).await.unwrap().unwrap().people, before.people.estimate);

    lab.redis(&["FLUSHALL"]).await;
    queue_up(&lab, &names(3)).await;
    assert_eq!(look(&lab).await.people.estimate, before.people.estimate);
    assert_eq!(lab.ledger.note_people_in_line(&round(SALE, 1), 3).await.unwrap(), before.people.estimate);
    open(&lab, 2).await;
    lab.load(SALE).await;
    for _ in 0..3 {
        let document = look(&lab).await;
        // Each look is a step of at most two seconds, at two people a second.
        assert!((1..WHOLE_PPB / 20).contains(&document.admitted.early_ppb), "{:?}", document.admitted);
        assert_eq!(document.people.estimate, before.people.estimate);
    }
}

#[tokio::test]
async fn who_got_a_ticket_without_redis_is_counted_once_it_answers() {
    let lab = selling(Terms { opens_at_ms: now().plus_s(1000), ..with_line(10, LINE) }).await;
    let deps = lab.waiting_room();
    let without = waiting_room::WaitingRoomDeps { stock: Stock::new("redis://127.0.0.1:1").unwrap(), ..deps.clone() };
    let ticket = async |deps: &waiting_room::WaitingRoomDeps, name: &str| {
        deps.answer(&Ask::post(format!("/v1/sales/{SALE}/tickets")).by(name)).await.expect(201)
    };
    for name in ["alice", "bob"] {
        assert_eq!(ticket(&without, name).await.text("class"), "early");
    }
    assert_eq!(look(&lab).await.people.estimate, 0);
    for (name, people) in [("carol", 2), ("dave", 4), ("erin", 5)] {
        ticket(&deps, name).await;
        assert_eq!(look(&lab).await.people.estimate, people, "{name}");
    }
}

/// From the opening on Redis would take them for late. Those of the next sale need the room.
#[tokio::test]
async fn who_is_not_counted_by_the_opening_is_forgotten() {
    let lab = selling(Terms { opens_at_ms: now().plus_s(1000), ..with_line(10, LINE) }).await;
    let processes = [(); 3].map(|()| lab.waiting_room());
    let ticket = |name: &str| Ask::post(format!("/v1/sales/{SALE}/tickets")).by(name);
    assert_eq!(lab.waiting_room().answer(&ticket("early")).await.expect(201).text("class"), "early");
    for deps in &processes {
        let without =
            waiting_room::WaitingRoomDeps { stock: Stock::new("redis://127.0.0.1:1").unwrap(), ..deps.clone() };
        for name in ["alice", "bob"] {
            without.answer(&ticket(name)).await.expect(201);
        }
        assert_eq!(deps.missed.count(), 2);
    }
    open(&lab, 60).await;
    let asks = [
        (ticket("early"), "who came early asks again"),
        (ticket("zoe"), "somebody comes late"),
        (Ask::get(format!("/v1/sales/{SALE}/line")), "somebody looks"),
    ];
    for (deps, (request, what)) in processes.iter().zip(asks) {
        let answer = deps.answer(&request).await;
        assert!(answer.status < 300, "{what}: {answer:?}");
        assert_eq!(deps.missed.count(), 0, "{what}");
    }
}

/// One answer, even an error, serves everyone who asks within a second. Without the seed, no order is guessed.
#[tokio::test]
async fn shared_caches_keep_what_went_wrong() {
    let lab = selling(with_line(10, LINE)).await;
    queue_up(&lab, &names(3)).await;
    let early = ticket(&lab, "user-1").await;
    lab.delete_item(&format!("LINE#{SALE}#1")).await;
    for (sale, status, code) in
        [(SALE, 503, "overloaded"), ("nothing", 404, "unknown_sale"), ("No", 400, "invalid_request")]
    {
        let answer = lab.answer(&Ask::get(format!("/v1/sales/{sale}/line"))).await.problem(status, code);
        assert_eq!(answer.header("cache-control"), "public, max-age=0, s-maxage=1", "{sale}");
    }
    let refused = lab.answer(&Ask::post(format!("/v1/sales/{SALE}/tickets"))).await.problem(401, "unauthorized");
    assert_eq!(refused.header("cache-control"), "no-store");
    lab.answer(&come("tokens", "user-1", Some(&early), None)).await.problem(409, "not_your_turn");
}

#[tokio::test]
async fn sold_out_ends_it_and_what_comes_back_admits_the_next() {
    let lab = selling(with_line(2, LINE)).await;
    let names = names(400);
    queue_up(&lab, &names).await;
    let first = look(&lab).await;
    assert_eq!((first.state, first.units.total, first.units.sold), (LineState::Moving, 2, 0));
    let (alice, _bob) = (lab.buy("alice").await, lab.buy("bob").await);
    let sold_out = look(&lab).await;
    assert_eq!((sold_out.state, sold_out.units.sold, sold_out.units.may_return), (LineState::SoldOut, 2, 2));
    let reached = sold_out.admitted.early_ppb;
    // Two steps of the line later nobody else has been admitted.
    for _ in 0..2 {
        pass(&lab, 1_000).await;
        let later = look(&lab).await;
        assert_eq!((later.state, later.admitted.early_ppb), (LineState::SoldOut, reached));
    }

    lab.answer(&Ask::cancel(&alice)).await.expect(200);
    lab.sell_returned().await;
    pass(&lab, 1_000).await;
    let moved = until_it_moves(&lab, reached).await;
    assert_eq!((moved.state, moved.units.sold), (LineState::Moving, 1));
    // Only a few: two of the four hundred each second.
    assert!(moved.admitted.early_ppb < WHOLE_PPB, "{:?}", moved.admitted);
}

/// The unit is free of charge, so no payment is pending. But an order may still fail, and units may be added.
#[tokio::test]
async fn who_waits_is_not_told_that_it_is_over_while_units_may_come() {
    let mut terms = with_line(1, LINE);
    terms.settlement = Settlement::Free;
    let lab = selling(terms).await;
    queue_up(&lab, &names(40)).await;
    let reservation = lab.reserve("alice").await;
    let sold_out = look(&lab).await;
    assert_eq!((sold_out.state, sold_out.units.may_return, sold_out.poll_after_ms), (LineState::SoldOut, 1, 10_000));
    assert!(lab.deliver(&[&reservation]).await.batch_item_failures.is_empty());
    let over = until("no unit may return", async || {
        let document = look(&lab).await;
        (document.units.may_return == 0).then_some(document)
    })
    .await;
    assert_eq!((over.state, over.poll_after_ms), (LineState::SoldOut, 60_000), "units may be added until the end");
}

/// The line stops while the ledger is away, and then moves on.
#[tokio::test]
async fn while_the_ledger_is_away_it_stands_and_does_not_catch_up() {
    let lab = selling(with_line(10_000, LineTerms { paused: true, admits_per_s: 100, ..LINE })).await;
    queue_up(&lab, &names(4000)).await;
    let deps = lab.waiting_room();
    let no_table = Ledger::new(lab.dynamodb.clone(), "there-is-no-such-table");
    let without = waiting_room::WaitingRoomDeps { ledger: no_table, ..deps.clone() };
    let look = async |deps: &waiting_room::WaitingRoomDeps| -> LineDocument {
        let seen = deps.answer(&Ask::get(format!("/v1/sales/{SALE}/line"))).await;
        assert_eq!(seen.status, 200, "{seen:?}");
        serde_json::from_value(seen.body).unwrap()
    };
    assert_eq!(look(&deps).await.state, LineState::Paused);
    let edit = json!({ "round": 1, "round_version": lab.round().await.version, "line": { "paused": false } });
    lab.answer(&Ask::post_sale("edit").json(&edit)).await.expect(200);
    lab.refresh_snapshots().await;
    // The line's progress in Redis.
    let line = async || -> line::Progress {
        lab.stock.round(&round(SALE, 1)).read_line().await.unwrap().progress.unwrap().parse().unwrap()
    };
    let paused = line().await;
    pass(&lab, 3_000).await;
    let stood = until("three seconds are over", async || {
        assert_eq!(look(&without).await.admitted.early_ppb, 0);
        let line = line().await;
        (line.at_ms > paused.at_ms).then_some(line)
    })
    .await;
    assert_eq!(stood.watermark, paused.watermark, "the line does not advance unseen, to admit them all at once later");
    let moved = until("the line moves", async || {
        let document = look(&deps).await;
        (document.admitted.early_ppb > 0).then_some(document)
    })
    .await;
    // 200 of 4,000. The count may be off by 5 %.
    assert!(moved.admitted.early_ppb < 53_000_000, "{:?}", moved.admitted);
}

#[tokio::test]
async fn operators_slow_it_down_and_hold_it_up() {
    let lab = selling(with_line(100, LINE)).await;
    queue_up(&lab, &names(300)).await;
    let edit = async |line: Value| {
        let body = json!({ "round": 1, "round_version": lab.round().await.version, "line": line });
        lab.answer(&Ask::post_sale("edit").json(&body)).await
    };
    let edited = edit(json!({ "paused": true })).await.expect(200);
    assert_eq!(edited.body["line"], json!({ "opens_early_s": 3600, "admits_per_s": 2, "paused": true }));
    let held_up = look(&lab).await;
    assert_eq!((held_up.state, held_up.admitted.per_s, held_up.admitted.early_ppb), (LineState::Paused, 0, 0));
    edit(json!({ "paused": false, "admits_per_s": 7 })).await.expect(200);
    let moving = until_it_moves(&lab, 0).await;
    assert_eq!((moving.state, moving.admitted.per_s), (LineState::Moving, 7));
    edit(json!({ "opens_early_s": 60 })).await.problem(409, "not_amendable");
    edit(Value::Null).await.problem(409, "not_amendable");
    let errors = edit(json!({ "admits_per_s": 0 })).await.problem(400, "invalid_request");
    assert!(errors.text("detail").starts_with("line.admits_per_s"), "{errors:?}");
    lab.update("pause", json!({})).await;
    assert_eq!(look(&lab).await.state, LineState::Paused, "the line pauses with the sale");
    ticket(&lab, "carol").await;
}

#[tokio::test]
async fn the_samples_are_answered() {
    let lab = selling(with_line(10, LINE)).await;
    for (name, status) in [("ticket", 201), ("line", 200)] {
        let request = events::request(&sample(&format!("waiting_room/{name}")));
        let response = waiting_room::handle(&lab.waiting_room(), request).await;
        assert_eq!(response.status(), status, "{response:?}");
    }
}
