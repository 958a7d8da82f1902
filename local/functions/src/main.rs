//! All functions as one program. It is compiled and linked once, where eighteen programs would each take seconds. On AWS
//! each function is a program of its own.

use context::Error;

/// Becomes one of these functions.
macro_rules! become_function {
    ($name:expr, [$($function:ident),*]) => {
        match $name {
            // Boxed: each future would otherwise be as large as the largest.
            $(stringify!($function) => Box::pin($function::run()).await,)*
            unknown => Err(format!("_HANDLER is {unknown:?}, which is no function").into()),
        }
    };
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    // Lambda sets it to the function's configured handler.
    let name = std::env::var("_HANDLER").map_err(|_| "_HANDLER is not set; it names the function")?;
    become_function!(
        name.as_str(),
        [
            admin,
            admission,
            catalog,
            daily_reset,
            dead_letter,
            draw,
            emitter,
            expiry,
            notifier,
            order,
            payment,
            reconciliation,
            reservation,
            waiting_room,
            warmup,
            webhook,
            websocket,
            winners
        ]
    )
}
