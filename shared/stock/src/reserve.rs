use sale::{EpochMs, Reservation, StoredReservation};

use crate::script_code::SoldOut;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reserve {
    Reserved(Reservation),
    /// This id was reserved before; its current state.
    Replayed(StoredReservation),
    /// The user's live reservations, which reach the limit.
    AlreadyReserved(Vec<StoredReservation>),
    /// How many of the user's reservations in the round have ended unpaid, which is the limit.
    TooManyUnpaid(u32),
    /// No unit is left, or none until the next drop.
    SoldOut(SoldOut),
    /// The sale opens for the user at this time.
    NotOpen(EpochMs),
    /// What is left is a group's quota until this time.
    QuotaOnly(EpochMs),
    Closed,
    Paused,
    Blocked,
    UnknownSale,
}
