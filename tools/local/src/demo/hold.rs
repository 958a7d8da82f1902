use std::io::{IsTerminal, stdin};

use tokio::sync::oneshot;

/// Waits for Enter, if there is a terminal.
pub(super) async fn until_enter() {
    if !stdin().is_terminal() {
        return;
    }
    eprintln!("  Open the pages, then press Enter: the crowd comes at the opening, or at once if that is over.\n");
    let (pressed, wait) = oneshot::channel();
    // A separate thread: the runtime would wait for a blocked one of its own before the program could end.
    std::thread::spawn(move || {
        let _ = stdin().read_line(&mut String::new());
        let _ = pressed.send(());
    });
    let _ = wait.await;
}
