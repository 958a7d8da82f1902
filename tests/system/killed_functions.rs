//! Kills the reservation function's processes with -9 again and again while 5,000 requests arrive.

use load::{Curve, Plan, ProgressLine, Request};
use local::gateway::{Concurrency, Gateway};
use local::recorded;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use pass::Pass;

use crate::histories::passes;
use crate::passes::deployed_ring;
use crate::prelude::*;

const REQUESTS: usize = 5_000;
const UNITS: usize = 200;
/// The requests arrive over this long, which spans several kills.
const OVER: Duration = Duration::from_secs(6);
/// Concurrent retries of the requests that failed.
const AT_ONCE: usize = 16;
const KILL_EVERY: Duration = Duration::from_millis(600);
const FUNCTION: &str = "flash-sale-reservation";
/// Answers allowed while processes die: the sale's own, and the gateway's for a request whose process died.
const DOCUMENTED: [&str; 5] = ["202", "409 sold_out", "500 no_code", "503 no_code", "503 overloaded"];

#[tokio::test(flavor = "multi_thread")]
async fn a_rush_survives_a_function_that_dies_again_and_again() {
    let cloud = cloud().await;
    let shop = Shop::open("killed-functions", json!({ "total": UNITS })).await;
    // Its own processes, so that other tests keep theirs.
    let home = local::paths::state().join(format!("killed-functions-{}", std::process::id()));
    std::fs::create_dir_all(&home).unwrap();
    let gateway = Gateway::start(&cloud.deployment.endpoint, 0, &home, Concurrency::FAST).await.unwrap();

    let names: Vec<String> = (0..REQUESTS).map(|n| format!("killer-{n:05}")).collect();
    let bearers = cloud.issuer.bearers(names.clone()).await.unwrap();
    let (ring, round) = (deployed_ring().await, round(&shop.sale, 1));
    let issued_at_ms = now();
    let requests = bearers.iter().map(|bearer| {
        let pass = Pass { round: round.number, issued_at_ms, class: sale::BuyerClass::EVERYONE };
        let pass = ring.seal(&pass, &round.sale, &bearer.user);
        Request::reserve(&shop.sale, &pass).unwrap().token(&bearer.token).key("first-try")
    });
    let requests: Arc<Vec<Request>> = Arc::new(requests.collect());
    let client = Arc::new(load::Client::new(gateway.url().parse().unwrap()));
    let (recorder, names) = (Recorder::default(), Arc::new(names));

    let plan = Plan::new(REQUESTS, OVER, Curve::Even).unwrap();
    let unheard = Arc::new(Mutex::new(Vec::new()));
    let rush = load::run(&plan, ProgressLine::silent(), |n| {
        let (client, requests, unheard) = (Arc::clone(&client), Arc::clone(&requests), Arc::clone(&unheard));
        let (recorder, names, round) = (recorder.clone(), Arc::clone(&names), round.clone());
        async move {
            let answer = match recorded::send(&client, &recorder, n, &names[n], &round, &requests[n]).await {
                Ok(response) => response.answer(),
                Err(failure) => (&failure).into(),
            };
            if answer.is_error() {
                unheard.lock().unwrap().push(n);
            }
            answer
        }
    });
    let killed = AtomicUsize::new(0);
    let kills = async {
        loop {
            tokio::time::sleep(KILL_EVERY).await;
            for group in gateway.process_groups(FUNCTION) {
                let group = Pid::from_raw(i32::try_from(group).unwrap());
                killed.fetch_add(usize::from(killpg(group, Signal::SIGKILL).is_ok()), Ordering::Relaxed);
            }
        }
    };
    let outcome = tokio::select! {
        outcome = rush => outcome,
        never = kills => never,
    };
    let killed = killed.into_inner();
    let heard: BTreeMap<String, u64> =
        outcome.by_answer().into_iter().map(|(answer, latency)| (answer.to_string(), latency.len())).collect();
    println!("{killed} processes killed; {heard:?}; {:?}", gateway.counts()[FUNCTION]);
    for (answer, count) in &heard {
        assert!(DOCUMENTED.contains(&&**answer), "{count} requests got {answer}");
    }
    assert_eq!(heard.values().sum::<u64>(), REQUESTS as u64);
    assert!(killed >= 5, "only {killed} processes were killed");
    assert!(gateway.counts()[FUNCTION].deaths >= 5, "{:?}", gateway.counts()[FUNCTION]);

    // Some buyers got an error although they hold a unit. They retry, as clients do, and get their answer.
    let unheard = std::mem::take(&mut *unheard.lock().unwrap());
    let heard_late = stream::iter(&unheard).map(|&n| {
        let (client, requests, recorder, names, round) = (&client, &requests, &recorder, &names, &round);
        until("a final answer", async move || {
            let response = recorded::send(client, recorder, n, &names[n], round, &requests[n]).await.ok()?;
            (response.status < 500).then(|| response.answer().to_string())
        })
    });
    let heard_late: Vec<String> = heard_late.buffer_unordered(AT_ONCE).collect().await;
    let won_late = heard_late.iter().filter(|answer| *answer == "202").count();
    println!("{} tried again, {won_late} had a unit", unheard.len());
    assert!(heard_late.iter().all(|answer| ["202", "409 sold_out"].contains(&&**answer)), "{heard_late:?}");
    let promised = heard.get("202").copied().unwrap_or_default() + won_late as u64;
    assert_eq!(promised, UNITS as u64, "every unit was promised exactly once");

    let audit = until("no unit is held", async || Some(shop.clean_audit().await).filter(|audit| audit.1 == 0)).await;
    assert_eq!(audit, (0, 0, UNITS as u64));
    let history = recorded::at_rest(&cloud.deployment, &recorder, &round, Redis::Keeps).await.unwrap();
    passes("killed_functions", &history);
    drop(gateway);
    std::fs::remove_dir_all(home).unwrap();
}
