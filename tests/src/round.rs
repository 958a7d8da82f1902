use std::time::Duration;

use local::valkey::Valkey;
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, RedisResult};
use runtime::Clock;
use sale::{
    DoorTerms, EpochMs, Goods, Lane, Price, Reservation, ReservationId, ReservationState, RoundId, RoundNumber, Slot,
    StoredReservation, Terms, Unit, UserId,
};
use stock::expanded::LAYOUT;
use stock::{Reserve, RoundLoad, RoundStock, RoundView, Stock};
use uuid::Uuid;

/// How long a test of the scripts waits for Redis, which a busy machine may hold up for longer than a function would wait.
const PATIENCE: Duration = Duration::from_secs(60);

/// A round in a Valkey of its own.
pub struct TestRound {
    pub valkey: Valkey,
    pub server: Stock,
    pub id: RoundId,
}

/// Terms of a sale that opened a minute ago and is open for an hour, by the machine's clock.
pub fn terms(total: u32, per_user_limit: u8) -> Terms {
    let now = Clock::system().now();
    Terms {
        title: "A lamp".into(),
        goods: Goods::default(),
        opens_at_ms: now.minus_s(60),
        closes_at_ms: now.plus_s(3600),
        total,
        per_user_limit,
        price: Price { price_minor: 990, currency: "EUR".parse().expect("a currency") },
        payment_window_s: 900,
        door: DoorTerms::default(),
        gate: sale::GateTerms::default(),
        allocation: sale::Allocation::default(),
        settlement: sale::Settlement::default(),
        rain: None,
        early_access: Vec::new(),
        line: None,
        expected_audience: None,
        lanes: 1,
    }
}

/// How often Redis is asked that does not answer a busy machine in time.
const TRIES: usize = 10;

/// For how many more milliseconds returned units of a round are in cooldown.
async fn cooldown_left_ms(stock: RoundStock<'_>) -> u64 {
    let mut asked = stock.counters().await;
    for _ in 1..TRIES {
        if asked.is_err() {
            asked = stock.counters().await;
        }
    }
    let counters = asked.expect("Redis answers");
    counters.map_or(0, |counters| counters.cooldown_until_ms.since_ms(Clock::system().now()))
}

/// Waits until returned units of a round are on sale again.
pub async fn until_cooldown_ends(stock: RoundStock<'_>) {
    while let left @ 1.. = cooldown_left_ms(stock).await {
        tokio::time::sleep(Duration::from_millis(left)).await;
    }
}

/// Puts returned units of a round with one lane on sale, as if it had waited. Returns whether any were in cooldown. A
/// process that heard that nothing is left may still say so.
pub async fn sell_returned(valkey: &Valkey, stock: RoundStock<'_>) -> bool {
    if cooldown_left_ms(stock).await == 0 {
        return false;
    }
    let key = format!("sale:{}", stock.tag(Lane::default()));
    set_cooldown_until(&mut redis_at(&valkey.url()).await, &key, EpochMs(0)).await.expect("Redis answers");
    true
}

/// Sets until when the returned units of the round, or of its lane, that `key` is of are in cooldown.
pub async fn set_cooldown_until(redis: &mut MultiplexedConnection, key: &str, at: EpochMs) -> RedisResult<()> {
    let mut set = redis::cmd("SETRANGE");
    let set = set.arg(key).arg(packed_at("cooldown_until_ms")).arg(&at.0.to_be_bytes()[2..]);
    set.query_async::<usize>(redis).await.map(drop)
}

pub fn packed_at(field: &str) -> usize {
    let row = LAYOUT.lines().find(|row| row.contains(&format!("| `{field}` |"))).expect("a field");
    row.split('|').nth(1).expect("its offset").trim().parse().expect("a number")
}

/// A connection to Redis that waits on busy machines, too: the client's own limit is half a second.
pub async fn redis_at(url: &str) -> MultiplexedConnection {
    let client = redis::Client::open(url).expect("an address");
    let patient = AsyncConnectionConfig::new();
    let patient = patient.set_connection_timeout(Some(PATIENCE)).set_response_timeout(Some(PATIENCE));
    client.get_multiplexed_async_connection_with_config(&patient).await.expect("a connection")
}

