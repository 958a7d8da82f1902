//! Events for the merchant's systems: each change in the ledger reaches every listener on the bus, in the form of its
//! schema.

use aws_sdk_sqs::types::QueueAttributeName;
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::response::IntoResponse;
use jsonschema::{Draft, Validator};
use ledger::NotedRound;
use runtime::{StreamEvent, StreamResponse};
use tests::Server;

use crate::contents::image;
use crate::prelude::*;
use crate::resources::{delete, make_queue};

/// One of the merchant's systems: a queue that its own rule fills.
pub(crate) struct Merchant {
    sqs: Sqs,
    url: String,
    came: Vec<Value>,
}

impl Merchant {
    pub(crate) async fn listening(bus: &str, pattern: &Value) -> Self {
        let config = cloud().await.deployment.patient_aws_config();
        let (events, sqs) = (AwsClient::event_bridge(&config), Sqs::new(&config));
        let name = format!("merchant-{}", Uuid::now_v7().as_simple());
        let url = make_queue(&sqs, &name).await;
        let arn = sqs.get_queue_attributes().queue_url(&url).attribute_names(QueueAttributeName::QueueArn);
        let arn = arn.send().await.unwrap().attributes.unwrap().remove(&QueueAttributeName::QueueArn).unwrap();
        let rule = json!({ "Name": name, "EventBusName": bus, "EventPattern": pattern.to_string() });
        events.call("AWSEvents.PutRule", &rule).await.unwrap();
        let targets = json!({ "Rule": name, "EventBusName": bus, "Targets": [{ "Id": "queue", "Arn": arn }] });
        let put = events.call("AWSEvents.PutTargets", &targets).await.unwrap();
        assert_eq!(put["FailedEntryCount"], 0);
        Self { sqs, url, came: Vec::new() }
    }

    pub(crate) async fn hears(&mut self) -> &[Value] {
        loop {
            let messages = receive(&self.sqs, &self.url).await;
            if messages.is_empty() {
                return &self.came;
            }
            for message in messages {
                let envelope: Value = serde_json::from_str(message.body().unwrap()).unwrap();
                assert_eq!(envelope["source"], "flash-sale");
                assert_eq!(envelope["detail-type"], envelope["detail"]["type"]);
                self.came.push(envelope["detail"].clone());
                delete(&self.sqs, &self.url, &message).await;
            }
        }
    }
}

impl Lab {
    /// A bus of the lab's own, with a merchant that hears everything on it.
    pub(crate) async fn merchant(&self) -> Merchant {
        let events = AwsClient::event_bridge(&cloud().await.deployment.patient_aws_config());
        events.call("AWSEvents.CreateEventBus", &json!({ "Name": self.table })).await.unwrap();
        Merchant::listening(&self.table, &json!({ "source": ["flash-sale"] })).await
    }

    async fn noted(&self) -> Milestones {
        let id = self.round().await.id;
        let mut noted = self.ledger.noted_rounds([&id]).await.unwrap();
        noted.remove(&id).flatten().map(|noted| noted.milestones).unwrap_or_default()
    }
}

type Items = BTreeMap<String, BTreeMap<String, AttributeValue>>;

/// Stands in for the stream of a lab's table, with the records of what was written between two looks.
pub(crate) struct Tape {
    last: Items,
    records: Vec<Value>,
}

impl Tape {
    pub(crate) async fn start(lab: &Lab) -> Self {
        Self { last: items(&lab.dynamodb, &lab.table).await, records: Vec::new() }
    }

    /// A tape for which everything in the table is new.
    pub(crate) fn empty() -> Self {
        Self { last: Items::new(), records: Vec::new() }
    }

    pub(crate) async fn roll(&mut self, lab: &Lab) {
        let now = items(&lab.dynamodb, &lab.table).await;
        for (pk, item) in &now {
            let old = self.last.get(pk);
            if old == Some(item) {
                continue;
            }
            let mut change = json!({
                "Keys": { "pk": { "S": pk } },
                "NewImage": image(item),
                "SequenceNumber": (self.records.len() + 1).to_string(),
            });
            if let Some(old) = old {
                change["OldImage"] = image(old);
            }
            let name = if old.is_some() { "MODIFY" } else { "INSERT" };
            self.records.push(json!({ "eventName": name, "dynamodb": change }));
        }
        self.last = now;
    }

