use futures::future::{join_all, try_join_all};
use range_set_blaze::RangeSetBlaze;
use sale::{Lane, Reservation, Unit};

use crate::script::{ADOPT, EXCLUDE, RESTORE};
use crate::script_code::ScriptCode::{Adopted, AlreadyConfirmed, AlreadyReleased, Moved, Restored, UnknownSale};
use crate::script_code::{parse, range_text, unexpected};
use crate::{Counters, RoundStock, ScriptCode, StockError};

/// How many ranges a call gives back, or units it takes out, at most: keeps the script to about a millisecond.
const PER_CALL: usize = 500;
/// Units in no place are given to the lanes in runs of this length.
const RUN: u32 = 64;

impl RoundStock<'_> {
    /// Tells Redis about an order's reservation, and makes its unit free in no lane. Returns whether Redis had
    /// forgotten it; if it has the reservation as ordered or released, or does not have the round, nothing changes.
    pub async fn adopt(self, reservation: &Reservation) -> Result<bool, StockError> {
        let this = self.of_reservation(reservation);
        let (keys, Reservation { id, user, unit, slot, reserved_at_ms, .. }) = (self.keys_of(reservation), reservation);
        let call = ADOPT.keys([keys.sale(), keys.buyers(), keys.free()]);
        let call = call.arg((user.as_str(), id.uuid.as_simple().to_string(), slot.0, unit.0, reserved_at_ms.0));
        let call = if this.lanes > 1 { call.arg(1) } else { call };
        let codes = [Adopted, AlreadyConfirmed, AlreadyReleased, UnknownSale];
        let code = call.one_of(self.connection, &codes).await?;
        if code == AlreadyReleased {
            // The order has ended, and its unit may be free again.
            return Ok(false);
        }
        // If this run ends before, the next one does both again.
        let others = Lane::all(this.lanes).filter(|lane| this.lanes > 1 && *lane != reservation.lane);
        let unit = [*unit];
        let excluded = join_all(others.map(|lane| this.only(lane).exclude_in_lane(&unit, None))).await;
        excluded.into_iter().try_fold(code == Adopted, |any, excluded| Ok(any | excluded?))
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
            let call = RESTORE.keys([keys.sale(), keys.free()]).arg((moves, counters.epoch_ms.0, in_set));
            let call = if self.lanes > 1 { call.arg("lane") } else { call };
            if call.arg(page).one_of(self.connection, &[Restored, Moved, UnknownSale]).await? != Restored {
                return Ok(false);
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
            let call = EXCLUDE.keys([keys.sale(), keys.free()]).arg((moves, epoch_ms)).arg(page);
            let answer = call.invoke_async(self.connection).await?;
            match parse(&answer)? {
                (ScriptCode::Excluded, count) => excluded += count.parse::<u32>().map_err(|_| unexpected(&answer))?,
                (Moved | UnknownSale, _) => break,
                _ => return Err(unexpected(&answer)),
            }
        }
        Ok(excluded > 0)
    }
}
