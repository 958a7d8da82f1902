use std::collections::{HashSet, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use parking_lot::Mutex;
use sale::Settlement;

use crate::demo::crowd::{Buyer, Crowd, Habit, Wave, everybody};
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

/// Follows every reservation to its end. In a sale for money some pay, some cancel, some let the window pass, and once
/// the rush is over, other people wait for returned units and buy them. In a free one, an order is final. If the
/// demo is held, others buy in a browser as well: then it ends when nothing is left for the crowd.
pub(super) async fn settle(crowd: &Crowd, rush_is_over: &AtomicBool) -> Result<()> {
    let is_free = matches!(crowd.offer.settlement, Settlement::Free);
    let (name, good) = if is_free { ("Orders", "granted") } else { ("Payments, expiry, resale", "paid") };
    let goal = (crowd.plan.units as usize).min(crowd.buyers.len());
    let mut stage = Stage::steps_beside(name, goal);
    let mut ended: HashSet<String> = HashSet::new();
    let mut done = 0;
    let mut waiting: Option<VecDeque<&Buyer>> = None;
    let mut deadline = None;
    let mut in_vain = 0;
    if !is_free {
        fill_in_forms(crowd, rush_is_over).await;
    }
    loop {
        done += poll(crowd, &mut ended).await.iter().filter(|status| *status == good).count();
        stage.set(done);
        if rush_is_over.load(Ordering::Acquire) {
            stage.log();
            let waiting = waiting.get_or_insert_with(|| crowd.without_reservation());
            let open = crowd.open_reservations(&ended).len();
            let nobody_waits = is_free || waiting.is_empty();
            if open == 0 && (done >= goal || nobody_waits || (crowd.plan.hold && in_vain >= IN_VAIN)) {
                break;
            }
            let windows_s = if is_free { 0 } else { 2 * crowd.plan.payment_window_s() };
            let patience = PATIENCE + Duration::from_secs(windows_s.into());
            if Instant::now() >= *deadline.get_or_insert_with(|| Instant::now() + patience) {
                bail!("{done} of {goal} units are {good}, and {open} reservations have not ended");
            }
            // In a line, people wait for their turn instead of trying again.
            if done < goal && !is_free && crowd.offer.line.is_none() {
                let got = reload(crowd, waiting).await;
                in_vain = if got == 0 { in_vain + 1 } else { 0 };
            }
        }
        tokio::time::sleep(POLL_EVERY).await;
    }
    stage.done(format!("{done} {good}"));
    Ok(())
}

/// Waits until the first who got a unit have filled in their forms, or everybody has come.
async fn fill_in_forms(crowd: &Crowd, rush_is_over: &AtomicBool) {
    let form_takes = FORM_TAKES.min(Duration::from_secs(u64::from(crowd.plan.payment_window_s())) / 2);
    let mut began = None;
    while !rush_is_over.load(Ordering::Acquire) && began.is_none_or(|began: Instant| began.elapsed() < form_takes) {
        if !crowd.promised.lock().accepted.is_empty() {
            began.get_or_insert_with(Instant::now);
        }
        tokio::time::sleep(POLL_EVERY).await;
    }
}

/// Polls every reservation that has not ended. Returns the statuses of those that have ended now.
async fn poll(crowd: &Crowd, ended: &mut HashSet<String>) -> Vec<String> {
    let ended_now = Mutex::new(Vec::new());
    everybody(&crowd.open_reservations(ended), AT_ONCE, async |(id, buyer, wave)| {
        if let Some(status) = follow(crowd, buyer, *wave, id).await {
            ended_now.lock().push((id.clone(), status));
        }
    })
    .await;
    let (ids, statuses): (Vec<String>, Vec<String>) = ended_now.into_inner().into_iter().unzip();
    ended.extend(ids);
    statuses
}

/// Does what its buyer does with a reservation. Returns its status once it has ended.
async fn follow(crowd: &Crowd, buyer: &Buyer, wave: Wave, id: &str) -> Option<String> {
    let status = crowd.status(buyer, id).await?;
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

/// Some who wait try again, and queue up again if they get nothing. Returns how many got something.
async fn reload(crowd: &Crowd, waiting: &mut VecDeque<&Buyer>) -> usize {
    let trying: Vec<&Buyer> = (0..RELOADS).filter_map(|_| waiting.pop_front()).collect();
    let got = futures::future::join_all(trying.iter().map(|buyer| crowd.try_again(buyer))).await;
    waiting.extend(trying.into_iter().zip(&got).filter(|(_, got)| !**got).map(|(buyer, _)| buyer));
    got.into_iter().filter(|got| *got).count()
}
