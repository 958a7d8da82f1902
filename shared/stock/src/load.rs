use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use futures::future::join_all;
use range_set_blaze::RangeSetBlaze;
use sale::{EpochMs, Lane, Reservation, ReservationState, Round, Terms, UserId};
use uuid::Uuid;

use crate::record::write_reservation;
use crate::script::{AMEND, LOAD};
use crate::script_code::{parse, range_text, unexpected};
use crate::transfers::{ClaimedLane, LaneTransfers, fields_of_lost};
use crate::view::{LaneView, LaneViews};
use crate::{RoundStock, ScriptCode, StockError};

/// How many buyers, or ranges of units, a call of the script writes at most: keeps the script to about a millisecond.
const PER_PAGE: usize = 500;
/// How often the lanes that Redis has are read until nothing moves meanwhile.
const READINGS: usize = 5;
/// How often a load is begun until no lane is lost meanwhile.
const BEGINNINGS: usize = 3;
/// How long a round's keys outlive the last payment of its orders, in seconds: time to investigate.
const KEYS_OUTLIVE_ORDERS_S: u32 = 24 * 60 * 60;

/// How long nobody else asks for a lane to be loaded again, in ms: until refused clients come back.
const ASKED_FOR_MS: u32 = 1_000;

#[derive(Debug, Clone)]
pub struct RoundLoad {
    pub terms: Terms,
    pub paused: bool,
    pub version: u32,
    /// When this load began, which distinguishes it from all others.
    pub epoch_ms: EpochMs,
    pub taken: Vec<Reservation>,
    pub blocked: Vec<(UserId, EpochMs)>,
}

fn expires_at_ms(terms: &Terms) -> EpochMs {
    terms.closes_at_ms.plus_s(terms.payment_window_s).plus_s(KEYS_OUTLIVE_ORDERS_S)
}

fn plan(terms: &Terms) -> String {
    terms.rain_plan().map_or(String::new(), |plan| plan.to_string())
}

/// How many units the quota of a round with these terms has, and until when.
fn quota(terms: &Terms) -> (u32, EpochMs) {
    terms.quota().unwrap_or((0, EpochMs(0)))
}

struct LaneUnits {
    /// The next unit that was never handed out, and the last unit.
    next: u32,
    last: u32,
    gaps: Vec<RangeInclusive<u32>>,
    /// With several lanes: the number of the load, and the initial fields of transfers.
    transfers: Option<(u64, String)>,
}

struct BegunLoad {
    claimed: Vec<ClaimedLane>,
    /// Whether every other lane now refuses transfers from these.
    are_all_fenced: bool,
}

impl RoundLoad {
    /// What each of these lanes gets of the units up to `total` that are not `taken`: those it was dealt originally,
    /// and for the first lane also those that other lanes had. So a process that finds the first lane loaded, and
    /// others still lost, deals the rest in the same way.
    fn deal(lanes: &[Lane], dealt: u32, total: u32, taken: &RangeSetBlaze<u32>) -> Vec<(Lane, LaneUnits)> {
        let of_lanes = lanes.first().map_or(1, |lane| lane.lanes());
        let parts = Lane::all(of_lanes).map(|lane| {
            let (first, last) = lane.dealt(dealt);
            (lane, first..=last.min(total))
        });
        // Units added later belong to the first lane.
        let added = (Lane::new(0, of_lanes), dealt + 1..=total);
        let mut units = vec![RangeSetBlaze::new(); lanes.len()];
        for (owner, part) in parts.chain([added]) {
            let at = lanes.iter().position(|lane| *lane == owner).unwrap_or_default();
            if let Some(units) = units.get_mut(at) {
                *units |= RangeSetBlaze::from_iter([part]) - taken;
            }
        }
        let of_lane = |units: RangeSetBlaze<u32>| {
            let mut gaps: Vec<_> = units.into_ranges().collect();
            // The last range was never handed out.
            let (next, last) = gaps.pop().map_or((1, 0), RangeInclusive::into_inner);
            LaneUnits { next, last, gaps, transfers: None }
        };
        lanes.iter().copied().zip(units.into_iter().map(of_lane)).collect()
    }

    /// The units to hand out: gaps between taken ones, and the first unit that was never handed out.
    fn free(&self) -> (Vec<RangeInclusive<u32>>, u32) {
        let taken: RangeSetBlaze<u32> = self.taken.iter().map(|reservation| reservation.unit.0).collect();
        let last = taken.last().unwrap_or(0);
        let gaps = RangeSetBlaze::from_iter([1..=last]) - taken;
        (gaps.into_ranges().collect(), last.saturating_add(1))
    }

