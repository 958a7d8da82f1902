use sale::{EpochMs, Lane, Round, SaleId};

use crate::keys::Keys;
use crate::{Stock, StockError};

/// Names asked for at a time, so that reading holds nobody up.
const PAGE: usize = 1000;

/// Everybody who has or had a reservation in a round, at any moment at which its last unit was handed out at
/// `last_won_at_ms`.
#[derive(Debug, Clone)]
pub struct Buyers {
    /// When the last unit was handed out, by Redis's clock.
    pub last_won_at_ms: EpochMs,
    /// The users, in no order. One may be in it twice.
    pub names: Vec<String>,
}

/// What became of reading the buyers.
#[derive(Debug, Clone)]
pub enum BuyersRead {
    /// These.
    All(Buyers),
    /// There are more than were asked for.
    TooMany,
    /// Units were handed out meanwhile, or still can be at once.
    Selling,
    /// Redis has no such round.
    UnknownSale,
}

impl Stock {
    /// Who has or had a reservation in a round that is sold out, if they are no more than `most`. Read in pages, between
    /// two looks at the counters: a name is only ever added by a step that sets the moment of the last win anew.
    ///
    /// # Errors
    /// If Redis does not answer.
    pub async fn buyers(&self, sale: &SaleId, round: Round, lane: Lane, most: usize) -> Result<BuyersRead, StockError> {
        let key = Keys::of(sale, round, lane).buyers;
        let Some(before) = self.counters(sale, round, lane).await? else { return Ok(BuyersRead::UnknownSale) };
        // Two units can be handed out in one millisecond, unless a hold-back lies between them.
        if before.free() > 0 && before.sellable_at_ms <= before.last_won_at_ms {
            return Ok(BuyersRead::Selling);
        }
        let count: usize = self.connection.ask(redis::cmd("HLEN").arg(&key)).await?;
        if count > most {
            return Ok(BuyersRead::TooMany);
        }
        let (mut names, mut cursor) = (Vec::with_capacity(count), 0u64);
        loop {
            let (next, page): (u64, Vec<(String, String)>) =
                self.connection.ask(redis::cmd("HSCAN").arg(&key).arg(cursor).arg("COUNT").arg(PAGE)).await?;
            names.extend(page.into_iter().map(|(name, _)| name));
            cursor = next;
            if cursor == 0 {
                break;
            }
        }
        match self.counters(sale, round, lane).await? {
            Some(after) if (after.last_won_at_ms, after.epoch_ms) == (before.last_won_at_ms, before.epoch_ms) => {
                Ok(BuyersRead::All(Buyers { last_won_at_ms: after.last_won_at_ms, names }))
            }
            Some(_) => Ok(BuyersRead::Selling),
            None => Ok(BuyersRead::UnknownSale),
        }
    }
}
