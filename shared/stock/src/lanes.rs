//! Finds a unit in the other lanes of a round when nothing is left in one.

use std::cmp::Reverse;
use std::time::Duration;

use futures::future::join_all;
use sale::{EpochMs, Lane, Reservation};
use tokio::time::timeout;

use crate::lanes_seen::{RoundSeen, Stamp};
use crate::reservations::Buyer;
use crate::script::AVAILABILITY;
use crate::script_code::{parse, unexpected};
use crate::transfers::{DonateFor, Donated};
use crate::{COOLDOWN_MS, Refused, Reseated, Reserve, RoundStock, ScriptCode, SoldOut, StockError, WinsSeen};

/// The longest search for a unit in the other lanes, including the wait for other requests' searches. It leaves a
/// request of nine seconds time for its message.
const SEARCH_TIMEOUT: Duration = Duration::from_secs(4);
/// How often a search reads all lanes. Every unsuccessful round has seen units move.
const MAX_READS: usize = 8;

#[derive(Debug, Clone, PartialEq, Eq)]
struct LaneAvailability {
    lane: Lane,
    free: u32,
    /// For how long none of its units is sold.
    wait: Duration,
    open: u32,
    /// Whether it may lack units that it had before Redis lost it. Those count as on their way.
    is_short: bool,
    /// The id of the latest transfer that it took from any lane.
    heard: u64,
    wins: WinsSeen,
    /// Changes whenever its free units do.
    state: String,
}

impl LaneAvailability {
    fn parse(lane: Lane, text: &str) -> Option<Self> {
        let mut words = text.split(' ');
        let parsed = Self {
            lane,
            free: words.next()?.parse().ok()?,
            wait: Duration::from_millis(words.next()?.parse().ok()?),
            open: words.next()?.parse().ok()?,
            is_short: words.next()? != "0",
            heard: words.next()?.parse().ok()?,
            wins: WinsSeen::at(EpochMs(words.next()?.parse().ok()?)),
            state: words.next()?.to_owned(),
        };
        words.next().is_none().then_some(parsed)
    }

    const fn sells(&self) -> bool {
        self.free > 0 && self.wait.is_zero()
    }
}

struct RoundAvailability {
    at: Stamp,
    lanes: Vec<LaneAvailability>,
    has_lost: bool,
    failed: Option<StockError>,
}

impl RoundAvailability {
    fn donors(&self, home: Lane, may_give: impl Fn(&LaneAvailability) -> bool) -> Vec<Lane> {
        let mut donors: Vec<&LaneAvailability> =
            self.lanes.iter().filter(|each| each.lane != home && may_give(each)).collect();
        donors.sort_by_key(|each| Reverse(each.free));
        donors.into_iter().map(|each| each.lane).collect()
    }

    fn of(&self, lane: Lane) -> Option<&LaneAvailability> {
        self.lanes.iter().find(|each| each.lane == lane)
    }

    fn heard_by(&self, lane: Lane) -> u64 {
        self.of(lane).map_or(0, |each| each.heard)
    }

    /// Whether all lanes are known, none has what `is_left` looks for, and nothing is on its way.
    fn have_nothing(&self, is_left: impl Fn(&LaneAvailability) -> bool) -> bool {
        self.show_nothing(is_left) && !self.lanes.iter().any(|each| each.is_short)
    }

    /// Whether all that is left to do is to wait until reconciliation has found the units of lanes that are short.
    fn are_only_short(&self, is_left: impl Fn(&LaneAvailability) -> bool) -> bool {
        self.show_nothing(is_left) && self.lanes.iter().any(|each| each.is_short)
    }

    fn show_nothing(&self, is_left: impl Fn(&LaneAvailability) -> bool) -> bool {
        self.failed.is_none() && !self.has_lost && self.lanes.iter().all(|each| each.open == 0 && !is_left(each))
    }

    fn is_as(&self, other: &Self) -> bool {
        self.lanes.iter().map(|each| &each.state).eq(other.lanes.iter().map(|each| &each.state))
    }

    fn sold_out(&self) -> SoldOut {
        let wins: Vec<WinsSeen> = self.lanes.iter().map(|each| each.wins).collect();
        let full = Duration::from_millis(COOLDOWN_MS.into());
        let waits = self.lanes.iter().filter(|each| each.free > 0).map(|each| each.wait);
        let lasts = waits.fold(full, Duration::min);
        SoldOut { wins: WinsSeen::of_all(&wins), lasts, next_release_ms: None }
    }
}

