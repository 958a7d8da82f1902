//! Runs all checks on a finished run.

use std::collections::{BTreeMap, HashMap};

use anyhow::{Context, Result};
use aws_sdk_dynamodb::Client as DynamoDb;
use history::{Buyers, History, LedgerReading, Name, Round, Supply};

use super::board::OnSale;
use super::check::{self, Check, Opened};
use super::director::PAYMENT_WINDOW_S;
use super::drain::{Audited, Rest};
use super::operator::DAILY;
use super::report::{Report, most_keys};
use super::run::Run;
use super::sample::Sample;
use super::tally::Counts;
use super::watch::pause_s;
use crate::recorded::{self, every_order};

/// How long after the last payment window reconciliation may still touch a round.
const SETTLES_S: f64 = 90.0;

pub(super) async fn judge(run: &Run, rest: Rest, samples: &[Sample], alarms: Check) -> Result<Report> {
    let deployment = &run.system.deployment;
    let (read_at, clocks) = (run.recorder.now_ns(), run.recorder.clocks());
    let dynamodb = DynamoDb::new(&deployment.patient_aws_config());
    let orders = every_order(&dynamodb, &deployment.table).await?;
    let lasts_s = run.program.lasts_s();
    let of_run: Vec<Sample> = samples.iter().filter(|sample| sample.at_s <= lasts_s).cloned().collect();

    let (memory, memory_growth) = check::memory(&of_run, lasts_s);
    let mut checks = vec![events(run), side_by_side(run), audits(&rest), memory];
    checks.extend(check::redis(&of_run, lasts_s));
    checks.extend(check::lives(samples));
    checks.push(check::rounds(samples, &opened(run)));
    checks.extend(check::queues(samples));

    let ledger = deployment.ledger();
    let mut history = run.recorder.take();
    let last_asked_ns = last_asked_ns(&history);
    for one in run.board.all() {
        let round = ledger.round(&one.round).await?.with_context(|| format!("the ledger has lost {}", one.round))?;
        let ledger = if rest.is_at_rest { LedgerReading::AtRest(read_at) } else { LedgerReading::NotRead };
        let last_ns = last_asked_ns.get(&Name::of(&one.round.to_string())).copied().unwrap_or_default();
        let over_ns = run.recorder_ns(settled_s(run, &one)).max(last_ns);
        let (redis, buyers) = (run.noted.lock().redis_between(one.made_ns, over_ns), Buyers::Recorded);
        recorded::add_round(&mut history, &round, &orders, recorded::RoundFacts { redis, buyers, clocks, ledger });
    }
    let (told, file) = recorded::judge(&history, "soak")?;
    let mut wrong = told.objections();
    if !has_whole_day(&history) {
        wrong.push("units came to every day of the daily sale later, so no `sold_out` of it was checked".to_owned());
    }
    let kept = file.map(|file| format!("; the history is in {}", file.display())).unwrap_or_default();
    let found = format!("{} operations{kept}", told.judged.operations);
    checks.push(Check::of("all answers are consistent", found, wrong));

    let counts = run.tally.lock().clone();
    checks.push(misbehaving(&counts));
    checks.push(check::calm(counts.calm_requests, &counts.calm_errors));
    checks.push(alarms);
    let mut by_state: BTreeMap<String, u64> = BTreeMap::new();
    for order in &orders {
        *by_state.entry(order.state.status().to_owned()).or_default() += 1;
    }
    let (mut events, killed, scripts) = {
        let noted = run.noted.lock();
        (noted.done.clone(), noted.killed, noted.scripts.clone())
    };
    events.sort_by(|one, other| one.at_s.total_cmp(&other.at_s));
    Ok(Report {
        passed: checks.iter().all(|check| check.passed),
        program: run.program.clone(),
        checks,
        events,
        killed,
        scripts,
        counts,
        memory: memory_growth,
        rest,
        orders: by_state,
        items: items(&dynamodb, &deployment.table).await?,
        history: told.to_string(),
        samples: samples.len(),
        last: samples.last().cloned(),
        most_keys: most_keys(samples),
    })
}

/// Whether every planned event has happened, and at least one of each kind.
fn events(run: &Run) -> Check {
    let done = run.noted.lock().done.clone();
    let mut wrong: Vec<String> =
        done.iter().filter(|done| !done.succeeded).map(|done| format!("{}: {}", done.what, done.found)).collect();
    for kind in run.program.kinds() {
        if !done.iter().any(|done| done.kind == kind && done.succeeded) {
            wrong.push(format!("never: {kind}"));
        }
    }
    if done.len() < run.program.events.len() {
        wrong.push(format!("{} of {} events", done.len(), run.program.events.len()));
    }
    Check::of("every planned event has happened", format!("{} events", done.len()), wrong)
}

