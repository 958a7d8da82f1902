//! The `webhook` function.

#[tokio::main]
async fn main() -> Result<(), context::Error> {
    webhook::run().await
}
