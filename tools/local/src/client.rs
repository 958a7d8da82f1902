//! The requests of buyers, operators and the payment provider to the HTTP API.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail, ensure};
use hyper::Method;
use hyper::header::{HeaderName, HeaderValue};
use load::{Failure, Request, Response, Token, solved};
use sale::{
    Allocation, EarlyAccess, GateTerms, Goods, GroupName, LineTerms, Price, Rain, RoundId, RoundNumber, Settlement,
    UserId,
};
use serde::Serialize;
use serde_json::{Value, json};
use standardwebhooks::Webhook;
use uuid::Uuid;

use crate::identity::Issuer;

/// How long a reservation may be queued, and how often to poll. An order takes a second or two, in a rush a few more.
const ORDERED_WITHIN: Duration = Duration::from_secs(120);
const POLL_EVERY: Duration = Duration::from_millis(250);

/// How often a patient client tries at most, and its longest pause.
const TRIES: u32 = 5;
const LONGEST_PAUSE: Duration = Duration::from_secs(15);

/// The price of every sale that is opened here, unless it is free.
const PRICE_MINOR: u64 = 990;
const CURRENCY: &str = "EUR";
const USERS_IN_A_REQUEST: usize = 1_000;

#[derive(Clone)]
pub struct Client {
    http: Arc<load::Client>,
    tries: u32,
    operator: Option<Token>,
}

#[derive(Debug, Clone, Serialize)]
pub struct NewSale {
    pub(crate) sale_id: String,
    pub(crate) title: &'static str,
    #[serde(flatten)]
    pub(crate) goods: Goods,
    pub(crate) opens_at: String,
    pub(crate) closes_at: String,
    pub(crate) total: u32,
    pub(crate) per_user_limit: u8,
    pub(crate) price_minor: u64,
    pub(crate) currency: &'static str,
    pub(crate) payment_window_s: u32,
    pub(crate) allocation: Allocation,
    pub(crate) settlement: Settlement,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rain: Option<Rain>,
    pub(crate) early_access: Vec<EarlyAccess>,
    pub(crate) lanes: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) line: Option<LineTerms>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) gate: Option<GateTerms>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) expected_audience: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// 202: the reservation with this id is queued.
    Reserved(String),
    /// A problem, by its code.
    Problem(String),
    /// A gateway's own answer, or none.
    Error(String),
}

/// The detail of a problem, or else the raw answer, for a gateway's own ones.
fn for_people(answer: &Value) -> String {
    let text = |name: &str| answer[name].as_str();
    match (text("detail").or(text("title")), text("code")) {
        (Some(said), Some(code)) => format!("{said} ({code})"),
        _ => answer.to_string(),
    }
}

pub(crate) struct Page {
    pub(crate) rows: u64,
    /// Roughly how many rows all pages have, if this is the first one.
    pub(crate) about: Option<u64>,
    pub(crate) next: Option<String>,
    pub(crate) body: Vec<u8>,
}

/// The path in `<PATH>; rel="next"`.
fn next_of(link: &str) -> Result<String> {
    let path = link.strip_suffix("; rel=\"next\"").and_then(|rest| rest.strip_prefix('<')?.strip_suffix('>'));
    let path = path.filter(|path| path.starts_with("/v1/")).with_context(|| format!("not a link to a page: {link}"))?;
    Ok(path.to_owned())
}

/// The id of a reservation's payment: the same however often it is tried.
pub(crate) fn payment_of(reservation_id: &str) -> String {
    format!("pay-{}", reservation_id.rsplit('.').next().unwrap_or_default())
}

impl NewSale {
    /// A sale of lamps that opens in `opens_in_s` seconds and is open for `open_s`.
    pub fn opening_in(sale_id: &str, opens_in_s: i64, open_s: i64, total: u32, payment_window_s: u32) -> Self {
        let now = runtime::Clock::system().now();
        let at = |seconds: i64| sale::EpochMs(now.0 + seconds * 1000).to_string();
        Self {
            sale_id: sale_id.to_owned(),
            title: "Enamel pendant lamp",
            goods: Goods::default(),
            opens_at: at(opens_in_s),
            closes_at: at(opens_in_s + open_s),
            total,
            per_user_limit: 1,
            price_minor: PRICE_MINOR,
            currency: CURRENCY,
            payment_window_s,
            allocation: Allocation::Units,
            settlement: Settlement::Paid,
            rain: None,
            early_access: Vec::new(),
            lanes: 1,
            line: None,
            gate: None,
            expected_audience: None,
        }
    }

