use api::{Code, Problem, Reply, json};
use http::header::CACHE_CONTROL;
use http::{HeaderValue, StatusCode};
use lambda_http::{Body, Response};
use sale::SaleId;

use crate::deps::WaitingRoomDeps;
use crate::of_round::line_of;
use crate::tracked;

/// Everybody gets the same document and may keep it for a second. If the function fails, a line up to half a minute old
/// is better than none: users whom it admits stay admitted.
const KEEP: HeaderValue = HeaderValue::from_static("public, max-age=1, stale-if-error=30");
/// A million people poll every two seconds. If something fails too, one answer has to serve them all.
const KEEP_PROBLEM: HeaderValue = HeaderValue::from_static("public, max-age=0, s-maxage=1");

/// The response, success or problem. Shared caches may keep it.
pub(crate) fn respond(reply: Reply) -> Response<Body> {
    reply.unwrap_or_else(|problem| {
        let mut response = problem.into_response();
        response.headers_mut().insert(CACHE_CONTROL, KEEP_PROBLEM);
        response
    })
}

pub(crate) async fn get_line(deps: &WaitingRoomDeps, sale: &str) -> Reply {
    let id: SaleId = sale.parse()?;
    let mut snapshot = deps.snapshots.of(&id).await.map_err(Problem::unanswered)?;
    if snapshot.sale(&id).is_none() {
        snapshot = Box::pin(deps.snapshots.lately(&id)).await.map_err(Problem::unanswered)?;
    }
    let known = snapshot.sale(&id).filter(|known| !known.round.terms.gate.is_hidden());
    let round = &known.ok_or_else(|| Problem::new(Code::UnknownSale))?.round;
    let line = line_of(round)?;
    let is_held_up = line.paused || round.paused || snapshot.kill_switches.is_stopped(&id) || round.awaits_beacon();
    let per_s = if is_held_up { 0 } else { line.admits_per_s };
    let document = Box::pin(tracked::look_at(deps, round, line, per_s)).await?;
    let mut response = json(StatusCode::OK, &*document);
    response.headers_mut().insert(CACHE_CONTROL, KEEP);
    Ok(response)
}
