use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use ::sale::{ChallengePolicy, GateTerms, LineTerms, OrderState};
use anyhow::{Context, Result};
use command_line::{of_these, people};
use hyper::Method;
use hyper::header::{HeaderName, HeaderValue};
use load::{Outcome, Request, Response, Visit, solved};
use pass::line::{Class, LineDocument, LineOrder as Places, LineState, Ticket, Units};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::{Found, Staged};
use crate::check_line::check;
use crate::client::NewSale;
use crate::demo::crowd::{Buyer, Crowd, End, Waited, Wave, has_unit};
use crate::demo::figures::Figures;
use crate::demo::plan::Plan;
use crate::stages::{Stage, progress_line};

const X_LINE_TICKET: HeaderName = HeaderName::from_static("x-line-ticket");
const X_LINE_WATERMARK: HeaderName = HeaderName::from_static("x-line-watermark");

/// Time between the last early ticket and the opening.
const CALM_S: u32 = 5;
/// One person in this many comes after the opening.
const LATE_ONE_OF: u32 = 20;
/// Of the people in the last fifth of the places, one in this many does not wait for the turn.
const JUMPS_ONE_OF: usize = 10;
const LAST_PLACES_PPB: u32 = 800_000_000;
/// How often a request is repeated if the answer says so.
const TRIES: usize = 20;
/// How long to wait before that, unless the answer says.
const ASK_AGAIN_AFTER: Duration = Duration::from_millis(500);
/// A cache at the edge asks once a second.
const EDGE_KEEPS: Duration = Duration::from_secs(1);

/// A sale for money with a line. Everybody gets a ticket, most of them before the opening, and tries to reserve once
/// the line has reached their place. Returned units move the line on.
pub(in crate::demo) struct InLine;

/// What is known besides what became of each person.
#[derive(Clone, Copy)]
struct Seen<'a> {
    admits_per_s: u32,
    commitment: &'a str,
    /// The line's count of early people.
    estimated: u64,
    /// Polls of the line: everybody's, which a cache answers, and the cache's own.
    looks: [u64; 2],
    /// Orders of people whom the line had not admitted.
    out_of_turn: usize,
}

type Document = watch::Receiver<Arc<LineDocument>>;

impl Staged for InLine {
    fn offer(plan: &Plan) -> NewSale {
        let over_s = (f64::from(plan.buyers) / f64::from(plan.rate)).ceil() as u32;
        let opens_early_s = over_s + CALM_S;
        let opens_in_s = plan.opens_in_s() + i64::from(opens_early_s);
        let gate =
            GateTerms { challenge: ChallengePolicy::Work, work_bits: ::sale::MIN_WORK_BITS, ..GateTerms::default() };
        let line = LineTerms { opens_early_s, admits_per_s: admits_per_s(plan), paused: false };
        NewSale {
            line: Some(line),
            gate: Some(gate),
            expected_audience: Some(plan.buyers),
            ..NewSale::opening_in("lamp", opens_in_s, plan.open_s(), plan.units, plan.payment_window_s())
        }
    }

    /// Everybody comes at the same rate, late ones after the opening.
    fn rush(plan: &Plan) -> Result<load::Plan> {
        load::Plan::at_rate(plan.buyers as usize, f64::from(plan.rate))
    }

    async fn come(crowd: &Arc<Crowd>, plan: &load::Plan) -> Outcome {
        let stage = Stage::spinner("Waiting for tickets");
        let first = loop {
            if let Some(document) = look(crowd).await {
                break document;
            }
            tokio::time::sleep(EDGE_KEEPS).await;
        };
        stage.say(format!("from {:.0}", first.tickets_from));
        let wait_ms = first.tickets_from.as_millisecond() - runtime::Clock::system().now().0;
        tokio::time::sleep(Duration::from_millis(wait_ms.max(0) as u64)).await;
        stage.done("there are tickets");

        let stage = Stage::spinner("The line");
        crowd.begins.notify_one();
        let (publish, document) = watch::channel(Arc::new(first));
        let visits = load::visits(plan, progress_line(), |visit| {
            let (crowd, document) = (Arc::clone(crowd), document.clone());
            async move {
                let (n, buyer) = (visit.n, &crowd.buyers[visit.n]);
                let visitor = Visitor { crowd: &crowd, buyer, visit, waited: Waited::default() };
                let waited = visitor.come(document).await;
                crowd.waiting.people.lock().insert(n, waited);
            }
        });
        let outcome = tokio::select! {
            outcome = visits => outcome,
            never = keep(crowd, &publish, &stage) => match never {},
        };
        stage.done(of_these(crowd.promised.lock().accepted.len() as u64, "reservation"));
        outcome
    }

