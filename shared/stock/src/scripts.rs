use std::sync::LazyLock;
use std::time::Duration;

use sale::{EpochMs, Lane, Reservation, ReservationId, Unit, UserId};

use crate::code::{moment, parse, sold_out, unexpected};
use crate::keys::Keys;
use crate::script::Script;
use crate::{Code, Hold, Stock, StockError};

static RESERVE: LazyLock<Script> = LazyLock::new(|| Script::new(crate::expanded::RESERVE));
static CONFIRM: LazyLock<Script> = LazyLock::new(|| Script::new(crate::expanded::CONFIRM));
static RELEASE: LazyLock<Script> = LazyLock::new(|| Script::new(crate::expanded::RELEASE));
static RESEAT: LazyLock<Script> = LazyLock::new(|| Script::new(crate::expanded::RESEAT));

/// What became of a request for a unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reserve {
    /// The unit is the user's.
    Reserved(Hold),
    /// This id was reserved before: how it stands now.
    Replayed(Hold),
    /// The user's live reservations reach the limit: these.
    AlreadyReserved(Vec<Hold>),
    /// So many of the user's reservations in the round ended unpaid: as many as may.
    TooManyUnpaid(u32),
    /// No unit is left.
    SoldOut {
        /// When the last one was handed out, by Redis's clock.
        last_won_at_ms: EpochMs,
        /// For so long nobody gets one.
        lasts: Duration,
    },
    /// The sale opens at this moment.
    NotOpen(EpochMs),
    /// The sale is over.
    Closed,
    /// An operator paused the sale.
    Paused,
    /// The user is kept out.
    Denied,
    /// Redis has no such round.
    UnknownSale,
}

/// What became of a confirmation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Confirmed {
    /// It was held and is ordered now.
    Now,
    /// It was ordered before.
    Before,
    /// Its unit was given back before.
    AlreadyReleased,
    /// Redis does not have it.
    UnknownHold,
}

/// What became of a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Released {
    /// It had its unit until now.
    Now,
    /// It was released before.
    Before,
    /// Redis does not have it.
    UnknownHold,
}

/// What became of a reservation whose unit belongs to another order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reseated {
    /// It has another unit.
    To(Hold),
    /// No unit is left.
    SoldOut,
    /// It was released before.
    AlreadyReleased,
    /// Redis does not have it and its slot is taken.
    UnknownHold,
    /// Redis has no such round.
    UnknownSale,
}

impl Stock {
    /// Takes one unit for a user. One round trip.
    ///
    /// # Errors
    /// If Redis does not answer; then the unit may or may not have been taken, and the same call tells.
    pub async fn reserve(&self, id: &ReservationId, lane: Lane, user: &UserId) -> Result<Reserve, StockError> {
        let keys = Keys::of(&id.sale, id.round, lane);
        let answer: String = RESERVE
            .key(keys.sale)
            .key(keys.buyers)
            .key(keys.free)
            .key(keys.outbox)
            .arg(user.as_str())
            .arg(id.uuid.as_simple().to_string())
            .invoke_async(&self.connection)
            .await?;
        match parse(&answer)? {
            (Code::Reserved, entry) => Ok(Reserve::Reserved(Hold::parse(entry)?)),
            (Code::Replayed, entry) => Ok(Reserve::Replayed(Hold::parse(entry)?)),
            (Code::AlreadyReserved, entries) => Ok(Reserve::AlreadyReserved(Hold::parse_all(entries)?)),
            (Code::TooManyUnpaid, count) => Ok(Reserve::TooManyUnpaid(count.parse().map_err(|_| unexpected(&answer))?)),
            (Code::SoldOut, rest) => {
                let (last_won_at_ms, lasts) = sold_out(rest, &answer)?;
                Ok(Reserve::SoldOut { last_won_at_ms, lasts })
            }
            (Code::NotOpen, at) => Ok(Reserve::NotOpen(moment(at, &answer)?)),
            (Code::Closed, _) => Ok(Reserve::Closed),
            (Code::Paused, _) => Ok(Reserve::Paused),
            (Code::Denied, _) => Ok(Reserve::Denied),
            (Code::UnknownSale, _) => Ok(Reserve::UnknownSale),
            _ => Err(unexpected(&answer)),
        }
    }

