//! A model of reads beside transactions. A user's orders share a place: the only one in a campaign's limit, or a unit.
//!
//! A transaction is one step for other writers: until it is whole, they are refused. But readers see its items one after
//! another, and an index shows each later still. So two reads may see one half of a transaction each.

use stateright::{Model, Property};

const ORDERS: usize = 3;
/// Items: the orders, and the place that they share.
const ITEMS: usize = ORDERS + 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadsMistake {
    UnreadIsGone,    // An order that cannot be read yet is taken for long gone, and its place is freed.
    FreedIsFull,     // A refused function that then finds nobody in the place gives up instead of trying again.
    NothingIsFreed,  // Ended orders keep their places.
    IndexesBelieved, // The audit reads no order of which the indexes of orders and of guards say the same.
    Unconditional,   // An order is written whoever has the place.
}

/// Reads beside transactions in a scope, right or with a mistake.
#[derive(Clone, Copy, Debug)]
pub struct ReadsProtocol {
    /// Whether an audit runs. Otherwise there are no indexes.
    pub audits: bool,
    pub mistake: Option<ReadsMistake>,
}

/// The items, as somebody sees them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Items {
    /// For each order that exists, whether it is live.
    pub orders: [Option<bool>; ORDERS],
    pub place: Option<u8>,
}

impl Items {
    fn show(&mut self, item: usize, from: &Self) {
        match self.orders.get_mut(item) {
            Some(order) => *order = from.orders[item],
            None => self.place = from.place,
        }
    }

    fn is_live(&self, id: u8) -> bool {
        self.orders[usize::from(id)] == Some(true)
    }

