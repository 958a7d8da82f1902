//! A system for one test: the functions run in this process, with their own Valkey, table and queues.

use std::sync::OnceLock;
use std::sync::atomic::AtomicI64;

use fulfilment::load_round;
use gate::PassKeys;
use local::function::FunctionProcess;
use local::runtime_api::RuntimeApi;
use local::valkey::Valkey;
use process::Snapshots;
use runtime::Moment;
use sale::audit::Audit;
use stock::Counters;
use tokio::task::spawn_blocking;

use crate::answer::respond;
use crate::passes::lab_secret;
use crate::prelude::*;
use crate::resources::{make_queue, make_table};

/// Functions' limits have their own tests. Elsewhere nothing may depend on how busy the machine is.
pub(crate) const PATIENT: Clock = Clock::system().patient();

pub(crate) const PICTURE_HOST: &str = "img.example.com";

pub(crate) fn movable_clock() -> (Clock, &'static AtomicI64) {
    let moved_ms: &AtomicI64 = Box::leak(Box::default());
    (Clock::moved_by_ms(moved_ms).patient(), moved_ms)
}

/// The queues of a lab, and the settings of functions that have their URLs.
pub(crate) const QUEUES: [(&str, &str); 11] = [
    ("winners", "WINNERS_QUEUE_URL"),
    ("winners_dlq", "WINNERS_DLQ_URL"),
    ("orders", "ORDERS_QUEUE_URL"),
    ("orders_dlq", "ORDERS_DLQ_URL"),
    ("expiry", "EXPIRY_QUEUE_URL"),
    ("expiry_dlq", "EXPIRY_DLQ_URL"),
    ("quarantine", "QUARANTINE_QUEUE_URL"),
    ("rebuilds", "REBUILDS_QUEUE_URL"),
    ("webhook", "WEBHOOK_QUEUE_URL"),
    ("webhook_dlq", "WEBHOOK_DLQ_URL"),
    ("emitter_failures", "EMITTER_FAILURES_QUEUE_URL"),
];

macro_rules! functions {
    ($lab:ident, $process:expr, $($function:ident: $deps:ident),*) => {
        impl Lab {
            $(pub(crate) fn $function(&self) -> $function::$deps {
                let $lab = self;
                $function::$deps::new(&$process).unwrap()
            })*
        }
    };
}
// In the lab's own process they share what it has read of sales, and have counted no request yet.
functions!(
    lab,
    lab.context,
    admission: AdmissionDeps,
    daily_reset: DailyResetDeps,
    dead_letter: DeadLetterDeps,
    order: OrderDeps,
    payment: PaymentDeps,
    reservation: ReservationDeps,
    waiting_room: WaitingRoomDeps,
    warmup: WarmupDeps
);
// In another process they have read nothing yet.
functions!(lab, lab.another_process(), admin: AdminDeps, catalog: CatalogDeps, emitter: EmitterDeps);

/// By this clock nobody has waited for two seconds, after which a look makes the order.
pub(crate) const JUST_RESERVED: Clock = Clock::ahead_by_ms(-30_000).patient();

pub(crate) struct Lab {
    pub(crate) valkey: Valkey,
    pub(crate) stock: Stock,
    pub(crate) ledger: Ledger,
    pub(crate) dynamodb: DynamoDb,
    pub(crate) sqs: Sqs,
    pub(crate) table: String,
    /// What a deployment would tell its functions.
    environment: BTreeMap<&'static str, String>,
    /// Calls that the functions make to DynamoDB and SQS, without the test's own.
    pub(crate) calls: Calls,
    /// Calls that the snapshots make to DynamoDB from time to time.
    pub(crate) snapshot_calls: Calls,
    pub(crate) payment_key: String,
    /// What clients ask the lab's functions about units, and the answers.
    pub(crate) recorder: Recorder,
    /// When the test itself first wrote to Redis, by the recorder's clock.
    pub(crate) redis_written_at: OnceLock<u64>,
    pub(crate) snapshots: Snapshots,
    /// The process that runs all the lab's functions, unless a test says otherwise.
    context: Context,
    /// Every process is made from this.
    resources: Context,
}

