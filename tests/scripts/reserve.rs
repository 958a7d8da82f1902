use crate::prelude::*;

#[tokio::test]
async fn units_are_handed_out_in_order_until_none_is_left() {
    let round = TestRound::start(terms(3, 1)).await;
    for unit in 1..=3 {
        let reservation = round.buy(&user(unit)).await;
        assert_eq!((reservation.unit, reservation.slot), (Unit(unit), Slot(0)));
        assert_eq!(round.stored(&reservation).await, Some(held(&reservation)));
    }
    assert!(matches!(round.reserve(&user("late")).await, Reserve::SoldOut(_)));
    let view = round.view().await;
    assert_eq!((view.counters.free(), view.reservations.len(), view.outbox), (0, 3, 3));
}

#[tokio::test]
async fn the_same_id_gets_the_same_answer() {
    let round = TestRound::start(terms(3, 2)).await;
    let alice = user("alice");
    let reservation = round.buy(&alice).await;
    assert_eq!(round.reserve_as(&reservation.id, &alice).await, Reserve::Replayed(held(&reservation)));
    round.buy(&alice).await;
    assert_eq!(round.reserve_as(&reservation.id, &alice).await, Reserve::Replayed(held(&reservation)));
    let view = round.view().await;
    assert_eq!((view.counters.free(), view.reservations.len(), view.outbox), (1, 2, 2));
}

#[tokio::test]
async fn three_per_person() {
    let round = TestRound::start(terms(9, 3)).await;
    let alice = user("alice");
    let mut reservations = Vec::new();
    for slot in 0..3 {
        let reservation = round.buy(&alice).await;
        assert_eq!(reservation.slot, Slot(slot));
        reservations.push(held(&reservation));
    }
    assert_eq!(round.reserve(&alice).await, Reserve::AlreadyReserved(reservations));
    round.buy(&user("bob")).await;
    assert_eq!(round.view().await.counters.free(), 5);
}

#[tokio::test]
async fn who_has_one_hears_so_even_when_sold_out() {
    let round = TestRound::start(terms(1, 1)).await;
    let alice = user("alice");
    let reservation = round.buy(&alice).await;
    assert_eq!(round.reserve(&alice).await, Reserve::AlreadyReserved(vec![held(&reservation)]));
    assert_eq!(round.reserve_as(&reservation.id, &alice).await, Reserve::Replayed(held(&reservation)));
    assert!(matches!(round.reserve(&user("bob")).await, Reserve::SoldOut(_)));
}

#[tokio::test]
async fn below_the_limit_sold_out_is_sold_out() {
    let round = TestRound::start(terms(1, 2)).await;
    round.buy(&user("alice")).await;
    assert!(matches!(round.reserve(&user("alice")).await, Reserve::SoldOut(_)));
}

#[tokio::test]
async fn a_round_that_is_not_there_is_unknown() {
    let round = TestRound::start(terms(1, 1)).await;
    let other = fresh_id(&tests::round("chair", 1));
    assert_eq!(round.reserve_as(&other, &user("alice")).await, Reserve::UnknownSale);
    let next_round = fresh_id(&tests::round("lamp", 2));
    assert_eq!(round.reserve_as(&next_round, &user("alice")).await, Reserve::UnknownSale);
}

/// The exact boundary: this replaces the script's call of TIME by a fixed time.
#[tokio::test]
async fn the_window_is_half_open() {
    let round = TestRound::start(terms(1000, 1)).await;
    let counters = round.view().await.counters;
    let code = |now: EpochMs| {
        let text = stock::expanded::RESERVE.replace(
            "local time = redis.call('TIME')",
            &format!("local time = {{'{}', '{:06}'}}", now.0 / 1000, now.0 % 1000 * 1000),
        );
        assert!(text.contains("local time = {"));
        let keys = ["sale", "buyers", "free", "outbox"].map(|key| format!("{key}:{{lamp:1:0}}"));
        let id = fresh_id(&round.id).uuid.as_simple().to_string();
        let redis = round.redis();
        async move {
            let mut redis = redis.await;
            let mut eval = redis::cmd("EVAL");
            let answer: String =
                eval.arg(text).arg(4).arg(&keys[..]).arg(&[&*id, &id, "0", "0"]).query_async(&mut redis).await.unwrap();
            answer.split(' ').next().unwrap().to_owned()
        }
    };
    let at = |moment: EpochMs, ms: i64| EpochMs(moment.0 + ms);
    assert_eq!(code(at(counters.opens_at_ms, -1)).await, "not_open");
    assert_eq!(code(counters.opens_at_ms).await, "reserved");
    assert_eq!(code(at(counters.closes_at_ms, -1)).await, "reserved");
    assert_eq!(code(counters.closes_at_ms).await, "closed");
}

