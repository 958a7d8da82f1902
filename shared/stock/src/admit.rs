use std::sync::LazyLock;

use sale::{BuyerClass, EpochMs, UserId};
use uuid::Uuid;

use crate::claims::lead_ms;
use crate::script::Script;
use crate::script_code::{moment, parse, sold_out, unexpected};
use crate::{RoundStock, ScriptCode, SoldOut, StockError};

static ADMIT: LazyLock<Script> = LazyLock::new(|| Script::new(crate::expanded::ADMIT));

/// How long what a challenge was answered with is remembered, so that the same answer, sent again, is answered alike:
/// longer than a client waits before it tries again.
const ANSWERED_FOR_MS: u32 = 10_000;

/// A rate, as the generic cell rate algorithm counts it (ITU-T I.371).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GcraLimit {
    /// Microseconds between two requests.
    pub emission_interval_us: u32,
    /// Requests that may come at once.
    pub burst: u32,
}

/// Who asks to be let towards a round.
#[derive(Debug, Clone, Copy)]
pub struct Applicant<'a> {
    /// The user.
    pub user: &'a UserId,
    /// The client's address, or what stands for it.
    pub ip: &'a str,
    /// What the user may do.
    pub per_user: GcraLimit,
    /// What an address may do.
    pub per_ip: GcraLimit,
}

/// A challenge for a user. Earlier ones of the same user hold beside it: tabs do not disturb each other.
#[derive(Debug, Clone, Copy)]
pub struct ChallengeRequest<'a> {
    /// Who is to answer.
    pub applicant: Applicant<'a>,
    /// Names the challenge.
    pub id: Uuid,
    /// The right answer.
    pub expected: &'a str,
    /// How long it holds.
    pub life_ms: u32,
}

/// Too many requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimited {
    /// When one will be taken.
    pub retry_after_ms: u64,
    /// Whether they are the user's own, and not those of the address or of everybody.
    pub own: bool,
}

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Challenged {
    /// The user is to answer it.
    Issued,
    /// Too many requests.
    RateLimited(RateLimited),
    /// The sale is over.
    Closed,
    /// The user is kept out.
    Denied,
    /// Redis has no such round.
    UnknownSale,
}

/// An answer to a challenge.
#[derive(Debug, Clone, Copy)]
pub struct AdmitRequest<'a> {
    /// Who answers.
    pub applicant: Applicant<'a>,
    /// The challenge. Of a sale that asks nothing, whatever names this request.
    pub id: Uuid,
    /// The answer. None if the sale asks nothing.
    pub answer: Option<&'a str>,
    /// How many right answers of all users together are taken, if the sale is isolated.
    pub per_sale: Option<GcraLimit>,
    /// What the user may do earlier than everyone else.
    pub class: BuyerClass,
}

/// Whether a user is let towards the sale.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admit {
    /// Yes, since this moment by Redis's clock: the same one for the same answer sent again.
    Admitted(EpochMs),
    /// The answer is wrong.
    WrongAnswer {
        /// Whether this very answer was given a moment ago: then it is one mistake and not two.
        again: bool,
    },
    /// There is no such challenge: it is over, was used up, or never was.
    NoChallenge,
    /// Too many requests.
    RateLimited(RateLimited),
    /// The sale opens for the user at this moment.
    NotOpen(EpochMs),
    /// What is left is set aside for a group until this moment.
    SetAside(EpochMs),
    /// No unit is left, or none until the next drop.
    SoldOut(SoldOut),
    /// The sale is over.
    Closed,
    /// An operator paused the sale.
    Paused,
    /// The user is kept out.
    Denied,
    /// Redis has no such round.
    UnknownSale,
}

/// What Redis notes as the answer where nothing was asked.
const UNASKED: &str = "unasked";
const NO_LIMIT: GcraLimit = GcraLimit { emission_interval_us: 0, burst: 0 };

