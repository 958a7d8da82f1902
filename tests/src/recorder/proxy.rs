use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use axum::body::{Body, Bytes, to_bytes};
use axum::http::HeaderMap;
use axum::response::Response;
use local::upstream::{Upstream, target};
use model::Guards;
use redis::Value;

use super::redis::{Held, effect, is_modelled};
use super::{Run, aws};
use crate::resp::{Connection, length_of_value};

/// Larger than any answer of a small run.
const MAX_ANSWER_BYTES: usize = 1 << 20;

/// Changes to one run's scripts and DynamoDB requests. This is how a test mutates a function.
#[derive(Debug, Clone, Default)]
pub struct Mutants {
    /// Replacement texts of scripts, by name.
    pub scripts: BTreeMap<String, String>,
    /// Replacements in requests to DynamoDB: old text and new text.
    pub requests: Vec<(String, String)>,
}

/// What proxies do that record a run's traffic.
pub struct Recorded {
    run: Run,
    mutants: Mutants,
    staged: Mutex<Guards>,
}

impl Run {
    pub fn recorded(&self, mutants: &Mutants) -> Recorded {
        Recorded { run: self.clone(), mutants: mutants.clone(), staged: Mutex::default() }
    }
}

impl Recorded {
    pub(crate) async fn ask_redis(&self, kind: &str, command: &[u8], redis: &mut Connection) -> Option<Vec<u8>> {
        let words: Vec<String> = redis::from_redis_value(redis::parse_redis_value(command).ok()?).unwrap_or_default();
        let script = kind.split_once(' ').map_or("", |(_, script)| script);
        if is_modelled(script) { self.run_script(redis, script, words).await } else { redis.ask(command).await }
    }

    pub(crate) async fn ask_aws(&self, aws: &Upstream, mut headers: HeaderMap, body: Bytes) -> Option<Response> {
        let text = String::from_utf8_lossy(&body).into_owned();
        let body = Bytes::from(self.mutants.requests.iter().fold(text, |text, (from, to)| text.replace(from, to)));
        let (recorder, target) = (&self.run.recorder, target(&headers).to_owned());
        let from = recorder.moment();
        // Its length may have changed.
        headers.remove("content-length");
        let (parts, answer) = aws.pass(&headers, body.clone()).await.ok()?.into_parts();
        let answer = to_bytes(answer, MAX_ANSWER_BYTES).await.ok()?;
        let json = |bytes: &Bytes| serde_json::from_slice::<serde_json::Value>(bytes).unwrap_or_default();
        let (request, said, is_ok) = (json(&body), json(&answer), parts.status.is_success());
        let effect = aws::effect(&target, &request, &said, is_ok, &recorder.0.queues, &mut recorder.names());
        if let Some(effect) = effect {
            self.run.did(from, effect, None);
        }
        Some(Response::from_parts(parts, Body::from(answer)))
    }

    /// Runs a script and reads what Redis holds after it, in one step.
    async fn run_script(&self, redis: &mut Connection, script: &str, mut words: Vec<String>) -> Option<Vec<u8>> {
        let Self { run, mutants, staged } = self;
        if let Some(text) = mutants.scripts.get(script) {
            "EVAL".clone_into(&mut words[0]);
            text.clone_into(&mut words[1]);
        }
        let keys: usize = words.get(2)?.parse().ok()?;
        let arguments: Vec<&str> = words.get(3 + keys..)?.iter().map(String::as_str).collect();
        let tag = words.get(3).and_then(|key| Some(&key[key.find('{')?..]))?.to_owned();
        let mut command = redis::cmd(&words[0]);
        command.arg(&words[1..]);
        let mut pipe = redis::pipe();
        pipe.atomic().add_command(command);
        Held::reads(&mut pipe, &tag);
        let from = run.recorder.moment();
        // MULTI's answer, and one QUEUED for the script and for each read.
        redis.ask(&pipe.get_packed_pipeline()).await?;
        for _ in 0..=Held::READS {
            redis.read().await?;
        }
        let all = redis.read().await?;
        let head = all.windows(2).position(|pair| pair == b"\r\n")? + 2;
        let answer = all[head..head + length_of_value(&all[head..])?].to_vec();
        if let Ok(Value::Array(values)) = redis::parse_redis_value(&all)
            && let Some(held) = Held::of(&values[1..])
            && let Ok(said) = redis::from_redis_value_ref::<String>(&values[0])
        {
            let mut staged = staged.lock().unwrap_or_else(PoisonError::into_inner);
            let effect = effect(script, &arguments, &said, &held, &mut run.recorder.names(), &mut staged);
            if let Some((effect, redis)) = effect {
                run.did(from, effect, Some(redis));
            }
        }
        Some(answer)
    }
}