    async fn count(found: &Found<'_>) -> Result<Figures> {
        let waiting = &found.crowd.waiting;
        let last = look(found.crowd).await.context("the line does not answer")?;
        // The same check as `./flash check-line`, which anyone can run.
        check(&found.crowd.round, &last, None, None)?;
        let seed = last.seed().context("the seed is not public")?;
        let (places, watermark) = (Places::of(&seed), last.admitted.watermark());
        let people = waiting.people.lock();
        let numbers: HashMap<_, _> = found.crowd.buyers.iter().map(|buyer| (&buyer.user, buyer.number)).collect();
        let in_turn = |user: &::sale::UserId| {
            let waited = numbers.get(user).and_then(|number| people.get(number));
            waited.and_then(|waited| waited.class).is_some_and(|class| watermark.admits(class, places.place(user)))
        };
        let seen = Seen {
            admits_per_s: admits_per_s(&found.crowd.plan),
            commitment: &last.commitment,
            estimated: last.people.estimate,
            looks: [&waiting.looks, &waiting.looks_of_the_edge].map(|count| count.load(Ordering::Relaxed)),
            out_of_turn: found.orders.iter().filter(|order| !in_turn(&order.reservation.user)).count(),
        };
        let mut figures = counted(&people, found.crowd.buyers.len(), seen);
        figures.both("sold", "sold", found.live().count());
        figures.both("paid", "  paid", found.count(OrderState::Paid));
        found.unsold(&mut figures);
        Ok(figures)
    }
}

fn in_short(LineDocument { state, people, units, .. }: &LineDocument) -> String {
    let tickets = people.estimate + people.late;
    if *state == LineState::Before {
        return format!("about {tickets} tickets, not open yet");
    }
    let Units { total, sold, may_return } = units;
    format!("about {tickets} tickets, {sold} of {total} units sold, of which {may_return} may come back")
}

/// A tenth of the people who come in a second, so that there is a line.
fn admits_per_s(plan: &Plan) -> u32 {
    (plan.rate / 10).max(1)
}

async fn look(crowd: &Crowd) -> Option<LineDocument> {
    crowd.waiting.looks_of_the_edge.fetch_add(1, Ordering::Relaxed);
    let request = Request::new(Method::GET, &format!("/v1/sales/{}/line", crowd.round.sale)).ok()?;
    let response = crowd.load.send(0, &request).await.ok()?;
    serde_json::from_slice(&response.body).ok()
}

/// Polls the line for everybody, as a cache at the edge does: once a second, as long as it changes.
async fn keep(crowd: &Crowd, publish: &watch::Sender<Arc<LineDocument>>, stage: &Stage) -> Infallible {
    let waiting = &crowd.waiting;
    let mut people = 0;
    let mut every = tokio::time::interval(EDGE_KEEPS);
    loop {
        every.tick().await;
        let Some(document) = look(crowd).await else { continue };
        stage.say(in_short(&document));
        people = document.people.estimate.max(people);
        let waits = people + document.people.late;
        if let Some(looks) = (waits * EDGE_KEEPS.as_millis() as u64).checked_div(document.poll_after_ms) {
            waiting.looks.fetch_add(looks, Ordering::Relaxed);
        }
        if document.state == LineState::SoldOut {
            waiting.was_sold_out.store(true, Ordering::Relaxed);
        }
        // Nobody adds units to this sale.
        let is_last = is_over(&document);
        publish.send_replace(Arc::new(document));
        if is_last {
            // Later readers get the last one.
            return std::future::pending().await;
        }
    }
}

fn is_over(document: &LineDocument) -> bool {
    document.state == LineState::Ended || document.state == LineState::SoldOut && document.units.may_return == 0
}

struct Visitor<'a> {
    crowd: &'a Crowd,
    buyer: &'a Buyer,
    visit: Visit,
    waited: Waited,
}

