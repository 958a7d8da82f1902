mod keys;
mod known;
mod pass;
mod rate;
mod sold_out;
mod stop;
mod turn;

use api::Problem;
use lambda_http::Request;
use process::Step;

use crate::{Gate, Route, Visitor};

pub use rate::address;

/// One question that a request has to pass. What each needs and costs is in the table of the crate.
#[derive(Debug, Clone, Copy)]
pub enum Check {
    /// The sale is published.
    Known,
    /// The path ends with a pass of the user for the sale.
    Pass,
    /// Operators have not stopped the sale.
    Stop,
    /// Neither the user nor the address asks for this too often, in this process's count.
    Rate(Route),
    /// The request is of the documented form.
    Form,
    /// Redis did not say a moment ago that nothing is left, or the user may have won something before.
    SoldOut,
    /// The keys of passes are at hand.
    Keys,
    /// The sale is not isolated, or has a turn for one more request of this step.
    Turn(Step),
}

impl Check {
    /// Goes on, or says what whoever asks hears.
    pub(crate) async fn make(self, gate: &Gate<'_>, request: &Request, visitor: &mut Visitor) -> Result<(), Problem> {
        match self {
            Self::Known => known::check(gate, visitor).await,
            Self::Pass => pass::check(gate, request, visitor).await,
            Self::Stop => stop::check(visitor),
            Self::Rate(route) => gate.limit(request, route, &visitor.user),
            // Whoever lists the checks reads the request.
            Self::Form => Ok(()),
            Self::SoldOut => sold_out::check(gate, visitor),
            Self::Keys => keys::check(gate, visitor).await,
            Self::Turn(step) => turn::check(gate, visitor, step).await,
        }
    }
}
