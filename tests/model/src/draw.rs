//! A model of the draw at the end of a round (`shared/fulfilment/src/draw.rs`): entries that are placed while it ends, the fence
//! before they are counted, and concurrent runs that award the prizes.

use stateright::{Model, Property};

const ENTRIES: usize = 3; // Reservations that may become entries.
const PRIZES: usize = 2;
const RUNS: usize = 2; // Concurrent runs of the `draw` function.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrawMistake {
    LateUnchecked,       // A late order is placed without the condition on the fence.
    FenceEarly,          // The fence is made while reservations wait for their orders, although Redis knows of them.
    FenceAtEnd,          // Entries are fenced off as the round ends: an unchecked write may land after that.
    CountWhileIndexLags, // Entries are counted while the index still lags.
    CountAgain,          // The same, and a later count replaces the first one.
    NoteBeforeSend,      // A prize is marked done before its message is sent.
}

#[derive(Clone, Copy, Debug)]
pub struct DrawProtocol {
    /// How many functions die.
    pub crashes: u8,
    pub loses_redis: bool,
    pub mistake: Option<DrawMistake>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Time {
    #[default]
    Open,
    Ended, // It ended less than a minute ago.
    Over,  // It ended so long ago that all unconditional writes are done.
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Entry {
    #[default]
    None,
    /// Promised; its message is in the queue.
    Queued,
    /// A function is about to write its order, with or without the condition that there is no fence.
    Placing { checked: bool },
    /// Its order is written; the index may not show it yet.
    Ordered { shown: bool },
    /// It came after the fence.
    Late,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DrawRun {
    #[default]
    Idle,
    Counted(u8),
    Awarding(u8), // About to award the prize with this number, counted from 0.
    Sending(u8),
    Noting(u8), // About to mark the prize as done.
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct DrawState {
    pub time: Time,
    pub entries: [Entry; ENTRIES],
    pub is_lost: bool,                 // Redis has lost the round.
    pub is_fenced: bool,               // The ledger: entries are fenced off.
    pub closed: Option<u8>,            // The ledger: the published entries, one bit each.
    pub awarded: u8,                   // The ledger: prizes that are done.
    pub winners: [Option<u8>; PRIZES], // The ledger: who won each prize.
    pub sent: [bool; PRIZES],
    pub runs: [DrawRun; RUNS],
    pub crashes: u8, // How many functions may still die.
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrawAction {
    Enter(usize),         // A buyer is promised an entry.
    Receive(usize, bool), // A function receives the message and will write with or without the condition.
    Place(usize),         // The function writes the order.
    DieAt(usize),         // The function dies before that, and the message comes back.
    Show(usize),
    Pass, // The round ends, or has been over for a minute.
    Lose,
    Draw(usize),       // A run takes its next step.
    DieDrawing(usize), // A run dies before its next step, and another starts from the beginning.
}

impl DrawProtocol {
    fn makes(&self, mistake: DrawMistake) -> bool {
        self.mistake == Some(mistake)
    }

    /// Whether reservations wait for their orders.
    fn is_waiting(state: &DrawState) -> bool {
        state.entries.iter().any(|entry| matches!(entry, Entry::Queued | Entry::Placing { .. }))
    }

    fn may_fence(&self, state: &DrawState) -> bool {
        let is_time = state.time == Time::Over || (state.time == Time::Ended && self.makes(DrawMistake::FenceAtEnd));
        // Once Redis has lost the round, only the queue knows of waiting reservations.
        is_time && (state.is_lost || !Self::is_waiting(state) || self.makes(DrawMistake::FenceEarly))
    }

    /// The next state of a run, if it can take a step now.
    fn next_run(&self, state: &DrawState, run: DrawRun) -> Option<DrawRun> {
        if run != DrawRun::Idle {
            return Some(run);
        }
        let Some(closed) = state.closed else {
            if !state.is_fenced {
                return self.may_fence(state).then_some(DrawRun::Idle);
            }
            let lags = state.entries.iter().any(|entry| matches!(entry, Entry::Ordered { shown: false }));
            let counted = !lags || self.makes(DrawMistake::CountWhileIndexLags) || self.makes(DrawMistake::CountAgain);
            return counted.then(|| DrawRun::Counted(shown(&state.entries)));
        };
        (state.awarded < to_win(closed)).then_some(DrawRun::Awarding(state.awarded))
    }

    fn draw(&self, state: &mut DrawState, at: usize) -> bool {
        let Some(run) = self.next_run(state, state.runs[at]) else { return false };
        state.runs[at] = match run {
            DrawRun::Idle => {
                state.is_fenced = true;
                DrawRun::Idle
            }
            // A run keeps what it has read while the others go on.
            reading if state.runs[at] == DrawRun::Idle => reading,
            DrawRun::Counted(entries) => {
                if state.closed.is_none() || self.makes(DrawMistake::CountAgain) {
                    state.closed = Some(entries);
                }
                DrawRun::Idle
            }
            DrawRun::Awarding(prize) => {
                let winner = &mut state.winners[usize::from(prize)];
                *winner = winner.or_else(|| winner_of(state.closed.unwrap_or_default(), prize));
                if self.makes(DrawMistake::NoteBeforeSend) { DrawRun::Noting(prize) } else { DrawRun::Sending(prize) }
            }
            DrawRun::Sending(prize) => {
                state.sent[usize::from(prize)] = true;
                if self.makes(DrawMistake::NoteBeforeSend) { DrawRun::Idle } else { DrawRun::Noting(prize) }
            }
            DrawRun::Noting(prize) => {
                state.awarded = state.awarded.max(prize + 1);
                if self.makes(DrawMistake::NoteBeforeSend) { DrawRun::Sending(prize) } else { DrawRun::Idle }
            }
        };
        true
    }

    fn place(&self, state: &mut DrawState, at: usize) -> bool {
        let Entry::Placing { checked } = state.entries[at] else { return false };
        let is_refused = checked && state.is_fenced && !self.makes(DrawMistake::LateUnchecked);
        state.entries[at] = if is_refused { Entry::Late } else { Entry::Ordered { shown: false } };
        true
    }

    fn act(&self, state: &mut DrawState, action: DrawAction) -> bool {
        match action {
            DrawAction::Enter(at) => state.entries[at] = Entry::Queued,
            DrawAction::Receive(at, checked) => state.entries[at] = Entry::Placing { checked },
            DrawAction::Place(at) => return self.place(state, at),
            DrawAction::DieAt(at) => {
                state.crashes -= 1;
                state.entries[at] = Entry::Queued;
            }
            DrawAction::Show(at) => state.entries[at] = Entry::Ordered { shown: true },
            DrawAction::Pass => state.time = if state.time == Time::Open { Time::Ended } else { Time::Over },
            DrawAction::Lose => state.is_lost = true,
            DrawAction::Draw(at) => return self.draw(state, at),
            DrawAction::DieDrawing(at) => {
                state.crashes -= 1;
                state.runs[at] = DrawRun::Idle;
            }
        }
        true
    }
}

/// The entries that the index shows, one bit each.
fn shown(entries: &[Entry; ENTRIES]) -> u8 {
    bits(entries, |entry| entry == Entry::Ordered { shown: true })
}

fn bits(entries: &[Entry; ENTRIES], has: impl Fn(Entry) -> bool) -> u8 {
    entries.iter().enumerate().fold(0, |bits, (at, entry)| bits | (u8::from(has(*entry)) << at))
}

fn to_win(closed: u8) -> u8 {
    closed.count_ones().min(PRIZES as u32) as u8
}

/// Like the shuffle, picks different entries for different prizes while there are enough.
fn winner_of(closed: u8, prize: u8) -> Option<u8> {
    (0..ENTRIES as u8).rev().filter(|at| closed & (1 << at) != 0).nth(prize.into())
}

fn is_drawn(state: &DrawState) -> bool {
    state.closed.is_some_and(|closed| state.awarded >= to_win(closed))
}

impl Model for DrawProtocol {
    type State = DrawState;
    type Action = DrawAction;

    fn init_states(&self) -> Vec<DrawState> {
        vec![DrawState { crashes: self.crashes, ..DrawState::default() }]
    }

    fn actions(&self, state: &DrawState, actions: &mut Vec<DrawAction>) {
        for (at, entry) in state.entries.iter().enumerate() {
            match entry {
                Entry::None if state.time == Time::Open => actions.push(DrawAction::Enter(at)),
                Entry::Queued => {
                    // Long after the reservation the function reads the round, and if it is over the write is conditional.
                    actions.extend((state.time != Time::Open).then_some(DrawAction::Receive(at, true)));
                    actions.extend((state.time != Time::Over).then_some(DrawAction::Receive(at, false)));
                }
                Entry::Placing { .. } => {
                    actions.push(DrawAction::Place(at));
                    actions.extend((state.crashes > 0).then_some(DrawAction::DieAt(at)));
                }
                Entry::Ordered { shown: false } => actions.push(DrawAction::Show(at)),
                _ => {}
            }
        }
        // A function is stopped long before it has run for a minute.
        let unchecked = state.entries.contains(&Entry::Placing { checked: false });
        if state.time == Time::Open || (state.time == Time::Ended && !unchecked) {
            actions.push(DrawAction::Pass);
        }
        if self.loses_redis && !state.is_lost {
            actions.push(DrawAction::Lose);
        }
        for at in 0..RUNS {
            if self.next_run(state, state.runs[at]).is_some() {
                actions.push(DrawAction::Draw(at));
            }
            if state.crashes > 0 && state.runs[at] != DrawRun::Idle {
                actions.push(DrawAction::DieDrawing(at));
            }
        }
    }

    fn next_state(&self, last: &DrawState, action: DrawAction) -> Option<DrawState> {
        let mut state = last.clone();
        self.act(&mut state, action).then_some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let (always, sometimes) = (Property::<Self>::always, Property::<Self>::sometimes);
        vec![
            always("who has an order of a closed draw was counted", |_, state| {
                let ordered = bits(&state.entries, |entry| matches!(entry, Entry::Ordered { .. }));
                state.closed.is_none_or(|closed| closed == ordered)
            }),
            always("nobody wins twice", |_, s| s.winners[0].is_none() || s.winners[0] != s.winners[1]),
            always("each prize has the winner of what was published", |_, state| {
                let due = |prize: usize| state.closed.and_then(|closed| winner_of(closed, prize as u8));
                (0..PRIZES).all(|prize| state.winners[prize].is_none() || state.winners[prize] == due(prize))
            }),
            always("a prize that is done has its winner, who was sent for", |_, state| {
                (0..usize::from(state.awarded)).all(|prize| {
                    let sends = state.runs.contains(&DrawRun::Sending(prize as u8));
                    state.winners[prize].is_some() && (state.sent[prize] || sends)
                })
            }),
            always("nobody is late unless Redis lost the round", |_, s| s.is_lost || !s.entries.contains(&Entry::Late)),
            always("who comes to an end has drawn", |protocol, state| {
                let mut actions = Vec::new();
                protocol.actions(state, &mut actions);
                !actions.is_empty() || is_drawn(state)
            }),
            sometimes("all prizes are won", |_, s| is_drawn(s) && s.winners.iter().all(Option::is_some)),
            sometimes("nobody entered, and it is drawn", |_, s| is_drawn(s) && s.closed == Some(0)),
            sometimes("an order is placed on the condition", |_, state| {
                state.entries.contains(&Entry::Placing { checked: true })
            }),
        ]
    }
}
