//! Records what a test's clients ask and hear.

use crate::prelude::*;

/// Records a request and its answer, unless operators ask. There is none if the function dies.
pub(crate) async fn recorded_answer(
    recorder: &Recorder,
    ask: &Ask,
    answer: impl Future<Output = Option<Answer>>,
) -> Option<Answer> {
    let user = match &ask.who {
        Who::User(user) => user,
        // The payment provider.
        Who::Nobody => "",
        Who::Operator(_) => return answer.await,
    };
    let key = ask.header_value("idempotency-key");
    let asked = history::Request { method: ask.method, path: &ask.path, key, body: &ask.body };
    let asking = recorder.send(asked, user, ask.pass.as_ref().map_or(1, |pass| pass.round));
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
