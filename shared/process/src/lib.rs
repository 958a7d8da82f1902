//! The memory of one process: what it caches between requests to avoid calls. It may be lost at any time, and is then
//! read or counted again.

mod answer_counts;
mod award_cache;
mod cached_sale;
mod debounce;
mod demand;
mod for_sale;
mod forgeries;
mod isolation;
mod kept;
mod kept_each;
mod order_counts;
mod published;
mod snapshots;
mod sold_out_mark;
mod terms_cache;
mod turns;
mod watched;

/// The synchronisation types of state that requests share. `tests/schedules` replaces them to control the schedule.
mod sync {
    pub(crate) use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
    pub(crate) use std::sync::{Mutex, PoisonError};

    pub(crate) use arc_swap::ArcSwapOption;
    pub(crate) use cache::{Clock, Moment};
    pub(crate) use moka::sync::Cache;
    pub(crate) use tokio::spawn;
    pub(crate) use tokio::sync::Mutex as AsyncMutex;
    pub(crate) use tokio::time::{Instant, sleep, timeout};
}

pub use answer_counts::AnswerCounts;
pub use award_cache::AwardCache;
pub use cached_sale::CachedSale;
pub use demand::Demand;
pub use forgeries::Forgeries;
pub use isolation::Step;
pub use kept_each::KeptEach;
pub use order_counts::{OrderCount, OrderCounts};
pub use published::Published;
pub use snapshots::{Snapshot, Snapshots};
pub use sold_out_mark::{SoldOutMark, StillSoldOut};
pub use terms_cache::{RoundAwards, TermsCache};
pub use turns::Turn;