pub fn user(name: impl std::fmt::Display) -> UserId {
    name.to_string().parse().expect("a user id")
}

pub fn round(sale: &str, number: u32) -> RoundId {
    RoundId { sale: sale.parse().expect("a sale id"), number: RoundNumber(number) }
}

pub fn fresh_id(round: &RoundId) -> ReservationId {
    ReservationId { round: round.clone(), uuid: Uuid::now_v7() }
}

/// What loads a round of which nothing is sold.
pub fn unsold(terms: Terms) -> RoundLoad {
    RoundLoad { terms, paused: false, version: 1, epoch_ms: EpochMs(1), taken: Vec::new(), blocked: Vec::new() }
}

/// A new reservation, made in 1970.
pub fn fresh_reservation(round: &RoundId, user: &UserId, unit: u32, slot: u8) -> Reservation {
    let (id, lane, reserved_at_ms) = (fresh_id(round), Lane::default(), EpochMs(1));
    Reservation { id, user: user.clone(), lane, unit: Unit(unit), slot: Slot(slot), reserved_at_ms }
}

pub fn held(reservation: &Reservation) -> StoredReservation {
    StoredReservation { reservation: reservation.clone(), state: ReservationState::Held }
}

impl TestRound {
    pub async fn start(terms: Terms) -> Self {
        let round = Self::start_empty();
        round.load(terms, Vec::new()).await;
        round
    }

    pub fn start_empty() -> Self {
        let valkey = Valkey::start().expect("Valkey starts");
        let server = Stock::at(&valkey.url(), Clock::system().patient()).expect("a stock");
        Self { valkey, server, id: round("lamp", 1) }
    }

    pub fn stock(&self) -> RoundStock<'_> {
        self.server.round(&self.id)
    }

    pub async fn load(&self, terms: Terms, taken: Vec<Reservation>) -> bool {
        let load = RoundLoad { epoch_ms: Clock::system().now(), taken, ..unsold(terms) };
        self.stock().load(&load).await.expect("the round is loaded")
    }

    pub fn fresh_reservation(&self, user: &UserId, unit: u32, slot: u8) -> Reservation {
        fresh_reservation(&self.id, user, unit, slot)
    }

    pub async fn reserve(&self, user: &UserId) -> Reserve {
        self.reserve_as(&fresh_id(&self.id), user).await
    }

    pub async fn reserve_as(&self, id: &ReservationId, user: &UserId) -> Reserve {
        self.server.round(&id.round).reserve(id.uuid, user, sale::BuyerClass::EVERYONE).await.expect("Redis answers")
    }

    /// Puts returned units of the round on sale again.
    pub async fn sell_returned(&self) {
        sell_returned(&self.valkey, self.stock()).await;
    }

    /// Reserves and expects a unit. Puts returned units on sale again first.
    pub async fn buy(&self, user: &UserId) -> Reservation {
        self.sell_returned().await;
        let id = fresh_id(&self.id);
        match self.reserve_as(&id, user).await {
            Reserve::Reserved(reservation) => {
                assert_eq!((&reservation.id, &reservation.user), (&id, user));
                reservation
            }
            other => panic!("{user} got {other:?} instead of a unit"),
        }
    }

    pub async fn stored(&self, reservation: &Reservation) -> Option<StoredReservation> {
        self.stock().reservation(reservation.id.uuid, &reservation.user).await.expect("Redis answers")
    }

    pub async fn confirm(&self, reservation: &Reservation) -> bool {
        self.stock().confirm(reservation).await.expect("Redis answers")
    }

    /// Gives the reservation's unit back. The unit is no other order's, and the order did not end unpaid.
    pub async fn release(&self, reservation: &Reservation) {
        self.stock().release(reservation, None, false).await.expect("Redis answers");
    }

    pub async fn view(&self) -> RoundView {
        self.stock().view().await.expect("Redis answers").expect("the round is loaded")
    }

    pub async fn redis(&self) -> MultiplexedConnection {
        redis_at(&self.valkey.url()).await
    }
}
