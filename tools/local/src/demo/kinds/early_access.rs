use std::collections::HashSet;
use std::fmt;
use std::time::Duration;

use ::sale::{EarlyAccess, EpochMs, GroupName, MemberQuota, Order, OrderState, Terms, UserId};
use anyhow::{Context, Result};
use futures::{StreamExt, TryStreamExt, stream};
use serde::Serialize;
use serde_json::json;

use super::{Found, Staged};
use crate::client::NewSale;
use crate::demo::crowd::{Crowd, Turn};
use crate::demo::draw::{MOST_BARS, bar};
use crate::demo::figures::Figures;
use crate::demo::plan::Plan;

const GROUP: &str = "members";
/// How long before everyone else members may buy: enough for those who come first.
const LEAD_S: u32 = 8;
const QUOTA_FOR_S: u32 = 20;
/// How long after the beginning of the rush late members come.
const LATE: Duration = Duration::from_secs(8);
/// The buyers who are members: some of them go through the gate, cancel, or let the payment window pass.
const MEMBERS: (usize, usize) = (9, 2);
/// How many lookups in the list run concurrently.
const AT_ONCE: usize = 16;

/// A sale for money with early access for members, and half of its units as their quota for a while. Members who
/// come first are a quarter of the number of units, late ones an eighth, so that some of the quota goes to everyone.
pub(in crate::demo) struct MembersFirst;

/// How many units buyers took in some time, by Redis's clock, whatever became of the orders.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
struct Phase {
    members: usize,
    others: usize,
}

/// One order, and whether its buyer is on the list.
#[derive(Debug, Clone, Copy)]
struct Bought {
    at: EpochMs,
    by_member: bool,
    is_live: bool,
}

fn group() -> GroupName {
    GROUP.parse().unwrap_or_else(|_| unreachable!("a constant that a test parses"))
}

impl Staged for MembersFirst {
    fn offer(plan: &Plan) -> NewSale {
        let quota = Some(MemberQuota { units: (plan.units / 2).max(1), for_s: QUOTA_FOR_S });
        let opens_in_s = plan.opens_in_s() + i64::from(LEAD_S);
        NewSale {
            early_access: vec![EarlyAccess { group: group(), lead_s: LEAD_S, quota }],
            ..NewSale::opening_in("members", opens_in_s, plan.open_s(), plan.units, plan.payment_window_s())
        }
    }

    fn turn(plan: &Plan, number: usize) -> Turn {
        let (every, offset) = MEMBERS;
        let (first, late) = (plan.units as usize / 4, (plan.units as usize / 8).max(1));
        match number / every {
            _ if number % every != offset => Turn::Rush,
            member if member < first => Turn::First,
            member if member < first + late => Turn::Late(LATE),
            _ => Turn::Rush,
        }
    }

    async fn prepare(crowd: &Crowd) -> Result<()> {
        let members = crowd.buyers.iter().filter(|buyer| buyer.turn != Turn::Rush).map(|buyer| &buyer.user);
        crowd.operator.add_to_group(&group(), &members.collect::<Vec<_>>()).await
    }

    async fn count(found: &Found<'_>) -> Result<Figures> {
        let round = found.crowd.ledgers_round().await?;
        // From the ledger's list rather than from this program's.
        let groups = &[group()];
        let users: HashSet<&UserId> = found.orders.iter().map(|order| &order.reservation.user).collect();
        let listed = stream::iter(users).map(|user| async move {
            let is_member = !found.crowd.ledger.groups_of(user, groups).await?.is_empty();
            anyhow::Ok(is_member.then_some(user))
        });
        let listed: Vec<Option<&UserId>> = listed.buffer_unordered(AT_ONCE).try_collect().await?;
        let members: HashSet<&UserId> = listed.into_iter().flatten().collect();
        let bought = |order: &Order| Bought {
            at: order.reservation.reserved_at_ms,
            by_member: members.contains(&order.reservation.user),
            is_live: order.state.is_live(),
        };
        let bought: Vec<Bought> = found.orders.iter().map(bought).collect();
        let mut figures = counted(&round.terms, &bought).with_context(|| format!("round {} has no quota", round.id))?;
        figures.gap();
        figures.both("paid", "paid", found.count(OrderState::Paid));
        found.unsold(&mut figures);
        Ok(figures)
    }
}

