use std::sync::LazyLock;
use std::time::Duration;

use sale::{Lane, Reservation, Round, Sale, SaleId, Unit, UserId};

use crate::code::{parse, unexpected};
use crate::keys::Keys;
use crate::load::expires_at_ms;
use crate::script::Script;
use crate::{Code, Counters, Hold, Stock, StockError};

static DUE: LazyLock<Script> = LazyLock::new(|| Script::new(crate::expanded::DUE));
static ADOPT: LazyLock<Script> = LazyLock::new(|| Script::new(crate::expanded::ADOPT));
static RESTORE: LazyLock<Script> = LazyLock::new(|| Script::new(crate::expanded::RESTORE));
static AMEND: LazyLock<Script> = LazyLock::new(|| Script::new(crate::expanded::AMEND));

/// One look at the front of the outbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Due {
    /// The reservations that it claimed.
    pub reservations: Vec<Reservation>,
    /// Elements that it dealt with. Fewer than it was to look at: nothing else is due.
    pub looked: usize,
    /// Elements that there were.
    pub length: usize,
}

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

/// What became of a sale's new terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amended {
    /// They are in force.
    Now,
    /// They, or newer ones, were in force.
    Before,
    /// Redis has no such round.
    UnknownSale,
}

impl Stock {
    /// Claims held reservations that are at least `wait` old and were not claimed within `wait`, looking at no more than
    /// `most` elements of the outbox. Those whose reservation is no longer held are dropped.
    ///
    /// # Errors
    /// If Redis does not answer.
    pub async fn due(
        &self,
        sale: &SaleId,
        round: Round,
        lane: Lane,
        most: usize,
        wait: Duration,
    ) -> Result<Due, StockError> {
        let keys = Keys::of(sale, round, lane);
        let answer: String = DUE
            .key(keys.buyers)
            .key(keys.outbox)
            .arg(most)
            .arg(wait.as_millis() as u64)
            .invoke_async(&self.connection)
            .await?;
        let (Code::Due, rest) = parse(&answer)? else { return Err(unexpected(&answer)) };
        let (counts, lines) = rest.split_once('\n').ok_or_else(|| unexpected(&answer))?;
        let (looked, length) = counts.split_once(' ').ok_or_else(|| unexpected(&answer))?;
        let count = |text: &str| text.parse().map_err(|_| unexpected(&answer));
        let mut due = Due { looked: count(looked)?, length: count(length)?, reservations: Vec::new() };
        for line in lines.lines() {
            let (user, entries) = line.split_once(' ').ok_or_else(|| unexpected(line))?;
            let user: UserId = user.parse().map_err(|_| unexpected(line))?;
            let holds = Hold::parse_all(entries)?.into_iter();
            due.reservations.extend(holds.map(|hold| hold.into_reservation(sale, round, lane, &user)));
        }
        Ok(due)
    }

    /// Makes Redis know an order that it forgot.
    ///
    /// # Errors
    /// If Redis does not answer. Can be repeated.
    pub async fn adopt(&self, order: &Reservation) -> Result<Adopted, StockError> {
        let Reservation { id, user, lane, unit, slot, reserved_at_ms } = order;
        let keys = Keys::of(&id.sale, id.round, *lane);
        let answer: String = ADOPT
            .key(keys.sale)
            .key(keys.buyers)
            .key(keys.free)
            .arg(user.as_str())
            .arg(id.uuid.as_simple().to_string())
            .arg(slot.0)
            .arg(unit.0)
            .arg(reserved_at_ms.0)
            .invoke_async(&self.connection)
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
    pub async fn restore(
        &self,
        sale: &SaleId,
        round: Round,
        lane: Lane,
        units: &[Unit],
        counters: &Counters,
    ) -> Result<Restored, StockError> {
        let keys = Keys::of(sale, round, lane);
        let units: Vec<u32> = units.iter().map(|unit| unit.0).collect();
        let answer: String = RESTORE
            .key(keys.sale)
            .key(keys.free)
            .arg(counters.moves)
            .arg(counters.epoch_ms.0)
            .arg(units)
            .invoke_async(&self.connection)
            .await?;
        match parse(&answer)?.0 {
            Code::Restored => Ok(Restored::Now),
            Code::Moved => Ok(Restored::Moved),
            Code::UnknownSale => Ok(Restored::UnknownSale),
            _ => Err(unexpected(&answer)),
        }
    }

    /// Brings a live round to the terms of its sale.
    ///
    /// # Errors
    /// If Redis does not answer. Can be repeated, and an older version changes nothing.
    pub async fn amend(&self, sale: &Sale, lane: Lane) -> Result<Amended, StockError> {
        let keys = Keys::of(&sale.id, sale.round, lane);
        let answer: String = AMEND
            .key(keys.sale)
            .key(keys.buyers)
            .key(keys.free)
            .key(keys.outbox)
            .arg(sale.version)
            .arg(sale.terms.total)
            .arg(u8::from(sale.paused))
            .arg(sale.terms.opens_at_ms.0)
            .arg(sale.terms.closes_at_ms.0)
            .arg(expires_at_ms(&sale.terms).0)
            .arg(sale.terms.door.unpaid_limit)
            .invoke_async(&self.connection)
            .await?;
        match parse(&answer)?.0 {
            Code::Amended => Ok(Amended::Now),
            Code::Present => Ok(Amended::Before),
            Code::UnknownSale => Ok(Amended::UnknownSale),
            _ => Err(unexpected(&answer)),
        }
    }
}
