//! A lab whose functions are recorded. Each runs as a process of its own, behind its own proxies.

use std::net::SocketAddr;
use std::time::Duration;

use aws_lambda_events::sqs::SqsBatchResponse;
use aws_sdk_dynamodb::Client as DynamoDb;
use aws_sdk_dynamodb::types::AttributeValue;
use aws_sdk_sqs::Client as Sqs;
use context::Context;
use ledger::Ledger;
use model::trace::{Function, How, Trace, What};
use queue::ExpiryMessage;
use runtime::Clock;
use sale::{Claim, EpochMs, ReservationId};
use serde_json::{Value, json};
use stock::Stock;
use tests::{Effect, Fault, Held, Mutants, Point, Queues, RecordedProxy, Recorder, When, round, terms, user};

use crate::answer::Answer;
use crate::ask::Ask;
use crate::cloud::cloud;
use crate::events;
use crate::lab::{Lab, SALE, message_batch};
use crate::resources::{items, keys};

/// Longer than any payment window here.
pub(super) const LONG_S: i64 = 2000;
/// The hash tag of the round's keys.
const TAG: &str = "{lamp:1:0}";
/// How often the order queue delivers a message before it is a dead letter: `infra/cdk` says the same of the ladder.
pub(super) const RECEIVES: u8 = order::LADDER_S.len() as u8 + 1;

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
        let lab = Lab::new().await;
        lab.publish(SALE, &terms(units.into(), limit)).await;
        for (_, text) in stock::expanded::ALL {
            lab.redis(&["SCRIPT", "LOAD", text]).await;
        }
        let recorder = Recorder::new(Queues { orders: lab.orders_url.clone(), expiry: lab.expiry_url.clone() });
        Self { lab, recorder, is_mutated: false, mutants: Mutants::default(), units, limit, receives: RECEIVES }
    }

    /// Adds a fault.
    pub(super) fn with(self, mutants: Mutants) -> Self {
        Self { is_mutated: true, mutants, ..self }
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
        let (run, fault) = (self.recorder.begin(function, of), Fault::new(point));
        let deployment = &cloud().await.deployment;
        let valkey = SocketAddr::from(([127, 0, 0, 1], self.lab.valkey.port()));
        let redis = RecordedProxy::redis(valkey, &run, &fault, &self.mutants).await;
        let aws = RecordedProxy::aws(&deployment.endpoint, &run, &fault, &self.mutants).await;
        let endpoint = format!("http://{}", aws.address());
        // Nothing may depend on how busy the machine is.
        let config = deployment.patient_aws_config().into_builder().endpoint_url(endpoint).build();
        let context = Context::new(self.lab.settings(), config.clone(), Clock::ahead_by_ms(ahead_s * 1000))
            .with(Ledger::new(DynamoDb::new(&config), &self.lab.table))
            .with(Stock::new(&format!("redis://{}", redis.address())).unwrap())
            .with(Sqs::new(&config))
            .with(self.lab.reservation().keys);
        let mut how = How::Died;
        let ended = fault.run(async { how = work(&context).await }).await;
        let how = if ended { how } else { How::Died };
        run.end(how);
        how
    }

    async fn request(&self, ask: &Ask, point: Option<Point>) -> Option<Answer> {
        let (mut answer, asked) = (None, ask.request());
        self.run(Function::Reservation, None, point, 0, async |context: &Context| {
            let response = reservation::handle(&reservation::Deps::new(context).unwrap(), asked).await;
            answer = Some(Answer::of_handler(ask, response));
            How::Done
        })
        .await;
        answer
    }

    /// Requests a unit under this key.
    pub(super) async fn ask(&self, name: &str, key: &str, point: Option<Point>) -> Option<Answer> {
        let ask = Ask::reserve(SALE, name).header("idempotency-key", key);
        self.request(&ask, point).await
    }

    /// Reserves a unit for a user.
    pub(super) async fn reserve(&self, name: &str) -> Claim {
        tests::until_sellable(self.lab.stock.round(&round(SALE, 1))).await;
        let answer = self.ask(name, "key", None).await.unwrap().expect(202);
        self.lab.claim_of(answer.text("reservation_id"), name).await
    }

    /// The user's reservation in Redis, even if no client was told of it.
    pub(super) async fn claim(&self, name: &str) -> Claim {
        let round = round(SALE, 1);
        let entries = self.lab.stock.round(&round).entries_of(&user(name)).await.unwrap();
        entries.into_iter().next().expect("the user has one").claim
    }

    /// Delivers the message to the order function.
    pub(super) async fn order(&self, claim: &Claim, point: Option<Point>) -> How {
        let batch = message_batch(&[claim]);
        self.run(Function::Order, Some(&claim.id), point, 0, async |context: &Context| {
            how(&order::handle(&order::Deps::new(context).unwrap(), batch).await)
        })
        .await
    }

    /// Reserves a unit for a user and places its order.
    pub(super) async fn buy(&self, name: &str) -> Claim {
        let claim = self.reserve(name).await;
        assert_eq!(self.order(&claim, None).await, How::Done);
        claim
    }

    pub(super) async fn dead_letter(&self, claim: &Claim, point: Option<Point>) -> How {
        let batch = message_batch(&[claim]);
        self.run(Function::DeadLetter, Some(&claim.id), point, 0, async |context: &Context| {
            how(&dead_letter::handle(&dead_letter::Deps::new(context).unwrap(), batch).await)
        })
        .await
    }

    /// Delivers the message to the expiry function after the payment window.
    pub(super) async fn expire(&self, claim: &Claim, point: Option<Point>) -> How {
        let batch = events::batch([ExpiryMessage::new(claim.id.clone(), EpochMs(0)).to_body()]);
        self.run(Function::Expiry, Some(&claim.id), point, LONG_S, async |context: &Context| {
            how(&expiry::handle(&expiry::Deps::new(context).unwrap(), batch).await)
        })
        .await
    }

    pub(super) async fn cancel(&self, claim: &Claim, point: Option<Point>) -> Option<Answer> {
        let ask = Ask::delete(format!("/v1/reservations/{}", claim.id)).by(claim.user.as_str());
        let (mut answer, asked) = (None, ask.request());
        self.run(Function::Cancel, Some(&claim.id), point, 0, async |context: &Context| {
            let response = reservation::handle(&reservation::Deps::new(context).unwrap(), asked).await;
            answer = Some(Answer::of_handler(&ask, response));
            How::Done
        })
        .await;
        answer
    }

    /// Delivers a payment for the order.
    pub(super) async fn pay(&self, claim: &Claim) -> Answer {
        let ask = Ask::paid(&format!("pay_{}", claim.user), &claim.id.to_string(), 990, &self.lab.payment_key);
        let (mut answer, asked) = (None, ask.request());
        self.run(Function::Payment, Some(&claim.id), None, 0, async |context: &Context| {
            let response = payment::handle(&payment::Deps::new(context).unwrap(), asked).await;
            answer = Some(Answer::of_handler(&ask, response));
            How::Done
        })
        .await;
        answer.expect("nothing dies").expect(200)
    }

    pub(super) async fn warm_up(&self) {
        self.run(Function::Reconciliation, None, None, 0, async |context: &Context| {
            assert_eq!(warmup::handle(&warmup::Deps::new(context).unwrap()).await.unwrap().failed, 0);
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
            let deps = reconciliation::Deps {
                send_again_after: Duration::ZERO,
                ..reconciliation::Deps::new(context).unwrap()
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

    /// What was recorded, and what there is at the end.
    pub(super) async fn trace(&self) -> Trace {
        let redis = Held::now(&self.lab.valkey.url(), TAG).await.unwrap();
        let items = items(&self.lab.dynamodb, &self.lab.table).await;
        let items: Vec<Value> =
            items.values().map(|item| item.iter().map(|(k, v)| (k.clone(), written(v))).collect()).collect();
        self.recorder.holds(&redis, &items);
        self.so_far()
    }

    /// What was recorded so far.
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
