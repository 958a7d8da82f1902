//! Lines in front of rounds: the seed of the order, and how far a line may have moved.
//!
//! The seed is written in the transaction that begins the round, and never changes. Redis has the line itself. The
//! ledger has a ceiling that the line has not passed, written at most every ten seconds while it moves, and before that
//! the number of people who have come.

use award::{Bytes32, Commitment, Seed, bytes32};
use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::operation::update_item::builders::UpdateItemFluentBuilder;
use aws_sdk_dynamodb::types::{AttributeValue, ReturnValuesOnConditionCheckFailure};
use line::{WHOLE_PPB, Watermark};
use sale::{Round, RoundId};

use crate::conflict::retry_conflicts;
use crate::draws::draw_seed;
use crate::item::{Item, bytes, number, text};
use crate::{Ledger, LedgerError, keys};

/// The line of a round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptLine {
    /// The seed of the order. Secret until the sale opens.
    pub seed: Seed,
    /// The commitment that the round published before anybody came.
    pub commitment: Commitment,
    /// The ceiling that the line has not passed. `None` if it has not moved.
    pub ceiling: Option<Watermark>,
    /// The number of early people, as last recorded.
    pub people: u64,
}

fn to_item(id: &RoundId, seed: &Seed) -> Item {
    let attributes = [
        ("pk", text(keys::line(id))),
        ("seed", bytes(seed.0)),
        ("commitment", text(line::commit(id, seed).to_string())),
    ];
    attributes.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

impl KeptLine {
    fn from_item(id: &RoundId, item: &Item) -> Result<Self, LedgerError> {
        let unreadable = || LedgerError::Contradiction(format!("the line of round {id} cannot be read"));
        let seed = |value: &AttributeValue| Bytes32::try_from(value.as_b().ok()?.as_ref()).ok();
        let seed = Seed(item.get("seed").and_then(seed).ok_or_else(unreadable)?);
        let commitment = |value: &AttributeValue| bytes32(value.as_s().ok()?);
        let commitment = Commitment(item.get("commitment").and_then(commitment).ok_or_else(unreadable)?);
        if line::commit(id, &seed) != commitment {
            return Err(LedgerError::Contradiction(format!("the line of round {id} is committed to another seed")));
        }
        let people = item.get("people").map_or(Some(0), |people| people.as_n().ok()?.parse().ok());
        let people = people.ok_or_else(unreadable)?;
        Ok(Self { seed, commitment, ceiling: ceiling_of(item).map_err(|()| unreadable())?, people })
    }
}

fn ceiling_of(item: &Item) -> Result<Option<Watermark>, ()> {
    let Some(ceiling) = item.get("ceiling") else { return Ok(None) };
    let read = || {
        let mut parts = ceiling.as_s().ok()?.split('-');
        let early_ppb = parts.next()?.parse().ok()?;
        let late_s = parts.next()?.parse().ok()?;
        let late_ppb = parts.next()?.parse().ok()?;
        (early_ppb <= WHOLE_PPB).then_some(Watermark { early_ppb, late_s, late_ppb })
    };
    read().map(Some).ok_or(())
}

/// A watermark as text with the same order.
fn sorted_text(Watermark { early_ppb, late_s, late_ppb }: &Watermark) -> String {
    format!("{early_ppb:010}-{late_s:012}-{late_ppb:010}")
}

impl Ledger {
    /// Draws the seed of a round's line, for the transaction that writes the round. `None` without a line.
    pub(crate) fn commit_line(round: &Round) -> Result<Option<Item>, LedgerError> {
        round.terms.line.map(|_| Ok(to_item(&round.id, &draw_seed()?))).transpose()
    }

    /// The line of a round, or `None` if it has none. A consistent read. Fails if DynamoDB does not answer, or the seed
    /// is not the one that the round is committed to.
    pub async fn line(&self, id: &RoundId) -> Result<Option<KeptLine>, LedgerError> {
        let item = self.item(keys::line(id)).await?;
        item.map(|item| KeptLine::from_item(id, &item)).transpose()
    }

    /// Records that the line of a round may move up to `ceiling`, and the number of early people. Returns the ceiling
    /// in force then: this one or a higher one.
    ///
    /// Guards against a process that is behind, which must not lower what another has published. Fails if DynamoDB does
    /// not answer, or the round has no line. Can be repeated.
    pub async fn raise_line(&self, id: &RoundId, ceiling: &Watermark, people: u64) -> Result<Watermark, LedgerError> {
        let update = self
            .update_line(id, people)
            .update_expression("SET ceiling = :ceiling, people = :people")
            .condition_expression("attribute_exists(seed) AND (attribute_not_exists(ceiling) OR ceiling < :ceiling)")
            .expression_attribute_values(":ceiling", text(sorted_text(ceiling)));
        let unwritten = || LedgerError::Contradiction(format!("the line of round {id} cannot be raised"));
        match written_or_kept(id, update).await? {
            None => Ok(*ceiling),
            Some(higher) => higher.ceiling.ok_or_else(unwritten),
        }
    }

    /// Records the number of people who have come early, while the line does not move yet: if Redis loses them all, the
    /// line must not be taken for a short one. Returns the number in force then: this one or a higher one.
    ///
    /// Guards against a process that is behind, and a Redis that has lost people, which must not lower the number.
    /// Fails if DynamoDB does not answer, or the round has no line. Can be repeated.
    pub async fn note_people_in_line(&self, id: &RoundId, people: u64) -> Result<u64, LedgerError> {
        let update = self
            .update_line(id, people)
            .update_expression("SET people = :people")
            .condition_expression("attribute_exists(seed) AND (attribute_not_exists(people) OR people < :people)");
        let more = written_or_kept(id, update).await?;
        Ok(more.map_or(people, |kept| kept.people))
    }

    fn update_line(&self, id: &RoundId, people: u64) -> UpdateItemFluentBuilder {
        let update = self.client.update_item().table_name(&self.table).key("pk", text(keys::line(id)));
        update
            .expression_attribute_values(":people", number(people.try_into().unwrap_or(i64::MAX)))
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
    }
}

/// Makes a write. Returns the current line instead if the condition fails.
async fn written_or_kept(id: &RoundId, update: UpdateItemFluentBuilder) -> Result<Option<KeptLine>, LedgerError> {
    match retry_conflicts(|| update.clone().send()).await.map_err(SdkError::into_service_error) {
        Ok(_) => Ok(None),
        Err(UpdateItemError::ConditionalCheckFailedException(failed)) => {
            let none = || LedgerError::Contradiction(format!("round {id} has no line"));
            KeptLine::from_item(id, &failed.item.ok_or_else(none)?).map(Some)
        }
        Err(other) => Err(LedgerError::DynamoDb { call: "UpdateItem", source: Box::new(other) }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_lines_stay_readable_and_are_written_the_same() {
        let id = RoundId { sale: "lamp".parse().unwrap(), number: sale::RoundNumber(2) };
        let seed = Seed([7; 32]);
        let fresh = to_item(&id, &seed);
        assert_eq!((&fresh["pk"], &fresh["seed"]), (&text("LINE#lamp#2"), &bytes([7; 32])));
        assert_eq!(fresh["commitment"].as_s().unwrap().len(), 64);
        let kept = KeptLine { seed, commitment: line::commit(&id, &Seed([7; 32])), ceiling: None, people: 0 };
        assert_eq!(KeptLine::from_item(&id, &fresh).unwrap(), kept);

        let mut before_the_opening = fresh.clone();
        before_the_opening.insert("people".to_owned(), number(17));
        assert_eq!(KeptLine::from_item(&id, &before_the_opening).unwrap(), KeptLine { people: 17, ..kept.clone() });

        let mut moved = fresh.clone();
        let watermark = Watermark { early_ppb: WHOLE_PPB, late_s: 1_795_510_801, late_ppb: 5 };
        assert_eq!(sorted_text(&watermark), "1000000000-001795510801-0000000005");
        moved.insert("ceiling".to_owned(), text("1000000000-001795510801-0000000005"));
        moved.insert("people".to_owned(), number(17));
        assert_eq!(
            KeptLine::from_item(&id, &moved).unwrap(),
            KeptLine { ceiling: Some(watermark), people: 17, ..kept }
        );

        let wrong = [
            ("seed", bytes([7; 31])),
            ("seed", bytes([8; 32])),
            ("commitment", text("07")),
            ("ceiling", text("1-2")),
            ("people", text("17")),
        ];
        for (name, wrong) in wrong {
            let mut stored = moved.clone();
            stored.insert(name.to_owned(), wrong);
            assert!(KeptLine::from_item(&id, &stored).is_err(), "{name}");
        }
    }

    #[test]
    fn texts_of_watermarks_sort_as_watermarks_do() {
        let watermarks = [(0, 0, 0), (9, 0, 0), (10, 0, 0), (WHOLE_PPB, 0, 0), (WHOLE_PPB, 9, 10), (WHOLE_PPB, 10, 9)];
        let watermarks = watermarks.map(|(early_ppb, late_s, late_ppb)| Watermark { early_ppb, late_s, late_ppb });
        assert!(watermarks.is_sorted() && watermarks.map(|watermark| sorted_text(&watermark)).is_sorted());
    }
}
