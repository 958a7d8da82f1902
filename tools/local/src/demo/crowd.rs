use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Duration;

use anyhow::{Context, Result};
use history::Recorder;
use hyper::Method;
use ledger::Ledger;
use load::{Answer, Failure, Request, Response, Token};
use parking_lot::Mutex;
use pass::line::Class;
use pass::{KeyRing, Pass};
use sale::{BuyerClass, EpochMs, Round, RoundId, UserId};
use tokio::sync::{Notify, OnceCell};

use crate::client::{Client, NewSale};
use crate::cloud::Cloud;
use crate::demo::plan::Plan;
use crate::identity::Bearer;
use crate::recorded;

/// One person in this many cancels, and one in this many lets the payment window pass.
const CANCEL_ONE_OF: usize = 20;
const FORGET_ONE_OF: usize = 4;
/// One person in this many does the work at the gate, among the first so many.
const THROUGH_THE_GATE: (usize, usize) = (10, 30);
/// Passes are valid for five minutes: the others' are younger than this.
const OLDEST_PASS_MS: i64 = 240_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Habit {
    Pays,
    /// Lets the payment window pass.
    Forgets,
    Cancels,
}

/// Who a person is in the sale, which determines when they come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// In no group: comes at the opening.
    Rush,
    /// In the group with early access: comes at the group's opening.
    First,
    /// In that group, but comes this long after the rush began.
    Late(Duration),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wave {
    Rush,
    /// Later, for returned units.
    Resale,
}

pub(super) struct Buyer {
    pub(super) number: usize,
    pub(super) token: String,
    pub(super) user: UserId,
    pub(super) turn: Turn,
    pub(super) carried: Token,
    entered: OnceCell<String>,
}

impl Buyer {
    pub(super) const fn works_at_the_gate(&self) -> bool {
        self.number < THROUGH_THE_GATE.1 && self.number % THROUGH_THE_GATE.0 == THROUGH_THE_GATE.0 - 1
    }

    /// Determined by the number, so that every run has some of each. A person who waited for a unit pays for it.
    pub(super) const fn habit(&self, wave: Wave) -> Habit {
        if matches!(wave, Wave::Resale) {
            Habit::Pays
        } else if self.number.is_multiple_of(CANCEL_ONE_OF) {
            Habit::Cancels
        } else if self.number.is_multiple_of(FORGET_ONE_OF) {
            Habit::Forgets
        } else {
            Habit::Pays
        }
    }
}

/// Whether a request for a unit got one.
pub(super) fn has_unit(heard: &Answer) -> bool {
    heard.status == Some(202)
}

pub(super) struct Crowd {
    pub(super) buyers: Vec<Buyer>,
    pub(super) client: Client,
    pub(super) operator: Client,
    pub(super) ledger: Ledger,
    pub(super) payment_key: String,
    pub(super) plan: Plan,
    pub(super) offer: NewSale,
    pub(super) round: RoundId,
    /// Signalled once, when the first buyer comes.
    pub(super) begins: Notify,
    /// Used if there is a line.
    pub(super) waiting: Waiting,
    pub(super) recorder: Recorder,
    pub(super) load: load::Client,
    passes: KeyRing,
    gathered_at: EpochMs,
    pub(super) promised: Mutex<Promised>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Bought,
    SoldOutInFront,
    SoldOutBehind,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Waited {
    pub(super) class: Option<Class>,
    /// Requests that reached the gateway.
    pub(super) asked: u32,
    pub(super) was_admitted: bool,
    /// Whether a person who tried before their turn was let in.
    pub(super) jumped: Option<bool>,
    pub(super) end: Option<End>,
}

/// What the people in a line share.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    pub(super) people: Mutex<HashMap<usize, Waited>>,
    pub(super) looks: AtomicU64,
    pub(super) looks_of_the_edge: AtomicU64,
    /// Units bought from now on are returned ones.
    pub(super) was_sold_out: AtomicBool,
}

/// This program's own count. The audit does not use it.
#[derive(Default)]
pub(super) struct Promised {
    /// Reservations that were answered with 202, with their buyer and wave.
    pub(super) accepted: HashMap<String, (usize, Wave)>,
    pub(super) resale: BTreeMap<String, u64>,
}

impl Crowd {
    pub(super) async fn gather(
        plan: &Plan,
        offer: NewSale,
        cloud: &Cloud,
        bearers: Vec<Bearer>,
        turn: impl Fn(&Plan, usize) -> Turn,
    ) -> Result<Arc<Self>> {
        let buyers = bearers.into_iter().enumerate().map(|(number, Bearer { user, text: token, token: carried })| {
            Buyer { number, token, user, turn: turn(plan, number), carried, entered: OnceCell::new() }
        });
        Ok(Arc::new(Self {
            buyers: buyers.collect(),
            client: Client::new(&cloud.deployment.api_url)?,
            operator: Client::for_operator(&cloud.deployment.api_url, &cloud.issuer)?,
            ledger: cloud.deployment.ledger(),
            begins: Notify::new(),
            recorder: Recorder::default(),
            load: load::Client::new(cloud.deployment.api_url.parse()?),
            payment_key: cloud.deployment.payment_key().await?,
            plan: plan.clone(),
            round: offer.first_round()?,
            offer,
            waiting: Waiting::default(),
            gathered_at: runtime::Clock::system().now(),
            passes: cloud.deployment.pass_ring().await?,
            promised: Mutex::default(),
        }))
    }

