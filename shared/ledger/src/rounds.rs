use aws_sdk_dynamodb::operation::update_item::builders::UpdateItemFluentBuilder;
use aws_sdk_dynamodb::types::{ReturnValue, TransactWriteItem};
use sale::{EpochMs, LogEntry, Offer, Refusal, Round, RoundId};
use uuid::Uuid;

use crate::calls::{Conditional, Write, Written, has_failed};
use crate::item::{from_item, number, text};
use crate::offers::{Latest, TRIES, UpdateOutcome, is_for_good};
use crate::published::RoundChange;
use crate::round_item::{in_place_of, round_item};
use crate::{Ledger, LedgerError, keys};

/// The index of the condition on the draw in the transaction that changes a round's terms.
const DRAW: usize = 1;
/// How far the end of a loader's time may be away, in seconds. A later one comes from a wrong clock, and nobody waits
/// for it.
const FAR_S: u32 = 60;
/// How long the item that names a round's loader is kept after it was written, in seconds: longer than clocks differ.
const KEPT_AFTER_S: u32 = 60 * 60;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Begun {
    Now(Box<Round>),
    /// There is none to begin: another run began it, the sale does not recur, or the round is not over.
    Not,
    NeverAgain,
}

impl Ledger {
    pub async fn round(&self, id: &RoundId) -> Result<Option<Round>, LedgerError> {
        self.read(keys::round(id)).await
    }

    /// Changes the round with this id, on the condition that it has not changed since it was read and is the sale's
    /// latest one. A request whose key is in the logs of offer and round changes nothing.
    ///
    /// Guards against: concurrent operators (each reads what the other wrote); a repeated request after another one;
    /// the beginning of the next round meanwhile, which is a new version of this one. The round is read before the
    /// offer: if it is the latest one then, it also was when it was read. Also guards against the draw at the end of
    /// the round, which may have begun by another clock: its terms must not change then. Fails if others change the
    /// round all the time. Can be repeated with the same key.
    pub async fn update_round(
        &self,
        id: &RoundId,
        request: &LogEntry,
        change: impl Fn(Round, &Offer) -> Result<Round, Refusal>,
    ) -> Result<UpdateOutcome, LedgerError> {
        for _ in 0..TRIES {
            let latest = match self.to_update(id, request).await? {
                Ok(found) => found,
                Err(outcome) => return Ok(outcome),
            };
            let Latest { offer, round: Some(read) } = &latest else {
                return Ok(UpdateOutcome::Refused(Refusal::Draft));
            };
            let mut round = match change(read.clone(), offer) {
                Ok(changed) if changed == *read && is_for_good(request) => {
                    return Ok(UpdateOutcome::Made(Box::new(latest)));
                }
                Ok(changed) => Round { version: read.version + 1, ..changed },
                Err(refusal) => return Ok(UpdateOutcome::Refused(refusal)),
            };
            round.log.push(request.clone());
            let mut writes = vec![self.replacing(in_place_of(read, &round)?)];
            if read.terms.allocation.is_drawn_at_end() && round.terms != read.terms {
                writes.push(self.unless_drawn(id));
            }
            match self.transact_named(&RoundChange::of(&round), writes).await? {
                None => return Ok(UpdateOutcome::Made(Box::new(Latest { round: Some(round), ..latest }))),
                Some(reasons) if has_failed(&reasons, DRAW) => return Ok(UpdateOutcome::Refused(Refusal::Over)),
                Some(_) => {}
            }
        }
        Err(LedgerError::Contended(format!("round {id} is changed by others all the time")))
    }

