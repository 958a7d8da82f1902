use std::sync::LazyLock;

use sale::EpochMs;

use crate::script::Script;
use crate::script_code::{moment, parse, unexpected};
use crate::{RoundStock, ScriptCode, StockError};

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
    /// Units can be handed out, or Redis has no such round.
    NotSoldOut,
}

impl RoundStock<'_> {
    /// How many users have a record in the round, whether it has a reservation or only a note.
    ///
    /// # Errors
    /// If Redis does not answer.
    pub async fn buyers_count(self) -> Result<u32, StockError> {
        self.connection.ask(redis::cmd("HLEN").arg(self.keys().buyers())).await
    }

    /// Who has or had a reservation in the round, which is sold out, if they are no more than `most`. A name is only ever added
    /// by a step that sets the moment of the last win anew.
    ///
    /// # Errors
    /// If Redis does not answer.
    pub async fn buyers(self, most: usize) -> Result<BuyersRead, StockError> {
        let keys = self.keys();
        let call = BUYERS.key(keys.sale()).key(keys.buyers()).key(keys.denied()).arg(most);
        let answer: String = call.invoke_async(self.connection).await?;
        let (head, names) = answer.split_once('\n').unwrap_or((&answer, ""));
        match parse(head)? {
            (ScriptCode::Buyers, at) => Ok(BuyersRead::All(Buyers {
                last_won_at_ms: moment(at, head)?,
                names: names.lines().map(str::to_owned).collect(),
            })),
            (ScriptCode::TooMany, _) => Ok(BuyersRead::TooMany),
            (ScriptCode::Selling | ScriptCode::UnknownSale, _) => Ok(BuyersRead::NotSoldOut),
            _ => Err(unexpected(head)),
        }
    }
}
