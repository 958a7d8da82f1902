//! Lotteries that are drawn at their end: who enters, who wins, and that everyone is counted and wins at most once.

use fulfilment::DrawStands;
use ledger::{LedgerError, UpdateOutcome, Winner};
use messaging::queue::WinnerMessage;
use process::TermsCache;
use sale::award::{self, merkle};

use crate::draws::free;
use crate::prelude::*;

/// Seconds from a round's end to its draw.
pub(crate) const AFTER_S: i64 = fulfilment::DRAW_AFTER_S as i64 + 5;
/// Seconds from the first draw that saw Redis lose the round until empty queues count as proof.
const RESTORED_S: i64 = 15 * 60 + 5;

/// Terms of a lottery with this many tickets and this many of each prize, open for the next hour.
pub(crate) fn lottery(tickets: u32, counts: &[u32]) -> Terms {
    let counts = counts.iter().filter(|count| **count > 0);
    let prizes = (1..).zip(counts).map(|(n, count)| Prize { name: format!("Prize {n}"), count: *count }).collect();
    let mut terms = free(tickets, Allocation::Prizes { prizes, draw: DrawTime::AtEnd, beacon: false });
    terms.opens_at_ms = terms.opens_at_ms.minus_s(3600);
    terms.validate().unwrap();
    terms
}

pub(crate) async fn end(lab: &Lab) {
    lab.update("close", json!({})).await;
}

/// Runs the draw this many seconds from now and returns its state.
pub(crate) async fn draw_in(lab: &Lab, ahead_s: i64) -> String {
    let deps = lab.draw_in(ahead_s);
    let summary = draw::handle(&deps).await.unwrap();
    if summary.failed > 0 {
        let (id, clock, until) = (lab.round().await.id, deps.clock, Instant::now() + Duration::from_secs(10));
        let again = fulfilment::draw(&deps.stock, &deps.ledger, &deps.orders, &deps.winners, &id, clock, until).await;
        panic!("a step failed; the retry returned {again:?}");
    }
    summary.draws.into_values().next().unwrap_or_default()
}

pub(crate) fn stands(at: DrawStands) -> String {
    format!("{at:?}")
}

/// The latest round's live orders, sorted by unit.
pub(crate) async fn orders(lab: &Lab) -> Vec<Order> {
    let live = lab.ledger.live_orders(&lab.round().await.id).await.unwrap();
    let ids: Vec<_> = live.into_iter().map(|order| order.id).collect();
    let mut orders = lab.ledger.orders(&ids).await.unwrap();
    orders.sort_by_key(|order| order.reservation.unit);
    orders
}

fn leaves(orders: &[Order]) -> Vec<Vec<u8>> {
    orders.iter().map(|order| merkle::entry(order.reservation.unit.0, &order.reservation.id.to_string())).collect()
}

