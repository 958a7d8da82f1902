//! Rounds whose units come over time. Redis's clock cannot be set, so the tests move a round's times in Redis back.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use stock::COOLDOWN_MS;
use tests::{packed_at, set_cooldown_until};

use crate::prelude::*;

const SALE_KEY: &str = "sale:{lamp:1:0}";
/// Offset of the plan in the packed string.
const PLAN_AT: usize = 128;
/// Less than the cooldown.
const SOON_MS: i64 = 1_400;
const _: () = assert!(SOON_MS < COOLDOWN_MS as i64);

/// A round in Redis whose clock the test moves forward.
struct Weather {
    round: TestRound,
    redis: MultiplexedConnection,
    /// All versions of the round in the ledger, the latest last.
    versions: Vec<Round>,
    buyers: u32,
}

fn drops<const N: usize>(listed: [(u32, u32); N]) -> Vec<RainDrop> {
    listed.into_iter().map(|(after_s, units)| RainDrop { after_s, units }).collect()
}

fn earlier(moment: EpochMs, ms: i64) -> EpochMs {
    EpochMs(moment.0 - ms)
}

/// The plan with all of its times so much earlier.
fn moved(mut plan: RainPlan, ms: i64) -> RainPlan {
    plan.from_ms = earlier(plan.from_ms, ms);
    plan.drops.iter_mut().for_each(|drop| drop.0 = earlier(drop.0, ms));
    plan
}

impl Weather {
    /// A round of `total` units that opened `open_for_ms` ago, or opens later if negative.
    async fn start(total: u32, rain: Rain, open_for_ms: i64) -> Self {
        let opens_at_ms = earlier(clock(), open_for_ms);
        let terms = Terms { opens_at_ms, closes_at_ms: opens_at_ms.plus_s(3600), rain: Some(rain), ..terms(total, 1) };
        terms.validate().expect("valid terms");
        let round = TestRound::start(terms.clone()).await;
        let redis = round.redis().await;
        let first = Round { loaded_at_ms: Some(EpochMs(1)), ..Round::new(round.id.clone(), terms) };
        Self { round, redis, versions: vec![first], buyers: 0 }
    }

    fn current(&self) -> &Round {
        self.versions.last().expect("there is one")
    }

    fn plan(&self) -> RainPlan {
        self.current().terms.rain_plan().expect("it rains")
    }

    async fn pass(&mut self, ms: i64) {
        for Round { terms, .. } in &mut self.versions {
            terms.opens_at_ms = earlier(terms.opens_at_ms, ms);
            terms.closes_at_ms = earlier(terms.closes_at_ms, ms);
        }
        let mut bytes: Vec<u8> = self.redis.get(SALE_KEY).await.unwrap();
        for field in ["opens_at_ms", "closes_at_ms", "cooldown_until_ms", "next_drop_ms"] {
            let at = packed_at(field);
            let mut moment = [0; 8];
            moment[2..].copy_from_slice(&bytes[at..at + 6]);
            let moment = i64::from_be_bytes(moment);
            let moved = if moment == 0 { 0 } else { moment - ms };
            bytes[at..at + 6].copy_from_slice(&moved.to_be_bytes()[2..]);
        }
        let plan = moved(str::from_utf8(&bytes[PLAN_AT..]).unwrap().parse().unwrap(), ms);
        bytes.truncate(PLAN_AT);
        bytes.extend(plan.to_string().bytes());
        let kept = redis::SetOptions::default().with_expiration(redis::SetExpiry::KEEPTTL);
        let () = self.redis.set_options(SALE_KEY, bytes, kept).await.unwrap();
    }

    /// Lets time pass until this moment.
    async fn pass_until(&mut self, moment: EpochMs) {
        self.pass(moment.0 - clock().0).await;
    }

    /// Lets time pass until `opening_ms` after the opening.
    async fn pass_until_after(&mut self, opening_ms: i64) {
        self.pass_until(earlier(self.current().terms.opens_at_ms, -opening_ms)).await;
    }

