//! Lines in front of rounds: the seed of the order, and how far a line may have moved.
//!
//! The seed is written in the transaction that begins the round, and never changes. Redis has the line itself. The
//! ledger has a ceiling that the line has not passed, written at most every ten seconds while it moves, and before that
//! the number of people who have come.

use aws_sdk_dynamodb::operation::update_item::builders::UpdateItemFluentBuilder;
use pass::line::{self, WHOLE_PPB, Watermark};
use sale::award::{Commitment, Seed};
use sale::{Round, RoundId};
use serde::de::Error;
use serde::{Deserialize, Deserializer};

use crate::calls::{Conditional, Write, Written};
use crate::draws::{draw_seed, seed_bytes};
use crate::item::{Item, bytes, from_item, item_of, number, text};
use crate::{Ledger, LedgerError, keys};

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct KeptLine {
    /// The seed of the order. Secret until the sale opens.
    #[serde(with = "seed_bytes")]
    pub seed: Seed,
    pub commitment: Commitment,
    /// The ceiling that the line has not passed. `None` if it has not moved.
    #[serde(default, deserialize_with = "watermark")]
    pub ceiling: Option<Watermark>,
    /// The number of early people, as last recorded.
    #[serde(default)]
    pub people: u64,
}

impl KeptLine {
    fn of(id: &RoundId, item: Item) -> Result<Self, LedgerError> {
        let kept: Self = from_item(item)?;
        if kept.commitment != line::commit(id, &kept.seed) {
            return Err(LedgerError::Contradiction(format!("the line of round {id} is committed to another seed")));
        }
        Ok(kept)
    }
}

fn line_item(id: &RoundId, seed: &Seed) -> Item {
    let commitment = line::commit(id, seed).to_string();
    item_of([("pk", text(keys::line(id))), ("seed", bytes(seed.0)), ("commitment", text(commitment))])
}

fn watermark<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Watermark>, D::Error> {
    let text = String::deserialize(from)?;
    let mut parts = text.split('-');
    let mut read = || {
        let early_ppb = parts.next()?.parse().ok()?;
        let late_s = parts.next()?.parse().ok()?;
        let late_ppb = parts.next()?.parse().ok()?;
        (early_ppb <= WHOLE_PPB).then_some(Watermark { early_ppb, late_s, late_ppb })
    };
    read().map(Some).ok_or_else(|| D::Error::custom(format!("{text} is not a watermark")))
}

/// A watermark as text with the same order.
fn sorted_text(Watermark { early_ppb, late_s, late_ppb }: &Watermark) -> String {
    format!("{early_ppb:010}-{late_s:012}-{late_ppb:010}")
}

impl Ledger {
    /// Draws the seed of a round's line, for the transaction that writes the round. `None` without a line.
    pub(crate) fn commit_line(round: &Round) -> Result<Option<Item>, LedgerError> {
        round.terms.line.map(|_| Ok(line_item(&round.id, &draw_seed()?))).transpose()
    }

    /// The line of a round, if it has one. Fails if the seed is not the one that the round is committed to.
    pub async fn line(&self, id: &RoundId) -> Result<Option<KeptLine>, LedgerError> {
        self.item(keys::line(id)).await?.map(|item| KeptLine::of(id, item)).transpose()
    }

    /// Records that the line of a round may move up to `ceiling`, and the number of early people. Returns the ceiling
    /// in force then: this one or a higher one.
    ///
    /// Guards against a process that is behind, which must not lower the ceiling. Fails if the round has no line.
    pub async fn raise_line(&self, id: &RoundId, ceiling: &Watermark, people: u64) -> Result<Watermark, LedgerError> {
        let update = self
            .update(keys::line(id), "SET ceiling = :ceiling, people = :people")
            .condition_expression("attribute_exists(seed) AND (attribute_not_exists(ceiling) OR ceiling < :ceiling)")
            .values([(":ceiling", text(sorted_text(ceiling)))]);
        let unwritten = || LedgerError::Contradiction(format!("the line of round {id} cannot be raised"));
        match written_or_kept(id, update, people).await? {
            None => Ok(*ceiling),
            Some(higher) => higher.ceiling.ok_or_else(unwritten),
        }
    }

