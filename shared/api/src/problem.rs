use http::StatusCode;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER};
use lambda_http::{Body, Response};
use problem_details::ProblemDetails;
use serde_json::{Map, Value, json};
use strum::{IntoStaticStr, VariantArray};

use crate::rate_limit::{RATE_LIMIT, RATE_LIMIT_POLICY, RatePolicy};

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $status:ident, $title:literal;)*) => {
        /// What kind of problem it is. Clients decide by it, so a code never changes its meaning.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr, VariantArray)]
        #[strum(serialize_all = "snake_case")]
        pub enum Code {
            $($(#[$doc])* $variant,)*
        }

        impl Code {
            /// Every code.
            pub const ALL: &[Self] = Self::VARIANTS;

            /// The code as clients see it.
            pub fn as_str(self) -> &'static str {
                self.into()
            }

            /// The status that goes with it.
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
    /// The request is not of the documented form.
    InvalidRequest = BAD_REQUEST, "The request is not valid";
    /// The body is not JSON by its content type.
    UnsupportedMediaType = UNSUPPORTED_MEDIA_TYPE, "The body must be application/json";
    /// The body is too large.
    TooLarge = PAYLOAD_TOO_LARGE, "The body is too large";
    /// Nobody is signed in, or the signature is wrong.
    Unauthorized = UNAUTHORIZED, "Who is asking is not known";
    /// The path's token was not given out for this user, sale and round, or no longer holds.
    BadToken = FORBIDDEN, "This way in is not yours or no longer open";
    /// The challenge was answered wrong.
    WrongAnswer = FORBIDDEN, "That was not the answer";
    /// The caller may not do this.
    Denied = FORBIDDEN, "Not allowed";
    /// Only groups may buy, and the user is in none of them.
    NotAMember = FORBIDDEN, "This sale is for members";
    /// The sale has a line, and the user has no ticket for it.
    NoTicket = FORBIDDEN, "This sale has a line";
    /// The user is in line, and others are before.
    NotYourTurn = CONFLICT, "It is not your turn yet";
    /// No such sale or round.
    UnknownSale = NOT_FOUND, "There is no such sale";
    /// No such campaign.
    UnknownCampaign = NOT_FOUND, "There is no such campaign";
    /// No such reservation of this user.
    UnknownReservation = NOT_FOUND, "There is no such reservation";
    /// No such payment is to be given back.
    UnknownRefund = NOT_FOUND, "There is no such refund";
    /// No such route.
    UnknownRoute = NOT_FOUND, "There is nothing here";
    /// No unit is left.
    SoldOut = CONFLICT, "Sold out";
    /// The user's live reservations reach the limit.
    LimitReached = CONFLICT, "You have as many as one person can have";
    /// As many of the user's reservations in this round ended unpaid as may.
    UnpaidLimit = CONFLICT, "Too many of your reservations here ended unpaid";
    /// The user has no such challenge: it is over or was used.
    ChallengeOver = CONFLICT, "Ask for a new challenge";
    /// The sale opens later.
    NotOpen = CONFLICT, "The sale has not opened yet";
    /// The order's state does not allow it, or its sale never does.
    NotCancellable = CONFLICT, "It cannot be cancelled";
    /// Another sale has this id.
    SaleExists = CONFLICT, "Another sale has this id";
    /// The sale, or its round, is not the version that the request is about.
    SaleChanged = CONFLICT, "Somebody else has changed the sale";
    /// The campaign is not the version that the request is about.
    CampaignChanged = CONFLICT, "Somebody else has changed it";
    /// The sale's state does not allow it.
    NotAmendable = CONFLICT, "The sale as it is does not allow it";
    /// The round that the request names is not the one that runs.
    RoundChanged = CONFLICT, "Another round is running";
    /// The idempotency key named another request before.
    KeyReused = CONFLICT, "This key named another request";
    /// The signature is not that of the round of drand that the draw named.
    WrongBeacon = UNPROCESSABLE_ENTITY, "This is not the beacon of this draw";
    /// The sale is over.
    Closed = GONE, "The sale is over";
    /// Too many requests from this user or address.
    RateLimited = TOO_MANY_REQUESTS, "Too many requests";
    /// An operator paused the sale.
    Paused = SERVICE_UNAVAILABLE, "The sale is paused";
    /// A part of the system does not answer.
    Overloaded = SERVICE_UNAVAILABLE, "Try again in a moment";
    /// A mistake of ours.
    Internal = INTERNAL_SERVER_ERROR, "Something went wrong";
}

/// A problem, as RFC 9457 (`application/problem+json`) tells it, with a stable `code`.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    code: Code,
    detail: Option<String>,
    retry_after_s: Option<u32>,
    policy: Option<RatePolicy>,
    members: Map<String, Value>,
}

impl Problem {
    /// A problem of this kind.
    pub fn new(code: Code) -> Self {
        Self { code, detail: None, retry_after_s: None, policy: None, members: Map::new() }
    }

    /// [`Code::InvalidRequest`] with what is wrong and what would be right.
    pub fn invalid(detail: impl Into<String>) -> Self {
        Self::new(Code::InvalidRequest).detail(detail)
    }

    /// [`Code::InvalidRequest`] with all that is wrong, each with its field. The first one is its detail.
    pub fn invalid_fields(errors: impl IntoIterator<Item = (String, String)>) -> Self {
        let errors: Vec<(String, String)> = errors.into_iter().collect();
        let first = errors.first().map(|(_, detail)| detail.clone()).unwrap_or_default();
        let listed: Vec<Value> =
            errors.into_iter().map(|(field, detail)| json!({ "field": field, "detail": detail })).collect();
        Self::invalid(first).with("errors", listed)
    }

    /// [`Code::RateLimited`]: one more request is taken after `retry_after_ms`. `own` is the user's rate, if that is what
    /// holds; what holds for an address or for everybody is not told.
    pub fn rate_limited(own: Option<RatePolicy>, retry_after_ms: u64) -> Self {
        let seconds = u32::try_from(retry_after_ms.div_ceil(1000)).unwrap_or(u32::MAX).max(1);
        Self { policy: own, ..Self::new(Code::RateLimited).retry_after_s(seconds) }
    }

    /// Says more about this case. Public: never what a secret, another user or the inside looks like.
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// Adds `Retry-After`, in seconds.
    pub const fn retry_after_s(mut self, seconds: u32) -> Self {
        self.retry_after_s = Some(seconds);
        self
    }

    /// Adds a member.
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.members.insert(name.to_owned(), value.into());
        self
    }

    /// Its kind.
    pub const fn code(&self) -> Code {
        self.code
    }

    /// The answer.
    pub fn into_response(self) -> Response<Body> {
        let Self { code, detail, retry_after_s, policy, mut members } = self;
        members.insert("code".to_owned(), code.as_str().into());
        let mut problem = ProblemDetails::new().with_status(code.status()).with_title(code.title());
        if let Some(detail) = detail {
            problem = problem.with_detail(detail);
        }
        let body = serde_json::to_string(&problem.with_extensions(members)).unwrap_or_default();
        let mut response = Response::builder()
            .status(code.status())
            .extension(code)
            .header(CONTENT_TYPE, "application/problem+json")
            .header(CACHE_CONTROL, "no-store");
        if let Some(seconds) = retry_after_s {
            response = response.header(RETRY_AFTER, seconds);
            if let Some(policy) = policy {
                response =
                    response.header(RATE_LIMIT_POLICY, policy.field()).header(RATE_LIMIT, policy.used_up(seconds));
            }
        }
        response.body(Body::Text(body)).expect("every header above is a plain value")
    }
}
