//! The `payment` function.

use context::{Error, serve};
use payment::{Deps, handle};

#[tokio::main]
async fn main() -> Result<(), Error> {
    serve(Deps::new, |deps, request| async move { handle(&deps, request).await }).await
}
