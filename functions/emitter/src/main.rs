//! The `emitter` function.

use context::{Error, serve_events};
use emitter::{Deps, handle};

#[tokio::main]
async fn main() -> Result<(), Error> {
    serve_events(Deps::new, async |deps: &Deps, event| Ok(handle(deps, event).await)).await
}
