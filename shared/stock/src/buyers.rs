use futures::future::try_join_all;

use crate::script::BUYERS;
use crate::script_code::{moment, parse, unexpected};
use crate::{RoundStock, ScriptCode, StockError, WinsSeen};

/// Everybody who has or had a reservation in a round, valid while nobody has won a unit since `wins`.
#[derive(Debug, Clone)]
pub struct Buyers {
    pub wins: WinsSeen,
    /// The users in no particular order, perhaps including some without a reservation.
    pub names: Vec<String>,
}

#[derive(Debug, Clone)]
pub enum BuyersRead {
    All(Buyers),
    TooMany,
    /// Units can be handed out, or Redis has no such round.
    NotSoldOut,
}

impl RoundStock<'_> {
    /// How many users have a record in the round, with a reservation or only a note.
    pub async fn buyers_count(self) -> Result<u32, StockError> {
        self.count(|lane| lane.keys().buyers()).await
    }

    async fn count(self, hash: impl Fn(Self) -> String) -> Result<u32, StockError> {
        let hashes = self.each_lane().map(hash);
        let count = async |hash: String| self.connection.ask::<u32>(redis::cmd("HLEN").arg(hash)).await;
        Ok(try_join_all(hashes.map(count)).await?.into_iter().sum())
    }

    /// Who has or had a reservation in the round, if it is sold out and there are at most `most` of them. Every step
    /// that adds a user also changes the time of the last win.
    pub async fn buyers(self, most: usize) -> Result<BuyersRead, StockError> {
        let (mut wins, mut names) = (Vec::new(), Vec::new());
        // Each lane could have fewer than `most`, and all lanes together more.
        if self.is_of_lanes() {
            let blocked = self.count(|lane| lane.keys().blocked()).await?;
            if self.buyers_count().await?.saturating_sub(blocked) as usize > most {
                return Ok(BuyersRead::TooMany);
            }
        }
        for read in try_join_all(self.each_lane().map(|lane| lane.buyers_of_lane(most))).await? {
            match read {
                BuyersRead::All(buyers) => {
                    wins.push(buyers.wins);
                    names.extend(buyers.names);
                }
                other => return Ok(other),
            }
        }
        if names.len() > most && wins.len() > 1 {
            return Ok(BuyersRead::TooMany);
        }
        Ok(BuyersRead::All(Buyers { wins: WinsSeen::of_all(&wins), names }))
    }

    async fn buyers_of_lane(self, most: usize) -> Result<BuyersRead, StockError> {
        let keys = self.keys();
        let call = BUYERS.keys([keys.sale(), keys.buyers(), keys.blocked()]).arg(most);
        let answer: String = call.invoke_async(self.connection).await?;
        let (head, names) = answer.split_once('\n').unwrap_or((&answer, ""));
        match parse(head)? {
            (ScriptCode::Buyers, at) => Ok(BuyersRead::All(Buyers {
                wins: WinsSeen::at(moment(at, head)?),
                names: names.lines().map(str::to_owned).collect(),
            })),
            (ScriptCode::TooMany, _) => Ok(BuyersRead::TooMany),
            (ScriptCode::Selling | ScriptCode::UnknownSale, _) => Ok(BuyersRead::NotSoldOut),
            _ => Err(unexpected(head)),
        }
    }
}
