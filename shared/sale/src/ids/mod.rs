//! Ids. Every id has exactly one text form, so keys and comparisons are exact.

mod lane;
mod names;
mod numbers;
mod reservation;
mod round;

pub use lane::{Lane, MAX_LANES};
pub use names::{SaleId, UserId};
pub use numbers::{RoundNumber, Slot, Unit};
pub use reservation::ReservationId;
pub use round::RoundId;

use crate::MAX_GROUP_NAME_LENGTH;

/// The longest sale id. It is part of every key and every reservation id, so it is kept short.
pub const MAX_SALE_ID_LENGTH: usize = 48;

/// The longest user id: OpenID Connect Core 1.0, section 2, allows a subject 255 ASCII characters.
pub const MAX_USER_ID_LENGTH: usize = 255;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidId {
    #[error("a sale id is 1 to {MAX_SALE_ID_LENGTH} of a-z, 0-9 and '-', and starts with a letter or digit")]
    Sale,
    #[error("a campaign id is 1 to {MAX_SALE_ID_LENGTH} of a-z, 0-9 and '-', and starts with a letter or digit")]
    Campaign,
    #[error(
        "a user id is 1 to {MAX_USER_ID_LENGTH} printable ASCII characters without spaces, and neither '.' nor '..'"
    )]
    User,
    #[error("a group's name has 1 to {MAX_GROUP_NAME_LENGTH} of A-Z, a-z, 0-9, - and _")]
    Group,
    #[error("a round is a whole number from 1 to {}", u32::MAX)]
    RoundNumber,
    #[error("a round id has the form SALE.NUMBER")]
    Round,
    #[error("a reservation id has the form SALE.ROUND.UUID with the UUID in 32 hexadecimal digits")]
    Reservation,
}