    #[must_use]
    pub(crate) fn titled(self, title: &'static str) -> Self {
        Self { title, ..self }
    }

    /// The same sale without payment, with this allocation.
    #[must_use]
    pub(crate) fn free(self, allocation: Allocation) -> Self {
        Self { allocation, settlement: Settlement::Free, price_minor: 0, ..self }
    }

    pub(crate) fn first_round(&self) -> Result<RoundId> {
        Ok(RoundId { sale: self.sale_id.parse()?, number: RoundNumber(1) })
    }
}

/// The answer to an operator. A refusal is an error with what the API said.
pub(crate) fn granted(response: &Response) -> Result<Value> {
    let answer = response.json();
    ensure!(!answer.is_null(), "the API answers {}", response.status);
    ensure!(response.is_success(), "the API refused: {}", for_people(&answer));
    Ok(answer)
}

impl Client {
    pub fn new(api_url: &str) -> Result<Self> {
        let target = api_url.parse().with_context(|| format!("{api_url} is not the address of an API"))?;
        let http = Arc::new(load::Client::of_one_address(target, load::CONNECTIONS));
        Ok(Self { http, tries: 1, operator: None })
    }

    pub fn of_operator(self, token: &str) -> Result<Self> {
        Ok(Self { operator: Some(token.parse()?), ..self })
    }

    pub fn for_operator(api_url: &str, issuer: &Issuer) -> Result<Self> {
        Self::new(api_url)?.of_operator(&issuer.operator_token("operator")?)
    }

    pub(crate) const fn is_of_operator(&self) -> bool {
        self.operator.is_some()
    }

    pub(crate) fn url(&self) -> &str {
        self.http.target().url()
    }

    /// A client that retries a few times when the API answers 503 with a time to come back, and says so on standard
    /// error. It does not wait for a paused sale: only an operator knows how long that lasts.
    #[must_use]
    pub fn patient(self) -> Self {
        Self { tries: TRIES, ..self }
    }

    /// Sends a buyer's request. Each may be sent twice: it only reads, or is idempotent.
    async fn send(&self, request: Request) -> Result<Response, Failure> {
        for tried in 1..self.tries {
            let response = self.send_once(&request).await?;
            let is_busy = response.status == 503 && response.answer().code != "paused";
            let Some(pause) = response.retry_after().filter(|_| is_busy) else { return Ok(response) };
            let (pause, of) = (pause.min(LONGEST_PAUSE), self.tries - 1);
            eprintln!("The API is busy (503). Trying again in {} s, {tried} of {of}.\n", pause.as_secs());
            tokio::time::sleep(pause).await;
        }
        self.send_once(&request).await
    }

    async fn send_once(&self, request: &Request) -> Result<Response, Failure> {
        self.http.send(0, request).await
    }

    fn of_an_operator(&self, method: Method, path: &str) -> Result<Request> {
        Ok(Request::new(method, path)?.token(self.operator.as_ref().context("only operators may ask this")?))
    }

    pub async fn open_sale(&self, sale: &NewSale) -> Result<()> {
        self.post("/v1/admin/sales", Some(&serde_json::to_value(sale)?)).await?;
        self.post(&format!("/v1/admin/sales/{}/publish", sale.sale_id), None).await
    }

    /// Creates a campaign with one sale, so that it is in the shop's list.
    pub async fn show_sale(&self, sale: &NewSale) -> Result<()> {
        let NewSale { sale_id, title, .. } = sale;
        let campaign = json!({ "campaign_id": sale_id, "title": title, "sale_ids": [sale_id] });
        self.post("/v1/admin/campaigns", Some(&campaign)).await
    }

    async fn post(&self, path: &str, body: Option<&Value>) -> Result<()> {
        let mut request = self.of_an_operator(Method::POST, path)?;
        if let Some(body) = body {
            request = request.json(body);
        }
        let response = self.send_once(&request).await?;
        if response.is_success() { Ok(()) } else { granted(&response).map(drop).with_context(|| path.to_owned()) }
    }

    /// Some may have been added if the API refuses.
    pub async fn add_to_group(&self, group: &GroupName, users: &[&UserId]) -> Result<()> {
        for page in users.chunks(USERS_IN_A_REQUEST) {
            self.post(&format!("/v1/admin/groups/{group}/users"), Some(&json!({ "users": page }))).await?;
        }
        Ok(())
    }

