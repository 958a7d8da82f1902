//! The `waiting_room` function.

#[tokio::main]
async fn main() -> Result<(), context::Error> {
    waiting_room::run().await
}
