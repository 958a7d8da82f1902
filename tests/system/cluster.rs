//! A stampede on a cluster that loses a node, or moves the sale to another shard.

use std::ops::Range;

use tokio::sync::{Semaphore, SemaphorePermit, watch};
use tokio::task::JoinSet;

use crate::cluster_lab::ClusterLab;
use crate::heal::{is_whole, won};
use crate::losing_redis::consume;
use crate::prelude::*;

const UNITS: u32 = 200;
/// Concurrent buyers of the crowded sale. Each buys until it is sold out.
const AT_ONCE: usize = 30;
/// Units sold when the fault strikes.
const BEFORE: usize = 75;
/// Buyers that come before the fault. The rest wait for it, so that units are left however late it is.
const COME_BEFORE: usize = 150;
/// Sales that sell slowly beside it, each with more units than are bought in that time. By its name, one of them is on the
/// shard that is struck, and one is not: with one lane the shard is the clock's, with several the radio's.
const OTHERS: [&str; 2] = ["clock", "radio"];
const OTHERS_UNITS: u32 = 2000;
/// Pause between two buyers of one of these.
const PACE: Duration = Duration::from_millis(50);
/// Pause between a buyer's tries.
const AGAIN: Duration = Duration::from_millis(100);
/// The longest that a buyer may be refused.
const PATIENCE: Duration = Duration::from_secs(90);
/// A run takes half a minute on an idle machine.
const LIMIT: Duration = Duration::from_secs(600);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Blow {
    /// The master dies, and with it whatever its replica had not received.
    Kill,
    /// The master stops answering, but its connections stay open.
    Silence,
    /// The slot moves to another shard, key by key.
    Move,
    /// The slot moves to another shard at once.
    MoveAtOnce,
}

/// The answers that the buyers of one sale got so far.
#[derive(Default)]
struct Heard {
    answers: BTreeMap<String, usize>,
    won: BTreeSet<ReservationId>,
    won_at: Vec<Instant>,
}

impl Heard {
    fn note(&mut self, answer: &Answer) {
        let code = answer.body["code"].as_str().unwrap_or("202").to_owned();
        *self.answers.entry(code).or_default() += 1;
        if let Some(id) = won(answer) {
            self.won.insert(id);
            self.won_at.push(Instant::now());
        }
    }

    /// The longest time without a winner.
    fn longest_gap(&self) -> Range<Instant> {
        let gaps = self.won_at.windows(2).map(|pair| pair[0]..pair[1]);
        gaps.max_by_key(|gap| gap.end - gap.start).expect("somebody won")
    }
}

/// One buyer, who retries as long as the answer is 503. Each try goes to a new process, whose rate limits are fresh.
async fn buy(lab: &Lab, sale: &str, name: &str, heard: &Mutex<Heard>) -> u16 {
    let ask = Ask::reserve(sale, name).header("idempotency-key", "key-1");
    let began = Instant::now();
    loop {
        let answer = ask_function(&lab.recorder, &lab.reservation(), &ask).await;
        heard.lock().unwrap().note(&answer);
        if answer.status != 503 {
            return answer.status;
        }
        assert!(began.elapsed() < PATIENCE, "{name} of {sale} was refused for {} s", PATIENCE.as_secs());
        tokio::time::sleep(AGAIN).await;
    }
}

