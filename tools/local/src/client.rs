//! The requests of buyers, operators and the payment provider to the HTTP API.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail, ensure};
use reqwest::header::RETRY_AFTER;
use reqwest::{RequestBuilder, Response, StatusCode};
use sale::{
    Allocation, BuyerClass, EarlyAccess, GateTerms, Goods, GroupName, LineTerms, Price, Rain, RoundId, RoundNumber,
    Settlement, UserId,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use standardwebhooks::Webhook;
use uuid::Uuid;

/// The longest wait for an answer: more than any function of the API may take.
const TIMEOUT: Duration = Duration::from_secs(30);

/// How long a reservation may be queued, and how often to poll. An order takes a second or two.
const ORDERED_WITHIN: Duration = Duration::from_secs(120);
const POLL_EVERY: Duration = Duration::from_millis(250);

/// How often a patient client tries at most, and its longest pause.
const TRIES: u32 = 5;
const LONGEST_PAUSE: Duration = Duration::from_secs(15);

/// The price of every sale that is opened here, unless it is free.
const PRICE_MINOR: u64 = 990;
const CURRENCY: &str = "EUR";
/// The largest number of users that a request adds to a group.
const USERS_IN_A_REQUEST: usize = 1_000;

/// A client of the HTTP API.
#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    api_url: String,
    tries: u32,
}

/// A sale as an operator sends it.
#[derive(Debug, Clone, Serialize)]
pub struct NewSale {
    sale_id: String,
    title: String,
    #[serde(flatten)]
    goods: Goods,
    opens_at: String,
    closes_at: String,
    total: u32,
    per_user_limit: u8,
    price_minor: u64,
    currency: &'static str,
    payment_window_s: u32,
    allocation: Allocation,
    settlement: Settlement,
    #[serde(skip_serializing_if = "Option::is_none")]
    rain: Option<Rain>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    early_access: Vec<EarlyAccess>,
    lanes: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<LineTerms>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gate: Option<GateTerms>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected_audience: Option<u32>,
}

/// A payment as reported by its provider.
#[derive(Debug, Clone)]
pub struct Payment {
    /// Its id: reporting it again changes nothing.
    pub id: String,
    /// The reservation it is for.
    pub reservation_id: String,
    /// The amount.
    pub price: Price,
}

/// The API's answer to a buyer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// 202: the reservation with this id is queued.
    Reserved(String),
    /// A problem, by its code.
    Problem(String),
    /// Something else: a gateway's own answer, or none.
    Error(String),
}

#[derive(Deserialize)]
struct Body {
    reservation_id: Option<String>,
    code: Option<String>,
}

/// The detail of a problem, or else the raw answer, for a gateway's own ones.
pub(crate) fn for_people(answer: &Value) -> String {
    let text = |name: &str| answer[name].as_str();
    match (text("detail").or(text("title")), text("code")) {
        (Some(said), Some(code)) => format!("{said} ({code})"),
        _ => answer.to_string(),
    }
}

/// One page of an export.
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

/// How long to wait before repeating a request, if the API says so.
fn pause_before_retry(response: &Response) -> Option<Duration> {
    if response.status() != StatusCode::SERVICE_UNAVAILABLE {
        return None;
    }
    let seconds = response.headers().get(RETRY_AFTER)?.to_str().ok()?.parse().ok()?;
    Some(Duration::from_secs(seconds).min(LONGEST_PAUSE))
}

