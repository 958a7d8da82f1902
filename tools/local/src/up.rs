//! A local cloud that keeps running after the command that started it.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use sale::{Allocation, Goods, Parts, Rain, RoundId, RoundNumber, Steady, UserId};

use crate::client::{Answer, Client, NewSale};
use crate::deployment::{Deployment, deploy};
use crate::identity::Issuer;
use crate::process::{Ended, Port, accepts, loopback, start_detached, tail};
use crate::running::{NOTHING_RUNS, Ports, Running, api, file, issuer, log, running};
use crate::setup::set_up;
use crate::stack::STACK;
use crate::stages::Stage;
use crate::supervisor::{DEPLOYED, STAY};
use crate::synthesis;
use crate::web;
use crate::{emulator, paths};

const POLL: Duration = Duration::from_millis(50);
const START_TIMEOUT: Duration = Duration::from_secs(120);
/// How long everything may take to end before it is killed: longer than the supervisor gives each part.
const END_TIMEOUT: Duration = Duration::from_secs(25);
/// The sale that commands use by default.
const SALE: &str = "lamp";
const SALE_OPEN_S: i64 = 7 * 24 * 60 * 60;
const PAYMENT_WINDOW_S: u32 = 900;
const LAMP: &str = "Enamelled steel, 38 cm across, with two metres of braided cable and a bayonet socket.\n\
                    Made in batches of a hundred. A bulb is not included.";
const KETTLE: &str = "kettle";
const KETTLES: u32 = 20;
const KETTLES_LEFT: u32 = 2;

fn environment_file() -> PathBuf {
    paths::state().join("up.env")
}

/// Starts everything, or prints where it is running. Builds the functions first, unless they are `built`.
pub async fn up(built: bool) -> Result<()> {
    let _alone = lock()?;
    if let Some(running) = Running::read()? {
        if let Some(deployment) = running.deployment.as_ref().filter(|_| running.supervisor.is_running()) {
            eprintln!("already running");
            return explain(&running.page_url(), deployment, &issuer(&running, deployment)?);
        }
        end()?;
    }
    if !built {
        set_up()?;
    }
    let unfinished = Unfinished;
    start().await?;
    std::mem::forget(unfinished);
    Ok(())
}

/// What is being started. Dropping it ends it, for example after an interrupt.
struct Unfinished;

impl Drop for Unfinished {
    fn drop(&mut self) {
        // It may have failed, or been interrupted, before anything was started. The actual error follows.
        if file().exists()
            && let Err(error) = end()
        {
            eprintln!("{error:#}");
        }
    }
}

async fn start() -> Result<()> {
    let stage = Stage::spinner("Starting Valkey and the emulator");
    // They stay reserved until everything runs; the supervisor reserves those of its processes itself.
    let reserved = [Port::free()?, Port::free()?, Port::free()?, Port::free()?];
    let [valkey, emulator, gateway, web] = reserved.each_ref().map(Port::number);
    let ports = Ports { valkey, emulator, gateway, web };
    let mut command = Command::new(this_program()?);
    command.arg("supervise");
    for (option, port) in [("--valkey", valkey), ("--emulator", emulator), ("--gateway", gateway), ("--web", web)] {
        command.arg(option).arg(port.to_string());
    }
    let (supervisor, mut input) = start_detached("supervisor", &mut command, &log("supervisor"))?;
    let mut running = Running { supervisor, ports, issuer_key_pem: String::new(), deployment: None };
    running.write()?;
    let ready = || accepts(ports.valkey) && emulator::is_ready(&log("emulator"));
    // Synthesizing takes a while, too.
    tokio::try_join!(wait_until(&running, ready, "Valkey or the emulator"), synthesis::prepare())?;
    stage.done(format!("ports {} and {}", ports.valkey, ports.emulator));

    let stage = Stage::spinner("Deploying infra/cdk");
    let endpoint = loopback(ports.emulator);
    let issuer = Issuer::publish(&endpoint).await?;
    let mut deployment = deploy(&endpoint, issuer.url(), &emulator::home_of(ports.emulator)).await?;
    deployment.api_url = loopback(ports.gateway);
    issuer.private_key_pem().clone_into(&mut running.issuer_key_pem);
    running.deployment = Some(deployment.clone());
    running.write()?;
    let mut environment = environment(&deployment, issuer.url());
    environment.push(("SHOP_URL", running.page_url()));
    let exports = environment.iter().map(|(name, value)| format!("export {name}={value}\n"));
    std::fs::write(environment_file(), exports.collect::<String>())
        .with_context(|| format!("cannot write {}", environment_file().display()))?;
    stage.done(&deployment.emulator_api_url);

    let stage = Stage::spinner("Starting the gateway");
    input.write_all(&[DEPLOYED])?;
    // Both have had their ports all along, so accepting connections proves nothing. The page is served last.
    let client = reqwest::Client::new();
    let served = async {
        while client.get(running.page_url()).send().await.is_err() {
            tokio::time::sleep(POLL).await;
        }
    };
    tokio::select! {
        () = served => {}
        failed = wait_until(&running, || false, "the gateway or the web server") => failed?,
    }
    stage.done(&deployment.api_url);

    open_sales(&deployment, &issuer).await?;

    input.write_all(&[STAY])?;
    explain(&running.page_url(), &deployment, &issuer)
}

