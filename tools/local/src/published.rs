//! Public documents of a sale, which anybody can verify, from the running API or any other.

use std::fmt::Display;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use reqwest::{StatusCode, Url};
use sale::SaleId;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::client::Client;
use crate::running::running;

/// Longest wait for a document.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The API does not have it. Perhaps it does not have the sale either.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct NotThere(String);

/// Where the documents come from.
pub(crate) struct Publisher {
    pub(crate) api_url: String,
    /// A token of an operator of the running API. Elsewhere nobody is one.
    operator: Option<String>,
}

impl Publisher {
    /// The API at `url`, or else the running one. Fails if there is no `url` and nothing is running.
    pub(crate) fn at(url: Option<&str>) -> Result<Self> {
        if let Some(url) = url {
            return Ok(Self { api_url: url.to_owned(), operator: None });
        }
        let (deployment, issuer) = running()?;
        Ok(Self { api_url: deployment.api_url, operator: Some(issuer.operator_token("operator")?) })
    }

    /// Passes on what was read of a sale. If that was not there because the sale is not, names the sales that there are.
    ///
    /// # Errors
    /// The given one, or that there is no such sale.
    pub(crate) async fn or_no_sale<T>(&self, sale: &SaleId, read: Result<T>) -> Result<T> {
        if read.as_ref().is_err_and(|error| error.is::<NotThere>()) {
            let client = Client::new(self.api_url.trim_end_matches('/'))?;
            client.ensure_sale(sale.as_str(), self.operator.as_deref()).await?;
        }
        read
    }
}

/// Reads `what` ("a draw") at this path below `/v1/sales/`.
///
/// # Errors
/// `missing` if the API does not have it; otherwise what was wrong with the address or the answer.
pub(crate) async fn read<T: DeserializeOwned>(api_url: &str, path: &str, what: &str, missing: String) -> Result<T> {
    let url = format!("{}/v1/sales/{path}", api_url.trim_end_matches('/'));
    let url = Url::parse(&url).with_context(|| format!("{api_url} is not the address of an API"))?;
    let client = reqwest::Client::builder().timeout(TIMEOUT).build()?;
    let response = client.get(url).send().await.with_context(|| format!("{api_url} does not answer"))?;
    match response.status() {
        StatusCode::OK => response.json().await.with_context(|| format!("the answer is not {what}")),
        StatusCode::NOT_FOUND => Err(NotThere(missing).into()),
        status => bail!("the API answers {status}"),
    }
}

/// Prints what was verified, for people or as JSON. Fails if it has no form in JSON.
pub(crate) fn print(verified: &(impl Display + Serialize), json: bool) -> Result<()> {
    if json {
        println!("{}", serde_json::to_string_pretty(verified)?);
    } else {
        print!("{verified}");
    }
    Ok(())
}
