use cache::RefreshError;
use ledger::LedgerError;
use queue::QueueError;
use sale::{ReservationId, RoundId, SaleId};
use stock::StockError;

/// Why a step was not completed. It can be run again.
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
    /// The ledger does not have an order that a message names.
    #[error("there is no order {0}")]
    UnknownOrder(ReservationId),
    /// The ledger does not have a published sale that a message names.
    #[error("there is no published sale {0}")]
    UnknownSale(SaleId),
    /// Redis handed out one unit after another that belong to other orders.
    #[error("{0} has not found a free unit yet")]
    NoUnit(ReservationId),
    /// A published entry of a draw is missing in the ledger.
    #[error("entry {1} of the draw of round {0} is missing")]
    NoEntry(RoundId, u32),
    /// The entries of a draw were published without naming the beacon that the terms require.
    #[error("the draw of round {0} requires a beacon but names no round of drand")]
    NoDrandRound(RoundId),
    /// The ledger did not answer, and nothing has been read before.
    #[error("the sales have not been read yet")]
    NothingKnown,
    /// The run used up its function's time.
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