/// Whether an answer says that the sale is paused. Also returns the answer, to be read again.
async fn is_paused(response: Response) -> reqwest::Result<(Response, bool)> {
    let (status, headers) = (response.status(), response.headers().clone());
    let body = response.bytes().await?;
    let is_paused = serde_json::from_slice::<Body>(&body).is_ok_and(|body| body.code.as_deref() == Some("paused"));
    let mut again = hyper::Response::new(body);
    (*again.status_mut(), *again.headers_mut()) = (status, headers);
    Ok((again.into(), is_paused))
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
            title: "Enamel pendant lamp".to_owned(),
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

    /// The same sale with another title.
    #[must_use]
    pub fn titled(self, title: &str) -> Self {
        Self { title: title.to_owned(), ..self }
    }

    /// The same sale with a description and pictures.
    #[must_use]
    pub fn described(self, goods: Goods) -> Self {
        Self { goods, ..self }
    }

    /// The same sale without payment, with this allocation.
    #[must_use]
    pub fn free(self, allocation: Allocation) -> Self {
        Self { allocation, settlement: Settlement::Free, price_minor: 0, ..self }
    }

    /// The same sale, with units that become available over time.
    #[must_use]
    pub fn raining(self, rain: Rain) -> Self {
        Self { rain: Some(rain), ..self }
    }

    /// The same sale, with early access for a group.
    #[must_use]
    pub fn early(self, early_access: EarlyAccess) -> Self {
        Self { early_access: vec![early_access], ..self }
    }

    /// The same sale, with this many lanes.
    #[must_use]
    pub fn in_lanes(self, lanes: u16) -> Self {
        Self { lanes, ..self }
    }

    /// The same sale with a line for this many people, and this gate behind it.
    #[must_use]
    pub fn in_line(self, line: LineTerms, gate: GateTerms, people: u32) -> Self {
        Self { line: Some(line), gate: Some(gate), expected_audience: Some(people), ..self }
    }

    /// Whether there is a line.
    pub(crate) const fn has_line(&self) -> bool {
        self.line.is_some()
    }

    /// The class of users who are in every group with early access.
    pub(crate) fn class_of_members(&self) -> BuyerClass {
        BuyerClass::of(&self.early_access)
    }

    /// The round that begins when it is published. Fails if its id is invalid.
    pub(crate) fn first_round(&self) -> Result<RoundId> {
        Ok(RoundId { sale: self.sale_id.parse()?, number: RoundNumber(1) })
    }

    /// What makes its orders final.
    pub(crate) const fn settlement(&self) -> Settlement {
        self.settlement
    }
}

impl Client {
    /// A client of the API at `api_url`. Fails if the HTTP client cannot be created.
    pub fn new(api_url: &str) -> Result<Self> {
        let http = reqwest::Client::builder().timeout(TIMEOUT).build()?;
        Ok(Self { http, api_url: api_url.to_owned(), tries: 1 })
    }

    /// A client that retries a few times when the API answers 503 with a time to come back, and says so on standard
    /// error. It does not wait for a paused sale: only an operator knows how long that lasts.
    #[must_use]
    pub fn patient(self) -> Self {
        Self { tries: TRIES, ..self }
    }

    /// Sends a buyer's request. Each may be sent twice: it only reads, or is idempotent.
    async fn send(&self, request: RequestBuilder) -> reqwest::Result<Response> {
        for tried in 1..self.tries {
            let Some(again) = request.try_clone() else { break };
            let response = again.send().await?;
            let Some(pause) = pause_before_retry(&response) else { return Ok(response) };
            let (response, is_paused) = is_paused(response).await?;
            if is_paused {
                return Ok(response);
            }
            let of = self.tries - 1;
            eprintln!("The API is busy (503). Trying again in {} s, {tried} of {of}.\n", pause.as_secs());
            tokio::time::sleep(pause).await;
        }
        request.send().await
    }

    /// Creates a sale and publishes it. Fails if the API refuses, with what it said.
    pub async fn open_sale(&self, operator: &str, sale: &NewSale) -> Result<()> {
        let sales = format!("{}/v1/admin/sales", self.api_url);
        for request in [self.http.post(&sales).json(sale), self.http.post(format!("{sales}/{}/publish", sale.sale_id))]
        {
            let response = request.bearer_auth(operator).send().await?;
            let (status, text) = (response.status(), response.text().await?);
            ensure!(status.is_success(), "the API refused the sale: {status} {text}");
        }
        Ok(())
    }

