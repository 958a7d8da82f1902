//! Every function dies at every effect that it has, before it and after it; then the system's own retries and schedules
//! run, and every unit must be in exactly one place. The effects are found by running, so that a new one is covered
//! without anybody remembering.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use aws_sdk_dynamodb::Client as DynamoDb;
use aws_sdk_sqs::Client as Sqs;
use fulfilment::LANE;
use futures::future::{BoxFuture, join_all};
use ledger::Ledger;
use runtime::Clock;
use sale::{Reservation, Unit};
use stock::{RoundStock, Stock};
use tests::{Fault, FaultProxy, When, terms, user};

use crate::ask::Ask;
use crate::cloud::cloud;
use crate::heal::heal;
use crate::lab::{Lab, SALE, message_batch};

/// A function's world: everything that it talks to, through proxies that end it.
struct World {
    stock: Stock,
    ledger: Ledger,
    sqs: Sqs,
    _proxies: [FaultProxy; 2],
}

impl World {
    async fn new(lab: &Lab, fault: &Arc<Fault>) -> Self {
        let deployment = &cloud().await.deployment;
        let valkey = SocketAddr::from(([127, 0, 0, 1], lab.valkey.port()));
        let emulator = deployment.endpoint.trim_start_matches("http://").parse().unwrap();
        let redis = FaultProxy::start(valkey, Arc::clone(fault)).await;
        let aws = FaultProxy::start(emulator, Arc::clone(fault)).await;
        let endpoint = format!("http://{}", aws.address());
        let config = deployment.aws_config().await.into_builder().endpoint_url(&endpoint).build();
        Self {
            stock: Stock::new(&format!("redis://{}", redis.address())).unwrap(),
            ledger: Ledger::new(DynamoDb::new(&config), &lab.table),
            sqs: Sqs::new(&config),
            _proxies: [redis, aws],
        }
    }

    fn order(&self, lab: &Lab) -> order::Deps {
        let terms = fulfilment::TermsCache::new(self.ledger.clone());
        let orders = queue::OrderQueue::new(self.sqs.clone(), &lab.orders_url);
        let expiry = queue::ExpiryQueue::new(self.sqs.clone(), &lab.expiry_url);
        let (stock, ledger) = (self.stock.clone(), self.ledger.clone());
        order::Deps { stock, ledger, terms, orders, expiry, clock: Clock::system() }
    }

    fn reservation(&self, lab: &Lab) -> reservation::Deps {
        let orders = queue::OrderQueue::new(self.sqs.clone(), &lab.orders_url);
        let live = fulfilment::LiveSales::new(self.ledger.clone(), Clock::system());
        let (stock, ledger) = (self.stock.clone(), self.ledger.clone());
        reservation::Deps { stock, ledger, live, orders, clock: Clock::system() }
    }

    fn dead_letter(&self, lab: &Lab) -> dead_letter::Deps {
        let expiry = queue::ExpiryQueue::new(self.sqs.clone(), &lab.expiry_url);
        let quarantine = queue::Quarantine::new(self.sqs.clone(), &lab.quarantine_url);
        let (stock, ledger) = (self.stock.clone(), self.ledger.clone());
        dead_letter::Deps { stock, ledger, expiry, quarantine, clock: Clock::system() }
    }

    fn expiry(&self, lab: &Lab, ahead_s: i64) -> expiry::Deps {
        let expiry = queue::ExpiryQueue::new(self.sqs.clone(), &lab.expiry_url);
        let (stock, ledger) = (self.stock.clone(), self.ledger.clone());
        expiry::Deps { stock, ledger, expiry, clock: Clock::ahead_by_ms(ahead_s * 1000) }
    }

    fn reconciliation(&self, lab: &Lab) -> reconciliation::Deps {
        let orders = queue::OrderQueue::new(self.sqs.clone(), &lab.orders_url);
        let (stock, ledger) = (self.stock.clone(), self.ledger.clone());
        reconciliation::Deps { stock, ledger, orders, send_again_after: Duration::ZERO, clock: Clock::system() }
    }
}

