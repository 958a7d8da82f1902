use std::collections::HashSet;
use std::ops::RangeInclusive;

use futures::FutureExt;
use futures::future::join_all;
use range_set_blaze::RangeSetBlaze;
use sale::{EpochMs, Lane, StoredReservation, Unit, UserId};

use crate::connection::PAGE;
use crate::lane_keys::LaneKeys;
use crate::record::read_record;
use crate::script_code::{parse_range, unexpected};
use crate::transfers::{ClaimedLane, LaneTransfers};
use crate::{Counters, RoundStock, StockError};

/// How often the buyers are read until none has been missed.
const SCANS: usize = 5;
/// How often counters without a free unit are read, until two reads in a row are the same.
const MAX_READS: usize = 8;

#[derive(Debug, Clone, Default)]
pub struct RoundView {
    /// The counters, read first: a unit that is handed out while the rest is read is still free in this view.
    pub counters: Counters,
    /// Units to hand out, now or once they become available, from the counters and the set.
    pub free: Vec<RangeInclusive<u32>>,
    pub reservations: Vec<StoredReservation>,
    pub outbox: usize,
    /// Whether nothing moved while several lanes were read; then no unit is missing. One lane's `moves` tell that.
    pub held_still: bool,
    /// Lanes that did not answer; their units are missing here.
    pub unreachable: Vec<Lane>,
    pub lost: Vec<Lane>,
}

#[derive(Debug, Clone, Default)]
pub struct PartialCounters {
    /// The counters of the lanes that Redis has and that answer. `None` if there are no such lanes.
    pub counters: Option<Counters>,
    pub lost: Vec<Lane>,
    pub away: Vec<Lane>,
}

impl PartialCounters {
    pub const fn are_all(&self) -> bool {
        self.lost.is_empty() && self.away.is_empty()
    }

    pub fn of_all(self) -> Option<Counters> {
        let are_all = self.are_all();
        self.counters.filter(|_| are_all)
    }

    pub fn unknown(&self) -> Vec<u16> {
        let mut unknown: Vec<u16> = self.lost.iter().chain(&self.away).map(|lane| lane.index()).collect();
        unknown.sort_unstable();
        unknown
    }
}

pub(crate) struct LaneView {
    pub(crate) lane: Lane,
    pub(crate) view: RoundView,
    pub(crate) transfers: LaneTransfers,
}

#[derive(Default)]
pub(crate) struct LaneViews {
    pub(crate) views: Vec<LaneView>,
    pub(crate) lost: Vec<Lane>,
    /// Lanes that did not answer, and the last error.
    pub(crate) unreachable: Vec<Lane>,
    failed: Option<StockError>,
    /// Whether all lanes answered and nothing moved while they were read.
    pub(crate) held_still: bool,
    /// Whether a lane was loaded or lost while they were read.
    pub(crate) was_loaded: bool,
}

/// What shows whether a lane has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LaneState {
    Loaded { epoch_ms: EpochMs, moves: u32 },
    Lost,
    Unreachable,
}

impl LaneState {
    /// Whether the lane was loaded or lost between the two, as far as is known.
    fn was_loaded(self, before: Self) -> bool {
        match (before, self) {
            (Self::Unreachable, _) | (_, Self::Unreachable) | (Self::Lost, Self::Lost) => false,
            (Self::Loaded { epoch_ms: before, .. }, Self::Loaded { epoch_ms, .. }) => epoch_ms != before,
            _ => true,
        }
    }
}

impl LaneViews {
    /// Units that left one lane and are in no other. Excludes units on their way to a lost lane.
    pub(crate) fn on_the_way(&self) -> impl Iterator<Item = RangeInclusive<u32>> {
        let open = self.views.iter().flat_map(|lane| &lane.transfers.open).filter(|transfer| {
            let recipient = self.views.iter().find(|lane| lane.lane == transfer.to);
            recipient.is_some_and(|lane| !lane.transfers.has_taken(transfer))
        });
        open.flat_map(|transfer| transfer.ranges.iter().cloned())
    }
}

