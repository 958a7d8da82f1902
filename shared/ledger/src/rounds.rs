use award::Commitment;
use award::drand::DrandRound;
use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::operation::update_item::builders::UpdateItemFluentBuilder;
use aws_sdk_dynamodb::types::ReturnValue;
use sale::{EpochMs, Log, LogEntry, Offer, Refusal, Round, RoundId, RoundNumber, SaleId, Terms};
use serde::{Deserialize, Serialize};

use crate::conflict::retry_conflicts;
use crate::draws::commitment_text;
use crate::item::{Item, number, text, to_item};
use crate::offers::{Latest, Steered, TRIES, is_for_good};
use crate::orders::has_failed;
use crate::published::RoundChange;
use crate::replace::Replacement;
use crate::{Ledger, LedgerError, keys};

/// The index of the condition on the draw in the transaction that changes a round's terms.
const DRAW: usize = 1;

/// A round as an item.
#[derive(Serialize, Deserialize)]
struct RoundItem {
    pk: String,
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    sale_list: Option<String>,
    /// From the terms, for the index.
    #[serde(skip_deserializing)]
    first_opens_at_ms: Option<EpochMs>,
    sale: SaleId,
    round: RoundNumber,
    version: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    loaded_at_ms: Option<EpochMs>,
    paused: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    isolated_requests_per_s: Option<u32>,
    /// The number of lanes in the terms. Separate from them, since one lane is written too.
    lanes: u16,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    dealt: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "commitment_text")]
    commitment: Option<Commitment>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    drand_round: Option<u64>,
    #[serde(default, skip_serializing_if = "Log::is_empty")]
    log: Log,
    #[serde(flatten)]
    terms: Terms,
}

const fn one_lane() -> u16 {
    1
}

impl From<Round> for RoundItem {
    fn from(round: Round) -> Self {
        let Round { id, version, mut terms, loaded_at_ms, paused, .. } = round;
        let Round { isolated_requests_per_s, dealt, commitment, drand_round, log, .. } = round;
        // Not written with the terms.
        let lanes = std::mem::replace(&mut terms.lanes, one_lane());
        Self {
            pk: keys::round(&id),
            sale_list: Some(keys::published_list(&id.sale)),
            first_opens_at_ms: Some(terms.first_opens_at_ms()),
            sale: id.sale,
            round: id.number,
            version,
            loaded_at_ms,
            paused,
            isolated_requests_per_s,
            lanes,
            dealt,
            commitment,
            drand_round: drand_round.map(|DrandRound(number)| number),
            log,
            terms,
        }
    }
}

impl From<RoundItem> for Round {
    fn from(item: RoundItem) -> Self {
        let RoundItem { sale, round: number, version, mut terms, loaded_at_ms, paused, .. } = item;
        let RoundItem { isolated_requests_per_s, lanes, dealt, commitment, drand_round, log, .. } = item;
        terms.lanes = lanes;
        let drand_round = drand_round.map(DrandRound);
        let id = RoundId { sale, number };
        Self { id, version, terms, loaded_at_ms, paused, isolated_requests_per_s, dealt, commitment, drand_round, log }
    }
}

pub(crate) fn round_from(item: Item) -> Result<Round, LedgerError> {
    Ok(serde_dynamo::from_item::<_, RoundItem>(item)?.into())
}

/// Replaces `read` by `round`. Marking a round as loaded does not change its version, so if it was not loaded when it
/// was read, it still must not be.
pub(crate) fn in_place_of(read: &Round, round: Round) -> Result<Replacement, LedgerError> {
    let condition = match read.loaded_at_ms {
        Some(_) => "version = :version",
        None => "version = :version AND attribute_not_exists(loaded_at_ms)",
    };
    Ok(Replacement { item: round_item(round)?, condition, version: read.version })
}

pub(crate) fn round_item(round: Round) -> Result<Item, LedgerError> {
    to_item(RoundItem::from(round))
}

/// The result of beginning the next round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Begun {
    /// It has begun.
    Now(Box<Round>),
    /// There is none to begin: another run began it, the sale does not recur, or the round is not over.
    Not,
    /// The sale recurs, but has no next window.
    NeverAgain,
}

impl Ledger {
    /// A round, running or over. `None` if it has not begun. A consistent read.
    pub async fn round(&self, id: &RoundId) -> Result<Option<Round>, LedgerError> {
        self.item(keys::round(id)).await?.map(round_from).transpose()
    }

