//! Records what a test's clients ask and hear.

use history::Asking;

use crate::prelude::*;

/// Records that a client sends this request now. None if such requests are not recorded.
fn begin(recorder: &Recorder, ask: &Ask) -> Option<Asking> {
    let user = match &ask.who {
        Who::User(user) => user,
        // The payment provider.
        Who::Nobody => "",
        Who::Operator(_) => return None,
    };
    let key = ask.headers.iter().find(|(name, _)| *name == "idempotency-key").map(|(_, key)| &**key);
    let asked = history::Request { method: ask.method, path: &ask.path, key, body: &ask.body };
    recorder.send(asked, user, ask.pass.as_ref().map_or(1, |pass| pass.round))
}

fn heard(asking: Option<Asking>, status: u16, body: &[u8]) {
    if let Some(asking) = asking {
        asking.hears_http(status, body);
    }
}

/// Records a request and its answer. There is none if the function dies.
pub(crate) async fn recorded_answer(
    recorder: &Recorder,
    ask: &Ask,
    answer: impl Future<Output = Option<Answer>>,
) -> Option<Answer> {
    let asking = begin(recorder, ask);
    let answer = answer.await?;
    heard(asking, answer.status, answer.body.to_string().as_bytes());
    Some(answer)
}

/// Has a function answer a request, and records both.
pub(crate) async fn recorded(
    recorder: &Recorder,
    ask: &Ask,
    answer: impl Future<Output = Response<Body>>,
) -> Response<Body> {
    let asking = begin(recorder, ask);
    let response = answer.await;
    heard(asking, response.status().as_u16(), response.body());
    response
}

/// Asks a reservation function in this process, and records it.
pub(crate) async fn ask_reservation(recorder: &Recorder, deps: &reservation::ReservationDeps, ask: &Ask) -> Answer {
    let response = recorded(recorder, ask, reservation::handle(deps, ask.request())).await;
    Answer::of_handler(ask, response)
}
