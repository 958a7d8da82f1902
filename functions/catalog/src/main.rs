//! The `catalog` function.

#[tokio::main]
async fn main() -> Result<(), context::Error> {
    catalog::run().await
}
