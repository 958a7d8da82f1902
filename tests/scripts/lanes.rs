//! Rounds with several lanes: units move between lanes, and each of them is in one place all the time.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures::future::join_all;
use local::valkey_cluster::ValkeyCluster;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use sale::{BuyerClass, Claim, EpochMs, Lane, Round, RoundId, Terms, Unit, UserId};
use stock::{DonateFor, Donated, Reseated, Reserve, RoundLoad, RoundStock, StockError, Transfer};
use tests::{TestRound, first_version, fresh_id, round, terms, user};

const BUYER: DonateFor = DonateFor::Buyer(BuyerClass::EVERYONE);

/// A round with several lanes on a server.
struct Lanes {
    server: TestRound,
    id: RoundId,
    terms: Terms,
    /// What the ledger says was dealt.
    dealt: u32,
    epoch_ms: i64,
}

impl Lanes {
    async fn start(total: u32, lanes: u16) -> Self {
        let terms = Terms { lanes, ..terms(total, 20) };
        let server = TestRound::start_empty();
        let mut this = Self { id: server.id.clone(), server, terms, dealt: total, epoch_ms: 1 };
        assert!(this.load(&[]).await.unwrap());
        this
    }

    fn stock(&self) -> RoundStock<'_> {
        self.server.server.round_in(&self.id, self.terms.lanes)
    }

    async fn load(&mut self, taken: &[Claim]) -> Result<bool, StockError> {
        let load = self.next_load(taken);
        self.stock().load_lanes(&load, self.dealt).await
    }

    fn next_load(&mut self, taken: &[Claim]) -> RoundLoad {
        self.epoch_ms += 1;
        let (terms, epoch_ms, taken) = (self.terms.clone(), EpochMs(self.epoch_ms), taken.to_vec());
        RoundLoad { terms, paused: false, version: 1, epoch_ms, taken, denied: Vec::new() }
    }

    /// The lanes that may lack units.
    async fn short(&self) -> Vec<u16> {
        let counters = self.stock().counters().await.unwrap().expect("all lanes are there");
        (0..).zip(&counters.lanes).filter(|(_, lane)| lane.short.is_some()).map(|(index, _)| index).collect()
    }

    /// What reconciliation does about units in no place. How many there were.
    async fn repair(&self) -> usize {
        let view = self.stock().view().await.unwrap().expect("all lanes are there");
        assert!(view.held_still);
        let mut nowhere: BTreeSet<u32> = (1..=view.counters.total()).collect();
        view.free.iter().cloned().flatten().for_each(|unit| assert!(nowhere.remove(&unit), "{unit} is free twice"));
        let held = view.entries.iter().filter(|entry| entry.state.is_live());
        held.for_each(|entry| assert!(nowhere.remove(&entry.claim.unit.0), "{entry:?}"));
        let units: Vec<Unit> = nowhere.iter().copied().map(Unit).collect();
        assert_eq!(self.stock().restore(&units, &view.counters).await.unwrap(), !units.is_empty());
        units.len()
    }

    /// What came back to the lane stays held back, however long the test takes.
    async fn hold_back_for_an_hour(&self, index: u16) {
        let until = super::sequences::clock().0 + 3_600_000;
        self.set_sellable_at(index, EpochMs(until)).await;
    }

    async fn set_sellable_at(&self, index: u16, at: EpochMs) {
        let key = format!("sale:{}", self.stock().tag(self.lane(index)));
        let mut redis = self.server.redis().await;
        let bytes = &at.0.to_be_bytes()[2..];
        let _: usize = redis::cmd("SETRANGE").arg(key).arg(52).arg(bytes).query_async(&mut redis).await.unwrap();
    }

    /// The lane's keys answer nothing but errors, until they are told to again.
    async fn silence(&self, index: u16) {
        let (tag, mut redis) = (self.stock().tag(self.lane(index)), self.server.redis().await);
        for kind in ["sale", "transfers", "buyers"] {
            let (key, kept) = (format!("{kind}:{tag}"), format!("kept:{kind}:{tag}"));
            let _: redis::Value = redis::cmd("EVAL")
                .arg("if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('RENAME', KEYS[1], KEYS[2]) end")
                .arg(2)
                .arg(&key)
                .arg(kept)
                .query_async(&mut redis)
                .await
                .unwrap();
            // No command that asks for it takes a list.
            let _: u32 = redis::cmd("LPUSH").arg(&key).arg("silent").query_async(&mut redis).await.unwrap();
        }
    }

    async fn wake(&self, index: u16) {
        let (tag, mut redis) = (self.stock().tag(self.lane(index)), self.server.redis().await);
        for kind in ["sale", "transfers", "buyers"] {
            let (key, kept) = (format!("{kind}:{tag}"), format!("kept:{kind}:{tag}"));
            let _: redis::Value = redis::cmd("EVAL")
                .arg("redis.call('DEL', KEYS[1]) if redis.call('EXISTS', KEYS[2]) == 1 then redis.call('RENAME', KEYS[2], KEYS[1]) end")
                .arg(2)
                .arg(key)
                .arg(kept)
                .query_async(&mut redis)
                .await
                .unwrap();
        }
    }

    fn lane(&self, index: u16) -> Lane {
        Lane::new(index, self.terms.lanes)
    }

    /// A user whose home lane this is.
    fn user_of(&self, index: u16, number: usize) -> UserId {
        let users = (0..).map(|at| user(format!("user-{at}")));
        users.filter(|user| Lane::home_of(user, self.terms.lanes).index() == index).nth(number).unwrap()
    }

    async fn reserve(&self, user: &UserId) -> Reserve {
        self.stock().reserve(fresh_id(&self.id).uuid, user, BuyerClass::EVERYONE).await.unwrap()
    }

    async fn buy(&self, user: &UserId) -> Claim {
        match self.reserve(user).await {
            Reserve::Reserved(claim) => claim,
            other => panic!("{user} got {other:?} and no unit"),
        }
    }

    async fn give(&self, from: u16, to: u16) -> Transfer {
        match self.stock().donate(self.lane(from), self.lane(to), BUYER).await.unwrap() {
            Donated::Units(transfer) => transfer,
            other => panic!("{from} gave {other:?} to {to}"),
        }
    }

    /// Every unit once: free ones, which includes those on their way, and those of claims.
    async fn places(&self) -> (BTreeSet<u32>, BTreeMap<u32, UserId>) {
        let view = self.stock().view().await.unwrap().expect("all lanes are there");
        let (mut free, mut held) = (BTreeSet::new(), BTreeMap::new());
        for unit in view.free.iter().cloned().flatten() {
            assert!(free.insert(unit), "unit {unit} is free twice: {:?}", view.free);
        }
        for entry in view.entries.iter().filter(|entry| entry.state.is_live()) {
            let Claim { unit, user, .. } = &entry.claim;
            assert!(held.insert(unit.0, user.clone()).is_none() && !free.contains(&unit.0), "unit {} twice", unit.0);
        }
        assert_eq!(view.counters.free() as usize, free.len());
        let total = view.counters.total();
        let all: BTreeSet<u32> = free.iter().chain(held.keys()).copied().collect();
        assert_eq!(all, (1..=total).collect(), "each unit of {total} is in one place");
        (free, held)
    }

    /// The keys of a lane.
    async fn keys_of(&self, index: u16) -> Vec<String> {
        let mut redis = self.server.redis().await;
        let pattern = format!("*{{{}:{}:{index}:*", self.id.sale, self.id.number);
        redis::cmd("KEYS").arg(pattern).query_async(&mut redis).await.unwrap()
    }

    /// The keys of a lane are gone.
    async fn lose(&self, index: u16) {
        let own = self.keys_of(index).await;
        assert!(own.iter().any(|key| key.starts_with("sale:")), "lane {index} is there: {own:?}");
        let mut redis = self.server.redis().await;
        let _: u32 = redis::cmd("DEL").arg(&own).query_async(&mut redis).await.unwrap();
    }

    /// What a replica of each lane's shard has at this moment.
    async fn replicate(&self) -> Replica {
        let (mut redis, mut replica) = (self.server.redis().await, Vec::new());
        for lane in Lane::all(self.terms.lanes) {
            let mut keys = Vec::new();
            for key in self.keys_of(lane.index()).await {
                let mut dump = redis::pipe();
                dump.cmd("DUMP").arg(&key).cmd("PEXPIRETIME").arg(&key);
                let (dump, expires_at): (Vec<u8>, i64) = dump.query_async(&mut redis).await.unwrap();
                keys.push((key, dump, expires_at));
            }
            replica.push(keys);
        }
        replica
    }

    /// The replica of a lane's shard takes over. What it had not heard of is forgotten.
    async fn fail_over(&self, index: u16, to: &Replica) {
        self.lose(index).await;
        let mut redis = self.server.redis().await;
        for (key, dump, expires_at) in &to[usize::from(index)] {
            let mut restore = redis::cmd("RESTORE");
            restore.arg(key).arg(expires_at).arg(dump).arg("ABSTTL");
            let () = restore.query_async(&mut redis).await.unwrap();
        }
    }
}

