use std::collections::HashMap;

use api::{Object, Problem};
use fulfilment::Audited;
use jiff::Timestamp;
use ledger::{Beacon, Latest};
use sale::audit::{Audit, Awarded};
use sale::{
    Allocation, ChallengePolicy, Currency, DoorTerms, EarlyAccess, Edit, GateTerms, Goods, GroupName, LineTerms,
    LogEntry, PictureUrl, Price, Rain, RainDrop, Recurrence, RoundId, RoundNumber, SaleId, SaleState, Settlement,
    Steady, Terms, TermsUrl, UserId,
};
use serde::{Deserialize, Deserializer, Serialize};

use crate::busy::BusyDocument;
use crate::new_allocation;

/// By default, how many seconds before the opening tickets are given out.
const USUAL_OPENS_EARLY_S: u32 = 3600;

#[serde_with::apply(Option => #[serde(default, deserialize_with = "api::present")])]
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewSale {
    sale_id: SaleId,
    title: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    pictures: Vec<PictureUrl>,
    list_price_minor: Option<u64>,
    terms_url: Option<TermsUrl>,
    expected_audience: Option<u32>,
    opens_at: Timestamp,
    closes_at: Timestamp,
    total: u32,
    per_user_limit: u8,
    price_minor: u64,
    currency: Currency,
    payment_window_s: u32,
    recurrence: Option<Object<Recurrence>>,
    door: Option<Object<NewDoor>>,
    gate: Option<Object<NewGate>>,
    #[serde(default, deserialize_with = "new_allocation::read")]
    allocation: Allocation,
    #[serde(default)]
    settlement: Settlement,
    rain: Option<Object<NewRain>>,
    #[serde(default)]
    early_access: Vec<Object<EarlyAccess>>,
    line: Option<Object<NewLine>>,
    lanes: Option<u16>,
}

/// An operator's changes to a sale, and the version they are based on. Null removes a term, if it is optional.
#[serde_with::apply(Option => #[serde(default, deserialize_with = "api::present")])]
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EditSale {
    version: Option<u32>,
    round: Option<RoundNumber>,
    round_version: Option<u32>,
    title: Option<String>,
    description: Option<String>,
    pictures: Option<Vec<PictureUrl>>,
    list_price_minor: Option<Option<u64>>,
    terms_url: Option<Option<TermsUrl>>,
    expected_audience: Option<Option<u32>>,
    opens_at: Option<Timestamp>,
    closes_at: Option<Timestamp>,
    total: Option<u32>,
    per_user_limit: Option<u8>,
    price_minor: Option<u64>,
    currency: Option<Currency>,
    payment_window_s: Option<u32>,
    /// Null: the sale does not recur.
    recurrence: Option<Option<Object<Recurrence>>>,
    door: Option<Object<NewDoor>>,
    gate: Option<Object<NewGate>>,
    #[serde(default, deserialize_with = "allocation")]
    #[serde_with(skip_apply)]
    allocation: Option<Allocation>,
    settlement: Option<Settlement>,
    rain: Option<Object<NewRain>>,
    early_access: Option<Vec<Object<EarlyAccess>>>,
    /// Null: the sale has no line.
    line: Option<Option<Object<NewLine>>>,
    lanes: Option<u16>,
}

fn allocation<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Allocation>, D::Error> {
    new_allocation::read(deserializer).map(Some)
}

impl EditSale {
    /// The round to change, or `None` for a draft or the future rounds; and the version that the change is based on.
    pub(crate) fn seen(&self) -> Result<(Option<RoundNumber>, u32), Problem> {
        match (self.version, self.round, self.round_version) {
            (Some(version), None, None) => Ok((None, version)),
            (None, Some(round), Some(version)) => Ok((Some(round), version)),
            _ => Err(Problem::invalid("version: send version, or round and round_version")),
        }
    }

    pub(crate) fn pictures(&self) -> &[PictureUrl] {
        self.pictures.as_deref().unwrap_or_default()
    }

    pub(crate) fn of(&self, terms: &Terms) -> Edit {
        let is_priced = self.price_minor.is_some() || self.currency.is_some();
        Edit {
            title: self.title.clone(),
            description: self.description.clone(),
            pictures: self.pictures.clone(),
            list_price_minor: self.list_price_minor,
            terms_url: self.terms_url.clone(),
            expected_audience: self.expected_audience,
            opens_at_ms: self.opens_at.map(Into::into),
            closes_at_ms: self.closes_at.map(Into::into),
            total: self.total,
            per_user_limit: self.per_user_limit,
            price: is_priced.then(|| Price {
                price_minor: self.price_minor.unwrap_or(terms.price.price_minor),
                currency: self.currency.unwrap_or(terms.price.currency),
            }),
            payment_window_s: self.payment_window_s,
            door: self.door.clone().map(|door| door.0.into_terms()),
            gate: self.gate.clone().map(|gate| gate.0.of(&terms.gate)),
            allocation: self.allocation.clone(),
            settlement: self.settlement,
            rain: self.rain.clone().map(|rain| rain.0.into()),
            early_access: self.early_access.clone().map(plain),
            line: self.line.clone().map(|line| line.map(|line| line.0.of(terms.line))),
            lanes: self.lanes,
            recurrence: self.recurrence.clone().map(|again| again.map(|again| again.0)),
        }
    }
}

