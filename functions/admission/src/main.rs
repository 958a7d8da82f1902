//! The `admission` function.

use admission::{Deps, handle};
use context::{Error, serve_crowd};

#[tokio::main]
async fn main() -> Result<(), Error> {
    serve_crowd(Deps::new, |deps, request| async move { handle(&deps, request).await }).await
}