    /// Creates a campaign with one sale, so that it is in the shop's list. Fails if the API refuses, with what it said.
    pub async fn show_sale(&self, operator: &str, sale: &NewSale) -> Result<()> {
        let NewSale { sale_id, title, .. } = sale;
        let campaign = json!({ "campaign_id": sale_id, "title": title, "sale_ids": [sale_id] });
        let url = format!("{}/v1/admin/campaigns", self.api_url);
        let response = self.http.post(url).bearer_auth(operator).json(&campaign).send().await?;
        let (status, text) = (response.status(), response.text().await?);
        ensure!(status.is_success(), "the API refused the campaign: {status} {text}");
        Ok(())
    }

    /// Adds users to a group. Fails if the API refuses, with its answer; some may have been added then.
    pub async fn add_to_group(&self, operator: &str, group: &GroupName, users: &[&UserId]) -> Result<()> {
        let url = format!("{}/v1/admin/groups/{group}/users", self.api_url);
        for page in users.chunks(USERS_IN_A_REQUEST) {
            let response = self.http.post(&url).bearer_auth(operator).json(&json!({ "users": page })).send().await?;
            let (status, answer) = (response.status(), response.json().await?);
            ensure!(status.is_success(), "the API refused: {}", for_people(&answer));
        }
        Ok(())
    }

    /// Sends an operator's request without a body. Returns the answer. Fails if the API refuses, with what it said.
    pub async fn operate(&self, method: &str, operator: &str, path: &str) -> Result<Value> {
        let (status, answer) = self.ask_as_operator(method, operator, path).await?;
        ensure!(status.is_success(), "the API refused: {}", for_people(&answer));
        Ok(answer)
    }

    /// One page of an answer with several: its body, its headers and, if there is one, the path of the next page. Fails
    /// if the API refuses, with what it said.
    pub(crate) async fn page(&self, operator: &str, path: &str) -> Result<Page> {
        let request = self.http.get(format!("{}{path}", self.api_url)).bearer_auth(operator);
        let response = self.send(request).await?;
        let status = response.status();
        if !status.is_success() {
            match response.json().await {
                Ok(answer) => bail!("the API refused: {}", for_people(&answer)),
                Err(_) => bail!("the API answers {status}"),
            }
        }
        let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let number = |name: &str| header(name).and_then(|text| text.parse().ok());
        let (rows, about, next) = (number("export-rows"), number("export-rows-about"), header("link"));
        let rows = rows.context("the API did not say how many rows the page has")?;
        let next = next.as_deref().map(next_of).transpose()?;
        Ok(Page { rows, about, next, body: response.bytes().await?.into() })
    }

    /// The public draw of a round. Fails if there is none.
    pub async fn draw(&self, RoundId { sale, number }: &RoundId) -> Result<Value> {
        let url = format!("{}/v1/sales/{sale}/rounds/{number}/draw", self.api_url);
        Ok(self.send(self.http.get(url)).await?.error_for_status()?.json().await?)
    }

    /// Changes a round: `how` is the action, such as `close`, and `more` its parameters besides the round's number.
    /// Fails if the API refuses, with what it said.
    pub async fn update(&self, operator: &str, round: &RoundId, how: &str, mut more: Value) -> Result<()> {
        let url = format!("{}/v1/admin/sales/{}/{how}", self.api_url, round.sale);
        more["round"] = json!(round.number);
        let request = self.http.post(url).bearer_auth(operator).header("idempotency-key", Uuid::now_v7().to_string());
        let response = request.json(&more).send().await?;
        let (status, answer) = (response.status(), response.json().await?);
        ensure!(status.is_success(), "the API refused: {}", for_people(&answer));
        Ok(())
    }

    pub(crate) async fn ask_as_operator(
        &self,
        method: &str,
        operator: &str,
        path: &str,
    ) -> Result<(StatusCode, Value)> {
        let request = self.http.request(method.parse()?, format!("{}{path}", self.api_url));
        let response = match request.bearer_auth(operator).send().await {
            Err(error) if error.is_connect() => {
                bail!("{} does not answer; restart it with `make down` and `make up`", self.api_url)
            }
            answered => answered?,
        };
        Ok((response.status(), response.json().await?))
    }

    /// Does the work for the gate of a sale. Returns the pass.
    ///
    /// # Errors
    /// The problem's code if the API refuses, or why there is no answer.
    pub async fn enter(&self, token: &str, sale: &str) -> Result<String> {
        let answered = self.answer_challenge(token, sale).await?;
        self.admit(token, sale, &answered).await
    }