/// Lets a crowd buy the sale and others buy beside it, and strikes in the middle. Returns the answers of each sale, and when
/// the fault struck, by the recorder's clock.
async fn stampede(stage: &mut ClusterLab, blow: Blow) -> (BTreeMap<&'static str, Heard>, u64) {
    let over = Arc::new(AtomicBool::new(false));
    let places = Arc::new(Semaphore::new(COME_BEFORE));
    let all = BTreeMap::from([OTHERS[0], OTHERS[1], SALE].map(|sale| (sale, Arc::<Mutex<Heard>>::default())));
    let heard = &all[SALE];
    let crowd = (0..AT_ONCE).map(|who| {
        let (lab, heard, places) = (Arc::clone(&stage.lab), Arc::clone(heard), Arc::clone(&places));
        async move {
            for number in 0.. {
                // None is given back; once the fault has struck they are closed, and nobody waits.
                drop(places.acquire().await.map(SemaphorePermit::forget));
                if buy(&lab, SALE, &format!("user-{who}-{number}"), &heard).await == 409 {
                    break;
                }
            }
        }
    });
    let crowd: JoinSet<()> = crowd.collect();
    let others = OTHERS.into_iter().map(|sale| {
        let (lab, heard, over) = (Arc::clone(&stage.lab), Arc::clone(&all[sale]), Arc::clone(&over));
        async move {
            for number in 0.. {
                if over.load(Ordering::SeqCst) {
                    break;
                }
                buy(&lab, sale, &format!("{sale}-{number}"), &heard).await;
                tokio::time::sleep(PACE).await;
            }
        }
    });
    let others: JoinSet<()> = others.collect();
    until("many units are gone", async || (heard.lock().unwrap().won.len() >= BEFORE).then_some(())).await;
    let struck_at = stage.recorder.now_ns();
    strike(stage, blow, &places, heard).await;
    crowd.join_all().await;
    over.store(true, Ordering::SeqCst);
    others.join_all().await;
    let taken = |heard: Arc<Mutex<Heard>>| std::mem::take(&mut *heard.lock().unwrap());
    (all.into_iter().map(|(sale, heard)| (sale, taken(heard))).collect(), struck_at)
}

/// The slot of the sale's first lane.
async fn slot_struck(stage: &ClusterLab) -> u16 {
    let (id, lanes) = (round(SALE, 1), stage.lab.lanes_of(&round(SALE, 1)));
    stage.cluster.slot_of(&stage.lab.stock.round_in(&id, lanes).tag(Lane::new(0, lanes))).await.unwrap()
}

async fn strike(stage: &mut ClusterLab, blow: Blow, places: &Semaphore, heard: &Mutex<Heard>) {
    let slot = slot_struck(stage).await;
    let owner = stage.cluster.owner(slot).await.unwrap();
    match blow {
        Blow::Kill => {
            stage.cluster.node(owner).kill();
            places.close();
            stage.cluster.successor(slot, owner).await.unwrap();
        }
        Blow::Silence => {
            stage.cluster.node(owner).stop().unwrap();
            places.close();
            stage.cluster.successor(slot, owner).await.unwrap();
            // It still believes that it owns the slot.
            stage.cluster.node(owner).resume().unwrap();
        }
        Blow::Move => {
            places.close();
            let between = async || {
                let asked = || heard.lock().unwrap().answers.values().sum::<usize>();
                let is_sold_out = || heard.lock().unwrap().won.len() >= UNITS as usize;
                let enough = asked() + AT_ONCE;
                until("some have asked", async || (asked() > enough || is_sold_out()).then_some(())).await;
                let counters =
                    stage.onlooker.round_in(&round(SALE, 1), stage.lab.lanes_of(&round(SALE, 1))).counters().await;
                assert!(counters.unwrap().is_some(), "a key is found on either shard");
            };
            stage.cluster.move_slot(slot, between).await.unwrap();
        }
        Blow::MoveAtOnce => {
            places.close();
            stage.cluster.move_slot_at_once(slot).await.unwrap();
        }
    }
}

