//! The process behind `make up`: it runs Valkey, the emulator and the page, and restarts a Valkey that dies.

use std::io::Read;
use std::net::Ipv4Addr;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::deployment::Deployment;
use crate::gateway::{Concurrency, Gateway, MAX_TIMEOUT};
use crate::process::{Kept, Port, ProcessRun, tail};
use crate::running::{Ports, log, running};
use crate::web::WebServer;
use crate::{emulator, valkey};

const POLL: Duration = Duration::from_millis(100);
const VALKEY_START_TIMEOUT: Duration = Duration::from_secs(30);
/// The pause before a new Valkey. It doubles up to the longest while each one dies within [`SETTLED`].
const SHORTEST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// A Valkey that has lived this long started well.
const SETTLED: Duration = Duration::from_secs(10);
/// What `up` writes when everything is deployed and can be served.
pub(crate) const DEPLOYED: u8 = b'd';
/// What `up` writes when it is done. If it ends before that, so does everything else.
pub(crate) const STAY: u8 = b'y';

/// The variable with the id of a process that everything ends with: a test, which may be killed before it says `down`.
const LIVES_WITH: &str = "LIVES_WITH";

/// Starts Valkey and the emulator, serves the page once `up` has deployed, and keeps everything running until this
/// process is ended. All ports are reserved or bound from the start, or other programs could take them. Everything ends
/// when this is dropped, or with this process, even by `kill -9`.
pub async fn supervise(ports: Ports) -> Result<()> {
    let (gateway_port, web_port) = (take(ports.gateway, "the gateway").await?, take(ports.web, "the page").await?);
    let _reserved = [Port::reserve(ports.valkey)?, Port::reserve(ports.emulator)?];
    let valkey = keep_valkey(ports.valkey);
    let emulator = keep_emulator(ports);
    let (deployed, stay) = told();
    let front = async {
        deployed.await.context("`up` ended before everything was deployed")?;
        let (deployment, issuer) = running()?;
        let Deployment { endpoint, home, .. } = &deployment;
        let gateway = Gateway::start_within(MAX_TIMEOUT, gateway_port, endpoint, home, Concurrency::FAST).await?;
        let web = WebServer::start_on(web_port, &deployment, issuer, gateway.served())?;
        tokio::select! {
            ended = gateway.ended() => ended,
            ended = web.ended() => ended,
        }
    };
    let abandoned = async {
        match stay.await {
            Ok(()) => std::future::pending().await,
            Err(_) => bail!("`up` ended before it was done"),
        }
    };
    let companion = async {
        let Ok(id) = std::env::var(LIVES_WITH) else { std::future::pending().await };
        if let Some(process) = ProcessRun::of(id.parse().with_context(|| format!("{LIVES_WITH} is no process: {id}"))?)
        {
            process.ended().await;
        }
        Ok(())
    };
    tokio::select! {
        ended = front => ended,
        ended = abandoned => ended,
        ended = companion => ended,
        ended = emulator => ended,
        ended = valkey => ended,
    }
}

async fn take(port: u16, whose: &str) -> Result<TcpListener> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await;
    listener.with_context(|| format!("another program has just taken port {port}, meant for {whose}"))
}

/// What `up` writes to the pipe, in order.
fn told() -> (oneshot::Receiver<()>, oneshot::Receiver<()>) {
    let ((tell_deployed, deployed), (tell_stay, stay)) = (oneshot::channel(), oneshot::channel());
    // A separate thread: the runtime would wait for a blocked one of its own before the program could end.
    std::thread::spawn(move || {
        for (expected, tell) in [(DEPLOYED, tell_deployed), (STAY, tell_stay)] {
            let mut byte = [0];
            if std::io::stdin().read_exact(&mut byte).is_err() || byte != [expected] {
                return;
            }
            let _ = tell.send(());
        }
    });
    (deployed, stay)
}

async fn keep_emulator(ports: Ports) -> Result<()> {
    let log = log("emulator");
    // Removed when the process has ended.
    let home = emulator::Home::make(ports.emulator)?;
    let command = emulator::command(ports.emulator, ports.valkey, home.path())?;
    let mut process = Kept::start("ministack", &command, &log)?;
    while !process.has_ended()? {
        tokio::time::sleep(POLL).await;
    }
    bail!("the emulator ended; the end of {}:\n{}", log.display(), tail(&log));
}

/// Starts Valkey, and restarts it each time it dies: empty and at the same address, as ElastiCache replaces a node.
async fn keep_valkey(port: u16) -> Result<()> {
    let mut pause = SHORTEST_PAUSE;
    let mut started = Instant::now();
    let mut process = start_valkey(port).await?;
    loop {
        while !process.has_ended()? {
            tokio::time::sleep(POLL).await;
        }
        pause = if started.elapsed() < SETTLED { (pause * 2).min(LONGEST_PAUSE) } else { SHORTEST_PAUSE };
        tokio::time::sleep(pause).await;
        started = Instant::now();
        let now = runtime::Clock::system().now();
        match start_valkey(port).await {
            Ok(another) => {
                process = another;
                eprintln!("{now} Valkey died; an empty one now has its port {port}");
            }
            Err(error) => eprintln!("{now} Valkey died and does not start again: {error:#}"),
        }
    }
}

async fn start_valkey(port: u16) -> Result<Kept> {
    let log = log("valkey");
    let mut process = Kept::start("valkey", &valkey::command(port)?, &log)?;
    let deadline = Instant::now() + VALKEY_START_TIMEOUT;
    while !valkey::is_ready(&log) {
        if process.has_ended()? || Instant::now() >= deadline {
            bail!("the end of {}:\n{}", log.display(), tail(&log));
        }
        tokio::time::sleep(POLL).await;
    }
    Ok(process)
}