    /// Releases by a clock that says the first moment when it is first read, and then the other one.
    async fn release_at(&mut self, reservation: &Reservation, [first, others]: [EpochMs; 2]) {
        let mut release = redis::cmd("EVAL");
        release.arg(script_at(stock::expanded::RELEASE, first, others)).arg(3);
        release.arg(SALE_KEY).arg("buyers:{lamp:1:0}").arg("free:{lamp:1:0}");
        release.arg(reservation.user.as_str()).arg(reservation.id.uuid.simple().to_string()).arg(0).arg(0);
        let answer: String = release.query_async(&mut self.redis).await.unwrap();
        assert_eq!(answer, "released");
    }

    /// Tries to reserve for a new user.
    async fn ask(&mut self) -> Reserve {
        self.buyers += 1;
        self.round.reserve(&user(format!("buyer-{}", self.buyers))).await
    }

    async fn buy(&mut self) -> Reservation {
        match self.ask().await {
            Reserve::Reserved(reservation) => reservation,
            other => panic!("{other:?} instead of a unit"),
        }
    }

    async fn sold_out(&mut self) -> SoldOut {
        match self.ask().await {
            Reserve::SoldOut(told) => told,
            other => panic!("{other:?} instead of sold out"),
        }
    }

    fn update(&mut self, change: impl FnOnce(Round) -> Round) {
        let changed = change(self.current().clone());
        self.versions.push(Round { version: changed.version + 1, ..changed });
    }

    async fn change(&mut self, change: impl FnOnce(Round) -> Round) {
        self.update(change);
        self.amend().await;
    }

    async fn rain(&mut self, new: Rain) {
        self.change(|round| round.rain(&new, clock()).unwrap()).await;
    }

    async fn amend(&self) {
        self.round.stock().amend(self.current()).await.unwrap();
    }

    /// Redis loses everything and is loaded again from the ledger.
    async fn lose_and_load(&mut self, taken: Vec<Reservation>) {
        let () = redis::cmd("FLUSHALL").query_async(&mut self.redis).await.unwrap();
        let Round { terms, version, paused, .. } = self.current().clone();
        let load = RoundLoad { terms, paused, version, epoch_ms: clock(), taken, blocked: Vec::new() };
        assert!(self.round.stock().load(&load).await.unwrap());
    }
}

#[tokio::test]
async fn units_become_available_over_time_and_who_comes_between_hears_when() {
    let mut weather =
        Weather::start(7, Rain { at_once: 1, drops: drops([(20, 2), (50, 9)]), ..Rain::default() }, -3_600_000).await;
    let opens_at = weather.current().terms.opens_at_ms;
    assert_eq!(weather.ask().await, Reserve::NotOpen(opens_at), "nothing drops before it opens");

    weather.pass_until_after(0).await;
    assert_eq!(weather.buy().await.unit, Unit(1));
    let told = weather.sold_out().await;
    assert_eq!(told.next_release_ms, Some(weather.current().terms.opens_at_ms.plus_s(20)));
    assert_eq!(told.lasts, Duration::from_millis(COOLDOWN_MS.into()));

    let next = told.next_release_ms.expect("a drop is ahead");
    let told = reserve_at(&weather.round, earlier(next, SOON_MS), BuyerClass::EVERYONE).await;
    let expected = format!(" {SOON_MS} {}", next.0);
    assert!(told.starts_with("sold_out ") && told.ends_with(&expected), "a mark must not outlast the drop: {told}");
    weather.pass_until(next).await;
    assert_eq!([weather.buy().await.unit, weather.buy().await.unit], [Unit(2), Unit(3)]);

    weather.pass_until_after(50_000).await;
    for unit in 4..=7 {
        assert_eq!(weather.buy().await.unit, Unit(unit));
    }
    let told = weather.sold_out().await;
    assert_eq!((told.next_release_ms, told.lasts.as_millis()), (None, COOLDOWN_MS.into()), "no drops are left");
    let view = weather.round.view().await;
    assert_eq!((view.counters.free(), view.counters.total(), view.counters.next_drop_ms), (0, 7, EpochMs(0)));
}

