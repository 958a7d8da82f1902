//! A model of a round with two lanes: units that move between them (`donate`, `accept`, deletion of the transfer's
//! record), the rule for "sold out", and a lane that Redis loses and that is loaded again.

use stateright::{Model, Property};

const LANES: usize = 2;
const UNITS: usize = 3; // Units of the round: unit 0 is dealt to lane 0, units 1 and 2 to lane 1.
const ALL: u8 = 0b111; // All units, one bit each.
const DEALT: [u8; LANES] = [0b001, 0b110]; // The units dealt to each lane: from floor(i·3/2) on.
const USERS: usize = 4; // Users: one more than units.
/// The lane of each user. Three users share the one unit of lane 0, so units have to move.
const HOME: [usize; USERS] = [0, 0, 0, 1];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneMistake {
    AcceptTwice,          // `accept` does not check whether it added the units of this transfer before.
    DonateWithoutRecord,  // `donate` records nothing: only its caller knows of the units.
    DeleteBeforeAccept,   // The record is deleted before the units are added elsewhere.
    SoldOutByHomeLane,    // The home lane alone decides "sold out".
    SoldOutByOneReading,  // One reading of each lane decides it.
    LoadUnfenced,         // A lane is loaded without telling the other to refuse the lost lane's earlier transfers.
    LoadForgetsTransfers, // A lane is loaded as if it had accepted no transfers, so earlier ones can still be added.
}

#[derive(Clone, Copy, Debug)]
pub struct LaneProtocol {
    /// Users with concurrent requests.
    pub at_once: usize,
    pub bounds: Bounds,
    pub mistake: Option<LaneMistake>,
}

/// How often each of these may happen in a run, or still may.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Bounds {
    pub crashes: u8, // Functions that die.
    pub losses: u8,  // Lanes that Redis loses.
    pub returns: u8, // Units that come back.
    /// Transfers that reconciliation finds while the request that began them is still running. It waits for a minute, so there
    /// are few. Without a bound it could move a unit between lanes for ever, each time before the request gets it.
    pub early_finds: u8,
}

/// The id of a transfer: the load of the giving lane, and a number within it, from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TransferId {
    /// See [`Lane::generation`].
    pub generation: u8,
    /// Counts the transfers of that load.
    pub number: u8,
}

/// Units on their way to the other lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Transfer {
    pub id: TransferId,
    /// The units, one bit each.
    pub units: u8,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Lane {
    pub is_loaded: bool,
    pub generation: u8,                    // The load that created it, counted over all lanes.
    pub free: u8,                          // Free units, one bit each.
    pub reservations: [Option<u8>; USERS], // Units that users of this lane have.
    pub moves: u8,                         // How often units came or went, except by reservations.
    pub record: Option<Transfer>,
    pub begun: u8,
    pub accepted: TransferId, // The last transfer added here from the other lane.
    pub fence: u8,            // Transfers of loads of the other lane older than this one are refused.
}

/// A lane's answer to whether anything is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reading {
    moves: u8,
    generation: u8,
    is_empty: bool,
    record: Option<Transfer>,
    accepted: TransferId,
}

/// The progress of a user's request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Caller {
    #[default]
    Idle,
    Reserve,
    /// Reading all lanes, for the second time if the first readings are complete.
    Look {
        first: [Option<Reading>; LANES],
        second: [Option<Reading>; LANES],
    },
    Wait(TransferId), // Told to ask again, because this transfer is moving units from the home lane to the other one.
    Donate,
    Accept(Transfer),
    Delete(Transfer, bool), // About to delete the record of a transfer, and then to accept it if that is not done yet.
    Won(u8),
    SoldOut,  // Was told that nothing is left.
    GiveBack, // About to give its unit back in Redis, after the ledger.
    Gone,     // Has given it back.
}

