//! Lotteries drawn at their end: entries, the draw, and the notification of winners.

use messaging::queue;

use super::flow::{Flow, flow, open};
use super::purchase::all_end_as;
use super::world::World;
use crate::beacons::{believing, lottery_with_beacon, named, post, posting, signature};
use crate::lotteries::{AFTER_S, drawn_once, end, lottery, winner_messages};
use crate::prelude::*;
use crate::winning::with_gifts;

pub(super) const FLOWS: &[Flow] = &[
    flow!(
        "entry of a lottery that may be late",
        ["GetItem", "TransactWriteItems", "EVALSHA confirm"],
        prepare = |lab| open(lab, lottery(5, &[1, 1]), &[], &["alice"]),
        run = |_, world, reserved| async move {
            order::handle(&world.start_in(30, order::OrderDeps::new), message_batch(reserved)).await;
        },
        end = |lab, reserved| all_end_as(lab, reserved, OrderState::Granted),
    ),
    flow!(
        "draw of a lottery",
        ["Query", "GetItem", "UpdateItem", "PutItem", "TransactWriteItems", "SendMessage"],
        prepare = |lab| entered(lab, lottery(5, &[1, 1])),
        run = |_, world, _| draw_it(world),
        again = |lab, _| async {
            assert_eq!(draw::handle(&lab.draw_in(AFTER_S)).await.unwrap().failed, 0);
        },
        end = |lab, _| async {
            let prizes = drawn_once(lab).await;
            // Some messages are sent twice; none is missing.
            let mut told = winner_messages(lab).await;
            told.dedup();
            assert_eq!(told, (1..=prizes).collect::<Vec<_>>());
        },
    ),
    flow!(
        "beacon of a draw",
        ["GetItem", "PutItem"],
        prepare = |lab| async {
            let reserved = entered(lab, lottery_with_beacon(5, &[1, 1])).await;
            assert_eq!(draw::handle(&lab.draw_in(AFTER_S)).await.unwrap().failed, 0);
            reserved
        },
        run = |lab, world, _| async {
            let ask = posting(&signature(named(lab).await));
            admin::handle(&believing(world.start(admin::AdminDeps::new)), ask.request()).await;
        },
        again = |lab, _| async {
            post(lab).await;
        },
        end = |lab, _| async {
            assert_eq!(draw::handle(&lab.draw_in(AFTER_S)).await.unwrap().drawn, 1);
            drawn_once(lab).await;
        },
    ),
    flow!(
        "draw of a lottery with a beacon",
        ["Query", "GetItem", "UpdateItem", "PutItem"],
        prepare = |lab| entered(lab, lottery_with_beacon(5, &[1, 1])),
        run = |_, world, _| draw_it(world),
        again = |lab, _| async {
            let stands = draw::handle(&lab.draw_in(AFTER_S)).await.unwrap().draws.into_values().next();
            assert_eq!(stands, Some("AwaitingBeacon".to_owned()));
        },
        end = |lab, _| async {
            // However the run ended, one drand round is named and stays.
            let named = named(lab).await;
            post(lab).await;
            assert_eq!(draw::handle(&lab.draw_in(AFTER_S)).await.unwrap().drawn, 1);
            assert_eq!((self::named(lab).await, drawn_once(lab).await), (named, 2));
        },
    ),
    flow!(
        "notification of winners",
        ["GetItem", "UpdateItem"],
        prepare = |lab| async {
            let reserved = entered(lab, lottery(5, &[1, 1])).await;
            assert_eq!(draw::handle(&lab.draw_in(AFTER_S)).await.unwrap().drawn, 1);
            reserved
        },
        run = |lab, world, _| async {
            let settings = with_gifts(lab).await;
            let deps = world.start(|context| winners::WinnersDeps::new(&with_settings(context, settings)));
            winners::handle(&deps, all_prizes()).await;
        },
        again = |lab, _| async {
            let settings = with_gifts(lab).await;
            let deps = winners::WinnersDeps::new(&with_settings(&lab.another_process(), settings)).unwrap();
            assert!(winners::handle(&deps, all_prizes()).await.batch_item_failures.is_empty());
        },
        end = |lab, _| async {
            let prizes = drawn_once(lab).await;
            for position in 1..=prizes {
                let winner = lab.ledger.winner(&lab.round().await.id, position).await.unwrap().unwrap();
                assert!(winner.notified_at_ms.is_some(), "{winner:?}");
            }
        },
    ),
];

fn with_settings(context: &Context, settings: Settings) -> Context {
    Context::new(settings, context.aws().clone(), Clock::system())
}

/// Three entries, and the end.
async fn entered(lab: &Lab, terms: Terms) -> Vec<Reservation> {
    let reserved = open(lab, terms, &["alice", "bob", "carol"], &[]).await;
    end(lab).await;
    reserved
}

async fn draw_it(world: &World) {
    let _ = draw::handle(&world.start_in(AFTER_S, draw::DrawDeps::new)).await;
}

fn all_prizes() -> SqsEvent {
    let id = tests::round(SALE, 1);
    events::batch([1, 2].map(|position| queue::WinnerMessage::new(id.clone(), position).to_body()))
}