/// Whether both versions sold at the same time, each with its own script.
fn side_by_side(run: &Run) -> Check {
    let both_known = run.noted.lock().both_known;
    let counts = run.tally.lock().side_by_side.clone();
    let mut wrong = Vec::new();
    if !both_known {
        wrong.push("Redis never knew both scripts".to_owned());
    }
    let [old, new] = ["old", "new"].map(|side| counts.get(side).copied().unwrap_or_default());
    // Each visitor tosses a coin.
    if old.min(new) * 3 < old.max(new) || old == 0 {
        wrong.push("one of them got hardly any requests".to_owned());
    }
    let found = format!("{old} requests for a unit to the old version and {new} to the new one, while there were both");
    Check::of("old and new version sell side by side", found, wrong)
}

/// Whether the misbehaving were refused. Without a refusal, nobody tried.
fn misbehaving(counts: &Counts) -> Check {
    let mut wrong = counts.got_away_with.clone();
    if counts.refused == 0 {
        wrong.push("no attempt was refused".to_owned());
    }
    Check::of("misbehaving gets nobody anything", format!("{} attempts were refused", counts.refused), wrong)
}

fn audits(rest: &Rest) -> Check {
    let wrong: Vec<String> = rest.audits.iter().filter_map(Audited::wrong).collect();
    let sum = |of: fn(&Audited) -> u64| rest.audits.iter().map(of).sum::<u64>();
    let found = format!(
        "{} rounds with {} units; {} oversold, {} lost, {} duplicated",
        rest.audits.len(),
        sum(|audit| audit.total),
        sum(|audit| audit.oversold),
        sum(|audit| audit.lost),
        sum(|audit| audit.duplicated)
    );
    let pending = (rest.pending > 0).then(|| format!("{} orders are unpaid", rest.pending));
    Check::of("every unit is in exactly one place", found, [wrong, pending.into_iter().collect()].concat())
}

/// Whether all units of some day were on sale from its opening on. Otherwise the checker skips `sold_out` and the
/// numbers of units on all of them. The program has such days, with neither restock nor edit.
fn has_whole_day(history: &History) -> bool {
    let is_day = |round: &Round| round.id.rsplit_once('.').is_some_and(|(sale, _)| sale == DAILY);
    history.rounds.iter().any(|round| is_day(round) && round.supply == Supply::AtOnce)
}

/// The recorder's time of the last request about each round: the last visitors stay longer than their round.
fn last_asked_ns(history: &History) -> HashMap<Name, u64> {
    let mut last: HashMap<Name, u64> = HashMap::new();
    for operation in &history.operations {
        let last = last.entry(operation.round).or_default();
        *last = operation.return_ns.unwrap_or(operation.call_ns).max(*last);
    }
    last
}

/// When nothing but a visitor's request touches a round any more, in seconds from the beginning.
fn settled_s(run: &Run, one: &OnSale) -> f64 {
    one.closes_s + f64::from(PAYMENT_WINDOW_S) + SETTLES_S.min(run.program.day_s)
}

/// The rounds that were opened. Each counts as over once it has settled and the next sample is taken.
fn opened(run: &Run) -> Vec<Opened> {
    let opened = run.board.all().into_iter().map(|one| Opened {
        over_s: settled_s(run, &one) + pause_s(run.program.lasts_s()),
        round: one.round.to_string(),
        lanes: one.lanes.into(),
    });
    opened.collect()
}

async fn items(client: &DynamoDb, table: &str) -> Result<BTreeMap<String, (u64, u64)>> {
    let mut items: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    let mut scan = client.scan().table_name(table).into_paginator().items().send();
    while let Some(item) = scan.next().await {
        let item = item?;
        let key = item.get("pk").and_then(|key| key.as_s().ok()).map_or("", |key| key);
        let prefix = key.split_once('#').map_or(key, |(prefix, _)| prefix);
        let (all, expire) = items.entry(prefix.to_owned()).or_default();
        *all += 1;
        *expire += u64::from(item.contains_key("expires_at"));
    }
    Ok(items)
}

#[cfg(test)]
mod tests {
    use history::{Clocks, Redis};

    use super::*;

    #[test]
    fn nobody_misbehaved_well_if_nobody_was_refused() {
        let with = |refused, got_away_with| misbehaving(&Counts { refused, got_away_with, ..Counts::default() });
        assert!(with(1, vec![]).passed);
        assert_eq!(with(0, vec![]).wrong, ["no attempt was refused"]);
        assert_eq!(with(9, vec!["no token".to_owned()]).wrong, ["no token"]);
    }

    #[test]
    fn a_day_whose_units_come_later_is_no_whole_day() {
        let of = |id: &str, supply| History { rounds: vec![round(id, supply)], ..History::default() };
        assert!(has_whole_day(&of("daily.3", Supply::AtOnce)));
        assert!(!has_whole_day(&of("daily.3", Supply::Withheld)));
        assert!(!has_whole_day(&of("drop-3.1", Supply::AtOnce)));
    }

    fn round(id: &str, supply: Supply) -> Round {
        Round {
            id: id.to_owned(),
            units: 1,
            limit: 1,
            supply,
            redis: Redis::Keeps,
            buyers: Buyers::Recorded,
            cooldown_ms: 0,
            clocks: Clocks::Apart,
            ledger: LedgerReading::NotRead,
        }
    }
}
