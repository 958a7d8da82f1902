//! The `order` function.

#[tokio::main]
async fn main() -> Result<(), context::Error> {
    order::run().await
}
