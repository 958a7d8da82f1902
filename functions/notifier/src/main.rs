//! The `notifier` function.

#[tokio::main]
async fn main() -> Result<(), context::Error> {
    notifier::run().await
}
