use cache::RefreshError;
use ledger::LedgerError;
use queue::QueueError;
use sale::{ReservationId, RoundId, SaleId};
use stock::StockError;

/// Why a step did not reach its end. It can be run again.
#[derive(Debug, thiserror::Error)]
pub enum FulfilmentError {
    /// Redis did not answer.
    #[error(transparent)]
    Stock(#[from] StockError),
    /// DynamoDB did not answer.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// SQS did not answer.
    #[error(transparent)]
    Queue(#[from] QueueError),
    /// The ledger has no such order, though a message names it.
    #[error("there is no order {0}")]
    UnknownOrder(ReservationId),
    /// The ledger has no such published sale, though a message names it.
    #[error("there is no published sale {0}")]
    UnknownSale(SaleId),
    /// Redis handed out unit after unit that other orders have.
    #[error("{0} has no unit of its own yet")]
    NoUnit(ReservationId),
    /// The entries of a draw that the ledger keeps are not those that were published.
    #[error("entry {1} of the draw of round {0} is not there")]
    NoEntry(RoundId, u32),
    /// The entries of a draw were published without naming the beacon that its terms promise.
    #[error("the draw of round {0} is to have a beacon, and names no round of drand")]
    NoDrandRound(RoundId),
    /// The ledger did not answer a moment ago, and nothing is known from before.
    #[error("nothing is known of the sales yet")]
    NothingKnown,
    /// The run took as long as its function may.
    #[error("out of time")]
    OutOfTime,
}

impl From<RefreshError<LedgerError>> for FulfilmentError {
    fn from(error: RefreshError<LedgerError>) -> Self {
        match error {
            RefreshError::Read(error) => Self::Ledger(error),
            RefreshError::TimedOut => Self::OutOfTime,
            RefreshError::JustFailed => Self::NothingKnown,
        }
    }
}