/// The keys of each lane, with what they hold and when they expire.
type Replica = Vec<Vec<(String, Vec<u8>, i64)>>;

/// Asks again as long as what is left is on its way, and if an answer is lost on a slow machine, as a client does. A unit that it won
/// without hearing of it is its own.
async fn reserve_at_last(round: RoundStock<'_>, uuid: uuid::Uuid, buyer: &UserId) -> Reserve {
    loop {
        match round.reserve(uuid, buyer, BuyerClass::EVERYONE).await {
            Err(StockError::OnTheWay) => tokio::task::yield_now().await,
            Err(error) if error.is_away() => tokio::time::sleep(Duration::from_millis(100)).await,
            Ok(Reserve::Replayed(entry)) if entry.state.is_live() => return Reserve::Reserved(entry.claim),
            answer => return answer.unwrap(),
        }
    }
}

#[tokio::test]
async fn each_lane_has_its_part_and_sells_it_for_one_call() {
    let mut lanes = Lanes::start(10, 3).await;
    assert!(!lanes.load(&[]).await.unwrap(), "loaded once");
    let counters = lanes.stock().counters().await.unwrap().unwrap();
    assert_eq!((counters.total(), counters.free()), (10, 10));
    let parts: Vec<(u32, u32)> = counters.lanes.iter().map(|lane| (lane.next_unit, lane.last_unit)).collect();
    assert_eq!(parts, [(1, 3), (4, 6), (7, 10)]);
    for index in 0..3 {
        let buyer = lanes.user_of(index, 0);
        let claim = lanes.buy(&buyer).await;
        assert_eq!((claim.lane, claim.unit.0), (lanes.lane(index), parts[usize::from(index)].0));
        let found = lanes.stock().find(claim.id.uuid, &buyer).await.unwrap().unwrap();
        assert_eq!(found.claim, claim);
        assert!(lanes.stock().confirm(&claim).await.unwrap());
    }
    assert_eq!(lanes.places().await.0.len(), 7);
}

/// Everybody is at home in one lane, and gets the units of all.
#[tokio::test]
async fn users_of_one_lane_get_every_unit() {
    let lanes = Lanes::start(40, 4).await;
    let mut units = BTreeSet::new();
    for number in 0..40 {
        let claim = lanes.buy(&lanes.user_of(2, number)).await;
        assert_eq!(claim.lane, lanes.lane(2));
        assert!(units.insert(claim.unit.0));
        lanes.places().await;
    }
    assert!(matches!(lanes.reserve(&lanes.user_of(2, 40)).await, Reserve::SoldOut(_)));
    assert!(matches!(lanes.reserve(&lanes.user_of(0, 0)).await, Reserve::SoldOut(_)));
    assert_eq!(lanes.stock().open_transfers().await.unwrap(), []);
}

/// Many at once, most of them at home in one lane.
#[tokio::test]
async fn nobody_is_refused_while_a_unit_is_free() {
    const UNITS: u32 = 400;
    let lanes = Lanes::start(UNITS, 8).await;
    // Stocks of their own, as processes have.
    let stocks: Vec<_> = (0..4).map(|_| stock::Stock::new(&lanes.server.valkey.url()).unwrap()).collect();
    let buyers: Vec<UserId> = (0..2 * UNITS as usize)
        .map(|number| if number % 4 == 0 { user(format!("any-{number}")) } else { lanes.user_of(5, number) })
        .collect();
    let asked = buyers.iter().enumerate().map(|(number, buyer)| {
        let (id, round) = (fresh_id(&lanes.id), stocks[number % stocks.len()].round_in(&lanes.id, 8));
        reserve_at_last(round, id.uuid, buyer)
    });
    let answers = join_all(asked).await;
    let won = answers.iter().filter(|answer| matches!(answer, Reserve::Reserved(_))).count();
    let refused = answers.iter().filter(|answer| matches!(answer, Reserve::SoldOut(_))).count();
    assert_eq!((won, refused), (UNITS as usize, UNITS as usize));
    let (free, held) = lanes.places().await;
    assert_eq!((free.len(), held.len()), (0, UNITS as usize));
}

#[tokio::test]
async fn a_transfer_is_accepted_once_however_often_it_comes() {
    let lanes = Lanes::start(16, 2).await;
    let (stock, buyer) = (lanes.stock(), lanes.user_of(1, 0));
    let first = lanes.give(0, 1).await;
    assert_eq!(first.ranges, [5..=8], "half of it, from the end");
    assert_eq!(lanes.give(0, 1).await, first, "one is open at a time");
    lanes.places().await;
    for _ in 0..2 {
        assert!(stock.take_in(&first).await.unwrap());
        lanes.places().await;
    }
    // Sent again, it is not given a second unit.
    let id = fresh_id(&lanes.id).uuid;
    let won = stock.accept(&first, id, &buyer, BuyerClass::EVERYONE).await.unwrap();
    assert!(matches!(won, Reserve::Reserved(_)));
    assert!(matches!(stock.accept(&first, id, &buyer, BuyerClass::EVERYONE).await.unwrap(), Reserve::Replayed(_)));
    lanes.places().await;
    for _ in 0..2 {
        stock.settle(&first).await.unwrap();
        lanes.places().await;
    }
    let second = lanes.give(0, 1).await;
    assert!(second.id > first.id && second.ranges == [3..=4]);
    // What comes late belongs to a transfer that is over.
    stock.settle(&first).await.unwrap();
    assert!(stock.take_in(&second).await.unwrap());
    assert!(stock.take_in(&first).await.unwrap());
    lanes.places().await;
    stock.settle(&second).await.unwrap();
    lanes.places().await;
}

/// A process died between the two lanes. Who comes next gets a unit of what it left, wherever they are at home.
#[tokio::test]
async fn what_a_dead_process_left_on_the_way_is_sold() {
    for (from, to, buyer) in [(0, 1, 1), (0, 1, 0), (0, 1, 2)] {
        let lanes = Lanes::start(3, 3).await;
        for index in 1..3 {
            lanes.buy(&lanes.user_of(index, 0)).await;
        }
        let left = lanes.give(from, to).await;
        assert_eq!(left.ranges, [1..=1]);
        let claim = lanes.buy(&lanes.user_of(buyer, 1)).await;
        assert_eq!((claim.unit, claim.lane), (Unit(1), lanes.lane(buyer)));
        assert!(matches!(lanes.reserve(&lanes.user_of(2, 2)).await, Reserve::SoldOut(_)));
        lanes.places().await;
    }
}

