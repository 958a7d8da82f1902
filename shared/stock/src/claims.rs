use std::sync::LazyLock;

use sale::{BuyerClass, Claim, Entry, Unit, UserId};
use uuid::Uuid;

use crate::entry::{read_entry, read_record};
use crate::lane_keys::LaneKeys;
use crate::script::Script;
use crate::script_code::ScriptCode::{AlreadyConfirmed, AlreadyReleased, Confirmed, Released, UnknownHold};
use crate::script_code::{moment, parse, sold_out, unexpected};
use crate::{Reserve, RoundStock, ScriptCode, StockError};

static RESERVE: LazyLock<Script> = LazyLock::new(|| Script::new(crate::expanded::RESERVE));
static CONFIRM: LazyLock<Script> = LazyLock::new(|| Script::new(crate::expanded::CONFIRM));
static RELEASE: LazyLock<Script> = LazyLock::new(|| Script::new(crate::expanded::RELEASE));
static RESEAT: LazyLock<Script> = LazyLock::new(|| Script::new(crate::expanded::RESEAT));

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    Unit,
    Slot,
}

/// The result for a reservation whose unit or slot belongs to another order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reseated {
    To(Claim),
    NoUnit,
    LimitReached,
    AlreadyReleased,
    UnknownSale,
}

/// A class's lead in the scripts' unit, milliseconds.
pub(crate) fn lead_ms(class: BuyerClass) -> u64 {
    u64::from(class.lead_s) * 1000
}

/// Parses the answers of `reserve` and `accept`.
pub(crate) fn read_reserve(keys: LaneKeys<'_>, user: &UserId, answer: &str) -> Result<Reserve, StockError> {
    match parse(answer)? {
        (ScriptCode::Reserved, entry) => Ok(Reserve::Reserved(read_entry(keys, user, entry)?.claim)),
        (ScriptCode::Replayed, entry) => Ok(Reserve::Replayed(read_entry(keys, user, entry)?)),
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
        match self.reserve_at_home(uuid, user, class).await? {
            // Boxed: it is for few requests.
            Reserve::SoldOut(_) if self.lanes > 1 => Box::pin(self.reserve_elsewhere(uuid, user, class)).await,
            answer => Ok(answer),
        }
    }

    pub(crate) async fn reserve_at_home(
        self,
        uuid: Uuid,
        user: &UserId,
        class: BuyerClass,
    ) -> Result<Reserve, StockError> {
        let keys = self.home_of(user);
        let mut call = RESERVE.keys(keys.of_reserve()).arg(user.as_str()).arg(uuid.as_simple().to_string());
        if class != BuyerClass::EVERYONE {
            call = call.arg(lead_ms(class)).arg(u8::from(class.has_quota));
        }
        let answer: String = call.invoke_async(self.connection).await?;
        read_reserve(keys, user, &answer)
    }

    pub async fn entry(self, uuid: Uuid, user: &UserId) -> Result<Option<Entry>, StockError> {
        Ok(self.entries_of(user).await?.into_iter().find(|entry| entry.claim.id.uuid == uuid))
    }

    /// The user's reservations in the round, one for each slot ever used.
    pub async fn entries_of(self, user: &UserId) -> Result<Vec<Entry>, StockError> {
        let keys = self.home_of(user);
        let record: Option<String> =
            self.connection.ask(redis::cmd("HGET").arg(keys.buyers()).arg(user.as_str())).await?;
        let Some(record) = record else { return Ok(Vec::new()) };
        Ok(read_record(keys, user, &record)?)
    }

    /// Marks a held claim as ordered. Returns whether Redis knows the claim; a released one stays released.
    pub async fn confirm(self, claim: &Claim) -> Result<bool, StockError> {
        let Claim { id, user, .. } = claim;
        let call = CONFIRM.keys([self.keys_of(claim).buyers()]);
        let call = call.arg((user.as_str(), id.uuid.as_simple().to_string()));
        let codes = [Confirmed, AlreadyConfirmed, AlreadyReleased, UnknownHold];
        Ok(call.one_of(self.connection, &codes).await? != UnknownHold)
    }

    /// Frees a claim's slot and gives back the unit that Redis has for it, unless that is `of_another`: a unit of which the
    /// ledger says that another order has it. Twice is once. A claim that ended `unpaid`, because its user cancelled or did
    /// not pay, counts once towards the sale's limit of those; of one that did not, a count is taken back.
    ///
    /// Only call it once the ledger says that the claim is not, and will never again be, a live order.
    pub async fn release(self, claim: &Claim, of_another: Option<Unit>, unpaid: bool) -> Result<(), StockError> {
        let (keys, Claim { id, user, .. }) = (self.keys_of(claim), claim);
        let of_another = of_another.map_or(0, |unit| unit.0);
        let call = RELEASE.keys([keys.sale(), keys.buyers(), keys.free()]);
        let call = call.arg((user.as_str(), id.uuid.as_simple().to_string(), of_another, u8::from(unpaid)));
        call.one_of(self.connection, &[Released, AlreadyReleased, UnknownHold]).await.map(drop)
    }

    /// Gives a claim another unit, or another slot, than the one it names, which belongs to another order. Can be
    /// repeated: a claim that already got another unit or slot keeps it.
    pub async fn reseat(self, claim: &Claim, refused: Refused) -> Result<Reseated, StockError> {
        let this = self.of_claim(claim);
        match this.reseat_at_home(claim, refused).await? {
            Some(reseated) => Ok(reseated),
            None if this.lanes > 1 => this.reseat_elsewhere(claim, refused).await,
            None => Ok(Reseated::NoUnit),
        }
    }

    /// Gives a claim another unit of its lane. `None` if no unit is left there.
    pub(crate) async fn reseat_at_home(self, claim: &Claim, refused: Refused) -> Result<Option<Reseated>, StockError> {
        let (keys, Claim { id, user, unit: Unit(taken), slot, reserved_at_ms, .. }) = (self.keys_of(claim), claim);
        let call = RESEAT.keys([keys.sale(), keys.buyers(), keys.free()]);
        let call = call.arg((user.as_str(), id.uuid.as_simple().to_string(), slot.0, *taken, reserved_at_ms.0));
        let answer = call.arg(u8::from(refused == Refused::Unit)).invoke_async(self.connection).await?;
        match parse(&answer)? {
            (ScriptCode::Reseated, entry) => Ok(Some(Reseated::To(read_entry(keys, user, entry)?.claim))),
            (ScriptCode::SoldOut, _) => Ok(None),
            (ScriptCode::LimitReached, _) => Ok(Some(Reseated::LimitReached)),
            (ScriptCode::AlreadyReleased, _) => Ok(Some(Reseated::AlreadyReleased)),
            (ScriptCode::UnknownSale, _) => Ok(Some(Reseated::UnknownSale)),
            _ => Err(unexpected(&answer)),
        }
    }
}
