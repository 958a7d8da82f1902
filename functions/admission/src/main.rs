//! The `admission` function.

#[tokio::main]
async fn main() -> Result<(), context::Error> {
    admission::run().await
}
