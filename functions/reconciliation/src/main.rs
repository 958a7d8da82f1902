//! The `reconciliation` function.

#[tokio::main]
async fn main() -> Result<(), context::Error> {
    reconciliation::run().await
}