/// The progress of the reconciliation run that finishes transfers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Finisher {
    #[default]
    Idle, // About to look for open transfers.
    Accept(u8, Transfer), // About to add the units of this lane's transfer to the other lane.
    Delete(u8, TransferId),
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Loader {
    #[default]
    Idle,
    ReadOther(u8, u8),
    ReadGuards(u8, u8, Option<Lane>),
    Write(u8, Box<Lane>),
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct LaneState {
    pub lanes: [Lane; LANES],
    /// The ledger: who has each unit. Reservation and order are one step here; [`crate::Protocol`] models what happens in between.
    pub guards: [Option<u8>; UNITS],
    pub loads: u8, // The ledger: number of loads of lanes.
    pub callers: [Caller; USERS],
    pub free_throughout: [bool; USERS], // Users during whose request some unit was free all the time so far.
    /// A user was told "sold out" although a unit was free from the start of the request to its end.
    pub told_wrongly: bool,
    pub was_oversold: bool, // Two users had the same unit at once.
    pub finisher: Finisher,
    pub loader: Loader,
    pub left: Bounds,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneAction {
    Ask(usize), // A user asks, for the first time or again.
    Step(usize),
    Read(usize, usize), // A request that reads all lanes reads this one.
    Die(usize),         // The function of the request dies, and the client sends the request again.
    End(usize),         // A user's order ends unpaid.
    Find(usize),        // Reconciliation finds the open transfer of this lane.
    Finish,             // Reconciliation takes its next step.
    DieFinishing,
    Lose(usize),
    BeginLoad(usize),
    Load,
    DieLoading,
}

impl Lane {
    fn taken(&self) -> u8 {
        self.reservations.iter().flatten().fold(0, |bits, unit| bits | 1 << unit)
    }

    /// The transfer to `other`, unless that has added it already. If `other` is lost, that is for its load to decide.
    fn open_to(&self, other: &Self) -> Option<Transfer> {
        self.record.filter(|transfer| other.is_loaded && transfer.id > other.accepted)
    }

    fn reserve(&mut self, user: usize) -> Option<u8> {
        if self.reservations[user].is_none() && self.free != 0 {
            let unit = self.free.trailing_zeros() as u8;
            self.free &= !(1 << unit);
            self.reservations[user] = Some(unit);
        }
        self.reservations[user]
    }

    /// Half of the free units, at least one, those with the highest numbers.
    fn donate(&mut self, records: bool) -> Option<Transfer> {
        if self.record.is_some() {
            return self.record;
        }
        let units = (0..UNITS).rev().filter(|unit| self.free & (1 << unit) != 0);
        let units = units.take((self.free.count_ones() as usize / 2).max(1)).fold(0, |bits, unit| bits | 1 << unit);
        if units == 0 {
            return None;
        }
        self.free &= !units;
        self.moves += 1;
        self.begun += 1;
        let transfer = Transfer { id: TransferId { generation: self.generation, number: self.begun }, units };
        self.record = records.then_some(transfer);
        Some(transfer)
    }

    /// Adds the units once. Whether the record may be deleted.
    fn accept(&mut self, transfer: Transfer, every_time: bool) -> bool {
        if transfer.id.generation < self.fence {
            return false;
        }
        if transfer.id > self.accepted || every_time {
            self.free |= transfer.units;
            self.accepted = self.accepted.max(transfer.id);
            self.moves += 1;
        }
        true
    }

    fn delete(&mut self, id: TransferId) {
        self.record = self.record.filter(|record| record.id != id);
    }
}

const fn other(lane: usize) -> usize {
    1 - lane
}

/// In how many places each unit is: free, reserved, or in a transfer that is not added yet.
fn places(state: &LaneState) -> [u8; UNITS] {
    let mut counts = [0; UNITS];
    let mut add = |bits: u8| (0..UNITS).filter(|unit| bits & (1 << unit) != 0).for_each(|unit| counts[unit] += 1);
    for (at, lane) in state.lanes.iter().enumerate().filter(|(_, lane)| lane.is_loaded) {
        add(lane.free);
        lane.reservations.iter().flatten().for_each(|unit| add(1 << unit));
        add(lane.open_to(&state.lanes[other(at)]).map_or(0, |transfer| transfer.units));
    }
    counts
}

fn is_any_free(state: &LaneState) -> bool {
    let lanes = state.lanes.iter().enumerate().filter(|(_, lane)| lane.is_loaded);
    lanes.into_iter().any(|(at, lane)| lane.free != 0 || lane.open_to(&state.lanes[other(at)]).is_some())
}

fn is_under_way(caller: Caller) -> bool {
    !matches!(caller, Caller::Idle | Caller::Won(_) | Caller::SoldOut | Caller::Gone)
}

impl LaneProtocol {
    fn makes(&self, mistake: LaneMistake) -> bool {
        self.mistake == Some(mistake)
    }

    /// Whether a request can take its next step, which needs loaded lanes. Until then its client hears 503.
    fn can_step(state: &LaneState, user: usize) -> bool {
        let is_loaded = |lane: usize| state.lanes[lane].is_loaded;
        match state.callers[user] {
            Caller::Reserve | Caller::Accept(_) | Caller::GiveBack => is_loaded(HOME[user]),
            // Until the transfer is done it would hear the same again.
            Caller::Wait(id) => {
                let home = &state.lanes[HOME[user]];
                home.is_loaded && home.open_to(&state.lanes[other(HOME[user])]).is_none_or(|open| open.id != id)
            }
            Caller::Donate | Caller::Delete(..) => is_loaded(other(HOME[user])),
            _ => false,
        }
    }

    /// Whether a request is about to finish this transfer.
    fn has_owner(state: &LaneState, transfer: Transfer) -> bool {
        let is_at = |caller: &Caller| matches!(caller, Caller::Accept(it) | Caller::Delete(it, _) if *it == transfer);
        state.callers.iter().any(is_at)
    }

    fn step(&self, state: &mut LaneState, user: usize) {
        let (home, away) = (HOME[user], other(HOME[user]));
        state.callers[user] = match state.callers[user] {
            Caller::Reserve => match self.win(state, user) {
                None if self.makes(LaneMistake::SoldOutByHomeLane) => Self::tell_sold_out(state, user),
                None => Caller::Look { first: [None; LANES], second: [None; LANES] },
                Some(unit) => Caller::Won(unit),
            },
            Caller::Wait(_) => Caller::Reserve,
            Caller::Donate => match state.lanes[away].donate(!self.makes(LaneMistake::DonateWithoutRecord)) {
                None => Caller::Reserve,
                Some(transfer) if self.makes(LaneMistake::DeleteBeforeAccept) => Caller::Delete(transfer, true),
                Some(transfer) => Caller::Accept(transfer),
            },
            Caller::Accept(transfer) => {
                let may_delete = state.lanes[home].accept(transfer, self.makes(LaneMistake::AcceptTwice));
                match (may_delete, self.win(state, user)) {
                    (true, _) => Caller::Delete(transfer, false),
                    (false, Some(unit)) => Caller::Won(unit),
                    (false, None) => Caller::Reserve,
                }
            }
            Caller::Delete(transfer, accepts) => {
                state.lanes[away].delete(transfer.id);
                match state.lanes[home].reservations[user] {
                    _ if accepts => Caller::Accept(transfer),
                    Some(unit) if state.lanes[home].is_loaded => Caller::Won(unit),
                    // Sold to others meanwhile, or the lane is lost: ask again.
                    _ => Caller::Reserve,
                }
            }
            Caller::GiveBack => {
                let lane = &mut state.lanes[home];
                if let Some(unit) = lane.reservations[user].take() {
                    lane.free |= 1 << unit;
                    lane.moves += 1;
                }
                Caller::Gone
            }
            caller => caller,
        };
    }

    /// Reserves in the home lane, and writes the order.
    fn win(&self, state: &mut LaneState, user: usize) -> Option<u8> {
        let unit = state.lanes[HOME[user]].reserve(user)?;
        let guard = &mut state.guards[usize::from(unit)];
        state.was_oversold |= guard.is_some_and(|holder| usize::from(holder) != user);
        *guard = Some(user as u8);
        Some(unit)
    }

    fn tell_sold_out(state: &mut LaneState, user: usize) -> Caller {
        state.told_wrongly |= state.free_throughout[user];
        Caller::SoldOut
    }

    fn read(&self, state: &mut LaneState, user: usize, at: usize) {
        let Caller::Look { mut first, mut second } = state.callers[user] else { return };
        let lane = state.lanes[at];
        let Lane { moves, generation, record, accepted, .. } = lane;
        let reading = Reading { moves, generation, is_empty: lane.free == 0, record, accepted };
        let is_again = first.iter().all(Option::is_some);
        let readings = if is_again { &mut second } else { &mut first };
        readings[at] = Some(reading);
        let [Some(zero), Some(one)] = *readings else {
            state.callers[user] = Caller::Look { first, second };
            return;
        };
        let of = |lane: usize| if lane == 0 { zero } else { one };
        let (home, away) = (of(HOME[user]), of(other(HOME[user])));
        let to_home = away.record.filter(|transfer| transfer.id > home.accepted);
        let to_away = home.record.filter(|transfer| transfer.id > away.accepted);
        state.callers[user] = if let Some(transfer) = to_home {
            Caller::Accept(transfer)
        } else if !away.is_empty {
            Caller::Donate
        } else if !home.is_empty || to_away.is_some() {
            match to_away {
                Some(transfer) if home.is_empty => Caller::Wait(transfer.id),
                _ => Caller::Reserve,
            }
        } else if !is_again && !self.makes(LaneMistake::SoldOutByOneReading) {
            Caller::Look { first, second }
        } else if is_again && !same_moves(first, second) {
            Caller::Reserve
        } else {
            Self::tell_sold_out(state, user)
        };
    }

    fn finish(&self, state: &mut LaneState) {
        state.finisher = match state.finisher {
            Finisher::Accept(from, transfer) => {
                let receiver = &mut state.lanes[other(from.into())];
                if receiver.is_loaded && receiver.accept(transfer, self.makes(LaneMistake::AcceptTwice)) {
                    Finisher::Delete(from, transfer.id)
                } else {
                    Finisher::Idle
                }
            }
            Finisher::Delete(from, id) => {
                state.lanes[usize::from(from)].delete(id);
                Finisher::Idle
            }
            Finisher::Idle => Finisher::Idle,
        };
    }

    fn load(&self, state: &mut LaneState) {
        state.loader = match state.loader.clone() {
            Loader::ReadOther(lane, generation) => {
                let kept = &mut state.lanes[other(lane.into())];
                // In the script that reads it, the other lane stops accepting transfers of the lost lane.
                if kept.is_loaded && !self.makes(LaneMistake::LoadUnfenced) {
                    kept.fence = generation;
                }
                Loader::ReadGuards(lane, generation, kept.is_loaded.then_some(*kept))
            }
            Loader::ReadGuards(lane, generation, kept) => {
                Loader::Write(lane, Box::new(self.loaded(lane.into(), generation, kept, state.guards)))
            }
            Loader::Write(lane, loaded) => {
                let lane = &mut state.lanes[usize::from(lane)];
                if !lane.is_loaded {
                    *lane = *loaded;
                }
                Loader::Idle
            }
            Loader::Idle => Loader::Idle,
        };
    }

    /// A rebuilt lane: its users' units by the guards, and the free ones, with those of an open transfer to it.
    fn loaded(&self, at: usize, generation: u8, kept: Option<Lane>, guards: [Option<u8>; UNITS]) -> Lane {
        let mut lane = Lane { is_loaded: true, generation, fence: generation, ..Lane::default() };
        let mut guarded = 0;
        for (unit, user) in guards.into_iter().enumerate().filter_map(|(unit, user)| Some((unit, user?))) {
            guarded |= 1 << unit;
            if HOME[usize::from(user)] == at {
                lane.reservations[usize::from(user)] = Some(unit as u8);
            }
        }
        let elsewhere = match kept {
            // Both lanes are lost: each gets the units that it was dealt.
            None => ALL & !DEALT[at],
            Some(kept) => {
                lane.fence = kept.generation;
                // Any function that still knows of an earlier transfer comes too late, even if its record is there.
                if !self.makes(LaneMistake::LoadForgetsTransfers) {
                    lane.accepted = TransferId { generation: kept.generation, number: kept.begun };
                }
                kept.free | kept.taken()
            }
        };
        lane.free = ALL & !guarded & !elsewhere;
        lane
    }

    fn act(&self, state: &mut LaneState, action: LaneAction) {
        match action {
            LaneAction::Ask(user) => {
                state.callers[user] = Caller::Reserve;
                state.free_throughout[user] = true;
            }
            LaneAction::Step(user) => self.step(state, user),
            LaneAction::Read(user, lane) => self.read(state, user, lane),
            LaneAction::Die(user) => {
                state.left.crashes -= 1;
                state.callers[user] = Caller::Reserve;
            }
            LaneAction::End(user) => {
                if let Caller::Won(unit) = state.callers[user] {
                    state.left.returns -= 1;
                    state.guards[usize::from(unit)] = None;
                    state.callers[user] = Caller::GiveBack;
                }
            }
            LaneAction::Find(lane) => {
                if let Some(transfer) = state.lanes[lane].record {
                    state.left.early_finds -= u8::from(Self::has_owner(state, transfer));
                    state.finisher = Finisher::Accept(lane as u8, transfer);
                }
            }
            LaneAction::Finish => self.finish(state),
            LaneAction::DieFinishing => {
                state.left.crashes -= 1;
                state.finisher = Finisher::Idle;
            }
            LaneAction::Lose(lane) => {
                state.left.losses -= 1;
                state.lanes[lane] = Lane::default();
            }
            LaneAction::BeginLoad(lane) => {
                state.loads += 1;
                state.loader = Loader::ReadOther(lane as u8, state.loads);
            }
            LaneAction::Load => self.load(state),
            LaneAction::DieLoading => {
                state.left.crashes -= 1;
                state.loader = Loader::Idle;
            }
        }
        let is_any_free = is_any_free(state);
        state.free_throughout.iter_mut().for_each(|throughout| *throughout &= is_any_free);
    }
}

fn same_moves(first: [Option<Reading>; LANES], second: [Option<Reading>; LANES]) -> bool {
    let moves = |readings: [Option<Reading>; LANES]| readings.map(|of| of.map(|of| (of.generation, of.moves)));
    moves(first) == moves(second)
}

/// Whether each unit is in exactly one place. While a lane is lost, its units may be in none, but never in two.
fn is_in_one_place(state: &LaneState) -> bool {
    let all_loaded = state.lanes.iter().all(|lane| lane.is_loaded);
    places(state).into_iter().all(|count| count == 1 || (count == 0 && !all_loaded))
}

impl Model for LaneProtocol {
    type State = LaneState;
    type Action = LaneAction;

    fn init_states(&self) -> Vec<LaneState> {
        let lanes = DEALT.map(|free| Lane { is_loaded: true, free, ..Lane::default() });
        vec![LaneState { lanes, left: self.bounds, ..LaneState::default() }]
    }

    fn actions(&self, state: &LaneState, actions: &mut Vec<LaneAction>) {
        let may_ask = state.callers.iter().filter(|caller| is_under_way(**caller)).count() < self.at_once;
        for (user, caller) in state.callers.iter().enumerate() {
            match caller {
                Caller::Idle if may_ask => actions.push(LaneAction::Ask(user)),
                // A user who was told "sold out" asks again once a unit has come back.
                Caller::SoldOut if may_ask && is_any_free(state) => actions.push(LaneAction::Ask(user)),
                Caller::Won(_) if state.left.returns > 0 => actions.push(LaneAction::End(user)),
                Caller::Look { first, second } => {
                    let pass = if first.iter().all(Option::is_some) { second } else { first };
                    let unread = (0..LANES).filter(|lane| pass[*lane].is_none() && state.lanes[*lane].is_loaded);
                    actions.extend(unread.map(|lane| LaneAction::Read(user, lane)));
                }
                _ if Self::can_step(state, user) => actions.push(LaneAction::Step(user)),
                _ => {}
            }
            let is_stateless = matches!(caller, Caller::Reserve | Caller::Wait(_) | Caller::GiveBack);
            if state.left.crashes > 0 && is_under_way(*caller) && !is_stateless {
                actions.push(LaneAction::Die(user));
            }
        }
        match state.finisher {
            Finisher::Idle => {
                let open = (0..LANES).filter(|lane| {
                    let is_due = |transfer| state.left.early_finds > 0 || !Self::has_owner(state, transfer);
                    state.lanes[*lane].record.is_some_and(is_due)
                });
                // While the other lane is not loaded, `accept` would fail, so the transfer has to wait.
                let open = open.filter(|lane| state.lanes[other(*lane)].is_loaded);
                actions.extend(open.map(LaneAction::Find));
            }
            _ => {
                actions.push(LaneAction::Finish);
                actions.extend((state.left.crashes > 0).then_some(LaneAction::DieFinishing));
            }
        }
        for lane in 0..LANES {
            if state.lanes[lane].is_loaded && state.left.losses > 0 {
                actions.push(LaneAction::Lose(lane));
            }
            if !state.lanes[lane].is_loaded && state.loader == Loader::Idle {
                actions.push(LaneAction::BeginLoad(lane));
            }
        }
        if state.loader != Loader::Idle {
            actions.push(LaneAction::Load);
            actions.extend((state.left.crashes > 0).then_some(LaneAction::DieLoading));
        }
    }

    fn next_state(&self, last: &LaneState, action: LaneAction) -> Option<LaneState> {
        let mut state = last.clone();
        self.act(&mut state, action);
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let (always, sometimes) = (Property::<Self>::always, Property::<Self>::sometimes);
        vec![
            always("a unit is in exactly one record", |_, state| is_in_one_place(state)),
            always("nobody is told sold out while a unit was free throughout", |_, state| !state.told_wrongly),
            always("nothing is oversold", |_, state| !state.was_oversold),
            always("at an end everything is sold, or nobody wants more", |protocol, state| {
                let mut actions = Vec::new();
                protocol.actions(state, &mut actions);
                actions.retain(|action| !matches!(action, LaneAction::Lose(_) | LaneAction::End(_)));
                let is_waiting = state.callers.iter().any(|caller| !matches!(caller, Caller::Won(_) | Caller::Gone));
                let is_sold = state.guards.iter().all(Option::is_some);
                !actions.is_empty()
                    || (state.lanes.iter().all(|lane| lane.record.is_none()) && (is_sold || !is_waiting))
            }),
            always("what Redis says is sold, the ledger has", |_, state| {
                state.lanes.iter().flat_map(|lane| lane.reservations.iter().enumerate()).all(|(user, unit)| {
                    let has = |unit: u8| state.guards[usize::from(unit)] == Some(user as u8);
                    unit.is_none_or(|unit| has(unit) || state.callers[user] == Caller::GiveBack)
                })
            }),
            sometimes("a unit of the other lane is won", |_, state| {
                state.lanes[0].reservations.iter().flatten().any(|unit| DEALT[1] & (1 << unit) != 0)
            }),
            sometimes("everything is sold and somebody was told so", |_, state| {
                state.guards.iter().all(Option::is_some) && state.callers.contains(&Caller::SoldOut)
            }),
            sometimes("reconciliation finishes a transfer", |_, state| matches!(state.finisher, Finisher::Delete(..))),
        ]
    }
}
