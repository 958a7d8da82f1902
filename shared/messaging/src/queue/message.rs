use sale::{EpochMs, Reservation, ReservationId, RoundId, RoundNumber, SaleId};
use serde::{Deserialize, Serialize};

/// The version that this build writes and reads. A new version is read for one deployment before it is written.
const VERSION: u8 = 1;

#[derive(Debug, thiserror::Error)]
pub enum InvalidMessage {
    #[error("the message does not have the expected form")]
    Shape(#[from] serde_json::Error),
    #[error("the message has version {0}, but this build reads version {VERSION}")]
    Version(u8),
}

/// A reservation that will become an order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderMessage {
    v: u8,
    #[serde(flatten)]
    pub reservation: Reservation,
    /// The trace of the request that made it, in the form of AWS X-Ray.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
}

/// An order whose payment window is open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExpiryMessage {
    v: u8,
    pub id: ReservationId,
    pub pay_by_ms: EpochMs,
}

/// A prize whose winner must be notified.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WinnerMessage {
    v: u8,
    pub sale_id: SaleId,
    pub round: RoundNumber,
    /// The number of the prize, from 1.
    pub position: u32,
}

/// A round that is open and that Redis does not have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RebuildMessage {
    v: u8,
    pub sale_id: SaleId,
    pub round: RoundNumber,
}

macro_rules! bodies {
    ($($message:ty),*) => {
        $(impl $message {
            pub fn parse(body: &str) -> Result<Self, InvalidMessage> {
                let message: Self = serde_json::from_str(body)?;
                match message.v {
                    VERSION => Ok(message),
                    other => Err(InvalidMessage::Version(other)),
                }
            }

            pub fn to_body(&self) -> String {
                serde_json::to_string(self).expect("a message has text keys and plain values only")
            }
        })*
    };
}

bodies!(OrderMessage, ExpiryMessage, WinnerMessage, RebuildMessage);

impl OrderMessage {
    pub const fn new(reservation: Reservation, trace: Option<String>) -> Self {
        Self { v: VERSION, reservation, trace }
    }
}

impl ExpiryMessage {
    pub const fn new(id: ReservationId, pay_by_ms: EpochMs) -> Self {
        Self { v: VERSION, id, pay_by_ms }
    }
}

impl WinnerMessage {
    pub fn new(round: RoundId, position: u32) -> Self {
        Self { v: VERSION, sale_id: round.sale, round: round.number, position }
    }

    pub fn round_id(&self) -> RoundId {
        RoundId { sale: self.sale_id.clone(), number: self.round }
    }
}

impl RebuildMessage {
    pub fn new(round: RoundId) -> Self {
        Self { v: VERSION, sale_id: round.sale, round: round.number }
    }

    pub fn round_id(&self) -> RoundId {
        RoundId { sale: self.sale_id.clone(), number: self.round }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORDER: &str = include_str!("../../../../events/messages/order.json");
    const WINNER: &str = include_str!("../../../../events/messages/winner.json");
    const REBUILD: &str = include_str!("../../../../events/messages/rebuild.json");
    const EXPIRY: &str = include_str!("../../../../events/messages/expiry.json");

    #[test]
    fn version_1_stays_readable_and_anything_else_is_poison() {
        fn stays<T: Serialize>(text: &str, parse: fn(&str) -> Result<T, InvalidMessage>) -> T {
            let read = parse(text).unwrap();
            assert_eq!(serde_json::to_value(&read).unwrap(), serde_json::from_str::<serde_json::Value>(text).unwrap());
            for bad in ["", "null", "{}", "[]", "\0", r#"{"v":1}"#] {
                assert!(matches!(parse(bad), Err(InvalidMessage::Shape(_))), "{bad:?} is poison");
            }
            assert!(matches!(parse(&text.replace(r#""v": 1"#, r#""v": 2"#)), Err(InvalidMessage::Version(2))));
            read
        }
        let order = stays(ORDER, OrderMessage::parse);
        assert_eq!(order.reservation.id.to_string(), "lamp.1.0198f0b2a4c57d1e8f00aabbccddeeff");
        stays(WINNER, WinnerMessage::parse);
        stays(REBUILD, RebuildMessage::parse);
        stays(EXPIRY, ExpiryMessage::parse);
    }
}
