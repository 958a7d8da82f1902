//! The `draw` function.

use context::{Error, serve_events};
use draw::{Deps, handle};
use serde_json::Value;

#[tokio::main]
async fn main() -> Result<(), Error> {
    serve_events(Deps::new, async |deps: &Deps, _: Value| Ok(handle(deps).await?)).await
}
