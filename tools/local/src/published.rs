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
use crate::running::api;

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

impl Public {
    /// The API that has the documents. The running one is asked as an operator; elsewhere nobody is one.
    pub(crate) fn publisher(&self) -> Result<Client> {
        match &self.url {
            Some(url) => Client::new(url),
            None => Ok(api()?.0),
        }
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

impl Client {
    /// Reads `what` ("a draw") of a sale at this path below `/v1/sales`. If the API does not have it, the
    /// error is `missing`, or if that is because there is no such sale, names those that there are.
    pub(crate) async fn document<T: DeserializeOwned>(
        &self,
        sale: &SaleId,
        path: &str,
        what: &str,
        missing: &str,
    ) -> Result<T> {
        match self.published(path).await {
            Ok(Some(found)) => serde_json::from_value(found).with_context(|| format!("the answer is not {what}")),
            Ok(None) => {
                self.ensure_sale(sale.as_str()).await?;
                bail!("{missing}")
            }
            Err(error) if error.is::<Failure>() => Err(error.context(format!("{} does not answer", self.url()))),
            Err(error) => Err(error),
        }
    }
}
