use api::{Code, Problem, Reply, json, json_body, text_body};
use gate::{Check, Route, address, not_in_redis};
use http::StatusCode;
use lambda_http::Request;
use pass::{Sum, WORK_BITS};
use process::Step;
use serde::{Deserialize, Serialize};
use stock::{ChallengeRequest, Challenged};
use uuid::Uuid;

use crate::Deps;
use crate::answer::WORK;
use crate::applicant::applicant;

/// How long a challenge holds: a slow telephone needs a minute for the work, and a person less for the sum.
const CHALLENGE_LIFE_S: u32 = 120;

const CHECKS: &[Check] = &[Check::Known, Check::Stop, Check::Form, Check::Turn(Step::Challenge)];

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct Wish {
    #[serde(default)]
    kind: Kind,
}

#[derive(Clone, Copy, Deserialize, Serialize, Default)]
#[serde(rename_all = "snake_case")]
enum Kind {
    /// A sum to be read from a picture.
    #[default]
    Picture,
    /// For who cannot see it: work for the client's processor.
    Work,
}

#[derive(Serialize)]
struct Document {
    challenge_id: String,
    kind: Kind,
    #[serde(skip_serializing_if = "Option::is_none")]
    picture: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    work: Option<Work>,
    expires_at: String,
}

#[derive(Serialize)]
struct Work {
    bits: u32,
}

/// Reads the body, which may be empty.
fn wish(request: &Request) -> Result<Wish, Problem> {
    if text_body(request)?.is_empty() { Ok(Wish::default()) } else { json_body(request) }
}

/// Gives a challenge. One call of Redis, which keeps the answer.
pub(crate) async fn challenge(deps: &Deps, request: &Request, sale: &str) -> Reply {
    let (visitor, Wish { kind }) = deps.gate().enter(request, sale, CHECKS, wish).await?;
    let (round, ip) = (&visitor.known()?.round, address(request));
    let (id, sum) = (Uuid::new_v4(), Sum::random());
    let expected = match kind {
        Kind::Picture => sum.answer().to_string(),
        Kind::Work => WORK.to_owned(),
    };
    let now = deps.clock.now();
    let applicant = applicant(&visitor, &ip, Route::Challenge);
    let asked = ChallengeRequest { applicant, id, expected: &expected, life_ms: CHALLENGE_LIFE_S * 1000 };
    match deps.stock.round(&round.id).challenge(&asked).await.map_err(Problem::unanswered)? {
        Challenged::Issued => {}
        Challenged::RateLimited(limited) => return Err(Route::Challenge.refusal(limited.own, limited.retry_after_ms)),
        Challenged::Denied => return Err(Problem::new(Code::Denied)),
        Challenged::Closed => return Err(Problem::new(Code::Closed)),
        Challenged::UnknownSale => return Err(not_in_redis(&round.id, Some(round), now)),
    }
    // Drawn only now: a refusal costs no drawing.
    let (picture, work) = match kind {
        Kind::Picture => (Some(sum.picture()), None),
        Kind::Work => (None, Some(Work { bits: WORK_BITS })),
    };
    let (challenge_id, expires_at) = (id.as_simple().to_string(), now.plus_s(CHALLENGE_LIFE_S).to_string());
    Ok(json(StatusCode::CREATED, &Document { challenge_id, kind, picture, work, expires_at }))
}
