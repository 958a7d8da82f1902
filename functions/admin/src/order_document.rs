use jiff::Timestamp;
use ledger::NotedPayment;
use sale::{
    EpochMs, Failure, Order, OrderState, Price, RefundState, ReservationId, RoundNumber, SaleId, ShownAward, UserId,
};
use serde::Serialize;

#[serde_with::skip_serializing_none]
#[derive(Serialize)]
pub(crate) struct OrderDocument {
    pub(crate) reservation_id: ReservationId,
    pub(crate) sale_id: SaleId,
    pub(crate) round: RoundNumber,
    pub(crate) user: UserId,
    pub(crate) unit: u32,
    /// As its user sees it.
    pub(crate) state: &'static str,
    #[serde(flatten)]
    pub(crate) price: Option<Price>,
    pub(crate) award: Option<ShownAward>,
    pub(crate) reserved_at: Timestamp,
    /// When the order was written.
    pub(crate) ordered_at: Timestamp,
    pub(crate) pay_by: Option<Timestamp>,
    pub(crate) ended_at: Option<Timestamp>,
    pub(crate) reason: Option<Failure>,
    pub(crate) payment_id: Option<String>,
    pub(crate) refund: Option<RefundState>,
}

impl OrderDocument {
    pub(crate) fn of(order: Order, award: Option<ShownAward>) -> Self {
        Self {
            refund: order.refund(),
            unit: order.reservation.unit.0,
            state: order.state.status(),
            price: order.price,
            award,
            reserved_at: order.reservation.reserved_at_ms.into(),
            ordered_at: order.created_at_ms.into(),
            pay_by: order.pay_by_ms.map(Timestamp::from),
            ended_at: order.ended_at_ms.map(Timestamp::from),
            reason: order.failure,
            payment_id: order.payment_id,
            user: order.reservation.user,
            sale_id: order.reservation.id.round.sale.clone(),
            round: order.reservation.id.round.number,
            reservation_id: order.reservation.id,
        }
    }
}

#[derive(Serialize)]
pub(crate) struct OrdersDocument {
    pub(crate) orders: Vec<OrderDocument>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_cursor: Option<String>,
}

#[derive(Serialize)]
pub(crate) struct OrderHistory {
    #[serde(flatten)]
    order: OrderDocument,
    payments: Vec<PaymentDocument>,
    history: Vec<HistoryEntry>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Outcome {
    Applied,
    RefundDue,
    Refunded,
}

#[serde_with::skip_serializing_none]
#[derive(Serialize)]
struct PaymentDocument {
    payment_id: String,
    outcome: Outcome,
    #[serde(flatten)]
    price: Price,
    noted_at: Timestamp,
    refunded_at: Option<Timestamp>,
    refunded_by: Option<UserId>,
}

#[serde_with::skip_serializing_none]
#[derive(Serialize)]
struct HistoryEntry {
    at: Timestamp,
    event: &'static str,
    payment_id: Option<String>,
    by: Option<UserId>,
}

impl HistoryEntry {
    fn new(at_ms: EpochMs, event: &'static str) -> Self {
        Self { at: at_ms.into(), event, payment_id: None, by: None }
    }
}

impl PaymentDocument {
    fn of(noted: &NotedPayment, outcome: Outcome) -> Self {
        let NotedPayment { payment_id, price, noted_at_ms, refunded, .. } = noted.clone();
        let outcome = if refunded.is_some() { Outcome::Refunded } else { outcome };
        let (refunded_at, refunded_by) = refunded.map(|refunded| (refunded.at_ms.into(), refunded.by)).unzip();
        Self { payment_id, outcome, price, noted_at: noted_at_ms.into(), refunded_at, refunded_by }
    }
}

impl OrderHistory {
    pub(crate) fn of(order: Order, award: Option<ShownAward>, noted: &[NotedPayment]) -> Self {
        let noted_as = |id: &String| noted.iter().find(|noted| noted.payment_id == *id);
        let applied = order.payment_id.iter().filter_map(noted_as);
        let applied = applied.map(|noted| PaymentDocument::of(noted, Outcome::Applied));
        let due = order.refunds_due.iter().filter_map(noted_as);
        let due = due.map(|noted| PaymentDocument::of(noted, Outcome::RefundDue));
        let payments = applied.chain(due).collect();

        let mut history = vec![HistoryEntry::new(order.reservation.reserved_at_ms, "reserved")];
        // An order without a price could not be made: only its end was written.
        match (order.state, order.price) {
            (OrderState::Granted, _) => history.push(HistoryEntry::new(order.created_at_ms, "granted")),
            (_, Some(_)) => history.push(HistoryEntry::new(order.created_at_ms, "ordered")),
            (_, None) => {}
        }
        if let Some(ended_at_ms) = order.ended_at_ms {
            let end = HistoryEntry::new(ended_at_ms, order.state.status());
            history.push(HistoryEntry { payment_id: order.payment_id.clone(), ..end });
        }
        for noted in noted.iter().filter(|noted| order.refunds_due.contains(&noted.payment_id)) {
            let payment_id = Some(noted.payment_id.clone());
            let due = HistoryEntry::new(noted.refund_due_at_ms.unwrap_or(noted.noted_at_ms), "refund_due");
            history.push(HistoryEntry { payment_id: payment_id.clone(), ..due });
            if let Some(refunded) = &noted.refunded {
                let by = Some(refunded.by.clone());
                history.push(HistoryEntry { payment_id, by, ..HistoryEntry::new(refunded.at_ms, "refunded") });
            }
        }
        // A stable sort: entries with the same time stay in the order in which they must have happened.
        history.sort_by_key(|entry| entry.at);
        Self { order: OrderDocument::of(order, award), payments, history }
    }
}
