use api::{Code, Problem, client_address};
use lambda_http::Request;

use crate::{Gate, Visitor};

/// Compares the client's address with the blocked networks in the snapshot. Usually there are none, and nothing is
/// read.
pub(super) fn check(gate: &Gate<'_>, request: &Request, visitor: &Visitor) -> Result<(), Problem> {
    let blocked = &visitor.snapshot.kill_switches.blocked_networks;
    if blocked.is_empty() {
        return Ok(());
    }
    let Some(address) = client_address(request) else { return Ok(()) };
    let now = gate.clock.now();
    if blocked.iter().any(|network| network.blocks(&address, now)) { Err(Problem::new(Code::Blocked)) } else { Ok(()) }
}