/// Asserts that each prize is won by the order that the specification names, and by no other. Returns how many were
/// won.
pub(crate) async fn drawn_once(lab: &Lab) -> u32 {
    let (round, orders) = (lab.round().await, orders(lab).await);
    let draw = lab.ledger.draw(&round.id).await.unwrap().expect("there is a draw");
    let closed = draw.closed.expect("it is closed");
    assert!(draw.drawn_at_ms.is_some());
    assert_eq!((closed.entries as usize, closed.root), (orders.len(), merkle::root(&leaves(&orders))));
    let Allocation::Prizes { prizes, .. } = &round.terms.allocation else { panic!("it has no prizes") };
    let counts: Vec<u32> = prizes.iter().map(|prize| prize.count).collect();
    let seed = lab.ledger.committed_seed(&round).await.unwrap();
    let randomness = lab.ledger.randomness(&round.id, &round.terms.allocation).await.unwrap();
    let key = award::shuffle_key(&seed, randomness.as_ref());
    let mut won: BTreeMap<u32, u64> = BTreeMap::new();
    for (position, (entry, prize)) in (1..).zip(award::winners(&counts, closed.entries, &key)) {
        won.insert(entry, prize);
        let winner = lab.ledger.winner(&round.id, position).await.unwrap().expect("the prize has a winner");
        assert_eq!((winner.entry, u64::from(winner.prize)), (entry, prize));
        assert_eq!(winner.order_id, orders[entry as usize - 1].reservation.id);
    }
    for (entry, order) in (1..).zip(&orders) {
        let award = won.get(&entry).map(|prize| Award::Prize { prize: u16::try_from(*prize).unwrap() });
        assert_eq!((order.award, order.state), (award, OrderState::Granted), "entry {entry}");
    }
    let won = u32::try_from(won.len()).unwrap();
    assert_eq!(draw.awarded, won);
    assert_eq!(lab.ledger.winner(&round.id, won + 1).await.unwrap(), None);
    let audited = lab.audited(&round).await;
    let awarded = audited.awarded.expect("it has awards");
    assert!(audited.audit.is_clean() && awarded.is_exact(), "{awarded:?}");
    assert_eq!(awarded.entries, Some(closed.entries));
    won
}

/// Takes the winner messages and returns their positions, in order.
pub(crate) async fn winner_messages(lab: &Lab) -> Vec<u32> {
    let bodies = lab.emptied("winners").await.into_iter();
    let mut positions: Vec<u32> = bodies.map(|body| WinnerMessage::parse(&body).unwrap().position).collect();
    positions.sort_unstable();
    positions
}

async fn enter(lab: &Lab, entries: u32) {
    let reservations = join_all((0..entries).map(async |n| lab.reserve(&format!("user-{n}")).await)).await;
    for batch in reservations.chunks(10) {
        assert!(lab.deliver(&batch.iter().collect::<Vec<_>>()).await.batch_item_failures.is_empty());
    }
}

async fn award_of(lab: &Lab, order: &Order) -> Value {
    let ask = Ask::status(&order.reservation);
    lab.answer(&ask).await.expect(200).body["award"].clone()
}

