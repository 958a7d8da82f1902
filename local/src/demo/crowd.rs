use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::Result;
use load::{Failure, Request, Response, Token};
use pass::{Grant, KeyRing};
use sale::{BuyerClass, EpochMs, RoundId, Settlement, UserId};
use tokio::sync::OnceCell;

use crate::client::{Client, NewSale};
use crate::cloud::Cloud;
use crate::demo::Plan;
use crate::demo::kinds::Waiting;
use crate::identity::Issuer;

/// One of so many cancels, and one of so many lets the payment window pass.
const CANCEL_ONE_OF: usize = 20;
const FORGET_ONE_OF: usize = 4;
/// One of so many, of the first so many, comes through the gate and does the work that it asks for.
const THROUGH_THE_GATE: (usize, usize) = (10, 30);
/// Passes hold for five minutes: the others' are younger than this.
const OLDEST_PASS_MS: i64 = 240_000;

/// What someone does with a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Habit {
    /// Pays.
    Pays,
    /// Lets the payment window pass.
    Forgets,
    /// Gives it back.
    Cancels,
}

/// Who someone is to the sale, and so when they come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// In no group: comes in the rush.
    Rush,
    /// In the group that may buy before everyone else, and comes when it may.
    First,
    /// In that group, and comes so long after the rush began.
    Late(Duration),
}

/// When someone tries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wave {
    /// When the sale opens.
    Rush,
    /// Afterwards, for what came back.
    Resale,
}

/// Someone who wants a unit.
pub(super) struct Buyer {
    pub(super) number: usize,
    /// As signed.
    pub(super) token: String,
    pub(super) user: UserId,
    pub(super) turn: Turn,
    /// As requests carry it.
    carried: Token,
    /// The pass that the gate gave.
    entered: OnceCell<String>,
}

impl Buyer {
    /// Fixed by the number, so that every run has some of each. Who waited for a unit pays for it.
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

/// What a buyer hears.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Heard {
    /// 202: a unit is theirs.
    Reserved,
    /// A refusal, by its code.
    Refused(String),
    /// No answer, or one that the API does not give.
    Nothing,
}

/// Everybody, and what they were promised.
pub(super) struct Crowd {
    pub(super) buyers: Vec<Buyer>,
    pub(super) client: Client,
    pub(super) payment_key: String,
    pub(super) payment_window_s: u32,
    pub(super) units: usize,
    pub(super) settlement: Settlement,
    pub(super) round: RoundId,
    pub(super) lanes: u16,
    pub(super) has_line: bool,
    /// If there is a line.
    pub(super) waiting: Waiting,
    load: load::Client,
    passes: KeyRing,
    class_of_members: BuyerClass,
    gathered_at: EpochMs,
    promised: Mutex<Promised>,
}

/// This program's own count. The audit does not rest on it.
#[derive(Default)]
pub(super) struct Promised {
    /// Reservations that were answered with 202: whose, and when.
    pub(super) accepted: HashMap<String, (usize, Wave)>,
    /// What was heard in the resale.
    pub(super) resale: BTreeMap<String, u64>,
}

/// Signs a token for everybody, on all cores.
pub(super) async fn sign_tokens(issuer: Issuer, buyers: u32) -> Result<Vec<(UserId, String)>> {
    let sign = move || {
        let names: Vec<String> = (0..buyers).map(|number| format!("buyer-{number:06}")).collect();
        let tokens = issuer.tokens(&names)?;
        names.iter().zip(tokens).map(|(name, token)| Ok((name.parse()?, token))).collect()
    };
    tokio::task::spawn_blocking(sign).await?
}

impl Crowd {
    pub(super) async fn gather(
        plan: &Plan,
        offer: &NewSale,
        cloud: &Cloud,
        signed: Vec<(UserId, String)>,
        turn: impl Fn(&Plan, usize) -> Turn,
    ) -> Result<Arc<Self>> {
        let buyers = signed.into_iter().enumerate().map(|(number, (user, token))| {
            let carried = token.parse()?;
            anyhow::Ok(Buyer { number, token, user, turn: turn(plan, number), carried, entered: OnceCell::new() })
        });
        Ok(Arc::new(Self {
            buyers: buyers.collect::<Result<_>>()?,
            client: Client::new(&cloud.deployment.api_url)?,
            load: load::Client::new(cloud.deployment.api_url.parse()?),
            payment_key: cloud.deployment.payment_key().await?,
            payment_window_s: plan.payment_window_s(),
            units: plan.units as usize,
            settlement: offer.settlement(),
            round: offer.first_round()?,
            lanes: plan.lanes,
            has_line: offer.has_line(),
            waiting: Waiting::default(),
            gathered_at: runtime::Clock::system().now(),
            passes: cloud.deployment.pass_ring().await?,
            class_of_members: offer.class_of_members(),
            promised: Mutex::default(),
        }))
    }