    /// Changes the round with this id, on the condition that it has not changed since it was read and is the sale's
    /// latest one. A request whose key is in the logs of offer and round changes nothing.
    ///
    /// Guards against: concurrent operators (each reads what the other wrote); a repeated request after another one;
    /// the beginning of the next round meanwhile, which is a new version of this one. The round is read before the
    /// offer: if it is the latest one then, it also was when it was read. Also guards against the draw at the end of
    /// the round, which may have begun by another clock: its terms must not change then. Fails if DynamoDB does not
    /// answer, or others change the round all the time. Can be repeated with the same key.
    pub async fn steer_round(
        &self,
        id: &RoundId,
        request: &LogEntry,
        change: impl Fn(Round, &Offer) -> Result<Round, Refusal>,
    ) -> Result<Steered, LedgerError> {
        for _ in 0..TRIES {
            let latest = match self.to_steer(id, request).await? {
                Ok(found) => found,
                Err(steered) => return Ok(steered),
            };
            let Latest { offer, round: Some(read) } = &latest else { return Ok(Steered::Refused(Refusal::Draft)) };
            let mut round = match change(read.clone(), offer) {
                Ok(changed) if changed == *read && is_for_good(request) => return Ok(Steered::Made(Box::new(latest))),
                Ok(changed) => Round { version: read.version + 1, ..changed },
                Err(refusal) => return Ok(Steered::Refused(refusal)),
            };
            round.log.push(request.clone());
            let mut writes = vec![self.replacing(in_place_of(read, round.clone())?)];
            if read.terms.allocation.is_drawn_at_end() && round.terms != read.terms {
                writes.push(self.unless_drawn(id));
            }
            match self.transact_named(&RoundChange::of(&round), writes).await? {
                None => return Ok(Steered::Made(Box::new(Latest { round: Some(round), ..latest }))),
                Some(reasons) if has_failed(&reasons, DRAW) => return Ok(Steered::Refused(Refusal::Over)),
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
    /// Fails if DynamoDB does not answer, or others change offer or round all the time. Can be repeated.
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
            let seed = self.commit(&mut next, now)?;
            let line = Self::commit_line(&next)?;
            let mut writes = vec![
                self.replacing(crate::offers::in_place_of(offer, &next_offer)?),
                self.replacing(in_place_of(ended, Round { version: ended.version + 1, ..ended.clone() })?),
                self.put_if_absent(round_item(next.clone())?),
            ];
            writes.extend(seed);
            writes.extend(line.map(|item| self.put_if_absent(item)));
            if self.transact_named(&RoundChange::of(&next), writes).await?.is_none() {
                return Ok(Begun::Now(Box::new(next)));
            }
        }
        Err(LedgerError::Contended(format!("round {over} is changed by others all the time")))
    }

    /// Records that a round may be in Redis from now on, unless that was recorded before. Returns the round as it is
    /// then; its units can never become fewer again. `None` if it does not exist.
    ///
    /// Guards against an edit of the units during the load: whichever is written second sees the other. Fails if
    /// DynamoDB does not answer. Can be repeated.
    pub async fn mark_loaded(&self, id: &RoundId, now: EpochMs) -> Result<Option<Round>, LedgerError> {
        let update = self.update_round(id).update_expression("SET loaded_at_ms = if_not_exists(loaded_at_ms, :now)");
        mark(update, now).await
    }

    /// The same for a round with several lanes. The first mark also records how many units are dealt to the lanes, so
    /// that every load deals alike. Fails if DynamoDB does not answer. Can be repeated.
    pub async fn mark_dealt(&self, id: &RoundId, now: EpochMs) -> Result<Option<Round>, LedgerError> {
        let marks = "SET loaded_at_ms = if_not_exists(loaded_at_ms, :now), dealt = if_not_exists(dealt, #total)";
        let update = self.update_round(id).update_expression(marks).expression_attribute_names("#total", "total");
        mark(update, now).await
    }

    fn update_round(&self, id: &RoundId) -> UpdateItemFluentBuilder {
        self.client.update_item().table_name(&self.table).key("pk", text(keys::round(id)))
    }
}

/// The round with the mark. `None` if there is no such round.
async fn mark(update: UpdateItemFluentBuilder, now: EpochMs) -> Result<Option<Round>, LedgerError> {
    let update = update
        .condition_expression("attribute_exists(version)")
        .expression_attribute_values(":now", number(now.0))
        .return_values(ReturnValue::AllNew);
    match retry_conflicts(|| update.clone().send()).await.map_err(SdkError::into_service_error) {
        Ok(output) => Ok(Some(round_from(output.attributes.unwrap_or_default())?)),
        Err(UpdateItemError::ConditionalCheckFailedException(_)) => Ok(None),
        Err(other) => Err(LedgerError::DynamoDb { call: "UpdateItem", source: Box::new(other) }),
    }
}

fn by_schedule(action: &str, now: EpochMs) -> LogEntry {
    let (key, parameters) = (String::new(), String::new());
    LogEntry { key, action: action.to_owned(), parameters, by: None, at_ms: now }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn item(stored: &Value) -> Item {
        to_item(stored).unwrap()
    }

    #[test]
    fn stored_rounds_stay_readable_and_are_written_the_same() {
        let stored = json!({
            "pk": "ROUND#lamp#2", "sale_list": "published#3", "first_opens_at_ms": 1_795_510_800_000_i64, "sale": "lamp", "round": 2,
            "version": 3, "loaded_at_ms": 1_795_510_200_000_i64, "paused": true, "isolated_requests_per_s": 50, "lanes": 1,
            "log": [{ "key": "k", "action": "restock", "parameters": "20", "by": "olga", "at_ms": 1_795_510_800_123_i64 }],
            "title": "A lamp", "opens_at_ms": 1_795_510_800_000_i64, "closes_at_ms": 1_795_514_400_000_i64, "total": 120,
            "per_user_limit": 1, "price_minor": 990, "currency": "EUR", "payment_window_s": 900,
            "door": {
                "strikes": 10, "strike_window_s": 600, "denied_for_s": 3600, "unpaid_limit": 3,
                "planned_requests_per_s": 40,
            },
        });
        let round = round_from(item(&stored)).unwrap();
        assert_eq!((round.id.to_string(), round.version, round.paused), ("lamp.2".to_owned(), 3, true));
        assert_eq!(round_item(round).unwrap(), item(&stored));
    }

    #[test]
    fn stored_rounds_with_lanes_stay_readable_and_are_written_the_same() {
        let stored = json!({
            "pk": "ROUND#lamp#1", "sale_list": "published#3", "first_opens_at_ms": 1_795_510_800_000_i64, "sale": "lamp", "round": 1,
            "version": 2, "loaded_at_ms": 1_795_510_200_000_i64, "paused": false, "lanes": 8, "dealt": 10_000,
            "title": "A lamp", "opens_at_ms": 1_795_510_800_000_i64, "closes_at_ms": 1_795_514_400_000_i64,
            "total": 10_100, "per_user_limit": 1, "price_minor": 990, "currency": "EUR", "payment_window_s": 900,
            "door": { "strikes": 10, "strike_window_s": 600, "denied_for_s": 3600, "unpaid_limit": 3 },
        });
        let round = round_from(item(&stored)).unwrap();
        assert_eq!((round.terms.lanes, round.dealt), (8, Some(10_000)));
        assert_eq!(round_item(round).unwrap(), item(&stored));
    }

    #[test]
    fn stored_rounds_with_awards_stay_readable_and_are_written_the_same() {
        let stored = json!({
            "pk": "ROUND#packet#2", "sale_list": "published#1", "first_opens_at_ms": 1_795_510_800_000_i64, "sale": "packet", "round": 2, "version": 1, "paused": false, "lanes": 1,
            "commitment": "0707070707070707070707070707070707070707070707070707070707070707",
            "title": "A red packet", "opens_at_ms": 1_795_510_800_000_i64, "closes_at_ms": 1_795_514_400_000_i64,
            "total": 100, "per_user_limit": 1, "price_minor": 0, "currency": "EUR", "payment_window_s": 900,
            "door": { "strikes": 10, "strike_window_s": 600, "denied_for_s": 3600, "unpaid_limit": 3 },
            "allocation": { "kind": "split", "total_minor": 10_000, "min_minor": 1, "parts": "drawn" },
            "settlement": "free",
        });
        let round = round_from(item(&stored)).unwrap();
        assert_eq!(round.commitment, Some(Commitment([7; 32])));
        assert_eq!(round_item(round).unwrap(), item(&stored));
        let mut with_beacon = stored.clone();
        with_beacon["allocation"]["beacon"] = true.into();
        with_beacon["drand_round"] = 34_235_811.into();
        let round = round_from(item(&with_beacon)).unwrap();
        assert_eq!(round.drand_round, Some(DrandRound(34_235_811)));
        assert_eq!(round_item(round).unwrap(), item(&with_beacon));
        let mut wrong = stored;
        wrong["commitment"] = "07".into();
        assert!(round_from(item(&wrong)).is_err());
    }
}
