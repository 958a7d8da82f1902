use sale::{Lane, Round, SaleId, UserId};
use uuid::Uuid;

/// The names of one lane's keys. They share a hash tag, so a script touches one slot of a cluster.
pub(crate) struct Keys {
    pub(crate) sale: String,
    pub(crate) buyers: String,
    pub(crate) free: String,
    pub(crate) outbox: String,
    pub(crate) answers: String,
    pub(crate) denied: String,
}

impl Keys {
    pub(crate) fn of(sale: &SaleId, round: Round, lane: Lane) -> Self {
        let name = |kind: &str| format!("{kind}:{{{sale}:{round}:{lane}}}");
        Self {
            sale: name("sale"),
            buyers: name("buyers"),
            free: name("free"),
            outbox: name("outbox"),
            answers: name("answers"),
            denied: name("denied"),
        }
    }

    /// What processes were granted of one step of an isolated sale.
    pub(crate) fn lease(sale: &SaleId, round: Round, lane: Lane, step: &str) -> String {
        format!("lease:{{{sale}:{round}:{lane}}}:{step}")
    }

    /// What one loading has read of the buyers so far.
    pub(crate) fn staged(sale: &SaleId, round: Round, lane: Lane, loading: Uuid) -> String {
        format!("staged:{{{sale}:{round}:{lane}}}:{}", loading.as_simple())
    }

    /// And of their denials.
    pub(crate) fn staged_denied(sale: &SaleId, round: Round, lane: Lane, loading: Uuid) -> String {
        format!("staged_denied:{{{sale}:{round}:{lane}}}:{}", loading.as_simple())
    }
}

/// The names of what a round's door keeps of a user and an address, in the slot of the first lane.
pub(crate) struct DoorKeys {
    pub(crate) challenge: String,
    pub(crate) user: String,
    pub(crate) address: String,
    pub(crate) everybody: String,
}

impl DoorKeys {
    pub(crate) fn of(sale: &SaleId, round: Round, lane: Lane, user: &UserId, challenge: Uuid, ip: &str) -> Self {
        let tag = format!("{{{sale}:{round}:{lane}}}");
        Self {
            challenge: format!("challenge:{tag}:{user}:{}", challenge.as_simple()),
            user: format!("rate:{tag}:user:{user}"),
            address: format!("rate:{tag}:address:{ip}"),
            everybody: format!("rate:{tag}:everybody"),
        }
    }
}
