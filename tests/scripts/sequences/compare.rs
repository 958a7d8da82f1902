use std::fmt::Debug;

use stock::RoundView;

use super::model::Model;
use crate::prelude::*;

impl Model {
    /// Checks that Redis matches the model.
    pub(super) fn compare(&mut self, view: &RoundView) -> Result<(), String> {
        let counters = &view.counters;
        let mut free: Vec<u32> = view.free.iter().cloned().flatten().collect();
        free.sort_unstable();
        same("free units", &free, &self.free().into_iter().collect())?;
        same("number of free units", counters.free() as usize, free.len())?;
        let returned: BTreeSet<u32> = free.into_iter().filter(|unit| *unit < counters.next_unit).collect();
        same("returned units", counters.returned as usize, self.returned.len())?;
        same("next and last unit", (counters.next_unit, counters.last_unit), (self.next, self.last))?;

        let mut reservations = view.reservations.clone();
        reservations.sort_by(|StoredReservation { reservation, .. }, StoredReservation { reservation: other, .. }| {
            (&reservation.user, reservation.id.uuid).cmp(&(&other.user, other.id.uuid))
        });
        same("reservations", &reservations, &self.reservations())?;
        same("length of the outbox", view.outbox, self.outbox.len())?;

        let terms = &self.round.terms;
        same("limit", counters.per_user_limit, terms.per_user_limit)?;
        same("paused", counters.paused, self.round.paused)?;
        same("window", (counters.opens_at_ms, counters.closes_at_ms), (terms.opens_at_ms, terms.closes_at_ms))?;
        same("epoch", counters.epoch_ms, self.epoch_ms)?;
        if std::mem::take(&mut self.new_name) {
            let before = std::mem::replace(&mut self.last_won_at_ms, counters.last_won_at_ms);
            same("whether a new buyer counts as a later win", counters.last_won_at_ms > before, true)?;
        }
        same("last won", counters.last_won_at_ms, self.last_won_at_ms)?;
        let cooldown_began = counters.cooldown_until_ms != self.cooldown_until_ms;
        same("whether a cooldown began", cooldown_began, std::mem::take(&mut self.cooldown_began))?;
        same("unpaid limit", counters.unpaid_limit, terms.door.unpaid_limit)?;
        same("quota", (counters.quota, counters.quota_until_ms), (self.quota, self.quota_until_ms()))?;
        same("version", counters.version, self.round.version)?;
        let expires_at_ms = terms.closes_at_ms.plus_s(terms.payment_window_s).plus_s(24 * 60 * 60);
        same("expiry", counters.expires_at_ms, expires_at_ms)?;

        if counters.moves == self.moves && returned != self.returned_before {
            return Err(format!("moves is still {}, but {:?} became {returned:?}", self.moves, self.returned_before));
        }
        (self.moves, self.returned_before) = (counters.moves, returned);
        Ok(())
    }
}

fn same<T: Debug + PartialEq>(what: &str, redis: T, expected: T) -> Result<(), String> {
    if redis == expected { Ok(()) } else { Err(format!("{what}: Redis has {redis:?} but should have {expected:?}")) }
}
