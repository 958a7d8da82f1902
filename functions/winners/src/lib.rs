//! Notifies the winners of draws: reports each to the merchant's gift service, at a limited rate. A message that fails
//! comes back, and becomes a dead letter in the end, which an operator can send back. So no winner is lost; one may be
//! reported twice, with the same id. A deployment without a gift service notifies nobody, and an operator resends its
//! winners once it has one.
//!
//! Buyers do not depend on this: their orders already show the prize, and `notifier` pushes it to connected ones.

mod pacer;
mod sync;

use std::sync::Arc;

use aws_lambda_events::sqs::{SqsBatchResponse, SqsEvent};
use context::{ContextError, Serving, serve_events};
use ledger::Ledger;
use messaging::queue::WinnerMessage;
use messaging::webhook::WebhookClient;
use process::TermsCache;
use runtime::{Clock, MessageError, each_message};
use sale::{RoundId, ShownAward};
use serde::Serialize;

use crate::pacer::Pacer;

/// How many winners one process reports in a second, unless `WINNERS_PER_S` says otherwise.
const WINNERS_PER_S: u32 = 50;

context::deps! {
    WinnersDeps(context) {
        pub ledger: Ledger = context.ledger()?,
        /// The terms of rounds, which have the names of prizes.
        pub terms: TermsCache = context.terms()?,
        /// The gift service. `None` if the deployment has none: winners then stay to be notified.
        gifts: Option<WebhookClient> =
            WebhookClient::new(context.settings().optional("GIFT_URL"), context.winner_secret()?)
                .map_err(|error| ContextError::unusable("GIFT_URL", error))?,
        pacer: Arc<Pacer> = {
            let per_s = context.number("WINNERS_PER_S", 1..=u32::MAX)?;
            Arc::new(Pacer::per_second(per_s.unwrap_or(WINNERS_PER_S)))
        },
        pub clock: Clock = context.clock(),
    }
}

pub fn run() -> Serving {
    serve_events(WinnersDeps::new, async |deps: &WinnersDeps, event| Ok(handle(deps, event).await))
}

#[derive(Serialize)]
struct Notification<'a> {
    r#type: &'static str,
    timestamp: String,
    data: Data<'a>,
}

#[derive(Serialize)]
struct Data<'a> {
    winner_id: &'a str,
    sale_id: &'a str,
    round: u32,
    /// The number of the prize, from 1.
    position: u32,
    prize: &'a str,
    entry: u32,
    unit: u32,
    reservation_id: String,
    user: &'a str,
}

/// A state that the draw's own writes rule out.
#[derive(Debug, thiserror::Error)]
enum NotWon {
    #[error("prize {1} of round {0} has no winner")]
    Nobody(RoundId, u32),
    #[error("prize {1} of round {0} belongs to an order that does not have it")]
    NotInOrder(RoundId, u32),
}

pub async fn handle(deps: &WinnersDeps, event: SqsEvent) -> SqsBatchResponse {
    each_message(event, |body| notify(deps, body), |_| async {}).await
}

async fn notify(deps: &WinnersDeps, body: String) -> Result<(), MessageError> {
    let message = WinnerMessage::parse(&body)?;
    let (id, position) = (message.round_id(), message.position);
    let nobody = || NotWon::Nobody(id.clone(), position);
    let winner = deps.ledger.winner(&id, position).await?.ok_or_else(nobody)?;
    if winner.notified_at_ms.is_some() {
        return Ok(());
    }
    let order = deps.ledger.order(&winner.order_id).await?.ok_or_else(nobody)?;
    let not_in_order = || NotWon::NotInOrder(id.clone(), position);
    let Some(ShownAward::Prize { prize }) = deps.terms.award_of(&order).await? else {
        return Err(not_in_order().into());
    };
    let Some(gifts) = &deps.gifts else {
        tracing::info!(reservation_id = %winner.order_id, position, prize, "there is no gift service to notify of this winner");
        return Ok(());
    };
    let winner_id = format!("{id}.{position}");
    let data = Data {
        winner_id: &winner_id,
        sale_id: id.sale.as_str(),
        round: id.number.0,
        position,
        prize: &prize,
        entry: winner.entry,
        unit: winner.unit.0,
        reservation_id: winner.order_id.to_string(),
        user: order.reservation.user.as_str(),
    };
    // A service may compare repeated requests under one key, so the time is the same in every attempt.
    let notification = Notification { r#type: "prize.won", timestamp: winner.awarded_at_ms.to_string(), data };
    let body = serde_json::to_string(&notification)?;
    deps.pacer.turn().await;
    gifts.send(&winner_id, body, deps.clock.now()).await?;
    // If the process dies before this, the winner is reported again.
    deps.ledger.note_notified(&id, position, deps.clock.now()).await?;
    tracing::info!(reservation_id = %winner.order_id, position, prize, "winner notified");
    Ok(())
}
