use std::sync::LazyLock;

use futures::future::try_join_all;
use sale::{Claim, Lane, Unit};

use crate::script::Script;
use crate::script_code::{parse, unexpected};
use crate::{Counters, RoundStock, ScriptCode, StockError};

static ADOPT: LazyLock<Script> = LazyLock::new(|| Script::new(crate::expanded::ADOPT));
static EXCLUDE: LazyLock<Script> = LazyLock::new(|| Script::new(crate::expanded::EXCLUDE));
static RESTORE: LazyLock<Script> = LazyLock::new(|| Script::new(crate::expanded::RESTORE));

impl RoundStock<'_> {
    /// Makes Redis know the claim of an order. Whether it had forgotten it: not if it has the claim as ordered or released,
    /// or has no such round.
    ///
    /// # Errors
    /// If Redis does not answer. Can be repeated.
    pub async fn adopt(self, claim: &Claim) -> Result<bool, StockError> {
        let this = self.of_claim(claim);
        if this.lanes > 1 {
            // First, so that nobody else gets it if this run ends in between: the next one does both again.
            let others = Lane::all(this.lanes).filter(|lane| *lane != claim.lane);
            let unit = [claim.unit];
            try_join_all(others.map(|lane| this.only(lane).exclude_in_lane(&unit))).await?;
        }
        let (keys, Claim { id, user, unit, slot, reserved_at_ms, .. }) = (self.keys_of(claim), claim);
        let mut call = ADOPT
            .key(keys.sale())
            .key(keys.buyers())
            .key(keys.free())
            .arg(user.as_str())
            .arg(id.uuid.as_simple().to_string())
            .arg(slot.0)
            .arg(unit.0)
            .arg(reserved_at_ms.0);
        if this.lanes > 1 {
            call = call.arg(1);
        }
        let answer: String = call.invoke_async(self.connection).await?;
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
        if self.is_of_lanes() {
            return self.restore_in_lanes(units, counters).await;
        }
        let keys = self.keys();
        let units: Vec<u32> = units.iter().map(|unit| unit.0).collect();
        let mut call = RESTORE.key(keys.sale()).key(keys.free()).arg(counters.moves).arg(counters.epoch_ms.0);
        if self.lanes > 1 {
            call = call.arg("lane");
        }
        let answer: String = call.arg(units).invoke_async(self.connection).await?;
        match parse(&answer)?.0 {
            ScriptCode::Restored => Ok(true),
            ScriptCode::Moved | ScriptCode::UnknownSale => Ok(false),
            _ => Err(unexpected(&answer)),
        }
    }

    /// Each unit goes to a lane that follows from its number alone. So of two runs that found the same unit in no place the
    /// second one finds that the lane's units have moved.
    async fn restore_in_lanes(self, units: &[Unit], counters: &Counters) -> Result<bool, StockError> {
        let mut restored = false;
        for (lane, counters) in Lane::all(self.lanes).zip(&counters.lanes) {
            let is_its = |unit: &&Unit| (unit.0 % u32::from(self.lanes)) as u16 == lane.index();
            let its: Vec<Unit> = units.iter().filter(is_its).copied().collect();
            if !its.is_empty() {
                restored |= Box::pin(self.only(lane).restore(&its, counters)).await?;
            }
        }
        Ok(restored)
    }

    /// Takes units that several lanes have as free out of all of them. Then they are in no place, and can be restored.
    ///
    /// # Errors
    /// If Redis does not answer. Can be repeated.
    pub async fn exclude(self, units: &[Unit]) -> Result<(), StockError> {
        try_join_all(self.each_lane().map(|lane| lane.exclude_in_lane(units))).await.map(drop)
    }

    async fn exclude_in_lane(self, units: &[Unit]) -> Result<(), StockError> {
        let (keys, units) = (self.keys(), units.iter().map(|unit| unit.0).collect::<Vec<_>>());
        let answer = EXCLUDE.key(keys.sale()).key(keys.free()).arg(units).invoke_async(self.connection).await?;
        match parse(&answer)?.0 {
            ScriptCode::Excluded | ScriptCode::UnknownSale => Ok(()),
            _ => Err(unexpected(&answer)),
        }
    }
}
