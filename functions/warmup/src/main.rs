//! The `warmup` function.

#[tokio::main]
async fn main() -> Result<(), context::Error> {
    warmup::run().await
}