/// A reservation that is to have another unit gets one that is held back, and its process dies on the way. The unit stays held back
/// for everybody else.
#[tokio::test]
async fn what_is_held_back_stays_so_on_the_way() {
    let lanes = Lanes::start(1, 2).await;
    let (from, to) = (lanes.lane(1), lanes.lane(0));
    let claim = lanes.buy(&lanes.user_of(1, 0)).await;
    let late = lanes.user_of(0, 0);
    assert!(matches!(lanes.reserve(&late).await, Reserve::SoldOut(_)));
    lanes.stock().release(&claim, None, false).await.unwrap();
    lanes.hold_back_for_an_hour(1).await;
    let Donated::Units(transfer) = lanes.stock().donate(from, to, DonateFor::Reseat).await.unwrap() else {
        panic!("unit 1 is there")
    };
    assert!(transfer.held_back);
    let before = super::sequences::clock();
    assert!(lanes.stock().finish(&transfer).await.unwrap());
    let counters = lanes.stock().counters().await.unwrap().unwrap();
    assert!(counters.lanes[0].free() == 1 && counters.lanes[0].sellable_at_ms.0 >= before.0 + 1500);
    lanes.hold_back_for_an_hour(0).await;
    assert!(matches!(lanes.reserve(&late).await, Reserve::SoldOut(_)));
}

#[tokio::test]
async fn reconciliation_finishes_transfers() {
    let lanes = Lanes::start(8, 2).await;
    lanes.give(0, 1).await;
    lanes.give(1, 0).await;
    for transfer in lanes.stock().open_transfers().await.unwrap() {
        assert!(lanes.stock().finish(&transfer).await.unwrap());
    }
    assert_eq!(lanes.stock().open_transfers().await.unwrap(), []);
    assert_eq!(lanes.places().await.0.len(), 8);
}

/// A unit that comes back is not sold before every process has forgotten that the round was sold out.
#[tokio::test]
async fn what_comes_back_is_held_back_for_every_lane() {
    let mut lanes = Lanes::start(2, 2).await;
    let first = lanes.buy(&lanes.user_of(0, 0)).await;
    lanes.buy(&lanes.user_of(1, 0)).await;
    let late = lanes.user_of(1, 1);
    let Reserve::SoldOut(told) = lanes.reserve(&late).await else { panic!("nothing is left") };
    assert!(told.lasts <= Duration::from_millis(1500));
    let before = super::sequences::clock();
    lanes.stock().release(&first, None, false).await.unwrap();
    let counters = lanes.stock().counters().await.unwrap().unwrap();
    assert!(counters.lanes[0].sellable_at_ms.0 >= before.0 + 1500);
    lanes.hold_back_for_an_hour(0).await;
    let Donated::Nothing(held_back) = lanes.stock().donate(lanes.lane(0), lanes.lane(1), BUYER).await.unwrap() else {
        panic!("it is held back")
    };
    assert!(held_back.lasts > Duration::ZERO);
    assert!(matches!(lanes.reserve(&late).await, Reserve::SoldOut(_)));
    wait(&mut lanes).await;
    let claim = lanes.buy(&late).await;
    assert_eq!((claim.unit, claim.lane), (first.unit, lanes.lane(1)));
}

/// Lanes hear of versions late, twice, in any order or never.
#[tokio::test]
async fn each_new_unit_is_dealt_once() {
    let mut lanes = Lanes::start(9, 3).await;
    let version = |version, total| {
        let first = first_version(lanes.id.clone(), Terms { total, ..lanes.terms.clone() });
        Round { version, ..first }
    };
    let (second, third) = (version(2, 20), version(3, 31));
    let stock = lanes.server.server.round_in(&lanes.id, 3);
    for (lane, heard) in stock.each_lane().zip([vec![&second, &third, &second], vec![&third], vec![&second]]) {
        for round in heard {
            lane.amend(round).await.unwrap();
        }
    }
    let counters = stock.counters().await.unwrap().unwrap();
    assert_eq!((counters.total(), counters.free(), counters.version), (31, 31, 2));
    stock.amend(&third).await.unwrap();
    assert_eq!(lanes.places().await.0.len(), 31);
    // One of them is loaded anew, by somebody who knows of more units than the first lane.
    lanes.lose(1).await;
    lanes.terms.total = 40;
    assert!(lanes.load(&[]).await.unwrap());
    assert_eq!(lanes.places().await.0.len(), 31);
    let fourth = Round { version: 4, ..first_version(lanes.id.clone(), lanes.terms.clone()) };
    lanes.stock().amend(&fourth).await.unwrap();
    assert_eq!(lanes.places().await.0.len(), 40);
}

#[tokio::test]
async fn all_lanes_are_paused_and_closed() {
    let lanes = Lanes::start(4, 4).await;
    let paused = Round { version: 2, paused: true, ..first_version(lanes.id.clone(), lanes.terms.clone()) };
    lanes.stock().amend(&paused).await.unwrap();
    assert!(lanes.stock().counters().await.unwrap().unwrap().paused);
    for index in 0..4 {
        assert_eq!(lanes.reserve(&lanes.user_of(index, 0)).await, Reserve::Paused);
    }
    let closed = Terms { closes_at_ms: EpochMs(lanes.terms.opens_at_ms.0 + 1), ..lanes.terms.clone() };
    let closed = Round { version: 3, ..first_version(lanes.id.clone(), closed) };
    lanes.stock().amend(&closed).await.unwrap();
    for index in 0..4 {
        assert_eq!(lanes.reserve(&lanes.user_of(index, 0)).await, Reserve::Closed);
    }
}

/// A lane without units says `sold_out` at any time. That is not what its users hear.
#[tokio::test]
async fn a_lane_without_units_tells_its_users_when_it_opens() {
    let mut lanes = Lanes::start(1, 2).await;
    lanes.lose(0).await;
    lanes.lose(1).await;
    lanes.terms.opens_at_ms = EpochMs(lanes.terms.opens_at_ms.0 + 1_800_000);
    assert!(lanes.load(&[]).await.unwrap());
    for index in 0..2 {
        assert_eq!(lanes.reserve(&lanes.user_of(index, 0)).await, Reserve::NotOpen(lanes.terms.opens_at_ms));
    }
    assert_eq!(lanes.stock().open_transfers().await.unwrap(), []);
}

#[tokio::test]
async fn a_reservation_gets_another_unit_from_any_lane() {
    let lanes = Lanes::start(3, 3).await;
    let claims = [lanes.buy(&lanes.user_of(0, 0)).await, lanes.buy(&lanes.user_of(1, 0)).await];
    let Reseated::To(claim) = lanes.stock().reseat(&claims[0]).await.unwrap() else { panic!("unit 3 is free") };
    assert_eq!((claim.unit, claim.lane), (Unit(3), lanes.lane(0)));
    assert_eq!(lanes.stock().reseat(&claims[0]).await.unwrap(), Reseated::To(claim), "it keeps that one");
    assert_eq!(lanes.stock().reseat(&claims[1]).await.unwrap(), Reseated::NoUnit, "that is really so");
}

/// An order has a unit that another lane has as free.
#[tokio::test]
async fn the_unit_of_an_adopted_order_is_free_in_no_lane() {
    let lanes = Lanes::start(12, 3).await;
    let buyer = lanes.user_of(2, 0);
    let mut order = tests::fresh_claim(&lanes.id, &buyer, 2, 0);
    order.lane = lanes.lane(2);
    assert!(lanes.stock().adopt(&order).await.unwrap());
    assert!(!lanes.stock().adopt(&order).await.unwrap());
    let (free, held) = lanes.places().await;
    assert_eq!((free.len(), held), (11, BTreeMap::from([(2, buyer)])));
}