/// What is there before the run, and what is run.
struct Flow {
    name: &'static str,
    prepare: for<'a> fn(&'a Lab) -> BoxFuture<'a, Vec<Reservation>>,
    run: for<'a> fn(&'a Lab, &'a World, &'a [Reservation]) -> BoxFuture<'a, ()>,
}

async fn ask(lab: &Lab, world: &World, ask: Ask) {
    reservation::handle(&world.reservation(lab), ask.request()).await;
}

const FLOWS: &[Flow] = &[
    Flow {
        name: "reserve",
        prepare: |_| Box::pin(async { Vec::new() }),
        run: |lab, world, _| Box::pin(ask(lab, world, Ask::reserve(SALE, "alice"))),
    },
    Flow {
        name: "order",
        prepare: |lab| Box::pin(async { vec![lab.reserve("alice").await, lab.reserve("bob").await] }),
        run: |lab, world, reserved| {
            Box::pin(async {
                order::handle(&world.order(lab), message_batch(&reserved.iter().collect::<Vec<_>>())).await;
            })
        },
    },
    Flow {
        name: "order whose unit is another's",
        prepare: |lab| Box::pin(with_unit_sold_twice(lab)),
        run: |lab, world, reserved| {
            Box::pin(async {
                order::handle(&world.order(lab), message_batch(&[&reserved[0]])).await;
            })
        },
    },
    Flow {
        name: "cancel before the order",
        prepare: |lab| Box::pin(async { vec![lab.reserve("alice").await] }),
        run: |lab, world, reserved| Box::pin(ask(lab, world, cancel(&reserved[0]))),
    },
    Flow {
        name: "cancel after the order",
        prepare: |lab| Box::pin(async { vec![lab.buy("alice").await] }),
        run: |lab, world, reserved| Box::pin(ask(lab, world, cancel(&reserved[0]))),
    },
    Flow {
        name: "expire",
        prepare: |lab| Box::pin(async { vec![lab.buy("alice").await] }),
        run: |lab, world, reserved| {
            Box::pin(async {
                let message = queue::ExpiryMessage::new(reserved[0].id.clone(), sale::EpochMs(0)).to_body();
                expiry::handle(&world.expiry(lab, 10_000), crate::events::batch([message])).await;
            })
        },
    },
    Flow {
        name: "dead letter",
        prepare: |lab| Box::pin(async { vec![lab.reserve("alice").await] }),
        run: |lab, world, reserved| {
            Box::pin(async {
                dead_letter::handle(&world.dead_letter(lab), message_batch(&[&reserved[0]])).await;
            })
        },
    },
    Flow {
        name: "rebuild",
        prepare: |lab| Box::pin(with_redis_lost(lab)),
        run: |_, world, _| {
            Box::pin(async {
                let (stock, ledger) = (world.stock.clone(), world.ledger.clone());
                let _ = warmup::handle(&warmup::Deps { stock, ledger, clock: Clock::system() }).await;
            })
        },
    },
    Flow {
        name: "reconciliation with everything to repair",
        prepare: |lab| Box::pin(with_everything_wrong(lab)),
        run: |lab, world, _| {
            Box::pin(async {
                let _ = reconciliation::handle(&world.reconciliation(lab)).await;
            })
        },
    },
];

fn cancel(reservation: &Reservation) -> Ask {
    Ask::delete(format!("/v1/reservations/{}", reservation.id)).by(reservation.user.as_str())
}

async fn load_as_if_nothing_was_sold(lab: &Lab) {
    let sale = lab.ledger.sale(&SALE.parse().unwrap()).await.unwrap().unwrap();
    let round = RoundStock {
        sale: sale.id,
        round: sale.round,
        lane: LANE,
        terms: sale.terms,
        paused: false,
        version: sale.version,
        epoch_ms: Clock::system().now(),
        taken: Vec::new(),
    };
    lab.stock.load(&round).await.unwrap();
}