#[serde_with::apply(Option => #[serde(default, deserialize_with = "api::present")])]
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Duplicate {
    pub(crate) sale_id: SaleId,
    pub(crate) opens_at: Option<Timestamp>,
    pub(crate) closes_at: Option<Timestamp>,
}

/// The door in a request. Missing fields get the default of every sale.
#[serde_with::apply(Option => #[serde(default, deserialize_with = "api::present")])]
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct NewDoor {
    violations: Option<u32>,
    violation_window_s: Option<u32>,
    blocked_for_s: Option<u32>,
    unpaid_limit: Option<u8>,
    planned_requests_per_s: Option<u32>,
}

/// The gate in a request. In a change, missing fields keep their values: an operator who makes the work harder in a
/// hurry must not reveal a hidden sale. In a new sale they get their defaults.
#[serde_with::apply(Option => #[serde(default, deserialize_with = "api::present")])]
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct NewGate {
    challenge: Option<ChallengePolicy>,
    work_bits: Option<u8>,
    groups_see: Option<Vec<GroupName>>,
    groups_buy: Option<Vec<GroupName>>,
}

impl NewGate {
    fn of(self, before: &GateTerms) -> GateTerms {
        let Self { challenge, work_bits, groups_see, groups_buy } = self;
        GateTerms {
            challenge: challenge.unwrap_or(before.challenge),
            work_bits: work_bits.unwrap_or(before.work_bits),
            groups_see: groups_see.unwrap_or_else(|| before.groups_see.clone()),
            groups_buy: groups_buy.unwrap_or_else(|| before.groups_buy.clone()),
        }
    }
}

/// The line in a request. Missing fields keep their values: who holds the line up in a hurry need not know its rate.
#[serde_with::apply(Option => #[serde(default, deserialize_with = "api::present")])]
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct NewLine {
    opens_early_s: Option<u32>,
    admits_per_s: Option<u32>,
    paused: Option<bool>,
}

impl NewLine {
    /// The rate has no default: 0 is refused if there was no line before.
    fn of(self, before: Option<LineTerms>) -> LineTerms {
        let Self { opens_early_s, admits_per_s, paused } = self;
        LineTerms {
            opens_early_s: opens_early_s.or(before.map(|line| line.opens_early_s)).unwrap_or(USUAL_OPENS_EARLY_S),
            admits_per_s: admits_per_s.or(before.map(|line| line.admits_per_s)).unwrap_or(0),
            paused: paused.or(before.map(|line| line.paused)).unwrap_or(false),
        }
    }
}

#[serde_with::apply(Option => #[serde(default, deserialize_with = "api::present")])]
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewRain {
    #[serde(default)]
    at_once: u32,
    steady: Option<Object<Steady>>,
    #[serde(default)]
    drops: Vec<Object<RainDrop>>,
}

fn plain<T>(objects: Vec<Object<T>>) -> Vec<T> {
    objects.into_iter().map(|object| object.0).collect()
}

impl From<NewRain> for Rain {
    fn from(NewRain { at_once, steady, drops }: NewRain) -> Self {
        Self { at_once, steady: steady.map(|it| it.0), drops: plain(drops), from_ms: 0 }
    }
}

impl NewDoor {
    fn into_terms(self) -> DoorTerms {
        let usual = DoorTerms::default();
        DoorTerms {
            violations: self.violations.unwrap_or(usual.violations),
            violation_window_s: self.violation_window_s.unwrap_or(usual.violation_window_s),
            blocked_for_s: self.blocked_for_s.unwrap_or(usual.blocked_for_s),
            unpaid_limit: self.unpaid_limit.unwrap_or(usual.unpaid_limit),
            planned_requests_per_s: self.planned_requests_per_s,
        }
    }
}

