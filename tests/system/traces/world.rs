//! A lab whose functions are recorded. Each has connections and clients of its own, behind its own proxies.

use history::History;
use model::trace::{Function, How, Trace, What};
use tests::{Effect, Fault, Held, Mutants, Point, Queues, Recorder, When};

use crate::contents::{image, keys};
use crate::prelude::*;

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
    units: u8,
    limit: u8,
    /// Deliveries of a message until it is a dead letter.
    receives: u8,
}

/// A point just before or after the first request of this kind.
pub(super) fn at(kind: &str, when: When) -> Option<Point> {
    Some(Point { effect: Effect { kind: kind.to_owned(), nth: 0 }, when })
}

impl World {
    /// A lab whose round is published but not loaded.
    pub(super) async fn new(units: u8, limit: u8) -> Self {
        let lab = Lab::publishing(terms(units.into(), limit)).await;
        for (_, text) in stock::expanded::ALL {
            lab.redis_text(&["SCRIPT", "LOAD", text]).await;
        }
        let recorder =
            Recorder::new(Queues { orders: lab.queue("orders").to_owned(), expiry: lab.queue("expiry").to_owned() });
        let mutants = Mutants::default();
        Self { lab, recorder, is_mutated: false, mutants, units, limit, receives: RECEIVES }
    }

    pub(super) fn with(self, mutants: Mutants) -> Self {
        Self { is_mutated: true, mutants, ..self }
    }

    /// Makes messages come again however often they fail.
    pub(super) fn without_dead_letters(self) -> Self {
        Self { receives: u8::MAX, ..self }
    }

    /// Runs a function with clients of its own, which may die at a point, and records what it does in Redis and AWS.
    /// Returns how it ended, and what it returned unless it died.
    async fn run<T>(
        &self,
        function: Function,
        of: Option<&ReservationId>,
        point: Option<Point>,
        ahead_s: i64,
        work: impl AsyncFnOnce(&Context) -> (How, T),
    ) -> (How, Option<T>) {
        let (run, fault) = (self.recorder.begin(function, of), Fault::new(point));
        let valkey = SocketAddr::from(([127, 0, 0, 1], self.lab.valkey.port()));
        let recorded = Some(run.recorded(&self.mutants));
        let [redis, aws] = fault.proxies(valkey, &cloud().await.deployment.endpoint, recorded);
        // Nothing may depend on how busy the machine is.
        let config = cloud().await.deployment.patient_aws_config().into_builder().endpoint_url(aws.url()).build();
        let context = Context::new(self.lab.settings(), config.clone(), Clock::ahead_by_ms(ahead_s * 1000).patient())
            .with(Ledger::new(DynamoDb::new(&config), &self.lab.table))
            .with(Stock::at(&format!("redis://{}", redis.address()), PATIENT).unwrap())
            .with(Sqs::new(&config))
            .with(self.lab.reservation().keys);
        let mut done = None;
        // Boxed: some of it takes a good part of a thread's stack.
        let ended = fault.run(Box::pin(async { done = Some(work(&context).await) })).await;
        let (how, returned) = done.filter(|_| ended).map_or((How::Died, None), |(how, it)| (how, Some(it)));
        run.end(how);
        (how, returned)
    }

    /// Runs steps of the test's own instead of a function's.
    pub(super) async fn steps(
        &self,
        function: Function,
        of: Option<&ReservationId>,
        steps: impl AsyncFnOnce(&Context),
    ) {
        let ahead_s = if matches!(function, Function::Expiry) { LONG_S } else { 0 };
        self.run(function, of, None, ahead_s, async |context: &Context| (How::Done, steps(context).await)).await;
    }

    async fn request(
        &self,
        function: Function,
        of: Option<&ReservationId>,
        ask: &Ask,
        point: Option<Point>,
    ) -> Option<Answer> {
        let run = self.run(function, of, point, 0, async |context: &Context| {
            (How::Done, reservation::ReservationDeps::new(context).unwrap().answer(ask).await)
        });
        recorded_answer(&self.lab.recorder, ask, async { run.await.1 }).await
    }

    pub(super) async fn ask(&self, name: &str, key: &str, point: Option<Point>) -> Option<Answer> {
        let ask = Ask::reserve(SALE, name).header("idempotency-key", key);
        self.request(Function::Reservation, None, &ask, point).await
    }

