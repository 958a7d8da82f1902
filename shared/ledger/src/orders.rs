use aws_sdk_dynamodb::types::TransactWriteItem;
use aws_sdk_dynamodb::types::builders::UpdateBuilder;
use futures::future::try_join_all;
use sale::audit::LiveOrder;
use sale::{CampaignLimit, EpochMs, Order, Reservation, ReservationId, RoundId, Transition, Unit, UserId};
use serde::Deserialize;

use crate::by_time::TimeRange;
use crate::calls::{Call, Conditional, Part, Write, Written, has_failed, old_item};
use crate::item::{GUARD_LIFE_S, GuardItem, from_item, item_of, number, order_item, pk_of, text, to_item};
use crate::{Ledger, LedgerError, keys};

/// The index of each write in the transaction that places an order, and of its cancellation reason.
const ORDER: usize = 0;
const UNIT: usize = 1;
const SLOT: usize = 2;
const FENCE: usize = 3;
/// How many overdue orders are read from a shard at a time; the next run reads more.
const OVERDUE_PER_SHARD: i32 = 25;

#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "one for each order message, and nearly always the order")]
pub enum Placed {
    /// There is an order: written now, live and with both guards; written before; or fenced.
    Order(Order),
    /// A guard belongs to another order; nothing was written.
    Taken(Taken),
    /// The entries of its round are fenced off for the draw; nothing was written.
    Fenced,
}

/// Which guards belong to other orders, and whether a campaign's limit is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Taken {
    /// The unit's guard: Redis handed the unit out twice.
    pub unit: bool,
    /// The slot's guard: the user already has an order there.
    pub slot: bool,
    pub campaign: bool,
}

#[derive(Debug, Clone)]
pub struct OrdersPage {
    pub orders: Vec<Order>,
    pub next: Option<(ReservationId, EpochMs)>,
}

#[derive(Deserialize)]
struct LiveKeys {
    pk: String,
    unit: Unit,
    reserved_at_ms: EpochMs,
}

/// Whether an order may have outlived its guards, which have a time to live.
pub fn has_outlived_its_guards(order: &Order, now: EpochMs) -> bool {
    now >= order.created_at_ms.plus_s(GUARD_LIFE_S)
}

impl Ledger {
    pub async fn order(&self, id: &ReservationId) -> Result<Option<Order>, LedgerError> {
        self.read(keys::order(id)).await
    }

    pub async fn orders(&self, ids: &[ReservationId]) -> Result<Vec<Order>, LedgerError> {
        let pks: Vec<String> = ids.iter().map(keys::order).collect();
        self.batch(&pks).await
    }

    /// Writes an order and its two guards, all or none.
    ///
    /// Guards against: the same message twice, or five times at once (by the order's own condition); a unit that Redis
    /// handed out twice after it lost a write (by the unit guard); a user beyond the limit in any way (by the slot
    /// guard).
    ///
    /// One further condition is that there is room in the limits of the sale's campaigns. The order records them, so
    /// that its end frees its places in them. Another, if it may be late, is that the entries of the round are not
    /// fenced off: it guards against an entry after its draw has begun to count, and is on one item for each shard of a
    /// round's units, so only orders that may be late have it.
    pub async fn place_within(
        &self,
        mut order: Order,
        limits: &[CampaignLimit],
        may_be_late: bool,
    ) -> Result<Placed, LedgerError> {
        order.campaigns = limits.iter().map(|limit| limit.campaign.clone()).collect();
        let Reservation { id, unit, .. } = &order.reservation;
        let fence = may_be_late.then(|| self.unless_fenced(&id.round, *unit));
        let puts = [order_item(&order)?, to_item(GuardItem::of_unit(&order))?, to_item(GuardItem::of_slot(&order))?];
        let counted = limits.iter().map(|limit| self.count_in_campaign(&order, limit));
        let writes = puts.into_iter().map(|item| self.put_if_absent(item)).chain(fence).chain(counted);
        let Some(reasons) = self.transact(writes.collect()).await? else { return Ok(Placed::Order(order)) };
        if let Some(seen) = old_item(&reasons, ORDER) {
            return Ok(Placed::Order(from_item(seen)?));
        }
        if may_be_late && has_failed(&reasons, FENCE) {
            return Ok(Placed::Fenced);
        }
        let of_another = |at| -> Result<bool, LedgerError> {
            let Some(guard) = old_item(&reasons, at) else { return Ok(false) };
            Ok(from_item::<GuardItem>(guard)?.order_id != order.reservation.id)
        };
        let limits_at = FENCE + usize::from(may_be_late);
        let campaign = (limits_at..limits_at + limits.len()).any(|at| has_failed(&reasons, at));
        let taken = Taken { unit: of_another(UNIT)?, slot: of_another(SLOT)?, campaign };
        if taken.unit || taken.slot || taken.campaign {
            Ok(Placed::Taken(taken))
        } else {
            Err(LedgerError::Contradiction(format!("{} has a guard but no order", order.reservation.id)))
        }
    }