    pub(super) fn promised(&self) -> MutexGuard<'_, Promised> {
        self.promised.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reservations that were accepted and are not among those that ended.
    pub(super) fn open_reservations(&self, ended: &HashSet<String>) -> Vec<(String, &Buyer, Wave)> {
        let promised = self.promised();
        let open = promised.accepted.iter().filter(|(id, _)| !ended.contains(*id));
        open.map(|(id, (number, wave))| (id.clone(), &self.buyers[*number], *wave)).collect()
    }

    /// Buyers who were never given anything.
    pub(super) fn without_reservation(&self) -> VecDeque<&Buyer> {
        let promised = self.promised();
        let winners: HashSet<usize> = promised.accepted.values().map(|(number, _)| *number).collect();
        self.buyers.iter().filter(|buyer| !winners.contains(&buyer.number)).collect()
    }

    /// A few come through the gate. The others were let in before, so that what is measured is the rush for units.
    async fn pass(&self, buyer: &Buyer, wave: Wave) -> Result<String> {
        let through_the_gate =
            buyer.number < THROUGH_THE_GATE.1 && buyer.number % THROUGH_THE_GATE.0 == THROUGH_THE_GATE.0 - 1;
        if through_the_gate && wave == Wave::Rush {
            return Ok(buyer
                .entered
                .get_or_try_init(|| self.client.enter(&buyer.token, self.round.sale.as_str()))
                .await?
                .clone());
        }
        let oldest = runtime::Clock::system().now().0 - OLDEST_PASS_MS;
        let issued_at_ms = EpochMs(self.gathered_at.0.max(oldest));
        let class = if buyer.turn == Turn::Rush { BuyerClass::EVERYONE } else { self.class_of_members };
        Ok(self.passes.seal(&Grant { round: &self.round, user: &buyer.user, issued_at_ms, class }))
    }

    /// The request of a buyer for a unit. A repeated one is a retry: each wave has one key.
    pub(super) async fn request(&self, buyer: &Buyer, wave: Wave) -> Result<Request> {
        let key = if wave == Wave::Rush { "rush" } else { "resale" };
        Ok(Request::reserve(self.round.sale.as_str(), &self.pass(buyer, wave).await?)?.token(&buyer.carried).key(key))
    }

    /// Sends it, from the buyer's own address.
    pub(super) async fn send(&self, buyer: &Buyer, request: &Request) -> Result<Response, Failure> {
        self.load.send(buyer.number, request).await
    }

    /// In the name of a buyer.
    pub(super) fn of_buyer(&self, buyer: &Buyer, request: Request) -> Request {
        request.token(&buyer.carried)
    }

    /// Sends what is nobody's own.
    pub(super) async fn look(&self, request: &Request) -> Result<Response, Failure> {
        self.load.send(0, request).await
    }

    /// Notes what a buyer heard.
    pub(super) fn note(&self, buyer: &Buyer, wave: Wave, heard: &Result<Response, Failure>) -> Heard {
        let Ok(response) = heard else { return Heard::Nothing };
        if response.status != 202 {
            let code = response.answer().code.into_owned();
            return if code.is_empty() { Heard::Nothing } else { Heard::Refused(code) };
        }
        let Some(id) = response.json()["reservation_id"].as_str().map(str::to_owned) else { return Heard::Nothing };
        self.promised().accepted.entry(id).or_insert((buyer.number, wave));
        Heard::Reserved
    }

    /// One try of one buyer in the resale.
    pub(super) async fn try_again(&self, buyer: &Buyer) -> Heard {
        let Ok(request) = self.request(buyer, Wave::Resale).await else { return Heard::Nothing };
        let heard = self.note(buyer, Wave::Resale, &self.send(buyer, &request).await);
        let name = match &heard {
            Heard::Reserved => "202",
            Heard::Refused(code) => code,
            Heard::Nothing => "error",
        };
        *self.promised().resale.entry(name.to_owned()).or_default() += 1;
        heard
    }
}

/// Does `work` for everybody, so many at a time.
pub(super) async fn everybody<T>(of: impl IntoIterator<Item = T>, at_once: usize, work: impl AsyncFn(T)) {
    use futures::StreamExt;
    let work = &work;
    futures::stream::iter(of).for_each_concurrent(at_once, |one| work(one)).await;
}
