//! The memory of one process: what it keeps between requests, so that most of them make no call for it. It may be lost at any
//! moment, and is then read or counted again.

mod answer_counts;
mod award_cache;
mod cached_sale;
mod demand;
mod forgeries;
mod isolation;
mod order_counts;
mod snapshots;
mod sold_out_mark;
mod terms_cache;

pub use answer_counts::AnswerCounts;
pub use award_cache::AwardCache;
pub use cached_sale::CachedSale;
pub use demand::Demand;
pub use forgeries::Forgeries;
pub use isolation::{Step, Turn};
pub use order_counts::{OrderCount, OrderCounts};
pub use snapshots::{Snapshot, Snapshots};
pub use sold_out_mark::{SoldOutMark, StillSoldOut};
pub use terms_cache::{RoundAwards, TermsCache};
