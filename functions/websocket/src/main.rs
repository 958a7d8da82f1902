//! The `websocket` function.

#[tokio::main]
async fn main() -> Result<(), context::Error> {
    websocket::run().await
}