impl Visitor<'_> {
    async fn come(mut self, mut line: Document) -> Waited {
        let is_late = (self.visit.n as u32).is_multiple_of(LATE_ONE_OF);
        let mut due = self.visit.due;
        if is_late {
            if line.wait_for(|document| document.seed.is_some()).await.is_err() {
                return self.waited;
            }
            due = Instant::now();
        }
        let Some((ticket, class)) = self.ticket(due).await else { return self.waited };
        self.waited.class = Some(class);
        let jumps = self.visit.n % JUMPS_ONE_OF == 1;
        let mut pass = None;
        loop {
            let document = Arc::clone(&line.borrow_and_update());
            if let Some(seed) = document.seed() {
                let watermark = document.watermark.as_deref().unwrap_or_default();
                let place = Places::of(&seed).place(&self.buyer.user);
                let is_turn = document.admitted.watermark().admits(class, place);
                let may_jump = !is_turn && self.waited.jumped.is_none() && place.ppb() >= LAST_PLACES_PPB;
                if jumps
                    && may_jump
                    && let Some(request) = self.challenge(&ticket, watermark)
                {
                    let heard = self.ask("challenge", Instant::now(), &request).await;
                    self.waited.jumped = heard.map(|heard| heard.status < 400);
                }
                self.waited.was_admitted |= is_turn;
                if is_turn && document.state == LineState::Moving {
                    if pass.is_none() {
                        pass = self.enter(&ticket, watermark).await;
                    }
                    if let Some(pass) = &pass
                        && self.reserve(pass).await == Some(true)
                    {
                        self.waited.end = Some(End::Bought);
                        return self.waited;
                    }
                }
            }
            if is_over(&document) {
                let end = if self.waited.was_admitted { End::SoldOutInFront } else { End::SoldOutBehind };
                self.waited.end = Some(end);
                return self.waited;
            }
            if line.changed().await.is_err() {
                return self.waited;
            }
        }
    }

    /// Sends a request, and repeats it as often as told. Returns the last answer, if there is one.
    async fn ask(&mut self, step: &'static str, mut due: Instant, request: &Request) -> Option<Response> {
        let mut last = None;
        for _ in 0..TRIES {
            self.waited.asked += 1;
            let heard = self.visit.send(step, due, self.crowd.send(self.buyer, request)).await.ok();
            let again = heard.as_ref().is_none_or(|heard| matches!(heard.status, 429 | 500..));
            let pause = heard.as_ref().and_then(Response::retry_after).unwrap_or(ASK_AGAIN_AFTER);
            last = heard;
            if !again {
                break;
            }
            tokio::time::sleep(pause).await;
            due = Instant::now();
        }
        last
    }

    async fn ticket(&mut self, due: Instant) -> Option<(String, Class)> {
        let path = format!("/v1/sales/{}/tickets", self.crowd.round.sale);
        let request = Request::new(Method::POST, &path).ok()?.json(&json!({})).token(&self.buyer.carried);
        let text = self.ask("ticket", due, &request).await?.text("ticket")?;
        let class = Ticket::said(&text)?.class;
        Some((text, class))
    }

    /// A request of the buyer, who shows ticket and watermark.
    fn in_line(&self, request: Request, ticket: &str, watermark: &str) -> Option<Request> {
        let header = |text: &str| HeaderValue::from_str(text).ok();
        let request = request.header(X_LINE_TICKET, header(ticket)?).header(X_LINE_WATERMARK, header(watermark)?);
        Some(request.token(&self.buyer.carried))
    }

    fn challenge(&self, ticket: &str, watermark: &str) -> Option<Request> {
        self.in_line(Request::challenge(self.crowd.round.sale.as_str()).ok()?, ticket, watermark)
    }

    async fn enter(&mut self, ticket: &str, watermark: &str) -> Option<String> {
        let request = self.challenge(ticket, watermark)?;
        let challenge = self.ask("challenge", Instant::now(), &request).await?;
        let solved = solved(challenge.text("challenge_id")?.parse().ok()?).await.ok()?;
        let request = Request::pass(self.crowd.round.sale.as_str(), &solved).ok()?;
        let request = self.in_line(request, ticket, watermark)?;
        self.ask("token", Instant::now(), &request).await?.text("token")
    }

    /// Whether the person has a unit; `None` if unknown.
    async fn reserve(&mut self, pass: &str) -> Option<bool> {
        let crowd = self.crowd;
        // Buyers of returned units pay, so that it ends.
        let wave = if crowd.waiting.was_sold_out.load(Ordering::Relaxed) { Wave::Resale } else { Wave::Rush };
        let request = Request::reserve(crowd.round.sale.as_str(), pass).ok()?.key("line").token(&self.buyer.carried);
        let heard = self.ask("reserve", Instant::now(), &request).await?;
        Some(has_unit(&crowd.note(self.buyer, wave, &Ok(heard))))
    }
}

