//! The `admin` function.

#[tokio::main]
async fn main() -> Result<(), context::Error> {
    admin::run().await
}
