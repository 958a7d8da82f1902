use crate::{
    Allocation, DoorTerms, EarlyAccess, EpochMs, GateTerms, Goods, InvalidTerms, LineTerms, Overlap, PictureUrl, Price,
    Rain, Recurrence, Settlement, Terms, TermsUrl,
};

/// What an operator changes of an offer or a round. `None` leaves a term as it is.
///
/// | term | draft, or the rounds to come | a round before it is loaded | a loaded round |
/// | --- | --- | --- | --- |
/// | title, description, pictures, list price, link to terms, expected audience, door, gate, closing time | yes | yes | yes, until it is over |
/// | opening time | yes | yes | no |
/// | units | yes | yes, but none of a round with awards | more only, and none of a round with awards |
/// | rain | yes | yes | if it had one, from that moment on; what is available stays so |
/// | price, limit per user, payment window, allocation, settlement, early access | yes | no: they were promised | no |
/// | line: its rate, and whether it is held up | yes | yes | yes, until it is over |
/// | line: whether there is one, and from when on there are tickets | yes | no: they were promised | no |
/// | recurrence, lanes | a draft's | no | no |
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Edit {
    /// What is sold, for people.
    pub title: Option<String>,
    /// What is shown of it, as text.
    pub description: Option<String>,
    /// Its pictures.
    pub pictures: Option<Vec<PictureUrl>>,
    /// What a unit costs elsewhere. `Some(None)` takes it away, as with the next two.
    pub list_price_minor: Option<Option<u64>>,
    /// The seller's terms.
    pub terms_url: Option<Option<TermsUrl>>,
    /// How many people are expected.
    pub expected_audience: Option<Option<u32>>,
    /// The first moment at which it can be bought.
    pub opens_at_ms: Option<EpochMs>,
    /// The first moment at which it can no longer be bought.
    pub closes_at_ms: Option<EpochMs>,
    /// Units in a round.
    pub total: Option<u32>,
    /// Most live orders of one user in a round.
    pub per_user_limit: Option<u8>,
    /// Price of one unit.
    pub price: Option<Price>,
    /// How long an order waits for its payment.
    pub payment_window_s: Option<u32>,
    /// Who is kept away from it.
    pub door: Option<DoorTerms>,
    /// What its gate asks, and whom it lets see it and buy.
    pub gate: Option<GateTerms>,
    /// What a unit stands for.
    pub allocation: Option<Allocation>,
    /// What makes an order final.
    pub settlement: Option<Settlement>,
    /// When units become available.
    pub rain: Option<Rain>,
    /// Who may buy before everyone else.
    pub early_access: Option<Vec<EarlyAccess>>,
    /// The line in front of it. `Some(None)` makes it one without.
    pub line: Option<Option<LineTerms>>,
    /// Parts of its units with Redis keys of their own.
    pub lanes: Option<u16>,
    /// Whether the sale comes again, and how. `Some(None)` makes it one that does not.
    pub recurrence: Option<Option<Recurrence>>,
}

/// Why a change is refused. Nothing is changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It is a draft, and what was asked for is for published sales.
    #[error("it is a draft")]
    Draft,
    /// It was withdrawn, for good.
    #[error("it was withdrawn")]
    Withdrawn,
    /// Somebody changed it meanwhile: this is its version now.
    #[error("it is at version {0} now")]
    Changed(u32),
    /// The term can be changed as long as the sale is a draft.
    #[error("{0} cannot be changed any more: the sale is published")]
    Published(&'static str),
    /// Somebody could buy, or another round came before.
    #[error("it could be bought from: close its round or end its recurrence instead")]
    HasOpened,
    /// The round has not opened.
    #[error("it has not opened yet")]
    NotOpen,
    /// The round is over.
    #[error("the round is over")]
    Over,
    /// The term is part of what buyers of the round were promised.
    #[error("{0} cannot be changed: buyers of this round were promised it")]
    Promised(&'static str),
    /// The term was fixed when the round was loaded.
    #[error("{0} cannot be changed any more: the round is loaded")]
    Loaded(&'static str),
    /// Units that were loaded may be sold, so there are never fewer.
    #[error("total cannot be less than {0}: the round is loaded, and units may be sold")]
    FewerUnits(u32),
    /// A drop of a new plan would have been before the change.
    #[error("the drop with after_s {0} is not ahead: units that are to be available now are at_once")]
    DropIsOver(u32),
    /// None, or more than a round can have.
    #[error("units: 1 to {0}")]
    Units(u32),
    /// A rate that cannot be isolated to.
    #[error("requests_per_s: 1 to {0}, or null")]
    Rate(u32),
    /// It would have closed before.
    #[error("closes_at is over: close the round instead")]
    ClosesInThePast,
    /// The next round would open before it closes.
    #[error(transparent)]
    Overlap(#[from] Overlap),
    /// The terms cannot be sold by.
    #[error(transparent)]
    Terms(#[from] InvalidTerms),
    /// The round still runs, or is still to open.
    #[error("the round is not over")]
    NotOver,
    /// The sale does not come again, or not within a year.
    #[error("no round is to come")]
    NeverAgain,
}

impl Edit {
    /// These terms with what is changed, if they can be sold by.
    pub(crate) fn apply(&self, terms: &Terms) -> Result<Terms, Refusal> {
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
        } = self;
        let edited = Terms {
            title: title.clone().unwrap_or_else(|| terms.title.clone()),
            goods: Goods {
                description: description.clone().unwrap_or_else(|| terms.goods.description.clone()),
                pictures: pictures.clone().unwrap_or_else(|| terms.goods.pictures.clone()),
                list_price_minor: list_price_minor.unwrap_or(terms.goods.list_price_minor),
                terms_url: terms_url.clone().unwrap_or_else(|| terms.goods.terms_url.clone()),
            },
            expected_audience: expected_audience.unwrap_or(terms.expected_audience),
            opens_at_ms: opens_at_ms.unwrap_or(terms.opens_at_ms),
            closes_at_ms: closes_at_ms.unwrap_or(terms.closes_at_ms),
            total: total.unwrap_or(terms.total),
            per_user_limit: per_user_limit.unwrap_or(terms.per_user_limit),
            price: price.unwrap_or(terms.price),
            payment_window_s: payment_window_s.unwrap_or(terms.payment_window_s),
            door: door.clone().unwrap_or_else(|| terms.door.clone()),
            gate: gate.clone().unwrap_or_else(|| terms.gate.clone()),
            allocation: allocation.clone().unwrap_or_else(|| terms.allocation.clone()),
            settlement: settlement.unwrap_or(terms.settlement),
            rain: rain.clone().or_else(|| terms.rain.clone()),
            early_access: early_access.clone().unwrap_or_else(|| terms.early_access.clone()),
            line: line.unwrap_or(terms.line),
            lanes: lanes.unwrap_or(terms.lanes),
        };
        edited.validate()?;
        Ok(edited)
    }
}
