//! Sends winners of a draw who were not notified because there was no gift service then.

use api::{Code, Problem, Reply, json, json_body};
use futures::{TryStreamExt, stream};
use http::StatusCode;
use lambda_http::Request;
use messaging::queue::{QueueError, WinnerMessage, WinnerQueue};
use sale::RoundId;
use serde::{Deserialize, Serialize};

use crate::deps::AdminDeps;

/// How many prizes a request looks at: ten reads of the ledger and as many messages, which take a few seconds.
const MOST: u32 = 1_000;
const AT_ONCE: usize = 16;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct After {
    after: u32,
}

/// How many were sent, and after which prize the next request continues if there are more.
#[derive(Serialize)]
struct ResentDocument {
    sent: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_after: Option<u32>,
}

/// Puts winners who were not notified on the queue again. Winners who have been notified meanwhile are skipped.
pub(crate) async fn resend(deps: &AdminDeps, request: &Request, sale: &str, round: &str) -> Reply {
    let After { after } = json_body(request)?;
    let id = RoundId { sale: sale.parse()?, number: round.parse()? };
    let draw = deps.ledger.draw(&id).await.map_err(Problem::unanswered)?;
    let no_draw = || Problem::new(Code::UnknownSale).detail("the round has no winners");
    let awarded = draw.ok_or_else(no_draw)?.awarded;
    let last = after.saturating_add(MOST).min(awarded);
    let winners = deps.ledger.winners(&id, after.saturating_add(1)..=last).await.map_err(Problem::unanswered)?;
    let waiting = winners.into_iter().filter(|(_, winner)| winner.notified_at_ms.is_none());
    let messages: Vec<WinnerMessage> = waiting.map(|(position, _)| WinnerMessage::new(id.clone(), position)).collect();
    let sent = messages.len();
    let queue = WinnerQueue::new(deps.sqs.clone(), &*deps.queues.winners, deps.clock);
    let messages = stream::iter(messages.into_iter().map(Ok::<_, QueueError>));
    let sending = messages.try_for_each_concurrent(AT_ONCE, |message| {
        let queue = queue.clone();
        async move { queue.send(&message).await }
    });
    sending.await.map_err(Problem::unanswered)?;
    tracing::warn!(sale_id = %id.sale, round = id.number.0, after, last, sent, "winners are queued for notification again");
    Ok(json(StatusCode::OK, &ResentDocument { sent, next_after: (last < awarded).then_some(last) }))
}
