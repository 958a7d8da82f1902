//! The door: who may try to reserve. The last segment of the path is the pass.

use api::{Code, Problem};
use sale::{Round, SaleId, UserId};

/// Leave to try for a unit in one round of a sale.
pub(crate) struct Pass {
    pub(crate) round: Round,
}

/// Lets a user with a valid pass through. A pass is the number of the round, the same for everybody.
pub(crate) fn admit(token: &str, _sale: &SaleId, _user: &UserId) -> Result<Pass, Problem> {
    let round = token.parse().map_err(|_| Problem::new(Code::UnknownSale))?;
    Ok(Pass { round })
}