    pub async fn operate(&self, method: &str, path: &str) -> Result<Value> {
        granted(&self.ask_as_operator(method, path).await?)
    }

    pub(crate) async fn ask_as_operator(&self, method: &str, path: &str) -> Result<Response> {
        match self.send_once(&self.of_an_operator(method.parse()?, path)?).await {
            Err(Failure::Connect(_)) => {
                bail!("{} does not answer; restart it with `make down` and `make up`", self.url())
            }
            answered => Ok(answered?),
        }
    }

    pub(crate) async fn page(&self, path: &str) -> Result<Page> {
        let response = self.send(self.of_an_operator(Method::GET, path)?).await?;
        if !response.is_success() {
            granted(&response)?;
        }
        let number = |name: &str| response.header(name).and_then(|text| text.parse().ok());
        let rows = number("export-rows").context("the API did not say how many rows the page has")?;
        let next = response.header("link").map(next_of).transpose()?;
        Ok(Page { rows, about: number("export-rows-about"), next, body: response.body.into() })
    }

    /// A public document below `/v1/sales`. None if there is none.
    pub(crate) async fn published(&self, path: &str) -> Result<Option<Value>> {
        let response = self.send(Request::new(Method::GET, &format!("/v1/sales{path}"))?).await?;
        if response.status == 404 {
            return Ok(None);
        }
        ensure!(response.is_success(), "the API answers {}", response.answer());
        Ok(Some(response.json()))
    }

    pub async fn draw(&self, RoundId { sale, number }: &RoundId) -> Result<Value> {
        self.published(&format!("/{sale}/rounds/{number}/draw")).await?.context("there is no draw")
    }

    /// Changes a round: `how` is the action, such as `close`, and `more` its parameters besides the round's number.
    pub async fn update(&self, round: &RoundId, how: &str, mut more: Value) -> Result<()> {
        more["round"] = json!(round.number);
        let request = self.of_an_operator(Method::POST, &format!("/v1/admin/sales/{}/{how}", round.sale))?;
        let request = request.key(&Uuid::now_v7().to_string()).json(&more);
        granted(&self.send_once(&request).await?).map(drop)
    }

    pub async fn enter(&self, token: &str, sale: &str) -> Result<String> {
        let answered = self.answer_challenge(token, sale).await?;
        self.admit(token, sale, &answered).await
    }

    pub async fn admit(&self, token: &str, sale: &str, answered: &Value) -> Result<String> {
        let admitted = self.ask_gate(token, Request::pass(sale, answered)?).await?;
        admitted.text("token").context("no pass")
    }

    /// Does the work for the gate. Returns the body of the request for the pass.
    pub async fn answer_challenge(&self, token: &str, sale: &str) -> Result<Value> {
        let challenge = self.ask_gate(token, Request::challenge(sale)?).await?;
        Ok(solved(challenge.text("challenge_id").context("no challenge")?.parse()?).await?)
    }

    /// A refusal fails with the problem's code alone.
    async fn ask_gate(&self, token: &str, request: Request) -> Result<Response> {
        let response = self.send(request.token(&token.parse()?)).await?;
        ensure!(response.status == 201, "{}", response.text("code").as_deref().unwrap_or("no code"));
        Ok(response)
    }

    /// Reserves a unit with a pass. `attempt` is the idempotency key: a repeated attempt gets the same reservation.
    pub async fn reserve(&self, token: &str, sale: &str, pass: &str, attempt: &str) -> Answer {
        let reserving = async {
            let request = Request::reserve(sale, pass)?.token(&token.parse()?).key(attempt);
            anyhow::Ok(self.send(request).await?)
        };
        let response = match reserving.await {
            Ok(response) => response,
            Err(error) => return Answer::Error(error.to_string()),
        };
        match (response.status, response.text("reservation_id"), response.text("code")) {
            (202, Some(id), _) => Answer::Reserved(id),
            (_, _, Some(code)) => Answer::Problem(code),
            (status, ..) => Answer::Error(format!("status {status}")),
        }
    }

    pub async fn status(&self, token: &str, reservation_id: &str) -> Result<String> {
        let document = self.reservation(token, reservation_id).await?;
        document["status"].as_str().map(str::to_owned).with_context(|| format!("no status: {document}"))
    }

    async fn reservation(&self, token: &str, id: &str) -> Result<Value> {
        Ok(self.send(Request::reservation(Method::GET, id)?.token(&token.parse()?)).await?.json())
    }

