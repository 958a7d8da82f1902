use crate::{
    Allocation, DoorTerms, EarlyAccess, EpochMs, GateTerms, Goods, InvalidTerms, LineTerms, Overlap, PictureUrl, Price,
    Rain, Recurrence, Settlement, Terms, TermsUrl,
};

/// An operator's changes to an offer or a round. `None` leaves a term as it is.
///
/// | term | draft, or future rounds | a round before it is loaded | a loaded round |
/// | --- | --- | --- | --- |
/// | title, description, pictures, list price, link to terms, expected audience, door, gate, closing time | yes | yes | yes, until it is over |
/// | opening time | yes | yes | no |
/// | units | yes | yes, but not in a round with awards | only more, and not in a round with awards |
/// | rain | yes | yes | if it had one, from then on; available units stay available |
/// | price, limit per user, payment window, allocation, settlement, early access | yes | no: buyers were promised it | no |
/// | line: its rate, and whether it is held up | yes | yes | yes, until it is over |
/// | line: whether there is one, and when tickets are first given out | yes | no: buyers were promised it | no |
/// | recurrence, lanes | in a draft only | no | no |
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Edit {
    pub title: Option<String>,
    pub description: Option<String>,
    pub pictures: Option<Vec<PictureUrl>>,
    /// The usual price of a unit. `Some(None)` removes it, as in the next two.
    pub list_price_minor: Option<Option<u64>>,
    pub terms_url: Option<Option<TermsUrl>>,
    pub expected_audience: Option<Option<u32>>,
    pub opens_at_ms: Option<EpochMs>,
    pub closes_at_ms: Option<EpochMs>,
    pub total: Option<u32>,
    pub per_user_limit: Option<u8>,
    pub price: Option<Price>,
    pub payment_window_s: Option<u32>,
    pub door: Option<DoorTerms>,
    pub gate: Option<GateTerms>,
    pub allocation: Option<Allocation>,
    pub settlement: Option<Settlement>,
    pub rain: Option<Rain>,
    pub early_access: Option<Vec<EarlyAccess>>,
    /// The line in front of the sale. `Some(None)` removes it.
    pub line: Option<Option<LineTerms>>,
    pub lanes: Option<u16>,
    /// Whether and how the sale recurs. `Some(None)` ends it.
    pub recurrence: Option<Option<Recurrence>>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("it is a draft")]
    Draft,
    #[error("it was withdrawn")]
    Withdrawn,
    #[error("it is at version {0} now")]
    Changed(u32),
    #[error("{0} cannot be changed any more: the sale is published")]
    Published(&'static str),
    #[error("it has been on sale: close its round or end its recurrence instead")]
    HasOpened,
    #[error("it has not opened yet")]
    NotOpen,
    #[error("the round is over")]
    Over,
    #[error("{0} cannot be changed: buyers of this round were promised it")]
    Promised(&'static str),
    #[error("{0} cannot be changed any more: the round is loaded")]
    Loaded(&'static str),
    #[error("total cannot be less than {0}: the round is loaded, and units may be sold")]
    FewerUnits(u32),
    #[error("the drop with after_s {0} is in the past; use at_once for units that should be available now")]
    DropIsOver(u32),
    #[error("units: 1 to {0}")]
    Units(u32),
    #[error("requests_per_s: 1 to {0}, or null")]
    Rate(u32),
    #[error("closes_at is in the past: close the round instead")]
    ClosesInThePast,
    #[error(transparent)]
    Overlap(#[from] Overlap),
    #[error(transparent)]
    Terms(#[from] InvalidTerms),
    #[error("the round is not over")]
    NotOver,
    #[error("there are no future rounds")]
    NeverAgain,
}

impl Edit {
    pub(crate) fn apply(&self, terms: &Terms) -> Result<Terms, Refusal> {
        let old = terms.clone();
        // Lists every field, so that a new one cannot be forgotten: it is a term, or is ignored here on purpose.
        let Self {
            title,
            description,
            pictures,
            list_price_minor,
            terms_url,
            expected_audience,
            opens_at_ms,
            closes_at_ms,
            total,
            per_user_limit,
            price,
            payment_window_s,
            door,
            gate,
            allocation,
            settlement,
            rain,
            early_access,
            line,
            lanes,
            recurrence: _is_no_term_of_a_round,
        } = self.clone();
        let edited = Terms {
            title: title.unwrap_or(old.title),
            goods: Goods {
                description: description.unwrap_or(old.goods.description),
                pictures: pictures.unwrap_or(old.goods.pictures),
                list_price_minor: list_price_minor.unwrap_or(old.goods.list_price_minor),
                terms_url: terms_url.unwrap_or(old.goods.terms_url),
            },
            expected_audience: expected_audience.unwrap_or(old.expected_audience),
            opens_at_ms: opens_at_ms.unwrap_or(old.opens_at_ms),
            closes_at_ms: closes_at_ms.unwrap_or(old.closes_at_ms),
            total: total.unwrap_or(old.total),
            per_user_limit: per_user_limit.unwrap_or(old.per_user_limit),
            price: price.unwrap_or(old.price),
            payment_window_s: payment_window_s.unwrap_or(old.payment_window_s),
            door: door.unwrap_or(old.door),
            gate: gate.unwrap_or(old.gate),
            allocation: allocation.unwrap_or(old.allocation),
            settlement: settlement.unwrap_or(old.settlement),
            rain: rain.or(old.rain),
            early_access: early_access.unwrap_or(old.early_access),
            line: line.unwrap_or(old.line),
            lanes: lanes.unwrap_or(old.lanes),
        };
        edited.validate()?;
        Ok(edited)
    }
}
