use std::sync::LazyLock;

use sale::{EpochMs, Lane, Round, SaleId};

use crate::code::{moment, parse, unexpected};
use crate::keys::Keys;
use crate::script::Script;
use crate::{Code, Stock, StockError};

static BUYERS: LazyLock<Script> = LazyLock::new(|| Script::new(crate::expanded::BUYERS));

/// Everybody who has or had a reservation in a round, at any moment at which its last unit was handed out at
/// `last_won_at_ms`.
#[derive(Debug, Clone)]
pub struct Buyers {
    /// When the last unit was handed out, by Redis's clock.
    pub last_won_at_ms: EpochMs,
    /// The users, in no order, and perhaps some who have no reservation.
    pub names: Vec<String>,
}

/// What became of reading the buyers.
#[derive(Debug, Clone)]
pub enum BuyersRead {
    /// These.
    All(Buyers),
    /// There are more than were asked for.
    TooMany,
    /// Units can be handed out.
    Selling,
    /// Redis has no such round.
    UnknownSale,
}

impl Stock {
    /// How many users have a record in a round, whether it has a reservation or only a note.
    ///
    /// # Errors
    /// If Redis does not answer.
    pub async fn buyers_count(&self, sale: &SaleId, round: Round, lane: Lane) -> Result<u32, StockError> {
        self.connection.ask(redis::cmd("HLEN").arg(Keys::of(sale, round, lane).buyers)).await
    }

    /// Who has or had a reservation in a round that is sold out, if they are no more than `most`. A name is only ever added
    /// by a step that sets the moment of the last win anew.
    ///
    /// # Errors
    /// If Redis does not answer.
    pub async fn buyers(&self, sale: &SaleId, round: Round, lane: Lane, most: usize) -> Result<BuyersRead, StockError> {
        let keys = Keys::of(sale, round, lane);
        let call = BUYERS.key(keys.sale).key(keys.buyers).key(keys.denied).arg(most);
        let answer: String = call.invoke_async(&self.connection).await?;
        let (head, names) = answer.split_once('\n').unwrap_or((&answer, ""));
        match parse(head)? {
            (Code::Buyers, at) => Ok(BuyersRead::All(Buyers {
                last_won_at_ms: moment(at, head)?,
                names: names.lines().map(str::to_owned).collect(),
            })),
            (Code::TooMany, _) => Ok(BuyersRead::TooMany),
            (Code::Selling, _) => Ok(BuyersRead::Selling),
            (Code::UnknownSale, _) => Ok(BuyersRead::UnknownSale),
            _ => Err(unexpected(head)),
        }
    }
}
