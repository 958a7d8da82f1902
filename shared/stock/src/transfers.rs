//! Transfers: units on their way from one lane to another, moved by one call to Redis after another; see
//! `lua/README.md`.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use futures::future::join_all;
use sale::{BuyerClass, EpochMs, Lane, UserId};
use uuid::Uuid;

use crate::reservations::{lead_ms, read_reserve};
use crate::script::{ACCEPT, CLOSE_TRANSFER, COMPLETE, DONATE, FENCE, TAKE_IN};
use crate::script_code::{moment, parse, parse_range, range_text, sold_out, unexpected};
use crate::{Counters, Reserve, RoundStock, ScriptCode, SoldOut, StockError};

/// How far the clocks of two shards, or of a node and its successor, may differ, in microseconds. After a load, a
/// lane's transfers have ids this far above its clock, so that no earlier transfer is taken for a new one.
const CLOCKS_DIFFER_US: u64 = 10_000_000;
/// How many transfers a lane may have begun without the others knowing. A load takes more microseconds than this, so
/// ids do not run ahead of the clocks however often lanes are loaded: if all are lost, only the clocks are left.
const MOST_UNHEARD: u64 = 1000;

/// Units that left one lane for another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transfer {
    pub from: Lane,
    pub to: Lane,
    /// The id; later transfers between these two lanes have higher ones.
    pub id: u64,
    pub ranges: Vec<RangeInclusive<u32>>,
    /// Whether they were in cooldown in the giving lane. Then they are in the receiving lane too.
    pub in_cooldown: bool,
}

#[derive(Debug, Clone, Copy)]
pub enum DonateFor {
    Buyer(BuyerClass),
    /// A reservation that needs another unit.
    Reseat,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Donated {
    /// These units, given by this call or an earlier one.
    Units(Transfer),
    /// No units that can be given.
    Nothing(SoldOut),
    /// The lane sells nothing now: it is not open yet, paused or closed.
    Refused(Reserve),
    UnknownSale,
}

impl Transfer {
    fn parse(from: Lane, to: Lane, record: &str) -> Option<Self> {
        let mut words = record.split(' ');
        let (id, ranges, mark) = (words.next()?, words.next()?, words.next());
        let ranges = ranges.split(',').map(parse_range).collect::<Option<Vec<_>>>()?;
        let in_cooldown = match mark {
            None => false,
            Some("cooldown") => true,
            Some(_) => return None,
        };
        Some(Self { from, to, id: id.parse().ok()?, ranges, in_cooldown })
    }

    fn range_texts(&self) -> Vec<String> {
        self.ranges.iter().map(range_text).collect()
    }
}

/// The contents of a lane's `transfers:{tag}`.
#[derive(Debug, Clone, Default)]
pub(crate) struct LaneTransfers {
    pub(crate) open: Vec<Transfer>,
    /// The id of the latest transfer that it took from each lane, by index.
    pub(crate) taken: HashMap<u16, u64>,
    /// The latest id that it used.
    pub(crate) last: u64,
    /// The last unit that was dealt to the lanes.
    pub(crate) dealt: u32,
    pub(crate) given: u32,
    /// The number of its load, if it may lack units that it had before Redis lost it.
    pub(crate) short: Option<u64>,
}

impl LaneTransfers {
    /// Whether the lane took this transfer or a later one.
    pub(crate) fn has_taken(&self, transfer: &Transfer) -> bool {
        self.has_taken_from(transfer.from, transfer.id)
    }

    /// Whether it refuses transfers from that lane with this id or a lower one.
    pub(crate) fn has_taken_from(&self, from: Lane, id: u64) -> bool {
        self.taken.get(&from.index()).is_some_and(|latest| *latest >= id)
    }

    /// An id that no lane has used, as far as this one knows.
    fn unheard(&self) -> u64 {
        let known = self.taken.values().copied().chain(self.short).fold(self.last, u64::max);
        if known == 0 { 0 } else { known + MOST_UNHEARD }
    }
}

/// A lane that a caller loads, and the load's number, above every id that the lane used before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ClaimedLane {
    pub(crate) lane: Lane,
    pub(crate) number: u64,
}

/// The initial fields of `transfers:{tag}` of a lane that is loaded.
///
/// Transfers to the lane from lanes that Redis has count as taken: it is unknown whether the lane had their units, so
/// those are found in no place and given to some lane, and no late process may add them. Transfers from lanes that are
/// loaded at the same time do not count, whatever their numbers. Transfers that an unreachable lane gave before the
/// claim do not count either: they may have been taken before the loss, and otherwise their units are in no place. What
/// that lane gives next has a higher id.
pub(crate) fn fields_of_lost(
    lane: ClaimedLane,
    dealt: u32,
    is_short: bool,
    present: &[(Lane, &LaneTransfers)],
    lost: &[ClaimedLane],
    unreachable: &[Lane],
) -> String {
    let mut fields = format!("dealt {dealt} last {}", lane.number);
    if is_short {
        fields.push_str(&format!(" short {}", lane.number));
    }
    let present = present.iter().map(|(other, transfers)| (*other, transfers.last));
    let lost = lost.iter().map(|other| (other.lane, other.number));
    let unreachable = unreachable.iter().map(|other| (*other, lane.number));
    for (other, id) in present.chain(lost).chain(unreachable).filter(|(other, id)| *other != lane.lane && *id > 0) {
        fields.push_str(&format!(" from:{} {id}", other.index()));
    }
    fields
}