#[tokio::test]
async fn whoever_enters_hears_that_and_after_the_draw_what_was_won() {
    let lab = Lab::selling(lottery(20, &[1, 3])).await;
    enter(&lab, 12).await;
    let entries = orders(&lab).await;
    assert_eq!(entries.len(), 12);
    for order in &entries {
        assert_eq!((order.award, award_of(&lab, order).await), (None, json!({ "kind": "entered" })));
    }
    assert_eq!(draw_in(&lab, AFTER_S).await, "", "still open");
    end(&lab).await;
    assert_eq!(draw_in(&lab, 10).await, stands(DrawStands::TooEarly));
    assert_eq!(lab.ledger.draw(&lab.round().await.id).await.unwrap(), None);

    let summary = draw::handle(&lab.draw_in(AFTER_S)).await.unwrap();
    assert_eq!((summary.drawn, summary.late), (1, 0));
    assert_eq!(drawn_once(&lab).await, 4);
    assert_eq!(winner_messages(&lab).await, [1, 2, 3, 4]);
    let mut seen: Vec<String> = Vec::new();
    for order in orders(&lab).await {
        // A process uses what it read of the draw for a second.
        let award = until("the draw is seen", async || {
            Some(award_of(&lab, &order).await).filter(|award| *award != json!({ "kind": "entered" }))
        });
        seen.push(award.await.to_string());
    }
    seen.sort();
    let prize = |n| format!(r#"{{"kind":"prize","prize":"Prize {n}"}}"#);
    let blank = r#"{"kind":"blank"}"#.to_owned();
    assert_eq!(seen, [vec![blank; 8], vec![prize(1)], vec![prize(2); 3]].concat());

    // An order read before the draw is not taken for a blank: lists come from an index that lags.
    let terms = TermsCache::new(lab.ledger.clone(), Clock::system());
    for (before, since) in entries.iter().zip(orders(&lab).await) {
        assert_eq!(terms.award_of(before).await.unwrap(), terms.award_of(&since).await.unwrap());
    }

    // Later runs change nothing.
    let contents = lab.contents().await;
    assert_eq!(draw::handle(&lab.draw_in(AFTER_S + 60)).await.unwrap(), draw::DrawSummary::default());
    assert_eq!((lab.contents().await, winner_messages(&lab).await), (contents, vec![]));
}

#[tokio::test]
async fn draws_beside_each_other_give_each_prize_once() {
    let lab = Lab::selling(lottery(60, &[6, 24])).await;
    enter(&lab, 40).await;
    end(&lab).await;
    let runs = join_all((0..4).map(|_| async { draw::handle(&lab.draw_in(AFTER_S)).await.unwrap() })).await;
    assert!(runs.iter().all(|summary| summary.failed == 0), "{runs:?}");
    assert_eq!(drawn_once(&lab).await, 30);
    let mut told = winner_messages(&lab).await;
    told.dedup();
    assert_eq!(told, (1..=30).collect::<Vec<_>>());
    lab.check_history("lotteries", &[SALE], Redis::Keeps).await;
}

/// Whatever a run that goes wrong believes, the ledger holds it to what was awarded.
#[tokio::test]
async fn a_prize_stays_with_its_winner() {
    let lab = Lab::selling(lottery(10, &[1])).await;
    lab.buy("alice").await;
    lab.buy("bob").await;
    end(&lab).await;
    assert_eq!(draw_in(&lab, AFTER_S).await, stands(DrawStands::Drawn));
    let id = lab.round().await.id;
    let won = lab.ledger.winner(&id, 1).await.unwrap().expect("there is one");
    let loser = orders(&lab).await.into_iter().find(|order| order.reservation.id != won.order_id).expect("two entered");
    let loser = Winner { order_id: loser.reservation.id, unit: loser.reservation.unit, ..won.clone() };
    for (position, winner) in [(1, &loser), (1, &Winner { prize: 2, ..won.clone() }), (2, &won)] {
        let awarded = lab.ledger.award_prize(&id, position, winner).await;
        assert!(matches!(awarded, Err(LedgerError::Contradiction(_))), "{position}, {winner:?}: {awarded:?}");
    }
    assert_eq!(lab.ledger.award_prize(&id, 1, &won).await.unwrap(), won, "a repeated run is told who won");
    assert_eq!(drawn_once(&lab).await, 1);
}

#[tokio::test]
async fn the_first_prizes_are_drawn_if_few_enter_and_none_if_nobody_does() {
    for entries in [0, 2] {
        let lab = Lab::selling(lottery(10, &[1, 5])).await;
        enter(&lab, entries).await;
        end(&lab).await;
        assert_eq!(draw_in(&lab, AFTER_S).await, stands(DrawStands::Drawn));
        assert_eq!(drawn_once(&lab).await, entries);
    }
}

/// What a draw waits for, such as its beacon, may come more than a month late.
#[tokio::test]
async fn a_draw_is_never_too_late() {
    let lab = Lab::selling(lottery(10, &[1])).await;
    lab.buy("alice").await;
    end(&lab).await;
    let in_40_days = now().plus_s(40 * 24 * 60 * 60).as_epoch_s();
    let next_hour = 40 * 24 * 60 * 60 + 3600 - in_40_days % 3600;
    assert_eq!(draw_in(&lab, next_hour + 600).await, "", "most runs look at recent rounds only");
    assert_eq!(draw_in(&lab, next_hour + 5).await, stands(DrawStands::Drawn));
    assert_eq!(drawn_once(&lab).await, 1);
}

/// Reconciliation moves reservations in the outbox while it is read in pages, so a read can miss one.
#[tokio::test]
async fn a_reservation_whose_order_is_to_come_is_waited_for_whether_the_outbox_shows_it_or_not() {
    for is_shown in [true, false] {
        let lab = Lab::selling(lottery(10, &[1])).await;
        lab.buy("alice").await;
        let bob = lab.reserve("bob").await;
        end(&lab).await;
        if !is_shown {
            let hide = "for _, key in ipairs(redis.call('KEYS', '*outbox*')) do redis.call('DEL', key) end";
            lab.redis(&["EVAL", hide, "0"]).await;
            assert_eq!(lab.stock.round(&bob.id.round).held_since(usize::MAX).await.unwrap(), None);
        }
        assert_eq!(draw_in(&lab, AFTER_S).await, stands(DrawStands::Entering));
        if is_shown {
            let hours_later = draw::handle(&lab.draw_in(7200)).await.unwrap();
            assert_eq!((hours_later.drawn, hours_later.late), (0, 1), "it is late, and leaves nobody out");
        }
        assert!(lab.deliver(&[&bob]).await.batch_item_failures.is_empty());
        assert_eq!(draw_in(&lab, AFTER_S).await, stands(DrawStands::Drawn));
        assert_eq!((drawn_once(&lab).await, orders(&lab).await.len()), (1, 2));
    }
}

#[tokio::test]
async fn what_redis_lost_gets_its_time_and_is_told_if_it_comes_later() {
    let lab = Lab::selling(lottery(10, &[3])).await;
    lab.buy("alice").await;
    let (bob, carol) = (lab.reserve("bob").await, lab.reserve("carol").await);
    end(&lab).await;
    lab.redis(&["FLUSHALL"]).await;
    // The messages are in SQS and not counted yet, or about to be sent.
    lab.emptied("orders").await;
    assert_eq!(draw_in(&lab, AFTER_S).await, stands(DrawStands::Entering), "messages may be in flight");
    lab.deliver_in(AFTER_S, &[&bob]).await;
    assert_eq!(lab.order_of(&bob).await.state, OrderState::Granted, "this one is in time");

    // The loss was seen only after the round's end.
    assert_eq!(draw_in(&lab, RESTORED_S).await, stands(DrawStands::Entering));
    assert_eq!(draw_in(&lab, AFTER_S + RESTORED_S).await, stands(DrawStands::Counting), "the index may lag");
    for _ in 0..2 {
        lab.deliver_in(AFTER_S + RESTORED_S, &[&carol]).await;
        let order = lab.order_of(&carol).await;
        assert_eq!((order.state, order.failure), (OrderState::Failed, Some(Failure::EntriesClosed)));
    }
    let seen = lab.answer(&Ask::status(&carol)).await.expect(200);
    assert_eq!((seen.text("status"), seen.text("reason")), ("failed", "entries_closed"));
    assert_eq!(draw_in(&lab, AFTER_S + RESTORED_S + 65).await, stands(DrawStands::Drawn));
    let round = lab.round().await;
    assert_eq!(lab.ledger.draw(&round.id).await.unwrap().unwrap().closed.unwrap().entries, 2);
    assert_eq!(orders(&lab).await.iter().filter(|order| order.award.is_some()).count(), 2);
}

/// A failover may have made Redis forget that it is held, and a dead letter arrives minutes after the other messages.
#[tokio::test]
async fn a_dead_letter_is_waited_for_though_redis_holds_nothing() {
    let lab = Lab::selling(lottery(10, &[1])).await;
    lab.buy("alice").await;
    let bob = lab.lose_what(lab.reserve("bob")).await;
    let letter = OrderMessage::new(bob.clone(), None).to_body();
    lab.send("orders_dlq", letter).await;
    assert_eq!(lab.stored(&bob.id, "bob").await, None);
    end(&lab).await;
    assert_eq!(draw_in(&lab, AFTER_S).await, stands(DrawStands::Entering));
    lab.deliver_in(AFTER_S, &[&bob]).await;
    assert_eq!(lab.order_of(&bob).await.state, OrderState::Granted);
    lab.emptied("orders_dlq").await;
    assert_eq!(draw_in(&lab, AFTER_S).await, stands(DrawStands::Drawn));
}

/// Redis is lost, and the order function or SQS was away around the end: promised entries are in the queue or already
/// dead letters. The draw waits for them, however long they take.
#[tokio::test]
async fn what_redis_lost_is_waited_for_as_long_as_the_queues_have_messages() {
    let lab = Lab::selling(lottery(10, &[3])).await;
    let bob = lab.reserve("bob").await;
    end(&lab).await;
    lab.redis(&["FLUSHALL"]).await;
    let hour = 3600;
    for ahead_s in [AFTER_S, hour, 2 * hour] {
        assert_eq!(draw_in(&lab, ahead_s).await, stands(DrawStands::Entering), "it is in the queue");
    }
    for body in lab.emptied("orders").await {
        lab.send("orders_dlq", body).await;
    }
    for ahead_s in [3 * hour, 4 * hour] {
        assert_eq!(draw_in(&lab, ahead_s).await, stands(DrawStands::Entering), "it is a dead letter");
    }
    let received = lab.receive("orders_dlq").await;
    assert_eq!(draw_in(&lab, 5 * hour).await, stands(DrawStands::Entering), "it is being worked on");
    lab.deliver_in(5 * hour, &[&bob]).await;
    assert_eq!(lab.order_of(&bob).await.state, OrderState::Granted, "it is in time");
    for message in received {
        lab.delete("orders_dlq", &message).await;
    }
    assert_eq!(draw_in(&lab, 6 * hour).await, stands(DrawStands::Entering), "SQS's counts may be a minute old");
    assert_eq!(draw_in(&lab, 6 * hour + 60).await, stands(DrawStands::Entering));
    lab.send("orders", "of another sale").await;
    assert_eq!(draw_in(&lab, 7 * hour).await, stands(DrawStands::Entering), "the wait starts again");
    lab.emptied("orders").await;
    assert_eq!(draw_in(&lab, 8 * hour).await, stands(DrawStands::Entering));
    assert_eq!(draw_in(&lab, 8 * hour + 125).await, stands(DrawStands::Counting), "the index may lag");
    assert_eq!(draw_in(&lab, 8 * hour + 190).await, stands(DrawStands::Drawn));
    assert_eq!((drawn_once(&lab).await, orders(&lab).await.len()), (1, 1));
}

/// Redis decides when entries close, so the draw asks for its clock: the draw's own may be ahead.
#[tokio::test]
async fn a_round_that_redis_still_sells_is_not_drawn() {
    let lab = Lab::selling(rounds::from_to(-3660, 600, lottery(10, &[1]))).await;
    lab.buy("alice").await;
    assert_eq!(draw_in(&lab, 600 + AFTER_S).await, stands(DrawStands::Entering));
    assert_eq!(lab.ledger.draw(&lab.round().await.id).await.unwrap(), None);
    lab.buy("bob").await;
    end(&lab).await;
    assert_eq!(draw_in(&lab, AFTER_S).await, stands(DrawStands::Drawn));
    assert_eq!((drawn_once(&lab).await, orders(&lab).await.len()), (1, 2));
}

/// The ledger orders the draw and the operator, not their clocks.
#[tokio::test]
async fn a_round_whose_draw_has_begun_is_not_extended_by_a_slow_clock() {
    let lab = Lab::selling(lottery(10, &[1])).await;
    lab.buy("alice").await;
    end(&lab).await;
    let round = lab.round().await;
    assert_eq!(draw_in(&lab, AFTER_S).await, stands(DrawStands::Drawn));
    let slow = EpochMs(round.terms.closes_at_ms.0 - 1);
    let later = Edit { closes_at_ms: Some(now().plus_s(3600)), ..Edit::default() };
    let update = async |key: &str, edit: &Edit| {
        let request = rounds::request(key);
        lab.ledger.update_round(&round.id, &request, |round, offer| offer.edit_round(round, edit, slow)).await.unwrap()
    };
    for key in ["once", "once", "again"] {
        assert_eq!(update(key, &later).await, UpdateOutcome::Refused(Refusal::Over));
    }
    assert_eq!(lab.round().await, round);
    // An update that changes no term is still allowed.
    let request = rounds::request("pause");
    let paused = lab.ledger.update_round(&round.id, &request, |round, _| Ok(round.pause())).await.unwrap();
    assert!(matches!(paused, UpdateOutcome::Made(_)));
    drawn_once(&lab).await;
}

/// The reverse: the operator was first, and the draw had read the round before that.
#[tokio::test]
async fn a_round_that_is_extended_meanwhile_is_not_fenced_off() {
    let lab = Lab::selling(lottery(10, &[1])).await;
    let bob = lab.reserve("bob").await;
    end(&lab).await;
    let read = lab.round().await;
    rounds::change(&lab.ledger, &read.id, |round| round.terms.closes_at_ms.0 += 3_600_000).await;
    assert_eq!(lab.ledger.fence_draw(&read, now()).await.unwrap(), None);
    assert_eq!(lab.ledger.draw(&read.id).await.unwrap(), None);
    let bob = Order::granted(bob, read.terms.price, now(), None);
    assert_eq!(lab.ledger.place_within(bob.clone(), &[], true).await.unwrap(), Placed::Order(bob));
}

/// A hundred thousand prizes are drawn from a few hundred chunks.
#[tokio::test]
async fn a_chunk_of_entries_is_read_once_in_a_run() {
    let lab = Lab::selling(lottery(70, &[1, 69])).await;
    enter(&lab, 70).await;
    end(&lab).await;
    lab.calls.take();
    assert_eq!(draw_in(&lab, AFTER_S).await, stands(DrawStands::Drawn));
    let reads = lab.calls.take().into_iter().filter(|call| {
        let key = call.body["Key"]["pk"]["S"].as_str().unwrap_or_default();
        call.target.ends_with("GetItem") && key.starts_with("ENTRIES#")
    });
    assert_eq!(reads.count(), 1);
    assert_eq!(drawn_once(&lab).await, 70, "also the prizes of the second note");
}

/// Redis has a reservation as ordered, but the ledger does not have its order: the index lags, or reconciliation has
/// yet to repair it.
#[tokio::test]
async fn entries_that_redis_knows_and_the_ledger_does_not_are_waited_for_a_quarter_of_an_hour() {
    let lab = Lab::selling(lottery(10, &[1])).await;
    lab.buy("alice").await;
    let bob = lab.reserve("bob").await;
    assert!(lab.stock.round(&bob.id.round).confirm(&bob).await.unwrap());
    assert_eq!(lab.reservation_state(&bob).await, ReservationState::Ordered);
    end(&lab).await;
    assert_eq!(draw_in(&lab, AFTER_S).await, stands(DrawStands::Entering));
    assert_eq!(draw_in(&lab, AFTER_S + 600).await, stands(DrawStands::Entering));
    assert_eq!(draw_in(&lab, AFTER_S + RESTORED_S).await, stands(DrawStands::Counting));
    assert_eq!(draw_in(&lab, AFTER_S + RESTORED_S + 600).await, stands(DrawStands::Counting));
    assert_eq!(draw_in(&lab, AFTER_S + 2 * RESTORED_S).await, stands(DrawStands::Drawn));
    assert_eq!(orders(&lab).await.iter().filter(|order| order.award.is_some()).count(), 1);
}

/// Entries during the rush are not checked against the draw, which is a single item.
#[tokio::test]
async fn an_entry_in_the_rush_costs_what_any_order_costs() {
    let lab = Lab::selling(lottery(10, &[1])).await;
    lab.buy("alice").await;
    let bob = lab.reserve("bob").await;
    let order = lab.order();
    order::handle(&order, message_batch([&lab.reserve("carol").await])).await;
    lab.calls.take();
    assert!(order::handle(&order, message_batch([&bob])).await.batch_item_failures.is_empty());
    let targets = lab.calls.take_targets();
    assert_eq!(targets.len(), 1, "{targets:?}");
    assert!(targets[0].ends_with("TransactWriteItems"), "{targets:?}");
}

/// Everything public follows from the seed and the entries, and none of it is out before the entries have closed.
#[tokio::test]
async fn what_is_public_checks_the_draw_and_comes_in_order() {
    let path = format!("/v1/sales/{SALE}/rounds/1/draw");
    let lab = Lab::selling(lottery(20, &[1, 2])).await;
    enter(&lab, 5).await;
    // A new process each time, so that none answers from memory.
    let draw = async || shown(&lab.catalog(), &path).await;
    let entries = async |chunk: &str| lab.catalog().answer(&Ask::get(format!("{path}/entries/{chunk}"))).await;
    let is_hidden = async || {
        let draw = draw().await.body;
        assert_eq!((&draw["at_end"], draw.get("seed")), (&json!({ "state": "open" }), None));
        entries("0").await.problem(404, "unknown_sale");
    };
    is_hidden().await;
    let commitment = draw().await.body["commitment"].clone();
    end(&lab).await;
    // The round has been over for more than a minute and is not drawn yet.
    let id = lab.round().await.id;
    rounds::change(&lab.ledger, &id, |round| round.terms.closes_at_ms.0 -= 120_000).await;
    is_hidden().await;
    assert!(lab.ledger.fence_draw(&lab.round().await, now()).await.unwrap().is_some());
    is_hidden().await;

    assert_eq!(draw_in(&lab, AFTER_S).await, stands(DrawStands::Drawn));
    let drawn = draw().await;
    assert_eq!(drawn.header("cache-control"), "public, max-age=0, s-maxage=86400");
    let (drawn, listed) = (drawn.body, shown(&lab.catalog(), &format!("{path}/entries/0")).await);
    assert_eq!(listed.header("cache-control"), "public, max-age=0, s-maxage=86400");
    let closed = &drawn["at_end"]["closed"];
    assert_eq!((&drawn["at_end"]["state"], &closed["entries"]), (&json!("drawn"), &json!(5)));
    let orders = orders(&lab).await;
    let leaves = leaves(&orders);
    let hex = |bytes: award::Bytes32| award::Hex(&bytes).to_string();
    assert_eq!(closed["root"], json!(hex(merkle::root(&leaves))));
    let hashes: Vec<String> = leaves.iter().map(|leaf| hex(merkle::leaf_hash(leaf))).collect();
    let units: Vec<u32> = orders.iter().map(|order| order.reservation.unit.0).collect();
    assert_eq!(listed.body, json!({ "chunk": 0, "units": units, "leaves": hashes }));
    let seed = award::Seed(award::bytes32(drawn["seed"].as_str().unwrap()).unwrap());
    let table = lab.round().await.terms.plan().unwrap().values(&seed).unwrap();
    assert_eq!(award::commit(SALE, 1, &seed, &award::digest(&table)).to_string(), commitment);
    let winners = award::winners(&[1, 2], 5, &award::shuffle_key(&seed, None));
    let winners: Vec<Value> = winners.map(|(entry, prize)| json!({ "prize": prize, "entry": entry })).collect();
    assert_eq!(closed["winners"], json!(winners));

    entries("1").await.problem(404, "unknown_sale");
    entries("99999").await.problem(404, "unknown_sale");
    for bad in ["00", "-1", "x", "4294967296"] {
        entries(bad).await.problem(400, "invalid_request");
    }
}