/// Runs one fault; the crowded sale has `lanes` lanes.
async fn run(blow: Blow, lanes: u16) {
    let mut stage = ClusterLab::new().await;
    let terms = |units, lanes| Terms { lanes, ..terms(units, 1) };
    let others = OTHERS.map(|sale| (sale, terms(OTHERS_UNITS, 1)));
    for (sale, terms) in others.into_iter().chain([(SALE, terms(UNITS, lanes))]) {
        stage.open(sale, &terms).await;
    }
    let onlooker = async || stage.onlooker.round_in(&round(SALE, 1), lanes).counters().await.ok();
    until("an onlooker is connected", onlooker).await;
    let struck = stage.cluster.owner(slot_struck(&stage).await).await.unwrap();
    let mut elsewhere = BTreeSet::new();
    for sale in OTHERS {
        if stage.cluster.owner(stage.slot_of(sale).await).await.unwrap() != struck {
            elsewhere.insert(sale);
        }
    }
    assert!(!elsewhere.is_empty(), "some sales are on other shards");

    let (orders, may) = watch::channel(true);
    let consumers = [(); 2].map(|()| {
        tokio::spawn(consume(stage.order(), stage.sqs.clone(), stage.queue("orders").to_owned(), may.clone()))
    });
    let (all, struck_at) = stampede(&mut stage, blow).await;
    assert_eq!(warmup::handle(&stage.warmup()).await.unwrap().loaded, 0, "nothing was lost altogether");
    until("the orders are made", async || (stage.depth("orders").await == [0; 3]).then_some(())).await;
    orders.send(false).unwrap();
    drop(orders);
    for consumed in join_all(consumers).await {
        consumed.unwrap();
    }
    heal(&stage.lab).await;
    for (sale, heard) in &all {
        check(&stage.lab, sale, if *sale == SALE { UNITS } else { OTHERS_UNITS }, heard).await;
    }
    let gap = all[SALE].longest_gap();
    let won_meanwhile = elsewhere.iter().flat_map(|sale| &all[sale].won_at).filter(|at| gap.contains(*at)).count();
    let (answers, longest) = (&all[SALE].answers, gap.end - gap.start);
    println!("{blow:?}: {answers:?}, longest without a sale {longest:?}, {won_meanwhile} sold elsewhere meanwhile");
    let stood_still = matches!(blow, Blow::Kill | Blow::Silence);
    // A moving slot loses nothing.
    let redis = if stood_still { Redis::MayForgetFrom(struck_at) } else { Redis::Keeps };
    heal(&stage.lab).await;
    let sales: Vec<&str> = all.into_keys().collect();
    stage.check_history(&format!("cluster_{blow:?}"), &sales, redis).await;
    // With several lanes the others keep selling, so the longest gap may be too short to sell anything elsewhere.
    assert!(!stood_still || lanes > 1 || won_meanwhile > 0, "the other shards go on");
}

/// The sale is whole, and every free unit of the crowded one can be bought.
async fn check(lab: &Lab, sale: &str, units: u32, heard: &Heard) {
    let (audit, _) = is_whole(lab, sale, units, &heard.won).await;
    if sale == SALE {
        let published = rounds::latest_round(&lab.ledger, &round(sale, 1).sale).await;
        tests::until_cooldown_ends(lab.stock.of(&published)).await;
        for number in 0..=audit.free {
            let status = buy(lab, sale, &format!("late-{number}"), &Mutex::default()).await;
            assert_eq!(status, if number < audit.free { 202 } else { 409 }, "{sale}");
        }
    }
}

/// One after the other, each with its own cluster: six servers and a crowd are enough for one machine. They are one test,
/// so that none of them blocks a test thread.
#[tokio::test(flavor = "multi_thread")]
async fn a_sale_survives_every_blow_to_its_cluster() {
    // The sales beside it have one lane each, and some of them are on the shard that is struck.
    let blows = [(Blow::Kill, 1), (Blow::Silence, 4), (Blow::Move, 1), (Blow::MoveAtOnce, 1)];
    for (blow, lanes) in blows {
        let run = tokio::time::timeout(LIMIT, run(blow, lanes)).await;
        run.unwrap_or_else(|_| panic!("{blow:?} does not end"));
    }
}

/// Ten times, because the replica's lag varies when the master dies.
/// `cargo nextest run --profile long --workspace --run-ignored only --no-capture eight_lanes` prints how long none was sold.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes"]
async fn a_sale_with_eight_lanes_survives_the_death_of_a_shard() {
    for _ in 0..10 {
        tokio::time::timeout(LIMIT, run(Blow::Kill, 8)).await.expect("the run ends in time");
    }
}
