//! The `daily_reset` function.

#[tokio::main]
async fn main() -> Result<(), context::Error> {
    daily_reset::run().await
}
