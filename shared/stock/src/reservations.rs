use sale::{BuyerClass, Reservation, StoredReservation, Unit, UserId};
use uuid::Uuid;

use crate::lane_keys::LaneKeys;
use crate::record::{read_record, read_reservation};
use crate::script::{CONFIRM, RELEASE, RESEAT, RESERVE};
use crate::script_code::ScriptCode::{AlreadyConfirmed, AlreadyReleased, Confirmed, Released, UnknownReservation};
use crate::script_code::{moment, parse, sold_out, unexpected};
use crate::{Reserve, RoundStock, ScriptCode, StockError};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    Unit,
    Slot,
}

/// The result for a reservation whose unit or slot belongs to another order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reseated {
    To(Reservation),
    NoUnit,
    LimitReached,
    AlreadyReleased,
    UnknownSale,
}

/// Who wants a unit, under the UUID of a reservation's id.
#[derive(Clone, Copy)]
pub(crate) struct Buyer<'a> {
    pub(crate) uuid: Uuid,
    pub(crate) user: &'a UserId,
    pub(crate) class: BuyerClass,
}

/// A class's lead in the scripts' unit, milliseconds.
pub(crate) fn lead_ms(class: BuyerClass) -> u64 {
    u64::from(class.lead_s) * 1000
}

/// Parses the answers of `reserve` and `accept`.
pub(crate) fn read_reserve(keys: LaneKeys<'_>, user: &UserId, answer: &str) -> Result<Reserve, StockError> {
    match parse(answer)? {
        (ScriptCode::Reserved, stored) => Ok(Reserve::Reserved(read_reservation(keys, user, stored)?.reservation)),
        (ScriptCode::Replayed, stored) => Ok(Reserve::Replayed(read_reservation(keys, user, stored)?)),
        (ScriptCode::AlreadyReserved, record) => Ok(Reserve::AlreadyReserved(read_record(keys, user, record)?)),
        (ScriptCode::TooManyUnpaid, count) => {
            Ok(Reserve::TooManyUnpaid(count.parse().map_err(|_| unexpected(answer))?))
        }
        (ScriptCode::SoldOut, rest) => Ok(Reserve::SoldOut(sold_out(rest, answer)?)),
        (ScriptCode::NotOpen, at) => Ok(Reserve::NotOpen(moment(at, answer)?)),
        (ScriptCode::QuotaOnly, until) => Ok(Reserve::QuotaOnly(moment(until, answer)?)),
        (ScriptCode::Closed, _) => Ok(Reserve::Closed),
        (ScriptCode::Paused, _) => Ok(Reserve::Paused),
        (ScriptCode::Blocked, _) => Ok(Reserve::Blocked),
        (ScriptCode::UnknownSale, _) => Ok(Reserve::UnknownSale),
        _ => Err(unexpected(answer)),
    }
}

