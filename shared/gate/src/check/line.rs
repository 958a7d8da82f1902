use api::{Code, Problem};
use lambda_http::Request;
use pass::line::{Admitted, LineKeys, Ticket, Watermark};
use sale::SaleId;
use serde_json::json;

use crate::{Gate, Visitor};

/// The header that carries the user's ticket.
pub const TICKET_HEADER: &str = "x-line-ticket";
/// The header that carries the `watermark` from the line's document.
pub const WATERMARK_HEADER: &str = "x-line-watermark";
/// Seconds after which the line has moved, and a user without a ticket may have got one.
const POLL_AGAIN_S: u32 = 2;

/// Admits a user whose ticket the line's watermark has passed. Both are sealed and sent with the request, so nothing is
/// read. It works even if Redis has lost the line, since a line never moves back.
pub(super) async fn check(gate: &Gate<'_>, request: &Request, visitor: &Visitor) -> Result<(), Problem> {
    let round = &visitor.sale()?.round;
    if round.terms.line.is_none() {
        return Ok(());
    }
    let keys = LineKeys::of(&*gate.keys.get().await.map_err(Problem::unanswered)?);
    let header = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok());
    let sale = &round.id.sale;
    let ticket = header(TICKET_HEADER).and_then(|text| Ticket::open(text, &keys, sale).ok());
    let ticket = ticket.filter(|ticket| ticket.round == round.id.number && ticket.user == visitor.user);
    let ticket = ticket.ok_or_else(|| no_ticket(sale))?;
    let shown = header(WATERMARK_HEADER);
    if shown.is_some_and(|text| Watermark::is_of_another_key(text, &keys)) {
        // It may have been the user's turn for a long time.
        return Err(Problem::invalid(format!(
            "{WATERMARK_HEADER}: too old; take the watermark from the current line document"
        )));
    }
    let shown = shown.and_then(|text| Watermark::open(text, &keys, sale).ok());
    let Some((_, order, watermark)) = shown.filter(|(number, ..)| *number == round.id.number) else {
        return Err(not_your_turn(sale));
    };
    if watermark.admits(ticket.class_at(round.terms.opens_at_ms), order.place(&visitor.user)) {
        return Ok(());
    }
    let Admitted { early_ppb, late_until, late_ppb, .. } = Admitted::of(&watermark, 0, 0, gate.clock.now());
    let shown = json!({ "early_ppb": early_ppb, "late_until": late_until, "late_ppb": late_ppb });
    Err(not_your_turn(sale).with("admitted", shown))
}

fn no_ticket(sale: &SaleId) -> Problem {
    let path = format!("/v1/sales/{sale}/tickets");
    Problem::new(Code::NoTicket)
        .detail(format!("{TICKET_HEADER}: must be this user's ticket for this round"))
        .with("tickets_path", path)
        .retry_after_s(POLL_AGAIN_S)
}

fn not_your_turn(sale: &SaleId) -> Problem {
    let problem = Problem::new(Code::NotYourTurn)
        .detail(format!("{WATERMARK_HEADER}: send the watermark from the line's document"));
    problem.with("line_path", format!("/v1/sales/{sale}/line")).retry_after_s(POLL_AGAIN_S)
}
