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
    let key = ask.header_value("idempotency-key");
    let asked = history::Request { method: ask.method, path: &ask.path, key, body: &ask.body };
    recorder.send(asked, user, ask.pass.as_ref().map_or(1, |pass| pass.round))
}

/// Records a request and its answer. There is none if the function dies.
pub(crate) async fn recorded_answer(
    recorder: &Recorder,
    ask: &Ask,
    answer: impl Future<Output = Option<Answer>>,
) -> Option<Answer> {
    let asking = begin(recorder, ask);
    let answer = answer.await?;
    if let Some(asking) = asking {
        asking.hears_http(answer.status, answer.body.to_string().as_bytes());
    }
    Some(answer)
}

/// Asks a function in this process, and records it.
pub(crate) async fn ask_function(recorder: &Recorder, deps: &impl Handler, ask: &Ask) -> Answer {
    recorded_answer(recorder, ask, async { Some(deps.answer(ask).await) }).await.expect("it does not die")
}
