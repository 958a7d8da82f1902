use api::{Code, Problem, client_address};
use lambda_http::Request;

use crate::{Gate, Visitor};

/// Compares the client's address with the denied networks in the snapshot. Usually there are none, and nothing is read.
pub(super) fn check(gate: &Gate<'_>, request: &Request, visitor: &Visitor) -> Result<(), Problem> {
    let denied = &visitor.snapshot.switches.denied_networks;
    if denied.is_empty() {
        return Ok(());
    }
    let Some(address) = client_address(request) else { return Ok(()) };
    let now = gate.clock.now();
    if denied.iter().any(|denied| denied.keeps_out(&address, now)) { Err(Problem::new(Code::Denied)) } else { Ok(()) }
}