impl RoundStock<'_> {
    /// Notes a challenge and its answer. One round trip, the rates included.
    ///
    /// # Errors
    /// If Redis does not answer. Can be repeated, and is charged once.
    pub async fn challenge(self, request: &ChallengeRequest<'_>) -> Result<Challenged, StockError> {
        let &ChallengeRequest { applicant, id, expected, life_ms } = request;
        let asked = AdmitRequest { applicant, id, answer: Some(expected), per_sale: None, class: BuyerClass::EVERYONE };
        let answer = self.run("challenge", &asked, life_ms, false).await?;
        match parse(&answer)? {
            (ScriptCode::Challenged, _) => Ok(Challenged::Issued),
            (ScriptCode::RateLimited, rest) => Ok(Challenged::RateLimited(rate_limited(rest, &answer)?)),
            (ScriptCode::Closed, _) => Ok(Challenged::Closed),
            (ScriptCode::Denied, _) => Ok(Challenged::Denied),
            (ScriptCode::UnknownSale, _) => Ok(Challenged::UnknownSale),
            _ => Err(unexpected(&answer)),
        }
    }

    /// Takes the answer to a challenge, once. One round trip, the rates included, unless nothing is left in the user's home lane and
    /// there are others.
    ///
    /// # Errors
    /// If Redis does not answer. Can be repeated for some seconds: the same answer is answered alike and charged once.
    pub async fn admit(self, request: &AdmitRequest<'_>) -> Result<Admit, StockError> {
        // What the home lane has is not all that there is.
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
                // It has been charged for.
                let Applicant { user, ip, .. } = request.applicant;
                let applicant = Applicant { user, ip, per_user: NO_LIMIT, per_ip: NO_LIMIT };
                self.admit_at_home(&AdmitRequest { applicant, ..*request }, true).await
            }
        }
    }

    /// Takes it in the user's home lane, which may have nothing while another lane does.
    async fn admit_at_home(self, request: &AdmitRequest<'_>, may_have: bool) -> Result<Admit, StockError> {
        let step = if request.answer.is_some() { "answer" } else { "pass" };
        let answer = self.run(step, request, ANSWERED_FOR_MS, may_have).await?;
        match parse(&answer)? {
            (ScriptCode::Admitted, at) => Ok(Admit::Admitted(moment(at, &answer)?)),
            (ScriptCode::WrongAnswer, again) => Ok(Admit::WrongAnswer { again: again == "1" }),
            (ScriptCode::NoChallenge, _) => Ok(Admit::NoChallenge),
            (ScriptCode::RateLimited, rest) => Ok(Admit::RateLimited(rate_limited(rest, &answer)?)),
            (ScriptCode::NotOpen, at) => Ok(Admit::NotOpen(moment(at, &answer)?)),
            (ScriptCode::SetAside, until) => Ok(Admit::SetAside(moment(until, &answer)?)),
            (ScriptCode::SoldOut, rest) => Ok(Admit::SoldOut(sold_out(rest, &answer)?)),
            (ScriptCode::Closed, _) => Ok(Admit::Closed),
            (ScriptCode::Paused, _) => Ok(Admit::Paused),
            (ScriptCode::Denied, _) => Ok(Admit::Denied),
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
        let mut call = ADMIT
            .key(keys.sale())
            .key(keys.buyers())
            .key(keys.challenge(user, id))
            .key(keys.rate_of_user(user))
            .key(keys.rate_of_address(ip))
            .key(keys.rate_of_everybody())
            .arg(step)
            .arg(user.as_str())
            .arg(answer.unwrap_or(UNASKED))
            .arg(life_ms);
        // Everybody is counted in each lane for itself, so each has its share.
        let share = |GcraLimit { emission_interval_us, burst }| GcraLimit {
            emission_interval_us: emission_interval_us.saturating_mul(u32::from(self.lanes)),
            burst: burst.div_ceil(u32::from(self.lanes)),
        };
        for limit in [per_user, per_ip, share(per_sale.unwrap_or(NO_LIMIT))] {
            call = call.arg(limit.emission_interval_us).arg(limit.burst);
        }
        call = call.arg(lead_ms(class)).arg(u8::from(class.has_set_aside));
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
