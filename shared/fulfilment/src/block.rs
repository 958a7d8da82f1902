//! Blocks users. The ledger has the blocks. Requests are checked against Redis, which has a note in the user's record
//! in each loaded round, so nobody has to read the whole list.

use futures::future::BoxFuture;
use std::time::Duration;

use futures::future::join_all;
use ledger::{BlockReason, Ledger, MAX_BLOCKS, UserBlock, ViolationOutcome};
use runtime::Clock;
use sale::{DoorTerms, EpochMs, Round, UserId};
use stock::{RoundStock, Stock};

use crate::error::{FulfilmentError, Result};

/// The longest wait for a violation to be counted, and for the block it may cause.
const VIOLATION_TIMEOUT: Duration = Duration::from_secs(3);
const AT_ONCE: usize = 8;
/// How many notes of a round a run changes, since each is first looked up in the ledger. The next run does the rest.
const CHANGES_PER_RUN: usize = 1000;

/// Blocks a user, in the ledger and then in every loaded round. Returns the block that is in force then.
///
/// If Redis does not answer, or the process dies in between, reconciliation adds the missing notes.
pub async fn block(stock: &Stock, ledger: &Ledger, block: &UserBlock, now: EpochMs) -> Result<UserBlock> {
    let stands = ledger.block(block).await?;
    note(stock, ledger, &stands.user, Some(stands.until_ms), now).await;
    Ok(stands)
}

/// Allows a user again, in the ledger and then in every loaded round; see [`block`].
pub async fn allow(stock: &Stock, ledger: &Ledger, user: &UserId, now: EpochMs) -> Result<()> {
    ledger.allow(user).await?;
    note(stock, ledger, user, None, now).await;
    Ok(())
}

/// Counts a violation. If it is one too many, blocks the user in the ledger and then in every loaded round; see
/// [`block`].
///
/// Returns `None` and logs a warning if DynamoDB does not answer in time; the violation may or may not be counted then.
/// No answer depends on it, so nobody waits longer or retries.
pub fn count_violation<'a>(
    stock: &'a Stock,
    ledger: &'a Ledger,
    user: &'a UserId,
    violation: BlockReason,
    door: &'a DoorTerms,
    clock: Clock,
) -> BoxFuture<'a, Option<ViolationOutcome>> {
    Box::pin(async move {
        let now = clock.now();
        let counting = async {
            let outcome = ledger.count_violation(user, violation, door, now).await?;
            if let ViolationOutcome::Blocked(until) = outcome {
                note(stock, ledger, user, Some(until), now).await;
            }
            Ok(outcome)
        };
        let counted = tokio::time::timeout(clock.limit(VIOLATION_TIMEOUT), counting).await;
        let late = |error: &FulfilmentError| {
            tracing::warn!(error = error as &dyn std::error::Error, %user, "a violation may not be counted");
        };
        counted.unwrap_or(Err(FulfilmentError::OutOfTime)).inspect_err(late).ok()
    })
}

async fn note(stock: &Stock, ledger: &Ledger, user: &UserId, until: Option<EpochMs>, now: EpochMs) {
    let late = |error: &(dyn std::error::Error + 'static)| {
        tracing::warn!(error, %user, "a block or its end did not reach Redis; reconciliation repairs that within a minute");
    };
    let rounds = match ledger.published_rounds(now).await {
        Ok(rounds) => rounds,
        Err(error) => return late(&error),
    };
    let notes = &[(user.clone(), until)];
    for some in rounds.chunks(AT_ONCE) {
        let noted = some.iter().map(|round| async { stock.of(round).note_blocks(notes).await });
        for error in join_all(noted).await.into_iter().filter_map(|noted| noted.err()) {
            late(&error);
        }
    }
}

/// Makes the notes in these rounds match the ledger, except in rounds that are over: adds those that Redis lost or
/// never had, and removes those of users who are allowed again. Returns how many were changed.
///
/// The list of blocks is read once, and may lag behind. So before a note is changed, the user's block is read from
/// the ledger consistently. That guards against a user who was blocked or allowed since the list was read. Fails if a
/// part does not answer: the last error, after all rounds were tried. Can be repeated, and can run concurrently.
pub async fn reconcile_blocks(stock: &Stock, ledger: &Ledger, rounds: &[Round], now: EpochMs) -> Result<usize> {
    let listed = ledger.blocked(now).await?;
    let (mut changed, mut failed) = (0, None);
    for round in rounds.iter().filter(|round| !round.is_over(now)) {
        let mut most = CHANGES_PER_RUN;
        for lane in stock.of(round).each_lane() {
            match reconcile_notes(lane, ledger, round, &listed, most, now).await {
                Ok(notes) => (changed, most) = (changed + notes, most - notes),
                // A shard that does not answer must not keep the others from getting notes.
                Err(error) => failed = Some(error),
            }
        }
    }
    failed.map_or(Ok(changed), Err)
}

/// The same in one lane, for the users whose home it is.
async fn reconcile_notes(
    lane: RoundStock<'_>,
    ledger: &Ledger,
    Round { id, .. }: &Round,
    listed: &[UserBlock],
    most: usize,
    now: EpochMs,
) -> Result<usize> {
    let complete = listed.len() < MAX_BLOCKS;
    let mut noted = lane.noted_blocks().await?;
    let at_home = listed.iter().filter(|block| lane.is_home_of(&block.user));
    let missing = at_home.filter(|block| noted.remove(&block.user) != Some(block.until_ms));
    let mut users: Vec<UserId> = missing.map(|block| block.user.clone()).collect();
    // A truncated list says nothing about users who are not in it.
    let stale = noted.into_iter().filter(|(_, until)| complete || *until <= now);
    users.extend(stale.map(|(user, _)| user));
    users.truncate(most);
    if users.is_empty() || !lane.is_loaded().await? {
        return Ok(0);
    }
    let mut truth = ledger.blocks_of(&users).await?;
    let until = |user: UserId| {
        let until = truth.remove(&user).map(|block| block.until_ms).filter(|until| *until > now);
        (user, until)
    };
    let notes: Vec<_> = users.into_iter().map(until).collect();
    if !lane.note_blocks(&notes).await? {
        return Ok(0);
    }
    tracing::info!(sale_id = %id.sale, round = id.number.0, notes = notes.len(), "repaired the notes of blocks");
    Ok(notes.len())
}
