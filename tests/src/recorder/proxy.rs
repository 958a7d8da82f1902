use std::collections::BTreeMap;
use std::future::pending;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::http::HeaderMap;
use axum::response::Response;
use model::Guards;
use redis::Value;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::redis::{Call, Held};
use super::{Run, aws};
use crate::fault_proxy::{kind_of, listen};
use crate::forward::{Upstream, target};
use crate::resp::{length_of_value, read_value};
use crate::{Fault, FaultProxy};

/// Larger than any answer of a small run.
const MAX_ANSWER_BYTES: usize = 1 << 20;

/// Changes to one run's scripts and DynamoDB requests. This is how a test mutates a function.
#[derive(Debug, Clone, Default)]
pub struct Mutants {
    /// Replacement texts of scripts, by name.
    pub scripts: BTreeMap<String, String>,
    /// Replacements in requests to DynamoDB: old text and new text.
    pub requests: Vec<(String, String)>,
    /// The names of scripts of which a changed program has another text, by the digests of those texts.
    pub digests: BTreeMap<String, String>,
}

impl Mutants {
    /// The kind of a command. A script keeps its name, whatever its text.
    fn kind_of(&self, command: &[u8]) -> Option<String> {
        let kind = kind_of(command)?;
        let renamed = kind.split_once(' ').and_then(|(name, digest)| Some((name, self.digests.get(digest)?)));
        Some(renamed.map_or_else(|| kind.clone(), |(name, script)| format!("{name} {script}")))
    }
}

/// Proxies that record their traffic, each for one run.
pub struct RecordedProxy;

/// The state of one run's proxy.
struct Recorded {
    run: Run,
    fault: Arc<Fault>,
    mutants: Mutants,
    staged: Mutex<Guards>,
}

impl RecordedProxy {
    /// A proxy in front of the Redis at `upstream`.
    pub async fn redis(upstream: SocketAddr, run: &Run, fault: &Arc<Fault>, mutants: &Mutants) -> FaultProxy {
        let (listener, address) = listen().await;
        let (run, fault, mutants) = (run.clone(), Arc::clone(fault), mutants.clone());
        let recorded = Arc::new(Recorded { run, fault, mutants, staged: Mutex::default() });
        let task = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let recorded = Arc::clone(&recorded);
                tokio::spawn(async move { pass_commands(client, upstream, &recorded).await });
            }
        });
        FaultProxy::of(address, task)
    }

    /// A proxy in front of the AWS emulator at `upstream`.
    pub async fn aws(upstream: &str, run: &Run, fault: &Arc<Fault>, mutants: &Mutants) -> FaultProxy {
        let (listener, address) = listen().await;
        let upstream = Arc::new(Upstream::new(upstream));
        let (run, fault, mutants) = (run.clone(), Arc::clone(fault), mutants.clone());
        let answer = async move |headers: HeaderMap, body: Bytes| {
            let target = target(&headers).to_owned();
            let kind = target.rsplit('.').next().unwrap_or_default().to_owned();
            let body = mutants.requests.iter().fold(body, |body, (from, to)| replaced(&body, from, to));
            match fault.pass(kind, passed(&upstream, &headers, &target, body, &run)).await {
                Some(answer) => answer,
                None => pending().await,
            }
        };
        let routes = Router::new().fallback(answer);
        let task = tokio::spawn(async move { drop(axum::serve(listener, routes).await) });
        FaultProxy::of(address, task)
    }
}

fn replaced(body: &Bytes, from: &str, to: &str) -> Bytes {
    match std::str::from_utf8(body) {
        Ok(text) if text.contains(from) => text.replace(from, to).into(),
        _ => body.clone(),
    }
}

async fn passed(upstream: &Upstream, headers: &HeaderMap, target: &str, body: Bytes, run: &Run) -> Option<Response> {
    let recorder = &run.recorder;
    let from = recorder.moment();
    // Its length may have changed.
    let mut headers = headers.clone();
    headers.remove("content-length");
    let (parts, answer) = upstream.pass(&headers, body.clone()).await.ok()?.into_parts();
    let answer = to_bytes(answer, MAX_ANSWER_BYTES).await.ok()?;
    let json = |bytes: &Bytes| serde_json::from_slice::<serde_json::Value>(bytes).unwrap_or_default();
    let (request, said) = (json(&body), json(&answer));
    let effect =
        aws::effect(target, &request, &said, parts.status.is_success(), &recorder.0.queues, &mut recorder.names());
    if let Some(effect) = effect {
        run.did(from, effect, None);
    }
    Some(Response::from_parts(parts, Body::from(answer)))
}

/// Passes one command at a time.
async fn pass_commands(mut client: TcpStream, upstream: SocketAddr, recorded: &Recorded) -> Option<()> {
    let mut upstream = TcpStream::connect(upstream).await.ok()?;
    let (mut asked, mut answered) = (Vec::new(), Vec::new());
    loop {
        let command = read_value(&mut client, &mut asked).await?;
        let kind = recorded.mutants.kind_of(&command)?;
        let words: Vec<String> = redis::from_redis_value(redis::parse_redis_value(&command).ok()?).unwrap_or_default();
        let script = kind.split_once(' ').map_or("", |(_, script)| script);
        let effect = async {
            match Call::of(script, &words) {
                Some(call) => run_script(&mut upstream, &mut answered, &call, script, words, recorded).await,
                None => {
                    upstream.write_all(&command).await.ok()?;
                    read_value(&mut upstream, &mut answered).await
                }
            }
        };
        let answer = recorded.fault.pass(kind.clone(), effect).await?;
        client.write_all(&answer).await.ok()?;
    }
}

/// Runs a script and reads what Redis holds after it, in one step.
async fn run_script(
    upstream: &mut TcpStream,
    answered: &mut Vec<u8>,
    call: &Call,
    script: &str,
    mut words: Vec<String>,
    Recorded { run, mutants, staged, .. }: &Recorded,
) -> Option<Vec<u8>> {
    if let Some(text) = mutants.scripts.get(script) {
        "EVAL".clone_into(&mut words[0]);
        text.clone_into(&mut words[1]);
    }
    let tag = words.get(3).and_then(|key| Some(&key[key.find('{')?..]))?.to_owned();
    let mut command = redis::cmd(&words[0]);
    command.arg(&words[1..]);
    let mut pipe = redis::pipe();
    pipe.atomic().add_command(command);
    let reads = Held::commands(&tag);
    let within = 1 + reads.len();
    for read in reads {
        pipe.add_command(read);
    }
    let from = run.recorder.moment();
    upstream.write_all(&pipe.get_packed_pipeline()).await.ok()?;
    // MULTI's answer, and one QUEUED for each command.
    for _ in 0..1 + within {
        read_value(upstream, answered).await?;
    }
    let all = read_value(upstream, answered).await?;
    let head = all.windows(2).position(|pair| pair == b"\r\n")? + 2;
    let answer = all[head..head + length_of_value(&all[head..])?].to_vec();
    if let Ok(Value::Array(values)) = redis::parse_redis_value(&all)
        && let Some(held) = Held::of(&values[1..])
        && let Ok(said) = redis::from_redis_value_ref::<String>(&values[0])
    {
        let mut staged = staged.lock().unwrap_or_else(PoisonError::into_inner);
        let effect = call.effect(&said, &held, &mut run.recorder.names(), &mut staged);
        if let Some((effect, redis)) = effect {
            run.did(from, effect, Some(redis));
        }
    }
    Some(answer)
}
