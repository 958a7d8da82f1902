//! The `payment` function.

#[tokio::main]
async fn main() -> Result<(), context::Error> {
    payment::run().await
}
