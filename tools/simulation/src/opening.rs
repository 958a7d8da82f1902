//! One opening, event by event, in ticks of a tenth of a second.

use std::collections::BTreeSet;

use pass::line::{Class, Flow, Late, Place, Progress, WHOLE_PPB, advance};
use serde::Serialize;

use crate::fairness::Fairness;
use crate::lanes::{Call, Lanes};
use crate::meter::{Meter, Second};
use crate::people::{Chance, Person, State, crowd};
use crate::scenario::Scenario;

/// Milliseconds of a tick.
const TICK_MS: i64 = 100;
/// The simulation ends at most this many seconds after the opening.
const LAST_S: i64 = 4 * 3_600;
/// Standard error of the count of people, a HyperLogLog in Redis.
const COUNT_ERROR: f64 = 0.0081;
/// A refused request is sent again after a second, then after twice as long each time.
const FIRST_RETRY_MS: i64 = 1_000;
const LONGEST_RETRY_MS: i64 = 15_000;

#[derive(Debug, Clone, Copy)]
enum Step {
    Arrive,
    Ticket,
    Poll,
    Challenge,
    Answer,
    Reserve,
    PollReservation,
    Pay,
    Expire,
}

#[derive(Debug, Clone, Default, Serialize)]
pub struct Run {
    pub seed: u64,
    /// Seconds from the opening until it first sold out.
    pub sold_out_s: Option<f64>,
    /// Seconds from the opening until all who were waiting then knew of it.
    pub told_s: Option<f64>,
    /// Seconds from the opening until all units were paid for.
    pub all_paid_s: Option<f64>,
    pub paid: u32,
    pub came_back: u32,
    /// Most units taken at once: never more than there are.
    pub most_taken: u32,
    pub over_limit: u32,
    /// People who were told "sold out" while a unit was free.
    pub told_wrongly: u32,
    pub admitted: u32,
    /// How many of them came and got nothing.
    pub came_for_nothing: u32,
    pub winners: u32,
    /// People still waiting at the end, with no end in sight.
    pub left_waiting: u32,
    /// Median of requests at the gateway by people who never reached the front.
    pub requests_never_at_front: u16,
    /// Most requests in a second at CloudFront.
    pub edge_peak: f64,
    /// The same at the gateway.
    pub gateway_peak: f64,
    /// The same at the gateway, in the minute before the opening.
    pub tickets_peak: f64,
    pub refused: f64,
    pub redis_peak: f64,
    pub redis_queue_peak: f64,
    pub waiting_peak: u32,
    pub moved: u32,
    pub transfers: u32,
    pub fairness: Fairness,
    #[serde(skip)]
    pub seconds: Vec<Second>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Document {
    progress: Progress,
    is_sold_out: bool,
    is_over: bool,
}

struct Opening<'a> {
    scenario: &'a Scenario,
    chance: Chance,
    people: Vec<Person>,
    calendar: Vec<Vec<(u32, Step)>>,
    first_tick: i64,
    tick: i64,
    meter: Meter,
    lanes: Lanes,
    /// Reserved and paid units.
    held: u32,
    document: Document,
    progress: Progress,
    late: BTreeSet<(u64, Place, u32)>,
    counted: f64,
    early: u32,
    gateway_tokens: f64,
    function_tokens: f64,
    shards: Vec<f64>,
    /// How many processes may still read the other lanes in this second, once each.
    readings: f64,
    waiting: u32,
    /// Counted so far.
    run: Run,
}

pub fn run(scenario: &Scenario, seed: u64) -> Run {
    let mut chance = Chance::of(seed);
    let people = crowd(scenario, &mut chance);
    let counted = 1.0 + COUNT_ERROR * chance.normal();
    let first_s = -i64::from(scenario.opens_early_s) - 1;
    let mut opening = Opening {
        scenario,
        chance,
        people,
        calendar: Vec::new(),
        first_tick: first_s * 1_000 / TICK_MS,
        tick: first_s * 1_000 / TICK_MS,
        meter: Meter::from(first_s),
        lanes: Lanes::deal(scenario.units, scenario.lanes),
        held: 0,
        document: Document::default(),
        progress: Progress::default(),
        late: BTreeSet::new(),
        counted,
        early: 0,
        gateway_tokens: 0.0,
        function_tokens: 0.0,
        shards: vec![0.0; scenario.shards],
        readings: 0.0,
        waiting: 0,
        run: Run { seed, ..Run::default() },
    };
    for person in 0..opening.people.len() as u32 {
        let at_ms = opening.people[person as usize].arrives_ms;
        opening.at(i64::from(at_ms), person, Step::Arrive);
    }
    opening.go();
    opening.result()
}

