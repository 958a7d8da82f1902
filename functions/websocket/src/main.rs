//! The `websocket` function.

use context::{Error, serve_events};
use websocket::{Deps, handle, use_ring};

#[tokio::main]
async fn main() -> Result<(), Error> {
    use_ring();
    serve_events(Deps::new, async |deps: &Deps, event| Ok(handle(deps, event).await)).await
}
