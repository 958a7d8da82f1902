use futures::future::BoxFuture;
use ledger::{Latest, Ledger, Placed, Taken};
use messaging::queue::{ExpiryMessage, ExpiryQueue};
use process::{AwardCache, TermsCache};
use sale::{EpochMs, Failure, Order, OrderState, Reservation, Settlement, Terms};
use stock::{Refused, Reseated, Stock};

use crate::apply::apply_to_stock;
use crate::draw::DRAW_AFTER_S;
use crate::error::{FulfilmentError, Result};

/// An entry of a draw that is placed within this time of its reservation is in time, in milliseconds, whenever its
/// round ends: the draw begins a minute after the end, and a function works for at most 20 s.
const PROMPT_ENTRY_MS: u64 = 20 * 1000;
const _: () = assert!(PROMPT_ENTRY_MS + 20 * 1000 < DRAW_AFTER_S as u64 * 1000);

/// How many units and slots a run tries. Each new one is stored in Redis, so the next run continues from there.
const MAX_SEATS: usize = 16;

#[derive(Clone)]
pub struct Fulfilment {
    pub stock: Stock,
    pub ledger: Ledger,
    pub terms: TermsCache,
    pub awards: AwardCache,
    pub expiry: ExpiryQueue,
}

impl Fulfilment {
    /// Turns a reservation into an order, or finds that it can never become one; then updates Redis and schedules the
    /// expiry.
    ///
    /// Returns the order as the ledger has it: PENDING, or GRANTED with its award, if this run or an earlier one wrote
    /// it, or whatever became of it since. Can be repeated: the order and both guards are one transaction on the
    /// condition that none of the three exists, and that there is room in the limits of the sale's campaigns.
    pub fn place<'a>(
        &'a self,
        reservation: &'a Reservation,
        terms: &'a Terms,
        now: EpochMs,
    ) -> BoxFuture<'a, Result<Order>> {
        Box::pin(async move {
            let limits = self.terms.campaign_limits(&reservation.id.round.sale).await?;
            let may_be_late = self.may_be_late(reservation, terms, now).await?;
            let mut reservation = reservation.clone();
            for _ in 0..MAX_SEATS {
                let order = match terms.settlement {
                    Settlement::Paid => {
                        Order::pending(reservation.clone(), terms.price, now, now.plus_s(terms.payment_window_s))
                    }
                    Settlement::Free => {
                        // The award of the unit of this attempt. It is only shown if the order gets that unit.
                        let award = self.awards.of_unit(&reservation.id.round, terms, reservation.unit).await?;
                        Order::granted(reservation.clone(), terms.price, now, award)
                    }
                };
                let taken = match self.ledger.place_within(order, &limits, may_be_late).await? {
                    Placed::Order(order) => {
                        self.apply(&order, now).await?;
                        return Ok(order);
                    }
                    Placed::Taken(taken) => taken,
                    Placed::Fenced => {
                        tracing::error!(reservation_id = %reservation.id, "an entry arrived after the draw had begun");
                        metrics::counter!("EntriesLate").increment(1);
                        return self.fail(reservation, Failure::EntriesClosed, now).await;
                    }
                };
                tracing::warn!(reservation_id = %reservation.id, unit = reservation.unit.0, unit_taken = taken.unit, slot_taken = taken.slot, campaign_full = taken.campaign, "the order cannot be placed with this unit");
                let refused = match taken {
                    Taken { unit: true, .. } => Refused::Unit,
                    Taken { slot: true, .. } => Refused::Slot,
                    // Only a campaign's limit is reached.
                    Taken { .. } => return self.fail(reservation, Failure::CampaignLimit, now).await,
                };
                match self.stock.round(&reservation.id.round).reseat(&reservation, refused).await? {
                    Reseated::To(Reservation { unit, slot, .. }) => (reservation.unit, reservation.slot) = (unit, slot),
                    Reseated::NoUnit => return self.fail(reservation, Failure::SoldOut, now).await,
                    Reseated::LimitReached => return self.fail(reservation, Failure::LimitReached, now).await,
                    // Only released after a fence: the next iteration reads it.
                    Reseated::AlreadyReleased => {}
                    Reseated::UnknownSale => break,
                }
            }
            Err(FulfilmentError::NoUnit(reservation.id))
        })
    }

    /// Whether a reservation may arrive after the draw of its round has begun to count the entries. Then a condition on
    /// the draw's item decides. That item serves the whole round, so the rush must not need it.
    ///
    /// The round is read again, since an operator may have ended it early. An operator who does so after this read ends
    /// it a minute before its entries are fenced off, by which time this reservation's transaction is over.
    async fn may_be_late(&self, reservation: &Reservation, terms: &Terms, now: EpochMs) -> Result<bool> {
        if !terms.allocation.is_drawn_at_end() || now.since_ms(reservation.reserved_at_ms) < PROMPT_ENTRY_MS {
            return Ok(false);
        }
        Ok(self.ledger.round(&reservation.id.round).await?.is_none_or(|round| round.is_over(now)))
    }

    /// Places a reservation that became a dead letter, exactly as [`Fulfilment::place`] does. It is fenced as FAILED
    /// only for the reasons that retries cannot change, which [`Failure`] lists. Every other fault is an error, and the
    /// message comes back. Fails if a part does not answer, for a moment or for hours.
    pub async fn place_or_fail(&self, reservation: &Reservation, now: EpochMs) -> Result<Order> {
        let Some(terms) = self.terms.get(&reservation.id.round).await? else {
            return self.fail(reservation.clone(), Failure::UnknownSale, now).await;
        };
        match self.place(reservation, &terms, now).await {
            Err(FulfilmentError::NoUnit(_)) if self.has_left(reservation, now).await? => {
                self.fail(reservation.clone(), Failure::SoldOut, now).await
            }
            placed => placed,
        }
    }

    /// Whether a round is over and its keys are gone: they will not be created again, so nobody can get another of its
    /// units. Reads the sale again, since its round may have begun or ended since the last read.
    async fn has_left(&self, reservation: &Reservation, now: EpochMs) -> Result<bool> {
        let round = &reservation.id.round;
        let Some(Latest { offer, round: latest }) = self.ledger.latest(&round.sale).await? else { return Ok(false) };
        let is_over = round.number < offer.latest_round || latest.is_some_and(|latest| latest.is_over(now));
        Ok(is_over && !self.stock.round_in(round, reservation.lane.lanes()).is_loaded().await?)
    }

    async fn fail(&self, reservation: Reservation, why: Failure, now: EpochMs) -> Result<Order> {
        let order = self.ledger.fence(Order::failed(reservation, why, now)).await?;
        self.apply(&order, now).await?;
        Ok(order)
    }

    /// Does what follows an order's state outside the ledger: updates Redis, and sends the message that will expire it.
    ///
    /// A PENDING order is confirmed, then scheduled to expire. The message finds out if it was paid in between.
    async fn apply(&self, order: &Order, now: EpochMs) -> Result<()> {
        apply_to_stock(&self.stock, order).await?;
        if order.state == OrderState::Pending
            && let Some(pay_by_ms) = order.pay_by_ms
        {
            self.expiry.send(&ExpiryMessage::new(order.reservation.id.clone(), pay_by_ms), now).await?;
        }
        Ok(())
    }
}
