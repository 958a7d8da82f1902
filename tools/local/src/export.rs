//! Exports all orders of a round of the running cloud to a file.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, ensure};
use command_line::of_these;
use sale::RoundId;
use tempfile::NamedTempFile;
use tokio::time::Instant;

use crate::client::Page;
use crate::running::api;

/// How often to report progress.
const SAY_EVERY: Duration = Duration::from_secs(2);

/// Writes the orders of a round to a file, page by page. The file appears, or is replaced, only when it is complete;
/// until then the rows are in a temporary file in the same folder, which is removed on failure. Only its owner can read
/// it, since it has user names.
pub async fn export(round: &RoundId, format: &str, out: Option<&Path>) -> Result<()> {
    let client = api()?.0.patient();
    client.ensure_round(round).await?;
    let RoundId { sale, number } = round;
    let file = out.map_or_else(|| PathBuf::from(format!("{sale}-{number}.{format}")), Path::to_owned);
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    let unwritable = || format!("cannot write {}", file.display());
    ensure!(!file.is_dir(), "{} is a folder", file.display());
    ensure!(folder.is_dir(), "{}: there is no folder {}", unwritable(), folder.display());
    // The error itself would name the temporary file.
    let mut partial = NamedTempFile::new_in(folder).map_err(|error| anyhow!("{}: {}", unwritable(), error.kind()))?;
    eprintln!("exporting round {number} of {sale}");

    let mut path = format!("/v1/admin/sales/{sale}/rounds/{number}/orders?format={format}");
    let (mut rows, mut of, mut said) = (0, None, None::<Instant>);
    loop {
        let page = client.page(&path).await;
        let page = page.with_context(|| format!("{} was not written", file.display()))?;
        let Page { rows: more, about, next, body } = page;
        partial.as_file_mut().write_all(&body).with_context(unwritable)?;
        rows += more;
        of = of.or(about);
        let Some(next) = next else { break };
        ensure!(next != path, "the API returned a link to the same page");
        path = next;
        if said.is_none_or(|said| said.elapsed() >= SAY_EVERY) {
            let of = of.map_or_else(String::new, |about| format!(" of about {about}"));
            eprintln!("{rows}{of} rows");
            said = Some(Instant::now());
        }
    }
    partial.as_file().sync_all().with_context(unwritable)?;
    partial.persist(&file).map_err(|failed| failed.error).with_context(unwritable)?;
    eprintln!("{} in {}", of_these(rows, "row"), file.display());
    Ok(())
}
