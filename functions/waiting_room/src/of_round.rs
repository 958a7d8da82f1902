use api::{Code, Problem};
use sale::{EpochMs, LineTerms, Round};

/// How long after its sale has closed Redis keeps a line, in seconds.
const KEPT_S: u32 = 24 * 60 * 60;

/// The line's terms of a round. Fails with 404 if the round has no line.
pub(crate) fn line_of(round: &Round) -> Result<LineTerms, Problem> {
    round.terms.line.ok_or_else(|| Problem::new(Code::UnknownSale).detail("the sale has no line"))
}

pub(crate) const fn tickets_from(round: &Round, line: LineTerms) -> EpochMs {
    round.terms.opens_at_ms.minus_s(line.opens_early_s)
}

pub(crate) const fn expires_at(round: &Round) -> EpochMs {
    round.terms.closes_at_ms.plus_s(KEPT_S)
}
