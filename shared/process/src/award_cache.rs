use std::sync::Arc;

use futures::future::BoxFuture;
use ledger::{Ledger, LedgerError};
use moka::sync::Cache;
use sale::award::{self, Shuffle};
use sale::{Award, RoundId, Terms, Unit};

/// How many rounds' shuffles are cached, at half a kilobyte each.
const MAX_ROUNDS: u64 = 1000;
/// How many chunks of tables are cached, at 32 KiB each: more than the largest table, over all of which units spread.
const MAX_CHUNKS: u64 = 512;
const _: () = assert!(MAX_CHUNKS as usize * award::CHUNK_VALUES >= sale::MAX_AWARDS as usize);

/// The awards of units, from the tables in the ledger. A process reads each chunk once, since nothing ever changes.
#[derive(Clone)]
pub struct AwardCache {
    ledger: Ledger,
    shuffles: Cache<RoundId, Arc<Shuffle>>,
    chunks: Cache<(RoundId, u32), Arc<[u64]>>,
}

impl AwardCache {
    pub fn new(ledger: Ledger) -> Self {
        Self { ledger, shuffles: Cache::new(MAX_ROUNDS), chunks: Cache::new(MAX_CHUNKS) }
    }

    /// What a unit of a round with these terms won. `None` if the round has no awards, or they are drawn at its end.
    /// Fails if DynamoDB does not answer, or the round lacks this unit, its seed, a required beacon or its table.
    pub fn of_unit<'a>(
        &'a self,
        id: &'a RoundId,
        terms: &'a Terms,
        unit: Unit,
    ) -> BoxFuture<'a, Result<Option<Award>, LedgerError>> {
        Box::pin(async move {
            if !terms.allocation.has_awards() || terms.allocation.is_drawn_at_end() {
                return Ok(None);
            }
            let contradiction = |what: &str| LedgerError::Contradiction(format!("round {id} has no {what} {unit}"));
            let index = unit.0.checked_sub(1).filter(|index| *index < terms.total);
            let index = index.ok_or_else(|| contradiction("unit"))?;
            let (number, at) = award::chunk_of(self.shuffle(id, terms).await?.shuffled(index));
            let value = self.chunk(id, number).await?.get(at).copied();
            let award = value.and_then(|value| terms.allocation.award(value));
            award.ok_or_else(|| contradiction("award of unit")).map(Some)
        })
    }

    async fn shuffle(&self, id: &RoundId, terms: &Terms) -> Result<Arc<Shuffle>, LedgerError> {
        if let Some(shuffle) = self.shuffles.get(id) {
            return Ok(shuffle);
        }
        let seed = self.ledger.seed(id).await?;
        let seed = seed.ok_or_else(|| LedgerError::Contradiction(format!("round {id} has no seed")))?;
        // A round that requires a beacon is only loaded with it, so without it nobody can have a unit.
        let randomness = self.ledger.randomness(id, &terms.allocation).await?;
        let shuffle = Shuffle::new(terms.total, &award::shuffle_key(&seed.seed, randomness.as_ref()));
        let shuffle = Arc::new(shuffle);
        self.shuffles.insert(id.clone(), Arc::clone(&shuffle));
        Ok(shuffle)
    }

    async fn chunk(&self, id: &RoundId, number: u32) -> Result<Arc<[u64]>, LedgerError> {
        let key = (id.clone(), number);
        if let Some(chunk) = self.chunks.get(&key) {
            return Ok(chunk);
        }
        // A round is only loaded with its table, so without it nobody can have a unit.
        let missing = || LedgerError::Contradiction(format!("round {id} has no chunk {number} of its table"));
        let chunk: Arc<[u64]> = self.ledger.table_chunk(id, number).await?.ok_or_else(missing)?.into();
        self.chunks.insert(key, Arc::clone(&chunk));
        Ok(chunk)
    }
}
