use local::valkey::Valkey;
use redis::aio::MultiplexedConnection;
use sale::{DoorTerms, EpochMs, Lane, Price, ReservationId, Round, SaleId, Terms, UserId};
use stock::{Reserve, RoundStock, RoundView, Stock};
use uuid::Uuid;

/// A round in a Valkey of its own.
pub struct TestRound {
    /// The server.
    pub valkey: Valkey,
    /// The stock in it.
    pub stock: Stock,
    /// The sale.
    pub sale: SaleId,
    /// The round.
    pub round: Round,
}

/// The lane of every test.
const LANE: Lane = Lane(0);

/// Terms of a sale that is open since a minute and for an hour by the machine's clock.
pub fn terms(total: u32, per_user_limit: u8) -> Terms {
    let now = runtime_now();
    Terms {
        title: "A lamp".into(),
        opens_at_ms: EpochMs(now - 60_000),
        closes_at_ms: EpochMs(now + 3_600_000),
        total,
        per_user_limit,
        price: Price { price_minor: 990, currency: "EUR".parse().expect("a currency") },
        payment_window_s: 900,
        door: DoorTerms::default(),
    }
}

fn runtime_now() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a clock after 1970");
    i64::try_from(since.as_millis()).expect("a clock before the year 292 million")
}

/// Waits until what came back to a round is on sale again.
pub async fn until_sellable(stock: &Stock, sale: &SaleId, round: Round) {
    loop {
        let Some(counters) = stock.counters(sale, round, LANE).await.expect("Redis answers") else { return };
        let left = counters.sellable_at_ms.0 - runtime_now();
        if left <= 0 {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(left.unsigned_abs())).await;
    }
}

/// A user.
pub fn user(name: impl std::fmt::Display) -> UserId {
    name.to_string().parse().expect("a user id")
}

/// A reservation id that nobody had before.
pub fn fresh_id(sale: &SaleId, round: Round) -> ReservationId {
    ReservationId { sale: sale.clone(), round, uuid: Uuid::now_v7() }
}

impl TestRound {
    /// Starts a Valkey and loads one round of these terms.
    pub async fn start(terms: Terms) -> Self {
        let round = Self::start_empty();
        round.load(terms, Vec::new()).await;
        round
    }

    /// Starts a Valkey without any keys.
    pub fn start_empty() -> Self {
        let valkey = Valkey::start().expect("Valkey starts");
        let stock = Stock::new(&valkey.url()).expect("a stock");
        Self { valkey, stock, sale: "lamp".parse().expect("a sale id"), round: Round(1) }
    }

    /// Loads the round with what is taken.
    pub async fn load(&self, terms: Terms, taken: Vec<(UserId, stock::Hold)>) -> stock::Loaded {
        let (sale, round) = (self.sale.clone(), self.round);
        let epoch_ms = EpochMs(runtime_now());
        let round = RoundStock {
            sale,
            round,
            lane: LANE,
            terms,
            paused: false,
            version: 1,
            epoch_ms,
            taken,
            denied: Vec::new(),
        };
        self.stock.load(&round).await.expect("the round is loaded")
    }

    /// Reserves under a fresh id.
    pub async fn reserve(&self, user: &UserId) -> (ReservationId, Reserve) {
        let id = fresh_id(&self.sale, self.round);
        let answer = self.reserve_as(&id, user).await;
        (id, answer)
    }

    /// Reserves under this id.
    pub async fn reserve_as(&self, id: &ReservationId, user: &UserId) -> Reserve {
        self.stock.reserve(id, LANE, user).await.expect("Redis answers")
    }

    /// Waits until what came back to the round is on sale again.
    pub async fn until_sellable(&self) {
        until_sellable(&self.stock, &self.sale, self.round).await;
    }

    /// Reserves and expects a unit, once what came back is on sale again.
    pub async fn buy(&self, user: &UserId) -> (ReservationId, stock::Hold) {
        self.until_sellable().await;
        match self.reserve(user).await {
            (id, Reserve::Reserved(hold)) => (id, hold),
            (_, other) => panic!("{user} got {other:?} and no unit"),
        }
    }

    /// Everything that Redis says of the round.
    pub async fn view(&self) -> RoundView {
        self.stock.view(&self.sale, self.round, LANE).await.expect("Redis answers").expect("the round is loaded")
    }

    /// A plain connection to the server.
    pub async fn redis(&self) -> MultiplexedConnection {
        let client = redis::Client::open(self.valkey.url()).expect("an address");
        client.get_multiplexed_async_connection().await.expect("a connection")
    }
}
