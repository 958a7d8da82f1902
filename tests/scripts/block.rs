use runtime::Clock;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::prelude::*;

fn in_ms(ms: i64) -> EpochMs {
    EpochMs(clock().0 + ms)
}

async fn note(round: &TestRound, name: &str, until: Option<EpochMs>) -> bool {
    round.stock().note_blocks(&[(user(name), until)]).await.unwrap()
}

async fn record(round: &TestRound, name: &str) -> Option<String> {
    round.redis().await.hget("buyers:{lamp:1:0}", name).await.unwrap()
}

#[tokio::test]
async fn a_note_keeps_out_until_it_is_removed() {
    let round = TestRound::start(terms(9, 1)).await;
    for _ in 0..2 {
        assert!(note(&round, "eve", Some(in_ms(60_000))).await);
    }
    assert_eq!(round.reserve(&user("eve")).await, Reserve::Blocked);
    assert_eq!(visitor(&round, "eve").guess().await, Admit::Blocked);
    assert_eq!(visitor(&round, "alice").guess().await, Admit::NoChallenge);
    for key in ["buyers:{lamp:1:0}", "blocked:{lamp:1:0}"] {
        let left_ms: i64 = round.redis().await.pttl(key).await.unwrap();
        assert!(left_ms > 0, "{key} must expire with the round");
    }
    for _ in 0..2 {
        assert!(note(&round, "eve", None).await);
    }
    assert_eq!(record(&round, "eve").await, None);
    round.buy(&user("eve")).await;
    assert!(!note(&TestRound::start_empty(), "eve", None).await);
}

/// Blocked users would otherwise be the only ones who may send as much as they like.
#[tokio::test]
async fn a_blocked_user_meets_the_rates() {
    let round = TestRound::start(terms(9, 1)).await;
    assert!(note(&round, "eve", Some(in_ms(60_000))).await);
    let eve = Visitor { per_user: ONE, ..visitor(&round, "eve") };
    assert_eq!(eve.guess().await, Admit::Blocked);
    let second = eve.guess().await;
    assert!(matches!(second, Admit::RateLimited { .. }), "{second:?}");
}

/// A look at a round counts its buyers and then reads them. A block that ends in between takes a record away.
#[tokio::test]
async fn a_block_that_ends_during_a_look_is_no_fault() {
    let round = TestRound::start(terms(9, 1)).await;
    round.buy(&user("alice")).await;
    assert!(note(&round, "eve", Some(in_ms(60_000))).await);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("redis://{}", listener.local_addr().unwrap());
    let through = Stock::at(&url, Clock::system().patient()).unwrap();
    let between = async {
        let (mut client, _) = listener.accept().await.unwrap();
        let mut server =
            TcpStream::connect(round.valkey.url().trim_start_matches("redis://").trim_end_matches("/")).await.unwrap();
        let (mut asked, mut answered, mut is_scanned) = ([0; 4096], [0; 65536], false);
        loop {
            tokio::select! {
                length = client.read(&mut asked) => {
                    let command = &asked[..length.unwrap()];
                    if !is_scanned && command.windows(5).any(|word| word == b"HSCAN") {
                        is_scanned = true;
                        assert!(note(&round, "eve", None).await);
                    }
                    server.write_all(command).await.unwrap();
                }
                length = server.read(&mut answered) => client.write_all(&answered[..length.unwrap()]).await.unwrap(),
            }
        }
    };
    let view = tokio::select! {
        view = through.round(&round.id).view() => view.unwrap().unwrap(),
        () = between => unreachable!(),
    };
    assert_eq!((view.reservations.len(), view.counters.free()), (1, 8));
}

#[tokio::test]
async fn who_is_blocked_after_buying_keeps_it_and_hears_of_it() {
    let round = TestRound::start(terms(9, 2)).await;
    let reservation = round.buy(&user("eve")).await;
    note(&round, "eve", Some(in_ms(60_000))).await;
    assert_eq!(round.reserve_as(&reservation.id, &user("eve")).await, Reserve::Replayed(held(&reservation)));
    assert_eq!(round.reserve(&user("eve")).await, Reserve::Blocked);
    assert_eq!(round.view().await.reservations, [held(&reservation)]);
    note(&round, "eve", None).await;
    round.buy(&user("eve")).await;
}

#[tokio::test]
async fn a_note_that_is_over_goes_with_the_next_reservation() {
    let round = TestRound::start(terms(9, 2)).await;
    note(&round, "eve", Some(in_ms(-1))).await;
    assert_eq!(visitor(&round, "eve").guess().await, Admit::NoChallenge);
    let is_noted = async || record(&round, "eve").await.unwrap().split(';').any(|part| part.starts_with("b "));
    assert!(is_noted().await);
    round.buy(&user("eve")).await;
    assert!(!is_noted().await);
}

#[tokio::test]
async fn a_note_is_no_reservation() {
    let round = TestRound::start(terms(1, 1)).await;
    note(&round, "eve", Some(in_ms(-1))).await;
    round.buy(&user("alice")).await;
    assert!(matches!(visitor(&round, "eve").guess().await, Admit::SoldOut(_)), "a note does not make her a buyer");
}

#[tokio::test]
async fn notes_survive_when_reservations_are_rewritten() {
    let round = TestRound::start(terms(9, 1)).await;
    let until = in_ms(60_000);
    let noted = async |name: &str| record(&round, name).await.unwrap().contains(&format!("b {}", until.0));

    let reservation = round.buy(&user("confirmed")).await;
    note(&round, "confirmed", Some(until)).await;
    round.confirm(&reservation).await;
    assert!(noted("confirmed").await);
    round.release(&reservation).await;
    assert!(noted("confirmed").await);

    note(&round, "adopted", Some(until)).await;
    let order = round.fresh_reservation(&user("adopted"), 7, 0);
    let before = round.view().await.counters.last_won_at_ms;
    assert!(round.stock().adopt(&order).await.unwrap());
    assert!(noted("adopted").await);
    assert!(round.view().await.counters.last_won_at_ms > before, "a user with only a note is a buyer now");

    let reservation = round.buy(&user("reseated")).await;
    note(&round, "reseated", Some(until)).await;
    assert!(matches!(round.stock().reseat(&reservation, stock::Refused::Unit).await.unwrap(), Reseated::To(_)));
    assert!(noted("reseated").await);
}

#[tokio::test]
async fn thousands_of_notes_are_noted_and_read() {
    let round = TestRound::start(terms(9, 1)).await;
    let until = in_ms(60_000);
    let all: Vec<_> = (0..2_500).map(|number| (user(number), Some(until))).collect();
    round.stock().note_blocks(&all).await.unwrap();
    assert_eq!(round.stock().noted_blocks().await.unwrap().len(), 2_500);
    assert!(round.view().await.reservations.is_empty());
    round.buy(&user("alice")).await;
}

/// The process that loads a round may die right afterwards, so reconciliation must find the loaded notes.
#[tokio::test]
async fn a_round_is_loaded_with_its_blocks_in_one_step() {
    let round = TestRound::start_empty();
    let until = EpochMs(4_000_000_000_000);
    round.stock().load(&RoundLoad { blocked: vec![(user("eve"), until)], ..unsold(terms(9, 1)) }).await.unwrap();
    assert_eq!(round.reserve(&user("eve")).await, Reserve::Blocked);
    let noted = round.stock().noted_blocks().await.unwrap();
    assert_eq!(noted.into_iter().collect::<Vec<_>>(), [(user("eve"), until)]);
    assert_eq!(keys_like(&round, "staged*").await, [""; 0]);
}
