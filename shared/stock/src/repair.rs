use std::sync::LazyLock;

use sale::{Claim, Unit};

use crate::code::{parse, unexpected};
use crate::script::Script;
use crate::{Code, Counters, RoundStock, StockError};

static ADOPT: LazyLock<Script> = LazyLock::new(|| Script::new(crate::expanded::ADOPT));
static RESTORE: LazyLock<Script> = LazyLock::new(|| Script::new(crate::expanded::RESTORE));

/// What became of an order that Redis may have forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Adopted {
    /// Redis knows it now.
    Now,
    /// Redis knew it.
    Before,
    /// Redis knows that it ended.
    AlreadyReleased,
    /// Redis has no such round.
    UnknownSale,
}

/// What became of units that were in no place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Restored {
    /// They can be handed out again.
    Now,
    /// Units have moved since they were looked for.
    Moved,
    /// Redis has no such round.
    UnknownSale,
}

impl RoundStock<'_> {
    /// Makes Redis know the claim of an order, which it forgot.
    ///
    /// # Errors
    /// If Redis does not answer. Can be repeated.
    pub async fn adopt(self, claim: &Claim) -> Result<Adopted, StockError> {
        let (keys, Claim { id, user, unit, slot, reserved_at_ms, .. }) = (self.keys_of(claim), claim);
        let answer: String = ADOPT
            .key(keys.sale())
            .key(keys.buyers())
            .key(keys.free())
            .arg(user.as_str())
            .arg(id.uuid.as_simple().to_string())
            .arg(slot.0)
            .arg(unit.0)
            .arg(reserved_at_ms.0)
            .invoke_async(self.connection)
            .await?;
        match parse(&answer)?.0 {
            Code::Adopted => Ok(Adopted::Now),
            Code::AlreadyConfirmed => Ok(Adopted::Before),
            Code::AlreadyReleased => Ok(Adopted::AlreadyReleased),
            Code::UnknownSale => Ok(Adopted::UnknownSale),
            _ => Err(unexpected(&answer)),
        }
    }

    /// Gives back units that are in no place, if no unit has moved since `counters` were read.
    ///
    /// # Errors
    /// If Redis does not answer. Can be repeated.
    pub async fn restore(self, units: &[Unit], counters: &Counters) -> Result<Restored, StockError> {
        let keys = self.keys();
        let units: Vec<u32> = units.iter().map(|unit| unit.0).collect();
        let answer: String = RESTORE
            .key(keys.sale())
            .key(keys.free())
            .arg(counters.moves)
            .arg(counters.epoch_ms.0)
            .arg(units)
            .invoke_async(self.connection)
            .await?;
        match parse(&answer)?.0 {
            Code::Restored => Ok(Restored::Now),
            Code::Moved => Ok(Restored::Moved),
            Code::UnknownSale => Ok(Restored::UnknownSale),
            _ => Err(unexpected(&answer)),
        }
    }
}
