mod address;
mod exists;
mod keys;
mod kill_switch;
mod line;
mod pass;
mod rate;
mod sight;
mod sold_out;
mod turn;

use api::Problem;
use lambda_http::Request;

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
            Self::Exists => exists::check(gate, visitor).await,
            Self::Sight => sight::check(gate, request, visitor).await,
            Self::Pass => pass::check(gate, request, visitor).await,
            Self::KillSwitch => kill_switch::check(visitor),
            Self::Address => address::check(gate, request, visitor),
            Self::Line => line::check(gate, request, visitor).await,
            Self::Rate(route) => gate.limit(request, route, &visitor.user),
            // `Gate::enter` parses the request at this point.
            Self::Form => Ok(()),
            Self::SoldOut => sold_out::check(gate, visitor),
            Self::Keys => keys::check(gate, visitor).await,
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
}
