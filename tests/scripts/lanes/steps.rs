//! Random steps on rounds with lanes, checked against a model.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use stock::Transfer;
use tests::round;

use super::{BUYER, Lanes, Replica, wait};
use crate::prelude::*;
use crate::sequences::{one_thread, run_cases};

const CASES: u32 = 24;

/// What happens to a round, one call to Redis at a time.
#[derive(Debug, Clone)]
enum Step {
    Reserve { user: u16 },
    ReserveAgain { request: usize },
    Confirm { reservation: usize },
    Release { reservation: usize },
    Reseat { reservation: usize },
    Donate { from: u16, to: u16, reseat: bool },
    // For any transfer so far.
    Accept { transfer: usize, user: u16 },
    TakeIn { transfer: usize },
    CloseTransfer { transfer: usize },
    Finish,
    Restock { lanes: u16, more: u32 },
    // Redis loses some of the lanes, one bit each, and they are loaded again.
    Lose { lanes: u16 },
    // All replicas catch up with their masters.
    Replicate,
    // Replicas of some of the lanes take over, one bit each, and reconciliation repairs what they missed.
    FailOver { lanes: u16 },
    // Time passes until returned units are on sale.
    Wait,
}

fn step() -> impl Strategy<Value = Step> {
    use Step::*;
    let recent = || prop_oneof![3 => 0..3usize, 1 => 0..20usize];
    prop_oneof![
        12 => (0..8u16).prop_map(|user| Reserve { user }),
        2 => recent().prop_map(|request| ReserveAgain { request }),
        4 => recent().prop_map(|reservation| Confirm { reservation }),
        4 => recent().prop_map(|reservation| Release { reservation }),
        2 => recent().prop_map(|reservation| Reseat { reservation }),
        5 => (0..4u16, 0..4u16, prop::bool::weighted(0.3)).prop_map(|(from, to, reseat)| Donate { from, to, reseat }),
        5 => (recent(), 0..8u16).prop_map(|(transfer, user)| Accept { transfer, user }),
        3 => recent().prop_map(|transfer| TakeIn { transfer }),
        3 => recent().prop_map(|transfer| CloseTransfer { transfer }),
        1 => Just(Finish),
        1 => (1..16u16, 1..9u32).prop_map(|(lanes, more)| Restock { lanes, more }),
        1 => prop_oneof![4 => (0..4u16).prop_map(|lane| 1 << lane), 2 => 1..16u16].prop_map(|lanes| Lose { lanes }),
        2 => Just(Replicate),
        2 => prop_oneof![4 => (0..4u16).prop_map(|lane| 1 << lane), 2 => 1..16u16].prop_map(|lanes| FailOver { lanes }),
        3 => Just(Wait),
    ]
}

/// The expected state, without Redis: who has which unit, and how many units there are.
#[derive(Default)]
struct Expected {
    /// Reservations with a unit, the latest last, and whether the ledger has their order.
    live: Vec<(Reservation, bool)>,
    transfers: Vec<Transfer>,
    /// Transfers whose units the recipient has.
    accepted: BTreeSet<(Lane, Lane, u64)>,
    requests: Vec<(uuid::Uuid, UserId)>,
    version: u32,
    replica: Option<Replica>,
}

/// The lanes whose bits are set, or the first lane if there is none.
fn lanes_of_bits(bits: u16, of: u16) -> Vec<Lane> {
    let lanes: Vec<Lane> = Lane::all(of).filter(|lane| bits >> lane.index() & 1 == 1).collect();
    if lanes.is_empty() { vec![Lane::new(0, of)] } else { lanes }
}

