//! The `emitter` function.

#[tokio::main]
async fn main() -> Result<(), context::Error> {
    emitter::run().await
}