impl RoundStock<'_> {
    /// Makes a lane give half of its free units to another, or returns the transfer that is open between them.
    pub async fn donate(self, from: Lane, to: Lane, whom: DonateFor) -> Result<Donated, StockError> {
        let heard = self.transfers_of(to).await?.taken.into_values().max().unwrap_or_default();
        self.donate_above(heard, from, to, whom).await
    }

    /// Like [`RoundStock::donate`], with an id above the latest one that `to` has taken.
    pub(crate) async fn donate_above(
        self,
        heard: u64,
        from: Lane,
        to: Lane,
        whom: DonateFor,
    ) -> Result<Donated, StockError> {
        let keys = self.keys_in(from);
        let call = DONATE.keys([keys.sale(), keys.free(), keys.transfers()]).arg(to.index());
        let call = match whom {
            DonateFor::Buyer(class) => call.arg(lead_ms(class)),
            DonateFor::Reseat => call.arg(-1),
        };
        let answer = call.arg(heard).invoke_async(self.connection).await?;
        let refused = |refusal| Ok(Donated::Refused(refusal));
        match parse(&answer)? {
            (ScriptCode::Donated, record) => {
                Transfer::parse(from, to, record).map(Donated::Units).ok_or_else(|| unexpected(&answer))
            }
            (ScriptCode::SoldOut, rest) => Ok(Donated::Nothing(sold_out(rest, &answer)?)),
            (ScriptCode::NotOpen, at) => refused(Reserve::NotOpen(moment(at, &answer)?)),
            (ScriptCode::Closed, _) => refused(Reserve::Closed),
            (ScriptCode::Paused, _) => refused(Reserve::Paused),
            (ScriptCode::UnknownSale, _) => Ok(Donated::UnknownSale),
            _ => Err(unexpected(&answer)),
        }
    }

    /// Adds the units of a transfer to the user's home lane, once, and takes one of them for the user.
    pub async fn accept(
        self,
        transfer: &Transfer,
        uuid: Uuid,
        user: &UserId,
        class: BuyerClass,
    ) -> Result<Reserve, StockError> {
        let keys = self.keys_in(transfer.to);
        let call = ACCEPT.keys(keys.of_reserve()).key(keys.transfers());
        let call = call.arg((user.as_str(), uuid.as_simple().to_string(), lead_ms(class)));
        let call = call.arg((transfer.from.index(), transfer.id)).arg(transfer.range_texts());
        let answer = call.invoke_async(self.connection).await?;
        read_reserve(keys, user, &answer)
    }

    /// Adds the units of a transfer to the receiving lane, once. Returns `false` if Redis does not have that lane.
    pub async fn take_in(self, transfer: &Transfer) -> Result<bool, StockError> {
        let keys = self.keys_in(transfer.to);
        let call = TAKE_IN.keys([keys.sale(), keys.free(), keys.transfers()]);
        let call = call.arg((transfer.from.index(), transfer.id, u8::from(transfer.in_cooldown)));
        let codes = [ScriptCode::Accepted, ScriptCode::UnknownSale];
        Ok(call.arg(transfer.range_texts()).one_of(self.connection, &codes).await? == ScriptCode::Accepted)
    }

    pub async fn close_transfer(self, transfer: &Transfer) -> Result<(), StockError> {
        let call =
            CLOSE_TRANSFER.keys([self.keys_in(transfer.from).transfers()]).arg((transfer.to.index(), transfer.id));
        call.one_of(self.connection, &[ScriptCode::TransferClosed]).await.map(drop)
    }

    /// The open transfers of every lane that answers. Fails if a script's answer is invalid.
    pub async fn open_transfers(self) -> Result<Vec<Transfer>, StockError> {
        if self.lanes <= 1 {
            return Ok(Vec::new());
        }
        Ok(self.known_transfers().await?.into_iter().flat_map(|(_, transfers)| transfers.open).collect())
    }

    /// What each lane that answers has in its `transfers:{tag}`.
    pub(crate) async fn known_transfers(self) -> Result<Vec<(Lane, LaneTransfers)>, StockError> {
        let mut known = Vec::new();
        let transfers = join_all(Lane::all(self.lanes).map(|lane| self.transfers_of(lane))).await;
        for (lane, transfers) in Lane::all(self.lanes).zip(transfers) {
            match transfers {
                Ok(transfers) => known.push((lane, transfers)),
                Err(error) if error.is_away() => {
                    tracing::warn!(error = &error as &dyn std::error::Error, "could not read a lane's transfers");
                }
                Err(error) => return Err(error),
            }
        }
        Ok(known)
    }

    /// How many transfers the lanes have begun since they were loaded.
    pub async fn transfers_given(self) -> Result<u32, StockError> {
        let mut given = 0;
        for lane in Lane::all(self.lanes).filter(|_| self.lanes > 1) {
            given += self.transfers_of(lane).await?.given;
        }
        Ok(given)
    }

    /// Finishes a transfer that may have been left half done. Returns `false` if Redis has lost the receiving lane. Can
    /// be repeated, and can run concurrently with the process that began it.
    pub async fn finish(self, transfer: &Transfer) -> Result<bool, StockError> {
        let done = self.take_in(transfer).await?;
        if done {
            self.close_transfer(transfer).await?;
        }
        Ok(done)
    }

    /// Claims a lane that Redis has lost, and returns the load's number. A later claim takes over the load.
    pub(crate) async fn claim_lane(
        self,
        lane: Lane,
        expires_at_ms: EpochMs,
        present: &[(Lane, LaneTransfers)],
    ) -> Result<Option<ClaimedLane>, StockError> {
        let floor = present.iter().map(|(_, transfers)| transfers.unheard()).max().unwrap_or_default();
        let args = ["claim".to_owned(), expires_at_ms.0.to_string(), floor.to_string(), CLOCKS_DIFFER_US.to_string()];
        let answer = self.only(lane).run_load(Uuid::nil(), &args).await?;
        match parse(&answer)? {
            (ScriptCode::Claimed, number) => {
                let number = number.parse().map_err(|_| unexpected(&answer))?;
                Ok(Some(ClaimedLane { lane, number }))
            }
            (ScriptCode::Present, _) => Ok(None),
            _ => Err(unexpected(&answer)),
        }
    }

    /// Makes a lane refuse everything that these gave before they were claimed. Returns `false` if Redis has lost it.
    pub(crate) async fn fence(self, lane: Lane, against: &[ClaimedLane]) -> Result<bool, StockError> {
        let keys = self.keys_in(lane);
        let mut call = FENCE.keys([keys.sale(), keys.transfers()]);
        for claimed in against {
            call = call.arg(claimed.lane.index()).arg(claimed.number);
        }
        let codes = [ScriptCode::Fenced, ScriptCode::UnknownSale];
        Ok(call.one_of(self.connection, &codes).await? == ScriptCode::Fenced)
    }

    /// Records that no lane is short: an audit that began with `counters` found no unit in no place, and none moved.
    pub async fn note_complete(self, counters: &Counters) -> Result<(), StockError> {
        for (lane, counters) in Lane::all(self.lanes).zip(&counters.lanes) {
            let Some(short) = counters.short else { continue };
            let keys = self.keys_in(lane);
            let call = COMPLETE.keys([keys.sale(), keys.transfers()]).arg((counters.epoch_ms.0, short));
            let codes = [ScriptCode::Completed, ScriptCode::Moved, ScriptCode::UnknownSale];
            call.one_of(self.connection, &codes).await?;
        }
        Ok(())
    }

    pub(crate) async fn transfers_of(self, lane: Lane) -> Result<LaneTransfers, StockError> {
        let key = self.keys_in(lane).transfers();
        let fields: HashMap<String, String> = self.connection.ask(redis::cmd("HGETALL").arg(&key)).await?;
        let mut transfers = LaneTransfers::default();
        for (field, value) in fields {
            let read = match field.split_once(':') {
                Some(("to", index)) => index.parse().ok().and_then(|index| {
                    let to = Lane::new(index, self.lanes);
                    transfers.open.push(Transfer::parse(lane, to, &value)?);
                    Some(())
                }),
                Some(("from", index)) => index.parse().ok().zip(value.parse().ok()).map(|(index, id)| {
                    transfers.taken.insert(index, id);
                }),
                _ if field == "dealt" => value.parse().ok().map(|dealt| transfers.dealt = dealt),
                _ if field == "given" => value.parse().ok().map(|given| transfers.given = given),
                _ if field == "last" => value.parse().ok().map(|last| transfers.last = last),
                _ if field == "short" => value.parse().ok().map(|short| transfers.short = Some(short)),
                _ => Some(()),
            };
            read.ok_or_else(|| unexpected(&value))?;
        }
        Ok(transfers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A lane that Redis has lost may have begun transfers of which only the ids that others took are left.
    #[test]
    fn a_load_is_numbered_above_all_that_a_lane_may_have_begun() {
        assert_eq!(LaneTransfers::default().unheard(), 0);
        let known = |last, short, taken: &[(u16, u64)]| {
            LaneTransfers { last, short, taken: taken.iter().copied().collect(), ..LaneTransfers::default() }.unheard()
        };
        let highest = [known(7, Some(3), &[(1, 5)]), known(3, Some(7), &[(1, 5)]), known(3, None, &[(1, 7), (2, 5)])];
        assert_eq!(highest, [7 + MOST_UNHEARD; 3]);
    }
}
