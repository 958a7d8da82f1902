//! The `draw` function.

#[tokio::main]
async fn main() -> Result<(), context::Error> {
    draw::run().await
}