    pub(crate) fn batch(&self) -> StreamEvent {
        batch(&self.records)
    }
}

pub(crate) fn batch(records: &[Value]) -> StreamEvent {
    serde_json::from_value(json!({ "Records": records })).unwrap()
}

pub(crate) fn failed(response: &StreamResponse) -> Vec<&str> {
    response.batch_item_failures.iter().map(|failure| &*failure.item_identifier).collect()
}

fn schemas() -> BTreeMap<String, (Validator, Value)> {
    let text = std::fs::read(local::paths::root().join("target/api/events.json")).expect("nextest has written it");
    let schemas: BTreeMap<String, Value> = serde_json::from_slice(&text).unwrap();
    let options = jsonschema::options().with_draft(Draft::Draft202012).should_validate_formats(true);
    schemas.into_iter().map(|(kind, schema)| (kind, (options.build(&schema).unwrap(), schema))).collect()
}

/// Checks events against the schemas of their types, which must name every member. Returns the types.
pub(crate) fn hold_to_schemas<'a>(events: impl IntoIterator<Item = &'a Value>) -> BTreeSet<String> {
    let schemas = schemas();
    let mut kinds = BTreeSet::new();
    for event in events {
        let kind = event["type"].as_str().unwrap();
        let (validator, schema) = schemas.get(kind).unwrap_or_else(|| panic!("no schema for {kind}"));
        let errors: Vec<String> = validator.iter_errors(event).map(|error| error.to_string()).collect();
        assert_eq!(errors, [""; 0], "{event}");
        for member in event.as_object().unwrap().keys() {
            assert!(schema["properties"].get(member).is_some(), "the schema of {kind} does not name {member}");
        }
        kinds.insert(kind.to_owned());
    }
    kinds
}

fn kinds(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["type"].as_str().unwrap()).collect()
}

fn ids(events: &[Value]) -> BTreeSet<&str> {
    events.iter().map(|event| event["id"].as_str().unwrap()).collect()
}

/// The events that the merchant must have heard according to the ledger: each one's type and subject.
fn owed(items: &Items) -> BTreeSet<(String, String)> {
    let text = |item: &BTreeMap<String, AttributeValue>, name: &str| item[name].as_s().unwrap().clone();
    let mut owed = BTreeSet::new();
    for (pk, item) in items {
        let mut owe = |kind: &str, about: &str| owed.insert((kind.to_owned(), about.to_owned()));
        if let Some(id) = pk.strip_prefix("ORDER#") {
            let state = text(item, "state");
            if item.contains_key("pay_by_ms") {
                owe("order.pending", id);
            }
            if state != "PENDING" {
                owe(&format!("order.{}", state.to_lowercase()), id);
            }
        } else if let Some(payment) = pk.strip_prefix("PAYMENT#") {
            for (attribute, kind) in [("refund_due_at_ms", "refund.due"), ("refunded_at_ms", "refund.made")] {
                if item.contains_key(attribute) {
                    owe(kind, payment);
                }
            }
        } else if let Some(round) = pk.strip_prefix("MILESTONES#") {
            for (attribute, kind) in [("opened_at_ms", "sale.opened"), ("ended_at_ms", "round.ended")] {
                if item.contains_key(attribute) {
                    owe(kind, &round.replace('#', "."));
                }
            }
            let times: u32 = item["sold_out_times"].as_n().unwrap().parse().unwrap();
            for time in 1..=times {
                owe("sale.sold_out", &format!("{}.{time}", round.replace('#', ".")));
            }
        }
    }
    owed
}

/// An event's type, and what it is about, as [`owed`] names these.
fn told(event: &Value) -> (String, String) {
    let text = |member: &str| event[member].as_str().unwrap().to_owned();
    let kind = text("type");
    let about = match kind.split_once('.').unwrap() {
        ("order", _) => text("reservation_id"),
        ("refund", _) => text("payment_id"),
        (_, "sold_out") => format!("{}.{}.{}", text("sale_id"), event["round"], event["times"]),
        _ => format!("{}.{}", text("sale_id"), event["round"]),
    };
    (kind, about)
}