    /// Answers a challenge. Returns the pass.
    ///
    /// # Errors
    /// The problem's code if the API refuses, or why there is no answer.
    pub async fn admit(&self, token: &str, sale: &str, answered: &Value) -> Result<String> {
        let admitted = self.ask_gate(token, sale, "tokens", answered).await?;
        admitted["token"].as_str().map(str::to_owned).context("no pass")
    }

    /// Asks the gate of a sale for work and does it. Returns the body of the request for the pass.
    ///
    /// # Errors
    /// The problem's code if the API refuses, or why there is no answer.
    pub async fn answer_challenge(&self, token: &str, sale: &str) -> Result<Value> {
        let challenge = self.ask_gate(token, sale, "challenges", &json!({ "kind": "work" })).await?;
        let id: Uuid = challenge["challenge_id"].as_str().context("no challenge")?.parse()?;
        let answer = tokio::task::spawn_blocking(move || pass::work(id)).await?;
        Ok(json!({ "challenge_id": challenge["challenge_id"], "answer": answer }))
    }

    async fn ask_gate(&self, token: &str, sale: &str, what: &str, body: &Value) -> Result<Value> {
        let url = format!("{}/v1/sales/{sale}/{what}", self.api_url);
        let response = self.send(self.http.post(url).bearer_auth(token).json(body)).await?;
        let (status, answer) = (response.status(), response.json::<Value>().await?);
        ensure!(status == StatusCode::CREATED, "{}", answer["code"].as_str().unwrap_or("no code"));
        Ok(answer)
    }

    /// Reserves a unit with a pass. `attempt` is the idempotency key: a repeated attempt gets the same reservation.
    pub async fn reserve(&self, token: &str, sale: &str, pass: &str, attempt: &str) -> Answer {
        let url = format!("{}/v1/sales/{sale}/reservations/{pass}", self.api_url);
        let request = self.http.post(url).bearer_auth(token).header("idempotency-key", attempt);
        let response = match self.send(request).await {
            Ok(response) => response,
            Err(error) => return Answer::Error(error.without_url().to_string()),
        };
        let status = response.status();
        match (status, response.json::<Body>().await) {
            (StatusCode::ACCEPTED, Ok(Body { reservation_id: Some(id), .. })) => Answer::Reserved(id),
            (_, Ok(Body { code: Some(code), .. })) => Answer::Problem(code),
            _ => Answer::Error(format!("status {status}")),
        }
    }

    /// The status of a reservation. Fails if the API does not answer with it.
    pub async fn status(&self, token: &str, reservation_id: &str) -> Result<String> {
        let document = self.reservation(token, reservation_id).await?;
        document["status"].as_str().map(str::to_owned).with_context(|| format!("no status: {document}"))
    }

    /// A reservation as the API shows it. Fails if the API does not answer.
    pub async fn reservation(&self, token: &str, id: &str) -> Result<Value> {
        let url = format!("{}/v1/reservations/{id}", self.api_url);
        Ok(self.send(self.http.get(url).bearer_auth(token)).await?.json().await?)
    }

    /// Waits until a reservation is an order, and returns it. Fails if it takes too long, or failed.
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

    /// A published sale as everybody sees it. Fails if there is none: names the sales that everybody sees.
    pub async fn sale(&self, sale: &str) -> Result<Value> {
        match self.get_sale(sale).await? {
            Some(found) => Ok(found),
            None => Err(self.no_sale(sale, None).await),
        }
    }

    pub(crate) async fn get_sale(&self, sale: &str) -> Result<Option<Value>> {
        let response = self.send(self.http.get(format!("{}/v1/sales/{sale}", self.api_url))).await?;
        if response.status() == StatusCode::NOT_FOUND {
            return Ok(None);
        }
        Ok(Some(response.error_for_status()?.json().await?))
    }

    /// The shop's front page. Fails if the API does not answer with it.
    pub(crate) async fn sales(&self) -> Result<Value> {
        let response = self.send(self.http.get(format!("{}/v1/sales", self.api_url))).await?;
        Ok(response.error_for_status()?.json().await?)
    }

