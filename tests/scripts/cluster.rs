//! Every script and every read on a cluster, which refuses commands with keys of two slots.

use local::valkey_cluster::ValkeyCluster;
use stock::{Joined, LineMoved};
use tests::{fresh_reservation, round};

use crate::line::{HOUR_MS, joining, step};
use crate::prelude::*;

const UNITS: u32 = 5;

/// One test with one cluster, because its six servers take seconds to agree.
#[tokio::test(flavor = "multi_thread")]
async fn every_script_touches_one_slot_and_lanes_are_spread_over_the_shards() {
    let cluster = ValkeyCluster::start(Ok).await.unwrap();
    let nodes: Vec<String> = cluster.announced().iter().map(|port| format!("127.0.0.1:{port}")).collect();
    let (user, password) = (ValkeyCluster::USER, cluster.password());
    let stock = Stock::new(&format!("redis+cluster://{user}:{password}@{}", nodes.join(","))).unwrap();
    // Each node has 400 ms for a connection, which a busy machine may exceed.
    while let Err(error) = stock.connect().await {
        println!("the cluster is not connected to: {error}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let mut owners = BTreeSet::new();
    for sale in ["lamp", "chair", "table", "clock"] {
        let slot = cluster.slot_of(&format!("{{{sale}:1:0}}")).await.unwrap();
        owners.insert(cluster.owner(slot).await.unwrap());
        sell(&stock, &round(sale, 1)).await;
    }
    assert!(owners.len() > 1, "the lanes are on several shards");
    for sale in ["lamp", "chair"] {
        lanes_are_spread_over_the_shards(&cluster, &stock, &round(sale, 2)).await;
    }
}

/// A round's lanes are on different shards, according to the cluster's own slot table.
async fn lanes_are_spread_over_the_shards(cluster: &ValkeyCluster, stock: &Stock, id: &RoundId) {
    let load = unsold(Terms { lanes: 8, ..terms(80, 1) });
    assert!(stock.round_in(id, 8).load_lanes(&load, 80).await.unwrap());
    let mut owners: BTreeMap<String, usize> = BTreeMap::new();
    for lane in Lane::all(8) {
        let tag = stock.round_in(id, 8).tag(lane);
        let slot = cluster.slot_of(&tag).await.unwrap();
        assert_eq!(u32::from(slot) * 8 / 16_384, u32::from(lane.index()), "{tag}");
        *owners.entry(format!("{:?}", cluster.owner(slot).await.unwrap())).or_default() += 1;
    }
    assert!(owners.len() == 3 && owners.values().all(|lanes| (2..=4).contains(lanes)), "{owners:?}");
    // Reservations whose units move between shards.
    for number in 0..80 {
        let answer = stock.round_in(id, 8).reserve(fresh_id(id).uuid, &user(number), BuyerClass::EVERYONE).await;
        assert!(matches!(answer.unwrap(), Reserve::Reserved(_)));
    }
}

async fn sell(stock: &Stock, id: &RoundId) {
    let (round, terms) = (stock.round(id), terms(UNITS, 1));
    assert!(!round.is_loaded().await.unwrap());
    let load = RoundLoad { taken: vec![fresh_reservation(id, &user("zoe"), 5, 0)], ..unsold(terms.clone()) };
    assert!(round.load(&load).await.unwrap());

    let alice = user("alice");
    let visitor = Visitor { per_sale: Some(FREE), ..Visitor::at(round, alice.clone()) };
    assert!(matches!(visitor.pass().await, Admit::Admitted(_)));

    let reserved = round.reserve(Uuid::now_v7(), &alice, BuyerClass::EVERYONE).await.unwrap();
    let Reserve::Reserved(reservation) = reserved else { panic!("a unit is free") };
    assert!(round.reservation(reservation.id.uuid, &alice).await.unwrap().is_some());
    assert!(matches!(round.reseat(&reservation, stock::Refused::Unit).await.unwrap(), Reseated::To(_)));
    assert_eq!(round.due(10, Duration::ZERO, None).await.unwrap().reservations.len(), 1);
    assert!(round.held_since(10).await.unwrap().is_some());
    assert!(round.confirm(&reservation).await.unwrap());
    round.release(&reservation, None, false).await.unwrap();

    assert!(round.adopt(&fresh_reservation(id, &user("bob"), 4, 0)).await.unwrap());
    let counters = round.counters().await.unwrap().unwrap();
    assert!(round.restore(&[], &counters).await.unwrap());
    round.tally(&BTreeMap::from([("sold_out", 1)])).await.unwrap();
    assert_eq!(round.answers().await.unwrap()["sold_out"], 1);
    let at = round.read_line().await.unwrap().now;
    for opens_in_ms in [HOUR_MS, -1000] {
        assert_eq!(round.join_line(&joining(&alice, at, opens_in_ms)).await.unwrap(), Joined::Early);
    }
    let progress = round.read_line().await.unwrap().progress;
    assert!(matches!(round.move_line(&step(progress, Some(1), 0)).await.unwrap(), LineMoved::To(..)));
    round.amend(&Round { version: 2, paused: true, ..Round::new(id.clone(), terms) }).await.unwrap();
    let view = round.view().await.unwrap().unwrap();
    assert_eq!((view.counters.paused, view.reservations.len()), (true, 3));
}