impl RoundStock<'_> {
    /// Takes one unit for a user of this class, under the UUID of a reservation's id. One round trip, unless nothing is
    /// left in the user's home lane and there are others. If Redis does not answer, the unit may or may not have been
    /// taken; repeating the call tells. With several lanes also fails if what is left is on its way between them.
    pub async fn reserve(self, uuid: Uuid, user: &UserId, class: BuyerClass) -> Result<Reserve, StockError> {
        let buyer = Buyer { uuid, user, class };
        match self.reserve_at_home(buyer).await? {
            // Boxed: it is for few requests.
            Reserve::SoldOut(_) if self.lanes > 1 => Box::pin(self.reserve_elsewhere(buyer)).await,
            answer => Ok(answer),
        }
    }

    pub(crate) async fn reserve_at_home(self, Buyer { uuid, user, class }: Buyer<'_>) -> Result<Reserve, StockError> {
        let keys = self.home_of(user);
        let mut call = RESERVE.keys(keys.of_reserve()).arg(user.as_str()).arg(uuid.as_simple().to_string());
        if class != BuyerClass::EVERYONE {
            call = call.arg(lead_ms(class)).arg(u8::from(class.has_quota));
        }
        let answer: String = call.invoke_async(self.connection).await?;
        read_reserve(keys, user, &answer)
    }

    pub async fn reservation(self, uuid: Uuid, user: &UserId) -> Result<Option<StoredReservation>, StockError> {
        Ok(self.reservations_of(user).await?.into_iter().find(|stored| stored.reservation.id.uuid == uuid))
    }

    /// The user's reservations in the round, one for each slot ever used.
    pub async fn reservations_of(self, user: &UserId) -> Result<Vec<StoredReservation>, StockError> {
        let keys = self.home_of(user);
        let record: Option<String> =
            self.connection.ask(redis::cmd("HGET").arg(keys.buyers()).arg(user.as_str())).await?;
        let Some(record) = record else { return Ok(Vec::new()) };
        Ok(read_record(keys, user, &record)?)
    }

    /// Marks a held reservation as ordered. Returns whether Redis knows the reservation; a released one stays released.
    pub async fn confirm(self, reservation: &Reservation) -> Result<bool, StockError> {
        let Reservation { id, user, .. } = reservation;
        let call = CONFIRM.keys([self.keys_of(reservation).buyers()]);
        let call = call.arg((user.as_str(), id.uuid.as_simple().to_string()));
        let codes = [Confirmed, AlreadyConfirmed, AlreadyReleased, UnknownReservation];
        Ok(call.one_of(self.connection, &codes).await? != UnknownReservation)
    }

    /// Frees a reservation's slot and gives back the unit that Redis has for it, unless that is `of_another`: a unit of
    /// which the ledger says that another order has it. Twice is once. A reservation that ended `unpaid`, because its
    /// user cancelled or did not pay, counts once towards the sale's limit of those; of one that did not, a count is
    /// taken back.
    ///
    /// Only call it once the ledger says that the reservation is not, and will never again be, a live order.
    pub async fn release(
        self,
        reservation: &Reservation,
        of_another: Option<Unit>,
        unpaid: bool,
    ) -> Result<(), StockError> {
        let (keys, Reservation { id, user, .. }) = (self.keys_of(reservation), reservation);
        let of_another = of_another.map_or(0, |unit| unit.0);
        let call = RELEASE.keys([keys.sale(), keys.buyers(), keys.free()]);
        let call = call.arg((user.as_str(), id.uuid.as_simple().to_string(), of_another, u8::from(unpaid)));
        call.one_of(self.connection, &[Released, AlreadyReleased, UnknownReservation]).await.map(drop)
    }

    /// Gives a reservation another unit, or another slot, than the one it names, which belongs to another order. Can be
    /// repeated: a reservation that already got another unit or slot keeps it.
    pub async fn reseat(self, reservation: &Reservation, refused: Refused) -> Result<Reseated, StockError> {
        let this = self.of_reservation(reservation);
        match this.reseat_at_home(reservation, refused).await? {
            Some(reseated) => Ok(reseated),
            None if this.lanes > 1 => this.reseat_elsewhere(reservation, refused).await,
            None => Ok(Reseated::NoUnit),
        }
    }

    /// Gives a reservation another unit of its lane. `None` if no unit is left there.
    pub(crate) async fn reseat_at_home(
        self,
        reservation: &Reservation,
        refused: Refused,
    ) -> Result<Option<Reseated>, StockError> {
        let (keys, Reservation { id, user, unit: Unit(taken), slot, reserved_at_ms, .. }) =
            (self.keys_of(reservation), reservation);
        let call = RESEAT.keys([keys.sale(), keys.buyers(), keys.free()]);
        let call = call.arg((user.as_str(), id.uuid.as_simple().to_string(), slot.0, *taken, reserved_at_ms.0));
        let answer = call.arg(u8::from(refused == Refused::Unit)).invoke_async(self.connection).await?;
        match parse(&answer)? {
            (ScriptCode::Reseated, stored) => Ok(Some(Reseated::To(read_reservation(keys, user, stored)?.reservation))),
            (ScriptCode::SoldOut, _) => Ok(None),
            (ScriptCode::LimitReached, _) => Ok(Some(Reseated::LimitReached)),
            (ScriptCode::AlreadyReleased, _) => Ok(Some(Reseated::AlreadyReleased)),
            (ScriptCode::UnknownSale, _) => Ok(Some(Reseated::UnknownSale)),
            _ => Err(unexpected(&answer)),
        }
    }
}