fn counted(terms: &Terms, bought: &[Bought]) -> Option<Figures> {
    let (quota, until) = terms.quota()?;
    let (first, opens) = (terms.first_opens_at_ms(), terms.opens_at_ms);
    // Before the opening, while the quota lasts, and afterwards.
    let mut phases = [Phase::default(); 3];
    for one in bought {
        phases[usize::from(one.at >= opens) + usize::from(one.at >= until)].add(one);
    }
    let last = bought.iter().map(|one| one.at.since_ms(first)).max().unwrap_or(0);
    let step_ms = (last / MOST_BARS / 1000 + 1) * 1000;
    let mut steps = vec![Phase::default(); if bought.is_empty() { 0 } else { (last / step_ms) as usize + 1 }];
    bought.iter().for_each(|one| steps[(one.at.since_ms(first) / step_ms) as usize].add(one));
    let lead_s = terms.early_access.iter().map(|early| early.lead_s).max()?;
    let quota_for_s = u32::try_from(until.since_ms(opens) / 1000).ok()?;
    // Live orders of others from before the time at which the quota becomes everyone's.
    let others = bought.iter().filter(|one| one.is_live && !one.by_member && one.at < until).count();
    let most = terms.total - quota;

    let mut figures = Figures::new(phases[0].others == 0 && others <= most as usize);
    figures.row("members' quota", format!("{quota} of {}, for {quota_for_s} s", terms.total));
    figures.gap();
    figures.row("reservations", "members    others");
    figures.row(&format!("  in {lead_s} s before the opening"), phases[0]);
    figures.row("  while the quota lasts", phases[1]);
    figures.row("  afterwards", phases[2]);
    let verdict = if figures.is_right { "at most" } else { "NOT at most" };
    figures.row("others until then, live", format!("{others}, {verdict} {most}"));
    figures.gap();
    let seconds = step_ms / 1000;
    let how = format!("members    others   in steps of {seconds} s, from the members' opening");
    figures.row("who bought when", how);
    let all = |step: &Phase| step.members + step.others;
    let largest = steps.iter().map(all).max().unwrap_or(0) as f64;
    for (at, step) in (0_u64..).zip(&steps).filter(|(_, step)| all(step) > 0) {
        let part = |count: usize| bar(count as f64 / largest);
        let bars = format!("{}{}", part(step.members), part(step.others).replace('█', "░"));
        figures.row(&format!("  {} s", at * seconds), format!("{step}   {bars}"));
    }
    figures.facts(json!({
        "units": terms.total, "lead_s": lead_s, "quota": quota, "quota_for_s": quota_for_s, "phases": phases,
        "others_until_then": others, "step_ms": step_ms, "steps": steps,
    }));
    Some(figures)
}

impl Phase {
    fn add(&mut self, one: &Bought) {
        *(if one.by_member { &mut self.members } else { &mut self.others }) += 1;
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>7} {:>9}", self.members, self.others)
    }
}

#[cfg(test)]
mod tests {
    use ::sale::DoorTerms;

    use super::*;

    /// Opens at 100 s, for members at 92 s; 4 of 10 are their quota until 120 s.
    fn members_first(bought: &[(i64, bool, bool)]) -> Figures {
        let early_access =
            json!([{ "group": group(), "lead_s": LEAD_S, "quota": { "units": 4, "for_s": QUOTA_FOR_S } }]);
        let terms = json!({
            "title": "A lamp", "opens_at_ms": 100_000, "closes_at_ms": 1_000_000, "total": 10, "per_user_limit": 1,
            "price_minor": 990, "currency": "EUR", "payment_window_s": 900, "door": DoorTerms::default(),
            "early_access": early_access,
        });
        let bought = bought.iter().map(|&(at, by_member, is_live)| Bought { at: EpochMs(at), by_member, is_live });
        counted(&serde_json::from_value(terms).unwrap(), &bought.collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn phases_change_at_their_moments() {
        let Figures { facts, text, is_right } = members_first(&[
            (92_000, true, true),
            (99_999, true, true),
            (100_000, false, true),
            (119_999, false, false),
            (120_000, false, true),
        ]);
        let phase = |members, others| Phase { members, others };
        assert_eq!(facts["phases"], json!([phase(2, 0), phase(0, 2), phase(0, 1)]));
        let steps = facts["steps"].as_array().unwrap().len();
        assert_eq!((&facts["others_until_then"], &facts["step_ms"], steps), (&json!(1), &json!(2_000), 15));
        assert!(is_right && text.contains("1, at most 6"), "{text}");
    }

    #[test]
    fn who_comes_too_early_or_takes_of_the_quota_is_found() {
        assert!(!members_first(&[(99_999, false, false)]).is_right);
        let others = |count| members_first(&(0..count).map(|at| (100_000 + at, false, true)).collect::<Vec<_>>());
        assert!(others(6).is_right && others(0).is_right);
        assert!(!others(7).is_right && others(7).text.contains("7, NOT at most 6"));
    }
}