/// The counters of a round with several lanes, from each known lane and from the transfers that left it. Units that are
/// free or on their way count as returned.
fn of_all(of_lanes: u16, known: Vec<(Lane, Counters, LaneTransfers)>) -> Counters {
    // New units belong to the first lane, so it knows how many there are.
    let first_lane = known.iter().find(|(lane, ..)| lane.index() == 0);
    let others = || known.iter().map(|(_, _, transfers)| transfers.dealt).max();
    let total = first_lane.map(|(_, _, transfers)| transfers.dealt).or_else(others).unwrap_or_default();
    let of = |lane: Lane| known.iter().find(|(other, ..)| *other == lane).map(|(_, _, transfers)| transfers);
    let open = known.iter().flat_map(|(_, _, transfers)| &transfers.open);
    let on_the_way = open.filter(|open| of(open.to).is_some_and(|recipient| !recipient.has_taken(open)));
    let on_the_way: u32 = on_the_way.flat_map(|open| &open.ranges).map(count).sum();
    // Unknown lanes count as empty.
    let mut all = vec![Counters { next_unit: 1, ..Counters::default() }; usize::from(of_lanes)];
    let mut lanes = Vec::with_capacity(known.len());
    for (lane, counters, transfers) in known {
        let counters = Counters { short: transfers.short, ..counters };
        if let Some(place) = all.get_mut(usize::from(lane.index())) {
            place.clone_from(&counters);
        }
        lanes.push(counters);
    }
    let first = lanes.first().cloned().unwrap_or_default();
    Counters {
        next_unit: total + 1,
        last_unit: total,
        returned: lanes.iter().map(Counters::free).sum::<u32>() + on_the_way,
        moves: lanes.iter().fold(0, |moves: u32, lane| moves.wrapping_add(lane.moves)),
        last_won_at_ms: lanes.iter().map(|lane| lane.last_won_at_ms).max().unwrap_or(first.last_won_at_ms),
        paused: lanes.iter().all(|lane| lane.paused),
        closes_at_ms: lanes.iter().map(|lane| lane.closes_at_ms).max().unwrap_or(first.closes_at_ms),
        epoch_ms: lanes.iter().map(|lane| lane.epoch_ms).max().unwrap_or(first.epoch_ms),
        expires_at_ms: lanes.iter().map(|lane| lane.expires_at_ms).max().unwrap_or(first.expires_at_ms),
        version: lanes.iter().map(|lane| lane.version).min().unwrap_or(first.version),
        cooldown_until_ms: lanes.iter().map(|lane| lane.cooldown_until_ms).max().unwrap_or(first.cooldown_until_ms),
        short: lanes.iter().find_map(|lane| lane.short),
        lanes: all,
        in_set: None,
        ..first
    }
}

fn count(range: &RangeInclusive<u32>) -> u32 {
    range.end() + 1 - range.start()
}

impl RoundView {
    fn of_all(of_lanes: u16, read: LaneViews) -> Self {
        let mut free: Vec<RangeInclusive<u32>> = read.on_the_way().collect();
        let (mut reservations, mut outbox, mut lanes) = (Vec::new(), 0, Vec::new());
        let held_still = read.held_still && read.lost.is_empty();
        for LaneView { lane, view, transfers } in read.views {
            free.extend(view.free);
            reservations.extend(view.reservations);
            outbox += view.outbox;
            lanes.push((lane, view.counters, transfers));
        }
        let (unreachable, lost) = (read.unreachable, read.lost);
        Self { counters: of_all(of_lanes, lanes), free, reservations, outbox, held_still, unreachable, lost }
    }

    /// Units that can be handed out twice, since two lanes have them. At most `most`.
    pub fn free_twice(&self, most: usize) -> Vec<Unit> {
        let mut sorted = self.free.clone();
        sorted.sort_unstable_by_key(|range| (*range.start(), *range.end()));
        let (mut twice, mut covered) = (Vec::new(), 0);
        for range in sorted {
            let overlap = *range.start()..=covered.min(*range.end());
            twice.extend(overlap.map(Unit).take(most - twice.len()));
            covered = covered.max(*range.end());
        }
        twice
    }