#[tokio::test]
async fn units_that_two_lanes_have_are_taken_out_and_restored() {
    let lanes = Lanes::start(6, 2).await;
    let before = lanes.stock().view().await.unwrap().unwrap();
    assert_eq!(before.free_twice(10), []);
    // A transfer that nobody gave, as after a failover that forgot it.
    let (from, to) = (lanes.lane(0), lanes.lane(1));
    let unknown = Transfer { from, to, id: 1 << 52, ranges: vec![2..=3], held_back: false };
    assert!(lanes.stock().take_in(&unknown).await.unwrap());
    let view = lanes.stock().view().await.unwrap().unwrap();
    assert_eq!(view.free_twice(10), [Unit(2), Unit(3)]);
    lanes.stock().exclude(&view.free_twice(10), &view.counters).await.unwrap();
    let view = lanes.stock().view().await.unwrap().unwrap();
    assert_eq!(view.free.iter().cloned().flatten().collect::<BTreeSet<u32>>(), [1, 4, 5, 6].into());
    let nowhere = [Unit(2), Unit(3)];
    assert!(lanes.stock().restore(&nowhere, &view.counters).await.unwrap());
    assert!(!lanes.stock().restore(&nowhere, &view.counters).await.unwrap(), "units have moved since");
    assert_eq!(lanes.places().await.0.len(), 6);
}

#[tokio::test]
async fn denials_are_noted_where_the_users_are() {
    let lanes = Lanes::start(8, 4).await;
    let until = EpochMs(lanes.terms.closes_at_ms.0);
    let denied: Vec<_> = (0..4).map(|index| (lanes.user_of(index, 0), Some(until))).collect();
    assert!(lanes.stock().note_denials(&denied).await.unwrap());
    assert_eq!(lanes.stock().noted_denials().await.unwrap().len(), 4);
    for (user, _) in &denied {
        assert_eq!(lanes.reserve(user).await, Reserve::Denied);
    }
}

/// Lanes of one round are on different shards, by what the cluster itself says of their slots.
#[tokio::test]
async fn the_lanes_of_a_round_are_spread_over_the_shards() {
    let cluster = ValkeyCluster::start(Ok).await.unwrap();
    let nodes: Vec<String> = cluster.announced().iter().map(|port| format!("127.0.0.1:{port}")).collect();
    let (name, password) = (ValkeyCluster::USER, cluster.password());
    let stock = stock::Stock::new(&format!("redis+cluster://{name}:{password}@{}", nodes.join(","))).unwrap();
    for sale in ["lamp", "chair"] {
        let (id, terms) = (round(sale, 1), Terms { lanes: 8, ..terms(80, 1) });
        let load =
            RoundLoad { terms, paused: false, version: 1, epoch_ms: EpochMs(1), taken: Vec::new(), denied: Vec::new() };
        assert!(stock.round_in(&id, 8).load_lanes(&load, 80).await.unwrap());
        let mut owners: BTreeMap<String, usize> = BTreeMap::new();
        for lane in Lane::all(8) {
            let tag = stock.round_in(&id, 8).tag(lane);
            let slot = cluster.slot_of(&tag).await.unwrap();
            assert_eq!(u32::from(slot) * 8 / 16_384, u32::from(lane.index()), "{tag}");
            *owners.entry(format!("{:?}", cluster.owner(slot).await.unwrap())).or_default() += 1;
        }
        assert!(owners.len() == 3 && owners.values().all(|lanes| (2..=4).contains(lanes)), "{owners:?}");
        // Keys of the same round, from one shard to another.
        for number in 0..80 {
            let answer = stock.round_in(&id, 8).reserve(fresh_id(&id).uuid, &user(number), BuyerClass::EVERYONE).await;
            assert!(matches!(answer.unwrap(), Reserve::Reserved(_)));
        }
    }
}

/// What happens to a round, one call of Redis after the other.
#[derive(Debug, Clone)]
enum Step {
    Reserve {
        user: u16,
    },
    ReserveAgain {
        request: usize,
    },
    Confirm {
        claim: usize,
    },
    Release {
        claim: usize,
    },
    Reseat {
        claim: usize,
    },
    Donate {
        from: u16,
        to: u16,
        reseat: bool,
    },
    /// Of any transfer that there ever was.
    Accept {
        transfer: usize,
        user: u16,
    },
    TakeIn {
        transfer: usize,
    },
    Settle {
        transfer: usize,
    },
    Finish,
    Restock {
        lanes: u16,
        more: u32,
    },
    /// Redis loses some of the lanes, a bit each, and they are loaded again.
    Lose {
        lanes: u16,
    },
    /// All replicas have what their masters have.
    Replicate,
    /// Replicas of some of the lanes take over, a bit each, and reconciliation repairs what they had not heard of.
    FailOver {
        lanes: u16,
    },
    /// The moment comes at which what came back is sold.
    Wait,
}

fn step() -> impl Strategy<Value = Step> {
    use Step::*;
    let recent = || prop_oneof![3 => 0..3usize, 1 => 0..20usize];
    prop_oneof![
        12 => (0..8u16).prop_map(|user| Reserve { user }),
        2 => recent().prop_map(|request| ReserveAgain { request }),
        4 => recent().prop_map(|claim| Confirm { claim }),
        4 => recent().prop_map(|claim| Release { claim }),
        2 => recent().prop_map(|claim| Reseat { claim }),
        5 => (0..4u16, 0..4u16, prop::bool::weighted(0.3)).prop_map(|(from, to, reseat)| Donate { from, to, reseat }),
        5 => (recent(), 0..8u16).prop_map(|(transfer, user)| Accept { transfer, user }),
        3 => recent().prop_map(|transfer| TakeIn { transfer }),
        3 => recent().prop_map(|transfer| Settle { transfer }),
        1 => Just(Finish),
        1 => (1..16u16, 1..9u32).prop_map(|(lanes, more)| Restock { lanes, more }),
        1 => prop_oneof![4 => (0..4u16).prop_map(|lane| 1 << lane), 2 => 1..16u16].prop_map(|lanes| Lose { lanes }),
        2 => Just(Replicate),
        2 => prop_oneof![4 => (0..4u16).prop_map(|lane| 1 << lane), 2 => 1..16u16].prop_map(|lanes| FailOver { lanes }),
        3 => Just(Wait),
    ]
}

/// Expectations without Redis: who has which unit, and how many units there are.
#[derive(Default)]
struct Expected {
    /// Claims that have their unit, the latest last, and whether the ledger has their order.
    live: Vec<(Claim, bool)>,
    transfers: Vec<Transfer>,
    /// Those whose units the recipient has.
    accepted: BTreeSet<(Lane, Lane, u64)>,
    requests: Vec<(uuid::Uuid, UserId)>,
    version: u32,
    replica: Option<Replica>,
}

/// The lanes whose bits are set: at least the first of them, if there are fewer lanes than the number says.
fn lanes_of_bits(bits: u16, of: u16) -> Vec<Lane> {
    let lanes: Vec<Lane> = Lane::all(of).filter(|lane| bits >> lane.index() & 1 == 1).collect();
    if lanes.is_empty() { vec![Lane::new(0, of)] } else { lanes }
}

/// What was pushed so many before the last.
fn back<T: Clone>(list: &[T], ago: usize) -> Option<T> {
    list.iter().rev().nth(ago % list.len().max(1)).cloned()
}