    /// Records the number of people who have come early, while the line does not move yet: if Redis loses them all, the
    /// line must not be taken for a short one. Returns the number in force then: this one or a higher one.
    ///
    /// Guards against a process that is behind, and a Redis that has lost people, which must not lower the number.
    /// Fails if the round has no line.
    pub async fn note_people_in_line(&self, id: &RoundId, people: u64) -> Result<u64, LedgerError> {
        let update = self
            .update(keys::line(id), "SET people = :people")
            .condition_expression("attribute_exists(seed) AND (attribute_not_exists(people) OR people < :people)");
        let more = written_or_kept(id, update, people).await?;
        Ok(more.map_or(people, |kept| kept.people))
    }
}

/// Makes a write of `:people`. Returns the current line instead if the condition fails.
async fn written_or_kept(
    id: &RoundId,
    update: UpdateItemFluentBuilder,
    people: u64,
) -> Result<Option<KeptLine>, LedgerError> {
    let people = number(people.try_into().unwrap_or(i64::MAX));
    match update.values([(":people", people)]).or_old().write().await? {
        Written::Done(_) => Ok(None),
        Written::Refused(item) if item.is_empty() => Err(LedgerError::Contradiction(format!("round {id} has no line"))),
        Written::Refused(item) => KeptLine::of(id, item).map(Some),
    }
}

#[cfg(test)]
mod tests {
    use aws_sdk_dynamodb::types::AttributeValue;

    use super::*;

    #[test]
    fn stored_lines_stay_readable_and_are_written_the_same() {
        let id: RoundId = "lamp.2".parse().unwrap();
        let seed = Seed([7; 32]);
        let fresh = line_item(&id, &seed);
        assert_eq!(fresh.len(), 3);
        assert_eq!((&fresh["pk"], &fresh["seed"]), (&text("LINE#lamp#2"), &bytes([7; 32])));
        assert_eq!(fresh["commitment"].as_s().unwrap().len(), 64);
        let kept = KeptLine { seed, commitment: line::commit(&id, &Seed([7; 32])), ceiling: None, people: 0 };
        let read = |more: Vec<(&str, AttributeValue)>| {
            let mut stored = fresh.clone();
            stored.extend(more.into_iter().map(|(name, value)| (name.to_owned(), value)));
            KeptLine::of(&id, stored).ok()
        };
        assert_eq!(read(vec![]), Some(kept.clone()));
        let people = ("people", number(17));
        assert_eq!(read(vec![people.clone()]), Some(KeptLine { people: 17, ..kept.clone() }), "before the opening");
        let watermark = Watermark { early_ppb: WHOLE_PPB, late_s: 1_795_510_801, late_ppb: 5 };
        assert_eq!(sorted_text(&watermark), "1000000000-001795510801-0000000005");
        let ceiling = ("ceiling", text("1000000000-001795510801-0000000005"));
        let moved = KeptLine { ceiling: Some(watermark), people: 17, ..kept };
        assert_eq!(read(vec![people.clone(), ceiling.clone()]), Some(moved));
        for wrong in [
            ("seed", bytes([7; 31])),
            ("seed", bytes([8; 32])),
            ("commitment", text("07")),
            ("ceiling", text("1-2")),
            ("people", text("17")),
        ] {
            assert_eq!(read(vec![people.clone(), ceiling.clone(), wrong.clone()]), None, "{wrong:?}");
        }
    }

    #[test]
    fn texts_of_watermarks_sort_as_watermarks_do() {
        let watermarks = [(0, 0, 0), (9, 0, 0), (10, 0, 0), (WHOLE_PPB, 0, 0), (WHOLE_PPB, 9, 10), (WHOLE_PPB, 10, 9)];
        let watermarks = watermarks.map(|(early_ppb, late_s, late_ppb)| Watermark { early_ppb, late_s, late_ppb });
        assert!(watermarks.is_sorted() && watermarks.map(|watermark| sorted_text(&watermark)).is_sorted());
    }
}