    /// Those of these units that nobody holds and no lane can hand out.
    pub fn in_no_place(&self, units: Vec<Unit>) -> Vec<Unit> {
        let held =
            self.reservations.iter().filter(|stored| stored.state.is_live()).map(|stored| stored.reservation.unit);
        let held: HashSet<Unit> = held.collect();
        let free: RangeSetBlaze<u32> = self.free.iter().collect();
        units.into_iter().filter(|unit| !held.contains(unit) && !free.contains(unit.0)).collect()
    }
}

impl RoundStock<'_> {
    /// The counters, if Redis has the round with all of its lanes. Fails if Redis or one of the lanes does not answer,
    /// or if units keep moving between lanes, none of which has any.
    pub async fn counters(self) -> Result<Option<Counters>, StockError> {
        let (known, failed) = self.read_partial_counters().await?;
        failed.map_or_else(|| Ok(known.of_all()), Err)
    }

    /// Like [`RoundStock::counters`], but without the lanes that do not answer or that Redis has lost, as long as one
    /// answers. Their units do not count as free. Fails if no lane answers.
    pub async fn partial_counters(self) -> Result<PartialCounters, StockError> {
        let (known, failed) = self.read_partial_counters().await?;
        match failed {
            Some(error) if known.counters.is_none() && known.lost.is_empty() => Err(error),
            _ => Ok(known),
        }
    }

    /// The counters of the user's home lane, or `None` if Redis does not have it. One call.
    pub async fn counters_at_home(self, user: &UserId) -> Result<Option<Counters>, StockError> {
        self.only(Lane::home_of(user, self.lanes)).counters_of_lane().await
    }

    /// The known counters, and why a lane is unknown. Lanes are read concurrently, so a unit may change its lane
    /// meanwhile: that none is free is only true if no lane changes until all are read.
    async fn read_partial_counters(self) -> Result<(PartialCounters, Option<StockError>), StockError> {
        if !self.is_of_lanes() {
            let counters = self.counters_of_lane().await?;
            let lost = if counters.is_none() { vec![self.lane()] } else { Vec::new() };
            return Ok((PartialCounters { counters, lost, away: Vec::new() }, None));
        }
        // Boxed: it is for few rounds, and its futures are large.
        self.read_partial_counters_of_lanes().boxed().await
    }

    async fn read_partial_counters_of_lanes(self) -> Result<(PartialCounters, Option<StockError>), StockError> {
        for _ in 0..MAX_READS {
            let (mut known, mut failed, mut read) = (PartialCounters::default(), None, Vec::new());
            let lanes: Vec<_> = Lane::all(self.lanes).map(|lane| self.read_counters(lane)).collect();
            let lanes = join_all(lanes).await;
            for (lane, answer) in Lane::all(self.lanes).zip(lanes) {
                match answer {
                    Ok(Some(counters)) => read.push(counters),
                    Ok(None) => known.lost.push(lane),
                    Err(error) if error.is_away() => {
                        known.away.push(lane);
                        failed = Some(error);
                    }
                    Err(error) => return Err(error),
                }
            }
            let as_read: Vec<Counters> = read.iter().map(|(_, counters, _)| counters.clone()).collect();
            known.counters = (!read.is_empty()).then(|| of_all(self.lanes, read));
            let has_none = known.counters.as_ref().is_some_and(|counters| counters.free() == 0);
            if !has_none || !known.are_all() || self.are_still(&as_read).await? {
                return Ok((known, failed));
            }
        }
        Err(StockError::OnTheWay)
    }

    async fn read_counters(self, lane: Lane) -> Result<Option<(Lane, Counters, LaneTransfers)>, StockError> {
        let Some(counters) = self.only(lane).counters_of_lane().await? else { return Ok(None) };
        Ok(Some((lane, counters, self.transfers_of(lane).await?)))
    }

    async fn are_still(self, as_read: &[Counters]) -> Result<bool, StockError> {
        let now: Vec<_> = self.each_lane().map(Self::counters_of_lane).collect();
        let now = join_all(now).await;
        let same = now.into_iter().zip(as_read).map(|(now, before)| Ok(now?.as_ref() == Some(before)));
        same.into_iter().try_fold(true, |all, same: Result<bool, StockError>| Ok(all && same?))
    }

    pub(crate) async fn counters_of_lane(self) -> Result<Option<Counters>, StockError> {
        let bytes: Option<Vec<u8>> = self.connection.ask(redis::cmd("GET").arg(self.keys().sale())).await?;
        let Some(bytes) = bytes else { return Ok(None) };
        Counters::unpack(&bytes).map(Some).ok_or_else(|| unexpected("the sale's counters"))
    }

    /// Whether the round of these counters is over by Redis's clock, which decides. `false` if Redis has lost it since.
    ///
    /// Its keys expire a fixed time after its end, so their remaining time tells without a script. If the end changes,
    /// the expiry moves by as much. Fails if Redis does not answer, or the keys never expire.
    pub async fn is_over(self, counters: &Counters) -> Result<bool, StockError> {
        let left_ms: i64 = self.connection.ask(redis::cmd("PTTL").arg(self.keys().sale())).await?;
        match left_ms {
            -2 => Ok(false),
            0.. => Ok(left_ms <= counters.expires_at_ms.0 - counters.closes_at_ms.0),
            _ => Err(unexpected("keys that never expire")),
        }
    }

    /// Everything that Redis says about the round, if it has it. Read in pages, so it is only exact while nobody buys.
    /// If no unit has moved meanwhile, no unit is missing.
    pub async fn view(self) -> Result<Option<RoundView>, StockError> {
        self.view_if(|views| views.unreachable.is_empty(), |views| views.lost.is_empty()).await
    }

    /// Like [`RoundStock::view`], but without the lanes that do not answer or that Redis has lost, as long as there is
    /// one. With a lost lane `held_still` is false, and the lane's units are in no place. Fails if no lane answers.
    pub async fn view_of_reachable(self) -> Result<Option<RoundView>, StockError> {
        self.view_if(|views| !views.views.is_empty(), |views| !views.views.is_empty()).await
    }

    /// Of several lanes, if enough answer, and there are enough.
    async fn view_if(
        self,
        answer: impl Fn(&LaneViews) -> bool,
        are_there: impl Fn(&LaneViews) -> bool,
    ) -> Result<Option<RoundView>, StockError> {
        if !self.is_of_lanes() {
            return self.view_of_lane().await;
        }
        let mut views = self.fenced_views().await?;
        match views.failed.take().filter(|_| !answer(&views)) {
            Some(error) => Err(error),
            None => Ok(are_there(&views).then(|| RoundView::of_all(self.lanes, views))),
        }
    }

    /// Reads the lanes once none accepts what a lost lane gave: some may not have answered while it was loaded.
    async fn fenced_views(self) -> Result<LaneViews, StockError> {
        let known = self.known_transfers().await?;
        let short: Vec<ClaimedLane> = known
            .iter()
            .filter_map(|(lane, transfers)| Some(ClaimedLane { lane: *lane, number: transfers.short? }))
            .collect();
        let mut all_know = short.is_empty() || known.len() == usize::from(self.lanes);
        for (lane, transfers) in &known {
            let is_news = |claimed: &&ClaimedLane| {
                claimed.lane != *lane && !transfers.has_taken_from(claimed.lane, claimed.number)
            };
            let news: Vec<ClaimedLane> = short.iter().filter(is_news).copied().collect();
            if !news.is_empty() {
                match self.fence(*lane, &news).await {
                    Ok(knows) => all_know &= knows,
                    Err(error) if error.is_away() => all_know = false,
                    Err(error) => return Err(error),
                }
            }
        }
        let mut read = self.lane_views().await?;
        read.held_still &= all_know;
        Ok(read)
    }

    /// Reads the lanes one by one, and then checks whether anything moved. Fails if a script's answer is invalid.
    pub(crate) async fn lane_views(self) -> Result<LaneViews, StockError> {
        let mut read = LaneViews { held_still: true, ..LaneViews::default() };
        let before = self.lane_states(&[], &mut read.failed).await?;
        for (lane, state) in Lane::all(self.lanes).zip(&before) {
            let reading = async {
                let Some(view) = self.only(lane).view_of_lane().await? else { return Ok(None) };
                Ok(Some(LaneView { lane, view, transfers: self.transfers_of(lane).await? }))
            };
            // Skipped, since it would cost another timeout.
            if *state == LaneState::Unreachable {
                read.unreachable.push(lane);
                continue;
            }
            match reading.await {
                Ok(Some(view)) => read.views.push(view),
                Ok(None) => read.lost.push(lane),
                Err(error) if StockError::is_away(&error) => {
                    read.unreachable.push(lane);
                    read.failed = Some(error);
                }
                Err(error) => return Err(error),
            }
        }
        let after = self.lane_states(&read.unreachable, &mut read.failed).await?;
        for (before, after) in before.into_iter().zip(after) {
            read.held_still &= after == before;
            read.was_loaded |= after.was_loaded(before);
        }
        read.held_still &= read.unreachable.is_empty();
        Ok(read)
    }

    /// Skips lanes that are known to be `unreachable`, since each would cost a timeout.
    async fn lane_states(
        self,
        unreachable: &[Lane],
        failed: &mut Option<StockError>,
    ) -> Result<Vec<LaneState>, StockError> {
        let ask = async |lane: Lane| {
            if unreachable.contains(&lane) { Ok(None) } else { self.only(lane).counters_of_lane().await.map(Some) }
        };
        let states = join_all(Lane::all(self.lanes).map(ask)).await.into_iter().map(|read| match read {
            Ok(Some(Some(Counters { epoch_ms, moves, .. }))) => Ok(LaneState::Loaded { epoch_ms, moves }),
            Ok(Some(None)) => Ok(LaneState::Lost),
            Ok(None) => Ok(LaneState::Unreachable),
            Err(error) if error.is_away() => {
                *failed = Some(error);
                Ok(LaneState::Unreachable)
            }
            Err(error) => Err(error),
        });
        states.collect()
    }

    async fn view_of_lane(self) -> Result<Option<RoundView>, StockError> {
        let keys = self.keys();
        let Some(mut counters) = self.counters_of_lane().await? else { return Ok(None) };
        let mut free = self.free_ranges(&keys.free()).await?;
        // Whatever changes the set counts as a move.
        let after = self.counters_of_lane().await?.map(|after| (after.epoch_ms, after.moves));
        counters.in_set = (after == Some((counters.epoch_ms, counters.moves))).then(|| free.iter().map(count).sum());
        // Units that are still to become available are free.
        if counters.next_unit <= counters.total() {
            free.push(counters.next_unit..=counters.total());
        }
        let reservations = self.all_reservations(keys).await?;
        let outbox = self.connection.ask(redis::cmd("LLEN").arg(keys.outbox())).await?;
        Ok(Some(RoundView { counters, free, reservations, outbox, held_still: true, ..RoundView::default() }))
    }

    async fn free_ranges(self, key: &str) -> Result<Vec<RangeInclusive<u32>>, StockError> {
        let mut free = Vec::new();
        for start in (0..).step_by(PAGE) {
            let page: Vec<String> =
                self.connection.ask(redis::cmd("ZRANGE").arg(key).arg(start).arg(start + PAGE - 1)).await?;
            for range in &page {
                free.push(parse_range(range).ok_or_else(|| unexpected(range))?);
            }
            if page.len() < PAGE {
                break;
            }
        }
        Ok(free)
    }

    async fn all_reservations(self, keys: LaneKeys<'_>) -> Result<Vec<StoredReservation>, StockError> {
        let key = &keys.buyers();
        for _ in 0..SCANS {
            let at_least: usize = self.connection.ask(redis::cmd("HLEN").arg(key)).await?;
            let records = self.connection.fields::<String>(key).await?;
            // A block that ended took a record away, or the node is another now, to which the cursor meant nothing.
            if records.len() < at_least {
                continue;
            }
            let mut reservations = Vec::with_capacity(records.len());
            for (user, record) in records {
                let user: UserId = user.parse().map_err(|_| unexpected(&user))?;
                reservations.extend(read_record(keys, &user, &record)?);
            }
            return Ok(reservations);
        }
        Err(unexpected("fewer buyers than there are"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two lanes may have the same units.
    #[test]
    fn a_unit_of_a_long_range_is_free_although_a_short_range_begins_after_it() {
        let view = RoundView { free: vec![50..=60, 1..=100], held_still: true, ..RoundView::default() };
        assert_eq!(view.in_no_place([40, 55, 70, 101].map(Unit).to_vec()), [Unit(101)]);
    }
}
