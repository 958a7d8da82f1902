use std::sync::LazyLock;

use sale::{Claim, Unit};

use crate::script::Script;
use crate::script_code::{parse, unexpected};
use crate::{Counters, RoundStock, ScriptCode, StockError};

static ADOPT: LazyLock<Script> = LazyLock::new(|| Script::new(crate::expanded::ADOPT));
static RESTORE: LazyLock<Script> = LazyLock::new(|| Script::new(crate::expanded::RESTORE));

impl RoundStock<'_> {
    /// Makes Redis know the claim of an order. Whether it had forgotten it: not if it has the claim as ordered or released,
    /// or has no such round.
    ///
    /// # Errors
    /// If Redis does not answer. Can be repeated.
    pub async fn adopt(self, claim: &Claim) -> Result<bool, StockError> {
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
            ScriptCode::Adopted => Ok(true),
            ScriptCode::AlreadyConfirmed | ScriptCode::AlreadyReleased | ScriptCode::UnknownSale => Ok(false),
            _ => Err(unexpected(&answer)),
        }
    }

    /// Gives back units that are in no place, if no unit has moved since `counters` were read. Whether it did.
    ///
    /// # Errors
    /// If Redis does not answer. Can be repeated.
    pub async fn restore(self, units: &[Unit], counters: &Counters) -> Result<bool, StockError> {
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
            ScriptCode::Restored => Ok(true),
            ScriptCode::Moved | ScriptCode::UnknownSale => Ok(false),
            _ => Err(unexpected(&answer)),
        }
    }
}
