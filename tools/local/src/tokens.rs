//! Tokens of thousands of users of the running cloud, for the load generator.

use std::io::{BufWriter, Write};

use anyhow::{Result, ensure};
use clap::Args;
use command_line::{of_these, whole};
use load::Target;
use sale::SaleId;

use crate::deployment::sealed;
use crate::identity::Bearer;
use crate::running;
use crate::sales::{ensure_no_line, shown_round};
use crate::stages::Stage;

/// How many tokens are signed before any is printed, which bounds the memory.
const CHUNK: usize = 10_000;

#[derive(Debug, Args)]
pub struct Wanted {
    /// The API that they are for
    #[arg(long, env = "URL")]
    url: Target,
    /// How many users
    #[arg(long, env = "USERS", default_value_t = 1_000, value_parser = whole(1..=1_000_000_u32))]
    count: u32,
    /// The sale that the passes are for
    #[arg(long, env = "SALE", default_value = "lamp")]
    sale: SaleId,
    /// Every n-th user gets no pass, and has to go through the gate; 0 gives everybody one
    #[arg(long, env = "GATE_EVERY", default_value_t = 50)]
    gate_every: usize,
}

/// Prints a line for each user: the token, followed by a pass.
pub async fn print_tokens(wanted: &Wanted) -> Result<()> {
    let elsewhere = "its users are unknown here: give --tokens FILE or --token-command '… {user}'";
    ensure!(wanted.url.is_loopback(), "{} is not this machine; {elsewhere}", wanted.url.url());
    let (client, deployment, issuer) = running::api()?;
    let api = &deployment.api_url;
    ensure!(wanted.url.url() == api, "{} is not what `make up` runs, {api}; {elsewhere}", wanted.url.url());

    let page = client.sale(wanted.sale.as_str()).await?;
    ensure_no_line(&page, "these users", "`./flash demo --kind line` sends a crowd that can")?;
    let round = shown_round(&wanted.sale, &page)?;
    let ring = deployment.pass_ring().await?;
    let stage = Stage::steps("Signing identities", wanted.count as usize);
    let mut out = BufWriter::new(std::io::stdout().lock());
    let mut n = 0;
    for first in (0..wanted.count).step_by(CHUNK) {
        let names = (first..wanted.count).take(CHUNK).map(|n| format!("load-{n:06}"));
        for Bearer { user, text, .. } in issuer.bearers(names).await? {
            n += 1;
            // Passes are valid for five minutes, so they are sealed as late as possible.
            let now = runtime::Clock::system().now();
            if wanted.gate_every > 0 && n % wanted.gate_every == 0 {
                writeln!(out, "{text}")?;
            } else {
                writeln!(out, "{text} {}", sealed(&ring, &round, &user, now))?;
            }
        }
        stage.set(n);
    }
    out.flush()?;
    stage.done(of_these(n as u64, "user"));
    Ok(())
}
