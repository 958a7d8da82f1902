//! A lab whose functions are recorded. Each runs as a process of its own, behind its own proxies.

use std::path::PathBuf;

use history::History;
use local::runtime_api::RuntimeApi;
use model::trace::{Function, How, Trace, What};
use tests::{Effect, Fault, Held, Mutants, Point, Queues, RecordedProxy, Recorder, When};

use crate::passes::LAB_RING;
use crate::prelude::*;
use crate::recording::recorded_answer;
use crate::resources::keys;

/// Longer than any payment window here.
pub(super) const LONG_S: i64 = 2000;
/// The hash tag of the round's keys.
const TAG: &str = "{lamp:1:0}";
/// How often the order queue delivers a message before it is a dead letter: once more than there are retry delays, as
/// in `infra/cdk`.
pub(super) const RECEIVES: u8 = order::RETRY_DELAYS_S.len() as u8 + 1;

pub(super) struct World {
    pub(super) lab: Lab,
    pub(super) recorder: Recorder,
    /// Whether the run has the fault in it.
    pub(super) is_mutated: bool,
    /// The fault, if it is in Redis or in a request.
    mutants: Mutants,
    /// Runs one of the functions instead of this process.
    program: Option<Program>,
    units: u8,
    limit: u8,
    /// Deliveries of a message until it is a dead letter.
    receives: u8,
}

#[derive(Clone)]
pub(super) struct Program {
    /// The function's name: `reservation` or `order`.
    pub(super) function: &'static str,
    pub(super) file: PathBuf,
    /// A script of which it has another text: the name and that text.
    pub(super) script: Option<(String, String)>,
}

/// A point just before or after the first request of this kind.
pub(super) fn at(kind: &str, when: When) -> Option<Point> {
    Some(Point { effect: Effect { kind: kind.to_owned(), nth: 0 }, when })
}

impl World {
    /// A lab whose round is published but not loaded.
    pub(super) async fn new(units: u8, limit: u8) -> Self {
        let lab = Lab::new().await;
        lab.publish(SALE, &terms(units.into(), limit)).await;
        for (_, text) in stock::expanded::ALL {
            lab.redis_text(&["SCRIPT", "LOAD", text]).await;
        }
        let recorder =
            Recorder::new(Queues { orders: lab.queue("orders").to_owned(), expiry: lab.queue("expiry").to_owned() });
        let (mutants, program) = (Mutants::default(), None);
        Self { lab, recorder, is_mutated: false, mutants, program, units, limit, receives: RECEIVES }
    }

    pub(super) fn with(self, mutants: Mutants) -> Self {
        Self { is_mutated: true, mutants, ..self }
    }

    pub(super) async fn with_program(mut self, program: Program) -> Self {
        if let Some((name, text)) = &program.script {
            self.lab.redis_text(&["SCRIPT", "LOAD", text]).await;
            self.mutants.digests.insert(redis::Script::new(text).get_hash().to_owned(), name.clone());
        }
        self.program = Some(program);
        self
    }

    /// Makes messages come again however often they fail.
    pub(super) fn without_dead_letters(self) -> Self {
        Self { receives: u8::MAX, ..self }
    }

    /// Runs a function as a process of its own, which may die at a point.
    pub(super) async fn run(
        &self,
        function: Function,
        of: Option<&ReservationId>,
        point: Option<Point>,
        ahead_s: i64,
        work: impl AsyncFnOnce(&Context) -> How,
    ) -> How {
        self.recorded(function, of, point, async |redis: &str, aws: &str| {
            // Nothing may depend on how busy the machine is.
            let config = cloud().await.deployment.patient_aws_config().into_builder().endpoint_url(aws).build();
            let context =
                Context::new(self.lab.settings(), config.clone(), Clock::ahead_by_ms(ahead_s * 1000).patient())
                    .with(Ledger::new(DynamoDb::new(&config), &self.lab.table))
                    .with(Stock::at(redis, PATIENT).unwrap())
                    .with(Sqs::new(&config))
                    .with(self.lab.reservation().keys);
            Box::pin(work(&context)).await
        })
        .await
    }

    /// Runs something that reaches Redis and AWS only by the addresses that it gets, and records what it does there. It
    /// may die at a point.
    async fn recorded(
        &self,
        function: Function,
        of: Option<&ReservationId>,
        point: Option<Point>,
        work: impl AsyncFnOnce(&str, &str) -> How,
    ) -> How {
        let (run, fault) = (self.recorder.begin(function, of), Fault::new(point));
        let valkey = SocketAddr::from(([127, 0, 0, 1], self.lab.valkey.port()));
        let redis = RecordedProxy::redis(valkey, &run, &fault, &self.mutants);
        let aws = RecordedProxy::aws(&cloud().await.deployment.endpoint, &run, &fault, &self.mutants);
        let (redis_url, endpoint) = (format!("redis://{}", redis.address()), aws.url());
        let mut how = How::Died;
        // Boxed: some of it takes a good part of a thread's stack.
        let work = Box::pin(async { how = work(&redis_url, &endpoint).await });
        let ended = fault.run(work).await;
        let how = if ended { how } else { How::Died };
        run.end(how);
        how
    }

