use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};

use parking_lot::Mutex;
use pass::line::{Class, LineDocument};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Bought,
    SoldOutInFront,
    SoldOutBehind,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Waited {
    pub(super) class: Option<Class>,
    /// Requests that reached the gateway.
    pub(super) asked: u32,
    pub(super) was_admitted: bool,
    /// Whether a person who tried before their turn was let in.
    pub(super) jumped: Option<bool>,
    pub(super) end: Option<End>,
}

/// What the people in a line share.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    pub(super) people: Mutex<HashMap<usize, Waited>>,
    /// What was last seen of it.
    pub(super) last: Mutex<Option<Arc<LineDocument>>>,
    pub(super) looks: AtomicU64,
    pub(super) looks_of_the_edge: AtomicU64,
    /// Units bought from now on are returned ones.
    pub(super) was_sold_out: AtomicBool,
}