/// Opens five sales: open, opening soon, almost sold out, a red packet, and one whose units come over time.
async fn open_sales(deployment: &Deployment, issuer: &Issuer) -> Result<()> {
    let stage = Stage::spinner("Opening five sales");
    let client = Client::for_operator(&deployment.api_url, issuer)?;
    let sale = |id, opens_in_s, units| NewSale::opening_in(id, opens_in_s, SALE_OPEN_S, units, PAYMENT_WINDOW_S);
    let lamp = Goods {
        description: LAMP.to_owned(),
        pictures: vec!["/art/lamp.svg".parse()?],
        list_price_minor: Some(1490),
        terms_url: None,
    };
    let packet = Allocation::Split { total_minor: 10_000, min_minor: 1, parts: Parts::Drawn, beacon: false };
    let drops = Rain { at_once: 5, steady: Some(Steady { units: 3, every_s: 60 }), ..Rain::default() };
    let sales = [
        NewSale { goods: lamp, ..sale(SALE, 0, 100) },
        sale("chair", 120, 50).titled("Bentwood chair"),
        sale(KETTLE, 0, KETTLES).titled("Whistling kettle"),
        sale("packet", 0, 100).titled("Red packet").free(packet),
        NewSale { rain: Some(drops), ..sale("lantern", 0, 600).titled("Paper lantern") },
    ];
    for sale in &sales {
        client.open_sale(sale).await?;
        client.show_sale(sale).await?;
    }
    deployment.invoke(&deployment.warmup_function).await?;
    stage.done("lamp: 100 units; chair: opens in two minutes; kettle: almost sold out; packet: 100.00 EUR in 100 parts; lantern: 3 more each minute");

    let stage = Stage::spinner("Selling most of the kettles");
    let key = deployment.payment_key().await?;
    let selling = (0..KETTLES - KETTLES_LEFT).map(|n| {
        let (client, key) = (&client, &key);
        async move {
            let user: UserId = format!("early-{n:02}").parse()?;
            let round = RoundId { sale: KETTLE.parse()?, number: RoundNumber(1) };
            let (token, pass) = (issuer.token(user.as_str())?, deployment.seal_pass(&user, &round).await?);
            match client.reserve(&token, KETTLE, &pass, "early").await {
                Answer::Reserved(id) => {
                    client.ordered(&token, &id).await?;
                    client.pay(key, &id, &format!("pay-{user}")).await
                }
                refused => bail!("no kettle: {refused:?}"),
            }
        }
    });
    futures::future::try_join_all(selling).await?;
    stage.done(format!("{KETTLES_LEFT} of {KETTLES} are left"));
    Ok(())
}

/// Building the functions may have rebuilt this program; the kernel then marks the old one as deleted.
pub(crate) fn this_program() -> Result<String> {
    let program = std::env::current_exe()?;
    let program = program.to_str().context("the program's path is not UTF-8")?;
    Ok(program.trim_end_matches(" (deleted)").to_owned())
}

async fn wait_until(running: &Running, ready: impl Fn() -> bool, what: &str) -> Result<()> {
    let deadline = Instant::now() + START_TIMEOUT;
    while !ready() {
        if !running.supervisor.is_running() || Instant::now() >= deadline {
            let log = log("supervisor");
            bail!("{what} does not start; the end of {}:\n{}", log.display(), tail(&log));
        }
        tokio::time::sleep(POLL).await;
    }
    Ok(())
}

pub fn down() -> Result<()> {
    let _alone = lock()?;
    end()
}

/// Two concurrent ones would each start a system, and only one would be recorded.
fn lock() -> Result<File> {
    let path = paths::usable_state()?.join("up.lock");
    let file = File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
    file.try_lock().context("another `make up` or `make down` is running")?;
    Ok(file)
}

fn end() -> Result<()> {
    let Some(running) = Running::read()? else {
        eprintln!("nothing is running");
        return Ok(());
    };
    let how = running.supervisor.end(END_TIMEOUT)?;
    // A supervisor that ends in order has waited for everything and removed the emulator's home, and somebody else may have
    // got its ports since. If it died, its own listeners ended with it, and its processes end by themselves a little later.
    let home = emulator::home_of(running.ports.emulator);
    let left = if how == Ended::Asked && !home.exists() { None } else { still_answers(running.ports) };
    let _ = std::fs::remove_dir_all(home);
    let _ = std::fs::remove_file(environment_file());
    std::fs::remove_file(file())?;
    if let Some((whose, port)) = left {
        let who = format!("`ss -Hltnp sport = :{port}` says who has it");
        bail!("port {port} of {whose} still answers, though everything else of `make up` has ended; {who}");
    }
    if how == Ended::Before {
        eprintln!("what `make up` started was no longer running");
    } else {
        eprintln!("stopped Valkey, the emulator and the page");
    }
    Ok(())
}

