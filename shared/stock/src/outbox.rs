//! The outbox: reservations that no order has confirmed yet, so that their messages can be sent again.

use std::time::Duration;

use futures::future::try_join_all;
use sale::{EpochMs, Reservation, ReservationState, UserId};

use crate::connection::PAGE;
use crate::lane_keys::LaneKeys;
use crate::record::read_record;
use crate::script::DUE;
use crate::script_code::{parse, unexpected};
use crate::{RoundStock, ScriptCode, StockError};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Due {
    pub reservations: Vec<Reservation>,
    /// How many elements were handled. If fewer than requested, nothing else is due.
    pub read: usize,
    pub length: usize,
    /// When what it found is due again. Pass it as `sent` to the next call once all of these messages are in the queue.
    pub due_at_ms: EpochMs,
}

impl RoundStock<'_> {
    /// Takes held reservations that are at least `wait` old and were not taken within `wait`, from the first `most`
    /// elements of the outbox. For one lane only: see [`RoundStock::each_lane`]. Drops those no longer held.
    ///
    /// A reservation that was taken is taken again after `wait`. Once `sent` has named the call that took it, by its
    /// [`Due::due_at_ms`], its message is in the queue: then it is taken again only as its age doubles.
    pub async fn due(self, most: usize, wait: Duration, sent: Option<EpochMs>) -> Result<Due, StockError> {
        let keys = self.keys();
        let mut call = DUE.keys([keys.buyers(), keys.outbox()]).arg(most).arg(wait.as_millis() as u64);
        if let Some(sent) = sent {
            call = call.arg(sent.0);
        }
        let answer: String = call.invoke_async(self.connection).await?;
        let (ScriptCode::Due, rest) = parse(&answer)? else { return Err(unexpected(&answer)) };
        let (counts, lines) = rest.split_once('\n').ok_or_else(|| unexpected(&answer))?;
        let [read, length, due_at] = counts.split(' ').collect::<Vec<_>>()[..] else {
            return Err(unexpected(&answer));
        };
        let count = |text: &str| text.parse().map_err(|_| unexpected(&answer));
        let due_at_ms = EpochMs(due_at.parse().map_err(|_| unexpected(&answer))?);
        let mut due = Due { read: count(read)?, length: count(length)?, due_at_ms, reservations: Vec::new() };
        for line in lines.lines() {
            let (user, reservations) = line.split_once(' ').ok_or_else(|| unexpected(line))?;
            let user: UserId = user.parse().map_err(|_| unexpected(line))?;
            due.reservations
                .extend(read_record(keys, &user, reservations)?.into_iter().map(|stored| stored.reservation));
        }
        Ok(due)
    }

    /// When the oldest reservation was made that no order has confirmed, among the first `most` elements of the outbox.
    /// Read in pages, so it is only exact while nothing moves.
    pub async fn held_since(self, most: usize) -> Result<Option<EpochMs>, StockError> {
        let lanes = self.each_lane().map(|lane| lane.held_since_in_lane(most));
        Ok(try_join_all(lanes).await?.into_iter().flatten().min())
    }

    async fn held_since_in_lane(self, most: usize) -> Result<Option<EpochMs>, StockError> {
        let keys = self.keys();
        let (outbox, buyers) = (keys.outbox(), keys.buyers());
        let mut oldest: Option<EpochMs> = None;
        let mut found_first = false;
        for start in (0..most).step_by(PAGE) {
            let end = (start + PAGE).min(most) - 1;
            let page: Vec<String> = self.connection.ask(redis::cmd("LRANGE").arg(&outbox).arg(start).arg(end)).await?;
            let read = page.iter().map(|element| Waiting::parse(element).ok_or_else(|| unexpected(element)));
            let mut elements = read.collect::<Result<Vec<_>, _>>()?;
            // Elements that were never claimed are in order. Each claimed one is older, but can be anywhere.
            elements.retain(|waiting| waiting.was_claimed || !found_first);
            if !elements.is_empty() {
                let users: Vec<&str> = elements.iter().map(|waiting| waiting.user).collect();
                let records: Vec<Option<String>> =
                    self.connection.ask(redis::cmd("HMGET").arg(&buyers).arg(users)).await?;
                for (waiting, record) in elements.iter().zip(records) {
                    if let Some(record) = record
                        && waiting.is_held(keys, &record)?
                    {
                        found_first |= !waiting.was_claimed;
                        oldest = oldest.into_iter().chain([waiting.made_at_ms]).min();
                    }
                }
            }
            if page.len() < PAGE {
                break;
            }
        }
        Ok(oldest)
    }
}

struct Waiting<'a> {
    user: &'a str,
    made_at_ms: EpochMs,
    was_claimed: bool,
}

impl<'a> Waiting<'a> {
    fn parse(element: &'a str) -> Option<Self> {
        let mut fields = element.split(' ');
        let (user, made_at) = (fields.next()?, fields.next()?);
        Some(Self { user, made_at_ms: EpochMs(made_at.parse().ok()?), was_claimed: fields.next().is_some() })
    }

    fn is_held(&self, keys: LaneKeys<'_>, record: &str) -> Result<bool, StockError> {
        let user = self.user.parse().map_err(|_| unexpected(self.user))?;
        let mut held =
            read_record(keys, &user, record)?.into_iter().filter(|stored| stored.state == ReservationState::Held);
        Ok(held.any(|stored| stored.reservation.reserved_at_ms == self.made_at_ms))
    }
}
