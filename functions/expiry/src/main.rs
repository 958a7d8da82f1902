//! The `expiry` function.

#[tokio::main]
async fn main() -> Result<(), context::Error> {
    expiry::run().await
}
