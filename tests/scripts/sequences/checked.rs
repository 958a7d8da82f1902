//! Compares every call of a script with the model: the answers must be equal, and Redis must then match the model.

use std::fmt::Debug;

use stock::{Counters, RoundView};

use super::model::{Model, class_of};
use crate::prelude::*;

/// Longer than any sequence takes.
const LONG: Duration = Duration::from_secs(3600);

/// Why a sequence of calls ends early.
#[derive(Debug)]
pub(super) enum Stop {
    /// The process died, as planned.
    Died,
    Wrong(String),
}

pub(super) type Outcome<T = ()> = Result<T, Stop>;

pub(super) fn wrong<T>(what: impl Into<String>) -> Outcome<T> {
    Err(Stop::Wrong(what.into()))
}

/// The state to which a failover returns.
pub(super) struct Replica {
    dump: Dump,
    models: BTreeMap<RoundId, Model>,
}

/// The rounds of one sale in Redis, each with its model if it is loaded.
pub(super) struct Checked {
    pub(super) models: BTreeMap<RoundId, Model>,
    /// Calls of Redis until the process dies.
    pub(super) calls_left: Option<usize>,
    pub(super) trace: Vec<String>,
    stock: Stock,
    redis: MultiplexedConnection,
    epoch_ms: EpochMs,
    /// When Redis was last compared with the models. Whatever has changed since changed later.
    compared_at: EpochMs,
}

impl Checked {
    pub(super) async fn new(server: &TestRound, now: EpochMs) -> Self {
        let (stock, redis) = (server.server.clone(), server.redis().await);
        let (models, trace) = (BTreeMap::new(), Vec::new());
        Self { models, calls_left: None, trace, stock, redis, epoch_ms: now, compared_at: now }
    }

    pub(super) async fn reserve(&mut self, id: &ReservationId, user: &UserId) -> Outcome<Reserve> {
        let began = clock();
        let answer = self.stock.round(&id.round).reserve(id.uuid, user, class_of(user)).await;
        let now = match &answer {
            Ok(Reserve::Reserved(reservation)) if (began..=clock()).contains(&reservation.reserved_at_ms) => {
                reservation.reserved_at_ms
            }
            _ => began,
        };
        let expected = self.model(id).map_or(Reserve::UnknownSale, |model| model.reserve(id, user, now));
        let sorted = |answer| match answer {
            Reserve::SoldOut(told) => Reserve::SoldOut(SoldOut { lasts: Duration::ZERO, ..told }),
            Reserve::AlreadyReserved(mut reservations) => {
                reservations.sort_by_key(|stored| stored.reservation.id.uuid);
                Reserve::AlreadyReserved(reservations)
            }
            other => other,
        };
        self.check(format!("reserve {user}"), answer.map(sorted), sorted(expected)).await
    }

    pub(super) async fn confirm(&mut self, reservation: &Reservation) -> Outcome<bool> {
        self.call()?;
        let expected = self.model(&reservation.id).is_some_and(|model| model.confirm(reservation));
        let answer = self.stock.round(&reservation.id.round).confirm(reservation).await;
        self.check(format!("confirm {}", reservation.user), answer, expected).await
    }

    pub(super) async fn release(
        &mut self,
        reservation: &Reservation,
        of_another: Option<Unit>,
        unpaid: bool,
    ) -> Outcome {
        self.call()?;
        if let Some(model) = self.model(&reservation.id) {
            model.release(reservation, of_another, unpaid);
        }
        let answer = self.stock.round(&reservation.id.round).release(reservation, of_another, unpaid).await;
        self.check(format!("release {}, unit of another: {of_another:?}", reservation.user), answer, ()).await
    }

    pub(super) async fn reseat(&mut self, message: &Reservation, refused: Refused) -> Outcome<Reseated> {
        self.call()?;
        let expected = self.model(&message.id).map_or(Reseated::UnknownSale, |model| model.reseat(message, refused));
        let answer = self.stock.round(&message.id.round).reseat(message, refused).await;
        self.check(format!("reseat {} from {:?}", message.user, message.unit), answer, expected).await
    }

