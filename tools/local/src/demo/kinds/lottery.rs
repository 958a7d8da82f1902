use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::{Duration, Instant};

use ::sale::audit::Awarded;
use ::sale::{Allocation, Award, DrawTime, OrderState, Prize};
use anyhow::{Context, Result, bail};
use sale::award::{self, Hex, merkle};
use serde::Serialize;
use serde_json::json;

use super::prizes::prizes;
use super::{Desk, Found, Staged, round_in};
use crate::client::NewSale;
use crate::demo::plan::Plan;
use crate::demo::text::row;
use crate::stages::Stage;

/// Tickets for each prize: a hundred prizes among a thousand tickets.
const TICKETS_PER_PRIZE: u32 = 10;
/// How long the draw may take once the round is over: a minute until it may begin, a minute for the schedule, and some
/// time for the prizes.
const PATIENCE: Duration = Duration::from_secs(300);
const POLL_EVERY: Duration = Duration::from_secs(2);

/// Entries among which prizes are drawn once the sale is over. Nobody pays.
#[derive(Debug, Serialize)]
pub(in crate::demo) struct Lottery {
    tickets: u32,
    entries: usize,
    failed: usize,
    prizes: Vec<Drawn>,
    /// The commitment that the round published, and whether seed and plan match it.
    commitment: Option<String>,
    fits: bool,
    /// The published root, and whether it is that of the orders.
    root: String,
    holds: bool,
    /// Orders whose prize differs from the draw's, plus missing ones.
    wrong_awards: usize,
    /// Prizes whose winners were reported to the gift service, or are recorded if there is none.
    notified: usize,
    exact: bool,
}

#[derive(Debug, Serialize)]
struct Drawn {
    name: String,
    count: u32,
    won: usize,
}

impl Staged for Lottery {
    fn offer(plan: &Plan) -> NewSale {
        let prizes = prizes_for(plan.units);
        plan.sale("lottery").titled("Prize draw at the end").free(Allocation::Prizes {
            prizes,
            draw: DrawTime::AtEnd,
            beacon: false,
        })
    }

    async fn end(desk: &Desk<'_>) -> Result<()> {
        let Desk { client, operator, round, .. } = *desk;
        let stage = Stage::spinner("The draw");
        client.update(operator, round, "close", json!({})).await?;
        let until = Instant::now() + PATIENCE;
        loop {
            let draw = client.draw(round).await?;
            if draw["at_end"]["state"] == "drawn" {
                let closed = &draw["at_end"]["closed"];
                stage.done(format!("{} entries", closed["entries"]));
                return Ok(());
            }
            if Instant::now() >= until {
                bail!("the winners are not drawn: {}", draw["at_end"]);
            }
            tokio::time::sleep(POLL_EVERY).await;
        }
    }

    async fn of(found: &Found<'_>) -> Result<Self> {
        let id = &found.crowd.round;
        let round = round_in(found.ledger, id).await?;
        let Allocation::Prizes { prizes, .. } = &round.terms.allocation else { bail!("round {id} has no prizes") };
        let draw = found.ledger.draw(id).await?.and_then(|draw| draw.closed);
        let closed = draw.with_context(|| format!("the entries of round {id} have not closed"))?;
        let seed = found.ledger.seed(id).await?.with_context(|| format!("round {id} has no seed"))?.seed;
        let table =
            round.terms.plan().context("it has a plan")?.values(&seed).map_err(|error| anyhow::anyhow!("{error}"))?;
        let commitment = award::commit(id.sale.as_str(), id.number.0, &seed, &award::digest(&table));

        let mut entries: Vec<_> = found.live().collect();
        entries.sort_by_key(|order| order.reservation.unit);
        let leaves: Vec<Vec<u8>> = entries
            .iter()
            .map(|order| merkle::entry(order.reservation.unit.0, &order.reservation.id.to_string()))
            .collect();
        let counts: Vec<u32> = prizes.iter().map(|prize| prize.count).collect();
        let key = award::shuffle_key(&seed, None);
        let winners: BTreeMap<u32, u64> = award::winners(&counts, u32::try_from(entries.len())?, &key).collect();
        let is_wrong = |(entry, award): (u32, Option<Award>)| {
            let won = winners.get(&entry).and_then(|prize| u16::try_from(*prize).ok());
            award != won.map(|prize| Award::Prize { prize })
        };
        let wrong = (1..).zip(entries.iter().map(|order| order.award)).filter(|entry| is_wrong(*entry)).count();
        let mut awarded = Awarded::nothing(&round.terms).context("it has awards")?;
        found.orders.iter().for_each(|order| awarded.add(order));
        awarded.note_draw(closed.entries, true);
        let mut positions = BTreeSet::new();
        for position in 1..=u32::try_from(winners.len())? {
            let winner = found.ledger.winner(id, position).await?;
            positions.extend(winner.filter(|winner| winner.notified_at_ms.is_some()).map(|_| position));
        }
        let drawn = (1..).zip(prizes).map(|(prize, Prize { name, count })| Drawn {
            name: name.clone(),
            count: *count,
            won: entries.iter().filter(|order| order.award == Some(Award::Prize { prize })).count(),
        });
        Ok(Self {
            tickets: round.terms.total,
            entries: entries.len(),
            failed: found.count(OrderState::Failed),
            prizes: drawn.collect(),
            commitment: round.commitment.map(|commitment| commitment.to_string()),
            fits: round.commitment == Some(commitment),
            root: Hex(&closed.root).to_string(),
            holds: closed.root == merkle::root(&leaves) && closed.entries as usize == entries.len(),
            wrong_awards: wrong,
            notified: positions.len(),
            exact: awarded.is_exact(),
        })
    }

    fn is_right(&self) -> bool {
        self.fits && self.holds && self.exact && self.wrong_awards == 0
    }
}

/// The prizes for this many tickets: at least one, and never more than tickets.
fn prizes_for(tickets: u32) -> Vec<Prize> {
    let all = (tickets / TICKETS_PER_PRIZE).max(1);
    prizes([1, all / 10, all - 1 - all / 10])
}

impl fmt::Display for Lottery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let yes = |is: bool| if is { "yes" } else { "NO" };
        row!(f, "entries", "{} of {} tickets", self.entries, self.tickets)?;
        row!(f, "failed", self.failed)?;
        row!(f)?;
        row!(f, "prizes", "{:>7} {:>9}", "count", "won")?;
        for Drawn { name, count, won } in &self.prizes {
            row!(f, format!("  {name}"), "{count:>7} {won:>9}")?;
        }
        row!(f, "winners notified", self.notified)?;
        row!(f)?;
        row!(f, "commitment", self.commitment.as_deref().unwrap_or("none"))?;
        row!(f, "  matches seed and prizes", yes(self.fits))?;
        row!(f, "root of the entries", self.root)?;
        row!(f, "  matches the orders", yes(self.holds))?;
        row!(f, "orders with a wrong award", self.wrong_awards)?;
        row!(f, "each prize once", yes(self.exact))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_of_tickets_has_prizes_enough_and_not_too_many() {
        for tickets in [1, 2, 9, 10, 19, 20, 100, 1_000, 10_000] {
            let prizes = prizes_for(tickets);
            let count: u32 = prizes.iter().map(|prize| prize.count).sum();
            assert!((1..=tickets).contains(&count) && prizes.iter().all(|prize| prize.count > 0), "{tickets}");
        }
        assert_eq!(prizes_for(1_000).iter().map(|prize| prize.count).sum::<u32>(), 100);
    }
}
