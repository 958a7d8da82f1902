//! Every script and every read on a cluster, where whatever touches keys of two slots is refused.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use local::valkey_cluster::ValkeyCluster;
use sale::{EpochMs, Lane, Reservation, Round, Sale, SaleId, SaleState};
use stock::{
    Admit, AdmitRequest, Adopted, Amended, Applicant, ChallengeRequest, Challenged, Confirmed, GcraLimit, Hold, Loaded,
    Released, Reseated, Reserve, Restored, RoundStock, Stock,
};
use tests::{fresh_id, terms, user};
use uuid::Uuid;

const LANE: Lane = Lane(0);
const ROUND: Round = Round(1);
const UNITS: u32 = 5;
const FREE: GcraLimit = GcraLimit { emission_interval_us: 1, burst: 1000 };

#[tokio::test(flavor = "multi_thread")]
async fn every_script_touches_one_slot() {
    let cluster = ValkeyCluster::start(Ok).await.unwrap();
    let nodes: Vec<String> = cluster.announced().iter().map(|port| format!("127.0.0.1:{port}")).collect();
    let (user, password) = (ValkeyCluster::USER, cluster.password());
    let stock = Stock::new(&format!("redis+cluster://{user}:{password}@{}", nodes.join(","))).unwrap();
    let mut owners = BTreeSet::new();
    for sale in ["lamp", "chair", "table", "clock"] {
        let slot = cluster.slot_of(&format!("{{{sale}:{ROUND}:{LANE}}}")).await.unwrap();
        owners.insert(cluster.owner(slot).await.unwrap());
        sell(&stock, &sale.parse().unwrap()).await;
    }
    assert!(owners.len() > 1, "they are on several shards");
}

async fn sell(stock: &Stock, id: &SaleId) {
    let terms = terms(UNITS, 1);
    assert!(!stock.is_loaded(id, ROUND, LANE).await.unwrap());
    let taken = reservation(id, "zoe", 5);
    let hold = Hold {
        uuid: taken.id.uuid,
        unit: taken.unit,
        slot: taken.slot,
        state: sale::HoldState::Ordered,
        reserved_at_ms: taken.reserved_at_ms,
    };
    let round = RoundStock {
        sale: id.clone(),
        round: ROUND,
        lane: LANE,
        terms: terms.clone(),
        paused: false,
        version: 1,
        epoch_ms: EpochMs(1),
        taken: vec![(taken.user, hold)],
        denied: Vec::new(),
    };
    assert_eq!(stock.load(&round).await.unwrap(), Loaded::Now);

    let alice = user("alice");
    let applicant =
        Applicant { sale: id, round: ROUND, lane: LANE, user: &alice, ip: "192.0.2.1", per_user: FREE, per_ip: FREE };
    let challenge = Uuid::now_v7();
    let asked = ChallengeRequest { applicant, id: challenge, expected: "23", life_ms: 60_000 };
    assert_eq!(stock.challenge(&asked).await.unwrap(), Challenged::Issued);
    let answered = AdmitRequest { applicant, id: challenge, answer: "23", per_sale: Some(FREE) };
    assert!(matches!(stock.admit(&answered).await.unwrap(), Admit::Admitted(_)));

    let first = fresh_id(id, ROUND);
    let Reserve::Reserved(hold) = stock.reserve(&first, LANE, &alice).await.unwrap() else { panic!("a unit is free") };
    assert!(stock.find(&first, LANE, &alice).await.unwrap().is_some());
    let reserved = Reservation {
        id: first.clone(),
        user: alice.clone(),
        lane: LANE,
        unit: hold.unit,
        slot: hold.slot,
        reserved_at_ms: hold.reserved_at_ms,
    };
    assert!(matches!(stock.reseat(&reserved).await.unwrap(), Reseated::To(_)));
    assert_eq!(stock.due(id, ROUND, LANE, 10, Duration::ZERO).await.unwrap().reservations.len(), 1);
    assert!(stock.held_since(id, ROUND, LANE, 10).await.unwrap().is_some());
    assert_eq!(stock.confirm(&first, LANE, &alice).await.unwrap(), Confirmed::Now);
    assert!(matches!(stock.release(&first, LANE, &alice, None, false).await.unwrap(), Released::Now));

    assert_eq!(stock.adopt(&reservation(id, "bob", 4)).await.unwrap(), Adopted::Now);
    let counters = stock.counters(id, ROUND, LANE).await.unwrap().unwrap();
    assert_eq!(stock.restore(id, ROUND, LANE, &[], &counters).await.unwrap(), Restored::Now);
    stock.tally(id, ROUND, LANE, &BTreeMap::from([("sold_out", 1)])).await.unwrap();
    assert_eq!(stock.answers(id, ROUND, LANE).await.unwrap()["sold_out"], 1);
    let sale = Sale {
        id: id.clone(),
        state: SaleState::Published,
        round: ROUND,
        version: 2,
        paused: true,
        isolated_requests_per_s: None,
        recurrence: None,
        requests: Vec::new(),
        terms,
        regular_terms: None,
    };
    assert_eq!(stock.amend(&sale, LANE).await.unwrap(), Amended::Now);
    let view = stock.view(id, ROUND, LANE).await.unwrap().unwrap();
    assert_eq!((view.counters.paused, view.holds.len()), (true, 3));
}

fn reservation(sale: &SaleId, name: &str, unit: u32) -> Reservation {
    let (id, reserved_at_ms) = (fresh_id(sale, ROUND), EpochMs(1));
    Reservation { id, user: user(name), lane: LANE, unit: sale::Unit(unit), slot: sale::Slot(0), reserved_at_ms }
}
