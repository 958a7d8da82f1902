use std::collections::{HashSet, VecDeque};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::demo::crowd::{Buyer, Crowd, Habit, Heard, Wave, everybody};
use crate::stages::Stage;

/// Requests in flight while orders are followed and people try again.
const AT_ONCE: usize = 16;
/// People fill in a form before they pay; this is how long the first of them takes, unless half the window is less.
const FORM_TAKES: Duration = Duration::from_secs(6);
/// How often reservations are polled, and how many waiting people try again each time. A buyer may poll twice a second.
const POLL_EVERY: Duration = Duration::from_secs(1);
const RELOADS: usize = 64;
/// After this many rounds in vain, somebody else must have the rest.
const IN_VAIN: usize = 4;
/// How long all of it may take after the rush, in addition to two payment windows.
const PATIENCE: Duration = Duration::from_secs(120);

/// Follows every reservation to its end: some pay, some cancel, some let the window pass. Once the rush is over, other
/// people wait for returned units and buy them. With `others`, people who buy in a browser, it ends when nothing is
/// left for the crowd.
pub(super) async fn pay_and_resell(crowd: &Crowd, rush_is_over: &AtomicBool, others: bool) -> Result<()> {
    let goal = crowd.units.min(crowd.buyers.len());
    let mut stage = Stage::steps_beside("Payments, expiry, resale", goal);
    let mut ended: HashSet<String> = HashSet::new();
    let mut paid = 0;
    let mut waiting: Option<VecDeque<&Buyer>> = None;
    let mut deadline = None;
    let mut in_vain = 0;
    fill_in_forms(crowd, rush_is_over).await;
    loop {
        let statuses = look(crowd, &mut ended, async |buyer, wave, id| follow(crowd, buyer, wave, id).await).await;
        paid += statuses.iter().filter(|status| *status == "paid").count();
        stage.set(paid);
        if rush_is_over.load(Ordering::Acquire) {
            stage.log();
            let waiting = waiting.get_or_insert_with(|| crowd.without_reservation());
            let open = crowd.open_reservations(&ended).len();
            let everything_ended = open == 0;
            if everything_ended && (paid >= goal || waiting.is_empty() || (others && in_vain >= IN_VAIN)) {
                break;
            }
            let patience = PATIENCE + Duration::from_secs(u64::from(crowd.payment_window_s)) * 2;
            if Instant::now() >= *deadline.get_or_insert_with(|| Instant::now() + patience) {
                bail!("{paid} of {goal} units are paid, and {open} reservations have not ended");
            }
            // In a line, people wait for their turn instead of trying again.
            if paid < goal && !crowd.has_line {
                let got = reload(crowd, waiting).await;
                in_vain = if got == 0 { in_vain + 1 } else { 0 };
            }
        }
        tokio::time::sleep(POLL_EVERY).await;
    }
    stage.done(format!("{paid} paid"));
    Ok(())
}

/// Waits until the first who got a unit have filled in their forms, or everybody has come.
async fn fill_in_forms(crowd: &Crowd, rush_is_over: &AtomicBool) {
    let form_takes = FORM_TAKES.min(Duration::from_secs(u64::from(crowd.payment_window_s)) / 2);
    let mut began = None;
    while !rush_is_over.load(Ordering::Acquire) && began.is_none_or(|began: Instant| began.elapsed() < form_takes) {
        if !crowd.promised().accepted.is_empty() {
            began.get_or_insert_with(Instant::now);
        }
        tokio::time::sleep(POLL_EVERY).await;
    }
}

/// Follows every reservation of a free sale until it is an order, which is final.
pub(super) async fn see_orders(crowd: &Crowd, rush_is_over: &AtomicBool) -> Result<()> {
    let mut stage = Stage::steps_beside("Orders", crowd.units.min(crowd.buyers.len()));
    let mut ended: HashSet<String> = HashSet::new();
    let mut granted = 0;
    let mut deadline = None;
    loop {
        let is_over = rush_is_over.load(Ordering::Acquire);
        if is_over {
            stage.log();
        }
        let ordered = async |buyer: &Buyer, _: Wave, id: &str| {
            crowd.status(buyer, id).await.ok().filter(|status| status != "queued")
        };
        let statuses = look(crowd, &mut ended, ordered).await;
        granted += statuses.iter().filter(|status| *status == "granted").count();
        stage.set(granted);
        let open = crowd.open_reservations(&ended).len();
        if is_over && open == 0 {
            break;
        }
        if is_over && Instant::now() >= *deadline.get_or_insert_with(|| Instant::now() + PATIENCE) {
            bail!("{granted} reservations are granted, and {open} have not become orders");
        }
        tokio::time::sleep(POLL_EVERY).await;
    }
    stage.done(format!("{granted} granted"));
    Ok(())
}

/// Polls every reservation that has not ended. `end` returns its status if it has. Returns the statuses of those that
/// have ended now.
async fn look(
    crowd: &Crowd,
    ended: &mut HashSet<String>,
    end: impl AsyncFn(&Buyer, Wave, &str) -> Option<String>,
) -> Vec<String> {
    let ended_now = Mutex::new(Vec::new());
    everybody(&crowd.open_reservations(ended), AT_ONCE, async |(id, buyer, wave)| {
        if let Some(status) = end(buyer, *wave, id).await {
            ended_now.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((id.clone(), status));
        }
    })
    .await;
    let (ids, statuses): (Vec<String>, Vec<String>) = ended_now.into_inner().unwrap_or_default().into_iter().unzip();
    ended.extend(ids);
    statuses
}

/// Does what its buyer does with a reservation. Returns its status once it has ended.
async fn follow(crowd: &Crowd, buyer: &Buyer, wave: Wave, id: &str) -> Option<String> {
    let status = crowd.status(buyer, id).await.ok()?;
    match &*status {
        "queued" => None,
        "pending_payment" => {
            // Whatever fails here is tried again in the next round.
            match buyer.habit(wave) {
                Habit::Pays => drop(crowd.pay(id).await),
                Habit::Cancels => drop(crowd.cancel(buyer, id).await),
                Habit::Forgets => {}
            }
            None
        }
        _ => Some(status),
    }
}

/// Some of the waiting people try again; those who get nothing go to the end of the queue. Returns how many got
/// something.
async fn reload(crowd: &Crowd, waiting: &mut VecDeque<&Buyer>) -> usize {
    let trying: Vec<&Buyer> = (0..RELOADS).filter_map(|_| waiting.pop_front()).collect();
    let heard = futures::future::join_all(trying.iter().map(|buyer| crowd.try_again(buyer))).await;
    let got = heard.iter().filter(|heard| **heard == Heard::Reserved).count();
    for (buyer, heard) in trying.into_iter().zip(heard) {
        if heard != Heard::Reserved {
            waiting.push_back(buyer);
        }
    }
    got
}
