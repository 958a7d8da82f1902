//! The draw at the end of a round: fences off the entries, counts and publishes them, and gives each prize to its
//! winner.
//!
//! Every step is a conditional write to the ledger, and a run begins with the first step that is not done. So a run may
//! die anywhere, run twice or run concurrently: each decision is made once, by the ledger.
//!
//! The steps, and why they are safe:
//!
//! 1. **Fence.** Written once Redis sells no more by its own clock and no reservation waits for its order. If Redis
//!    lost the round, it does not know which reservations wait, but SQS does: then the order queue and its dead letters
//!    must be empty. After the fence, an order that may be late does not become an entry (`Ledger::place_within`), and
//!    nobody can extend the round (`Ledger::update_round`).
//! 2. **Close.** What is counted after the fence can no longer change. The number of entries and the root are
//!    published.
//! 3. **Beacon.** If the draw uses a beacon, the write of the root also names a future round of drand. The draw waits
//!    until an operator has posted its beacon.
//! 4. **Award.** Prize by prize: the order and the prize's own item in one transaction, then the message, then, once
//!    for many prizes, the progress. A run that dies in between sends some messages again, with the prize's number as
//!    their id.

use std::collections::{BTreeSet, HashMap};
use std::time::Instant;

use futures::{StreamExt, TryStreamExt, stream};
use ledger::{CHUNK_ENTRIES, ClosedDraw, Draw, DrawEntry, Ledger, Winner};
use messaging::queue::{OrderBacklog, WinnerMessage, WinnerQueue};
use runtime::Clock;
use sale::award::drand::DrandRound;
use sale::award::{self, Bytes32, Shuffle};
use sale::{Allocation, EpochMs, Round, RoundId};
use stock::Stock;

use crate::error::{FulfilmentError, Result};
use crate::status::{RESTORING_MS, restored_at};

/// Seconds from the end of a round until its entries are fenced off. The clocks of Redis, which ends a round, and of
/// the functions differ by much less, and no function works on an order for that long.
pub const DRAW_AFTER_S: u32 = 60;
/// How long after the fence entries are counted if Redis does not have the round and cannot say how many there are, in
/// milliseconds. The index usually lags by less than a second.
const INDEX_LAG_MS: u64 = 60 * 1000;
/// How long the queues must have been empty, from the first run that sees it to the run that relies on it, in
/// milliseconds. SQS's counts are at most a minute old, and a run may look at them up to a minute after it began.
const QUIET_MS: u64 = 2 * 60 * 1000;
/// How many chunks of entries are read concurrently: a megabyte, and several times that while it is parsed.
const CHUNKS_AT_ONCE: usize = 8;
const AT_ONCE: usize = 16;
/// Progress is saved after this many prizes, so a run that dies repeats at most this many messages.
const PRIZES_PER_NOTE: u32 = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DrawStands {
    /// Its round is not over, or has only just ended.
    TooEarly,
    /// Redis still sells, reservations wait for their orders, or Redis lost the round and messages may be under way.
    Entering,
    /// The entries are fenced off, but Redis knows more or fewer than the ledger shows.
    Counting,
    /// The entries are public, but the beacon has not been posted.
    AwaitingBeacon,
    /// This many prizes have winners, and more must be given.
    Awarding(u32),
    Drawn,
}

/// Advances the draw of a round as far as possible by `until`. Fails if a part does not answer, or something
/// contradicts the commitment. Can be repeated, and can run concurrently.
pub async fn draw(
    stock: &Stock,
    ledger: &Ledger,
    orders: &OrderBacklog,
    winners: &WinnerQueue,
    id: &RoundId,
    clock: Clock,
    until: Instant,
) -> Result<DrawStands> {
    let now = clock.now();
    // Not from a list, which may lag: the round's end decides.
    let round = ledger.round(id).await?.ok_or_else(|| FulfilmentError::UnknownSale(id.sale.clone()))?;
    if now < round.terms.closes_at_ms.plus_s(DRAW_AFTER_S) {
        return Ok(DrawStands::TooEarly);
    }
    let known = match ledger.draw(id).await? {
        Some(draw) => Some(draw),
        // `None` if the round was extended meanwhile.
        None if entries_are_in(stock, ledger, orders, &round, now).await? => ledger.fence_draw(&round, now).await?,
        None => None,
    };
    let Some(known) = known else { return Ok(DrawStands::Entering) };
    if known.drawn_at_ms.is_some() {
        return Ok(DrawStands::Drawn);
    }
    let known = if known.closed.is_some() { Some(known) } else { close(stock, ledger, &round, &known, clock).await? };
    let Some(Draw { closed: Some(closed), awarded, .. }) = known else { return Ok(DrawStands::Counting) };
    let seed = ledger.committed_seed(&round).await?;
    let randomness = match (round.terms.allocation.has_beacon(), closed.drand_round) {
        (false, _) => None,
        (true, Some(_)) => match ledger.beacon(id).await? {
            Some(beacon) => Some(beacon.randomness()),
            None => return Ok(DrawStands::AwaitingBeacon),
        },
        (true, None) => return Err(FulfilmentError::NoDrandRound(id.clone())),
    };
    let key = award::shuffle_key(&seed, randomness.as_ref());
    let (shuffle, at) = (Shuffle::new(closed.entries, &key), EpochMs(now.0.max(closed.at_ms.0)));
    let awarding = Awarding { ledger, winners, round: &round, closed, shuffle, at };
    awarding.go_on(awarded, until).await
}

