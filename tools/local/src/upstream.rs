//! The AWS emulator behind a proxy.

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;

pub struct Upstream {
    url: String,
    client: reqwest::Client,
}

impl Upstream {
    pub fn new(url: &str) -> Self {
        Self { url: url.trim_end_matches('/').to_owned(), client: reqwest::Client::new() }
    }

    /// Sends a request on and returns the answer. Fails if the emulator does not answer.
    pub async fn pass(&self, headers: &HeaderMap, body: Bytes) -> Result<Response, reqwest::Error> {
        let (status, headers, answer) = self.ask(headers, body).await?;
        let mut response = Response::new(Body::from(answer));
        *response.status_mut() = status;
        *response.headers_mut() = headers;
        Ok(response)
    }

    /// The same in parts.
    pub(crate) async fn ask(
        &self,
        headers: &HeaderMap,
        body: Bytes,
    ) -> Result<(StatusCode, HeaderMap, Bytes), reqwest::Error> {
        let mut headers = headers.clone();
        headers.remove("host");
        let answer = self.client.post(&self.url).headers(headers).body(body).send().await?;
        let (status, mut headers) = (answer.status(), answer.headers().clone());
        headers.remove("transfer-encoding");
        Ok((status, headers, answer.bytes().await?))
    }
}

/// Service and operation of a request, such as `AmazonSQS.SendMessage`.
pub fn target(headers: &HeaderMap) -> &str {
    headers.get("x-amz-target").and_then(|target| target.to_str().ok()).unwrap_or_default()
}
