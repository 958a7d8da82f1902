use std::future::poll_fn;
use std::io;
use std::task::Poll;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// The exit status that a shell reports for a program that a signal ended is this plus the signal's number.
const ENDED_BY: u8 = 128;

/// The signals that ask a program to end: HUP, INT and TERM. One that was ignored when the program started stays
/// ignored, as `nohup` wants of HUP and a script of INT for what it runs in the background.
#[derive(Debug)]
pub struct Signals(Vec<(u8, Signal)>);

impl Signals {
    pub fn listen() -> io::Result<Self> {
        let ignored = ignored();
        let kinds = [SignalKind::hangup(), SignalKind::interrupt(), SignalKind::terminate()];
        let heard = kinds.into_iter().filter(|kind| ignored & (1 << (kind.as_raw_value() - 1)) == 0);
        heard.map(|kind| Ok((kind.as_raw_value() as u8, signal(kind)?))).collect::<io::Result<_>>().map(Self)
    }

    /// Waits for a signal. Returns the exit status.
    pub async fn next(&mut self) -> u8 {
        poll_fn(|context| {
            let came =
                self.0.iter_mut().find_map(|(number, signal)| signal.poll_recv(context).is_ready().then_some(*number));
            came.map_or(Poll::Pending, |number| Poll::Ready(ENDED_BY + number))
        })
        .await
    }
}

/// A bit for each signal that this process ignores, the lowest for signal 1 (proc(5), SigIgn).
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default()
}