fn counted(people: &HashMap<usize, Waited>, buyers: usize, seen: Seen<'_>) -> Figures {
    let Seen { admits_per_s, commitment, estimated, looks: [looks, looks_of_the_edge], out_of_turn } = seen;
    let count = |is: &dyn Fn(&Waited) -> bool| people.values().filter(|one| is(one)).count();
    let early = count(&|one| one.class == Some(Class::Early));
    let late = count(&|one| matches!(one.class, Some(Class::Late(_))));
    let admitted = count(&|one| one.was_admitted);
    let [bought, in_front, behind] =
        [End::Bought, End::SoldOutInFront, End::SoldOutBehind].map(|end| count(&|one| one.end == Some(end)));
    let unknown = buyers - count(&|one| one.end.is_some());
    let (jumped, let_in) = (count(&|one| one.jumped.is_some()), count(&|one| one.jumped == Some(true)));
    let [(asked_behind, behind_text), (asked_in_front, in_front_text)] =
        [false, true].map(|in_front| asked(people.values().filter(|one| one.was_admitted == in_front)));

    let mut figures = Figures::new(unknown == 0 && out_of_turn == 0 && let_in == 0);
    figures.row("tickets", format!("{early} before the opening (counted as {estimated}), {late} after it"));
    figures.row("commitment", format!("{}… holds", commitment.get(..16).unwrap_or_default()));
    figures.row("came to the front", format!("{admitted}, at most {admits_per_s} a second"));
    figures.row("how it ended", "");
    figures.row("  bought", bought);
    figures.row("  sold out, at the front", in_front);
    figures.row("  sold out, in line", behind);
    figures.row("  unknown", unknown);
    figures.row("requests at the gateway", "");
    figures.row("  never at the front", behind_text);
    figures.row("  at the front", in_front_text);
    figures.row("polls of the line", format!("about {looks}, {looks_of_the_edge} at the gateway"));
    // People who asked for a challenge before their turn, and those of them who got one.
    figures.row("tried out of turn", format!("{jumped}, of whom {let_in} were let in"));
    figures.row("orders out of turn", out_of_turn);
    let ends =
        json!({ "bought": bought, "sold_out_in_front": in_front, "sold_out_behind": behind, "unknown": unknown });
    figures.facts(json!({
        "admits_per_s": admits_per_s, "commitment": commitment, "early": early, "late": late, "estimated": estimated,
        "admitted": admitted, "ends": ends, "asked_behind": asked_behind, "asked_in_front": asked_in_front,
        "looks": looks, "looks_of_the_edge": looks_of_the_edge, "jumped": jumped, "jumpers_let_in": let_in,
        "out_of_turn": out_of_turn,
    }));
    figures
}

/// Requests at the gateway per person, for programs and for people.
fn asked<'a>(of: impl Iterator<Item = &'a Waited>) -> (Value, String) {
    let mut asked: Vec<u32> = of.map(|one| one.asked).collect();
    asked.sort_unstable();
    let (count, median, most) = (asked.len(), asked.get(asked.len() / 2).unwrap_or(&0), asked.last().unwrap_or(&0));
    let text = format!("{median} each (median), at most {most}, by {}", people(count as u64));
    (json!({ "people": count, "median": median, "most": most }), text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEEN: Seen<'_> = Seen { admits_per_s: 10, commitment: "", estimated: 4, looks: [0; 2], out_of_turn: 0 };

    fn people() -> HashMap<usize, Waited> {
        let one = |asked, was_admitted, end| Waited {
            class: Some(Class::Early),
            asked,
            was_admitted,
            jumped: None,
            end: Some(end),
        };
        HashMap::from([
            (0, one(4, true, End::Bought)),
            (1, one(4, true, End::SoldOutInFront)),
            (2, one(1, false, End::SoldOutBehind)),
            (3, Waited { class: Some(Class::Late(7)), ..one(1, false, End::SoldOutBehind) }),
            (4, Waited { jumped: Some(false), ..one(2, false, End::SoldOutBehind) }),
        ])
    }

    #[test]
    fn everybody_is_counted_once() {
        let Figures { facts, text, is_right } = counted(&people(), 5, SEEN);
        let counts = ["early", "late", "admitted", "jumped", "jumpers_let_in"].map(|key| facts[key].as_u64().unwrap());
        assert_eq!(counts, [4, 1, 2, 1, 0]);
        let ends = json!({ "bought": 1, "sold_out_in_front": 1, "sold_out_behind": 3, "unknown": 0 });
        assert_eq!(facts["ends"], ends);
        assert_eq!(facts["asked_behind"], json!({ "people": 3, "median": 1, "most": 2 }));
        assert_eq!(facts["asked_in_front"], json!({ "people": 2, "median": 4, "most": 4 }));
        assert!(is_right, "{text}");
    }

    #[test]
    fn a_person_forgotten_or_let_in_out_of_turn_is_found() {
        let is_right = |change: fn(&mut HashMap<usize, Waited>)| {
            let mut people = people();
            change(&mut people);
            counted(&people, 5, SEEN).is_right
        };
        assert!(!is_right(|people| people.retain(|number, _| *number != 3)));
        assert!(!is_right(|people| people.get_mut(&3).unwrap().end = None));
        assert!(!is_right(|people| people.get_mut(&4).unwrap().jumped = Some(true)));
        assert!(!counted(&people(), 5, Seen { out_of_turn: 1, ..SEEN }).is_right);
    }
}
