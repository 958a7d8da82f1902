//! The `waiting_room` function.

use context::{Error, serve_crowd};
use waiting_room::{Deps, handle};

#[tokio::main]
async fn main() -> Result<(), Error> {
    serve_crowd(Deps::new, |deps, request| async move { handle(&deps, request).await }).await
}
