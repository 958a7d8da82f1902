use sale::{Lane, Round, SaleId};

/// The names of one lane's keys. They share a hash tag, so a script touches one slot of a cluster.
pub(crate) struct Keys {
    pub(crate) sale: String,
    pub(crate) buyers: String,
    pub(crate) free: String,
    pub(crate) outbox: String,
}

impl Keys {
    pub(crate) fn of(sale: &SaleId, round: Round, lane: Lane) -> Self {
        let name = |kind: &str| format!("{kind}:{{{sale}:{round}:{lane}}}");
        Self { sale: name("sale"), buyers: name("buyers"), free: name("free"), outbox: name("outbox") }
    }
}
