use sale::{EpochMs, LogEntry, Offer, Refusal, Round, RoundId, RoundNumber, SaleId, SaleState, Seen};

use crate::calls::{Conditional, Replacement, Write, Written};
use crate::item::{Item, from_item, item_with, read_or_skip, text};
use crate::published::RoundChange;
use crate::{Ledger, LedgerError, keys};

/// How often a change of an offer or a round is tried while others change it too.
pub(crate) const TRIES: usize = 5;
/// Actions that nobody can undo, so repeating one is harmless. A late copy of a pause must not pause again.
const FOR_GOOD: [&str; 2] = ["close", "end_recurrence"];
const SAME_OFFER: &str = "offer_version = :version";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Latest {
    pub offer: Offer,
    pub round: Option<Round>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Created {
    Now(Offer),
    Before(Offer),
    Other(Offer),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UpdateOutcome {
    /// It is made, by this run or an earlier one of the same request; the current offer and round.
    Made(Box<Latest>),
    Refused(Refusal),
    /// The sale's latest round is not the one that the request names, but this one.
    RoundChanged(RoundNumber),
    /// The key was used for another request before; nothing was written.
    KeyReused,
    Unknown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deleted {
    Now,
    NoDraft,
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Withdrawal {
    /// It is withdrawn, by this request or an earlier one; the current offer and round.
    Done(Box<Latest>),
    /// Its round may be in Redis, and must be paused there first.
    ToPause(RoundId),
    Refused(Refusal),
    Unknown,
}

fn offer_item(offer: &Offer) -> Result<Item, LedgerError> {
    // Present if the offer has no round in the list.
    let sale_list = match offer.state {
        SaleState::Draft => Some(keys::DRAFTS),
        SaleState::Published => None,
        SaleState::Withdrawn => Some(keys::WITHDRAWN),
    };
    let sale_list = sale_list.map(|list| ("sale_list", text(list)));
    item_with(offer, [("pk", text(keys::sale(&offer.id)))].into_iter().chain(sale_list))
}

pub(crate) fn is_for_good(request: &LogEntry) -> bool {
    FOR_GOOD.contains(&&*request.action)
}

pub(crate) fn in_place_of(read: &Offer, offer: &Offer) -> Result<Replacement, LedgerError> {
    Ok(Replacement { item: offer_item(offer)?, condition: SAME_OFFER, version: read.version })
}

impl Ledger {
    pub async fn offer(&self, id: &SaleId) -> Result<Option<Offer>, LedgerError> {
        self.read(keys::sale(id)).await
    }

    /// The existing offers of these sales, in their order. Unreadable ones are skipped.
    pub async fn offers(&self, ids: &[SaleId]) -> Result<Vec<Offer>, LedgerError> {
        let pks: Vec<String> = ids.iter().map(keys::sale).collect();
        let items = self.batch_get(&pks).await?.into_iter();
        Ok(items.filter_map(|item| read_or_skip("offer", item)).collect())
    }

    pub async fn latest(&self, id: &SaleId) -> Result<Option<Latest>, LedgerError> {
        let Some(offer) = self.offer(id).await? else { return Ok(None) };
        let round = match offer.state {
            SaleState::Published | SaleState::Withdrawn => {
                let round = self.round(&offer.latest_round_id()).await?;
                Some(round.ok_or_else(|| LedgerError::Contradiction(format!("sale {id} has lost its round")))?)
            }
            SaleState::Draft => None,
        };
        Ok(Some(Latest { offer, round }))
    }

    /// Writes a new offer, on the condition that its id is free.
    pub async fn create_offer(&self, offer: &Offer) -> Result<Created, LedgerError> {
        match self.put_unless_there(offer_item(offer)?).write().await? {
            Written::Done(_) => Ok(Created::Now(offer.clone())),
            Written::Refused(seen) => {
                let seen: Offer = from_item(seen)?;
                let is_withdrawn = seen.state == SaleState::Withdrawn;
                let is_same = !is_withdrawn && seen.terms == offer.terms && seen.recurrence == offer.recurrence;
                Ok(if is_same { Created::Before(seen) } else { Created::Other(seen) })
            }
        }
    }

    /// Publishes a draft, on the condition that it has not changed since it was read, and begins its first round, with
    /// a seed if it has awards: all or none. `None` if there is no such sale. Other sales stay as they are.
    ///
    /// Guards against concurrent operators, and against an edit of the draft meanwhile, which the round would not have.
    /// Fails if others change the draft all the time.
    pub async fn publish(&self, id: &SaleId, request: &LogEntry) -> Result<Option<Latest>, LedgerError> {
        for _ in 0..TRIES {
            let Some(latest) = self.latest(id).await? else { return Ok(None) };
            if latest.offer.state != SaleState::Draft {
                return Ok(Some(latest));
            }
            let (mut offer, mut round) = latest.offer.clone().publish();
            offer.version += 1;
            offer.log.push(request.clone());
            let mut writes = vec![self.replacing(in_place_of(&latest.offer, &offer)?)];
            writes.extend(self.beginning(&mut round, request.at_ms)?);
            if self.transact_named(&RoundChange::of(&round), writes).await?.is_none() {
                return Ok(Some(Latest { offer, round: Some(round) }));
            }
        }
        Err(LedgerError::Contended(format!("sale {id} is changed by others all the time")))
    }

    /// Deletes a draft, on the condition that it is one.
    ///
    /// Guards against a concurrent publication: one of the two fails, so a published sale has its offer.
    pub async fn delete_draft(&self, id: &SaleId) -> Result<Deleted, LedgerError> {
        let delete = self.delete(keys::sale(id)).condition_expression("offer_state = :draft");
        if delete.values([(":draft", text("draft"))]).write().await?.is_done() {
            return Ok(Deleted::Now);
        }
        Ok(if self.offer(id).await?.is_some() { Deleted::NoDraft } else { Deleted::Unknown })
    }

    /// Withdraws a published sale, on the condition that offer and round have not changed since they were read: both or
    /// none. A round that may be in Redis must have the version that is known to be paused there.
    ///
    /// Guards against: a concurrent resume, edit or load of the round; two concurrent withdrawals; the draw at the end
    /// of the round, started by a fast clock. If the round is loaded later, it closes before it opens. Fails if others
    /// change the sale all the time.
    pub async fn withdraw(
        &self,
        id: &SaleId,
        request: &LogEntry,
        now: EpochMs,
        paused_version: Option<u32>,
    ) -> Result<Withdrawal, LedgerError> {
        for _ in 0..TRIES {
            let Some(latest) = self.latest(id).await? else { return Ok(Withdrawal::Unknown) };
            if latest.offer.state == SaleState::Withdrawn {
                return Ok(Withdrawal::Done(Box::new(latest)));
            }
            let Latest { offer: read, round: Some(round) } = &latest else {
                return Ok(Withdrawal::Refused(Refusal::Draft));
            };
            let (mut offer, mut closed) = match read.clone().withdraw(round.clone(), now) {
                Ok(withdrawn) => withdrawn,
                Err(refusal) => return Ok(Withdrawal::Refused(refusal)),
            };
            if round.loaded_at_ms.is_some() && paused_version != Some(round.version) {
                return Ok(Withdrawal::ToPause(round.id.clone()));
            }
            offer.version += 1;
            offer.log.push(request.clone());
            closed.version += 1;
            let mut unlisted = crate::round_item::in_place_of(round, &closed)?;
            unlisted.item.remove("sale_list");
            let mut writes = vec![self.replacing(in_place_of(read, &offer)?), self.replacing(unlisted)];
            if round.terms.allocation.is_drawn_at_end() {
                writes.push(self.unless_drawn(&round.id));
            }
            let change = RoundChange { withdrawn: true, ..RoundChange::of(&closed) };
            if self.transact_named(&change, writes).await?.is_none() {
                return Ok(Withdrawal::Done(Box::new(Latest { offer, round: Some(closed) })));
            }
        }
        Err(LedgerError::Contended(format!("sale {id} is changed by others all the time")))
    }

    /// Changes the offer of this round, which must be its latest one, on the condition that the offer has not changed
    /// since it was read. A request whose key is in the logs of offer and round changes nothing.
    ///
    /// Guards against concurrent operators, a repeated request, and the beginning of the next round, which is a new
    /// version of the offer. Fails if others change it all the time. Can be repeated with its key.
    pub async fn update_offer(
        &self,
        id: &RoundId,
        request: &LogEntry,
        change: impl Fn(Offer) -> Result<Offer, Refusal>,
    ) -> Result<UpdateOutcome, LedgerError> {
        for _ in 0..TRIES {
            let latest = match self.to_update(id, request).await? {
                Ok(found) => found,
                Err(outcome) => return Ok(outcome),
            };
            let read = &latest.offer;
            let mut offer = match change(read.clone()) {
                Ok(changed) if changed == *read && is_for_good(request) => {
                    return Ok(UpdateOutcome::Made(Box::new(latest)));
                }
                Ok(changed) => Offer { version: read.version + 1, ..changed },
                Err(refusal) => return Ok(UpdateOutcome::Refused(refusal)),
            };
            offer.log.push(request.clone());
            if self.replace(in_place_of(read, &offer)?).await? {
                return Ok(UpdateOutcome::Made(Box::new(Latest { offer, ..latest })));
            }
        }
        Err(LedgerError::Contended(format!("sale {} is changed by others all the time", id.sale)))
    }

    /// Reads the offer and the round for a change. `Err` if the request was already carried out or is refused. Looks up
    /// its key in the logs of the offer, of the named round, of the latest round and of the one before that.
    pub(crate) async fn to_update(
        &self,
        id: &RoundId,
        request: &LogEntry,
    ) -> Result<Result<Latest, UpdateOutcome>, LedgerError> {
        let Some((offer, round)) = self.read_named(id).await? else { return Ok(Err(UpdateOutcome::Unknown)) };
        let logs = [Some(&offer.log), round.as_ref().map(|round| &round.log)];
        let seen = logs.into_iter().flatten().map(|log| log.seen(request)).find(|seen| *seen != Seen::No);
        let is_about_latest = offer.state == SaleState::Draft || offer.latest_round == id.number;
        let latest = if is_about_latest {
            Latest { offer, round }
        } else {
            let Some(latest) = self.latest(&id.sale).await? else { return Ok(Err(UpdateOutcome::Unknown)) };
            latest
        };
        let names_another = |round: &Round| round.log.seen(request) != Seen::No;
        Ok(match seen {
            Some(Seen::Same) => Err(UpdateOutcome::Made(Box::new(latest))),
            Some(_) => Err(UpdateOutcome::KeyReused),
            None if latest.offer.state == SaleState::Withdrawn => Err(UpdateOutcome::Refused(Refusal::Withdrawn)),
            None if is_about_latest => match self.round_before(id).await? {
                Some(before) if names_another(&before) => Err(UpdateOutcome::KeyReused),
                _ => Ok(latest),
            },
            None if latest.round.as_ref().is_some_and(names_another) => Err(UpdateOutcome::KeyReused),
            None => Err(UpdateOutcome::RoundChanged(latest.offer.latest_round)),
        })
    }

    /// The round before this one. A client that retries after a round's end may name the next one.
    async fn round_before(&self, RoundId { sale, number }: &RoundId) -> Result<Option<Round>, LedgerError> {
        match number.0.checked_sub(1).filter(|before| *before > 0) {
            Some(before) => self.round(&RoundId { sale: sale.clone(), number: RoundNumber(before) }).await,
            None => Ok(None),
        }
    }

    /// An offer and a round. The round is read first: if it is the offer's latest one then, it was when it was read.
    async fn read_named(&self, id: &RoundId) -> Result<Option<(Offer, Option<Round>)>, LedgerError> {
        for _ in 0..TRIES {
            let round = self.round(id).await?;
            let Some(offer) = self.offer(&id.sale).await? else { return Ok(None) };
            let has_it = offer.state == SaleState::Draft || offer.latest_round != id.number || round.is_some();
            if has_it {
                return Ok(Some((offer, round)));
            }
            // It was published between the two reads.
        }
        Err(LedgerError::Contradiction(format!("sale {} has lost its round", id.sale)))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::item::to_item;

    #[test]
    fn stored_offers_stay_readable_and_are_written_the_same() {
        let stored: Item = to_item(json!({
            "pk": "SALE#lamp", "id": "lamp", "offer_state": "published", "offer_version": 4, "latest_round": 2,
            "recurrence": { "every": "day", "time_zone": "Etc/UTC" },
            "hours": { "date": "1970-01-01", "opens": "00:00:00.001", "closes": "00:00:00.002", "days": 0 }, "log": [{ "action": "publish", "by": "olga", "at_ms": 5 }],
            "title": "A lamp", "opens_at_ms": 1, "closes_at_ms": 2, "total": 7, "per_user_limit": 1, "price_minor": 990,
            "currency": "EUR", "payment_window_s": 900,
            "door": { "violations": 10, "violation_window_s": 600, "blocked_for_s": 3600, "unpaid_limit": 3 },
        }))
        .unwrap();
        let offer: Offer = from_item(stored.clone()).unwrap();
        assert_eq!(offer.latest_round_id().to_string(), "lamp.2");
        assert_eq!(offer_item(&offer).unwrap(), stored);
        for (state, list) in [(SaleState::Draft, "draft"), (SaleState::Withdrawn, "withdrawn")] {
            let item = offer_item(&Offer { state, ..offer.clone() }).unwrap();
            assert_eq!(item.get("sale_list"), Some(&text(list)));
            assert_eq!(from_item::<Offer>(item).unwrap().state, state);
        }
    }
}