    fn program_of(&self, name: &str) -> Option<&Program> {
        self.program.as_ref().filter(|program| program.function == name)
    }

    /// Starts a program as a process of its own for one event. `read` gets what it makes of it. If it dies, the process
    /// is killed.
    async fn run_program(
        &self,
        program: &Program,
        function: Function,
        of: Option<&ReservationId>,
        point: Option<Point>,
        event: Vec<u8>,
        read: impl FnOnce(&[u8]) -> How,
    ) -> How {
        self.recorded(function, of, point, async |redis: &str, aws: &str| {
            let limit = lambda_timeout(program.function);
            let api = RuntimeApi::start(limit).await.unwrap();
            let redis = [("REDIS_URL", redis.to_owned())];
            let _process = self.lab.process(program.function, &program.file, &api, aws, redis);
            let made = tokio::time::timeout(limit, api.invoke(event)).await.expect("it answers in time");
            read(&made.unwrap())
        })
        .await
    }

    async fn request(
        &self,
        function: Function,
        of: Option<&ReservationId>,
        ask: &Ask,
        point: Option<Point>,
    ) -> Option<Answer> {
        recorded_answer(&self.lab.recorder, ask, self.answer(function, of, ask, point)).await
    }

    async fn answer(
        &self,
        function: Function,
        of: Option<&ReservationId>,
        ask: &Ask,
        point: Option<Point>,
    ) -> Option<Answer> {
        let mut answer = None;
        if let Some(program) = self.program_of("reservation") {
            let event = events::http(&ask.sealed(&LAB_RING)).to_string().into_bytes();
            let read = |made: &[u8]| {
                answer = Some(Answer::of_program(ask, made));
                How::Done
            };
            self.run_program(program, function, of, point, event, read).await;
            return answer;
        }
        let asked = ask.request();
        self.run(function, of, point, 0, async |context: &Context| {
            let response = reservation::handle(&reservation::ReservationDeps::new(context).unwrap(), asked).await;
            answer = Some(Answer::of_handler(ask, response));
            How::Done
        })
        .await;
        answer
    }

    /// Requests a unit under this key.
    pub(super) async fn ask(&self, name: &str, key: &str, point: Option<Point>) -> Option<Answer> {
        let ask = Ask::reserve(SALE, name).header("idempotency-key", key);
        self.request(Function::Reservation, None, &ask, point).await
    }

    pub(super) async fn reserve(&self, name: &str) -> Reservation {
        self.lab.sell_returned().await;
        let answer = self.ask(name, "key", None).await.unwrap().expect(202);
        self.lab.reservation_of(answer.text("reservation_id"), name).await
    }

    /// The user's reservation in Redis, even if no client was told of it.
    pub(super) async fn reservation(&self, name: &str) -> Reservation {
        let round = round(SALE, 1);
        let reservations = self.lab.stock.round(&round).reservations_of(&user(name)).await.unwrap();
        reservations.into_iter().next().expect("the user has one").reservation
    }

    /// Delivers the message to the order function.
    pub(super) async fn order(&self, reservation: &Reservation, point: Option<Point>) -> How {
        let batch: SqsEvent = message_batch(&[reservation]);
        if let Some(program) = self.program_of("order") {
            let event = serde_json::to_vec(&batch).unwrap();
            let read = |made: &[u8]| how(&serde_json::from_slice(made).unwrap());
            return self.run_program(program, Function::Order, Some(&reservation.id), point, event, read).await;
        }
        self.run(Function::Order, Some(&reservation.id), point, 0, async |context: &Context| {
            how(&order::handle(&order::OrderDeps::new(context).unwrap(), batch).await)
        })
        .await
    }

    /// Reserves a unit for a user and places its order.
    pub(super) async fn buy(&self, name: &str) -> Reservation {
        let reservation = self.reserve(name).await;
        assert_eq!(self.order(&reservation, None).await, How::Done);
        reservation
    }

    pub(super) async fn dead_letter(&self, reservation: &Reservation, point: Option<Point>) -> How {
        let batch = message_batch(&[reservation]);
        self.run(Function::DeadLetter, Some(&reservation.id), point, 0, async |context: &Context| {
            how(&dead_letter::handle(&dead_letter::DeadLetterDeps::new(context).unwrap(), batch).await)
        })
        .await
    }