impl NewSale {
    pub(crate) fn into_parts(self) -> (SaleId, Terms, Option<Recurrence>) {
        let terms = Terms {
            title: self.title,
            goods: Goods {
                description: self.description,
                pictures: self.pictures,
                list_price_minor: self.list_price_minor,
                terms_url: self.terms_url,
            },
            expected_audience: self.expected_audience,
            opens_at_ms: self.opens_at.into(),
            closes_at_ms: self.closes_at.into(),
            total: self.total,
            per_user_limit: self.per_user_limit,
            price: Price { price_minor: self.price_minor, currency: self.currency },
            payment_window_s: self.payment_window_s,
            door: self.door.map(|door| door.0.into_terms()).unwrap_or_default(),
            gate: self.gate.map(|gate| gate.0.of(&GateTerms::default())).unwrap_or_default(),
            allocation: self.allocation,
            settlement: self.settlement,
            rain: self.rain.map(|rain| rain.0.into()),
            early_access: plain(self.early_access),
            line: self.line.map(|line| line.0.of(None)),
            lanes: self.lanes.unwrap_or(1),
        };
        (self.sale_id, terms, self.recurrence.map(|again| again.0))
    }
}

/// A sale as operators see it: its offer, and the terms of its latest round.
#[serde_with::skip_serializing_none]
#[derive(Serialize)]
pub(crate) struct SaleDocument {
    sale_id: SaleId,
    state: SaleState,
    round: u32,
    version: u32,
    /// Absent in a draft, which has no round yet.
    round_version: Option<u32>,
    paused: bool,
    throttle_requests_per_s: Option<u32>,
    busy: Option<BusyDocument>,
    #[serde(flatten)]
    terms: TermsDocument,
    recurrence: Option<Recurrence>,
    /// The terms of future rounds, if they differ.
    rounds_to_come: Option<Box<TermsDocument>>,
}

#[serde_with::skip_serializing_none]
#[derive(Serialize)]
struct TermsDocument {
    title: String,
    #[serde(flatten)]
    goods: Goods,
    expected_audience: Option<u32>,
    opens_at: Timestamp,
    closes_at: Timestamp,
    total: u32,
    per_user_limit: u8,
    #[serde(flatten)]
    price: Price,
    payment_window_s: u32,
    door: DoorTerms,
    gate: GateTerms,
    allocation: Allocation,
    settlement: Settlement,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    early_access: Vec<EarlyAccess>,
    rain: Option<Rain>,
    line: Option<LineTerms>,
    /// Absent if 1, as in most sales.
    lanes: Option<u16>,
}

impl SaleDocument {
    pub(crate) fn of(Latest { offer, round }: Latest) -> Self {
        let recurs = offer.state == SaleState::Published && offer.recurrence.is_some();
        let of_round = round.as_ref().map(|round| round.terms.clone());
        let to_come = of_round.as_ref().filter(|of_round| recurs && **of_round != offer.terms);
        let rounds_to_come = to_come.map(|_| Box::new(TermsDocument::of(offer.terms.clone())));
        let terms = TermsDocument::of(of_round.unwrap_or(offer.terms));
        Self {
            sale_id: offer.id,
            state: offer.state,
            round: offer.latest_round.0,
            version: offer.version,
            round_version: round.as_ref().map(|round| round.version),
            paused: round.as_ref().is_some_and(|round| round.paused),
            throttle_requests_per_s: round.and_then(|round| round.throttle_requests_per_s),
            busy: None,
            terms,
            recurrence: offer.recurrence,
            rounds_to_come,
        }
    }

    fn with_busy(latest: Latest, busy: &HashMap<RoundId, BusyDocument>) -> Self {
        Self { busy: latest.round.as_ref().and_then(|round| busy.get(&round.id)).copied(), ..Self::of(latest) }
    }
}

impl TermsDocument {
    fn of(terms: Terms) -> Self {
        Self {
            title: terms.title,
            goods: terms.goods,
            expected_audience: terms.expected_audience,
            opens_at: terms.opens_at_ms.into(),
            closes_at: terms.closes_at_ms.into(),
            total: terms.total,
            per_user_limit: terms.per_user_limit,
            price: terms.price,
            payment_window_s: terms.payment_window_s,
            door: terms.door,
            gate: terms.gate,
            allocation: terms.allocation,
            settlement: terms.settlement,
            rain: terms.rain,
            early_access: terms.early_access,
            line: terms.line,
            lanes: (terms.lanes > 1).then_some(terms.lanes),
        }
    }
}

/// A sale, with the log of its offer and of its latest round.
#[derive(Serialize)]
pub(crate) struct LoggedSaleDocument {
    #[serde(flatten)]
    sale: SaleDocument,
    log: Vec<LogDocument>,
}

#[derive(Serialize)]
struct LogDocument {
    at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<UserId>,
    action: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    parameters: String,
}