    pub async fn ordered(&self, token: &str, id: &str) -> Result<Value> {
        let deadline = Instant::now() + ORDERED_WITHIN;
        loop {
            let document = self.reservation(token, id).await?;
            match document["status"].as_str() {
                Some("queued") if Instant::now() < deadline => tokio::time::sleep(POLL_EVERY).await,
                Some("queued") => bail!("no order after {} s", ORDERED_WITHIN.as_secs()),
                Some("failed") | None => bail!("there is no order: {document}"),
                Some(_) => return Ok(document),
            }
        }
    }

    /// Cancels a reservation. Whether the API did.
    pub async fn cancel(&self, token: &str, id: &str) -> Result<bool> {
        let request = Request::reservation(Method::DELETE, id)?.token(&token.parse()?);
        Ok(self.send_once(&request).await?.is_success())
    }

    /// Pays a reservation in a sale that was opened here. Returns the outcome.
    pub async fn pay(&self, key: &str, reservation_id: &str, payment_id: &str) -> Result<String> {
        let price = Price { price_minor: PRICE_MINOR, currency: CURRENCY.parse()? };
        self.tell_of_payment(key, payment_id, reservation_id, price).await
    }

    /// Reports a payment to the API, as the payment provider would. Returns the outcome.
    pub async fn tell_of_payment(&self, key: &str, id: &str, reservation_id: &str, price: Price) -> Result<String> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs() as i64;
        let body = json!({
            "type": "payment.succeeded",
            "timestamp": runtime::Clock::system().now().to_string(),
            "data": {
                "payment_id": id, "reservation_id": reservation_id,
                "price_minor": price.price_minor, "currency": price.currency,
            },
        });
        let signature = Webhook::from_bytes(key.as_bytes().to_vec())?.sign(id, now, body.to_string().as_bytes())?;
        let request = Request::new(Method::POST, "/v1/payments/webhook")?
            .json(&body)
            .header(HeaderName::from_static("webhook-id"), id.parse()?)
            .header(HeaderName::from_static("webhook-timestamp"), HeaderValue::from(now))
            .header(HeaderName::from_static("webhook-signature"), signature.parse()?);
        let answer = self.send(request).await?.json();
        answer["outcome"].as_str().map(str::to_owned).with_context(|| format!("the payment was refused: {answer}"))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use axum::http::StatusCode;
    use axum::response::IntoResponse;
    use axum::{Json, Router};

    use super::*;
    use crate::server::Server;

    type Headers = &'static [(&'static str, &'static str)];

    /// What a client hears of an API that answers 503 with this code to its first requests, and how many it sends.
    async fn heard(client: fn(Client) -> Client, code: &'static str, busy: u32, more: Headers) -> (Answer, u32) {
        let count = Arc::<AtomicU32>::default();
        let counted = Arc::clone(&count);
        let answer = move || async move {
            if counted.fetch_add(1, Ordering::Relaxed) < busy {
                let headers = axum::response::AppendHeaders(more.iter().copied());
                (StatusCode::SERVICE_UNAVAILABLE, headers, Json(json!({ "code": code }))).into_response()
            } else {
                (StatusCode::ACCEPTED, Json(json!({ "reservation_id": "lamp.1.a" }))).into_response()
            }
        };
        let url = Server::http(Router::new().fallback(answer)).keep();
        let heard = client(Client::new(&url).unwrap()).reserve("token", "lamp", "pass", "attempt").await;
        (heard, count.load(Ordering::Relaxed))
    }

    #[tokio::test]
    async fn a_patient_client_comes_back_a_few_times_when_it_is_told_to() {
        const NOW: Headers = &[("retry-after", "0")];
        let problem = |code: &str| Answer::Problem(code.to_owned());
        let reserved = Answer::Reserved("lamp.1.a".to_owned());
        assert_eq!(heard(Client::patient, "overloaded", 2, NOW).await, (reserved, 3));
        assert_eq!(heard(Client::patient, "overloaded", u32::MAX, NOW).await, (problem("overloaded"), TRIES));
        assert_eq!(heard(Client::patient, "overloaded", u32::MAX, &[]).await, (problem("overloaded"), 1));
        assert_eq!(heard(Client::patient, "paused", u32::MAX, NOW).await, (problem("paused"), 1));
        assert_eq!(heard(|impatient| impatient, "overloaded", u32::MAX, NOW).await, (problem("overloaded"), 1));
    }
}
