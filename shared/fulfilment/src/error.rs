use ledger::LedgerError;
use messaging::queue::QueueError;
use runtime::cache::RefreshError;
use sale::{ReservationId, RoundId, SaleId};
use stock::StockError;

pub(crate) type Result<T> = std::result::Result<T, FulfilmentError>;

#[derive(Debug, thiserror::Error)]
pub enum FulfilmentError {
    #[error(transparent)]
    Stock(#[from] StockError),
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    #[error(transparent)]
    Queue(#[from] QueueError),
    #[error("there is no order {0}")]
    UnknownOrder(ReservationId),
    #[error("there is no published sale {0}")]
    UnknownSale(SaleId),
    #[error("{0} has not found a free unit yet")]
    NoUnit(ReservationId),
    #[error("entry {1} of the draw of round {0} is missing")]
    NoEntry(RoundId, u32),
    #[error("the draw of round {0} requires a beacon but names no round of drand")]
    NoDrandRound(RoundId),
    #[error("the sales have not been read yet")]
    NothingKnown,
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