impl Opening<'_> {
    fn now_ms(&self) -> i64 {
        self.tick * TICK_MS
    }

    fn now_s(&self) -> f64 {
        self.now_ms() as f64 / 1_000.0
    }

    fn at(&mut self, ms: i64, person: u32, step: Step) {
        let tick = ms.div_euclid(TICK_MS).max(self.tick + 1);
        if tick > LAST_S * 1_000 / TICK_MS {
            return;
        }
        let index = (tick - self.first_tick) as usize;
        if self.calendar.len() <= index {
            self.calendar.resize_with(index + 1, Vec::new);
        }
        self.calendar[index].push((person, step));
    }

    fn after(&mut self, seconds: f64, person: u32, step: Step) {
        self.at(self.now_ms() + (seconds * 1_000.0) as i64, person, step);
    }

    fn go(&mut self) {
        while ((self.tick - self.first_tick) as usize) < self.calendar.len() || self.tick < 0 {
            self.begin_tick();
            let index = (self.tick - self.first_tick) as usize;
            let steps = self.calendar.get_mut(index).map(std::mem::take).unwrap_or_default();
            for (person, step) in steps {
                self.take(person, step);
            }
            self.tick += 1;
        }
    }

    fn begin_tick(&mut self) {
        let part = TICK_MS as f64 / 1_000.0;
        let Scenario { gateway_per_s, gateway_burst, functions_per_s, shard_per_s, .. } = *self.scenario;
        self.gateway_tokens = (self.gateway_tokens + gateway_per_s * part).min(gateway_burst);
        self.function_tokens = (self.function_tokens + functions_per_s * part).min(functions_per_s);
        self.shards.iter_mut().for_each(|queue| *queue = (*queue - shard_per_s * part).max(0.0));
        if self.tick % (1_000 / TICK_MS) == 0 {
            self.begin_second();
        }
    }

    /// Moves the line, renews the document, and lets people who wait for the opening poll it now and then.
    fn begin_second(&mut self) {
        let now_ms = self.now_ms();
        let free = self.lanes.free();
        self.readings = self.scenario.tally_per_s;
        let mut polls = 0.0;
        if now_ms < 0 {
            polls = f64::from(self.waiting) / self.scenario.poll_early_s;
        } else {
            let flow = Flow {
                now_ms: now_ms as u64 + 1,
                opens_at_ms: 1,
                people: (f64::from(self.early) * self.counted) as u64,
                late_waiting: self.late.len() as u64,
                free: free.into(),
                taken: (self.held + self.run.paid).into(),
                may_return: self.held.into(),
                per_s: self.scenario.admits_per_s.into(),
            };
            if let Some(step) = advance(&self.progress, &flow) {
                self.progress = step.progress;
                if let Late::More(count) = step.late {
                    self.admit_late(count);
                }
            }
            let is_over = free == 0 && self.held == 0;
            self.document = Document { progress: self.progress, is_sold_out: free == 0, is_over };
            self.shards[0] += 1.0 + self.scenario.tally_per_s;
        }
        let tally = if now_ms < 0 { 0.0 } else { 1.0 + self.scenario.tally_per_s };
        let documents = planner::quotas::EDGE_CACHES.min(f64::from(self.waiting));
        let queue = self.shards.iter().copied().fold(0.0, f64::max);
        let (waiting, admitted, paid) = (self.waiting, self.run.admitted, self.run.paid);
        let second = self.meter.at(now_ms);
        second.edge += polls;
        second.gateway += documents;
        second.redis += tally;
        second.redis_queue = queue;
        (second.waiting, second.admitted, second.free, second.paid) = (waiting, admitted, free, paid);
    }

    /// Admits the next latecomers, in their order.
    fn admit_late(&mut self, count: u64) {
        for _ in 0..count {
            let Some((second, place, _)) = self.late.pop_first() else { return };
            let watermark = &mut self.progress.watermark;
            (watermark.late_s, watermark.late_ppb) = (second, (place.ppb() + 1).min(WHOLE_PPB));
        }
    }

    /// One request at the gateway. If it is refused, the step is retried later.
    fn ask(&mut self, person: u32, step: Step) -> bool {
        let now_ms = self.now_ms();
        let is_served = self.gateway_tokens >= 1.0 && self.function_tokens >= 1.0;
        let who = &mut self.people[person as usize];
        who.asked = who.asked.saturating_add(1);
        let second = self.meter.at(now_ms);
        second.edge += 1.0;
        second.gateway += 1.0;
        if is_served {
            who.tries = 0;
            self.gateway_tokens -= 1.0;
            self.function_tokens -= 1.0;
            return true;
        }
        second.refused += 1.0;
        let wait_ms = (FIRST_RETRY_MS << who.tries.min(4)).min(LONGEST_RETRY_MS);
        who.tries = who.tries.saturating_add(1);
        let jitter = 1.0 + 0.25 * self.chance.part();
        self.after(wait_ms as f64 / 1_000.0 * jitter, person, step);
        false
    }

    fn call(&mut self, call: Call) {
        if matches!(call, Call::ToOthers(_)) {
            self.readings -= 1.0;
        }
        let (lanes, shards) = (self.scenario.lanes, self.shards.len());
        let mut to = |lane: usize| self.shards[lane * shards / lanes.max(shards)] += 1.0;
        let calls = match call {
            Call::To(lane) => {
                to(lane);
                1
            }
            // A process reads the other lanes at most once a second.
            Call::ToOthers(_) if self.readings < 0.0 => 0,
            Call::ToOthers(home) => (0..lanes).filter(|lane| *lane != home).map(to).count(),
        };
        let now_ms = self.now_ms();
        self.meter.at(now_ms).redis += calls as f64;
    }

    fn take(&mut self, person: u32, step: Step) {
        let is_request = !matches!(step, Step::Arrive | Step::Poll | Step::Expire);
        if is_request && !self.ask(person, step) {
            return;
        }
        match step {
            Step::Arrive => self.arrive(person),
            Step::Ticket => self.ticket(person),
            Step::Poll => self.poll(person),
            Step::Challenge => self.challenge(person),
            Step::Answer => self.answer(person),
            Step::Reserve => self.reserve(person),
            Step::PollReservation => self.call(Call::To(self.people[person as usize].home.into())),
            Step::Pay => self.pay(),
            Step::Expire => self.expire(person),
        }
    }

    fn arrive(&mut self, person: u32) {
        let now_ms = self.now_ms();
        self.meter.at(now_ms).edge += self.scenario.page_files + 1.0;
        self.waiting += 1;
        if now_ms < 0 {
            // At a random moment before the opening.
            let at_s = -self.now_s() * self.chance.part();
            self.after(at_s, person, Step::Ticket);
        } else if self.document.is_sold_out {
            self.hear_sold_out(person);
        } else {
            self.at(now_ms, person, Step::Ticket);
        }
    }

    fn ticket(&mut self, person: u32) {
        self.call(Call::To(0));
        let now_ms = self.now_ms();
        let poll_s = self.scenario.poll_s * self.chance.part();
        let who = &mut self.people[person as usize];
        if now_ms < 0 {
            who.class = Some(Class::Early);
            self.early += 1;
            self.after(-self.now_s() + poll_s, person, Step::Poll);
        } else {
            let second = now_ms as u64 / 1_000;
            who.class = Some(Class::Late(second));
            self.late.insert((second, who.place, person));
            self.after(poll_s, person, Step::Poll);
        }
    }

    fn poll(&mut self, person: u32) {
        let now_ms = self.now_ms();
        self.meter.at(now_ms).edge += 1.0;
        let Person { state, class, place, .. } = self.people[person as usize];
        let Document { progress, is_sold_out, is_over } = self.document;
        if is_over {
            self.leave(person, State::Left);
            self.told(state);
            return;
        }
        let is_turn = class.is_some_and(|class| progress.watermark.admits(class, place));
        match state {
            State::InLine if is_turn => {
                self.run.admitted += 1;
                if !self.chance.happens(self.scenario.comes_share) {
                    self.leave(person, State::Away);
                } else if is_sold_out {
                    self.hear_sold_out(person);
                } else {
                    self.people[person as usize].came = true;
                    self.leave(person, State::AtFront);
                    let notices_s = self.chance.exponential(self.scenario.notices_s);
                    self.after(notices_s, person, Step::Challenge);
                }
            }
            State::InLine if is_sold_out => self.hear_sold_out(person),
            State::InLine => {
                let poll_s = self.scenario.poll_s * (1.0 + 0.25 * self.chance.part());
                self.after(poll_s, person, Step::Poll);
            }
            State::Hopes if is_turn && !is_sold_out => {
                self.people[person as usize].state = State::AtFront;
                self.after(1.0, person, Step::Challenge);
            }
            State::Hopes => self.after(self.scenario.hopes_poll_s, person, Step::Poll),
            State::AtFront | State::Away | State::Left => {}
        }
    }

    fn leave(&mut self, person: u32, state: State) {
        let who = &mut self.people[person as usize];
        self.waiting -= u32::from(who.state == State::InLine);
        who.state = state;
    }

    fn told(&mut self, state: State) {
        if state == State::InLine {
            self.run.told_s = Some(self.now_s());
        }
    }

    /// A person learns that it is sold out.
    fn hear_sold_out(&mut self, person: u32) {
        let Person { state, arrives_ms, has, .. } = self.people[person as usize];
        if self.run.sold_out_s.is_some_and(|sold_out_s| f64::from(arrives_ms) / 1_000.0 <= sold_out_s) {
            self.told(state);
        }
        if has == 0 && (state == State::Hopes || self.chance.happens(self.scenario.hopes_share)) {
            self.leave(person, State::Hopes);
            if self.people[person as usize].class.is_none() {
                self.after(0.0, person, Step::Ticket);
            } else {
                self.after(self.scenario.hopes_poll_s, person, Step::Poll);
            }
        } else {
            self.leave(person, State::Left);
        }
    }

    fn challenge(&mut self, person: u32) {
        self.call(Call::To(self.people[person as usize].home.into()));
        if self.lanes.free() == 0 {
            self.hear_sold_out(person);
        } else {
            let solve_s = self.chance.exponential(self.scenario.solve_s);
            self.after(solve_s, person, Step::Answer);
        }
    }

    fn answer(&mut self, person: u32) {
        self.call(Call::To(self.people[person as usize].home.into()));
        let is_wrong = self.chance.happens(self.scenario.wrong_share);
        self.after(0.0, person, if is_wrong { Step::Challenge } else { Step::Reserve });
    }

    fn reserve(&mut self, person: u32) {
        let Person { home, has, wants, .. } = self.people[person as usize];
        if has >= self.scenario.limit_per_user {
            // One call answers that the limit is reached.
            self.call(Call::To(home.into()));
            return;
        }
        let was_free = self.lanes.free();
        let mut calls = Vec::new();
        let won = self.lanes.reserve(home.into(), |call| calls.push(call));
        calls.into_iter().for_each(|call| self.call(call));
        if !won {
            self.run.told_wrongly += u32::from(was_free > 0);
            self.hear_sold_out(person);
            return;
        }
        self.held += 1;
        self.run.most_taken = self.run.most_taken.max(self.held + self.run.paid);
        if self.lanes.free() == 0 && self.run.sold_out_s.is_none() {
            self.run.sold_out_s = Some(self.now_s());
        }
        let who = &mut self.people[person as usize];
        who.has += 1;
        who.won += 1;
        let (has, first_polls) = (who.has, self.scenario.first_polls);
        self.run.over_limit += u32::from(has > self.scenario.limit_per_user);
        for poll in 0..first_polls {
            self.after(0.5 + 10.0 * f64::from(poll) / f64::from(first_polls), person, Step::PollReservation);
        }
        if self.chance.happens(self.scenario.unpaid_share) {
            self.after(self.scenario.payment_window_s, person, Step::Expire);
        } else {
            let pays_s = self.chance.exponential(self.scenario.pays_s).min(self.scenario.payment_window_s - 1.0);
            self.after(pays_s, person, Step::Pay);
        }
        if has < wants {
            self.after(2.0, person, Step::Reserve);
        }
    }

    fn pay(&mut self) {
        self.held -= 1;
        self.run.paid += 1;
        if self.run.paid == self.scenario.units {
            self.run.all_paid_s = Some(self.now_s());
        }
    }

    /// An order expires: that takes no request, but a call to Redis.
    fn expire(&mut self, person: u32) {
        let home = self.people[person as usize].home.into();
        self.call(Call::To(home));
        self.lanes.give_back(home);
        self.people[person as usize].has -= 1;
        self.held -= 1;
        self.run.came_back += 1;
    }

    fn result(self) -> Run {
        let is_at_front = |person: &Person| matches!(person.state, State::AtFront | State::Away);
        let never =
            self.people.iter().filter(|person| person.class.is_some() && !is_at_front(person) && person.won == 0);
        let mut asked: Vec<u16> = never.map(|person| person.asked).collect();
        asked.sort_unstable();
        let last_minute = |second: &Second| if (-60..0).contains(&second.at_s) { second.gateway } else { 0.0 };
        Run {
            came_for_nothing: self.people.iter().filter(|person| person.came && person.won == 0).count() as u32,
            winners: self.people.iter().filter(|person| person.has > 0).count() as u32,
            left_waiting: self.waiting,
            requests_never_at_front: asked.get(asked.len() / 2).copied().unwrap_or(0),
            edge_peak: self.meter.most(|second| second.edge),
            gateway_peak: self.meter.most(|second| second.gateway),
            tickets_peak: self.meter.most(last_minute),
            refused: self.meter.seconds().iter().map(|second| second.refused).sum(),
            redis_peak: self.meter.most(|second| second.redis),
            redis_queue_peak: self.meter.most(|second| second.redis_queue),
            waiting_peak: self.meter.seconds().iter().map(|second| second.waiting).max().unwrap_or(0),
            moved: self.lanes.moved,
            transfers: self.lanes.transfers,
            fairness: Fairness::of(&self.people, &self.progress.watermark),
            seconds: self.meter.seconds().to_vec(),
            ..self.run
        }
    }
}