/// Whether nobody can get a unit of the round any more. An early end reaches the ledger first and Redis a moment later,
/// so both are asked. Redis's clock ends a round, so Redis must agree.
async fn is_over_for_all(stock: &Stock, round: &Round, now: EpochMs) -> Result<bool> {
    let is_over = |closes_at: EpochMs| closes_at.plus_s(DRAW_AFTER_S) <= now;
    if !is_over(round.terms.closes_at_ms) {
        return Ok(false);
    }
    match stock.round(&round.id).counters().await? {
        None => Ok(true),
        Some(counters) => Ok(is_over(counters.closes_at_ms) && stock.round(&round.id).is_over(&counters).await?),
    }
}

/// Whether every promised reservation of a round is in the ledger, as far as anybody can tell: none is held without an
/// order, and there are as many orders as units that Redis has given out. The outbox alone proves nothing: it is read
/// in pages, and reconciliation may move its elements. If Redis lost the round, the queues know.
async fn entries_are_in(
    stock: &Stock,
    ledger: &Ledger,
    orders: &OrderBacklog,
    round: &Round,
    now: EpochMs,
) -> Result<bool> {
    if !is_over_for_all(stock, round, now).await? {
        return Ok(false);
    }
    if stock.round(&round.id).held_since(usize::MAX).await?.is_some() {
        return Ok(false);
    }
    // A failover may have forgotten some held reservations, and a dead letter is retried for minutes after the others.
    if !orders.has_no_dead_letters().await? {
        return Ok(false);
    }
    // Read last: if Redis loses the round meanwhile, the counters show it.
    let counters = stock.round(&round.id).counters().await?;
    let restored = counters.as_ref().and_then(|counters| restored_at(round, counters));
    if (counters.is_none() || restored.is_some()) && !is_resolved(ledger, orders, round, restored, now).await? {
        return Ok(false);
    }
    let Some(counters) = counters else { return Ok(true) };
    let given = u64::from(counters.total() - counters.free());
    // An order in Redis that the ledger does not have must be repaired, but is no reason to wait for ever.
    let has_had_its_time = now.since_ms(round.terms.closes_at_ms.plus_s(DRAW_AFTER_S)) >= RESTORING_MS;
    Ok(has_had_its_time || ledger.count_entries(&round.id).await? >= given)
}

/// Whether every reservation of a round that Redis lost, and may have had again since `restored`, has become an order
/// or never will: enough time has passed, and no message is left in the order queue or its dead letters.
async fn is_resolved(
    ledger: &Ledger,
    orders: &OrderBacklog,
    round: &Round,
    restored: Option<EpochMs>,
    now: EpochMs,
) -> Result<bool> {
    let id = &round.id;
    let is_quiet = orders.is_empty().await?;
    let loss = ledger.note_loss(id, now, is_quiet).await?;
    // A message that is between sender, queue and function has had enough time to arrive.
    let has_had_its_time = now.since_ms(restored.unwrap_or(loss.seen_at_ms)) >= RESTORING_MS;
    let stays_quiet = is_quiet && loss.quiet_since_ms.is_some_and(|since| now.since_ms(since) >= QUIET_MS);
    let is_resolved = has_had_its_time && stays_quiet;
    if !is_resolved {
        tracing::warn!(sale_id = %id.sale, round = id.number.0, ?loss, "Redis lost the round: orders may be under way");
    }
    Ok(is_resolved)
}

/// Counts the entries and publishes them. Returns `None` if some cannot be seen yet, because the index lags or Redis
/// must be repaired. After a quarter of an hour the ledger's count alone is used.
async fn close(stock: &Stock, ledger: &Ledger, round: &Round, known: &Draw, clock: Clock) -> Result<Option<Draw>> {
    let id = &round.id;
    let since_fence = clock.now().since_ms(known.fenced_at_ms);
    let entries = ledger.entries(id).await?;
    let in_redis = stock.round(id).counters().await?.map(|counters| counters.total() - counters.free());
    let is_complete = match in_redis {
        Some(sold) => sold as usize == entries.len(),
        None => since_fence >= INDEX_LAG_MS,
    };
    if !is_complete && since_fence < RESTORING_MS {
        tracing::info!(sale_id = %id.sale, round = id.number.0, in_redis, in_ledger = entries.len(), "not all entries are in the ledger yet");
        return Ok(None);
    }
    if !is_complete {
        tracing::error!(sale_id = %id.sale, round = id.number.0, in_redis, in_ledger = entries.len(), "the ledger counts");
    }
    let root = award::merkle::root_of_hashes(entries.iter().map(|entry| entry.leaf).collect());
    ledger.keep_entries(id, &root, &entries).await?;
    let count = u32::try_from(entries.len()).unwrap_or(u32::MAX);
    // Read again: the time that counting took must not shorten the minute by which the beacon lies ahead.
    let at_ms = clock.now();
    let drand_round = round.terms.allocation.has_beacon().then(|| DrandRound::named_at(at_ms.0));
    let closed = ClosedDraw { entries: count, root, at_ms, drand_round };
    let closed = ledger.close_draw(id, &closed).await?;
    tracing::info!(sale_id = %id.sale, round = id.number.0, entries = count, "entries are closed");
    Ok(Some(closed))
}