#[tokio::test]
async fn a_drop_that_comes_after_the_end_is_not_announced() {
    let mut weather = Weather::start(9, Rain { drops: drops([(4000, 1)]), ..Rain::default() }, 500).await;
    assert_eq!(weather.sold_out().await.next_release_ms, None);
    weather.pass_until_after(3_600_000).await;
    assert_eq!(weather.ask().await, Reserve::Closed);
}

#[tokio::test]
async fn admission_says_when_more_comes() {
    let mut weather = Weather::start(2, Rain { at_once: 1, drops: drops([(20, 1)]), ..Rain::default() }, 500).await;
    weather.buy().await;
    let (round, stock, id) = (weather.round.id.clone(), weather.round.server.clone(), Uuid::now_v7());
    let bob = Visitor::at(stock.round(&round), user("bob"));
    assert_eq!(bob.challenge(id, "23").await, Challenged::Issued);
    let Admit::SoldOut(told) = bob.answer(id, "23").await else { panic!("nothing is left until the drop") };
    let next = weather.current().terms.opens_at_ms.plus_s(20);
    assert_eq!(told.next_release_ms, Some(next));
    weather.pass_until(next).await;
    assert!(matches!(bob.answer(id, "23").await, Admit::Admitted(_)));
    assert_eq!(weather.buy().await.unit, Unit(2), "the first to ask for it after the drop");
    let last = bob.guess().await;
    let Admit::SoldOut(told) = last else { panic!("{last:?}: no drops are left") };
    assert_eq!(told.next_release_ms, None);
}

#[tokio::test]
async fn what_comes_back_does_not_delay_the_next_drop() {
    let mut weather = Weather::start(9, Rain { at_once: 1, drops: drops([(20, 1)]), ..Rain::default() }, 500).await;
    let reservation = weather.buy().await;
    let next = weather.current().terms.opens_at_ms.plus_s(20);
    assert_eq!(weather.sold_out().await.next_release_ms, Some(next));
    weather.release_at(&reservation, [earlier(next, SOON_MS); 2]).await;
    assert_eq!(weather.round.view().await.counters.cooldown_until_ms, next, "all marks have expired by then");
    assert_eq!(weather.sold_out().await.next_release_ms, Some(next), "the unit is in cooldown");
    weather.pass_until(next).await;
    assert_eq!([weather.buy().await.unit, weather.buy().await.unit], [Unit(1), Unit(2)]);
}

/// Redis's clock goes on while a script runs.
#[tokio::test]
async fn what_comes_back_as_units_drop_does_not_delay_them() {
    let mut weather = Weather::start(9, Rain { at_once: 1, drops: drops([(20, 1)]), ..Rain::default() }, 500).await;
    let reservation = weather.buy().await;
    let next = weather.current().terms.opens_at_ms.plus_s(20);
    assert_eq!(weather.sold_out().await.next_release_ms, Some(next));
    weather.release_at(&reservation, [earlier(next, 1), next]).await;
    assert_eq!(weather.round.view().await.counters.cooldown_until_ms, next, "everybody was told to come then");
}

#[tokio::test]
async fn who_was_promised_a_unit_gets_one_of_the_next_drop() {
    let mut weather = Weather::start(3, Rain { at_once: 1, drops: drops([(20, 1)]), ..Rain::default() }, 500).await;
    let reservation = weather.buy().await;
    let Reseated::To(reseated) = weather.round.stock().reseat(&reservation, stock::Refused::Unit).await.unwrap() else {
        panic!("it waits")
    };
    assert_eq!(reseated.unit, Unit(2));
    weather.pass_until_after(20_000).await;
    assert_eq!(weather.sold_out().await.next_release_ms, None, "the drop's only unit is taken");
    let counters = weather.round.view().await.counters;
    assert_eq!((counters.free(), counters.total()), (1, 3), "unit 3 never drops and is not sold");
}

