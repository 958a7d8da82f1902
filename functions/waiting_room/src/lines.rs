//! This process's cache of lines.

use std::sync::Arc;

use api::Problem;
use ledger::KeptLine;
use pass::line::{LineDocument, Watermark};
use runtime::Moment;
use sale::EpochMs;

use crate::line_cache::LineCache;

/// The lines that this process has read.
#[derive(Clone)]
pub struct Lines(pub(crate) Arc<LineCache<Tracked, LineResult>>);

/// What this process remembers of a line from one look to the next.
#[derive(Default)]
pub(crate) struct Tracked {
    pub(crate) kept: Option<KeptLine>,
    /// The highest watermark that this process has published: replicas' clocks differ, and a line never moves back.
    pub(crate) published: Watermark,
    /// When the number of people was last recorded in the ledger.
    pub(crate) noted_people: Option<Moment>,
    /// When recording in the ledger last failed.
    pub(crate) unheard: Option<Moment>,
    /// When this process last saw a reservation without an order, by Redis's clock: its payment window begins later.
    pub(crate) open_at: Option<EpochMs>,
}

/// The result of a read, shared by everybody who polls within a second.
pub(crate) type LineResult = Result<Arc<LineDocument>, Problem>;
