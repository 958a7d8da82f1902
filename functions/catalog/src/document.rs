use jiff::Timestamp;
use sale::{
    Availability, Campaign, CampaignId, EarlyAccess, EpochMs, Goods, GroupName, Phase, PictureUrl, Price, Round,
    SaleId, Settlement, Terms, TermsUrl,
};
use serde::Serialize;

use crate::draw::DrawTerms;
use crate::shelf::{Listed, RainProgress, SaleStatus, Shelf};

/// A sale's latest round as everybody sees it in a list.
#[serde_with::skip_serializing_none]
#[derive(Serialize)]
pub(crate) struct Card {
    sale_id: SaleId,
    title: String,
    round: u32,
    state: Phase,
    opens_at: Timestamp,
    closes_at: Timestamp,
    #[serde(flatten)]
    price: Price,
    list_price_minor: Option<u64>,
    picture: Option<PictureUrl>,
    per_user_limit: u8,
    payment_window_s: u32,
    settlement: Settlement,
    draw: Option<DrawTerms>,
    availability: Availability,
    rain: Option<RainProgress>,
    next_release_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    early_access: Vec<EarlyAccessLine>,
    line: Option<LineNotice>,
}

/// Says that a sale has a line. How far the line has moved is in its own document.
#[derive(Serialize)]
struct LineNotice {
    tickets_from: Timestamp,
}

/// Who may buy before everyone else.
#[derive(Serialize)]
struct EarlyAccessLine {
    group: GroupName,
    opens_at: Timestamp,
    /// Until when some units are for this group only, as its quota. How many is not disclosed, like all numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    quota_until: Option<Timestamp>,
}

impl EarlyAccessLine {
    fn of(early: &EarlyAccess, terms: &Terms) -> Self {
        Self {
            group: early.group.clone(),
            opens_at: terms.opens_at_ms.minus_s(early.lead_s).into(),
            quota_until: early.quota.map(|quota| terms.opens_at_ms.plus_s(quota.for_s).into()),
        }
    }
}

impl Card {
    pub(crate) async fn read(shelf: &Shelf, listed: &Listed, round: &Round, now: EpochMs) -> Self {
        Self::of(round, shelf.status_of(listed, round, now).await)
    }

    pub(crate) fn of(round: &Round, status: SaleStatus) -> Self {
        let Round { id, terms, .. } = round;
        Self {
            sale_id: id.sale.clone(),
            title: terms.title.clone(),
            round: id.number.0,
            state: status.phase,
            opens_at: terms.opens_at_ms.into(),
            closes_at: terms.closes_at_ms.into(),
            price: terms.price,
            list_price_minor: terms.goods.list_price_minor,
            picture: terms.goods.pictures.first().cloned(),
            per_user_limit: terms.per_user_limit,
            payment_window_s: terms.payment_window_s,
            settlement: terms.settlement,
            draw: DrawTerms::of(round),
            availability: status.availability,
            rain: status.rain,
            next_release_at: status.next_release_ms.map(Timestamp::from),
            early_access: terms.early_access.iter().map(|early| EarlyAccessLine::of(early, terms)).collect(),
            line: terms
                .line
                .map(|line| LineNotice { tickets_from: terms.opens_at_ms.minus_s(line.opens_early_s).into() }),
        }
    }
}

#[derive(Serialize)]
pub(crate) struct SaleDocument {
    #[serde(flatten)]
    card: Card,
    #[serde(skip_serializing_if = "String::is_empty")]
    description: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pictures: Vec<PictureUrl>,
    #[serde(skip_serializing_if = "Option::is_none")]
    terms_url: Option<TermsUrl>,
}

impl SaleDocument {
    pub(crate) fn of(round: &Round, status: SaleStatus) -> Self {
        let Goods { description, pictures, list_price_minor: _on_the_card, terms_url } = round.terms.goods.clone();
        Self { card: Card::of(round, status), description, pictures, terms_url }
    }
}

#[derive(Serialize)]
pub(crate) struct CampaignDocument {
    pub(crate) campaign_id: CampaignId,
    pub(crate) title: String,
    pub(crate) sales: Vec<Card>,
}

/// The shop's front page: its sales, in a campaign or not, and its campaigns.
#[derive(Serialize)]
pub(crate) struct SalesDocument {
    pub(crate) sales: Vec<Card>,
    #[serde(flatten)]
    pub(crate) campaigns: CampaignsDocument,
}

/// The campaigns, the first to open first.
#[derive(Serialize)]
pub(crate) struct CampaignsDocument {
    campaigns: Vec<CampaignLine>,
}

#[derive(Serialize)]
struct CampaignLine {
    campaign_id: CampaignId,
    title: String,
    opens_at: Timestamp,
    closes_at: Timestamp,
}

impl CampaignsDocument {
    pub(crate) fn of(listed: &Listed) -> Self {
        let line = |campaign: &Campaign| {
            let sales = || listed.rounds_of(campaign).map(|round| &round.terms);
            Some(CampaignLine {
                campaign_id: campaign.id.clone(),
                title: campaign.title.clone(),
                opens_at: sales().map(|terms| terms.opens_at_ms).min()?.into(),
                closes_at: sales().map(|terms| terms.closes_at_ms).max()?.into(),
            })
        };
        let mut campaigns: Vec<_> = listed.campaigns.values().filter_map(line).collect();
        campaigns.sort_by(|a, b| (a.opens_at, &a.campaign_id).cmp(&(b.opens_at, &b.campaign_id)));
        Self { campaigns }
    }
}
