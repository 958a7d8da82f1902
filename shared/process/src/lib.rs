//! What one process remembers between requests, so that most of them need not ask for it. All of it may be lost at any
//! moment: it is read or counted again.

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
pub use sold_out_mark::SoldOutMark;
pub use terms_cache::TermsCache;
