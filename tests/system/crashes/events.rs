//! Events for the merchant's systems: milestones of rounds, events on the bus, and events sent to an address.

use axum::http::StatusCode;

use super::flow::{Flow, flow, open};
use crate::events::received;
use crate::merchant_events::{Tape, hold_to_schemas};
use crate::prelude::*;
use crate::webhooks::{Conduct, listening, message};

pub(super) const FLOWS: &[Flow] = &[
    flow!(
        "milestones of a round",
        ["BatchGetItem", "PutItem"],
        prepare = |lab| open(lab, terms(4, 1), &[], &[]),
        run = |_, world, _| async {
            let _ = reconciliation::handle(&world.start(sending_at_once)).await;
        },
        again = |lab, _| async {
            assert_eq!(lab.reconcile().await.failed, 0);
        },
        end = |lab, _| async {
            let id = tests::round(SALE, 1);
            let noted = lab.ledger.noted_rounds([&id]).await.unwrap().remove(&id).flatten().unwrap().milestones;
            assert_eq!((noted.opened_at_ms.is_some(), noted.sold_out_times), (true, 0));
        },
    ),
    flow!(
        "events of a batch",
        ["PutEvents", "SendMessage"],
        prepare = |lab| open(lab, terms(4, 1), &["alice", "bob"], &[]),
        run = |lab, world, _| async {
            emitter::handle(&world.start(emitter::EmitterDeps::new), batch(lab).await).await;
        },
        end = |lab, reserved| every_event_is_heard(lab, reserved),
    ),
    flow!(
        "event that the merchant's address does not take",
        ["GetSecretValue", "ChangeMessageVisibility"],
        prepare = |lab| async {
            let none = open(lab, terms(4, 1), &[], &[]).await;
            lab.send("webhook", message()).await;
            none
        },
        run = |lab, world, _| async {
            let (_, address) = listening(lab, &[Conduct::Answers(StatusCode::BAD_GATEWAY)]).await;
            let messages = lab.receive("webhook").await;
            let settings = lab.settings().with("WEBHOOK_URL", address);
            let deps = world.start(|context| {
                let sqs = context.sqs()?;
                let context = Context::new(settings, context.aws().clone(), Clock::system());
                webhook::WebhookDeps::new(&context.with(sqs))
            });
            webhook::handle(&deps, received(&messages)).await;
        },
        end = // However the run ended, SQS still has the message and delivers it again.
        |lab, _| async {
            assert_eq!(lab.depth("webhook").await.iter().sum::<u32>(), 1);
        },
    ),
];

/// The stream of the lab's table, with an unreadable record in front.
async fn batch(lab: &Lab) -> runtime::StreamEvent {
    let mut tape = Tape::empty();
    tape.roll(lab).await;
    let mut batch = tape.batch();
    let poison = crate::events::sample("emitter/with_poison");
    batch.records.insert(0, poison["Records"][0].clone());
    batch
}

/// The stream delivers the batch again, because it was not acknowledged.
async fn every_event_is_heard(lab: &Lab, reserved: &[Reservation]) {
    let mut merchant = lab.merchant().await;
    assert_eq!(emitter::handle(&lab.emitter(), batch(lab).await).await.batch_item_failures.len(), 0);
    let heard = merchant.hears().await;
    hold_to_schemas(heard);
    let ids: BTreeSet<&str> = heard.iter().filter_map(|event| event["reservation_id"].as_str()).collect();
    for Reservation { id, .. } in reserved {
        assert!(ids.contains(&*id.to_string()), "the merchant got no event of {id}");
    }
    let kept = lab.receive("emitter_failures").await.len();
    assert!((1..=2).contains(&kept), "the unreadable record was kept {kept} times");
}
