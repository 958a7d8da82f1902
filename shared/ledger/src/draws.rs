//! Rounds whose units differ: the seed that decides what each unit won, and the table that follows from it.
//!
//! The seed is written, and the round committed to it, in the transaction that begins the round. The table follows from
//! seed and terms, so whoever writes it writes the same bytes. It is stored in chunks, so an order reads only one of
//! them.

use aws_sdk_dynamodb::types::{AttributeValue, TransactWriteItem};
use rand::TryRng;
use rand::rngs::SysRng;
use sale::award::drand::DrandRound;
use sale::award::{self, CHUNK_VALUES, Commitment, Plan, Seed};
use sale::{EpochMs, Round, RoundId};
use serde::{Deserialize, Serialize};

use crate::calls::{Conditional, Write};
use crate::item::{bytes, item_of, text, to_item};
use crate::{Ledger, LedgerError, keys};

/// The secret of a round with awards. `Debug` does not print it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeedItem {
    pk: String,
    /// The seed of the awards. Secret until the round is over.
    #[serde(with = "seed_bytes")]
    pub seed: Seed,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    table_is_kept: bool,
}

/// Draws 32 bytes of the operating system's randomness.
pub(crate) fn draw_seed() -> Result<Seed, LedgerError> {
    let mut seed = [0; 32];
    SysRng.try_fill_bytes(&mut seed)?;
    Ok(Seed(seed))
}

/// The table in the order of generation, and the commitment to it.
fn table(id: &RoundId, plan: &Plan, seed: &Seed) -> Result<(Vec<u64>, Commitment), LedgerError> {
    let values = plan.values(seed).map_err(|invalid| LedgerError::Contradiction(format!("round {id}: {invalid}")))?;
    let commitment = award::commit(id.sale.as_str(), id.number.0, seed, &award::digest(&values));
    Ok((values, commitment))
}

/// The table to which a round is committed. Fails if that is another one.
fn committed_table(Round { id, commitment, .. }: &Round, plan: &Plan, seed: &Seed) -> Result<Vec<u64>, LedgerError> {
    let (values, committed) = table(id, plan, seed)?;
    if *commitment == Some(committed) {
        return Ok(values);
    }
    Err(LedgerError::Contradiction(format!("round {id} is committed to another seed or other terms")))
}

impl Ledger {
    pub async fn seed(&self, id: &RoundId) -> Result<Option<SeedItem>, LedgerError> {
        self.read(keys::seed(id)).await
    }

    /// Draws the seed of a round that is about to begin, and commits the round to it. Returns the write, or `None`
    /// without awards. If the round opens with a beacon, names a round of drand after `now`.
    ///
    /// Each attempt draws again. Seed and round are one transaction, so the round is committed to the one stored.
    pub(crate) fn commit(&self, round: &mut Round, now: EpochMs) -> Result<Option<TransactWriteItem>, LedgerError> {
        let Some(plan) = round.terms.plan() else { return Ok(None) };
        let drawn = SeedItem { pk: keys::seed(&round.id), seed: draw_seed()?, table_is_kept: false };
        let (_, commitment) = table(&round.id, &plan, &drawn.seed)?;
        round.commitment = Some(commitment);
        if round.terms.allocation.opens_with_beacon() {
            round.drand_round = Some(DrandRound::named_at(now.0));
        }
        Ok(Some(self.put_if_absent(to_item(drawn)?)))
    }

    /// Stores the table of a round's awards, unless that was done before. Does nothing for a round without awards, or
    /// with a draw at its end, whose table depends on the number of entries. Fails if the round is not committed to its
    /// seed and terms. Can run concurrently, since the bytes are the same.
    pub async fn keep_table(&self, round: &Round) -> Result<(), LedgerError> {
        if round.terms.allocation.is_drawn_at_end() {
            return Ok(());
        }
        let Some((plan, seed)) = self.plan_and_seed(round).await? else { return Ok(()) };
        if seed.table_is_kept {
            return Ok(());
        }
        let values = committed_table(round, &plan, &seed.seed)?;
        let chunks = (0..).zip(values.chunks(CHUNK_VALUES)).map(|(number, chunk)| {
            let values = ("award_values", bytes(award::chunk_bytes(chunk)));
            item_of([("pk", text(keys::table(&round.id, number))), values])
        });
        self.put_chunks(chunks).await?;
        let update = self.update(keys::seed(&round.id), "SET table_is_kept = :true");
        let update = update.condition_expression("attribute_exists(pk)");
        update.values([(":true", AttributeValue::Bool(true))]).must_write().await.map(drop)
    }

    /// The seed of a round with a draw at its end. Fails if the round is committed to another seed or other terms.
    pub async fn committed_seed(&self, round: &Round) -> Result<Seed, LedgerError> {
        let none = || LedgerError::Contradiction(format!("round {} has no awards", round.id));
        let (plan, kept) = self.plan_and_seed(round).await?.ok_or_else(none)?;
        committed_table(round, &plan, &kept.seed)?;
        Ok(kept.seed)
    }

    /// The values of one chunk of a round's table. `None` if it does not exist.
    pub async fn table_chunk(&self, id: &RoundId, chunk: u32) -> Result<Option<Vec<u64>>, LedgerError> {
        let Some(item) = self.item(keys::table(id, chunk)).await? else { return Ok(None) };
        let values = item.get("award_values").and_then(|values| award::values_of(values.as_b().ok()?.as_ref()));
        let unreadable =
            || LedgerError::Contradiction(format!("chunk {chunk} of the table of round {id} cannot be read"));
        values.ok_or_else(unreadable).map(Some)
    }

    async fn plan_and_seed(&self, round: &Round) -> Result<Option<(Plan, SeedItem)>, LedgerError> {
        let Some(plan) = round.terms.plan() else { return Ok(None) };
        let seed = self.seed(&round.id).await?;
        let seed = seed.ok_or_else(|| LedgerError::Contradiction(format!("round {} has no seed", round.id)))?;
        Ok(Some((plan, seed)))
    }
}

pub(crate) mod seed_bytes {
    use sale::award::Seed;
    use serde::{Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(seed: &Seed, to: S) -> Result<S::Ok, S::Error> {
        serde_bytes::serialize(&seed.0, to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Seed, D::Error> {
        serde_bytes::deserialize(from).map(Seed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::Item;

    #[test]
    fn stored_seeds_stay_readable_and_are_written_the_same() {
        let fresh = item_of([("pk", text("SEED#packet#2")), ("seed", bytes([7; 32]))]);
        let mut with_all = fresh.clone();
        with_all.insert("table_is_kept".to_owned(), AttributeValue::Bool(true));
        let read = |stored: &Item| serde_dynamo::from_item::<_, SeedItem>(stored.clone());
        let pk = "SEED#packet#2".to_owned();
        assert_eq!(read(&fresh).unwrap(), SeedItem { pk, seed: Seed([7; 32]), table_is_kept: false });
        for stored in [fresh, with_all.clone()] {
            assert_eq!(to_item(read(&stored).unwrap()).unwrap(), stored);
        }
        for wrong in [bytes([7; 31]), text("7")] {
            with_all.insert("seed".to_owned(), wrong);
            assert!(read(&with_all).is_err());
        }
    }

    #[test]
    fn seeds_differ_and_are_not_printed() {
        let (seed, other) = (draw_seed().unwrap(), draw_seed().unwrap());
        assert_ne!(seed, other);
        let printed = format!("{:?}", SeedItem { pk: String::new(), seed, table_is_kept: true });
        assert!(printed.contains("Seed(…)"), "{printed}");
    }
}