    fn live(&self) -> impl Iterator<Item = u8> {
        (0..ORDERS as u8).filter(|id| self.is_live(*id))
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Placing {
    #[default]
    Write,
    ReadPlace, // The write was refused: it reads next who has the place.
    ReadOrder(u8),
    Free(u8),
    Written,
    Refused, // The user was told that the limit is reached.
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Audit {
    #[default]
    Guards,
    Index(Option<u8>),
    Orders(u8, usize), // About to read each of these orders, one bit each, itself; and how many orders are live so far.
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ReadsState {
    pub written: Items, // What the conditions of writes see.
    pub shown: Items,   // What reads see.
    pub indexed: Items, // What the indexes show.
    pub placing: [Placing; ORDERS],
    pub was_full: [bool; ORDERS], // Whether the limit was reached since the function was refused.
    pub audit: Audit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadsAction {
    Place(usize),  // A function takes its next step.
    End(u8, bool), // An order ends, and frees its place if the function is of this version.
    Show(usize),   // Readers see an item as it was written.
    Index(usize),  // An index shows an item as readers see it.
    Audit,
}

impl ReadsProtocol {
    fn makes(&self, mistake: ReadsMistake) -> bool {
        self.mistake == Some(mistake)
    }

    fn place(&self, state: &mut ReadsState, id: usize) -> bool {
        let ReadsState { written, shown, .. } = *state;
        // Another transaction on these items is under way.
        let is_refused = written != shown;
        state.placing[id] = match state.placing[id] {
            Placing::Write | Placing::Free(_) if is_refused => return false,
            Placing::Write if written.place.is_some() && !self.makes(ReadsMistake::Unconditional) => Placing::ReadPlace,
            Placing::Write => {
                (state.written.orders[id], state.written.place) = (Some(true), Some(id as u8));
                Placing::Written
            }
            Placing::ReadPlace => match shown.place {
                Some(other) => Placing::ReadOrder(other),
                None if self.makes(ReadsMistake::FreedIsFull) => Placing::Refused,
                None => Placing::Write,
            },
            Placing::ReadOrder(other) => match shown.orders[usize::from(other)] {
                Some(false) if !self.makes(ReadsMistake::NothingIsFreed) => Placing::Free(other),
                None if self.makes(ReadsMistake::UnreadIsGone) => Placing::Free(other),
                _ => Placing::Refused,
            },
            Placing::Free(other) => {
                state.written.place.take_if(|place| *place == other);
                state.shown.place = state.written.place;
                Placing::Write
            }
            Placing::Written | Placing::Refused => return false,
        };
        true
    }

    fn audit(&self, state: &mut ReadsState) -> bool {
        let ReadsState { shown, indexed, .. } = *state;
        state.audit = match state.audit {
            Audit::Guards => Audit::Index(indexed.place),
            Audit::Index(guard) => {
                let known = (0..ORDERS as u8).filter(|id| guard == Some(*id) || indexed.is_live(*id));
                let is_alone = known.clone().count() == 1;
                let agrees = |id: &u8| guard == Some(*id) && indexed.is_live(*id);
                let believed = |id: &u8| agrees(id) && (is_alone || self.makes(ReadsMistake::IndexesBelieved));
                let doubtful = known.clone().filter(|id| !believed(id)).fold(0, |bits, id| bits | 1 << id);
                Audit::Orders(doubtful, known.filter(believed).count())
            }
            Audit::Orders(0, _) => return false,
            Audit::Orders(doubtful, live) => {
                let id = doubtful.trailing_zeros() as u8;
                Audit::Orders(doubtful & !(1 << id), live + usize::from(shown.is_live(id)))
            }
        };
        true
    }

    fn act(&self, state: &mut ReadsState, action: ReadsAction) -> bool {
        match action {
            ReadsAction::Place(id) => return self.place(state, id),
            ReadsAction::End(id, frees) => {
                state.written.orders[usize::from(id)] = Some(false);
                state.written.place.take_if(|place| frees && *place == id);
            }
            ReadsAction::Show(item) => state.shown.show(item, &state.written),
            ReadsAction::Index(item) => state.indexed.show(item, &state.shown),
            ReadsAction::Audit => return self.audit(state),
        }
        true
    }
}

impl Model for ReadsProtocol {
    type State = ReadsState;
    type Action = ReadsAction;

    fn init_states(&self) -> Vec<ReadsState> {
        vec![ReadsState::default()]
    }

    fn actions(&self, state: &ReadsState, actions: &mut Vec<ReadsAction>) {
        actions.extend((0..ORDERS).map(ReadsAction::Place));
        actions.extend((0..ITEMS).map(ReadsAction::Show));
        if state.written == state.shown {
            actions.extend(state.written.live().flat_map(|id| [true, false].map(|frees| ReadsAction::End(id, frees))));
        }
        if self.audits {
            actions.extend((0..ITEMS).map(ReadsAction::Index));
            actions.push(ReadsAction::Audit);
        }
    }

    fn next_state(&self, last: &ReadsState, action: ReadsAction) -> Option<ReadsState> {
        let mut state = last.clone();
        let acts = self.act(&mut state, action);
        for (id, was_full) in state.was_full.iter_mut().enumerate() {
            let is_deciding = matches!(state.placing[id], Placing::ReadPlace | Placing::ReadOrder(_));
            let is_over = state.placing[id] == Placing::Refused;
            *was_full = (*was_full && is_over) || (is_deciding && (*was_full || state.written.live().next().is_some()));
        }
        (acts && state != *last).then_some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let (always, sometimes) = (Property::<Self>::always, Property::<Self>::sometimes);
        vec![
            always("no user has more live orders than the limit", |_, state| state.written.live().count() <= 1),
            always("the limit is only said to be reached if it was", |_, state| {
                (0..ORDERS).all(|id| state.placing[id] != Placing::Refused || state.was_full[id])
            }),
            always("the audit calls no unit oversold", |_, state| !matches!(state.audit, Audit::Orders(0, 2..))),
            sometimes("a place is freed", |_, s| s.placing.iter().any(|placing| matches!(placing, Placing::Free(_)))),
            sometimes("somebody is refused", |_, state| state.placing.contains(&Placing::Refused)),
        ]
    }
}