    pub(super) async fn reserve(&self, name: &str) -> Reservation {
        self.lab.sell_returned().await;
        self.lab.reservation_of(self.ask(name, "key", None).await.unwrap(), name).await
    }

    /// The user's reservation in Redis, even if no client was told of it.
    pub(super) async fn reservation(&self, name: &str) -> Reservation {
        let round = round(SALE, 1);
        let reservations = self.lab.stock.round(&round).reservations_of(&user(name)).await.unwrap();
        reservations.into_iter().next().expect("the user has one").reservation
    }

    pub(super) async fn order(&self, reservation: &Reservation, point: Option<Point>) -> How {
        let batch = message_batch([reservation]);
        let run = self.run(Function::Order, Some(&reservation.id), point, 0, async |context: &Context| {
            handled(&order::handle(&order::OrderDeps::new(context).unwrap(), batch).await)
        });
        run.await.0
    }

    pub(super) async fn buy(&self, name: &str) -> Reservation {
        let reservation = self.reserve(name).await;
        assert_eq!(self.order(&reservation, None).await, How::Done);
        reservation
    }

    pub(super) async fn dead_letter(&self, reservation: &Reservation, point: Option<Point>) -> How {
        let batch = message_batch([reservation]);
        let run = self.run(Function::DeadLetter, Some(&reservation.id), point, 0, async |context: &Context| {
            handled(&dead_letter::handle(&dead_letter::DeadLetterDeps::new(context).unwrap(), batch).await)
        });
        run.await.0
    }

    /// Delivers the message to the expiry function after the payment window.
    pub(super) async fn expire(&self, reservation: &Reservation, point: Option<Point>) -> How {
        let batch = expiry_batch([reservation]);
        let run = self.run(Function::Expiry, Some(&reservation.id), point, LONG_S, async |context: &Context| {
            handled(&expiry::handle(&expiry::ExpiryDeps::new(context).unwrap(), batch).await)
        });
        run.await.0
    }

    pub(super) async fn cancel(&self, reservation: &Reservation, point: Option<Point>) -> Option<Answer> {
        let ask = Ask::cancel(reservation);
        self.request(Function::Cancel, Some(&reservation.id), &ask, point).await
    }

    pub(super) async fn pay(&self, reservation: &Reservation) -> Answer {
        let ask = Ask::paid_for(&format!("pay_{}", reservation.user), reservation, &self.lab.payment_key);
        let run = self.run(Function::Payment, Some(&reservation.id), None, 0, async |context: &Context| {
            let deps = payment::PaymentDeps::new(context).unwrap();
            (How::Done, ask_function(&self.lab.recorder, &deps, &ask).await)
        });
        run.await.1.expect("nothing dies").expect(200)
    }

    pub(super) async fn warm_up(&self) {
        self.run(Function::Reconciliation, None, None, 0, async |context: &Context| {
            assert_eq!(warmup::handle(&warmup::WarmupDeps::new(context).unwrap()).await.unwrap().failed, 0);
            (How::Done, ())
        })
        .await;
    }

    /// Reconciliation that waits for nothing.
    pub(super) async fn reconcile(&self) {
        self.reconcile_in(0).await;
    }

    pub(super) async fn reconcile_in(&self, ahead_s: i64) {
        self.run(Function::Reconciliation, None, None, ahead_s, async |context: &Context| {
            let deps = sending_at_once(context).unwrap();
            assert_eq!(reconciliation::handle(&deps).await.unwrap().failed, 0);
            (How::Done, ())
        })
        .await;
    }

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
        // What comes after the payment window has a clock that is ahead.
        self.lab.history(Clocks::Apart, name, &[SALE], self.lab.redis_of_test()).await
    }

    pub(super) async fn trace(&self) -> Trace {
        let redis = Held::now(&self.lab.valkey.url(), TAG).await.unwrap();
        let items = items(&self.lab.dynamodb, &self.lab.table).await;
        self.recorder.holds(&redis, &items.values().map(image).collect::<Vec<_>>());
        self.so_far()
    }

    pub(super) fn so_far(&self) -> Trace {
        self.recorder.trace(self.units, self.limit, self.receives)
    }
}

fn handled(response: &SqsBatchResponse) -> (How, ()) {
    (if response.batch_item_failures.is_empty() { How::Done } else { How::Failed }, ())
}
