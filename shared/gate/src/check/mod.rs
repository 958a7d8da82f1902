mod line;
mod pass;
mod rate;

use api::{Code, Problem, client_address};
use lambda_http::Request;
use process::{Step, Turn};
use runtime::Moment;

use crate::{Gate, Route, Visitor};

pub use line::{TICKET_HEADER, WATERMARK_HEADER};
pub use rate::address;

/// A check of the gate. The table in the crate's documentation says what each one needs and costs.
#[derive(Debug, Clone, Copy)]
pub enum Check {
    /// The sale is published.
    Exists,
    /// The user may see the sale. Comes right after [`Check::Exists`], whose answer it repeats.
    Sight,
    /// The path ends with the user's pass for the sale.
    Pass,
    /// Operators have not stopped the sale.
    KillSwitch,
    /// The address is in no network that operators block.
    Address,
    /// The user has come to the front of the sale's line, if it has one.
    Line,
    /// The user and the address are within the route's rates, as this process counts them.
    Rate(Route),
    /// The request has the documented form.
    Form,
    /// The round was not sold out a moment ago, or the user may be one of its buyers.
    SoldOut,
    /// The keys of passes are available.
    Keys,
}

impl Check {
    pub(crate) async fn make(self, gate: &Gate<'_>, request: &Request, visitor: &mut Visitor) -> Result<(), Problem> {
        match self {
            Self::Exists => exists(gate, visitor).await,
            Self::Sight => sight(gate, request, visitor).await,
            Self::Pass => pass::check(gate, request, visitor).await,
            Self::KillSwitch => kill_switch(visitor),
            Self::Address => blocked_network(gate, request, visitor),
            Self::Line => line::check(gate, request, visitor).await,
            Self::Rate(route) => gate.limit(request, route, &visitor.user),
            // `Gate::enter` parses the request at this point.
            Self::Form => Ok(()),
            Self::SoldOut => sold_out(gate, visitor),
            Self::Keys => keys(gate, visitor).await,
        }
    }
}

impl Gate<'_> {
    /// Runs the checks in order on a signed-in user's request about a sale. `read` parses the request at the position
    /// of [`Check::Form`], or after all checks if that is not among them. Fails with the problem of the first check
    /// that fails.
    pub async fn enter<'r, T>(
        &self,
        request: &'r Request,
        sale: &str,
        checks: &[Check],
        read: impl FnOnce(&'r Request) -> Result<T, Problem>,
    ) -> Result<(Visitor, T), Problem> {
        let mut visitor = Visitor::new(self, request, sale).await?;
        let form = checks.iter().position(|check| matches!(check, Check::Form)).unwrap_or(checks.len());
        for check in &checks[..form] {
            check.make(self, request, &mut visitor).await?;
        }
        let read = read(request)?;
        for check in &checks[form..] {
            check.make(self, request, &mut visitor).await?;
        }
        Ok((visitor, read))
    }

    /// Takes a turn for a call to Redis, if the sale is throttled. It comes right before the call, after everything
    /// else that can refuse the request: whoever is refused, gives up or dies before has taken nothing from others.
    /// Fails with [`RateLimited`](api::Code::RateLimited) if none is left, and 503 if Redis does not answer.
    pub async fn turn(&self, visitor: &Visitor, step: Step) -> Result<(), Problem> {
        let throttled = visitor.sale.as_ref().filter(|cached| cached.round.throttle_requests_per_s.is_some());
        let Some(cached) = throttled else { return Ok(()) };
        match Box::pin(cached.take_turn(self.stock, step, self.clock)).await.map_err(Problem::unanswered)? {
            Turn::Now => Ok(()),
            Turn::Later(wait) => Err(Problem::rate_limited(None, wait.as_millis() as u64)),
        }
    }
}

/// Looks again for a sale that the snapshot does not have: it may have been published since.
async fn exists(gate: &Gate<'_>, visitor: &mut Visitor) -> Result<(), Problem> {
    if visitor.sale.is_none() {
        visitor.snapshot = Box::pin(gate.snapshots.lately(&visitor.sale_id)).await.map_err(Problem::unanswered)?;
        visitor.read_sale();
    }
    visitor.sale().map(drop)
}

/// Hides the sale from users who may not see it.
async fn sight(gate: &Gate<'_>, request: &Request, visitor: &Visitor) -> Result<(), Problem> {
    let gate_terms = &visitor.sale()?.round.terms.gate;
    if !gate_terms.is_hidden() {
        return Ok(());
    }
    let unknown = || Problem::new(Code::UnknownSale);
    let memberships = gate.memberships.ok_or_else(unknown)?;
    let may = Box::pin(memberships.is_in_one(request, &visitor.user, &gate_terms.groups_see)).await;
    if may.map_err(Problem::unanswered)? { Ok(()) } else { Err(unknown()) }
}

fn kill_switch(visitor: &Visitor) -> Result<(), Problem> {
    if visitor.snapshot.kill_switches.is_stopped(&visitor.sale_id) { Err(Problem::paused()) } else { Ok(()) }
}

/// Compares the client's address with the blocked networks in the snapshot. Usually there are none, and nothing is
/// read.
fn blocked_network(gate: &Gate<'_>, request: &Request, visitor: &Visitor) -> Result<(), Problem> {
    let blocked = &visitor.snapshot.kill_switches.blocked_networks;
    if blocked.is_empty() {
        return Ok(());
    }
    let Some(address) = client_address(request) else { return Ok(()) };
    let now = gate.clock.now();
    if blocked.iter().any(|network| network.blocks(&address, now)) { Err(Problem::new(Code::Blocked)) } else { Ok(()) }
}

/// Applies only to passes for the running round, since the mark says nothing about other rounds.
fn sold_out(gate: &Gate<'_>, visitor: &Visitor) -> Result<(), Problem> {
    let round = visitor.pass()?.round;
    let running = visitor.sale.as_ref().filter(|cached| cached.round.id.number == round);
    let still = running.and_then(|cached| cached.sold_out.covers(&visitor.user, Moment::now(gate.clock)));
    still.map_or(Ok(()), |still| Err(Problem::sold_out(still.next_release_ms, gate.clock.now())))
}

/// Fetches the keys before a step that cannot be undone: without them a right answer would be used up in vain.
async fn keys(gate: &Gate<'_>, visitor: &mut Visitor) -> Result<(), Problem> {
    visitor.ring = Some(gate.keys.get().await.map_err(Problem::unanswered)?);
    Ok(())
}