impl Expected {
    async fn perform(&mut self, lanes: &mut Lanes, step: &Step) -> Result<(), TestCaseError> {
        let of = lanes.terms.lanes;
        let some_user = |number: u16| user(format!("user-{number}"));
        match *step {
            Step::Reserve { user } => {
                let (id, user) = (fresh_id(&lanes.id), some_user(user));
                self.requests.push((id.uuid, user.clone()));
                let free_before = lanes.places().await.0;
                // What is held back at this moment may not be any more once it is looked at.
                let now = super::sequences::clock();
                let answer = lanes.stock().reserve(id.uuid, &user, BuyerClass::EVERYONE).await.unwrap();
                match answer {
                    Reserve::Reserved(claim) => {
                        prop_assert!(free_before.contains(&claim.unit.0));
                        self.live.push((claim, false));
                    }
                    // What is held back is free and is not sold.
                    Reserve::SoldOut(_) => {
                        let counters = lanes.stock().counters().await.unwrap().unwrap();
                        let is_held = |lane: &stock::Counters| lane.free() == 0 || lane.sellable_at_ms > now;
                        let all = if of == 1 { vec![counters] } else { counters.lanes };
                        prop_assert!(all.iter().all(is_held), "refused with {free_before:?} free");
                    }
                    other => prop_assert!(matches!(other, Reserve::AlreadyReserved(_)), "{other:?}"),
                }
            }
            Step::ReserveAgain { request } => {
                if let Some((uuid, user)) = back(&self.requests, request) {
                    let answer = lanes.stock().reserve(uuid, &user, BuyerClass::EVERYONE).await.unwrap();
                    let known = self.live.iter().find(|(claim, _)| claim.id.uuid == uuid);
                    match (answer, known) {
                        (Reserve::Replayed(entry), Some((claim, _))) => prop_assert_eq!(entry.claim, claim.clone()),
                        (Reserve::Reserved(claim), None) => self.live.push((claim, false)),
                        (Reserve::Replayed(entry), None) => prop_assert!(!entry.state.is_live()),
                        (_, known) => prop_assert!(known.is_none()),
                    }
                }
            }
            Step::Confirm { claim } => {
                if let Some((claim, _)) = back(&self.live, claim) {
                    prop_assert!(lanes.stock().confirm(&claim).await.unwrap());
                    let at = self.live.iter().position(|(other, _)| *other == claim).unwrap();
                    self.live[at].1 = true;
                }
            }
            Step::Release { claim } => {
                if let Some((claim, _)) = back(&self.live, claim) {
                    lanes.stock().release(&claim, None, false).await.unwrap();
                    self.live.retain(|(other, _)| *other != claim);
                }
            }
            Step::Reseat { claim } => {
                // As if its unit belonged to another order, which then ends and gives the unit back.
                let held: Vec<_> = self.live.iter().filter(|(_, ordered)| !ordered).cloned().collect();
                if let Some((claim, _)) = back(&held, claim) {
                    let free = lanes.places().await.0;
                    let reseated = lanes.stock().reseat(&claim).await.unwrap();
                    let Reseated::To(new) = reseated else {
                        prop_assert!(reseated == Reseated::NoUnit && free.is_empty(), "{reseated:?} of {free:?}");
                        return Ok(());
                    };
                    prop_assert!(free.contains(&new.unit.0) && new.lane == claim.lane);
                    let at = self.live.iter().position(|(other, _)| *other == claim).unwrap();
                    self.live[at].0 = new;
                    let view = lanes.stock().view().await.unwrap().unwrap();
                    prop_assert!(lanes.stock().restore(&[claim.unit], &view.counters).await.unwrap());
                }
            }
            Step::Donate { from, to, reseat } => {
                let (from, to) = (Lane::new(from % of, of), Lane::new(to % of, of));
                if from != to {
                    let whom = if reseat { DonateFor::Reseat } else { BUYER };
                    if let Donated::Units(transfer) = lanes.stock().donate(from, to, whom).await.unwrap()
                        && !self.transfers.contains(&transfer)
                    {
                        self.transfers.push(transfer);
                    }
                }
            }
            Step::Accept { transfer, user } => {
                if let Some(transfer) = back(&self.transfers, transfer).filter(|transfer| !transfer.held_back) {
                    let user = (0..).map(|number| some_user(user + number * 8));
                    let user = user.into_iter().find(|user| Lane::home_of(user, of) == transfer.to).unwrap();
                    let id = fresh_id(&lanes.id);
                    self.requests.push((id.uuid, user.clone()));
                    let answer = lanes.stock().accept(&transfer, id.uuid, &user, BuyerClass::EVERYONE).await.unwrap();
                    if let Reserve::Reserved(claim) = answer {
                        self.live.push((claim, false));
                    }
                    self.accepted.insert((transfer.from, transfer.to, transfer.id));
                }
            }
            Step::TakeIn { transfer } => {
                if let Some(transfer) = back(&self.transfers, transfer) {
                    prop_assert!(lanes.stock().take_in(&transfer).await.unwrap());
                    self.accepted.insert((transfer.from, transfer.to, transfer.id));
                }
            }
            Step::Settle { transfer } => {
                // Nobody forgets what the other lane does not have.
                if let Some(transfer) = back(&self.transfers, transfer)
                    && self.accepted.contains(&(transfer.from, transfer.to, transfer.id))
                {
                    lanes.stock().settle(&transfer).await.unwrap();
                }
            }
            Step::Finish => {
                for transfer in lanes.stock().open_transfers().await.unwrap() {
                    prop_assert!(lanes.stock().finish(&transfer).await.unwrap());
                    self.accepted.insert((transfer.from, transfer.to, transfer.id));
                }
            }
            Step::Restock { lanes: heard, more } => {
                lanes.terms.total += more;
                self.version += 1;
                let first = first_version(lanes.id.clone(), lanes.terms.clone());
                let changed = Round { version: 1 + self.version, ..first };
                for (index, lane) in lanes.stock().each_lane().enumerate() {
                    if heard >> index & 1 == 1 {
                        lane.amend(&changed).await.unwrap();
                    }
                }
            }
            Step::Lose { lanes: lost } if of > 1 => {
                let are_lost = lanes_of_bits(lost, of);
                self.replica = None;
                for lane in &are_lost {
                    lanes.lose(lane.index()).await;
                }
                prop_assert!(lanes.stock().view().await.unwrap().is_none());
                // Whoever is between two calls with a transfer of these lanes goes on when they are there again.
                self.live.retain(|(claim, ordered)| *ordered || !are_lost.contains(&claim.lane));
                let taken: Vec<Claim> =
                    self.live.iter().filter(|(_, ordered)| *ordered).map(|(claim, _)| claim.clone()).collect();
                prop_assert!(lanes.load(&taken).await.unwrap());
                // By then a process has forgotten what it knew, as it has forgotten a mark.
                lanes.server.server = stock::Stock::new(&lanes.server.valkey.url()).unwrap();
            }
            Step::Replicate if of > 1 => self.replica = Some(lanes.replicate().await),
            Step::FailOver { lanes: struck } if of > 1 => {
                if let Some(replica) = self.replica.take() {
                    for lane in lanes_of_bits(struck, of) {
                        lanes.fail_over(lane.index(), &replica).await;
                    }
                    lanes.server.server = stock::Stock::new(&lanes.server.valkey.url()).unwrap();
                    self.reconcile(lanes).await?;
                }
            }
            // `sequences` has these for one lane.
            Step::Lose { .. } | Step::Replicate | Step::FailOver { .. } => {}
            Step::Wait => wait(lanes).await,
        }
        self.compare(lanes).await
    }

    /// What reconciliation does in its runs, and the messages of reservations that it waits for.
    async fn reconcile(&mut self, lanes: &Lanes) -> Result<(), TestCaseError> {
        let stock = lanes.stock();
        let latest = Round { version: 1 + self.version, ..first_version(lanes.id.clone(), lanes.terms.clone()) };
        stock.amend(&latest).await.unwrap();
        for transfer in stock.open_transfers().await.unwrap() {
            prop_assert!(stock.finish(&transfer).await.unwrap());
        }
        // Nobody lives that long between two calls.
        self.transfers.clear();
        self.accepted.clear();

        let view = stock.view().await.unwrap().unwrap();
        let entries: Vec<Claim> =
            view.entries.into_iter().filter(|entry| entry.state.is_live()).map(|entry| entry.claim).collect();
        for claim in &entries {
            let is_live = self.live.iter().any(|(live, ordered)| live == claim || *ordered && live.id == claim.id);
            if !is_live {
                // It ended, or has another unit since then. Whose its unit is now, the ledger says.
                stock.release(claim, Some(claim.unit), false).await.unwrap();
            }
        }
        self.live.retain(|(live, ordered)| *ordered || entries.contains(live));
        let free: BTreeSet<u32> = view.free.iter().cloned().flatten().collect();
        for (claim, ordered) in &mut self.live {
            *ordered |= free.contains(&claim.unit.0);
            if *ordered {
                stock.adopt(claim).await.unwrap();
            }
        }
        let twice = {
            let view = stock.view().await.unwrap().unwrap();
            let twice = view.free_twice(1000);
            stock.exclude(&twice, &view.counters).await.unwrap();
            twice
        };
        let restored = lanes.repair().await;
        prop_assert!(restored >= twice.iter().collect::<BTreeSet<_>>().len(), "{twice:?}");
        Ok(())
    }

