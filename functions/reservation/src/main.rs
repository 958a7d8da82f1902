//! The `reservation` function.

#[tokio::main]
async fn main() -> Result<(), context::Error> {
    reservation::run().await
}
