//! Rounds with several lanes: units move between lanes, and each unit is always in exactly one place.

mod apart;
mod beside;
mod lost;
mod moving;
mod steps;

use stock::{StockError, Transfer};

use crate::prelude::*;

const BUYER: DonateFor = DonateFor::Buyer(BuyerClass::EVERYONE);

/// A round with several lanes on a server.
struct Lanes {
    server: TestRound,
    id: RoundId,
    terms: Terms,
    /// Units dealt, according to the ledger.
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

    /// A process that knows nothing of the lanes yet, and waits for a busy machine.
    fn another_process(&self) -> Stock {
        Stock::at(&self.server.valkey.url(), runtime::Clock::system().patient()).unwrap()
    }

    fn stock(&self) -> RoundStock<'_> {
        self.server.server.round_in(&self.id, self.terms.lanes)
    }

    async fn load(&mut self, taken: &[Reservation]) -> Result<bool, StockError> {
        let load = self.next_load(taken);
        self.stock().load_lanes(&load, self.dealt).await
    }

    fn next_load(&mut self, taken: &[Reservation]) -> RoundLoad {
        self.epoch_ms += 1;
        let (terms, epoch_ms, taken) = (self.terms.clone(), EpochMs(self.epoch_ms), taken.to_vec());
        RoundLoad { epoch_ms, taken, ..unsold(terms) }
    }

    async fn short(&self) -> Vec<u16> {
        let counters = self.stock().counters().await.unwrap().expect("all lanes are there");
        (0..).zip(&counters.lanes).filter(|(_, lane)| lane.short.is_some()).map(|(index, _)| index).collect()
    }

    /// Restores units in no place, as reconciliation does. Returns how many there were.
    async fn repair(&self) -> usize {
        let view = self.stock().view().await.unwrap().expect("all lanes are there");
        assert!(view.held_still);
        let mut nowhere: BTreeSet<u32> = (1..=view.counters.total()).collect();
        view.free.iter().cloned().flatten().for_each(|unit| assert!(nowhere.remove(&unit), "{unit} is free twice"));
        let held = view.reservations.iter().filter(|stored| stored.state.is_live());
        held.for_each(|stored| assert!(nowhere.remove(&stored.reservation.unit.0), "{stored:?}"));
        let units: Vec<Unit> = nowhere.iter().copied().map(Unit).collect();
        assert_eq!(self.stock().restore(&units, &view.counters).await.unwrap(), !units.is_empty());
        units.len()
    }

    /// Keeps the lane's returned units in cooldown, however long the test takes.
    async fn cooldown_for_an_hour(&self, index: u16) {
        self.set_cooldown_until(index, EpochMs(clock().0 + 3_600_000)).await;
    }

    async fn set_cooldown_until(&self, index: u16, at: EpochMs) {
        let key = format!("sale:{}", self.stock().tag(self.lane(index)));
        tests::set_cooldown_until(&mut self.server.redis().await, &key, at).await.unwrap();
    }

    /// Makes all calls to the lane's keys fail, until it is woken: a list is the wrong type for every command on them.
    async fn silence(&self, index: u16) {
        let away = "if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('RENAME', KEYS[1], KEYS[2]) end";
        self.with_keys(index, &format!("{away} redis.call('LPUSH', KEYS[1], 'silent')")).await;
    }

    async fn wake(&self, index: u16) {
        let back = "if redis.call('EXISTS', KEYS[2]) == 1 then redis.call('RENAME', KEYS[2], KEYS[1]) end";
        self.with_keys(index, &format!("redis.call('DEL', KEYS[1]) {back}")).await;
    }

    /// Runs a script with each of the lane's keys and another one, where it may be kept.
    async fn with_keys(&self, index: u16, script: &str) {
        let (tag, mut redis) = (self.stock().tag(self.lane(index)), self.server.redis().await);
        for kind in ["sale", "transfers", "buyers"] {
            let mut eval = redis::cmd("EVAL");
            eval.arg(script).arg(2).arg(format!("{kind}:{tag}")).arg(format!("kept:{kind}:{tag}"));
            let _: redis::Value = eval.query_async(&mut redis).await.unwrap();
        }
    }

    fn lane(&self, index: u16) -> Lane {
        Lane::new(index, self.terms.lanes)
    }

    fn user_of(&self, index: u16, number: usize) -> UserId {
        let users = (0..).map(|at| user(format!("user-{at}")));
        users.filter(|user| Lane::home_of(user, self.terms.lanes).index() == index).nth(number).unwrap()
    }

    async fn reserve(&self, user: &UserId) -> Reserve {
        self.stock().reserve(fresh_id(&self.id).uuid, user, BuyerClass::EVERYONE).await.unwrap()
    }

    async fn buy(&self, user: &UserId) -> Reservation {
        match self.reserve(user).await {
            Reserve::Reserved(reservation) => reservation,
            other => panic!("{user} got {other:?} instead of a unit"),
        }
    }

    async fn give(&self, from: u16, to: u16) -> Transfer {
        self.give_for(from, to, BUYER).await
    }

    async fn give_for(&self, from: u16, to: u16, whom: DonateFor) -> Transfer {
        match self.stock().donate(self.lane(from), self.lane(to), whom).await.unwrap() {
            Donated::Units(transfer) => transfer,
            other => panic!("{from} gave {other:?} to {to}"),
        }
    }

    /// Checks that every unit is in one place, and returns free units (including those on their way) and reserved ones.
    async fn places(&self) -> (BTreeSet<u32>, BTreeMap<u32, UserId>) {
        let view = self.stock().view().await.unwrap().expect("all lanes are there");
        let (mut free, mut held) = (BTreeSet::new(), BTreeMap::new());
        for unit in view.free.iter().cloned().flatten() {
            assert!(free.insert(unit), "unit {unit} is free twice: {:?}", view.free);
        }
        for stored in view.reservations.iter().filter(|stored| stored.state.is_live()) {
            let Reservation { unit, user, .. } = &stored.reservation;
            assert!(held.insert(unit.0, user.clone()).is_none() && !free.contains(&unit.0), "unit {} twice", unit.0);
        }
        assert_eq!(view.counters.free() as usize, free.len());
        let total = view.counters.total();
        let all: BTreeSet<u32> = free.iter().chain(held.keys()).copied().collect();
        assert_eq!(all, (1..=total).collect(), "each unit of {total} is in one place");
        (free, held)
    }

    async fn keys_of(&self, index: u16) -> Vec<String> {
        let mut redis = self.server.redis().await;
        let pattern = format!("*{{{}:{}:{index}:*", self.id.sale, self.id.number);
        redis::cmd("KEYS").arg(pattern).query_async(&mut redis).await.unwrap()
    }

    async fn lose(&self, index: u16) {
        let own = self.keys_of(index).await;
        assert!(own.iter().any(|key| key.starts_with("sale:")), "lane {index} is there: {own:?}");
        let mut redis = self.server.redis().await;
        let _: u32 = redis::cmd("DEL").arg(&own).query_async(&mut redis).await.unwrap();
    }

    /// Copies all lanes, as their shards' replicas have them now.
    async fn replicate(&self) -> Replica {
        let (mut redis, mut replica) = (self.server.redis().await, Vec::new());
        for lane in Lane::all(self.terms.lanes) {
            replica.push(dump(&mut redis, self.keys_of(lane.index()).await).await.unwrap());
        }
        replica
    }

    /// The replica of a lane's shard takes over. Writes that it missed are lost.
    async fn fail_over(&self, index: u16, to: &Replica) {
        self.lose(index).await;
        undump(&mut self.server.redis().await, &to[usize::from(index)]).await.unwrap();
    }
}

type Replica = Vec<Dump>;

/// Retries like a client while units are on their way, or an answer is lost. What it won without hearing is its own.
async fn reserve_at_last(round: RoundStock<'_>, uuid: uuid::Uuid, buyer: &UserId) -> Reserve {
    loop {
        match round.reserve(uuid, buyer, BuyerClass::EVERYONE).await {
            Err(StockError::OnTheWay) => tokio::task::yield_now().await,
            Err(error) if error.is_away() => tokio::time::sleep(Duration::from_millis(100)).await,
            Ok(Reserve::Replayed(stored)) if stored.state.is_live() => return Reserve::Reserved(stored.reservation),
            answer => return answer.unwrap(),
        }
    }
}

/// Waits until nothing is in cooldown, and makes the process forget what it knew.
async fn wait(lanes: &mut Lanes) {
    lanes.server.server = lanes.another_process();
    for index in 0..lanes.terms.lanes {
        lanes.set_cooldown_until(index, EpochMs(0)).await;
    }
}