    /// Begins the round after `over`, with a seed if it has awards, on the condition that `over` is the latest one,
    /// that neither it nor the offer has changed since they were read, and that the new one does not exist: all or
    /// nothing. The finished round gets a new version.
    ///
    /// Guards against: concurrent runs; an operator who pauses the round (the new one is then paused too) or ends the
    /// recurrence at the same time; one who changes the old round, by its old version, once the new one has begun.
    /// Fails if others change offer or round all the time.
    pub async fn begin_next(&self, over: &RoundId, now: EpochMs) -> Result<Begun, LedgerError> {
        for _ in 0..TRIES {
            let Some(latest) = self.latest(&over.sale).await? else { return Ok(Begun::Not) };
            let Latest { offer, round: Some(ended) } = &latest else { return Ok(Begun::Not) };
            if ended.id != *over || offer.recurrence.is_none() {
                return Ok(Begun::Not);
            }
            let (mut next_offer, mut next) = match offer.clone().begin_next(ended, now) {
                Ok(begun) => begun,
                Err(Refusal::NotOver) => return Ok(Begun::Not),
                Err(_) => return Ok(Begun::NeverAgain),
            };
            next_offer.version += 1;
            next.log.push(by_schedule("begin", now));
            let mut writes = vec![
                self.replacing(crate::offers::in_place_of(offer, &next_offer)?),
                self.replacing(in_place_of(ended, &Round { version: ended.version + 1, ..ended.clone() })?),
            ];
            writes.extend(self.beginning(&mut next, now)?);
            if self.transact_named(&RoundChange::of(&next), writes).await?.is_none() {
                return Ok(Begun::Now(Box::new(next)));
            }
        }
        Err(LedgerError::Contended(format!("round {over} is changed by others all the time")))
    }

    /// The writes of a round that begins, of the seed of its awards and of its line, to which it is committed then.
    pub(crate) fn beginning(&self, round: &mut Round, now: EpochMs) -> Result<Vec<TransactWriteItem>, LedgerError> {
        let seed = self.commit(round, now)?;
        let line = Self::commit_line(round)?.map(|item| self.put_if_absent(item));
        Ok([self.put_if_absent(round_item(round)?)].into_iter().chain(seed).chain(line).collect())
    }

    /// Records that a round may be in Redis from now on, unless that was recorded before. Returns the round as it is
    /// then; its units can never become fewer again. `None` if it does not exist.
    ///
    /// Guards against an edit of the units during the load: whichever is written second sees the other.
    pub async fn mark_loaded(&self, id: &RoundId, now: EpochMs) -> Result<Option<Round>, LedgerError> {
        mark(self.update(keys::round(id), "SET loaded_at_ms = if_not_exists(loaded_at_ms, :now)"), now).await
    }

    /// The same with several lanes. The first mark records how many units are dealt, so that every load deals alike.
    pub async fn mark_dealt(&self, id: &RoundId, now: EpochMs) -> Result<Option<Round>, LedgerError> {
        let marks = "SET loaded_at_ms = if_not_exists(loaded_at_ms, :now), dealt = if_not_exists(dealt, #total)";
        mark(self.update(keys::round(id), marks).expression_attribute_names("#total", "total"), now).await
    }

    /// Lets `loader` alone load the round until this time. Also renews, or gives back. Returns whether it may.
    ///
    /// Guards against two that load at once: whoever comes second finds the first one's time. A loader that dies gives
    /// way when its time ends. Here and not in Redis, which may be lost again while the round is loaded.
    pub async fn let_load(
        &self,
        round: &RoundId,
        loader: Uuid,
        now: EpochMs,
        until: EpochMs,
    ) -> Result<bool, LedgerError> {
        let update = self
            .update(keys::loading(round), "SET loader = :loader, until_ms = :until, expires_at = :expires_at")
            .condition_expression("attribute_not_exists(pk) OR until_ms <= :now OR until_ms > :far OR loader = :loader")
            .values([(":until", number(until.0)), (":now", number(now.0)), (":far", number(now.plus_s(FAR_S).0))])
            .values([(":loader", text(loader.as_simple().to_string()))])
            .values([(":expires_at", number(now.plus_s(KEPT_AFTER_S).as_epoch_s()))]);
        Ok(update.write().await?.is_done())
    }
}

async fn mark(update: UpdateItemFluentBuilder, now: EpochMs) -> Result<Option<Round>, LedgerError> {
    let update = update.condition_expression("attribute_exists(version)").values([(":now", number(now.0))]);
    match update.return_values(ReturnValue::AllNew).write().await? {
        Written::Done(round) => from_item(round).map(Some),
        Written::Refused(_) => Ok(None),
    }
}

fn by_schedule(action: &str, now: EpochMs) -> LogEntry {
    let (key, parameters) = (String::new(), String::new());
    LogEntry { key, action: action.to_owned(), parameters, by: None, at_ms: now }
}
