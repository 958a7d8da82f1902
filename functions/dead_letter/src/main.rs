//! The `dead_letter` function.

#[tokio::main]
async fn main() -> Result<(), context::Error> {
    dead_letter::run().await
}
