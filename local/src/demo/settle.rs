use std::collections::{HashSet, VecDeque};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::client::payment_of;
use crate::demo::crowd::{Buyer, Crowd, Habit, Heard, Wave, everybody};
use crate::stages::Stage;

/// Requests in flight while orders are followed and while people try again.
const AT_ONCE: usize = 16;
/// How often the state of things is looked at, and how many of those who wait try again each time. A buyer may look twice a
/// second.
const LOOK_EVERY: Duration = Duration::from_secs(1);
const RELOADS: usize = 64;
/// So many looks in a row at which nobody gets anything say that others have the rest.
const IN_VAIN: usize = 4;
/// How long all of it may take after the rush and beyond two payment windows.
const PATIENCE: Duration = Duration::from_secs(120);

/// Follows every reservation to its end: some pay, some cancel, some let the window pass. Once the rush is over, others
/// wait for what comes back and buy it. With `others` who buy in a browser, it ends when nothing is left for the crowd.
pub(super) async fn pay_and_resell(crowd: &Crowd, rush_is_over: &AtomicBool, others: bool) -> Result<()> {
    let goal = crowd.units.min(crowd.buyers.len());
    let stage = Stage::steps("Payments, expiry, resale", goal);
    let mut ended: HashSet<String> = HashSet::new();
    let mut paid = 0;
    let mut waiting: Option<VecDeque<&Buyer>> = None;
    let mut deadline = None;
    let mut in_vain = 0;
    loop {
        let statuses = look(crowd, &mut ended, async |buyer, wave, id| follow(crowd, buyer, wave, id).await).await;
        paid += statuses.iter().filter(|status| *status == "paid").count();
        stage.set(paid);
        if rush_is_over.load(Ordering::Acquire) {
            let waiting = waiting.get_or_insert_with(|| crowd.without_reservation());
            let open = crowd.open_reservations(&ended).len();
            let everything_ended = open == 0;
            if everything_ended && (paid >= goal || waiting.is_empty() || (others && in_vain >= IN_VAIN)) {
                break;
            }
            let patience = PATIENCE + Duration::from_secs(u64::from(crowd.payment_window_s)) * 2;
            if Instant::now() >= *deadline.get_or_insert_with(|| Instant::now() + patience) {
                bail!("{paid} of {goal} units are paid and {open} reservations have not ended");
            }
            // Behind a line nobody comes twice.
            if paid < goal && !crowd.has_line {
                let got = reload(crowd, waiting).await;
                in_vain = if got == 0 { in_vain + 1 } else { 0 };
            }
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    stage.done(format!("{paid} paid"));
    Ok(())
}

/// Follows every reservation of a sale in which nobody pays, until it is an order: that is final.
pub(super) async fn see_orders(crowd: &Crowd, rush_is_over: &AtomicBool) -> Result<()> {
    let stage = Stage::steps("Orders", crowd.units.min(crowd.buyers.len()));
    let mut ended: HashSet<String> = HashSet::new();
    let mut granted = 0;
    let mut deadline = None;
    loop {
        let is_over = rush_is_over.load(Ordering::Acquire);
        let ordered = async |buyer: &Buyer, _: Wave, id: &str| {
            crowd.client.status(&buyer.token, id).await.ok().filter(|status| status != "queued")
        };
        let statuses = look(crowd, &mut ended, ordered).await;
        granted += statuses.iter().filter(|status| *status == "granted").count();
        stage.set(granted);
        let open = crowd.open_reservations(&ended).len();
        if is_over && open == 0 {
            break;
        }
        if is_over && Instant::now() >= *deadline.get_or_insert_with(|| Instant::now() + PATIENCE) {
            bail!("{granted} reservations are granted and {open} are no orders");
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    stage.done(format!("{granted} granted"));
    Ok(())
}

/// Looks at every reservation that has not ended. `end` says its status if it has. The statuses of those that have now.
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

/// Does what its buyer does with a reservation. Its status, once it has ended.
async fn follow(crowd: &Crowd, buyer: &Buyer, wave: Wave, id: &str) -> Option<String> {
    let status = crowd.client.status(&buyer.token, id).await.ok()?;
    match &*status {
        "queued" => None,
        "pending_payment" => {
            // Whatever fails here is tried again at the next look.
            match buyer.habit(wave) {
                Habit::Pays => drop(crowd.client.pay(&crowd.payment_key, id, &payment_of(id)).await),
                Habit::Cancels => drop(crowd.client.cancel(&buyer.token, id).await),
                Habit::Forgets => {}
            }
            None
        }
        _ => Some(status),
    }
}

/// Some of those who wait try again; who gets nothing waits on behind the others. How many got something.
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