#[tokio::test]
async fn a_day_of_a_sale_is_told_in_full_and_told_again_the_same() {
    let lab = Lab::selling(terms(3, 1)).await;
    let mut merchant = lab.merchant().await;
    let mut tape = Tape::start(&lab).await;
    lab.reconcile().await;
    tape.roll(&lab).await;
    let (alice, bob, carol) = (lab.buy("alice").await, lab.buy("bob").await, lab.buy("carol").await);
    lab.reconcile().await;
    tape.roll(&lab).await;
    assert_eq!(lab.pay("pay_alice", &alice).await, "applied");
    lab.answer(&Ask::cancel(&bob)).await.expect(200);
    let order = lab.order_of(&carol).await;
    let late = Clock::ahead_by_ms(3_600_000).now();
    lab.ledger.end_unpaid(&order, Transition::Expire, late).await.unwrap();
    let dave = fresh_reservation(&round(SALE, 1), &user("dave"), 9, 0);
    lab.ledger.fence(Order::failed(dave, Failure::LimitReached, now())).await.unwrap();
    tape.roll(&lab).await;
    assert_eq!(lab.pay("pay/carol?#", &carol).await, "refund_due");
    lab.reconcile().await;
    tape.roll(&lab).await;
    lab.operate("refunds/refunded", &json!({ "payment_id": "pay/carol?#" })).await.expect(200);
    let awards = [None, Some(Award::Amount { amount_minor: 17 }), Some(Award::Prize { prize: 2 }), Some(Award::Blank)];
    for (unit, award) in (20..).zip(awards) {
        let reservation = fresh_reservation(&round("packet", 1), &user(unit), unit, 0);
        let price = Price { price_minor: 0, currency: "EUR".parse().unwrap() };
        rounds::place(&lab.ledger, Order::granted(reservation, price, now(), award)).await;
    }
    // The returned units sell out again.
    lab.reserve("erin").await;
    lab.reserve("frank").await;
    lab.reconcile().await;
    tape.roll(&lab).await;
    lab.reconcile_in(3_700_000).await;
    tape.roll(&lab).await;

    let emitted = emitter::handle(&lab.emitter(), tape.batch()).await;
    assert_eq!(emitted.batch_item_failures.len(), 0);
    let first = merchant.hears().await.to_vec();
    let every_kind: BTreeSet<String> = schemas().into_keys().collect();
    assert_eq!(hold_to_schemas(&first), every_kind, "the day has events of every type");
    assert_eq!(ids(&first).len(), first.len());
    assert_eq!(first.iter().map(told).collect::<BTreeSet<_>>(), owed(&items(&lab.dynamodb, &lab.table).await));

    // As another process would, an hour later.
    emitter::handle(&lab.emitter(), tape.batch()).await;
    let both = merchant.hears().await;
    let again = &both[first.len()..];
    let by_id = |events: &[Value]| -> BTreeMap<String, Value> {
        events.iter().map(|event| (event["id"].as_str().unwrap().to_owned(), event.clone())).collect()
    };
    assert_eq!((again.len(), by_id(again)), (first.len(), by_id(&first)), "byte for byte the same events");
}

#[test]
fn the_schemas_have_examples_that_fit_and_differ_in_their_types() {
    for (kind, (_, schema)) in schemas() {
        let examples = schema["examples"].as_array().unwrap();
        assert!(!examples.is_empty());
        assert_eq!(hold_to_schemas(examples), BTreeSet::from([kind]));
    }
}

#[tokio::test]
async fn the_samples_are_told_as_the_schemas_examples_say() {
    let lab = Lab::new().await;
    let mut merchant = lab.merchant().await;
    for name in ["placed", "paid", "refund", "round"] {
        let event = serde_json::from_value(sample(&format!("emitter/{name}"))).unwrap();
        assert_eq!(emitter::handle(&lab.emitter(), event).await.batch_item_failures.len(), 0, "{name}");
    }
    let heard = merchant.hears().await;
    hold_to_schemas(heard);
    let mut told = kinds(heard);
    told.sort_unstable();
    assert_eq!(told, ["order.paid", "order.pending", "refund.due", "sale.opened", "sale.sold_out"]);
    let examples = schemas();
    for event in heard {
        let (_, schema) = &examples[event["type"].as_str().unwrap()];
        assert_eq!(event["id"], schema["examples"][0]["id"], "an id never changes: {event}");
    }
}