#[tokio::test]
async fn a_change_of_the_plan_counts_once_and_no_older_one_counts() {
    // Minutes from anything that drops, so that it happens where it should on a slow machine, too.
    let rain = Rain { at_once: 2, steady: Some(Steady { units: 1, every_s: 1000 }), ..Rain::default() };
    let mut weather = Weather::start(100, rain, 2_550_000).await;
    let before = weather.current().clone();
    weather.rain(Rain { at_once: 3, drops: drops([(3500, 5)]), ..Rain::default() }).await;
    let once = weather.round.view().await.counters;
    assert_eq!((once.version, once.last_unit), (2, 7), "2, and 2 drops of 1, and 3");
    weather.amend().await;
    weather.round.stock().amend(&before).await.unwrap();
    assert_eq!(weather.round.view().await.counters, once);
    weather.pass_until_after(3_400_000).await;
    for unit in 1..=7 {
        assert_eq!(weather.buy().await.unit, Unit(unit));
    }
    assert_eq!(weather.sold_out().await.next_release_ms, Some(weather.current().terms.opens_at_ms.plus_s(3500)));
    // A longer plan and then a shorter one: nothing of the longer one remains.
    weather
        .rain(Rain { drops: (3501..3533).map(|after_s| RainDrop { after_s, units: 1 }).collect(), ..Rain::default() })
        .await;
    assert_eq!(weather.round.view().await.counters.plan, Some(weather.plan()));
    weather.rain(Rain::default()).await;
    assert_eq!(weather.round.view().await.counters.plan, Some(weather.plan()));
    assert_eq!(weather.sold_out().await.next_release_ms, None);
}

/// Processes with a sold-out mark were told by the old plan.
#[tokio::test]
async fn what_a_change_brings_forward_has_a_cooldown() {
    let mut weather = Weather::start(100, Rain { at_once: 1, drops: drops([(900, 1)]), ..Rain::default() }, 500).await;
    weather.buy().await;
    let told = weather.sold_out().await;
    let free_of_marks = clock().0 + told.lasts.as_millis() as i64;
    weather.rain(Rain { at_once: 5, ..Rain::default() }).await;
    let counters = weather.round.view().await.counters;
    assert!(counters.cooldown_until_ms.0 >= free_of_marks && counters.available(clock()) == 5);
    // A cooldown that is not over before the question, however slow the machine is.
    let until = clock().plus_s(60);
    set_cooldown_until(&mut weather.redis, SALE_KEY, until).await.unwrap();
    assert_eq!(weather.sold_out().await.next_release_ms, Some(until));
    weather.pass_until(until).await;
    assert_eq!(weather.buy().await.unit, Unit(2));
    // Drops that are no earlier than announced have no cooldown.
    let before = weather.round.view().await.counters.cooldown_until_ms;
    weather.rain(Rain { drops: drops([(900, 7)]), ..Rain::default() }).await;
    assert_eq!(weather.round.view().await.counters.cooldown_until_ms, before);
}

#[tokio::test]
async fn a_round_without_a_plan_has_only_the_fields() {
    let plain = terms(1, 1);
    let round = TestRound::start(plain.clone()).await;
    round.buy(&user("alice")).await;
    let Reserve::SoldOut(told) = round.reserve(&user("bob")).await else { panic!("everything is sold") };
    assert_eq!((told.next_release_ms, told.lasts.as_millis()), (None, COOLDOWN_MS.into()));
    round.stock().amend(&Round { version: 2, ..Round::new(round.id.clone(), plain) }).await.unwrap();
    let bytes: Vec<u8> = round.redis().await.get(SALE_KEY).await.unwrap();
    assert_eq!(bytes.len(), packed_at("quota") + 4);
}

/// A model of a round with a plan: which units are out, and until when no unit may be sold.
#[derive(Default)]
struct Model {
    next: u32,
    last: u32, // The last unit available under any plan so far.
    returned: BTreeSet<u32>,
    held: Vec<Reservation>,
    nobody_before: EpochMs, // No buyer may win before this, since a process may remember that it is sold out.
    promised: Option<EpochMs>, // When the next units come, as last announced, if nothing has changed since.
}