    /// Writes the order of a reservation that will never have one ([`Order::cancelled`], [`Order::failed`]), on the
    /// condition that there is none yet. Returns the order as it is then: this one, or the one that existed.
    ///
    /// Guards against the order message that is still under way: whichever comes second finds the other.
    pub async fn fence(&self, order: Order) -> Result<Order, LedgerError> {
        debug_assert!(!order.state.is_live(), "an order that has its unit is placed");
        match self.put_unless_there(order_item(&order)?).write().await? {
            Written::Done(_) => Ok(order),
            Written::Refused(seen) => from_item(seen),
        }
    }

    /// Ends a PENDING order without payment, deletes its guards and frees its places in campaigns, all or none.
    /// `EXPIRED` only once its `pay_by` has come. Returns the order as it is then, if there is one.
    ///
    /// Guards against a concurrent payment: both require PENDING, so DynamoDB lets only one of them win.
    pub async fn end_unpaid(
        &self,
        order: &Order,
        step: Transition,
        now: EpochMs,
    ) -> Result<Option<Order>, LedgerError> {
        debug_assert!(!step.to().is_live(), "an order that keeps its unit keeps its guards");
        let due = if step == Transition::Expire { " AND pay_by_ms <= :now" } else { "" };
        let id = &order.reservation.id;
        let set = "SET #state = :to, ended_at_ms = :now REMOVE pending_shard, live_shard";
        let update = self.stepping(id, step, set).condition_expression(format!("#state = :from{due}"));
        let mut writes = vec![
            update.values([(":now", number(now.0))]).part(),
            self.delete_guard(GuardItem::of_unit(order).pk, id),
            self.delete_guard(GuardItem::of_slot(order).pk, id),
        ];
        writes.extend(order.campaigns.iter().map(|campaign| self.leave_campaign(order, campaign)));
        let Some(reasons) = self.transact(writes).await? else {
            return Ok(Some(Order { state: step.to(), ended_at_ms: Some(now), ..order.clone() }));
        };
        if has_failed(&reasons, ORDER) {
            return old_item(&reasons, ORDER).map(from_item).transpose();
        }
        Err(LedgerError::Contradiction(format!("{id} is pending but a guard of it is another's")))
    }

    /// An update of an order `:from` one state `:to` another. Returns the order if the condition fails.
    pub(crate) fn stepping(&self, id: &ReservationId, step: Transition, expression: &str) -> UpdateBuilder {
        self.updating(keys::order(id), expression)
            .expression_attribute_names("#state", "state")
            .values([(":from", text(step.from().as_str())), (":to", text(step.to().as_str()))])
            .or_old()
    }

    /// Deletes a guard if it belongs to this order. A guard that is already gone is no obstacle.
    fn delete_guard(&self, pk: String, id: &ReservationId) -> TransactWriteItem {
        self.deleting(pk)
            .condition_expression("attribute_not_exists(pk) OR order_id = :order")
            .values([(":order", text(id.to_string()))])
            .part()
    }

