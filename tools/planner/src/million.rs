//! What a million attempts, a million page visits and a thousand orders cost.

use crate::cost::{Line, lines};
use crate::inputs::Assumptions;
use crate::prices::Region;
use crate::totals::{Totals, polls_each};

const MILLION: f64 = 1e6;
const THOUSAND: f64 = 1e3;

/// A part of what a crowd does, with its bill.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Part {
    pub what: &'static str,
    pub lines: Vec<Line>,
}

/// A million attempts that win nothing, a million page visits, a thousand orders.
pub fn parts(assumed: &Assumptions, prices: &Region) -> [Part; 3] {
    let part = |what, totals: Totals| Part { what, lines: lines(&[totals], prices) };
    let orders = THOUSAND;
    let paid = orders * (1.0 - assumed.unpaid_share);
    [
        part("a million attempts: challenge, answer and reservation", Totals::of_attempts(MILLION, assumed)),
        part(
            "a million page visits: the files, and polls of the sale",
            Totals::of_page(MILLION, MILLION * polls_each(assumed), assumed),
        ),
        part("a thousand orders", Totals::of_orders(orders, paid, assumed)),
    ]
}
