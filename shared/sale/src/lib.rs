//! The domain of a flash sale: who may have which unit, and what may become of it.
//!
//! Nothing here uses a network, a clock or the environment, so every rule of the system can be tested as a plain
//! function.

mod allocation;
pub mod audit;
pub mod award;
mod campaign;
mod door_terms;
mod early_access;
mod edit;
mod gate_terms;
mod goods;
mod ids;
mod invalid_terms;
mod limits;
mod line_terms;
mod log;
mod milestones;
mod money;
mod network;
mod offer;
mod order;
mod rain;
mod recurrence;
mod reservation;
mod round;
mod shown;
mod terms;
mod text_serde;
mod time;
mod traffic;

pub use allocation::{
    Allocation, Award, DrawTime, MAX_AWARDS, MAX_PRIZE_NAME_LENGTH, MAX_PRIZES, Parts, Prize, Settlement,
};
pub use campaign::{Campaign, CampaignId, CampaignLimit, MAX_CAMPAIGN_LIMIT, MAX_CAMPAIGN_SALES, MAX_LIMITS_OF_A_SALE};
pub use door_terms::{
    DoorTerms, MAX_BLOCKED_FOR_S, MAX_PLANNED_REQUESTS_PER_S, MAX_VIOLATION_WINDOW_S, MAX_VIOLATIONS,
};
pub use early_access::{BuyerClass, EarlyAccess, GroupName, MAX_EARLY_ACCESS, MAX_LEAD_S, MemberQuota};
pub use edit::{Edit, Refusal};
pub use gate_terms::{ChallengePolicy, GateTerms, MAX_GATE_GROUPS, MAX_WORK_BITS, MIN_WORK_BITS, USUAL_WORK_BITS};
pub use goods::{Goods, InvalidUrl, MAX_DESCRIPTION_LENGTH, MAX_PICTURES, MAX_URL_LENGTH, PictureUrl, TermsUrl};
pub use ids::{InvalidId, MAX_GROUP_NAME_LENGTH, MAX_SALE_ID_LENGTH, MAX_USER_ID_LENGTH};
pub use ids::{Lane, MAX_LANES, ReservationId, RoundId, RoundNumber, SaleId, Slot, Unit, UserId};
pub use invalid_terms::InvalidTerms;
pub use limits::{MAX_PRICE_MINOR, MAX_SALE_DURATION_S, MAX_TITLE_LENGTH, MAX_TOTAL};
pub use line_terms::{LineTerms, MAX_ADMITS_PER_S, MAX_OPENS_EARLY_S};
pub use log::{Log, LogEntry, MAX_LOG, Seen};
pub use milestones::{Milestones, Observation};
pub use money::{Currency, InvalidCurrency, Price};
pub use network::{InvalidNetwork, MIN_IPV4_PREFIX, MIN_IPV6_PREFIX, Network};
pub use offer::{Offer, SaleState};
pub use order::{Failure, MAX_PAYMENT_ID_LENGTH, Order, OrderState, RefundState, Transition};
pub use rain::{InvalidRainPlan, MAX_DROPS, MAX_EVERY_S, Rain, RainDrop, RainPlan, Steady};
pub use recurrence::{Hours, Overlap, Recurrence, TimeZoneName, UnknownTimeZone, Window};
pub use reservation::{Reservation, ReservationState, StoredReservation};
pub use round::{Round, latest_rounds};
pub use shown::{Availability, Phase, ShownAward};
pub use terms::{
    MAX_EXPECTED_AUDIENCE, MAX_PAYMENT_WINDOW_S, MAX_PER_USER_LIMIT, MAX_THROTTLE_REQUESTS_PER_S, MIN_PAYMENT_WINDOW_S,
    Terms,
};
pub use text_serde::present;
pub use time::EpochMs;
pub use traffic::{Traffic, UNPLANNED_REQUESTS_PER_S, throttle_of_busy};