    async fn compare(&self, lanes: &Lanes) -> Result<(), TestCaseError> {
        let (_, held) = lanes.places().await;
        let expected: BTreeMap<u32, UserId> =
            self.live.iter().map(|(claim, _)| (claim.unit.0, claim.user.clone())).collect();
        prop_assert_eq!(held, expected);
        Ok(())
    }
}

/// Until nothing is held back, by what lies in Redis, and the process remembers nothing of before.
async fn wait(lanes: &mut Lanes) {
    lanes.server.server = stock::Stock::new(&lanes.server.valkey.url()).unwrap();
    let mut redis = lanes.server.redis().await;
    for lane in Lane::all(lanes.terms.lanes) {
        let key = format!("sale:{}", lanes.stock().tag(lane));
        let _: usize =
            redis::cmd("SETRANGE").arg(key).arg(52).arg(&[0u8; 6][..]).query_async(&mut redis).await.unwrap();
    }
}

/// Random steps on one to four lanes, and then everything that is left is bought.
#[test]
fn every_unit_is_in_one_place_all_the_time() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let server = std::cell::RefCell::new(runtime.block_on(Lanes::start(1, 2)));
    let mut config = Config { failure_persistence: None, max_shrink_iters: 2000, ..Config::default() };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = 96;
    }
    let scripts = (1..=4u16, 1..=12u32, vec(step(), 1..=50));
    let outcome = TestRunner::new(config).run(&scripts, |(of, total, steps)| {
        let mut lanes = server.borrow_mut();
        lanes.id = round(&format!("lamp-{}", uuid::Uuid::new_v4().as_simple()), 1);
        lanes.terms = Terms { lanes: of, ..terms(total, 20) };
        lanes.dealt = total;
        runtime.block_on(async {
            // One lane as it always was.
            if of == 1 {
                let terms = lanes.terms.clone();
                let (epoch_ms, taken) = (EpochMs(1), Vec::new());
                let load = RoundLoad { terms, paused: false, version: 1, epoch_ms, taken, denied: Vec::new() };
                prop_assert!(lanes.stock().load(&load).await.unwrap());
            } else {
                prop_assert!(lanes.load(&[]).await.unwrap());
            }
            let mut expected = Expected::default();
            for step in &steps {
                expected
                    .perform(&mut lanes, step)
                    .await
                    .map_err(|error| TestCaseError::fail(format!("{step:?}: {error}")))?;
            }
            wait(&mut lanes).await;
            let mut free = lanes.places().await.0;
            let mut waits = 0;
            for number in 0.. {
                match lanes.reserve(&user(format!("late-{number}"))).await {
                    Reserve::Reserved(claim) => prop_assert!(free.remove(&claim.unit.0)),
                    // What was held back and on its way is held back where it came to.
                    Reserve::SoldOut(_) if !free.is_empty() && waits < 20 => {
                        waits += 1;
                        wait(&mut lanes).await;
                    }
                    Reserve::SoldOut(_) => break,
                    other => prop_assert!(false, "{other:?}"),
                }
            }
            prop_assert!(free.is_empty(), "{free:?} were not sold");
            Ok(())
        })
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}

/// A hundred rounds of 10,000 units in eight lanes, by 64 buyers at a time in four processes, of whom half are at home in one lane:
/// everything is sold, and nobody is refused before that. Prints how many transfers that took.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes: a million units"]
async fn a_hundred_rounds_are_sold_to_the_last_unit() {
    const UNITS: u32 = 10_000;
    const LANES: u16 = 8;
    const AT_ONCE: usize = 64;
    let server = TestRound::start_empty();
    let stocks: Vec<_> = (0..4).map(|_| stock::Stock::new(&server.valkey.url()).unwrap()).collect();
    let (mut all_transfers, mut most) = (0, 0);
    for number in 0..100 {
        let (id, terms) = (round("lamp", number + 1), Terms { lanes: LANES, ..terms(UNITS, 1) });
        let (epoch_ms, taken) = (EpochMs(1), Vec::new());
        let load = RoundLoad { terms, paused: false, version: 1, epoch_ms, taken, denied: Vec::new() };
        assert!(stocks[0].round_in(&id, LANES).load_lanes(&load, UNITS).await.unwrap());
        let skewed = (number % u32::from(LANES)) as u16;
        let sold = std::sync::atomic::AtomicU32::new(0);
        let units = std::sync::Mutex::new(BTreeSet::new());
        let buyers = (0..AT_ONCE).map(|who| {
            let (stock, id, sold, units) = (&stocks[who % stocks.len()], &id, &sold, &units);
            async move {
                for at in 0.. {
                    let candidates = (0..).map(|k| user(format!("user-{who}-{at}-{k}")));
                    let is_one = |user: &UserId| who % 2 == 0 || Lane::home_of(user, LANES).index() == skewed;
                    let buyer = candidates.into_iter().find(is_one).unwrap();
                    let uuid = fresh_id(id).uuid;
                    match reserve_at_last(stock.round_in(id, LANES), uuid, &buyer).await {
                        Reserve::Reserved(claim) => {
                            assert!(units.lock().unwrap().insert(claim.unit), "{:?} twice", claim.unit);
                            sold.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                        }
                        Reserve::SoldOut(_) => return,
                        other => panic!("{other:?}"),
                    }
                }
            }
        });
        join_all(buyers).await;
        // Nobody stopped before nothing was free: what others won is counted when they hear of it.
        let (sold, units) = (sold.into_inner(), units.into_inner().unwrap().len());
        assert_eq!((sold, units), (UNITS, UNITS as usize), "round {number}");
        let counters = stocks[0].round_in(&id, LANES).counters().await.unwrap().unwrap();
        assert_eq!(counters.free(), 0);
        let transfers = stocks[0].round_in(&id, LANES).transfers_given().await.unwrap();
        (all_transfers, most) = (all_transfers + transfers, most.max(transfers));
        let mut redis = server.redis().await;
        let _: () = redis::cmd("FLUSHALL").query_async(&mut redis).await.unwrap();
    }
    println!("100 rounds of {UNITS} units in {LANES} lanes: {all_transfers} transfers, at most {most} in a round");
}

/// A lane holds back what came back to it, but not what another lane sells.
#[tokio::test]
async fn a_lane_that_holds_back_sells_what_other_lanes_have() {
    let lanes = Lanes::start(4, 2).await;
    let mut claims = Vec::new();
    for number in 0..2 {
        claims.push(lanes.buy(&lanes.user_of(0, number)).await);
    }
    lanes.stock().release(&claims[0], None, false).await.unwrap();
    lanes.hold_back_for_an_hour(0).await;
    assert_eq!(lanes.stock().counters().await.unwrap().unwrap().lanes[0].free(), 1);
    for number in 2..5 {
        lanes.buy(&lanes.user_of(0, number)).await;
    }
    assert!(matches!(lanes.reserve(&lanes.user_of(0, 5)).await, Reserve::SoldOut(_)));
    lanes.places().await;
}

/// P has a transfer of a lane and is frozen. Redis loses the lane, others load it, with the transfer's units, and P goes on.
#[tokio::test]
async fn what_a_lost_lane_gave_comes_too_late() {
    for again in [false, true] {
        let mut lanes = Lanes::start(9, 3).await;
        let late = lanes.give(0, 1).await;
        let to_the_lost = lanes.give(2, 0).await;
        lanes.lose(0).await;
        assert!(lanes.load(&[]).await.unwrap());
        if again {
            lanes.lose(0).await;
            assert!(lanes.load(&[]).await.unwrap());
        }
        assert_eq!(lanes.places().await.0.len(), 9);
        let buyer = lanes.user_of(1, 0);
        let won = lanes.stock().accept(&late, fresh_id(&lanes.id).uuid, &buyer, BuyerClass::EVERYONE).await.unwrap();
        assert!(matches!(won, Reserve::Reserved(_)));
        for transfer in [&late, &to_the_lost] {
            assert!(lanes.stock().finish(transfer).await.unwrap());
            assert_eq!(lanes.places().await.0.len(), 8);
        }
        // What it gives from now on counts.
        let next = lanes.give(0, 1).await;
        assert!(next.id > late.id);
        assert!(lanes.stock().finish(&next).await.unwrap());
        assert_eq!(lanes.places().await.0.len(), 8);
        assert!(lanes.short().await.is_empty());
    }
}

#[tokio::test]
async fn what_a_lost_lane_gave_to_a_lost_lane_comes_too_late() {
    for lost in [vec![0, 1], vec![0, 1, 2]] {
        let mut lanes = Lanes::start(9, 3).await;
        let late = lanes.give(0, 1).await;
        for index in &lost {
            lanes.lose(*index).await;
        }
        assert!(lanes.load(&[]).await.unwrap());
        assert!(lanes.stock().take_in(&late).await.unwrap());
        assert_eq!(lanes.places().await.0.len(), 9, "{lost:?}");
        let next = lanes.give(0, 1).await;
        assert!(lanes.stock().finish(&next).await.unwrap());
        assert_eq!(lanes.places().await.0.len(), 9, "{lost:?}");
    }
}

/// Whoever is slower changes nothing, or is told so.
#[tokio::test]
async fn many_load_the_lost_lanes_beside_each_other() {
    let mut lanes = Lanes::start(40, 4).await;
    for round in 0..20u16 {
        // Units of each lane are in others.
        for (from, to) in [(0, 1), (1, 2), (2, 3), (3, 0)] {
            let transfer = lanes.give(from, to).await;
            lanes.stock().finish(&transfer).await.unwrap();
        }
        for index in 0..=round % 3 {
            lanes.lose((index + round) % 4).await;
        }
        let stocks: Vec<_> = (0..3).map(|_| stock::Stock::new(&lanes.server.valkey.url()).unwrap()).collect();
        let loads: Vec<RoundLoad> = stocks.iter().map(|_| lanes.next_load(&[])).collect();
        let loading = stocks.iter().zip(&loads).map(|(stock, load)| stock.round_in(&lanes.id, 4).load_lanes(load, 40));
        for loaded in join_all(loading).await {
            assert!(matches!(loaded, Ok(_) | Err(StockError::OnTheWay)), "{loaded:?}");
        }
        while !lanes.stock().is_loaded().await.unwrap() {
            let _overtaken = lanes.load(&[]).await;
        }
        // Where they disturbed each other a lane has no units until an audit finds them.
        if !lanes.short().await.is_empty() {
            lanes.repair().await;
            let view = lanes.stock().view().await.unwrap().unwrap();
            lanes.stock().note_complete(&view.counters).await.unwrap();
        }
        assert_eq!(lanes.places().await.0.len(), 40);
    }
}

/// Units move between two lanes all the time while a third one is loaded. What that one had is in no place then, and nobody hears that
/// nothing is left.
#[tokio::test]
async fn a_load_that_never_holds_still_says_what_it_lacks() {
    let mut lanes = Lanes::start(9, 3).await;
    let mover = stock::Stock::new(&lanes.server.valkey.url()).unwrap();
    let id = lanes.id.clone();
    for attempt in 0.. {
        assert!(attempt < 100, "it holds still each time");
        lanes.lose(0).await;
        let load = lanes.next_load(&[]);
        let loading = std::pin::pin!(lanes.stock().load_lanes(&load, 9));
        let moving = std::pin::pin!(async {
            let round = mover.round_in(&id, 3);
            loop {
                for (from, to) in [(1, 2), (2, 1)] {
                    let given = round.donate(Lane::new(from, 3), Lane::new(to, 3), BUYER).await.unwrap();
                    let Donated::Units(transfer) = given else { panic!("{given:?}") };
                    assert!(round.finish(&transfer).await.unwrap());
                }
            }
        });
        match futures::future::select(loading, moving).await {
            futures::future::Either::Left((loaded, _)) => assert!(loaded.unwrap()),
            futures::future::Either::Right(_) => unreachable!("it moves for ever"),
        }
        for transfer in lanes.stock().open_transfers().await.unwrap() {
            lanes.stock().finish(&transfer).await.unwrap();
        }
        if lanes.short().await == [0] {
            break;
        }
    }
    let mut claims = Vec::new();
    for number in 0..6 {
        claims.push(lanes.buy(&lanes.user_of(0, number)).await);
    }
    let (late, class) = (lanes.user_of(1, 0), BuyerClass::EVERYONE);
    let asked = lanes.stock().reserve(fresh_id(&lanes.id).uuid, &late, class).await;
    assert!(matches!(asked, Err(StockError::OnTheWay)), "{asked:?}");
    let reseated = lanes.stock().reseat(&claims[0]).await;
    assert!(matches!(reseated, Err(StockError::OnTheWay)), "{reseated:?}");

    assert_eq!(lanes.repair().await, 3);
    wait(&mut lanes).await;
    claims.push(lanes.buy(&late).await);
    let view = lanes.stock().view().await.unwrap().unwrap();
    assert!(view.held_still && view.counters.short.is_some());
    lanes.stock().note_complete(&view.counters).await.unwrap();
    assert!(lanes.short().await.is_empty());
    for number in 1..3 {
        claims.push(lanes.buy(&lanes.user_of(1, number)).await);
    }
    assert!(matches!(lanes.reserve(&lanes.user_of(2, 0)).await, Reserve::SoldOut(_)));
    assert_eq!(lanes.stock().reseat(&claims[0]).await.unwrap(), Reseated::NoUnit);
    lanes.places().await;
}

/// A shard is away while another one's lane is loaded. What both had is put in order once it is there again.
#[tokio::test]
async fn a_lane_is_loaded_while_another_one_does_not_answer() {
    let mut lanes = Lanes::start(12, 3).await;
    let late = lanes.give(0, 2).await;
    lanes.silence(2).await;
    lanes.lose(0).await;
    assert!(!lanes.stock().is_loaded().await.unwrap());
    assert!(lanes.load(&[]).await.unwrap());
    assert!(lanes.stock().is_loaded().await.is_err() || lanes.stock().is_loaded().await.unwrap());
    assert_eq!(lanes.buy(&lanes.user_of(1, 0)).await.lane, lanes.lane(1));
    let view = lanes.stock().view_of_reachable().await.unwrap().unwrap();
    assert_eq!((view.unreachable, view.held_still), (vec![lanes.lane(2)], false));
    assert!(lanes.stock().view().await.is_err());

    lanes.wake(2).await;
    assert_eq!(lanes.short().await, [0]);
    assert_eq!(lanes.repair().await, 4);
    let view = lanes.stock().view().await.unwrap().unwrap();
    lanes.stock().note_complete(&view.counters).await.unwrap();
    assert_eq!(lanes.places().await.0.len(), 11);
    assert!(lanes.stock().take_in(&late).await.unwrap());
    assert_eq!(lanes.places().await.0.len(), 11, "its units were given back before");
}

/// Whether a round that is over has a unit left is not known any more, so it is for who knows that it is over to say.
#[tokio::test]
async fn a_reservation_of_a_round_that_lost_a_lane_is_told_so() {
    let lanes = Lanes::start(2, 2).await;
    let claim = lanes.buy(&lanes.user_of(0, 0)).await;
    lanes.buy(&lanes.user_of(1, 0)).await;
    lanes.lose(1).await;
    assert_eq!(lanes.stock().reseat(&claim).await.unwrap(), Reseated::UnknownSale);
}

/// Lanes hear of new terms one after the other, and one of them never does.
#[tokio::test]
async fn a_lane_that_is_closed_does_not_answer_for_the_others() {
    for paused in [false, true] {
        let lanes = Lanes::start(9, 3).await;
        for number in 0..3 {
            assert_eq!(lanes.buy(&lanes.user_of(0, number)).await.unit.0, 1 + number as u32);
        }
        // The lane with most is the one that is asked first.
        lanes.buy(&lanes.user_of(2, 0)).await;
        let terms = Terms { closes_at_ms: EpochMs(lanes.terms.opens_at_ms.0 + 1), ..lanes.terms.clone() };
        let terms = if paused { lanes.terms.clone() } else { terms };
        let other = Round { version: 2, paused, ..first_version(lanes.id.clone(), terms) };
        lanes.stock().each_lane().nth(1).unwrap().amend(&other).await.unwrap();
        assert_eq!(lanes.buy(&lanes.user_of(0, 3)).await.unit.0, 9);
        lanes.buy(&lanes.user_of(2, 1)).await;
        let refused = lanes.reserve(&lanes.user_of(0, 4)).await;
        assert_eq!(refused, if paused { Reserve::Paused } else { Reserve::Closed });
    }
}

/// Two lanes had a unit as free, when they were read. Since then it came to be in one place.
#[tokio::test]
async fn units_are_excluded_only_as_long_as_none_has_moved() {
    let lanes = Lanes::start(6, 2).await;
    let view = lanes.stock().view().await.unwrap().unwrap();
    let transfer = lanes.give(0, 1).await;
    assert!(lanes.stock().finish(&transfer).await.unwrap());
    lanes.stock().exclude(&[Unit(3), Unit(5)], &view.counters).await.unwrap();
    assert_eq!(lanes.places().await.0.len(), 6);
}

/// The order has ended, and its unit is another lane's.
#[tokio::test]
async fn an_order_that_ended_takes_no_unit_out() {
    let lanes = Lanes::start(4, 2).await;
    let claim = lanes.buy(&lanes.user_of(0, 0)).await;
    lanes.stock().release(&claim, None, false).await.unwrap();
    let transfer = loop {
        let given = lanes.stock().donate(lanes.lane(0), lanes.lane(1), DonateFor::Reseat).await.unwrap();
        let Donated::Units(transfer) = given else { panic!("{given:?}") };
        assert!(lanes.stock().finish(&transfer).await.unwrap());
        if transfer.ranges.contains(&(claim.unit.0..=claim.unit.0)) {
            break transfer;
        }
    };
    assert_eq!(transfer.to, lanes.lane(1));
    assert!(!lanes.stock().adopt(&claim).await.unwrap());
    assert_eq!(lanes.places().await.0.len(), 4);
}

#[tokio::test]
async fn denials_are_noted_beside_a_lane_that_does_not_answer() {
    let lanes = Lanes::start(8, 4).await;
    let until = EpochMs(lanes.terms.closes_at_ms.0);
    let denied: Vec<_> = (0..4).map(|index| (lanes.user_of(index, 0), Some(until))).collect();
    lanes.silence(0).await;
    assert!(lanes.stock().note_denials(&denied).await.is_err());
    lanes.wake(0).await;
    for (index, (user, _)) in denied.iter().enumerate().skip(1) {
        assert_eq!(lanes.reserve(user).await, Reserve::Denied, "lane {index}");
    }
}

/// Moments of different lanes are no sum.
#[tokio::test]
async fn a_rounds_last_win_is_the_latest_of_its_lanes() {
    let lanes = Lanes::start(6, 3).await;
    for index in [2, 0, 1] {
        let claim = lanes.buy(&lanes.user_of(index, 0)).await;
        let counters = lanes.stock().counters().await.unwrap().unwrap();
        let of_lanes = counters.lanes.iter().map(|lane| lane.last_won_at_ms).max().unwrap();
        assert_eq!(counters.last_won_at_ms, of_lanes);
        assert!(of_lanes >= claim.reserved_at_ms && of_lanes <= super::sequences::clock());
    }
}

/// Two transfers were left half done. What goes to a lane that is away stays there, and the other one is sold at once.
#[tokio::test]
async fn a_lane_that_is_away_keeps_nothing_from_the_others() {
    // Which of the two is looked at first is not known.
    for _ in 0..8 {
        let lanes = Lanes::start(9, 3).await;
        lanes.buy(&lanes.user_of(0, 0)).await;
        for number in 0..3 {
            lanes.buy(&lanes.user_of(2, number)).await;
        }
        lanes.give(0, 1).await;
        let left = lanes.give(0, 2).await;
        lanes.silence(1).await;
        let claim = lanes.buy(&lanes.user_of(2, 3)).await;
        assert!(left.ranges.contains(&(claim.unit.0..=claim.unit.0)), "{claim:?}");
        let late = lanes.stock().reserve(fresh_id(&lanes.id).uuid, &lanes.user_of(2, 4), BuyerClass::EVERYONE).await;
        assert!(matches!(&late, Err(error) if error.is_away()), "{late:?}");
        lanes.wake(1).await;
        assert_eq!(lanes.places().await.0.len(), 4);
    }
}

/// Right after it was loaded a lane gives ids that lie ahead of the clocks, one after the other. A replica takes over that had not heard of
/// a transfer: the next one is of other units.
#[tokio::test]
async fn what_a_lane_gives_after_a_failover_is_not_taken_for_what_it_gave_before() {
    let mut lanes = Lanes::start(2, 2).await;
    lanes.lose(0).await;
    assert!(lanes.load(&[]).await.unwrap());
    let more = Round { version: 2, ..first_version(lanes.id.clone(), Terms { total: 4, ..lanes.terms.clone() }) };
    lanes.stock().amend(&more).await.unwrap();
    let replica = lanes.replicate().await;
    let sold: BTreeSet<u32> =
        [lanes.buy(&lanes.user_of(1, 0)).await, lanes.buy(&lanes.user_of(1, 1)).await].map(|claim| claim.unit.0).into();
    lanes.fail_over(0, &replica).await;
    let view = lanes.stock().view().await.unwrap().unwrap();
    let twice: Vec<Unit> = view.free.into_iter().flatten().filter(|unit| sold.contains(unit)).map(Unit).collect();
    lanes.stock().exclude(&twice, &view.counters).await.unwrap();
    wait(&mut lanes).await;
    for number in 2..4 {
        lanes.buy(&lanes.user_of(1, number)).await;
    }
    assert_eq!(lanes.places().await.0.len(), 0);
}

/// A lane took units of another one before it was lost, and whoever brought them is frozen. The other one is away while it is loaded, and
/// its ids lie ahead of the clocks, since it was loaded a moment ago.
#[tokio::test]
async fn what_a_lane_that_is_away_gave_before_comes_too_late() {
    let mut lanes = Lanes::start(12, 3).await;
    lanes.lose(2).await;
    assert!(lanes.load(&[]).await.unwrap());
    let late = lanes.give(2, 0).await;
    assert!(lanes.stock().finish(&late).await.unwrap());
    let mut sold = Vec::new();
    for number in 0..6 {
        let claim = lanes.buy(&lanes.user_of(0, number)).await;
        assert!(lanes.stock().confirm(&claim).await.unwrap());
        sold.push(claim);
    }
    lanes.silence(2).await;
    lanes.lose(0).await;
    assert!(lanes.load(&sold).await.unwrap());
    lanes.wake(2).await;
    assert!(lanes.stock().take_in(&late).await.unwrap());
    assert_eq!(lanes.repair().await, 0);
    assert_eq!(lanes.places().await.0.len(), 6);
    // What it gives from now on counts.
    let next = lanes.give(2, 0).await;
    assert!(lanes.stock().finish(&next).await.unwrap());
    assert_eq!(lanes.places().await.0.len(), 6);
}