impl Expected {
    async fn perform(&mut self, lanes: &mut Lanes, step: &Step) -> Result<(), TestCaseError> {
        let of = lanes.terms.lanes;
        let some_user = |number: u16| user(format!("user-{number}"));
        match *step {
            Step::Reserve { user } => {
                let (id, user) = (fresh_id(&lanes.id), some_user(user));
                self.requests.push((id.uuid, user.clone()));
                let free_before = lanes.places().await.0;
                // A unit that is in cooldown now may be on sale by the time of the check.
                let now = clock();
                let answer = lanes.stock().reserve(id.uuid, &user, BuyerClass::EVERYONE).await.unwrap();
                match answer {
                    Reserve::Reserved(reservation) => {
                        prop_assert!(free_before.contains(&reservation.unit.0));
                        self.live.push((reservation, false));
                    }
                    // Units in cooldown are free but not on sale.
                    Reserve::SoldOut(_) => {
                        let counters = lanes.stock().counters().await.unwrap().unwrap();
                        let sells_nothing = |lane: &stock::Counters| lane.free() == 0 || lane.cooldown_until_ms > now;
                        prop_assert!(counters.lanes.iter().all(sells_nothing), "refused with {free_before:?} free");
                    }
                    other => prop_assert!(matches!(other, Reserve::AlreadyReserved(_)), "{other:?}"),
                }
            }
            Step::ReserveAgain { request } => {
                let Some((uuid, user)) = back(&self.requests, request) else { return Ok(()) };
                let answer = lanes.stock().reserve(uuid, &user, BuyerClass::EVERYONE).await.unwrap();
                let known = self.live.iter().find(|(reservation, _)| reservation.id.uuid == uuid);
                match (answer, known) {
                    (Reserve::Replayed(stored), Some((reservation, _))) => {
                        prop_assert_eq!(stored.reservation, reservation.clone())
                    }
                    (Reserve::Reserved(reservation), None) => self.live.push((reservation, false)),
                    (Reserve::Replayed(stored), None) => prop_assert!(!stored.state.is_live()),
                    (_, known) => prop_assert!(known.is_none()),
                }
            }
            Step::Confirm { reservation } => {
                let Some((reservation, _)) = back(&self.live, reservation) else { return Ok(()) };
                prop_assert!(lanes.stock().confirm(&reservation).await.unwrap());
                self.live.iter_mut().find(|(other, _)| *other == reservation).unwrap().1 = true;
            }
            Step::Release { reservation } => {
                let Some((reservation, _)) = back(&self.live, reservation) else { return Ok(()) };
                lanes.stock().release(&reservation, None, false).await.unwrap();
                self.live.retain(|(other, _)| *other != reservation);
            }
            Step::Reseat { reservation } => {
                // As if another order had its unit and then gives it back.
                let held: Vec<_> = self.live.iter().filter(|(_, ordered)| !ordered).cloned().collect();
                let Some((reservation, _)) = back(&held, reservation) else { return Ok(()) };
                let free = lanes.places().await.0;
                let reseated = lanes.stock().reseat(&reservation, stock::Refused::Unit).await.unwrap();
                let Reseated::To(new) = reseated else {
                    prop_assert!(reseated == Reseated::NoUnit && free.is_empty(), "{reseated:?} of {free:?}");
                    return Ok(());
                };
                prop_assert!(free.contains(&new.unit.0) && new.lane == reservation.lane);
                self.live.iter_mut().find(|(other, _)| *other == reservation).unwrap().0 = new;
                let view = lanes.stock().view().await.unwrap().unwrap();
                prop_assert!(lanes.stock().restore(&[reservation.unit], &view.counters).await.unwrap());
            }
            Step::Donate { from, to, reseat } => {
                let (from, to) = (Lane::new(from % of, of), Lane::new(to % of, of));
                if from != to {
                    let whom = if reseat { DonateFor::Reseat } else { BUYER };
                    if let Donated::Units(transfer) = lanes.stock().donate(from, to, whom).await.unwrap()
                        && !self.transfers.contains(&transfer)
                    {
                        self.transfers.push(transfer);
                    }
                }
            }
            Step::Accept { transfer, user } => {
                if let Some(transfer) = back(&self.transfers, transfer).filter(|transfer| !transfer.in_cooldown) {
                    let user = (0..).map(|number| some_user(user + number * 8));
                    let user = user.into_iter().find(|user| Lane::home_of(user, of) == transfer.to).unwrap();
                    let id = fresh_id(&lanes.id);
                    self.requests.push((id.uuid, user.clone()));
                    let answer = lanes.stock().accept(&transfer, id.uuid, &user, BuyerClass::EVERYONE).await.unwrap();
                    if let Reserve::Reserved(reservation) = answer {
                        self.live.push((reservation, false));
                    }
                    self.accepted.insert((transfer.from, transfer.to, transfer.id));
                }
            }
            Step::TakeIn { transfer } => {
                let Some(transfer) = back(&self.transfers, transfer) else { return Ok(()) };
                prop_assert!(lanes.stock().take_in(&transfer).await.unwrap());
                self.accepted.insert((transfer.from, transfer.to, transfer.id));
            }
            Step::CloseTransfer { transfer } => {
                // A record is deleted only after the other lane has the units.
                if let Some(transfer) = back(&self.transfers, transfer)
                    && self.accepted.contains(&(transfer.from, transfer.to, transfer.id))
                {
                    lanes.stock().close_transfer(&transfer).await.unwrap();
                }
            }
            Step::Finish => {
                for transfer in lanes.stock().open_transfers().await.unwrap() {
                    prop_assert!(lanes.stock().finish(&transfer).await.unwrap());
                    self.accepted.insert((transfer.from, transfer.to, transfer.id));
                }
            }
            Step::Restock { lanes: heard, more } => {
                lanes.terms.total += more;
                self.version += 1;
                let first = Round::new(lanes.id.clone(), lanes.terms.clone());
                let changed = Round { version: 1 + self.version, ..first };
                for (index, lane) in lanes.stock().each_lane().enumerate() {
                    if heard >> index & 1 == 1 {
                        lane.amend(&changed).await.unwrap();
                    }
                }
            }
            Step::Lose { lanes: lost } => {
                let are_lost = lanes_of_bits(lost, of);
                self.replica = None;
                for lane in &are_lost {
                    lanes.lose(lane.index()).await;
                }
                prop_assert!(lanes.stock().view().await.unwrap().is_none());
                // Processes that are in the middle of a transfer of these lanes go on after the load.
                self.live.retain(|(reservation, ordered)| *ordered || !are_lost.contains(&reservation.lane));
                let ordered = self.live.iter().filter(|(_, ordered)| *ordered);
                let taken: Vec<Reservation> = ordered.map(|(reservation, _)| reservation.clone()).collect();
                prop_assert!(lanes.load(&taken).await.unwrap());
                // By then a process has forgotten what it knew of the lanes.
                lanes.server.server = lanes.another_process();
            }
            Step::Replicate => self.replica = Some(lanes.replicate().await),
            Step::FailOver { lanes: struck } => {
                if let Some(replica) = self.replica.take() {
                    for lane in lanes_of_bits(struck, of) {
                        lanes.fail_over(lane.index(), &replica).await;
                    }
                    lanes.server.server = lanes.another_process();
                    self.reconcile(lanes).await?;
                }
            }
            Step::Wait => wait(lanes).await,
        }
        self.compare(lanes).await
    }

