//! Public documents of a sale, which anybody can verify, from the running API or any other.

use std::fmt::Display;

use anyhow::{Context, Result, bail};
use clap::Args;
use clap::builder::FalseyValueParser;
use load::Failure;
use sale::SaleId;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::client::Client;
use crate::running::running;

// Where a document comes from, and how what was verified is printed.
#[derive(Debug, Args)]
pub struct Public {
    /// The address of the API, if not the running `up`
    #[arg(long, env = "URL")]
    url: Option<String>,
    /// Print JSON
    #[arg(long, env = "JSON", value_parser = FalseyValueParser::new())]
    json: bool,
}

/// Where documents come from.
pub struct Publisher {
    client: Client,
    /// A token of an operator of the running API. Elsewhere nobody is one.
    operator: Option<String>,
}

impl Public {
    pub(crate) fn publisher(&self) -> Result<Publisher> {
        if let Some(url) = &self.url {
            return Publisher::at(url);
        }
        let (deployment, issuer) = running()?;
        let operator = Some(issuer.operator_token("operator")?);
        Ok(Publisher { operator, ..Publisher::at(&deployment.api_url)? })
    }

    pub(crate) fn print(&self, verified: &(impl Display + Serialize)) -> Result<()> {
        if self.json {
            println!("{}", serde_json::to_string_pretty(verified)?);
        } else {
            print!("{verified}");
        }
        Ok(())
    }
}

impl Publisher {
    pub fn at(url: &str) -> Result<Self> {
        Ok(Self { client: Client::new(url)?, operator: None })
    }

    /// Reads `what` ("a draw") of a sale at this path below `/v1/sales`. If the API does not have it, the
    /// error is `missing`, or if that is because there is no such sale, names those that there are.
    pub(crate) async fn read<T: DeserializeOwned>(
        &self,
        sale: &SaleId,
        path: &str,
        what: &str,
        missing: &str,
    ) -> Result<T> {
        let url = self.client.url();
        match self.client.published(path).await {
            Ok(Some(found)) => serde_json::from_value(found).with_context(|| format!("the answer is not {what}")),
            Ok(None) => {
                self.client.ensure_sale(sale.as_str(), self.operator.as_deref()).await?;
                bail!("{missing}")
            }
            Err(error) if error.is::<Failure>() => Err(error.context(format!("{url} does not answer"))),
            Err(error) => Err(error),
        }
    }
}