impl Model {
    fn see(&mut self, plan: &RainPlan, now: EpochMs) {
        self.last = self.last.max(plan.available(now));
    }

    /// Whether a buyer gets a unit at this time, if nothing else happens until then.
    fn sells_at(&self, plan: &RainPlan, at: EpochMs) -> bool {
        !self.returned.is_empty() || self.next <= self.last.max(plan.available(at))
    }

    fn take(&mut self) -> Option<Unit> {
        let unit = self.returned.pop_first().or_else(|| (self.next <= self.last).then_some(self.next))?;
        self.next = self.next.max(unit + 1);
        Some(Unit(unit))
    }
}

/// Random plans, changes, losses and passing time, compared with a model. Besides the answers it checks that no unit is sold
/// while a process may remember that it is sold out, and that announced units come on time.
#[tokio::test]
async fn redis_hands_out_what_is_available_and_nothing_more() {
    let (mut won, mut told_next, mut kept) = (0, 0, 0);
    for seed in 0..20 {
        let mut random = StdRng::seed_from_u64(seed);
        let mut weather = Weather::start(random.random_range(5..60), any_rain(&mut random, 0), -500).await;
        weather.pass_until_after(1).await;
        let mut model = Model { next: 1, ..Model::default() };
        for step in 0..120 {
            let context = format!("seed {seed}, step {step}");
            model.see(&weather.plan(), clock());
            match random.random_range(0..20) {
                0..10 => {
                    let (plan, asked) = (weather.plan(), clock());
                    let cooldown_until = weather.round.stock().counters().await.unwrap().unwrap().cooldown_until_ms;
                    let answer = weather.ask().await;
                    let answered = clock();
                    // A drop during the call may be visible or not.
                    let just_now = plan.available(asked) != plan.available(answered);
                    model.see(&plan, answered);
                    let in_cooldown = asked < cooldown_until;
                    match answer {
                        Reserve::Reserved(reservation) => {
                            assert!(!in_cooldown || answered >= cooldown_until, "{context}: it was in cooldown");
                            assert_eq!(model.take(), Some(reservation.unit), "{context}");
                            let may_win = reservation.reserved_at_ms >= model.nobody_before;
                            assert!(may_win, "{context}: a mark was still set");
                            model.held.push(reservation);
                            model.promised = None;
                            won += 1;
                        }
                        Reserve::SoldOut(told) => {
                            let has_some = model.sells_at(&plan, answered);
                            assert!(in_cooldown || just_now || !has_some, "{context}: {told:?} with some left");
                            let promised = model.promised.filter(|at| *at <= asked);
                            assert_eq!(promised, None, "{context}: it was announced for now");
                            let until = EpochMs(asked.0 + told.lasts.as_millis() as i64);
                            model.nobody_before = model.nobody_before.max(until);
                            // What an old plan has released in the meantime is not released again by the new one.
                            model.promised = told.next_release_ms.filter(|at| model.sells_at(&plan, *at));
                            assert!(told.next_release_ms.is_none_or(|next| next.0 >= until.0), "{context}: {told:?}");
                            if !in_cooldown && plan.next_drop(asked) == plan.next_drop(answered) {
                                let closes_at = weather.current().terms.closes_at_ms;
                                let ahead = plan.next_drop(asked).filter(|next| *next < closes_at);
                                assert_eq!(told.next_release_ms.is_some(), ahead.is_some(), "{context}");
                            }
                            told_next += u32::from(told.next_release_ms.is_some());
                        }
                        other => panic!("{context}: {other:?}"),
                    }
                }
                10..12 if !model.held.is_empty() => {
                    let reservation = model.held.swap_remove(random.random_range(0..model.held.len()));
                    weather.round.release(&reservation).await;
                    model.returned.insert(reservation.unit.0);
                }
                12 => {
                    let (old, now) = (weather.plan(), clock());
                    let now_s = now.since_ms(weather.current().terms.opens_at_ms) as u32 / 1000;
                    let new = any_rain(&mut random, now_s + 1);
                    weather.update(|round| round.rain(&new, now).unwrap());
                    amend_later(&mut weather, &mut model, &mut random, old).await;
                    kept += 1;
                }
                13 => {
                    let old = weather.plan();
                    let units = random.random_range(1..5);
                    weather.update(|round| round.restock(units, clock()).unwrap());
                    amend_later(&mut weather, &mut model, &mut random, old).await;
                }
                14 => {
                    let old = weather.versions[random.random_range(0..weather.versions.len())].clone();
                    weather.round.stock().amend(&old).await.unwrap();
                }
                15 if random.random_bool(0.2) => {
                    weather.lose_and_load(model.held.clone()).await;
                    model.next = model.held.iter().map(|reservation| reservation.unit.0 + 1).max().unwrap_or(1);
                    let held: BTreeSet<u32> = model.held.iter().map(|reservation| reservation.unit.0).collect();
                    model.returned = (1..model.next).filter(|unit| !held.contains(unit)).collect();
                    (model.last, model.promised, model.nobody_before) = (0, None, EpochMs(0));
                }
                16 if model.promised.is_some() => {
                    let at = model.promised.expect("announced");
                    let ahead_ms = at.0 - clock().0;
                    if ahead_ms > 0 {
                        pass(&mut weather, &mut model, ahead_ms).await;
                    }
                }
                _ => pass(&mut weather, &mut model, random.random_range(1..9_000)).await,
            }
            let now = clock();
            model.see(&weather.plan(), now);
            let view = weather.round.view().await;
            let free: BTreeSet<u32> = view.free.into_iter().flatten().collect();
            let expected: BTreeSet<u32> =
                model.returned.iter().copied().chain(model.next..=weather.plan().last.max(model.last)).collect();
            assert_eq!(free, expected, "{context}");
            let can_be_had = model.returned.len() as u32 + (model.last + 1).saturating_sub(model.next);
            assert_eq!(view.counters.available(now), can_be_had, "{context}: {:?}", view.counters);
            assert!(view.counters.last_unit <= model.last, "{context}: more than has dropped");
        }
    }
    println!("{won} units won, {told_next} times told when more come, {kept} plans changed");
    assert!(won > 150 && told_next > 60 && kept > 30, "{won} {told_next} {kept}");
}

