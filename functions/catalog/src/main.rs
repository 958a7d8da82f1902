//! The `catalog` function.

use catalog::{Deps, handle};
use context::{Error, serve};

#[tokio::main]
async fn main() -> Result<(), Error> {
    serve(Deps::new, |deps, request| async move { handle(&deps, request).await }).await
}