/// Alice has an order on unit 1 that Redis forgot, and bob was given the same unit.
async fn with_unit_sold_twice(lab: &Lab) -> Vec<Reservation> {
    lab.buy("alice").await;
    lab.redis(&["FLUSHALL"]).await;
    load_as_if_nothing_was_sold(lab).await;
    let bob = lab.reserve("bob").await;
    assert_eq!(bob.unit, Unit(1));
    vec![bob]
}

async fn with_redis_lost(lab: &Lab) -> Vec<Reservation> {
    lab.buy("alice").await;
    let bob = lab.reserve("bob").await;
    lab.redis(&["FLUSHALL"]).await;
    vec![bob]
}

/// Redis has forgotten alice's order on unit 1, unit 2 is in no place, bob's order has ended without Redis, and carol's reservation waits for its
/// message.
async fn with_everything_wrong(lab: &Lab) -> Vec<Reservation> {
    lab.buy("alice").await;
    lab.redis(&["FLUSHALL"]).await;
    load_as_if_nothing_was_sold(lab).await;
    lab.redis(&["SETRANGE", &format!("sale:{{{SALE}:1:0}}"), "0", "\0\0\0\u{3}"]).await;
    let bob = lab.buy("bob").await;
    let order = lab.order_of(&bob).await;
    lab.ledger.end_unpaid(&order, sale::Transition::Cancel, Clock::system().now()).await.unwrap();
    lab.reserve("carol").await;
    Vec::new()
}

/// Runs a flow with its world ending at the effect `at`, and heals. The number of effects, if it came to its end before.
async fn crash(flow: &Flow, at: usize, when: When) -> Option<usize> {
    let lab = Lab::selling(terms(4, 1)).await;
    let reserved = (flow.prepare)(&lab).await;
    let fault = Fault::new(at, when);
    let world = World::new(&lab, &fault).await;
    let ended = fault.run((flow.run)(&lab, &world, &reserved)).await;
    let effects = fault.effects();
    drop(world);

    heal(&lab).await;
    let audit = lab.audit().await;
    assert!(audit.is_clean(), "{} died {when:?} effect {at}: {audit:?}", flow.name);
    assert_eq!(audit.held, 0, "{} died {when:?} effect {at}: a reservation is in limbo", flow.name);
    for reservation in &reserved {
        let order = lab.ledger.order(&reservation.id).await.unwrap();
        assert!(order.is_some(), "{} died {when:?} effect {at}: {} came to nothing", flow.name, reservation.id);
    }
    // Whatever is free can be sold: nobody's slot is taken by what ended.
    for number in 0..audit.free {
        lab.buy(&user(format!("late-{number}")).to_string()).await;
    }
    lab.answer(&Ask::reserve(SALE, "too-late")).await.problem(409, "sold_out");
    assert!(lab.audit().await.is_clean());
    ended.then_some(effects)
}

/// Points that are tried beside each other.
const AT_ONCE: usize = 8;

#[tokio::test(flavor = "multi_thread")]
async fn every_function_may_die_at_every_effect() {
    let mut points: BTreeMap<&str, usize> = BTreeMap::new();
    for flow in FLOWS {
        for when in [When::Before, When::After] {
            for first in (0..).step_by(AT_ONCE) {
                let tries = (first..first + AT_ONCE).map(|at| crash(flow, at, when));
                let came_to_the_end = join_all(tries).await;
                let died = came_to_the_end.iter().filter(|effects| effects.is_none()).count();
                *points.entry(flow.name).or_default() += died;
                if died < AT_ONCE {
                    break;
                }
            }
        }
    }
    let all: usize = points.values().sum();
    eprintln!("{all} points, every one ended in a clean audit: {points:?}");
    assert!(points.values().all(|died| *died >= 4), "too few effects to be true: {points:?}");
}
