//! The `warmup` function.

use context::{Error, serve_events};
use serde_json::Value;
use warmup::{Deps, handle};

#[tokio::main]
async fn main() -> Result<(), Error> {
    serve_events(Deps::new, async |deps: &Deps, _: Value| Ok(handle(deps).await?)).await
}