impl Lab {
    pub(crate) async fn new() -> Self {
        let deployment = &cloud().await.deployment;
        let config = deployment.patient_aws_config();
        let (dynamodb, sqs) = (DynamoDb::new(&config), Sqs::new(&config));
        let name = format!("lab-{}", Uuid::now_v7().as_simple());
        make_table(&dynamodb, &deployment.table, &name).await;
        let (calls, snapshot_calls) = (Calls::default(), Calls::default());
        let counted_ledger = |calls: &Calls| {
            let config = aws_sdk_dynamodb::config::Builder::from(&config).interceptor(calls.hook());
            Ledger::new(DynamoDb::from_conf(config.build()), &name)
        };
        let counted_sqs = Sqs::from_conf(aws_sdk_sqs::config::Builder::from(&config).interceptor(calls.hook()).build());
        let snapshots = Snapshots::new(counted_ledger(&snapshot_calls), PATIENT);
        let valkey = spawn_blocking(Valkey::start).await.unwrap().unwrap();
        let stock = Stock::at(&valkey.url(), PATIENT).unwrap();
        let ledger = counted_ledger(&calls);
        let pass_secret = lab_secret().await;
        let keys = PassKeys::new(AwsClient::secrets_manager(&config), pass_secret, PATIENT);
        let redis_url = valkey.url();
        let others: [(&'static str, &str); 10] = [
            ("TABLE_NAME", &*name),
            ("REDIS_URL", &redis_url),
            // No bus has this name unless a test creates one.
            ("EVENT_BUS_NAME", &name),
            ("WEBHOOK_SECRET_ARN", &deployment.payment_secret),
            // Any key will do.
            ("WINNER_SECRET_ARN", &deployment.payment_secret),
            ("PASS_SECRET_ARN", pass_secret),
            ("PAYMENT_SECRET_ARN", &deployment.payment_secret),
            ("OPERATOR_CLAIM", "groups,cognito:groups"),
            ("OPERATOR_GROUP", "operators"),
            ("PICTURE_HOSTS", PICTURE_HOST),
        ];
        let mut environment: BTreeMap<_, _> = others.map(|(setting, value)| (setting, value.to_owned())).into();
        for (queue, setting) in QUEUES {
            environment.insert(setting, make_queue(&sqs, &format!("{name}-{}", queue.replace('_', "-"))).await);
        }
        let settings = Settings::given(environment.clone());
        let resources = Context::new(settings, config, PATIENT)
            .with(stock.clone())
            .with(ledger.clone())
            .with(counted_sqs)
            // Saves each of many processes a call to Secrets Manager.
            .with(keys);
        Self {
            context: resources.another_process().with(snapshots.clone()),
            resources,
            stock,
            snapshots,
            snapshot_calls,
            ledger,
            environment,
            recorder: Recorder::default(),
            redis_written_at: OnceLock::new(),
            payment_key: deployment.payment_key().await.unwrap(),
            table: name,
            valkey,
            dynamodb,
            sqs,
            calls,
        }
    }

    pub(crate) fn with_stock(self, stock: Stock) -> Self {
        let (context, resources) = (self.context.with(stock.clone()), self.resources.with(stock.clone()));
        Self { stock, context, resources, ..self }
    }

    pub(crate) fn queue(&self, name: &str) -> &str {
        let (_, setting) = QUEUES.into_iter().find(|(queue, _)| *queue == name).expect("a queue of the lab");
        &self.environment[setting]
    }

    /// Starts a built program behind a Runtime API of its own, with the lab's settings and these.
    pub(crate) async fn process(
        &self,
        function: &str,
        program: &str,
        endpoint: &str,
        settings: impl IntoIterator<Item = (&'static str, String)>,
    ) -> (RuntimeApi, FunctionProcess) {
        let mut environment = self.environment.clone();
        environment.insert("METRICS_NAMESPACE", "test".to_owned());
        environment.extend(settings);
        let settings: Vec<_> = environment.into_iter().collect();
        let api = RuntimeApi::start(lambda_timeout(function)).await.unwrap();
        let program = paths::target().join(program);
        let process = FunctionProcess::start(function, &program, api.address(), endpoint, &settings).unwrap();
        (api, process)
    }

    pub(crate) fn settings(&self) -> Settings {
        self.resources.settings().clone()
    }

    pub(crate) fn another_process(&self) -> Context {
        self.resources.another_process()
    }

    pub(crate) fn another_process_at(&self, clock: Clock) -> Context {
        self.resources.another_process_at(clock.patient())
    }

    /// A lab with a sale on these terms, published and not loaded.
    pub(crate) async fn publishing(terms: Terms) -> Self {
        let lab = Self::new().await;
        lab.publish(SALE, &terms).await;
        lab
    }

    /// The same, loaded.
    pub(crate) async fn selling(terms: Terms) -> Self {
        let lab = Self::publishing(terms).await;
        lab.load(SALE).await;
        lab
    }

    pub(crate) async fn open(&self, sale: &str, terms: &Terms) {
        self.publish(sale, terms).await;
        self.load(sale).await;
    }

    pub(crate) async fn publish(&self, sale: &str, terms: &Terms) {
        rounds::draft(&self.ledger, sale, terms, None).await;
        rounds::publish(&self.ledger, sale).await;
        self.refresh_snapshots().await;
        self.snapshots.of(&sale.parse().unwrap()).await.unwrap();
    }

    pub(crate) async fn refresh_snapshots(&self) {
        self.snapshots.refresh().await.unwrap();
    }

    pub(crate) async fn offer(&self) -> Offer {
        self.ledger.offer(&SALE.parse().unwrap()).await.unwrap().expect("the ledger has it")
    }

    pub(crate) async fn round(&self) -> Round {
        rounds::latest_round(&self.ledger, &SALE.parse().unwrap()).await
    }

    /// Loads the sale's round from the ledger, as if just before it opened.
    pub(crate) async fn load(&self, sale: &str) {
        let round = rounds::latest_round(&self.ledger, &sale.parse().unwrap()).await;
        let before = EpochMs(round.terms.first_opens_at_ms().0 - 1);
        load_round(&self.stock, &self.ledger, &round, before).await.unwrap();
    }

    /// The reservation function in another process, which has read nothing yet.
    pub(crate) fn another_reservation(&self, clock: Clock) -> reservation::ReservationDeps {
        reservation::ReservationDeps::new(&self.another_process_at(clock)).unwrap()
    }

    /// The reservation function, by whose clock every reservation is new.
    pub(crate) fn just_reserved(&self) -> reservation::ReservationDeps {
        reservation::ReservationDeps { clock: JUST_RESERVED, ..self.reservation() }
    }

    /// The admission function in another process, which has read nothing yet.
    pub(crate) fn another_admission(&self, clock: Clock) -> admission::AdmissionDeps {
        admission::AdmissionDeps::new(&self.another_process_at(clock)).unwrap()
    }

    /// The catalog function, which has read nothing yet.
    pub(crate) fn catalog_at(&self, clock: Clock) -> catalog::CatalogDeps {
        catalog::CatalogDeps::new(&self.another_process_at(clock)).unwrap()
    }

    /// The expiry function, with its clock this many seconds ahead.
    pub(crate) fn expiry_in(&self, ahead_s: i64) -> expiry::ExpiryDeps {
        expiry::ExpiryDeps::new(&self.another_process_at(Clock::ahead_by_ms(ahead_s * 1000))).unwrap()
    }

    pub(crate) fn draw_in(&self, ahead_s: i64) -> draw::DrawDeps {
        draw::DrawDeps::new(&self.another_process_at(Clock::ahead_by_ms(ahead_s * 1000))).unwrap()
    }

    /// Answers a request with the function that the gateway would route it to.
    pub(crate) async fn answer(&self, ask: &Ask) -> Answer {
        // A request without a route goes to a function that does not know it either.
        let function = OPENAPI.function_for(ask).unwrap_or("reservation");
        let answer = async { Some(Answer::of_handler(ask, self.respond(function, ask.request()).await)) };
        let answer = recorded_answer(&self.recorder, ask, answer).await.expect("it does not die");
        if function == "admin" {
            // In a deployment, snapshots refresh within seconds.
            self.refresh_snapshots().await;
        }
        answer
    }

    pub(crate) async fn respond(&self, function: &str, request: lambda_http::Request) -> Response<Body> {
        // As the functions above: in another process, these have read nothing yet.
        let process = if ["admin", "catalog"].contains(&function) { &self.another_process() } else { &self.context };
        respond(function, process, request).await
    }

    pub(crate) async fn operate(&self, what: &str, body: &Value) -> Answer {
        self.answer(&Ask::post(format!("/v1/admin/{what}")).by_operator().json(body)).await
    }

    /// Has an operator change the first round, and returns what the operator then sees.
    pub(crate) async fn update(&self, what: &str, change: Value) -> Value {
        self.answer(&Ask::update(what, change)).await.expect(200).body
    }

    pub(crate) async fn throttle(&self, requests_per_s: Option<u32>) {
        self.update("throttle", json!({ "requests_per_s": requests_per_s })).await;
    }

    /// Puts returned units of the first round on sale again.
    pub(crate) async fn sell_returned(&self) {
        let id = round(SALE, 1);
        self.sell_returned_in(&id, self.lanes_of(&id)).await;
    }

    /// Puts returned units of a round on sale again. The lab's own process has then forgotten that nothing was left.
    pub(crate) async fn sell_returned_in(&self, id: &RoundId, lanes: u16) {
        let stock = self.stock.round_in(id, lanes);
        // What a search in several lanes found is remembered for almost as long as a cooldown.
        if lanes == 1 && tests::sell_returned(&self.valkey, stock).await {
            while self.remembers_sold_out(id).await {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
        // The stock of some labs is in another Redis, where nothing has changed.
        tests::until_cooldown_ends(stock).await;
    }

    /// Whether the lab's own process tells strangers that a round is sold out without asking Redis.
    async fn remembers_sold_out(&self, id: &RoundId) -> bool {
        let Ok(snapshot) = self.snapshots.now().await else { return false };
        let cached = snapshot.sale(&id.sale).filter(|cached| cached.round.id == *id);
        cached.is_some_and(|cached| cached.sold_out.covers(&user("stranger"), Moment::now(PATIENT)).is_some())
    }

    /// Reserves a unit for a user. Panics if there is none.
    pub(crate) async fn reserve(&self, name: &str) -> Reservation {
        self.sell_returned().await;
        self.accepted(&Ask::reserve(SALE, name), name).await
    }

    pub(crate) async fn accepted(&self, ask: &Ask, name: &str) -> Reservation {
        self.reservation_of(self.answer(ask).await, name).await
    }

    /// The reservation with which a user's request was accepted.
    pub(crate) async fn reservation_of(&self, answer: Answer, name: &str) -> Reservation {
        let id: ReservationId = answer.expect(202).text("reservation_id").parse().unwrap();
        self.stored(&id, name).await.expect("Redis has it").reservation
    }

    /// Delivers one batch with these reservations to the order function.
    pub(crate) async fn deliver(&self, reservations: &[&Reservation]) -> SqsBatchResponse {
        order::handle(&self.order(), message_batch(reservations.iter().copied())).await
    }

    /// The same, to an order function whose clock is this far ahead. None may fail.
    pub(crate) async fn deliver_in(&self, ahead_s: i64, reservations: &[&Reservation]) {
        let late = order::OrderDeps { clock: Clock::ahead_by_ms(ahead_s * 1000), ..self.order() };
        let delivered = order::handle(&late, message_batch(reservations.iter().copied())).await;
        assert!(delivered.batch_item_failures.is_empty(), "{delivered:?}");
    }

    /// Reserves a unit for a user and places its order.
    pub(crate) async fn buy(&self, name: &str) -> Reservation {
        let reservation = self.reserve(name).await;
        assert!(self.deliver(&[&reservation]).await.batch_item_failures.is_empty());
        reservation
    }

    /// Delivers the callback of a payment and returns its outcome.
    pub(crate) async fn pay(&self, payment: &str, reservation: &Reservation) -> String {
        let ask = Ask::paid_for(payment, reservation, &self.payment_key);
        self.answer(&ask).await.expect(200).text("outcome").to_owned()
    }

    pub(crate) async fn order_of(&self, reservation: &Reservation) -> Order {
        self.ledger.order(&reservation.id).await.unwrap().expect("the ledger has it")
    }

    pub(crate) async fn stored(&self, id: &ReservationId, name: &str) -> Option<StoredReservation> {
        let lanes = self.lanes_of(&id.round);
        self.stock.round_in(&id.round, lanes).reservation(id.uuid, &user(name)).await.unwrap()
    }

    /// How many lanes a round has, as far as this process knows.
    pub(crate) fn lanes_of(&self, id: &RoundId) -> u16 {
        self.snapshots.lanes_of(&id.sale).unwrap_or(1)
    }

    pub(crate) async fn reservation_state(&self, reservation: &Reservation) -> ReservationState {
        self.stored(&reservation.id, reservation.user.as_str()).await.expect("Redis has it").state
    }

    /// The first round's counters in Redis.
    pub(crate) async fn counters(&self) -> Counters {
        self.stock.round(&round(SALE, 1)).counters().await.unwrap().expect("the round is loaded")
    }

    pub(crate) async fn free(&self) -> Vec<Unit> {
        let lanes = self.lanes_of(&round(SALE, 1));
        let view = self.stock.round_in(&round(SALE, 1), lanes).view().await.unwrap().expect("the round is loaded");
        let mut free: Vec<Unit> = view.free.into_iter().flatten().map(Unit).collect();
        free.sort();
        free
    }

    /// What an operator reads there.
    pub(crate) async fn read(&self, path: impl Into<String>) -> Value {
        self.answer(&Ask::get(path).by_operator()).await.expect(200).body
    }

    pub(crate) async fn read_sale(&self, what: &str) -> Value {
        self.read(format!("/v1/admin/sales/{SALE}/{what}")).await
    }

    /// The answers to a request and to those that it leads to, page by page.
    pub(crate) async fn pages(&self, ask: Ask) -> Vec<Value> {
        let (mut pages, mut path) = (Vec::new(), ask.path.clone());
        loop {
            let page = self.answer(&Ask { path, ..ask.clone() }).await.expect(200).body;
            let next = page["next_cursor"].as_str().map(str::to_owned);
            pages.push(page);
            let Some(next) = next else { return pages };
            // A cursor may contain characters that must be escaped in a query.
            let next = next.replace('#', "%23").replace('|', "%7C").replace('/', "%2F");
            path = format!("{}{}cursor={next}", ask.path, if ask.path.contains('?') { '&' } else { '?' });
        }
    }

    pub(crate) async fn audit(&self) -> Audit {
        let round = self.round().await;
        let audited = self.audited(&round).await;
        assert!(audited.in_redis);
        audited.audit
    }

    pub(crate) async fn audited(&self, round: &Round) -> fulfilment::Audited {
        fulfilment::audit(&self.stock, &self.ledger, round, now()).await.unwrap()
    }

    /// The audit's free, held and ordered units. Panics unless it is clean.
    #[track_caller]
    pub(crate) fn clean_audit(&self) -> impl Future<Output = (u32, u32, u32)> {
        let caller = std::panic::Location::caller();
        async move {
            let audit = self.audit().await;
            assert!(audit.is_clean(), "at {caller}: {audit:?}");
            (audit.free, audit.held, audit.ordered)
        }
    }
}

pub(crate) fn message_batch<'a>(reservations: impl IntoIterator<Item = &'a Reservation>) -> SqsEvent {
    events::batch(reservations.into_iter().map(|reservation| OrderMessage::new(reservation.clone(), None).to_body()))
}

pub(crate) fn expiry_batch<'a>(reservations: impl IntoIterator<Item = &'a Reservation>) -> SqsEvent {
    let expiries = reservations.into_iter().map(|order| ExpiryMessage::new(order.id.clone(), EpochMs(0)).to_body());
    events::batch(expiries)
}

pub(crate) fn texts<'a>(values: impl IntoIterator<Item = &'a Value>, member: &str) -> Vec<String> {
    values.into_iter().map(|value| value[member].as_str().unwrap().to_owned()).collect()
}

pub(crate) fn listed(pages: &[Value], list: &str) -> Vec<Value> {
    pages.iter().flat_map(|page| page[list].as_array().unwrap().clone()).collect()
}