    /// Marks a held reservation as ordered.
    ///
    /// # Errors
    /// If Redis does not answer. Can be repeated.
    pub async fn confirm(&self, id: &ReservationId, lane: Lane, user: &UserId) -> Result<Confirmed, StockError> {
        let keys = Keys::of(&id.sale, id.round, lane);
        let answer: String = CONFIRM
            .key(keys.buyers)
            .arg(user.as_str())
            .arg(id.uuid.as_simple().to_string())
            .invoke_async(&self.connection)
            .await?;
        match parse(&answer)?.0 {
            Code::Confirmed => Ok(Confirmed::Now),
            Code::AlreadyConfirmed => Ok(Confirmed::Before),
            Code::AlreadyReleased => Ok(Confirmed::AlreadyReleased),
            Code::UnknownHold => Ok(Confirmed::UnknownHold),
            _ => Err(unexpected(&answer)),
        }
    }

    /// Frees a reservation's slot and gives its unit back, unless that is `of_another`: a unit of which the ledger says
    /// that another order has it. Twice is once. A reservation that ended `unpaid`, because its user cancelled or did not
    /// pay, counts towards the sale's limit of those.
    ///
    /// Only to be called once the ledger says that the reservation never will be or no longer is a live order.
    ///
    /// # Errors
    /// If Redis does not answer. Can be repeated.
    pub async fn release(
        &self,
        id: &ReservationId,
        lane: Lane,
        user: &UserId,
        of_another: Option<Unit>,
        unpaid: bool,
    ) -> Result<Released, StockError> {
        let keys = Keys::of(&id.sale, id.round, lane);
        let answer: String = RELEASE
            .key(keys.sale)
            .key(keys.buyers)
            .key(keys.free)
            .arg(user.as_str())
            .arg(id.uuid.as_simple().to_string())
            .arg(of_another.map_or(0, |unit| unit.0))
            .arg(u8::from(unpaid))
            .invoke_async(&self.connection)
            .await?;
        match parse(&answer)?.0 {
            Code::Released => Ok(Released::Now),
            Code::AlreadyReleased => Ok(Released::Before),
            Code::UnknownHold => Ok(Released::UnknownHold),
            _ => Err(unexpected(&answer)),
        }
    }

    /// Gives a reservation another unit than the one that it names, which belongs to another order.
    ///
    /// # Errors
    /// If Redis does not answer. Can be repeated: a reservation that has another unit already keeps it.
    pub async fn reseat(&self, reservation: &Reservation) -> Result<Reseated, StockError> {
        let Reservation { id, user, lane, unit: Unit(taken), slot, reserved_at_ms } = reservation;
        let keys = Keys::of(&id.sale, id.round, *lane);
        let answer: String = RESEAT
            .key(keys.sale)
            .key(keys.buyers)
            .key(keys.free)
            .arg(user.as_str())
            .arg(id.uuid.as_simple().to_string())
            .arg(slot.0)
            .arg(*taken)
            .arg(reserved_at_ms.0)
            .invoke_async(&self.connection)
            .await?;
        match parse(&answer)? {
            (Code::Reseated, entry) => Ok(Reseated::To(Hold::parse(entry)?)),
            (Code::SoldOut, _) => Ok(Reseated::SoldOut),
            (Code::AlreadyReleased, _) => Ok(Reseated::AlreadyReleased),
            (Code::UnknownHold, _) => Ok(Reseated::UnknownHold),
            (Code::UnknownSale, _) => Ok(Reseated::UnknownSale),
            _ => Err(unexpected(&answer)),
        }
    }
}