/// Waits until the processes beside the supervisor are gone, and names one that is not, and its port.
fn still_answers(Ports { valkey, emulator, .. }: Ports) -> Option<(&'static str, u16)> {
    let answers = || [("Valkey", valkey), ("the emulator", emulator)].into_iter().find(|(_, port)| accepts(*port));
    let deadline = Instant::now() + END_TIMEOUT;
    let mut left = answers();
    while left.is_some() && Instant::now() < deadline {
        std::thread::sleep(POLL);
        left = answers();
    }
    left
}

pub fn sign_token(user: &UserId, operator: bool) -> Result<String> {
    let (_, issuer) = running()?;
    if operator { issuer.operator_token(user.as_str()) } else { issuer.token(user.as_str()) }
}

/// A pass for a user of the running cloud, like one that the gate gives for an answered challenge.
pub async fn seal_pass(user: &UserId, round: &RoundId) -> Result<String> {
    let (client, deployment, _) = api()?;
    client.ensure_round(round).await?;
    deployment.seal_pass(user, round).await
}

pub(crate) fn pages(sale: &str) -> Result<(String, String)> {
    let shop = Running::read()?.context(NOTHING_RUNS)?.page_url();
    let operators = web::operators_url(&shop, sale);
    Ok((shop, operators))
}

fn explain(page_url: &str, deployment: &Deployment, issuer: &Issuer) -> Result<()> {
    let api = &deployment.api_url;
    println!("Shop       {page_url}");
    println!("Operators  {}", web::operators_url(page_url, SALE));
    println!("API        {api}");
    if let Some(push_url) = &deployment.push_url {
        println!("Push       {push_url}?token=…");
    }
    println!("AWS        {}   (any credentials, region {})", deployment.endpoint, emulator::REGION);
    println!("Redis      {}", deployment.redis_url);
    println!("\nBuy a lamp, then look at your orders:\n");
    println!("  TOKEN={}", issuer.token("alice")?);
    println!("  curl -X POST -H \"authorization: Bearer $TOKEN\" {api}/v1/sales/{SALE}/reservations/$(./flash pass)");
    println!("  curl -H \"authorization: Bearer $TOKEN\" {api}/v1/orders");
    println!("\nOr: ./flash buy --user bob, ./flash crowd, ./flash load --url {api}");
    println!("\nThe functions' settings are in {}. Stop it with `make down`.", environment_file().display());
    Ok(())
}

/// The API's address, and the environment that functions need outside the emulator, as in `cargo lambda watch`.
pub(crate) fn environment(deployment: &Deployment, issuer_url: &str) -> Vec<(&'static str, String)> {
    let Deployment { endpoint, redis_url, table, .. } = deployment;
    let push_endpoint = deployment.push_url.as_deref().unwrap_or_default().replacen("ws", "http", 1);
    let settings = [
        ("API_URL", deployment.api_url.as_str()),
        ("AWS_ENDPOINT_URL", endpoint.as_str()),
        ("AWS_ACCESS_KEY_ID", emulator::ACCESS_KEY),
        ("AWS_SECRET_ACCESS_KEY", emulator::ACCESS_KEY),
        ("AWS_REGION", emulator::REGION),
        ("REDIS_URL", redis_url),
        ("TABLE_NAME", table),
        ("METRICS_NAMESPACE", STACK),
        ("ORDERS_QUEUE_URL", &deployment.orders_queue_url),
        ("ORDERS_DLQ_URL", &deployment.orders_dlq_url),
        ("EXPIRY_DLQ_URL", &deployment.expiry_dlq_url),
        ("EXPIRY_QUEUE_URL", &deployment.expiry_queue_url),
        ("REBUILDS_QUEUE_URL", &deployment.rebuilds_queue_url),
        ("QUARANTINE_QUEUE_URL", &deployment.quarantine_queue_url),
        ("WINNERS_QUEUE_URL", &deployment.winners_queue_url),
        ("WINNERS_DLQ_URL", &deployment.winners_dlq_url),
        ("WINNER_SECRET_ARN", &deployment.winner_secret),
        ("EVENT_BUS_NAME", &deployment.event_bus),
        ("EMITTER_FAILURES_QUEUE_URL", &deployment.emitter_failures_queue_url),
        ("WEBHOOK_QUEUE_URL", &deployment.webhook_queue_url),
        ("WEBHOOK_DLQ_URL", &deployment.webhook_dlq_url),
        ("WEBHOOK_SECRET_ARN", &deployment.webhook_secret),
        ("PAYMENT_SECRET_ARN", &deployment.payment_secret),
        ("PASS_SECRET_ARN", &deployment.pass_secret),
        ("OPERATOR_CLAIM", "groups"),
        ("OPERATOR_GROUP", crate::identity::OPERATORS),
        ("PUSH_ENDPOINT", &push_endpoint),
        ("JWT_ISSUER", issuer_url),
        ("JWT_AUDIENCE", crate::identity::AUDIENCE),
    ];
    settings.map(|(name, value)| (name, value.to_owned())).to_vec()
}
