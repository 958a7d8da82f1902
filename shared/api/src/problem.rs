use http::StatusCode;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER};
use lambda_http::{Body, Response};
use problem_details::ProblemDetails;
use sale::InvalidId;
use serde::Serialize;
use serde_json::{Map, Value, json};
use strum::{IntoStaticStr, VariantArray};

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $status:ident, $title:literal;)*) => {
        /// The kind of problem. Clients decide by it, so a code never changes its meaning. The API's document takes
        /// each description, on one line, from here.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr, VariantArray)]
        #[strum(serialize_all = "snake_case")]
        pub enum Code {
            $($(#[$doc])* $variant,)*
        }

        impl Code {
            pub const ALL: &[Self] = Self::VARIANTS;

            pub fn as_str(self) -> &'static str {
                self.into()
            }

            pub const fn status(self) -> StatusCode {
                match self { $(Self::$variant => StatusCode::$status,)* }
            }

            const fn title(self) -> &'static str {
                match self { $(Self::$variant => $title,)* }
            }
        }
    };
}

codes! {
    /// The request does not have the documented form.
    InvalidRequest = BAD_REQUEST, "The request is not valid";
    /// The content type of the body is not JSON.
    UnsupportedMediaType = UNSUPPORTED_MEDIA_TYPE, "The body must be application/json";
    /// The body is too large.
    TooLarge = PAYLOAD_TOO_LARGE, "The body is too large";
    /// The token is missing or invalid, or its subject is no user id; or the callback's signature is wrong or too old.
    Unauthorized = UNAUTHORIZED, "The request is not authenticated";
    /// The token in the path is not for this user, sale and round, or has expired.
    BadToken = FORBIDDEN, "This pass is not yours or has expired";
    /// The answer is wrong, and the challenge is used up. Ask for a new one.
    WrongAnswer = FORBIDDEN, "That is not the right answer";
    /// Only operators may do this.
    Forbidden = FORBIDDEN, "Not allowed";
    /// The user or the address is blocked.
    Blocked = FORBIDDEN, "The user or the address is blocked";
    /// Only groups may buy, and the user is in none of them.
    NotAMember = FORBIDDEN, "This sale is for members";
    /// The sale has a line, and the request has no ticket of this user for its round.
    NoTicket = FORBIDDEN, "This sale has a line";
    /// The user is in line. Get the line again, and retry once it admits the ticket.
    NotYourTurn = CONFLICT, "It is not your turn yet";
    /// There is no such sale or round.
    UnknownSale = NOT_FOUND, "There is no such sale";
    /// There is no such campaign.
    UnknownCampaign = NOT_FOUND, "There is no such campaign";
    /// This user has no such reservation. The answer is the same if somebody else has it.
    UnknownReservation = NOT_FOUND, "There is no such reservation";
    /// There is no such payment, or its order accepted it.
    UnknownRefund = NOT_FOUND, "There is no such refund";
    /// There is no such route.
    UnknownRoute = NOT_FOUND, "There is nothing here";
    /// No unit is left.
    SoldOut = CONFLICT, "Sold out";
    /// The user's live reservations reach the limit.
    LimitReached = CONFLICT, "You have reached the limit for one person";
    /// As many of the user's reservations in this round have ended unpaid as the sale allows.
    UnpaidLimit = CONFLICT, "Too many of your reservations here ended unpaid";
    /// This user has no such challenge: it expired or was used. It does not count against the user; ask for a new one.
    ChallengeOver = CONFLICT, "Ask for a new challenge";
    /// The sale opens later.
    NotOpen = CONFLICT, "The sale has not opened yet";
    /// It is paid, granted, expired or failed, or belongs to a sale without payment, where it is final at once.
    NotCancellable = CONFLICT, "It cannot be cancelled";
    /// Another sale has this id.
    SaleExists = CONFLICT, "Another sale has this id";
    /// The sale or its round has another version than the request is based on.
    SaleChanged = CONFLICT, "Somebody else has changed the sale";
    /// The campaign has another version than the request is based on.
    CampaignChanged = CONFLICT, "Somebody else has changed it";
    /// The sale's state does not allow it.
    NotAmendable = CONFLICT, "The state of the sale does not allow it";
    /// The round that the request names is not the running one.
    RoundChanged = CONFLICT, "Another round is running";
    /// The idempotency key was used for another request before.
    KeyReused = CONFLICT, "This key was used for another request";
    /// The signature is not that of the round of drand that the draw named.
    WrongBeacon = UNPROCESSABLE_ENTITY, "This is not the beacon of this draw";
    /// The sale is over.
    Closed = GONE, "The sale is over";
    /// Too many requests from this user or address or, if the gateway says so, from everybody together.
    RateLimited = TOO_MANY_REQUESTS, "Too many requests";
    /// An operator paused the sale.
    Paused = SERVICE_UNAVAILABLE, "The sale is paused";
    /// A part of the system does not answer, or the sale is being restored.
    Overloaded = SERVICE_UNAVAILABLE, "Try again in a moment";
    /// An error in the system, or what it keeps cannot be right. Trying again does not help.
    Internal = INTERNAL_SERVER_ERROR, "Something went wrong";
}

