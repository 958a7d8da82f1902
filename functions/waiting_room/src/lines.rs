//! This process's cache of lines.

use std::sync::Arc;

use api::Problem;
use ledger::KeptLine;
use pass::line::{LineDocument, Watermark};
use runtime::{Clock, Moment};
use sale::{EpochMs, RoundId};

use crate::line_cache::LineCache;

/// The lines that this process has read.
#[derive(Clone)]
pub struct Lines(Arc<LineCache<Tracked, LineResult>>);

impl Lines {
    pub(crate) fn new() -> Self {
        Self(Arc::new(LineCache::new()))
    }

    /// The result of a look at a round's line that ended at most a second ago.
    pub(crate) async fn at_line(
        &self,
        round: &RoundId,
        clock: Clock,
        look: impl AsyncFnOnce(&mut Tracked) -> LineResult,
    ) -> LineResult {
        self.0.at_line(round, clock, look).await
    }
}

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