    /// Runs reconciliation, and delivers the messages of reservations that it waits for.
    async fn reconcile(&mut self, lanes: &Lanes) -> Result<(), TestCaseError> {
        let stock = lanes.stock();
        let latest = Round { version: 1 + self.version, ..Round::new(lanes.id.clone(), lanes.terms.clone()) };
        stock.amend(&latest).await.unwrap();
        for transfer in stock.open_transfers().await.unwrap() {
            prop_assert!(stock.finish(&transfer).await.unwrap());
        }
        // No process takes that long between two calls.
        self.transfers.clear();
        self.accepted.clear();

        let view = stock.view().await.unwrap().unwrap();
        let live = view.reservations.into_iter().filter(|stored| stored.state.is_live());
        let reservations: Vec<Reservation> = live.map(|stored| stored.reservation).collect();
        for reservation in &reservations {
            let is_live =
                self.live.iter().any(|(live, ordered)| live == reservation || *ordered && live.id == reservation.id);
            if !is_live {
                // It ended or has got another unit since. The ledger knows who has its old one.
                stock.release(reservation, Some(reservation.unit), false).await.unwrap();
            }
        }
        self.live.retain(|(live, ordered)| *ordered || reservations.contains(live));
        let free: BTreeSet<u32> = view.free.iter().cloned().flatten().collect();
        for (reservation, ordered) in &mut self.live {
            *ordered |= free.contains(&reservation.unit.0);
            if *ordered {
                stock.adopt(reservation).await.unwrap();
            }
        }
        let view = stock.view().await.unwrap().unwrap();
        let twice = view.free_twice(1000);
        stock.exclude(&twice, &view.counters).await.unwrap();
        let restored = lanes.repair().await;
        prop_assert!(restored >= twice.iter().collect::<BTreeSet<_>>().len(), "{twice:?}");
        Ok(())
    }

    async fn compare(&self, lanes: &Lanes) -> Result<(), TestCaseError> {
        let (_, held) = lanes.places().await;
        let expected: BTreeMap<u32, UserId> =
            self.live.iter().map(|(reservation, _)| (reservation.unit.0, reservation.user.clone())).collect();
        prop_assert_eq!(held, expected);
        Ok(())
    }
}

/// Random steps on two to four lanes; `sequences` has them on one. Then all remaining units are bought.
#[test]
fn every_unit_is_in_one_place_all_the_time() {
    let runtime = one_thread();
    let server = std::cell::RefCell::new(runtime.block_on(Lanes::start(1, 2)));
    let scripts = (2..=4u16, 1..=12u32, vec(step(), 1..=50));
    run_cases(CASES, &scripts, |(of, total, steps)| {
        let mut lanes = server.borrow_mut();
        lanes.id = round(&format!("lamp-{}", uuid::Uuid::new_v4().as_simple()), 1);
        lanes.terms = Terms { lanes: of, ..terms(total, 20) };
        lanes.dealt = total;
        runtime.block_on(async {
            prop_assert!(lanes.load(&[]).await.unwrap());
            let mut expected = Expected::default();
            for step in &steps {
                let performed = expected.perform(&mut lanes, step).await;
                performed.map_err(|error| TestCaseError::fail(format!("{step:?}: {error}")))?;
            }
            wait(&mut lanes).await;
            let mut free = lanes.places().await.0;
            let mut waits = 0;
            for number in 0.. {
                match lanes.reserve(&user(format!("late-{number}"))).await {
                    Reserve::Reserved(reservation) => prop_assert!(free.remove(&reservation.unit.0)),
                    // A unit that was in cooldown on its way is in cooldown again where it arrives.
                    Reserve::SoldOut(_) if !free.is_empty() && waits < 20 => {
                        waits += 1;
                        wait(&mut lanes).await;
                    }
                    Reserve::SoldOut(_) => break,
                    other => prop_assert!(false, "{other:?}"),
                }
            }
            prop_assert!(free.is_empty(), "{free:?} were not sold");
            Ok(())
        })
    });
}
