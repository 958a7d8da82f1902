use api::{Code, Problem, Reply, json, json_body, text_body};
use gate::{Check, Route, address};
use http::StatusCode;
use lambda_http::Request;
use pass::{Asked, Sum, challenge_id};
use process::Step;
use sale::{ChallengePolicy, GateTerms};
use serde::{Deserialize, Serialize};
use stock::{ChallengeRequest, Challenged};
use uuid::Uuid;

use crate::answer::WORK;
use crate::deps::AdmissionDeps;

/// How long a challenge is valid, in seconds: a slow phone needs a minute for the work, a person less for the sum.
const CHALLENGE_LIFE_S: u32 = 120;

const CHECKS: &[Check] = {
    use Check::*;
    &[Exists, Sight, KillSwitch, Address, Line, Form, Rate(Route::Challenge)]
};

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct Wish {
    #[serde(default, deserialize_with = "api::present")]
    kind: Option<Kind>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Picture,
    /// Work for the client's processor, for people who cannot see the picture.
    Work,
    None,
}

impl Kind {
    /// The kinds that a sale offers, the default first.
    const fn offered(policy: ChallengePolicy) -> &'static [Self] {
        match policy {
            ChallengePolicy::Any => &[Self::Picture, Self::Work],
            ChallengePolicy::Picture => &[Self::Picture],
            ChallengePolicy::Work => &[Self::Work],
            ChallengePolicy::None => &[Self::None],
        }
    }

    fn of(wish: Option<Self>, policy: ChallengePolicy) -> Result<Self, Problem> {
        match (wish, Self::offered(policy)) {
            // Clients of a sale without challenges need not know that.
            (_, [Self::None]) => Ok(Self::None),
            (None, offered) => Ok(offered[0]),
            (Some(wish), offered) if offered.contains(&wish) => Ok(wish),
            (Some(_), [Self::Picture]) => Err(Problem::invalid("kind: this sale offers pictures only")),
            (Some(_), [Self::Work]) => Err(Problem::invalid("kind: this sale offers work only")),
            (Some(_), _) => Err(Problem::invalid("kind: picture or work")),
        }
    }
}

#[derive(Serialize)]
struct Document {
    challenge_id: String,
    kind: Kind,
    kinds: &'static [Kind],
    #[serde(skip_serializing_if = "Option::is_none")]
    picture: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    work: Option<Work>,
    expires_at: String,
}

#[derive(Serialize)]
struct Work {
    bits: u8,
}

fn wish(request: &Request) -> Result<Wish, Problem> {
    if text_body(request)?.is_empty() { Ok(Wish::default()) } else { json_body(request) }
}

/// Creates a challenge. One call to Redis, which stores the answer; none if the sale has no challenges.
pub(crate) async fn challenge(deps: &AdmissionDeps, request: &Request, sale: &str) -> Reply {
    let (visitor, Wish { kind }) = deps.gate().enter(request, sale, CHECKS, wish).await?;
    let (cached, ip) = (visitor.sale()?, address(request));
    let round = &cached.round;
    let GateTerms { challenge: policy, work_bits: bits, .. } = round.terms.gate;
    let kind = Kind::of(kind, policy)?;
    let (now, sum) = (deps.clock.now(), Sum::random());
    let given = |id: Uuid, picture, work| {
        let (challenge_id, expires_at) = (id.as_simple().to_string(), now.plus_s(CHALLENGE_LIFE_S).to_string());
        let document = Document { challenge_id, kind, kinds: Kind::offered(policy), picture, work, expires_at };
        Ok(json(StatusCode::CREATED, &document))
    };
    let (id, expected) = match kind {
        Kind::Picture => (challenge_id(Asked::Sum), sum.answer().to_string()),
        Kind::Work => (challenge_id(Asked::Work(bits)), WORK.to_owned()),
        // Redis counts the request for the pass instead.
        Kind::None => return given(challenge_id(Asked::Nothing), None, None),
    };
    let applicant = Route::Challenge.applicant(&visitor.user, &ip);
    let asked = ChallengeRequest { applicant, id, expected: &expected, life_ms: CHALLENGE_LIFE_S * 1000 };
    deps.gate().turn(&visitor, Step::Challenge).await?;
    let challenged = deps.stock.of(round).challenge(&asked).await.map_err(Problem::unanswered)?;
    if matches!(challenged, Challenged::RateLimited(_) | Challenged::Blocked) {
        // One account can send many of these; they must not keep others out.
        cached.give_turn_back(Step::Challenge);
    }
    match challenged {
        Challenged::Issued => {}
        Challenged::RateLimited(limited) => return Err(Route::Challenge.refusal(limited.own, limited.retry_after_ms)),
        Challenged::Blocked => return Err(Problem::new(Code::Blocked)),
        Challenged::Closed => return Err(Problem::new(Code::Closed)),
        Challenged::UnknownSale => {
            return Err(Box::pin(deps.rebuilds.not_in_redis(&deps.stock, &visitor.user, &round.id, Some(round))).await);
        }
    }
    // Drawn only now, so that a refusal does not cost a drawing.
    let (picture, work) = match kind {
        Kind::Picture => (Some(sum.picture()), None),
        Kind::Work | Kind::None => (None, Some(Work { bits })),
    };
    given(id, picture, work)
}