#[tokio::test]
async fn paused_is_paused() {
    let round = TestRound::start(terms(2, 1)).await;
    let reservation = round.buy(&user("alice")).await;
    let _: usize = round.redis().await.setrange("sale:{lamp:1:0}", 23, &[1u8]).await.unwrap();
    assert_eq!(round.reserve(&user("bob")).await, Reserve::Paused);
    assert_eq!(round.reserve_as(&reservation.id, &user("alice")).await, Reserve::Replayed(held(&reservation)));
    let _: usize = round.redis().await.setrange("sale:{lamp:1:0}", 23, &[0u8]).await.unwrap();
    round.buy(&user("bob")).await;
}

#[tokio::test]
async fn a_flushed_script_cache_goes_unnoticed() {
    let round = TestRound::start(terms(3, 1)).await;
    let reservation = round.buy(&user("alice")).await;
    let flush = || async {
        let _: () = redis::cmd("SCRIPT").arg("FLUSH").query_async(&mut round.redis().await).await.unwrap();
    };
    flush().await;
    round.buy(&user("bob")).await;
    flush().await;
    assert!(round.confirm(&reservation).await);
}

#[tokio::test]
async fn every_key_leaves_with_the_round() {
    let round = TestRound::start(terms(3, 1)).await;
    let reservation = round.buy(&user("alice")).await;
    round.buy(&user("bob")).await;
    round.release(&reservation).await;
    let mut redis = round.redis().await;
    let expires_at = round.view().await.counters.expires_at_ms.0;
    let keys: Vec<String> = redis.keys("*").await.unwrap();
    assert_eq!(keys.len(), 4, "{keys:?}");
    for key in keys {
        let expires: i64 = redis::cmd("PEXPIRETIME").arg(&key).query_async(&mut redis).await.unwrap();
        assert_eq!(expires, expires_at, "{key}");
    }
}

/// Longer than a function waits, and no longer than a busy machine may hold a server up.
const HELD_UP: Duration = Duration::from_millis(1500);

/// Otherwise tests of the scripts would fail on a busy machine.
#[tokio::test]
async fn a_test_waits_for_a_redis_that_is_held_up() {
    let round = TestRound::start(terms(1, 1)).await;
    let mut redis = round.redis().await;
    round.valkey.stop().unwrap();
    let going_on = async {
        tokio::time::sleep(HELD_UP).await;
        round.valkey.resume().unwrap();
    };
    let alice = user("alice");
    let reserving = round.stock().reserve(Uuid::now_v7(), &alice, sale::BuyerClass::EVERYONE);
    let (answer, asked, ()) = tokio::join!(reserving, redis.exists::<_, bool>("sale:{lamp:1:0}"), going_on);
    assert!(matches!(answer, Ok(Reserve::Reserved(_))), "{answer:?}");
    assert_eq!(asked, Ok(true));
}

/// The old connection is lost. The first call notices and reconnects.
#[tokio::test]
async fn a_redis_that_was_replaced_answers_the_next_call() {
    let mut round = TestRound::start(terms(3, 1)).await;
    round.buy(&user("alice")).await;
    round.valkey.kill_and_restart().unwrap();
    assert_eq!(round.reserve(&user("bob")).await, Reserve::UnknownSale);
}

#[tokio::test]
async fn a_redis_that_is_away_is_an_error_and_not_an_answer() {
    let mut round = TestRound::start(terms(3, 1)).await;
    round.buy(&user("alice")).await;
    round.valkey.kill_and_restart().unwrap();
    // The connection is lost: the first calls may fail, but any answer must be the empty server's.
    let mut answers = Vec::new();
    while answers.is_empty() {
        answers.extend(round.stock().reserve(Uuid::now_v7(), &user("bob"), sale::BuyerClass::EVERYONE).await.ok());
    }
    assert_eq!(answers, [Reserve::UnknownSale]);
    let nobody = Stock::new("redis://127.0.0.1:1").unwrap();
    assert!(nobody.round(&round.id).reserve(Uuid::now_v7(), &user("bob"), sale::BuyerClass::EVERYONE).await.is_err());
}

/// A failover can leave the count of returned units above what the set has.
#[tokio::test]
async fn a_count_that_is_too_high_stops_nobody() {
    let round = TestRound::start(terms(2, 1)).await;
    let first = round.buy(&user("alice")).await;
    round.release(&first).await;
    let () = round.redis().await.del("free:{lamp:1:0}").await.unwrap();
    assert_eq!(round.buy(&user("bob")).await.unit, Unit(2));
    assert!(matches!(round.reserve(&user("carol")).await, Reserve::SoldOut(_)));
    assert_eq!(round.view().await.counters.returned, 0);
}