    /// Delivers the message to the expiry function after the payment window.
    pub(super) async fn expire(&self, reservation: &Reservation, point: Option<Point>) -> How {
        let batch = events::batch([ExpiryMessage::new(reservation.id.clone(), EpochMs(0)).to_body()]);
        self.run(Function::Expiry, Some(&reservation.id), point, LONG_S, async |context: &Context| {
            how(&expiry::handle(&expiry::ExpiryDeps::new(context).unwrap(), batch).await)
        })
        .await
    }

    pub(super) async fn cancel(&self, reservation: &Reservation, point: Option<Point>) -> Option<Answer> {
        let ask = Ask::cancel(reservation);
        self.request(Function::Cancel, Some(&reservation.id), &ask, point).await
    }

    /// Delivers a payment for the order.
    pub(super) async fn pay(&self, reservation: &Reservation) -> Answer {
        let ask = Ask::paid_for(&format!("pay_{}", reservation.user), reservation, &self.lab.payment_key);
        let (mut answer, asked) = (None, ask.request());
        self.run(Function::Payment, Some(&reservation.id), None, 0, async |context: &Context| {
            let deps = payment::PaymentDeps::new(context).unwrap();
            let response = recorded(&self.lab.recorder, &ask, payment::handle(&deps, asked)).await;
            answer = Some(Answer::of_handler(&ask, response));
            How::Done
        })
        .await;
        answer.expect("nothing dies").expect(200)
    }

    pub(super) async fn warm_up(&self) {
        self.run(Function::Reconciliation, None, None, 0, async |context: &Context| {
            assert_eq!(warmup::handle(&warmup::WarmupDeps::new(context).unwrap()).await.unwrap().failed, 0);
            How::Done
        })
        .await;
    }

    /// Reconciliation that waits for nothing.
    pub(super) async fn reconcile(&self) {
        self.reconcile_in(0).await;
    }

    /// The same, after every payment window.
    pub(super) async fn reconcile_later(&self) {
        self.reconcile_in(LONG_S).await;
    }

    async fn reconcile_in(&self, ahead_s: i64) {
        self.run(Function::Reconciliation, None, None, ahead_s, async |context: &Context| {
            let deps = reconciliation::ReconciliationDeps {
                send_again_after: Duration::ZERO,
                ..reconciliation::ReconciliationDeps::new(context).unwrap()
            };
            assert_eq!(reconciliation::handle(&deps).await.unwrap().failed, 0);
            How::Done
        })
        .await;
    }

    /// Makes Redis lose all keys.
    pub(super) async fn lose(&self) {
        let from = self.recorder.moment();
        self.lab.redis(&["FLUSHALL"]).await;
        self.recorder.happened(from, What::Loses {});
    }

    /// Runs `work`, whose writes to Redis are then lost in a failover.
    pub(super) async fn lose_what(&self, work: impl Future) {
        let from = self.recorder.moment();
        let saved = keys(&self.lab.valkey.url()).await;
        self.recorder.happened(from, What::Saves {});
        work.await;
        let from = self.recorder.moment();
        self.lab.rewind(&saved).await;
        self.recorder.happened(from, What::FailsOver {});
    }

    /// Brings everything to rest, and tells what the clients heard. To be called once, after the trace was read.
    pub(super) async fn history(&self, name: &str) -> History {
        heal(&self.lab).await;
        let redis = self.lab.redis_written_at.get().map_or(Redis::Keeps, |at| Redis::MayForgetFrom(*at));
        // What comes after the payment window has a clock that is ahead.
        self.lab.history(Clocks::Apart, name, &[SALE], redis).await
    }

    pub(super) async fn trace(&self) -> Trace {
        let redis = Held::now(&self.lab.valkey.url(), TAG).await.unwrap();
        let items = items(&self.lab.dynamodb, &self.lab.table).await;
        let items: Vec<Value> =
            items.values().map(|item| item.iter().map(|(k, v)| (k.clone(), written(v))).collect()).collect();
        self.recorder.holds(&redis, &items);
        self.so_far()
    }

    pub(super) fn so_far(&self) -> Trace {
        self.recorder.trace(self.units, self.limit, self.receives)
    }
}

fn how(response: &SqsBatchResponse) -> How {
    if response.batch_item_failures.is_empty() { How::Done } else { How::Failed }
}

/// The value as DynamoDB writes it, for the types that the recorder reads.
fn written(value: &AttributeValue) -> Value {
    match value {
        AttributeValue::S(text) => json!({ "S": text }),
        AttributeValue::N(number) => json!({ "N": number }),
        AttributeValue::Ss(texts) => json!({ "SS": texts }),
        _ => Value::Null,
    }
}