/// How often a user may ask for something, as clients see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RatePolicy {
    /// Letters, digits, `-` and `_`.
    pub name: &'static str,
    pub quota: u32,
    pub window_s: u32,
}

/// A problem in the form of RFC 9457 (`application/problem+json`), with a stable `code`.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    code: Code,
    detail: Option<String>,
    retry_after_s: Option<u32>,
    policy: Option<RatePolicy>,
    members: Map<String, Value>,
}

impl From<InvalidId> for Problem {
    fn from(error: InvalidId) -> Self {
        Self::invalid(error.to_string())
    }
}

/// The members of the JSON beyond those of RFC 9457.
#[derive(Serialize)]
struct Members {
    code: &'static str,
    #[serde(flatten)]
    others: Map<String, Value>,
}

impl Problem {
    pub fn new(code: Code) -> Self {
        Self { code, detail: None, retry_after_s: None, policy: None, members: Map::new() }
    }

    /// [`Code::InvalidRequest`]; `detail` says what is wrong and what would be right.
    pub fn invalid(detail: impl Into<String>) -> Self {
        Self::new(Code::InvalidRequest).detail(detail)
    }

    pub fn invalid_field(field: &str, detail: impl ToString) -> Self {
        Self::invalid_fields([(field.to_owned(), detail.to_string())])
    }

    /// [`Code::InvalidRequest`] with every error and its field. The first one becomes the detail.
    pub fn invalid_fields(errors: impl IntoIterator<Item = (String, String)>) -> Self {
        let errors: Vec<(String, String)> = errors.into_iter().collect();
        let first = errors.first().map(|(_, detail)| detail.clone()).unwrap_or_default();
        let listed: Vec<_> = errors.iter().map(|(field, detail)| json!({ "field": field, "detail": detail })).collect();
        Self::invalid(first).with("errors", listed)
    }

    /// [`Code::RateLimited`]: the next request is allowed after `retry_after_ms`. `own` is the user's rate, if that one
    /// was exceeded; rates of an address or of everybody are not disclosed.
    pub fn rate_limited(own: Option<RatePolicy>, retry_after_ms: u64) -> Self {
        let seconds = u32::try_from(retry_after_ms.div_ceil(1000)).unwrap_or(u32::MAX).max(1);
        Self { policy: own, ..Self::new(Code::RateLimited).retry_after_s(seconds) }
    }

    /// Adds a detail about this case. Clients see it, so it must not contain secrets, other users' data or internals.
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    pub const fn retry_after_s(mut self, seconds: u32) -> Self {
        self.retry_after_s = Some(seconds);
        self
    }

    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.members.insert(name.to_owned(), value.into());
        self
    }

    pub const fn code(&self) -> Code {
        self.code
    }

    pub fn into_response(self) -> Response<Body> {
        let Self { code, detail, retry_after_s, policy, members } = self;
        let mut problem = ProblemDetails::new().with_status(code.status()).with_title(code.title());
        if let Some(detail) = detail {
            problem = problem.with_detail(detail);
        }
        let members = Members { code: code.as_str(), others: members };
        let body = serde_json::to_string(&problem.with_extensions(members)).unwrap_or_default();
        let response = Response::builder().status(code.status()).extension(code);
        let mut response = response.header(CONTENT_TYPE, "application/problem+json").header(CACHE_CONTROL, "no-store");
        if let Some(seconds) = retry_after_s {
            response = response.header(RETRY_AFTER, seconds);
            // The fields of draft-ietf-httpapi-ratelimit-headers-11, when nothing is left.
            if let Some(RatePolicy { name, quota, window_s }) = policy {
                response = response.header("ratelimit-policy", format!("\"{name}\";q={quota};w={window_s}"));
                response = response.header("ratelimit", format!("\"{name}\";r=0;t={seconds}"));
            }
        }
        response.body(Body::Text(body)).expect("every header above is a plain value")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_too_often_hears_how_often_and_when_again() {
        let policy = RatePolicy { name: "challenge", quota: 20, window_s: 60 };
        for (ms, seconds) in [(0, "1"), (1, "1"), (1000, "1"), (1001, "2"), (2999, "3")] {
            let response = Problem::rate_limited(Some(policy), ms).into_response();
            assert_eq!(response.status(), Code::RateLimited.status());
            let header = |name: &str| response.headers()[name].to_str().unwrap();
            assert_eq!(header("retry-after"), seconds);
            assert_eq!(header("ratelimit-policy"), r#""challenge";q=20;w=60"#);
            assert_eq!(header("ratelimit"), format!(r#""challenge";r=0;t={seconds}"#));
        }
    }

    #[test]
    fn what_holds_for_others_is_not_told() {
        let response = Problem::rate_limited(None, 1).into_response();
        assert_eq!(response.headers()["retry-after"], "1");
        assert!(["ratelimit", "ratelimit-policy"].iter().all(|name| !response.headers().contains_key(*name)));
    }
}