impl RoundStock<'_> {
    /// Takes a unit of another lane for a user whose home lane has none.
    ///
    /// A successful search moves half of a lane's units to this one, so the next buyers find them at home. In a process
    /// one request searches at a time; those that waited get its refusal, or try at home again. It remembers for up to
    /// a second that nobody can get a unit, which is less than the cooldown of returned units.
    pub(crate) async fn reserve_elsewhere(self, buyer: Buyer<'_>) -> Result<Reserve, StockError> {
        let seen = self.seen.of(self.id);
        let searching = seen.search_in_turn(self.reserve_at_home(buyer), self.search_lanes(&seen, buyer));
        timeout(self.connection.limit(SEARCH_TIMEOUT), searching).await.unwrap_or(Err(StockError::OnTheWay))
    }

    async fn search_lanes(self, seen: &RoundSeen, buyer: Buyer<'_>) -> Result<Reserve, StockError> {
        let Buyer { uuid, user, class } = buyer;
        let home = Lane::home_of(user, self.lanes);
        for _ in 0..MAX_READS {
            let availability = self.availability().await?;
            // If a lane is unknown, what is sent to it may arrive too late.
            let Some(at_home) = availability.of(home) else {
                return availability.failed.map_or(Ok(Reserve::UnknownSale), Err);
            };
            // Somebody else has moved some here meanwhile.
            if at_home.sells() {
                match self.reserve_at_home(buyer).await? {
                    Reserve::SoldOut(_) => {}
                    answer => return Ok(answer),
                }
            }
            let donors = availability.donors(home, LaneAvailability::sells);
            let had_donors = !donors.is_empty();
            let (mut refusal, heard) = (None, availability.heard_by(home));
            for donor in donors {
                let transfer = match self.donate_above(heard, donor, home, DonateFor::Buyer(class)).await? {
                    Donated::Units(transfer) => transfer,
                    Donated::Nothing(_) | Donated::UnknownSale => continue,
                    // Lanes get new terms one after the other, so what one lane says may not hold for the others yet.
                    Donated::Refused(refused) => {
                        refusal = Some(refused);
                        continue;
                    }
                };
                // Left by a search to which the cooldown did not apply.
                if transfer.in_cooldown {
                    self.finish(&transfer).await?;
                    continue;
                }
                let answer = self.accept(&transfer, uuid, user, class).await?;
                if answer == Reserve::UnknownSale {
                    return Ok(answer);
                }
                // It is done. If its record stays, the next search removes it.
                if let Err(error) = self.close_transfer(&transfer).await {
                    tracing::warn!(error = &error as &dyn std::error::Error, ?transfer, "a transfer stays recorded");
                }
                if !matches!(answer, Reserve::SoldOut(_)) {
                    return Ok(answer);
                }
            }
            if let Some(refusal) = refusal {
                return Ok(refusal);
            }
            if had_donors {
                continue;
            }
            if availability.are_only_short(LaneAvailability::sells) {
                return Err(StockError::OnTheWay);
            }
            if availability.have_nothing(LaneAvailability::sells) {
                if let Some(sold_out) = self.sold_out_still(seen, &availability).await? {
                    return Ok(Reserve::SoldOut(sold_out));
                }
            } else if !self.finish_what_is_open(availability, home).await? {
                return Ok(Reserve::UnknownSale);
            }
        }
        Err(StockError::OnTheWay)
    }

    /// That nobody can get a unit, if the lanes are as they were: then there was a time at which none had any.
    async fn sold_out_still(
        self,
        seen: &RoundSeen,
        availability: &RoundAvailability,
    ) -> Result<Option<SoldOut>, StockError> {
        let again = self.availability().await?;
        if !again.is_as(availability) || !again.have_nothing(LaneAvailability::sells) {
            return Ok(None);
        }
        let sold_out = availability.sold_out();
        seen.note_sold_out(availability.at, sold_out);
        // Counted from that read.
        Ok(Some(seen.sold_out().unwrap_or(SoldOut { lasts: Duration::ZERO, ..sold_out })))
    }

    /// Whether nobody can get a unit, for a user who found none at home and does not want one yet. `None` if somebody
    /// may get one, or nobody can tell; that is also remembered for a moment.
    pub(crate) async fn is_sold_out_elsewhere(self) -> Result<Option<SoldOut>, StockError> {
        let seen = self.seen.of(self.id);
        let _searching = seen.searching.lock().await;
        if let Some(sold_out) = seen.sold_out() {
            return Ok(Some(sold_out));
        }
        if seen.may_have_units() {
            return Ok(None);
        }
        let availability = self.availability().await?;
        if availability.have_nothing(LaneAvailability::sells)
            && let Some(sold_out) = self.sold_out_still(&seen, &availability).await?
        {
            return Ok(Some(sold_out));
        }
        seen.note_units(Stamp::now());
        Ok(None)
    }

    pub(crate) async fn reseat_elsewhere(
        self,
        reservation: &Reservation,
        refused: Refused,
    ) -> Result<Reseated, StockError> {
        let searching = Box::pin(self.search_for_reservation(reservation, refused));
        timeout(self.connection.limit(SEARCH_TIMEOUT), searching).await.unwrap_or(Err(StockError::OnTheWay))
    }

    async fn search_for_reservation(self, reservation: &Reservation, refused: Refused) -> Result<Reseated, StockError> {
        let is_left = |each: &LaneAvailability| each.free > 0;
        for _ in 0..MAX_READS {
            let availability = self.availability().await?;
            let Some(at_home) = availability.of(reservation.lane) else {
                return availability.failed.map_or(Ok(Reseated::UnknownSale), Err);
            };
            if is_left(at_home)
                && let Some(reseated) = self.reseat_at_home(reservation, refused).await?
            {
                return Ok(reseated);
            }
            for donor in availability.donors(reservation.lane, is_left) {
                let heard = availability.heard_by(reservation.lane);
                if let Donated::Units(transfer) =
                    self.donate_above(heard, donor, reservation.lane, DonateFor::Reseat).await?
                {
                    self.finish(&transfer).await?;
                    if let Some(reseated) = self.reseat_at_home(reservation, refused).await? {
                        return Ok(reseated);
                    }
                }
            }
            if availability.are_only_short(is_left) {
                return Err(StockError::OnTheWay);
            }
            if availability.have_nothing(is_left) {
                let again = self.availability().await?;
                if again.is_as(&availability) && again.have_nothing(is_left) {
                    return Ok(Reseated::NoUnit);
                }
            } else if !self.finish_what_is_open(availability, reservation.lane).await? {
                // The lane may be loaded again, or not if the round is over.
                return Ok(Reseated::UnknownSale);
            }
        }
        Err(StockError::OnTheWay)
    }

    /// Finishes transfers that other processes began and may have left, except those of a lane that does not answer.
    /// Returns whether to look again, which is pointless if no units came to `home` and Redis has lost a lane. Fails if
    /// no units came and a lane does not answer.
    async fn finish_what_is_open(self, availability: RoundAvailability, home: Lane) -> Result<bool, StockError> {
        let mut came = false;
        for each in availability.lanes.iter().filter(|each| each.open > 0) {
            let open = match self.transfers_of(each.lane).await {
                Ok(transfers) => transfers.open,
                Err(error) if error.is_away() => continue,
                Err(error) => return Err(error),
            };
            for transfer in open {
                match self.finish(&transfer).await {
                    Ok(done) => came |= done && transfer.to == home,
                    Err(error) if error.is_away() => {}
                    Err(error) => return Err(error),
                }
            }
        }
        match availability.failed {
            Some(error) if !came => Err(error),
            _ => Ok(came || !availability.has_lost),
        }
    }

    /// Reads all lanes concurrently. Fails if a script's answer is invalid. A lane that does not answer is unknown.
    async fn availability(self) -> Result<RoundAvailability, StockError> {
        let at = Stamp::now();
        let asked = join_all(Lane::all(self.lanes).map(|lane| self.availability_of(lane))).await;
        let mut availability = RoundAvailability { at, lanes: Vec::new(), has_lost: false, failed: None };
        for each in asked {
            match each {
                Ok(Some(each)) => availability.lanes.push(each),
                Ok(None) => availability.has_lost = true,
                Err(error @ StockError::Answer(..)) => return Err(error),
                Err(error) => availability.failed = Some(error),
            }
        }
        Ok(availability)
    }

    async fn availability_of(self, lane: Lane) -> Result<Option<LaneAvailability>, StockError> {
        let keys = self.keys_in(lane);
        let answer = AVAILABILITY.keys([keys.sale(), keys.transfers()]).invoke_async(self.connection).await?;
        match parse(&answer)? {
            (ScriptCode::Availability, rest) => {
                LaneAvailability::parse(lane, rest).map(Some).ok_or_else(|| unexpected(&answer))
            }
            (ScriptCode::UnknownSale, _) => Ok(None),
            _ => Err(unexpected(&answer)),
        }
    }
}
