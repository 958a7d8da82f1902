use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use ::sale::audit::Awarded;
use ::sale::{Allocation, Award, DrawTime, Order, OrderState, Prize};
use anyhow::{Context, Result, bail};
use sale::award::{self, Hex, merkle};
use serde_json::json;

use super::prizes::prizes;
use super::{Found, Staged};
use crate::client::NewSale;
use crate::demo::crowd::Crowd;
use crate::demo::figures::Figures;
use crate::demo::plan::Plan;
use crate::stages::Stage;

/// Tickets for each prize: a hundred prizes among a thousand tickets.
const TICKETS_PER_PRIZE: u32 = 10;
/// How long the draw may take: a minute until it may begin, one for the schedule, and some time for the prizes.
const PATIENCE: Duration = Duration::from_secs(300);
const POLL_EVERY: Duration = Duration::from_secs(2);

/// Entries among which prizes are drawn once the sale is over. Nobody pays.
pub(in crate::demo) struct Lottery;

impl Staged for Lottery {
    fn offer(plan: &Plan) -> NewSale {
        let prizes = prizes_for(plan.units);
        let allocation = Allocation::Prizes { prizes, draw: DrawTime::AtEnd, beacon: false };
        plan.sale("lottery").titled("Prize draw at the end").free(allocation)
    }

    async fn end(Crowd { operator, round, .. }: &Crowd) -> Result<()> {
        let stage = Stage::spinner("The draw");
        operator.update(round, "close", json!({})).await?;
        let until = Instant::now() + PATIENCE;
        loop {
            let draw = operator.draw(round).await?;
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

    async fn count(found: &Found<'_>) -> Result<Figures> {
        let Crowd { ledger, round: id, .. } = found.crowd;
        let round = found.crowd.ledgers_round().await?;
        let Allocation::Prizes { prizes, .. } = &round.terms.allocation else { bail!("round {id} has no prizes") };
        let draw = ledger.draw(id).await?.and_then(|draw| draw.closed);
        let closed = draw.with_context(|| format!("the entries of round {id} have not closed"))?;
        let seed = ledger.seed(id).await?.with_context(|| format!("round {id} has no seed"))?.seed;
        let plan = round.terms.plan().context("it has a plan")?;
        let table = plan.values(&seed).map_err(|error| anyhow::anyhow!("{error}"))?;
        let commitment = award::commit(id.sale.as_str(), id.number.0, &seed, &award::digest(&table));

        let mut entries: Vec<_> = found.live().collect();
        entries.sort_by_key(|order| order.reservation.unit);
        let leaf = |order: &&Order| merkle::entry(order.reservation.unit.0, &order.reservation.id.to_string());
        let leaves: Vec<Vec<u8>> = entries.iter().map(leaf).collect();
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
        let mut notified = 0;
        for position in 1..=u32::try_from(winners.len())? {
            let winner = ledger.winner(id, position).await?;
            notified += usize::from(winner.is_some_and(|winner| winner.notified_at_ms.is_some()));
        }
        let (fits, exact) = (round.commitment == Some(commitment), awarded.is_exact());
        let holds = closed.root == merkle::root(&leaves) && closed.entries as usize == entries.len();

        let yes = |is: bool| if is { "yes" } else { "NO" };
        let mut figures = Figures::new(fits && holds && exact && wrong == 0);
        figures.row("entries", format!("{} of {} tickets", entries.len(), round.terms.total));
        figures.both("failed", "failed", found.count(OrderState::Failed));
        figures.gap();
        figures.row("prizes", format!("{:>7} {:>9}", "count", "won"));
        let mut drawn = Vec::new();
        for (prize, Prize { name, count }) in (1..).zip(prizes) {
            let won = entries.iter().filter(|order| order.award == Some(Award::Prize { prize })).count();
            figures.row(&format!("  {name}"), format!("{count:>7} {won:>9}"));
            drawn.push(json!({ "name": name, "count": count, "won": won }));
        }
        // To the gift service; if there is none, they are recorded.
        figures.both("notified", "winners notified", notified);
        figures.gap();
        let published = round.commitment.map(|commitment| commitment.to_string());
        figures.row("commitment", published.as_deref().unwrap_or("none"));
        figures.row("  matches seed and prizes", yes(fits));
        figures.both("root", "root of the entries", Hex(&closed.root).to_string());
        figures.row("  matches the orders", yes(holds));
        figures.both("wrong_awards", "orders with a wrong award", wrong);
        figures.row("each prize once", yes(exact));
        figures.facts(json!({
            "tickets": round.terms.total, "entries": entries.len(), "prizes": drawn, "commitment": published,
            "fits": fits, "holds": holds, "exact": exact,
        }));
        Ok(figures)
    }
}

fn prizes_for(tickets: u32) -> Vec<Prize> {
    let all = (tickets / TICKETS_PER_PRIZE).max(1);
    prizes([1, all / 10, all - 1 - all / 10])
}
