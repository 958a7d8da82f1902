//! The `winners` function.

#[tokio::main]
async fn main() -> Result<(), context::Error> {
    winners::run().await
}
