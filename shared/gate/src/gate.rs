use std::sync::Arc;

use api::{Code, Problem, caller};
use lambda_http::Request;
use ledger::Ledger;
use pass::{KeyRing, Pass};
use process::{CachedSale, Forgeries, Snapshot, Snapshots};
use runtime::Clock;
use sale::{SaleId, UserId};
use stock::Stock;

use crate::{Limiter, Memberships, PassKeys};

#[derive(Clone, Copy)]
pub struct Gate<'a> {
    pub stock: &'a Stock,
    pub ledger: &'a Ledger,
    pub snapshots: &'a Snapshots,
    pub keys: &'a PassKeys,
    pub counts: &'a VisitorCounts,
    /// The members of groups, for [`Check::Sight`](crate::Check::Sight).
    pub memberships: Option<&'a Memberships>,
    pub clock: Clock,
}

#[derive(Default)]
pub struct VisitorCounts {
    pub limiter: Limiter,
    pub forgeries: Forgeries,
}

/// A request on its way through the gate: the user, the sale, and what the checks have found out so far.
pub struct Visitor {
    pub user: UserId,
    pub sale_id: SaleId,
    /// The sale in the snapshot. `None` if it was published a moment ago, ended long ago or never existed.
    pub sale: Option<Arc<CachedSale>>,
    pub(crate) snapshot: Snapshot,
    pub(crate) pass: Option<Pass>,
    pub(crate) ring: Option<Arc<KeyRing>>,
}

impl Visitor {
    pub(crate) async fn new(gate: &Gate<'_>, request: &Request, sale: &str) -> Result<Self, Problem> {
        let user = caller(request)?.user;
        let sale_id: SaleId = sale.parse()?;
        let snapshot = gate.snapshots.of(&sale_id).await.map_err(Problem::unanswered)?;
        let mut visitor = Self { user, sale_id, sale: None, snapshot, pass: None, ring: None };
        visitor.read_sale();
        Ok(visitor)
    }

    /// Looks the sale up in the snapshot. Finding it counts as demand.
    pub(crate) fn read_sale(&mut self) {
        self.sale = self.snapshot.sale(&self.sale_id).cloned();
        if let Some(sale) = &self.sale {
            sale.demand.count();
        }
    }

    /// The sale that [`Check::Exists`](crate::Check::Exists) found. Fails with [`Code::UnknownSale`] if it was not
    /// among the checks.
    pub fn sale(&self) -> Result<&CachedSale, Problem> {
        self.sale.as_deref().ok_or_else(|| Problem::new(Code::UnknownSale))
    }

    /// The pass that [`Check::Pass`](crate::Check::Pass) verified. Fails with [`Code::BadToken`] if it was not among
    /// the checks.
    pub fn pass(&self) -> Result<Pass, Problem> {
        self.pass.ok_or_else(|| Problem::new(Code::BadToken))
    }

    /// The keys that [`Check::Keys`](crate::Check::Keys) fetched. Fails with [`Code::Internal`] if it was not among the
    /// checks.
    pub fn keys(&self) -> Result<&KeyRing, Problem> {
        self.ring.as_deref().ok_or_else(|| Problem::new(Code::Internal))
    }
}