    pub(super) async fn adopt(&mut self, order: &Reservation) -> Outcome<bool> {
        self.call()?;
        let expected = self.model(&order.id).is_some_and(|model| model.adopt(order));
        let answer = self.stock.round(&order.id.round).adopt(order).await;
        self.check(format!("adopt {} on {:?} in {:?}", order.user, order.unit, order.slot), answer, expected).await
    }

    pub(super) async fn restore(&mut self, round: &RoundId, units: &[Unit], counters: &Counters) -> Outcome<bool> {
        let expected = self.models.get_mut(round).is_some_and(|model| model.restore(units, counters));
        let answer = self.stock.round(round).restore(units, counters).await;
        self.check(format!("restore {units:?}"), answer, expected).await
    }

    pub(super) async fn amend(&mut self, round: &Round) -> Outcome {
        if let Some(model) = self.models.get_mut(&round.id) {
            model.amend(round);
        }
        let answer = self.stock.round(&round.id).amend(round).await;
        self.check(format!("amend to version {}", round.version), answer, ()).await
    }

    pub(super) async fn load(&mut self, read: &Round, taken: Vec<Reservation>) -> Outcome<bool> {
        let Round { id: round, version, paused, terms, .. } = read.clone();
        // A new one for each load, like a clock.
        self.epoch_ms = EpochMs(self.epoch_ms.0 + 1);
        let epoch_ms = self.epoch_ms;
        let load = RoundLoad { terms, paused, version, epoch_ms, taken: taken.clone(), blocked: Vec::new() };
        let answer = self.stock.round(&round).load(&load).await;
        let expected = !self.models.contains_key(&round);
        if expected {
            let Ok(Some(loaded)) = self.stock.round(&round).counters().await else {
                return wrong(format!("round {round} is not loaded"));
            };
            self.models.insert(round.clone(), Model::load(read.clone(), epoch_ms, &loaded, taken));
        }
        self.check(format!("load round {round}"), answer, expected).await
    }

    pub(super) async fn due(&mut self, round: &RoundId, most: usize, wait: bool) -> Outcome<Vec<Reservation>> {
        let mut expected = self.models.get_mut(round).map_or(Vec::new(), |model| model.due(most, wait));
        let wait = if wait { LONG } else { Duration::ZERO };
        let stock = self.stock.round(round);
        let mut answer = match stock.due(most, wait, None).await {
            // As if all of them were sent, which does not matter if they are due at once.
            Ok(due) => stock.due(0, wait, Some(due.due_at_ms)).await.map(|_| due.reservations),
            Err(error) => Err(error),
        };
        expected.sort_by(|one, other| one.id.cmp(&other.id));
        if let Ok(due) = &mut answer {
            due.sort_by(|one, other| one.id.cmp(&other.id));
        }
        self.check("due".into(), answer, expected).await
    }

    pub(super) async fn view(&self, round: &RoundId) -> Outcome<Option<RoundView>> {
        let view = self.stock.round(round).view().await;
        view.map_err(|error| Stop::Wrong(format!("the view: {error:?}")))
    }

    pub(super) async fn replicate(&mut self) -> Outcome<Replica> {
        let dump = dump(&mut self.redis, self.models.keys().flat_map(keys_of)).await.map_err(redis_failed)?;
        Ok(Replica { dump, models: self.models.clone() })
    }

    pub(super) async fn fail_over(&mut self, to: &Replica) -> Outcome {
        self.lose_all().await?;
        undump(&mut self.redis, &to.dump).await.map_err(redis_failed)?;
        self.models.clone_from(&to.models);
        self.check_all("failover").await
    }

    pub(super) async fn lose_all(&mut self) -> Outcome {
        for round in std::mem::take(&mut self.models).into_keys() {
            let keys = keys_of(&round);
            let () = redis::cmd("DEL").arg(&keys).query_async(&mut self.redis).await.map_err(redis_failed)?;
        }
        Ok(())
    }

