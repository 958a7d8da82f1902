use sale::{BuyerClass, EpochMs, UserId};
use uuid::Uuid;

use crate::reservations::lead_ms;
use crate::script::ADMIT;
use crate::script_code::{moment, parse, sold_out, unexpected};
use crate::{RoundStock, ScriptCode, SoldOut, StockError};

/// How long the answer to a challenge is remembered, so that a repeated request gets the same result, in milliseconds:
/// longer than a client waits before it retries.
const ANSWERED_FOR_MS: u32 = 10_000;

/// A rate for the generic cell rate algorithm (ITU-T I.371).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GcraLimit {
    /// Microseconds between two requests.
    pub emission_interval_us: u32,
    pub burst: u32,
}

#[derive(Debug, Clone, Copy)]
pub struct Applicant<'a> {
    pub user: &'a UserId,
    pub ip: &'a str,
    pub per_user: GcraLimit,
    pub per_ip: GcraLimit,
}

/// A challenge for a user. The user's earlier challenges stay valid, so tabs do not disturb each other.
#[derive(Debug, Clone, Copy)]
pub struct ChallengeRequest<'a> {
    pub applicant: Applicant<'a>,
    pub id: Uuid,
    pub expected: &'a str,
    /// How long it is valid, in milliseconds.
    pub life_ms: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimited {
    /// When the next request is allowed, in milliseconds.
    pub retry_after_ms: u64,
    /// Whether the user's own limit was exceeded, not the address's or everybody's.
    pub own: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Challenged {
    Issued,
    RateLimited(RateLimited),
    Closed,
    Blocked,
    UnknownSale,
}

#[derive(Debug, Clone, Copy)]
pub struct AdmitRequest<'a> {
    pub applicant: Applicant<'a>,
    /// The id of the challenge or, in a sale without challenges, of this request.
    pub id: Uuid,
    /// The answer. `None` in a sale without challenges.
    pub answer: Option<&'a str>,
    /// The limit for right answers of all users together, if the sale is throttled.
    pub per_sale: Option<GcraLimit>,
    pub class: BuyerClass,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admit {
    /// The user is admitted, since this time by Redis's clock; a repeated answer gets the same time.
    Admitted(EpochMs),
    WrongAnswer {
        /// Whether the same answer was given a moment ago, which makes it one mistake, not two.
        again: bool,
    },
    /// There is no such challenge: it expired, was used up, or never existed.
    NoChallenge,
    RateLimited(RateLimited),
    NotOpen(EpochMs),
    QuotaOnly(EpochMs),
    SoldOut(SoldOut),
    Closed,
    Paused,
    Blocked,
    UnknownSale,
}

/// What Redis stores as the answer in a sale without challenges.
const UNASKED: &str = "unasked";
const NO_LIMIT: GcraLimit = GcraLimit { emission_interval_us: 0, burst: 0 };

impl RoundStock<'_> {
    /// Stores a challenge and its answer. One round trip, rates included. Can be repeated; it is charged once.
    pub async fn challenge(self, request: &ChallengeRequest<'_>) -> Result<Challenged, StockError> {
        let &ChallengeRequest { applicant, id, expected, life_ms } = request;
        let asked = AdmitRequest { applicant, id, answer: Some(expected), per_sale: None, class: BuyerClass::EVERYONE };
        let answer = self.run("challenge", &asked, life_ms, false).await?;
        match parse(&answer)? {
            (ScriptCode::Challenged, _) => Ok(Challenged::Issued),
            (ScriptCode::RateLimited, rest) => Ok(Challenged::RateLimited(rate_limited(rest, &answer)?)),
            (ScriptCode::Closed, _) => Ok(Challenged::Closed),
            (ScriptCode::Blocked, _) => Ok(Challenged::Blocked),
            (ScriptCode::UnknownSale, _) => Ok(Challenged::UnknownSale),
            _ => Err(unexpected(&answer)),
        }
    }

    /// Checks the answer to a challenge and uses the challenge up. One round trip, rates included, unless nothing is
    /// left in the user's home lane and there are other lanes. Can be repeated for some seconds: the same answer gets
    /// the same result and is charged once.
    pub async fn admit(self, request: &AdmitRequest<'_>) -> Result<Admit, StockError> {
        // The home lane's units are not all there are.
        let seen = (self.lanes > 1).then(|| self.seen.of(self.id));
        let may_have = seen.as_ref().is_some_and(|seen| seen.sold_out().is_none() && seen.may_have_units());
        let admit = self.admit_at_home(request, may_have).await?;
        let (Some(seen), Admit::SoldOut(_)) = (seen, admit) else { return Ok(admit) };
        if seen.sold_out().is_some() {
            return Ok(admit);
        }
        match self.is_sold_out_elsewhere().await? {
            Some(sold_out) => Ok(Admit::SoldOut(sold_out)),
            None => {
                // It has been charged already.
                let Applicant { user, ip, .. } = request.applicant;
                let applicant = Applicant { user, ip, per_user: NO_LIMIT, per_ip: NO_LIMIT };
                self.admit_at_home(&AdmitRequest { applicant, ..*request }, true).await
            }
        }
    }

    /// Checks the answer in the user's home lane, which may have no unit while another lane does.
    async fn admit_at_home(self, request: &AdmitRequest<'_>, may_have: bool) -> Result<Admit, StockError> {
        let step = if request.answer.is_some() { "answer" } else { "pass" };
        let answer = self.run(step, request, ANSWERED_FOR_MS, may_have).await?;
        match parse(&answer)? {
            (ScriptCode::Admitted, at) => Ok(Admit::Admitted(moment(at, &answer)?)),
            (ScriptCode::WrongAnswer, again) => Ok(Admit::WrongAnswer { again: again == "1" }),
            (ScriptCode::NoChallenge, _) => Ok(Admit::NoChallenge),
            (ScriptCode::RateLimited, rest) => Ok(Admit::RateLimited(rate_limited(rest, &answer)?)),
            (ScriptCode::NotOpen, at) => Ok(Admit::NotOpen(moment(at, &answer)?)),
            (ScriptCode::QuotaOnly, until) => Ok(Admit::QuotaOnly(moment(until, &answer)?)),
            (ScriptCode::SoldOut, rest) => Ok(Admit::SoldOut(sold_out(rest, &answer)?)),
            (ScriptCode::Closed, _) => Ok(Admit::Closed),
            (ScriptCode::Paused, _) => Ok(Admit::Paused),
            (ScriptCode::Blocked, _) => Ok(Admit::Blocked),
            (ScriptCode::UnknownSale, _) => Ok(Admit::UnknownSale),
            _ => Err(unexpected(&answer)),
        }
    }

    async fn run(
        self,
        step: &str,
        request: &AdmitRequest<'_>,
        life_ms: u32,
        may_have: bool,
    ) -> Result<String, StockError> {
        let &AdmitRequest { applicant, id, answer, per_sale, class } = request;
        let Applicant { user, ip, per_user, per_ip } = applicant;
        let keys = self.home_of(user);
        let rates = [keys.rate_of_user(user), keys.rate_of_address(ip), keys.rate_of_everybody()];
        let call = ADMIT.keys([keys.sale(), keys.buyers(), keys.challenge(user, id)]);
        let call = rates.into_iter().fold(call, |call, key| call.key(key));
        let mut call = call.arg((step, user.as_str(), answer.unwrap_or(UNASKED), life_ms));
        // Each lane counts on its own, so each gets its share of the rate.
        let share = |GcraLimit { emission_interval_us, burst }| GcraLimit {
            emission_interval_us: emission_interval_us.saturating_mul(u32::from(self.lanes)),
            burst: burst.div_ceil(u32::from(self.lanes)),
        };
        for limit in [per_user, per_ip, share(per_sale.unwrap_or(NO_LIMIT))] {
            call = call.arg(limit.emission_interval_us).arg(limit.burst);
        }
        call = call.arg(lead_ms(class)).arg(u8::from(class.has_quota));
        if may_have {
            call = call.arg(1);
        }
        call.invoke_async(self.connection).await
    }
}

fn rate_limited(rest: &str, answer: &str) -> Result<RateLimited, StockError> {
    let (ms, own) = rest.split_once(' ').ok_or_else(|| unexpected(answer))?;
    Ok(RateLimited { retry_after_ms: ms.parse().map_err(|_| unexpected(answer))?, own: own == "1" })
}