    fn records(&self, of: Lane) -> BTreeMap<&UserId, String> {
        let mut records: BTreeMap<&UserId, String> = BTreeMap::new();
        let reservations = self
            .taken
            .iter()
            .map(|reservation| (&reservation.user, write_reservation(reservation, ReservationState::Ordered)));
        let notes = self.blocked.iter().map(|(user, until)| (user, format!("b {}", until.0)));
        let is_home = |user: &UserId| of.lanes() == 1 || Lane::home_of(user, of.lanes()) == of;
        for (user, part) in reservations.chain(notes).filter(|(user, _)| is_home(user)) {
            let record = records.entry(user).or_default();
            if !record.is_empty() {
                record.push(';');
            }
            record.push_str(&part);
        }
        records
    }
}

impl RoundStock<'_> {
    /// Whether the round is loaded in all lanes. If Redis has lost one, it does not matter whether the others answer.
    pub async fn is_loaded(self) -> Result<bool, StockError> {
        let is_loaded =
            async |lane: Self| self.connection.ask::<bool>(redis::cmd("EXISTS").arg(lane.keys().sale())).await;
        let lanes = join_all(self.each_lane().map(is_loaded)).await;
        if lanes.iter().any(|lane| matches!(lane, Ok(false))) {
            return Ok(false);
        }
        lanes.into_iter().try_fold(true, |all, lane| Ok(all && lane?))
    }

    /// Whether this is the first call of a second for the user's home lane, to ask for a rebuild. Kept in the Redis that
    /// lost the lane, so it is there as soon as a rebuild can begin.
    pub async fn is_first_to_ask(self, user: &UserId) -> Result<bool, StockError> {
        let mut set = redis::cmd("SET");
        set.arg(self.home_of(user).asked()).arg(1).arg("NX").arg("PX").arg(ASKED_FOR_MS);
        Ok(self.connection.ask::<Option<String>>(&set).await?.is_some())
    }

    /// Creates the round's keys if it has none. Returns whether it had none; a loaded round is never overwritten.
    pub async fn load(self, round: &RoundLoad) -> Result<bool, StockError> {
        let (gaps, next) = round.free();
        let units = LaneUnits { next, last: round.terms.total, gaps, transfers: None };
        match self.load_lane(round, units).await? {
            ScriptCode::Loaded => Ok(true),
            ScriptCode::Present => Ok(false),
            // Redis was lost once more during the load.
            ScriptCode::Overtaken => Err(StockError::OnTheWay),
            other => Err(unexpected(other.as_str())),
        }
    }

    /// Creates the keys of lanes that Redis does not have. Returns whether it did; a loaded lane stays.
    ///
    /// If Redis has none of the lanes, each gets its part of the `dealt` units, and the first one also the units added
    /// since, as far as they are not taken. Otherwise the missing lanes get what is neither taken nor in the other
    /// lanes nor on its way between them. That is only known if all of those answer, and nothing moves while they are
    /// read. If not, the missing lanes are created without units and marked as short, until reconciliation has found
    /// their units in no place.
    ///
    /// Before that the lanes are claimed, so that of two processes that load them the later one succeeds; then the
    /// other lanes are made to refuse everything that the lost lanes gave. The model of lanes has these steps. Fails if
    /// no lost lane can be loaded, or somebody else loads one meanwhile. Can be repeated, and can run concurrently.
    pub async fn load_lanes(self, round: &RoundLoad, dealt: u32) -> Result<bool, StockError> {
        for beginning in 0..BEGINNINGS {
            let Some(begun) = self.begin_load(round).await? else { return Ok(false) };
            // An answer may have been lost.
            if beginning == 0 && !begun.are_all_fenced {
                continue;
            }
            let mut read = self.lane_views().await?;
            for _ in 1..READINGS {
                if read.held_still || read.was_loaded || !read.unreachable.is_empty() {
                    break;
                }
                read = self.lane_views().await?;
            }
            // As above.
            if beginning == 0 && !read.unreachable.is_empty() {
                continue;
            }
            let is_claimed = |lane: &Lane| begun.claimed.iter().any(|claimed| claimed.lane == *lane);
            if !read.lost.iter().all(is_claimed) {
                continue;
            }
            let is_there = |view: &LaneView| is_claimed(&view.lane);
            if read.was_loaded || read.views.iter().any(is_there) {
                break;
            }
            return self.load_claimed(round, dealt, &begun, &read).await;
        }
        // Somebody else is loading it.
        Err(StockError::OnTheWay)
    }

    /// Claims the lanes that Redis has lost, and makes the others refuse what those gave. `None` if it has lost none.
    async fn begin_load(self, round: &RoundLoad) -> Result<Option<BegunLoad>, StockError> {
        let glance = async |lane: Lane| {
            let key = self.keys_in(lane).sale();
            let is_there: bool = self.connection.ask(redis::cmd("EXISTS").arg(key)).await?;
            Ok::<_, StockError>(if is_there { Some(self.transfers_of(lane).await?) } else { None })
        };
        let (mut present, mut lost, mut failed): (Vec<(Lane, LaneTransfers)>, _, _) = (Vec::new(), Vec::new(), None);
        for (lane, glance) in Lane::all(self.lanes).zip(join_all(Lane::all(self.lanes).map(glance)).await) {
            match glance {
                Ok(Some(transfers)) => present.push((lane, transfers)),
                Ok(None) => lost.push(lane),
                Err(error) if error.is_away() => failed = Some(error),
                Err(error) => return Err(error),
            }
        }
        let mut claimed = Vec::new();
        for lane in lost {
            match self.claim_lane(lane, expires_at_ms(&round.terms), &present).await {
                Ok(Some(lane)) => claimed.push(lane),
                Ok(None) => return Err(StockError::OnTheWay),
                Err(error) if error.is_away() => failed = Some(error),
                Err(error) => return Err(error),
            }
        }
        if claimed.is_empty() {
            return failed.map_or(Ok(None), Err);
        }
        let mut are_all_fenced = failed.is_none();
        for (lane, _) in &present {
            match self.fence(*lane, &claimed).await {
                // A lane lost meanwhile will be noticed later.
                Ok(_) => {}
                Err(error) if error.is_away() => are_all_fenced = false,
                Err(error) => return Err(error),
            }
        }
        Ok(Some(BegunLoad { claimed, are_all_fenced }))
    }

    async fn load_claimed(
        self,
        round: &RoundLoad,
        dealt: u32,
        begun: &BegunLoad,
        read: &LaneViews,
    ) -> Result<bool, StockError> {
        // Added units are dealt by the first lane, once it has the new terms.
        let first_lane = read.views.iter().find(|lane| lane.lane == Lane::new(0, self.lanes));
        let total = first_lane.map_or(round.terms.total, |lane| lane.transfers.dealt);
        let only = |reservation: &Reservation| reservation.unit.0..=reservation.unit.0;
        let views = || read.views.iter().map(|lane| &lane.view);
        let free = views().flat_map(|view| view.free.iter().cloned());
        let live = views().flat_map(|view| &view.reservations).filter(|stored| stored.state.is_live());
        let reservations = round.taken.iter().chain(live.map(|stored| &stored.reservation)).map(only);
        let taken: RangeSetBlaze<u32> = reservations.chain(free).chain(read.on_the_way()).collect();
        let present: Vec<_> = read.views.iter().map(|lane| (lane.lane, &lane.transfers)).collect();
        let is_short = !read.held_still || !begun.are_all_fenced;
        let mut loaded = false;
        for (lane, mut units) in RoundLoad::deal(&read.lost, dealt, total, &taken) {
            let Some(claimed) = begun.claimed.iter().find(|claimed| claimed.lane == lane) else { continue };
            if is_short {
                units = LaneUnits { next: 1, last: 0, gaps: Vec::new(), ..units };
            }
            let fields = fields_of_lost(*claimed, total, is_short, &present, &begun.claimed, &read.unreachable);
            units.transfers = Some((claimed.number, fields));
            match self.only(lane).load_lane(round, units).await? {
                ScriptCode::Loaded => loaded = true,
                ScriptCode::Present | ScriptCode::Overtaken => return Err(StockError::OnTheWay),
                other => return Err(unexpected(other.as_str())),
            }
        }
        Ok(loaded)
    }

    async fn load_lane(self, round: &RoundLoad, units: LaneUnits) -> Result<ScriptCode, StockError> {
        let loading = Uuid::new_v4();
        let expires_at = expires_at_ms(&round.terms).0;
        let records: Vec<(&UserId, String)> = round.records(self.keys().lane).into_iter().collect();
        for page in records.chunks(PER_PAGE) {
            let mut args = vec!["buyers".to_owned(), expires_at.to_string()];
            args.extend(page.iter().flat_map(|(user, record)| [user.as_str().to_owned(), record.clone()]));
            if self.load_step(loading, &args).await? == ScriptCode::Present {
                return Ok(ScriptCode::Present);
            }
        }
        let LaneUnits { next, last, gaps, transfers } = units;
        for page in gaps.chunks(PER_PAGE) {
            let mut args = vec!["free".to_owned(), expires_at.to_string()];
            args.extend(page.iter().map(range_text));
            if self.load_step(loading, &args).await? == ScriptCode::Present {
                return Ok(ScriptCode::Present);
            }
        }
        let returned: u32 = gaps.iter().map(|gap| gap.end() - gap.start() + 1).sum();
        let Terms { opens_at_ms, closes_at_ms, per_user_limit, .. } = &round.terms;
        let mut args = vec!["open".to_owned(), expires_at.to_string()];
        args.extend([next, last, returned, u32::from(*per_user_limit), u32::from(round.paused)].map(|n| n.to_string()));
        args.extend([opens_at_ms, closes_at_ms, &round.epoch_ms].map(|ms| ms.0.to_string()));
        args.extend([round.version.to_string(), round.terms.door.unpaid_limit.to_string(), plan(&round.terms)]);
        // How much a group had used before Redis lost the round is unknown: the group has its whole quota again, as far
        // as units are left.
        let (quota, quota_until_ms) = quota(&round.terms);
        let free = returned + (last + 1).saturating_sub(next);
        args.extend([quota_until_ms.0.to_string(), quota.min(free).to_string()]);
        args.extend([records.len(), gaps.len()].map(|staged| staged.to_string()));
        args.extend(transfers.into_iter().flat_map(|(number, fields)| [number.to_string(), fields]));
        self.load_step(loading, &args).await
    }

    /// Applies the round's current terms, if it is loaded. An older version changes nothing.
    pub async fn amend(self, round: &Round) -> Result<(), StockError> {
        // All lanes, even if one fails.
        join_all(self.each_lane().map(|lane| lane.amend_lane(round))).await.into_iter().collect()
    }

    async fn amend_lane(self, round: &Round) -> Result<(), StockError> {
        let (keys, (_, quota_until_ms)) = (self.keys(), quota(&round.terms));
        let call = AMEND.keys(keys.of_reserve());
        let call = if self.lanes > 1 { call.key(keys.transfers()) } else { call };
        let Terms { total, opens_at_ms, closes_at_ms, door, .. } = &round.terms;
        let call = call.arg((round.version, *total, u8::from(round.paused), opens_at_ms.0, closes_at_ms.0)).arg((
            expires_at_ms(&round.terms).0,
            door.unpaid_limit,
            plan(&round.terms),
            quota_until_ms.0,
        ));
        let call = if self.lanes > 1 { call.arg(u8::from(keys.lane.index() == 0)) } else { call };
        let codes = [ScriptCode::Amended, ScriptCode::Present, ScriptCode::UnknownSale];
        call.one_of(self.connection, &codes).await.map(drop)
    }

    async fn load_step(self, loading: Uuid, args: &[String]) -> Result<ScriptCode, StockError> {
        Ok(parse(&self.run_load(loading, args).await?)?.0)
    }

    pub(crate) async fn run_load(self, loading: Uuid, args: &[String]) -> Result<String, StockError> {
        let keys = self.keys();
        let call = LOAD.keys(keys.of_reserve()).key(keys.staged(loading)).key(keys.blocked());
        let call = call.key(keys.staged_blocked(loading)).key(keys.staged_free(loading));
        let call = if self.lanes > 1 { call.key(keys.transfers()).key(keys.loading()) } else { call };
        call.arg(args).invoke_async(self.connection).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One process finds the first lost lane loaded by another one, which then ends.
    #[test]
    fn who_goes_on_deals_as_who_began() {
        let lost = |indexes: &[u16]| indexes.iter().map(|index| Lane::new(*index, 4)).collect::<Vec<_>>();
        let units = |deals: Vec<(Lane, LaneUnits)>| {
            let all = deals.into_iter().map(|(lane, LaneUnits { next, last, gaps, .. })| {
                (lane, gaps.into_iter().chain(std::iter::once(next..=last)).filter(|range| !range.is_empty()).collect())
            });
            all.collect::<Vec<(Lane, Vec<RangeInclusive<u32>>)>>()
        };
        // Lane 0 exists, with 31 to 40. Nobody has 1 to 30, which it was dealt, or any unit of the others.
        let mut taken = RangeSetBlaze::from_iter([31..=40]);
        let mut all = units(RoundLoad::deal(&lost(&[1, 2, 3]), 400, 404, &taken));
        assert_eq!(all[0].1, [1..=30, 41..=200, 401..=404]);
        taken.extend(all.remove(0).1);
        assert_eq!(units(RoundLoad::deal(&lost(&[2, 3]), 400, 404, &taken)), all);
    }
}
