//! Lotteries drawn at their end: entries, the draw, and the notification of winners.

use messaging::queue;

use super::flow::{Flow, nobody, open};
use super::purchase::all_end_as;
use super::world::World;
use crate::beacons::{believing, lottery_with_beacon, named, post, posting, signature};
use crate::lotteries::{AFTER_S, drawn_once, end, lottery, winner_messages};
use crate::prelude::*;
use crate::winning::with_gifts;

pub(super) const FLOWS: &[Flow] = &[
    Flow {
        name: "entry of a lottery that may be late",
        effects: &["GetItem", "TransactWriteItems", "EVALSHA confirm"],
        prepare: |lab| Box::pin(open(lab, lottery(5, &[1, 1]), &[], &["alice"])),
        run: |_, world, reserved| {
            Box::pin(async {
                let batch = message_batch(&reserved.iter().collect::<Vec<_>>());
                order::handle(&world.order_in(30), batch).await;
            })
        },
        again: nobody,
        end: |lab, reserved| Box::pin(all_end_as(lab, reserved, OrderState::Granted)),
    },
    Flow {
        name: "draw of a lottery",
        effects: &["Query", "GetItem", "UpdateItem", "PutItem", "TransactWriteItems", "SendMessage"],
        prepare: |lab| Box::pin(entered(lab, lottery(5, &[1, 1]))),
        run: |_, world, _| Box::pin(draw_it(world)),
        again: |lab, _| {
            Box::pin(async {
                assert_eq!(draw::handle(&lab.draw_in(AFTER_S)).await.unwrap().failed, 0);
            })
        },
        end: |lab, _| {
            Box::pin(async {
                let prizes = drawn_once(lab).await;
                // Some messages are sent twice; none is missing.
                let mut told = winner_messages(lab).await;
                told.sort_unstable();
                told.dedup();
                assert_eq!(told, (1..=prizes).collect::<Vec<_>>());
            })
        },
    },
    Flow {
        name: "beacon of a draw",
        effects: &["GetItem", "PutItem"],
        prepare: |lab| Box::pin(awaiting_beacon(lab)),
        run: |lab, world, _| {
            Box::pin(async {
                let ask = posting(&signature(named(lab).await));
                admin::handle(&believing(world.start(admin::AdminDeps::new)), ask.request()).await;
            })
        },
        again: |lab, _| {
            Box::pin(async {
                post(lab).await;
            })
        },
        end: |lab, _| {
            Box::pin(async {
                assert_eq!(draw::handle(&lab.draw_in(AFTER_S)).await.unwrap().drawn, 1);
                drawn_once(lab).await;
            })
        },
    },
    Flow {
        name: "draw of a lottery with a beacon",
        effects: &["Query", "GetItem", "UpdateItem", "PutItem"],
        prepare: |lab| Box::pin(entered(lab, lottery_with_beacon(5, &[1, 1]))),
        run: |_, world, _| Box::pin(draw_it(world)),
        again: |lab, _| {
            Box::pin(async {
                let stands = draw::handle(&lab.draw_in(AFTER_S)).await.unwrap().draws.into_values().next();
                assert_eq!(stands, Some("AwaitingBeacon".to_owned()));
            })
        },
        end: |lab, _| {
            Box::pin(async {
                // However the run ended, one drand round is named and stays.
                let named = named(lab).await;
                post(lab).await;
                assert_eq!(draw::handle(&lab.draw_in(AFTER_S)).await.unwrap().drawn, 1);
                assert_eq!((self::named(lab).await, drawn_once(lab).await), (named, 2));
            })
        },
    },
    Flow {
        name: "notification of winners",
        effects: &["GetItem", "UpdateItem"],
        prepare: |lab| {
            Box::pin(async {
                let reserved = entered(lab, lottery(5, &[1, 1])).await;
                assert_eq!(draw::handle(&lab.draw_in(AFTER_S)).await.unwrap().drawn, 1);
                reserved
            })
        },
        run: |lab, world, _| {
            Box::pin(async {
                let settings = with_gifts(lab).await;
                let deps = world.start(|context| winners::WinnersDeps::new(&with_settings(context, settings)));
                winners::handle(&deps, all_prizes()).await;
            })
        },
        again: |lab, _| {
            Box::pin(async {
                let settings = with_gifts(lab).await;
                let deps = winners::WinnersDeps::new(&with_settings(&lab.another_process(), settings)).unwrap();
                assert!(winners::handle(&deps, all_prizes()).await.batch_item_failures.is_empty());
            })
        },
        end: |lab, _| {
            Box::pin(async {
                let prizes = drawn_once(lab).await;
                for position in 1..=prizes {
                    let winner = lab.ledger.winner(&lab.round().await.id, position).await.unwrap().unwrap();
                    assert!(winner.notified_at_ms.is_some(), "{winner:?}");
                }
            })
        },
    },
];

fn with_settings(context: &Context, settings: Settings) -> Context {
    Context::new(settings, context.aws().clone(), Clock::system())
}

/// A draw whose entries are closed and whose beacon is not posted.
async fn awaiting_beacon(lab: &Lab) -> Vec<Reservation> {
    let reserved = entered(lab, lottery_with_beacon(5, &[1, 1])).await;
    assert_eq!(draw::handle(&lab.draw_in(AFTER_S)).await.unwrap().failed, 0);
    reserved
}

/// Three entries, and the end.
async fn entered(lab: &Lab, terms: Terms) -> Vec<Reservation> {
    let reserved = open(lab, terms, &["alice", "bob", "carol"], &[]).await;
    end(lab).await;
    reserved
}

async fn draw_it(world: &World) {
    let _ = draw::handle(&world.draw_in(AFTER_S)).await;
}

fn all_prizes() -> aws_lambda_events::sqs::SqsEvent {
    let id = tests::round(SALE, 1);
    events::batch([1, 2].map(|position| queue::WinnerMessage::new(id.clone(), position).to_body()))
}
