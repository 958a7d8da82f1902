//! The `warmup` function.

use context::{Error, serve_events};
use serde_json::{Value, from_value, to_value};
use warmup::{Deps, handle, rebuild};

#[tokio::main]
async fn main() -> Result<(), Error> {
    serve_events(Deps::new, async |deps: &Deps, event: Value| {
        // The schedule's event has no records.
        if event.get("Records").is_some() {
            return Ok(to_value(rebuild(deps, from_value(event)?).await)?);
        }
        Ok(to_value(handle(deps).await?)?)
    })
    .await
}
