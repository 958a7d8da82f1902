//! The scripts' effects, and the contents of Redis after each.

use model::trace::{Answer, Effect};
use model::{Guards, Redis, Reservation, ReservationState, Seat};
use redis::Value;

use super::names::Names;
use crate::packed_at;

/// The keys in Redis of a round with one lane.
#[derive(Debug, Clone)]
pub struct Held {
    sale: Option<Vec<u8>>,
    /// Users and their records, one after the other.
    buyers: Vec<String>,
    /// Ranges of returned units.
    free: Vec<String>,
    /// Redis's clock.
    now_ms: u64,
}

/// The keys in terms of the model.
pub(crate) struct Read {
    pub(crate) redis: Redis,
    /// Whether free units are in cooldown.
    in_cooldown: bool,
    /// Set if the number of returned units is wrong.
    miscounted: Option<String>,
}

fn number(packed: &[u8], field: &str, length: usize) -> u64 {
    packed.iter().skip(packed_at(field)).take(length).fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// A unit, counted from 0 as in the model.
fn unit(text: &str) -> u8 {
    let unit: u8 = text.parse::<u8>().expect("a unit of a small round") - 1;
    assert!(usize::from(unit) < model::UNITS, "the model has room for {} units", model::UNITS);
    unit
}

fn slot(text: &str) -> u8 {
    text.parse().expect("a slot")
}

impl Held {
    pub(crate) const READS: usize = 4;

    /// Adds the commands that read it.
    pub(crate) fn reads(pipe: &mut redis::Pipeline, tag: &str) {
        pipe.cmd("GET").arg(format!("sale:{tag}")).cmd("HGETALL").arg(format!("buyers:{tag}"));
        pipe.cmd("ZRANGE").arg(format!("free:{tag}")).arg(0).arg(-1).cmd("TIME");
    }

    pub(crate) fn of(answers: &[Value]) -> Option<Self> {
        let [sale, buyers, free, time] = answers else { return None };
        let time: Vec<u64> = redis::from_redis_value_ref(time).ok()?;
        Some(Self {
            sale: redis::from_redis_value_ref(sale).ok()?,
            buyers: redis::from_redis_value_ref(buyers).ok()?,
            free: redis::from_redis_value_ref(free).ok()?,
            now_ms: time.first()? * 1000 + time.get(1)? / 1000,
        })
    }

    /// Reads the keys of this tag at once.
    pub async fn now(url: &str, tag: &str) -> redis::RedisResult<Self> {
        let mut connection = crate::redis_at(url).await;
        let mut pipe = redis::pipe();
        Self::reads(pipe.atomic(), tag);
        let answers: Vec<Value> = pipe.query_async(&mut connection).await?;
        Ok(Self::of(&answers).expect("valid answers"))
    }

    pub(crate) fn read(&self, names: &mut Names) -> Read {
        let mut redis = Redis { loaded: self.sale.is_some(), ..Redis::default() };
        let (mut in_cooldown, mut miscounted) = (false, None);
        if let Some(sale) = &self.sale {
            let next = number(sale, "next_unit", 4);
            redis.next = next as u8 - 1;
            let (last, returned) = (number(sale, "last_unit", 4), number(sale, "returned", 4));
            let mut found = 0;
            for range in &self.free {
                let (first, last) = range.split_once('-').expect("a range");
                for unit in unit(first)..=unit(last) {
                    redis.returned[usize::from(unit)] = true;
                    found += 1;
                }
            }
            in_cooldown = number(sale, "cooldown_until_ms", 6) > self.now_ms && (returned > 0 || next <= last);
            if found != returned {
                miscounted = Some(format!("{found} units are in the set, but the counter says {returned}"));
            }
        }
        for pair in self.buyers.chunks(2) {
            let [user, record] = pair else { continue };
            for text in record.split(';').filter(|part| part.starts_with(|first: char| first.is_ascii_digit())) {
                let (seat, state) = reservation_of(text, user, names);
                redis.reservations[usize::from(seat.id)] =
                    Some(Reservation { unit: seat.unit, slot: seat.slot, state });
            }
        }
        Read { redis, in_cooldown, miscounted }
    }
}

/// Reads `SLOT STATE ID UNIT RESERVED_AT_MS`.
fn reservation_of(text: &str, user: &str, names: &mut Names) -> (Seat, ReservationState) {
    let fields: Vec<&str> = text.split(' ').collect();
    let [its_slot, state, id, its_unit, _] = fields[..] else { panic!("no reservation: {text}") };
    let state = match state {
        "h" => ReservationState::Held,
        "o" => ReservationState::Ordered,
        "r" => ReservationState::Released,
        other => panic!("not a state of a reservation: {other}"),
    };
    (Seat { id: names.id_of(user, id), unit: unit(its_unit), slot: slot(its_slot) }, state)
}

/// Whether a script changes anything in the model.
pub(crate) fn is_modelled(script: &str) -> bool {
    ["reserve", "confirm", "release", "reseat", "adopt", "restore", "load"].contains(&script)
}

/// The effect of a script, with the contents of Redis after it. None for a page of a load: `staged` keeps those until the
/// round opens.
pub(crate) fn effect(
    script: &str,
    arguments: &[&str],
    answer: &str,
    held: &Held,
    names: &mut Names,
    staged: &mut Guards,
) -> Option<(Effect, Redis)> {
    let (code, rest) = answer.split_once(' ').unwrap_or((answer, ""));
    if script == "load" && code == "staged" {
        // A page of returned units has no seats: the model takes every unit for returned that nobody has.
        let ["buyers", _, pairs @ ..] = arguments else { return None };
        for pair in pairs.chunks(2) {
            for text in pair[1].split(';') {
                let (Seat { id, unit, slot }, _) = reservation_of(text, pair[0], names);
                staged[usize::from(unit)] = Some((id, slot));
            }
        }
        return None;
    }
    let read = held.read(names);
    let unknown = |what: String| Some((Effect::Unknown { what }, read.redis));
    if let Some(miscounted) = read.miscounted {
        return unknown(format!("{script} {arguments:?}: {miscounted}"));
    }
    let Ok(answer) = serde_json::from_value::<Answer>(code.into()) else {
        return unknown(format!("{script} answers {answer}"));
    };
    let effect = match (script, arguments) {
        ("reserve", [user, id, ..]) => {
            let id = names.id_of(user, id);
            let has_reservation = matches!(answer, Answer::Reserved | Answer::Replayed);
            let seat = has_reservation.then(|| reservation_of(rest, user, names).0);
            let in_cooldown = answer == Answer::SoldOut && read.in_cooldown;
            Effect::Reserve { id, answer: if in_cooldown { Answer::InCooldown } else { answer }, seat }
        }
        ("confirm", [user, id]) => Effect::Confirm { id: names.id_of(user, id), answer },
        ("release", [user, id, of_another, ..]) => {
            let of_another = (*of_another != "0").then(|| unit(of_another));
            Effect::Release { id: names.id_of(user, id), of_another, answer }
        }
        ("reseat", [user, id, its_slot, its_unit, ..]) => {
            let seat = Seat { id: names.id_of(user, id), unit: unit(its_unit), slot: slot(its_slot) };
            let to = (answer == Answer::Reseated).then(|| reservation_of(rest, user, names).0);
            Effect::Reseat { seat, answer, to }
        }
        ("adopt", [user, id, its_slot, its_unit, ..]) => {
            let seat = Seat { id: names.id_of(user, id), unit: unit(its_unit), slot: slot(its_slot) };
            Effect::Adopt { seat, answer }
        }
        ("restore", [_, _, ranges @ ..]) => {
            let ranges = ranges.iter().filter_map(|range| range.split_once('-'));
            let units = ranges.flat_map(|(first, last)| unit(first)..=unit(last)).collect();
            Effect::Restore { units, answer }
        }
        ("load", _) => {
            let taken = std::mem::take(staged);
            Effect::Load { taken: (answer == Answer::Loaded).then_some(taken), answer }
        }
        _ => return unknown(format!("{script} {arguments:?}")),
    };
    Some((effect, read.redis))
}