impl LoggedSaleDocument {
    /// `beacon` is that of the latest round, if it has one.
    pub(crate) fn of(latest: Latest, busy: &HashMap<RoundId, BusyDocument>, beacon: Option<Beacon>) -> Self {
        let of_round = latest.round.iter().flat_map(|round| round.log.entries());
        let mut entries: Vec<LogEntry> = latest.offer.log.entries().iter().chain(of_round).cloned().collect();
        entries.extend(beacon.map(|Beacon { drand_round, by, at_ms, .. }| LogEntry {
            key: String::new(),
            action: "beacon".to_owned(),
            parameters: drand_round.to_string(),
            by: Some(by),
            at_ms,
        }));
        entries.sort_by_key(|entry| entry.at_ms);
        let entry = |LogEntry { key: _, action, parameters, by, at_ms }| LogDocument {
            at: at_ms.into(),
            by,
            action,
            parameters,
        };
        Self { log: entries.into_iter().map(entry).collect(), sale: SaleDocument::with_busy(latest, busy) }
    }
}

#[derive(Serialize)]
pub(crate) struct SalesDocument {
    sales: Vec<SaleDocument>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

impl SalesDocument {
    pub(crate) fn of(sales: Vec<Latest>, busy: &HashMap<RoundId, BusyDocument>, next_cursor: Option<String>) -> Self {
        Self { sales: sales.into_iter().map(|sale| SaleDocument::with_busy(sale, busy)).collect(), next_cursor }
    }
}

#[derive(Serialize)]
pub(crate) struct AuditDocument {
    clean: bool,
    in_redis: bool,
    #[serde(flatten)]
    audit: Audit,
    #[serde(skip_serializing_if = "Option::is_none")]
    awarded: Option<Awarded>,
}

impl AuditDocument {
    pub(crate) fn of(Audited { audit, in_redis, awarded }: Audited) -> Self {
        Self { clean: audit.is_clean() && awarded.as_ref().is_none_or(Awarded::is_exact), in_redis, audit, awarded }
    }
}

#[cfg(test)]
mod tests {
    use serde::de::DeserializeOwned;
    use serde_json::{Value, json};

    use super::*;
    use crate::campaigns::NewCampaign;
    use crate::guard::{Allowed, NewBlock};

    fn null_is_refused<T: DeserializeOwned>(body: &Value, optional: &[&str]) {
        assert!(serde_json::from_value::<T>(body.clone()).is_ok(), "{body}");
        for member in optional {
            let mut with_null = body.clone();
            with_null[member] = Value::Null;
            assert!(serde_json::from_value::<T>(with_null).is_err(), "{member} of {body}");
        }
    }

    #[test]
    fn null_is_refused_where_it_would_mean_nothing() {
        let sale = json!({
            "sale_id": "lamp", "title": "A lamp", "opens_at": "2026-11-24T10:00:00Z",
            "closes_at": "2026-11-24T11:00:00Z", "total": 10, "per_user_limit": 1, "price_minor": 990,
            "currency": "EUR", "payment_window_s": 900,
        });
        let goods = ["description", "pictures", "list_price_minor", "terms_url", "expected_audience"];
        null_is_refused::<NewSale>(&sale, &goods);
        let rest = ["recurrence", "door", "gate", "allocation", "settlement", "rain", "early_access", "line", "lanes"];
        null_is_refused::<NewSale>(&sale, &rest);
        let door = ["violations", "violation_window_s", "blocked_for_s", "unpaid_limit", "planned_requests_per_s"];
        null_is_refused::<NewDoor>(&json!({}), &door);
        null_is_refused::<NewGate>(&json!({}), &["challenge", "work_bits", "groups_see", "groups_buy"]);
        null_is_refused::<NewLine>(&json!({}), &["opens_early_s", "admits_per_s", "paused"]);
        null_is_refused::<NewRain>(&json!({}), &["at_once", "steady", "drops"]);
        null_is_refused::<EarlyAccess>(&json!({ "group": "members", "lead_s": 60 }), &["quota"]);
        let campaign = json!({ "campaign_id": "autumn", "title": "Autumn", "sale_ids": ["lamp"] });
        null_is_refused::<NewCampaign>(&campaign, &["limit_per_user", "version"]);
        let subject = ["user", "address", "network"];
        null_is_refused::<Allowed>(&json!({}), &subject);
        let block = json!({ "until": "2026-11-24T10:00:00Z" });
        null_is_refused::<NewBlock>(&block, &subject);
        null_is_refused::<NewBlock>(&block, &["note"]);
    }

    #[test]
    fn a_list_of_the_members_is_no_object() {
        for (member, list) in [
            ("door", json!([])),
            ("gate", json!([])),
            ("line", json!([])),
            ("rain", json!([])),
            ("rain", json!({ "steady": [1, 10] })),
            ("rain", json!({ "drops": [[60, 5]] })),
            ("recurrence", json!(["day", "UTC"])),
            ("early_access", json!([["members", 60]])),
        ] {
            let edit = json!({ "version": 1, member: list });
            assert!(serde_json::from_value::<EditSale>(edit.clone()).is_err(), "{edit}");
        }
    }
}