#[tokio::test]
async fn a_record_that_can_neither_be_read_nor_kept_comes_again() {
    let lab = Lab::new().await;
    lab.merchant().await;
    lab.delete_queue("emitter_failures").await;
    let poison = serde_json::from_value(sample("emitter/with_poison")).unwrap();
    let handled = emitter::handle(&lab.emitter(), poison).await;
    assert_eq!(failed(&handled), ["1100000000051"]);
}

/// A bus that refuses entries whose details contain one of the words.
#[derive(Default)]
struct Picky {
    /// Each word, with the error code of the refusal.
    refuses: Mutex<Vec<(String, &'static str)>>,
    took: Mutex<Vec<Value>>,
    calls: Mutex<Vec<usize>>,
}

async fn put_events(State(bus): State<Arc<Picky>>, body: Bytes) -> impl IntoResponse {
    let request: Value = serde_json::from_slice(&body).unwrap();
    let entries = request["Entries"].as_array().unwrap();
    bus.calls.lock().unwrap().push(entries.len());
    let refuses = bus.refuses.lock().unwrap().clone();
    let results: Vec<Value> = entries
        .iter()
        .map(|entry| {
            let detail = entry["Detail"].as_str().unwrap();
            match refuses.iter().find(|(word, _)| detail.contains(word)) {
                Some((_, code)) => json!({ "ErrorCode": code, "ErrorMessage": "not today" }),
                None => {
                    bus.took.lock().unwrap().push(serde_json::from_str(detail).unwrap());
                    json!({ "EventId": Uuid::now_v7() })
                }
            }
        })
        .collect();
    let failed = results.iter().filter(|result| result.get("ErrorCode").is_some()).count();
    let body = json!({ "FailedEntryCount": failed, "Entries": results }).to_string();
    ([("content-type", "application/x-amz-json-1.1")], body)
}

async fn picky(lab: &Lab) -> (Arc<Picky>, emitter::EmitterDeps) {
    let bus = Arc::new(Picky::default());
    let router = Router::new().fallback(put_events).with_state(Arc::clone(&bus));
    let endpoint = Server::http(router).keep();
    let aws = lab.another_process().aws().clone().into_builder().endpoint_url(endpoint).build();
    let context = Context::new(lab.settings(), aws, Clock::system()).with(lab.sqs.clone());
    (bus, emitter::EmitterDeps::new(&context).unwrap())
}

/// A sample's stream record, for a new order of this user and at this place.
pub(crate) fn new_order(of: &str, name: &str, place: u32) -> Value {
    let mut record = sample(of)["Records"][0].clone();
    let id = fresh_id(&round("lamp", 1));
    let change = &mut record["dynamodb"];
    change["SequenceNumber"] = json!(place.to_string());
    change["NewImage"]["pk"]["S"] = json!(format!("ORDER#{id}"));
    change["NewImage"]["id"]["S"] = json!(id);
    change["NewImage"]["user"]["S"] = json!(name);
    change["NewImage"]["orders_of"]["S"] = json!(name);
    record
}

fn placed(users: u32) -> Vec<Value> {
    (1..=users).map(|user| new_order("emitter/placed", &format!("user-{user:02}"), user)).collect()
}

#[tokio::test]
async fn what_the_bus_refuses_comes_again_and_what_it_never_takes_is_kept() {
    let lab = Lab::new().await;
    let (bus, deps) = picky(&lab).await;
    let records = placed(25);
    *bus.refuses.lock().unwrap() =
        vec![("user-03".into(), "ThrottlingException"), ("user-17".into(), "InternalFailure")];
    let handled = emitter::handle(&deps, batch(&records)).await;
    assert_eq!(failed(&handled), ["3", "17"], "Lambda resumes at the first of them");
    assert_eq!(bus.took.lock().unwrap().len(), 23, "the others are not held up");
    let mut calls = std::mem::take(&mut *bus.calls.lock().unwrap());
    calls.sort_unstable();
    assert_eq!(calls, [5, 10, 10]);

    *bus.refuses.lock().unwrap() = vec![("user-17".into(), "MalformedDetail")];
    let handled = emitter::handle(&deps, batch(&records[2..])).await;
    assert_eq!(handled.batch_item_failures.len(), 0);
    let kept = lab.receive("emitter_failures").await.remove(0).body.unwrap();
    assert_eq!(serde_json::from_str::<Value>(&kept).unwrap(), records[16]);
    let took = bus.took.lock().unwrap().clone();
    assert_eq!((took.len(), ids(&took).len()), (23 + 22, 24), "a repeated event has the same id");
}

#[tokio::test]
async fn a_bus_that_is_away_loses_nothing() {
    let lab = Lab::new().await;
    let nowhere = lab.another_process().aws().clone().into_builder().endpoint_url("http://127.0.0.1:1").build();
    let context = Context::new(lab.settings(), nowhere, Clock::system()).with(lab.sqs.clone());
    let records = placed(12);
    let handled = emitter::handle(&emitter::EmitterDeps::new(&context).unwrap(), batch(&records)).await;
    assert_eq!(handled.batch_item_failures.len(), 12);
    assert_eq!(lab.depth("emitter_failures").await, [0, 0, 0]);
}

#[tokio::test]
async fn two_looks_at_once_note_each_thing_once() {
    let lab = Lab::selling(terms(1, 1)).await;
    lab.buy("alice").await;
    let looks = join_all((0..8).map(|_| lab.reconcile())).await;
    assert!(looks.into_iter().all(|summary| summary.failed == 0));
    let noted = lab.noted().await;
    assert_eq!((noted.opened_at_ms.is_some(), noted.sold_out_times), (true, 1));

    // A late writer finds that another has written since.
    let stale = NotedRound::new(&lab.round().await);
    assert!(!lab.ledger.note_milestones(&stale, &lab.round().await, Milestones::default()).await.unwrap());
    assert_eq!(lab.noted().await, noted);
}

#[tokio::test]
async fn a_round_that_redis_lost_is_not_sold_out_again_and_ends_once() {
    let lab = Lab::selling(terms(1, 1)).await;
    lab.buy("alice").await;
    lab.reconcile().await;
    let noted = lab.noted().await;
    assert_eq!(noted.sold_out_times, 1);
    lab.redis(&["FLUSHALL"]).await;
    // Reconciliation rebuilds it from the guards before it looks at it.
    lab.reconcile().await;
    lab.reconcile().await;
    assert_eq!(lab.noted().await, noted);
    // The round is over, and gone from Redis.
    lab.redis(&["FLUSHALL"]).await;
    lab.reconcile_in(3_700_000).await;
    let ended = lab.noted().await;
    assert_eq!(Milestones { ended_at_ms: None, ..ended.clone() }, noted);
    assert!(ended.ended_at_ms.is_some());
    lab.reconcile_in(3_800_000).await;
    assert_eq!(lab.noted().await, ended);
}

/// On the deployed system: its functions, its stream, its bus. The tests above hold every other event.
#[tokio::test]
async fn the_merchant_hears_of_a_purchase_on_the_deployed_system() {
    let deployment = &cloud().await.deployment;
    let shop = Shop::open("events", json!({})).await;
    let pattern = json!({ "source": ["flash-sale"], "detail": { "sale_id": [shop.sale] } });
    let mut merchant = Merchant::listening(&deployment.event_bus, &pattern).await;
    let id = shop.buy("alice").await;
    assert_eq!(shop.pay("pay", &id, 990).await, "applied");
    let owed = BTreeSet::from(["order.paid", "order.pending"].map(|kind| (kind.to_owned(), id.clone())));
    // All tests share this table's stream, which is worked off a batch at a time. On a busy machine that takes minutes.
    until("the merchant has heard of the purchase", async || {
        let heard: BTreeSet<_> = merchant.hears().await.iter().map(told).collect();
        owed.is_subset(&heard).then_some(())
    })
    .await;
    hold_to_schemas(merchant.hears().await);
}
