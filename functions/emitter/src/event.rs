use ledger::{Change, Fact, LedgerError, NotedPayment, NotedRound};
use sale::award::Hex;
use sale::{Award, EpochMs, Order, OrderState, Price, ReservationId, RoundId};
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// The version of an event's detail. Members may be added without a new version; none is removed or changed.
const VERSION: u32 = 1;
/// Length of an event's id, a truncated hash, in bytes.
const ID_BYTES: usize = 16;

/// A record of the stream, and the events that follow from it.
#[derive(Debug)]
pub(crate) struct Read {
    /// Empty if it has none.
    pub(crate) sequence_number: String,
    pub(crate) record: Value,
    pub(crate) events: Result<Vec<Event>, Unreadable>,
}

/// A record of which no event can ever be made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unreadable {
    #[error("the record is not from a table's stream")]
    Record(#[from] serde_json::Error),
    #[error("the record has an item that this version cannot read")]
    Item(#[from] LedgerError),
}

impl From<Value> for Read {
    fn from(record: Value) -> Self {
        let sequence_number = record["dynamodb"]["SequenceNumber"].as_str().unwrap_or_default().to_owned();
        let events = events(&record);
        Self { sequence_number, record, events }
    }
}

fn events(record: &Value) -> Result<Vec<Event>, Unreadable> {
    let change: Change = serde_json::from_value(record["dynamodb"].clone())?;
    Ok(change.facts()?.into_iter().map(Event::from).collect())
}

/// What has happened, as the merchant's systems hear it: made from the change alone, so again it has the same bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Event {
    version: u32,
    /// The same whenever the same fact is emitted again.
    pub id: String,
    pub r#type: &'static str,
    /// When it happened, or was noticed.
    #[serde(serialize_with = "rfc3339")]
    pub at: EpochMs,
    sale_id: String,
    round: u32,
    #[serde(flatten)]
    about: About,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
enum About {
    Order(Box<AboutOrder>),
    Refund(AboutRefund),
    Round(AboutRound),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct AboutOrder {
    reservation_id: String,
    user: String,
    unit: u32,
    #[serde(flatten)]
    price: Option<Price>,
    #[serde(serialize_with = "rfc3339")]
    reserved_at: EpochMs,
    /// Only while the order waits for its payment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pay_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    payment_id: Option<String>,
    /// What its unit won, in an instant draw.
    #[serde(skip_serializing_if = "Option::is_none")]
    award: Option<Award>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct AboutRefund {
    reservation_id: String,
    payment_id: String,
    #[serde(flatten)]
    price: Price,
    #[serde(skip_serializing_if = "Option::is_none")]
    refunded_by: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct AboutRound {
    title: String,
    total: u32,
    #[serde(serialize_with = "rfc3339")]
    opens_at: EpochMs,
    #[serde(serialize_with = "rfc3339")]
    closes_at: EpochMs,
    /// How often the round has sold out so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    times: Option<u32>,
}

fn rfc3339<S: serde::Serializer>(moment: &EpochMs, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(moment)
}

impl From<Fact> for Event {
    fn from(fact: Fact) -> Self {
        match fact {
            Fact::Order(order) => Self::of_order(order),
            Fact::RefundDue(payment) => Self::of_payment("refund.due", payment),
            Fact::RefundMade(payment) => Self::of_payment("refund.made", payment),
            Fact::Opened(round) => Self::of_round("sale.opened", round),
            Fact::SoldOut(round) => Self::of_round("sale.sold_out", round),
            Fact::Ended(round) => Self::of_round("round.ended", round),
        }
    }
}

impl Event {
    fn of_order(order: Order) -> Self {
        let kind = match order.state {
            OrderState::Pending => "order.pending",
            OrderState::Granted => "order.granted",
            OrderState::Paid => "order.paid",
            OrderState::Expired => "order.expired",
            OrderState::Cancelled => "order.cancelled",
            OrderState::Failed => "order.failed",
        };
        let at = order.ended_at_ms.unwrap_or(order.created_at_ms);
        let id = &order.reservation.id;
        let about = AboutOrder {
            reservation_id: id.to_string(),
            user: order.reservation.user.to_string(),
            unit: order.reservation.unit.0,
            price: order.price,
            reserved_at: order.reservation.reserved_at_ms,
            pay_by: order.pay_by_ms.filter(|_| order.state == OrderState::Pending).map(|pay_by| pay_by.to_string()),
            payment_id: order.payment_id,
            award: order.award,
            reason: order.failure.map(sale::Failure::as_str),
        };
        Self::new(kind, &id.round, &id.to_string(), at, About::Order(Box::new(about)))
    }

    fn of_payment(kind: &'static str, payment: NotedPayment) -> Self {
        let NotedPayment { payment_id, reservation_id, price, noted_at_ms, refund_due_at_ms, refunded } = payment;
        let ReservationId { round, .. } = &reservation_id;
        let refunded = refunded.filter(|_| kind == "refund.made");
        let at = refunded.as_ref().map(|refunded| refunded.at_ms).or(refund_due_at_ms).unwrap_or(noted_at_ms);
        let about = About::Refund(AboutRefund {
            reservation_id: reservation_id.to_string(),
            payment_id: payment_id.clone(),
            price,
            refunded_by: refunded.map(|refunded| refunded.by.to_string()),
        });
        Self::new(kind, round, &payment_id, at, about)
    }

    fn of_round(kind: &'static str, round: NotedRound) -> Self {
        let NotedRound { id, milestones, title, opens_at_ms, closes_at_ms, total, .. } = round;
        let (at, times) = match kind {
            "sale.opened" => (milestones.opened_at_ms, None),
            "sale.sold_out" => (milestones.sold_out_at_ms, Some(milestones.sold_out_times)),
            _ => (milestones.ended_at_ms, Some(milestones.sold_out_times)),
        };
        let subject = match times.filter(|_| kind == "sale.sold_out") {
            Some(times) => format!("{id}.{times}"),
            None => id.to_string(),
        };
        let about = AboutRound { title, total, opens_at: opens_at_ms, closes_at: closes_at_ms, times };
        Self::new(kind, &id, &subject, at.unwrap_or(closes_at_ms), About::Round(about))
    }

    /// `subject` identifies what it happened to; the same event can happen to it only once.
    fn new(kind: &'static str, round: &RoundId, subject: &str, at: EpochMs, about: About) -> Self {
        let hash = Sha256::digest(format!("{kind}\n{subject}"));
        Self {
            version: VERSION,
            id: format!("evt_{}", Hex(&hash[..ID_BYTES])),
            r#type: kind,
            at,
            sale_id: round.sale.to_string(),
            round: round.number.0,
            about,
        }
    }
}