    /// Counts a call. The process may die before it.
    fn call(&mut self) -> Outcome {
        match &mut self.calls_left {
            Some(0) => return Err(Stop::Died),
            Some(left) => *left -= 1,
            None => {}
        }
        Ok(())
    }

    fn model(&mut self, id: &ReservationId) -> Option<&mut Model> {
        self.models.get_mut(&id.round)
    }

    async fn check<T: Debug + PartialEq>(
        &mut self,
        call: String,
        answer: Result<T, stock::StockError>,
        expected: T,
    ) -> Outcome<T> {
        self.trace.push(format!("    {call}: {answer:?}"));
        match answer {
            Ok(answer) if answer == expected => {
                self.check_all(&call).await?;
                Ok(answer)
            }
            answer => wrong(format!("{call}: the answer is {answer:?} but should be {expected:?}")),
        }
    }

    async fn check_all(&mut self, call: &str) -> Outcome {
        for round in self.models.keys().cloned().collect::<Vec<_>>() {
            let view = self.view(&round).await?;
            let mut expiries = redis::pipe();
            for key in keys_of(&round) {
                expiries.cmd("PEXPIRETIME").arg(key);
            }
            let expiries: Vec<i64> = expiries.query_async(&mut self.redis).await.map_err(redis_failed)?;
            let model = self.models.get_mut(&round).expect("listed");
            let Some(view) = view else { return wrong(format!("{call}: round {round} is gone")) };
            let expires_at = view.counters.expires_at_ms.0;
            // -2: there is no such key.
            if let Some(other) = expiries.iter().find(|expiry| ![expires_at, -2].contains(expiry)) {
                return wrong(format!("{call}: a key expires at {other} instead of {expires_at}"));
            }
            let cooldown_until = view.counters.cooldown_until_ms;
            let cooldown_began = cooldown_until != model.cooldown_until_ms;
            if let Err(difference) = model.compare(&view) {
                return wrong(format!("{call}: round {round}: {difference}"));
            }
            if cooldown_began {
                let since = EpochMs(cooldown_until.0 - i64::from(stock::COOLDOWN_MS));
                let now = clock();
                if !(self.compared_at..=now).contains(&since) {
                    return wrong(format!(
                        "{call}: at {now:?} it is in cooldown until {cooldown_until:?}, as if since {since:?}"
                    ));
                }
                // Until the sequence lets time pass.
                self.set_cooldown_until(&round, EpochMs(clock().0 + LONG.as_millis() as i64)).await?;
            }
        }
        self.compared_at = clock();
        Ok(())
    }

    /// Lets time pass until nothing is in cooldown.
    pub(super) async fn wait(&mut self) -> Outcome {
        for round in self.models.keys().cloned().collect::<Vec<_>>() {
            self.set_cooldown_until(&round, EpochMs(0)).await?;
            self.models.get_mut(&round).expect("listed").in_cooldown = false;
        }
        Ok(())
    }

    async fn set_cooldown_until(&mut self, round: &RoundId, at: EpochMs) -> Outcome {
        let [sale, ..] = keys_of(round);
        tests::set_cooldown_until(&mut self.redis, &sale, at).await.map_err(redis_failed)?;
        self.models.get_mut(round).expect("loaded").cooldown_until_ms = at;
        Ok(())
    }
}

fn keys_of(RoundId { sale, number }: &RoundId) -> [String; 4] {
    ["sale", "buyers", "free", "outbox"].map(|kind| format!("{kind}:{{{sale}:{number}:0}}"))
}

fn redis_failed(error: redis::RedisError) -> Stop {
    Stop::Wrong(format!("Redis: {error:?}"))
}

pub(crate) fn clock() -> EpochMs {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a clock after 1970");
    EpochMs(i64::try_from(since.as_millis()).expect("a clock before the year 292 million"))
}