/// Redis learns of a change, at once or only a while after it was made. Until then it follows the `old` plan.
async fn amend_later(weather: &mut Weather, model: &mut Model, random: &mut StdRng, mut old: RainPlan) {
    if random.random_bool(0.5) {
        let ms = random.random_range(1..3_000);
        pass(weather, model, ms).await;
        old = moved(old, ms);
    }
    model.see(&old, clock());
    weather.amend().await;
    // A drop of the old plan may come before the call or after it, and counts only before it.
    let (last, now) = (weather.round.view().await.counters.last_unit, clock());
    let most = model.last.max(old.available(now)).max(weather.plan().available(now));
    assert!(last <= most, "{last} instead of at most {most}");
    (model.last, model.promised) = (model.last.max(last), None);
}

async fn pass(weather: &mut Weather, model: &mut Model, ms: i64) {
    weather.pass(ms).await;
    model.nobody_before = earlier(model.nobody_before, ms);
    model.promised = model.promised.map(|at| earlier(at, ms));
}

/// A plan with drops after this moment.
fn any_rain(random: &mut StdRng, after_s: u32) -> Rain {
    let mut listed: Vec<u32> = (0..random.random_range(0..5)).map(|_| after_s + random.random_range(1..60)).collect();
    listed.sort_unstable();
    listed.dedup();
    Rain {
        at_once: random.random_range(0..4),
        steady: random
            .random_bool(0.6)
            .then(|| Steady { units: random.random_range(1..4), every_s: random.random_range(1..15) }),
        drops: listed.into_iter().map(|after_s| RainDrop { after_s, units: random.random_range(1..6) }).collect(),
        from_ms: 0,
    }
}
