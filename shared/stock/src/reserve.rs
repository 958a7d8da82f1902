use sale::{Claim, Entry, EpochMs};

use crate::script_code::SoldOut;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reserve {
    Reserved(Claim),
    /// This id was reserved before; its current state.
    Replayed(Entry),
    /// The user's live reservations, which reach the limit.
    AlreadyReserved(Vec<Entry>),
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
