use std::sync::LazyLock;

use futures::future::{join_all, try_join_all};
use range_set_blaze::RangeSetBlaze;
use sale::{Claim, Lane, Unit};

use crate::ranges::range_text;
use crate::script::Script;
use crate::script_code::{parse, unexpected};
use crate::{Counters, RoundStock, ScriptCode, StockError};

static ADOPT: LazyLock<Script> = LazyLock::new(|| Script::new(crate::expanded::ADOPT));
static EXCLUDE: LazyLock<Script> = LazyLock::new(|| Script::new(crate::expanded::EXCLUDE));
static RESTORE: LazyLock<Script> = LazyLock::new(|| Script::new(crate::expanded::RESTORE));

/// How many ranges a call gives back, or units it takes out, at most: keeps the script to about a millisecond.
const PER_CALL: usize = 500;
/// Units in no place are given to the lanes in runs of this length.
const RUN: u32 = 64;

/// The ranges of these units, which must be sorted.
impl RoundStock<'_> {
    /// Tells Redis about an order's claim, and makes its unit free in no lane. Returns whether Redis had forgotten it;
    /// if it has the claim as ordered or released, or does not have the round, nothing changes.
    pub async fn adopt(self, claim: &Claim) -> Result<bool, StockError> {
        let this = self.of_claim(claim);
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
        let adopted = match parse(&answer)?.0 {
            ScriptCode::Adopted => true,
            ScriptCode::AlreadyConfirmed | ScriptCode::UnknownSale => false,
            // The order has ended, and its unit may be free again.
            ScriptCode::AlreadyReleased => return Ok(false),
            _ => return Err(unexpected(&answer)),
        };
        // If this run ends before, the next one does both again.
        let others = Lane::all(this.lanes).filter(|lane| this.lanes > 1 && *lane != claim.lane);
        let unit = [*unit];
        let excluded = join_all(others.map(|lane| this.only(lane).exclude_in_lane(&unit, None))).await;
        excluded.into_iter().try_fold(adopted, |any, excluded| Ok(any | excluded?))
    }

    /// Gives back units that are in no place and counts what the set has, if no unit has moved since `counters` were
    /// read. Returns whether it did, for all of them.
    pub async fn restore(self, units: &[Unit], counters: &Counters) -> Result<bool, StockError> {
        let units = units.iter().map(|unit| unit.0);
        if !self.is_of_lanes() {
            return self.restore_in_lane(units.collect(), counters).await;
        }
        // Each unit's number determines its lane, so if two runs find the same unit in no place, the second one sees
        // that units of that lane have moved.
        let mut lanes = Vec::new();
        for (lane, counters) in Lane::all(self.lanes).zip(&counters.lanes) {
            let is_its = |unit: &u32| (unit / RUN % u32::from(self.lanes)) as u16 == lane.index();
            let its: RangeSetBlaze<u32> = units.clone().filter(is_its).collect();
            if !its.is_empty() || counters.is_miscounted() {
                lanes.push(self.only(lane).restore_in_lane(its, counters).await?);
            }
        }
        Ok(!lanes.is_empty() && lanes.into_iter().all(|restored| restored))
    }

    async fn restore_in_lane(self, units: RangeSetBlaze<u32>, counters: &Counters) -> Result<bool, StockError> {
        let keys = self.keys();
        let texts: Vec<String> = units.ranges().map(|range| range_text(&range)).collect();
        let pages = if texts.is_empty() { vec![texts.as_slice()] } else { texts.chunks(PER_CALL).collect() };
        for (page, moved) in pages.into_iter().zip(0..) {
            // Each page counts as a move.
            let moves = counters.moves.wrapping_add(moved);
            let in_set = counters.in_set.filter(|_| moved == 0).map_or(String::new(), |in_set| in_set.to_string());
            let mut call = RESTORE.key(keys.sale()).key(keys.free()).arg(moves).arg(counters.epoch_ms.0).arg(in_set);
            if self.lanes > 1 {
                call = call.arg("lane");
            }
            let answer: String = call.arg(page).invoke_async(self.connection).await?;
            match parse(&answer)?.0 {
                ScriptCode::Restored => {}
                ScriptCode::Moved | ScriptCode::UnknownSale => return Ok(false),
                _ => return Err(unexpected(&answer)),
            }
        }
        Ok(true)
    }

    /// Takes units that are free in several lanes out of all those in which no unit has moved since `counters` were
    /// read. They are then in no place and can be restored.
    pub async fn exclude(self, units: &[Unit], counters: &Counters) -> Result<(), StockError> {
        let lanes = self.each_lane().zip(&counters.lanes);
        try_join_all(lanes.map(|(lane, seen)| lane.exclude_in_lane(units, Some(seen)))).await.map(drop)
    }

    /// Returns whether one of them was free. Changes nothing if a unit has moved since `seen`.
    async fn exclude_in_lane(self, units: &[Unit], seen: Option<&Counters>) -> Result<bool, StockError> {
        let (keys, mut excluded) = (self.keys(), 0u32);
        for page in units.chunks(PER_CALL) {
            // Each unit taken out counts as a move.
            let moves = seen.map_or(String::new(), |seen| seen.moves.wrapping_add(excluded).to_string());
            let epoch_ms = seen.map_or(0, |seen| seen.epoch_ms.0);
            let page: Vec<u32> = page.iter().map(|unit| unit.0).collect();
            let call = EXCLUDE.key(keys.sale()).key(keys.free()).arg(moves).arg(epoch_ms).arg(page);
            let answer = call.invoke_async(self.connection).await?;
            match parse(&answer)? {
                (ScriptCode::Excluded, count) => excluded += count.parse::<u32>().map_err(|_| unexpected(&answer))?,
                (ScriptCode::Moved | ScriptCode::UnknownSale, _) => break,
                _ => return Err(unexpected(&answer)),
            }
        }
        Ok(excluded > 0)
    }
}