    /// The round as the ledger has it.
    pub(super) async fn ledgers_round(&self) -> Result<Round> {
        let id = &self.round;
        self.ledger.round(id).await?.with_context(|| format!("the ledger has no round {id}"))
    }

    pub(super) fn open_reservations(&self, ended: &HashSet<String>) -> Vec<(String, &Buyer, Wave)> {
        let promised = self.promised.lock();
        let open = promised.accepted.iter().filter(|(id, _)| !ended.contains(*id));
        open.map(|(id, (number, wave))| (id.clone(), &self.buyers[*number], *wave)).collect()
    }

    pub(super) fn without_reservation(&self) -> VecDeque<&Buyer> {
        let promised = self.promised.lock();
        let winners: HashSet<usize> = promised.accepted.values().map(|(number, _)| *number).collect();
        self.buyers.iter().filter(|buyer| !winners.contains(&buyer.number)).collect()
    }

    /// A few people go through the gate. The others already have passes, since the demo measures the rush for units.
    async fn pass(&self, buyer: &Buyer, wave: Wave) -> Result<String> {
        if buyer.works_at_the_gate() && wave == Wave::Rush {
            let enter = || self.client.enter(&buyer.token, self.round.sale.as_str());
            return Ok(buyer.entered.get_or_try_init(enter).await?.clone());
        }
        let oldest = runtime::Clock::system().now().0 - OLDEST_PASS_MS;
        let issued_at_ms = EpochMs(self.gathered_at.0.max(oldest));
        let members = BuyerClass::of(&self.offer.early_access);
        let class = if buyer.turn == Turn::Rush { BuyerClass::EVERYONE } else { members };
        let pass = Pass { round: self.round.number, issued_at_ms, class };
        Ok(self.passes.seal(&pass, &self.round.sale, &buyer.user))
    }

    /// A buyer's request for a unit. Each wave has one idempotency key, so repeating it is a retry.
    pub(super) async fn request(&self, buyer: &Buyer, wave: Wave) -> Result<Request> {
        let key = if wave == Wave::Rush { "rush" } else { "resale" };
        Ok(Request::reserve(self.round.sale.as_str(), &self.pass(buyer, wave).await?)?.token(&buyer.carried).key(key))
    }

    /// Sends it, from the buyer's own address.
    pub(super) async fn send(&self, buyer: &Buyer, request: &Request) -> Result<Response, Failure> {
        let Self { load, recorder, round, .. } = self;
        recorded::send(load, recorder, buyer.number, buyer.user.as_str(), round, request).await
    }

    async fn about(&self, method: Method, buyer: &Buyer, id: &str) -> Result<Response> {
        Ok(self.send(buyer, &Request::reservation(method, id)?.token(&buyer.carried)).await?)
    }

    /// None if there is no answer with it right now.
    pub(super) async fn status(&self, buyer: &Buyer, id: &str) -> Option<String> {
        self.about(Method::GET, buyer, id).await.ok()?.text("status")
    }

    pub(super) async fn cancel(&self, buyer: &Buyer, id: &str) -> Result<Response> {
        self.about(Method::DELETE, buyer, id).await
    }

    pub(super) async fn pay(&self, id: &str) -> Result<String> {
        recorded::pay(&self.client, &self.recorder, &self.payment_key, &self.round, id).await
    }

    pub(super) fn note(&self, buyer: &Buyer, wave: Wave, heard: &Result<Response, Failure>) -> Answer {
        let response = match heard {
            Ok(response) => response,
            Err(failure) => return failure.into(),
        };
        let answer = response.answer();
        if has_unit(&answer) {
            let Some(id) = response.text("reservation_id") else {
                return Answer { status: None, code: "no_id".into() };
            };
            self.promised.lock().accepted.entry(id).or_insert((buyer.number, wave));
        }
        answer
    }

    pub(super) async fn ask(&self, buyer: &Buyer, wave: Wave) -> Answer {
        match self.request(buyer, wave).await {
            Ok(request) => self.note(buyer, wave, &self.send(buyer, &request).await),
            Err(_) => Answer { status: None, code: "no_pass".into() },
        }
    }

    /// Whether the buyer gets a unit now.
    pub(super) async fn try_again(&self, buyer: &Buyer) -> bool {
        let heard = self.ask(buyer, Wave::Resale).await;
        let name = match heard.status {
            Some(202) => "202",
            Some(400..) => &*heard.code,
            _ => "error",
        };
        *self.promised.lock().resale.entry(name.to_owned()).or_default() += 1;
        has_unit(&heard)
    }
}

pub(super) async fn everybody<T>(of: impl IntoIterator<Item = T>, at_once: usize, work: impl AsyncFn(T)) {
    use futures::StreamExt;
    let work = &work;
    futures::stream::iter(of).for_each_concurrent(at_once, |one| work(one)).await;
}
