//! All functions as one program, which is compiled and linked once. On AWS each is a program of its own.

use context::Error;

/// Functions that somebody waits for.
const ANSWER: [&str; 7] = ["admin", "admission", "catalog", "payment", "reservation", "waiting_room", "websocket"];
/// The others go after them on the few cores of one machine. On AWS nobody shares a core.
const NICENESS: i32 = 5;

macro_rules! become_function {
    ($name:ident: $($function:ident)*) => {
        match &*$name {
            // Boxed: each future would otherwise be as large as the largest.
            $(stringify!($function) => Box::pin($function::run()).await,)*
            unknown => Err(format!("_HANDLER is {unknown:?}, which is no function").into()),
        }
    };
}

fn main() -> Result<(), Error> {
    // Lambda sets it to the function's configured handler.
    let name = std::env::var("_HANDLER").map_err(|_| "_HANDLER is not set; it names the function")?;
    // It holds for this thread and those that it starts from now on.
    if !ANSWER.contains(&name.as_str()) {
        rustix::process::nice(NICENESS)?;
    }
    tokio::runtime::Runtime::new()?.block_on(async {
        become_function! { name:
            admin admission catalog daily_reset dead_letter draw emitter expiry notifier order payment reconciliation
            reservation waiting_room warmup webhook websocket winners
        }
    })
}