    /// Cancels a reservation. Fails if the API does not answer.
    pub async fn cancel(&self, token: &str, reservation_id: &str) -> Result<StatusCode> {
        let url = format!("{}/v1/reservations/{reservation_id}", self.api_url);
        Ok(self.http.delete(url).bearer_auth(token).send().await?.status())
    }

    /// Pays a reservation in a sale that was opened here. Returns the outcome. Fails if the API refuses or does not
    /// answer.
    pub async fn pay(&self, key: &str, reservation_id: &str, payment_id: &str) -> Result<String> {
        let price = Price { price_minor: PRICE_MINOR, currency: CURRENCY.parse()? };
        let payment = Payment { id: payment_id.to_owned(), reservation_id: reservation_id.to_owned(), price };
        self.tell_of_payment(key, &payment).await
    }

    /// Reports a payment to the API, as the payment provider would. Returns the outcome. Fails if the API refuses or
    /// does not answer.
    pub async fn tell_of_payment(&self, key: &str, payment: &Payment) -> Result<String> {
        let Payment { id, reservation_id, price } = payment;
        let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs() as i64;
        let body = json!({
            "type": "payment.succeeded",
            "timestamp": runtime::Clock::system().now().to_string(),
            "data": {
                "payment_id": id,
                "reservation_id": reservation_id,
                "price_minor": price.price_minor,
                "currency": price.currency,
            },
        })
        .to_string();
        let signature = Webhook::from_bytes(key.as_bytes().to_vec())?.sign(id, now, body.as_bytes())?;
        let request = self
            .http
            .post(format!("{}/v1/payments/webhook", self.api_url))
            .header("content-type", "application/json")
            .header("webhook-id", id)
            .header("webhook-timestamp", now)
            .header("webhook-signature", signature)
            .body(body);
        let answer: Value = self.send(request).await?.json().await?;
        answer["outcome"].as_str().map(str::to_owned).with_context(|| format!("the payment was refused: {answer}"))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use axum::response::IntoResponse;
    use axum::{Json, Router};
    use tokio::net::TcpListener;

    use super::*;

    /// An API that answers 503 to this many requests, and a count of its requests.
    async fn busy_for(busy: u32, more: &'static [(&'static str, &'static str)]) -> (Client, Arc<AtomicU32>) {
        refusing("overloaded", busy, more).await
    }

    async fn refusing(
        code: &'static str,
        busy: u32,
        more: &'static [(&'static str, &'static str)],
    ) -> (Client, Arc<AtomicU32>) {
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
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, Router::new().fallback(answer)).await });
        (Client::new(&url).unwrap(), count)
    }

    const NOW: &[(&str, &str)] = &[("retry-after", "0")];

    #[tokio::test]
    async fn a_patient_client_comes_back_when_it_is_told_to() {
        let (client, count) = busy_for(2, NOW).await;
        let got = client.patient().reserve("token", "lamp", "pass", "attempt").await;
        assert_eq!((got, count.load(Ordering::Relaxed)), (Answer::Reserved("lamp.1.a".to_owned()), 3));
    }

    #[tokio::test]
    async fn nobody_waits_for_a_paused_sale() {
        let (client, count) = refusing("paused", u32::MAX, NOW).await;
        let got = client.patient().reserve("token", "lamp", "pass", "attempt").await;
        assert_eq!((got, count.load(Ordering::Relaxed)), (Answer::Problem("paused".to_owned()), 1));
    }

    #[tokio::test]
    async fn nobody_comes_back_for_ever_or_untold_or_unasked() {
        let busy = Answer::Problem("overloaded".to_owned());
        for (more, patient, expected) in [(NOW, true, TRIES), (&[], true, 1), (NOW, false, 1)] {
            let (client, count) = busy_for(u32::MAX, more).await;
            let client = if patient { client.patient() } else { client };
            let got = client.reserve("token", "lamp", "pass", "attempt").await;
            assert_eq!((got, count.load(Ordering::Relaxed)), (busy.clone(), expected), "{more:?} {patient}");
        }
    }
}