    /// A page of a user's orders, newest first; `after` is the last page's `next`. May lag a moment behind.
    pub async fn orders_of(
        &self,
        user: &UserId,
        after: Option<(ReservationId, EpochMs)>,
    ) -> Result<OrdersPage, LedgerError> {
        self.orders_of_within(user, TimeRange::ALL, after, keys::ORDERS_PAGE).await
    }

    /// The same for orders made in `range`, and at most `limit` of them.
    pub async fn orders_of_within(
        &self,
        user: &UserId,
        range: TimeRange,
        after: Option<(ReservationId, EpochMs)>,
        limit: i32,
    ) -> Result<OrdersPage, LedgerError> {
        let start = after.map(|(id, created_at_ms)| {
            item_of([
                ("pk", text(keys::order(&id))),
                ("orders_of", text(user.as_str())),
                ("created_at_ms", number(created_at_ms.0)),
            ])
        });
        let condition = "orders_of = :user AND created_at_ms BETWEEN :from AND :to";
        let values = [(":user", text(user.as_str())), (":from", number(range.from.0)), (":to", number(range.to.0))];
        let query = self.query(keys::ORDERS_BY_USER, condition, values).scan_index_forward(false);
        let output = query.limit(limit).set_exclusive_start_key(start).answer().await?;
        let more = output.last_evaluated_key.is_some();
        let orders = output.items.unwrap_or_default().into_iter().map(from_item);
        let orders: Vec<Order> = orders.collect::<Result<_, _>>()?;
        let next = orders.last().filter(|_| more).map(|last| (last.reservation.id.clone(), last.created_at_ms));
        Ok(OrdersPage { orders, next })
    }

    /// A round's live orders, found independently of their guards. May lag a moment behind.
    pub async fn live_orders(&self, round: &RoundId) -> Result<Vec<LiveOrder>, LedgerError> {
        let shards = (0..keys::ROUND_SHARDS).map(|shard| keys::live_shard(round, shard));
        let read = |item| {
            let LiveKeys { pk, unit, reserved_at_ms } = from_item(item)?;
            Ok(LiveOrder { id: keys::order_id(&pk)?, unit, reserved_at_ms })
        };
        self.of_shards(keys::ORDERS_BY_ROUND, "live_shard", shards, read).await
    }

    /// The reservations of a round whose units have guards. May lag a moment behind.
    pub async fn guards(&self, round: &RoundId) -> Result<Vec<Reservation>, LedgerError> {
        let shards = (0..keys::ROUND_SHARDS).map(|shard| keys::round_shard(round, shard));
        let read = |item| Ok(from_item::<GuardItem>(item)?.into());
        self.of_shards(keys::GUARDS_BY_ROUND, "round_shard", shards, read).await
    }

    pub async fn guards_of(&self, round: &RoundId, units: &[Unit]) -> Result<Vec<Reservation>, LedgerError> {
        let pks: Vec<String> = units.iter().map(|unit| keys::unit(round, *unit)).collect();
        Ok(self.batch::<GuardItem>(&pks).await?.into_iter().map(Into::into).collect())
    }

    pub async fn owner_of(&self, round: &RoundId, unit: Unit) -> Result<Option<ReservationId>, LedgerError> {
        Ok(self.read::<GuardItem>(keys::unit(round, unit)).await?.map(|guard| guard.order_id))
    }

    /// PENDING orders due before `moment`, some from each shard, the longest overdue first. May lag a moment behind.
    pub async fn overdue(&self, moment: EpochMs) -> Result<Vec<ReservationId>, LedgerError> {
        let shards = (0..keys::PENDING_SHARDS).map(|shard| async move {
            let values = [(":shard", text(keys::pending_shard_name(shard))), (":moment", number(moment.0))];
            let query = self.query(keys::PENDING_BY_PAY_BY, "pending_shard = :shard AND pay_by_ms < :moment", values);
            let output = query.limit(OVERDUE_PER_SHARD).answer().await?;
            Ok::<_, LedgerError>(output.items.unwrap_or_default())
        });
        let items = try_join_all(shards).await?.into_iter().flatten();
        items.map(|item| keys::order_id(pk_of(&item).unwrap_or_default())).collect()
    }
}
