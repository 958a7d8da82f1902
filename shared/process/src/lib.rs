//! The memory of one process: what it caches between requests to avoid calls. It may be lost at any time, and is then
//! read or counted again.
//!
//! What orders need is boxed, and not `async`: every crate that awaits it would compile its caches again.

mod answer_counts;
mod award_cache;
mod cached_sale;
mod debounce;
mod demand;
mod for_sale;
mod forgeries;
mod kept_each;
mod order_counts;
mod published;
mod snapshots;
mod sold_out_mark;
mod sync;
mod terms_cache;
mod turns;
mod watched;

pub use answer_counts::AnswerCounts;
pub use award_cache::AwardCache;
pub use cached_sale::{CachedSale, RoundMemory, Step};
pub use demand::Demand;
pub use forgeries::Forgeries;
pub use kept_each::KeptEach;
pub use order_counts::{OrderCount, OrderCounts};
pub use published::Published;
pub use snapshots::{Snapshot, Snapshots};
pub use sold_out_mark::{SoldOutMark, StillSoldOut};
pub use terms_cache::{RoundAwards, TermsCache};
pub use turns::Turn;