struct Awarding<'a> {
    ledger: &'a Ledger,
    winners: &'a WinnerQueue,
    round: &'a Round,
    closed: ClosedDraw,
    shuffle: Shuffle,
    /// When the run began or, if later, when the entries closed.
    at: EpochMs,
}

impl Awarding<'_> {
    async fn go_on(&self, mut awarded: u32, until: Instant) -> Result<DrawStands> {
        let (id, Allocation::Prizes { prizes, .. }) = (&self.round.id, &self.round.terms.allocation) else {
            return Ok(DrawStands::Drawn);
        };
        let counts: Vec<u32> = prizes.iter().map(|prize| prize.count).collect();
        let to_win = counts.iter().sum::<u32>().min(self.closed.entries);
        // Reads each chunk once, however many prizes are drawn from it. A million entries take 36 MB.
        let mut chunks = HashMap::new();
        while awarded < to_win {
            if Instant::now() >= until {
                return Ok(DrawStands::Awarding(awarded));
            }
            let next = (awarded + PRIZES_PER_NOTE).min(to_win);
            self.give(&counts, awarded, next, &mut chunks).await?;
            // Another run may be further ahead.
            awarded = self.ledger.advance_draw(id, next).await?.awarded.max(next);
        }
        self.ledger.finish_draw(id, self.at).await?;
        tracing::info!(sale_id = %id.sale, round = id.number.0, prizes = to_win, "drawn");
        Ok(DrawStands::Drawn)
    }

    async fn give(&self, counts: &[u32], from: u32, to: u32, chunks: &mut HashMap<u32, Vec<DrawEntry>>) -> Result<()> {
        let prizes = (from..to).zip(award::prizes(counts).skip(from as usize));
        let drawn: Vec<_> = prizes.map(|(at, prize)| (at + 1, prize, self.shuffle.unshuffled(at))).collect();
        let wanted: BTreeSet<u32> = drawn.iter().map(|(.., index)| index / CHUNK_ENTRIES as u32).collect();
        let missing: Vec<u32> = wanted.into_iter().filter(|chunk| !chunks.contains_key(chunk)).collect();
        let reads = missing.into_iter().map(|chunk| async move {
            let entries = self.ledger.entries_chunk(&self.round.id, &self.closed.root, chunk).await?;
            Ok::<_, FulfilmentError>((chunk, entries.unwrap_or_default()))
        });
        let read: Vec<_> = stream::iter(reads).buffer_unordered(CHUNKS_AT_ONCE).try_collect().await?;
        chunks.extend(read);
        let chunks = &*chunks;
        let gives = drawn.into_iter().map(|(position, prize, index)| async move {
            let entry = chunks[&(index / CHUNK_ENTRIES as u32)].get(index as usize % CHUNK_ENTRIES);
            self.give_one(position, prize, index + 1, entry).await
        });
        let mut gives = stream::iter(gives).buffer_unordered(AT_ONCE);
        while let Some(given) = gives.next().await {
            given?;
        }
        Ok(())
    }

    async fn give_one(&self, position: u32, prize: u64, number: u32, entry: Option<&DrawEntry>) -> Result<()> {
        let id = &self.round.id;
        let none = || FulfilmentError::NoEntry(id.clone(), number);
        let DrawEntry { unit, leaf } = *entry.ok_or_else(none)?;
        let order_id = self.ledger.owner_of(id, unit).await?.ok_or_else(none)?;
        let own_leaf: Bytes32 = award::merkle::leaf_hash(&award::merkle::entry(unit.0, &order_id.to_string()));
        if own_leaf != leaf {
            return Err(none());
        }
        let prize = u16::try_from(prize).unwrap_or(u16::MAX);
        let winner = Winner { order_id, entry: number, unit, prize, awarded_at_ms: self.at, notified_at_ms: None };
        let winner = self.ledger.award_prize(id, position, &winner).await?;
        if winner.notified_at_ms.is_none() {
            self.winners.send(&WinnerMessage::new(id.clone(), position)).await?;
        }
        Ok(())
    }
}
