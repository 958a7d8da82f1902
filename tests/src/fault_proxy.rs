//! A proxy in front of everything that a function talks to. It counts effects, and lets the function's world end at one of
//! them: before the effect happens, or after it and before its answer.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// When the world ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// The request never arrives.
    Before,
    /// What was asked for is done, and the answer never arrives.
    After,
}

/// The end of the world of one run, shared by the proxies in front of each service.
#[derive(Debug)]
pub struct Fault {
    at: usize,
    when: When,
    effects: AtomicUsize,
    over: AtomicBool,
    ended: Notify,
}

impl Fault {
    /// Ends at the effect number `at`, counted from 0.
    pub fn new(at: usize, when: When) -> Arc<Self> {
        let (effects, over, ended) = (AtomicUsize::new(0), AtomicBool::new(false), Notify::new());
        Arc::new(Self { at, when, effects, over, ended })
    }

    /// Effects that were begun so far.
    pub fn effects(&self) -> usize {
        self.effects.load(Ordering::SeqCst)
    }

    /// Runs `work` until it ends or the world does, as a process that is killed. Whether it came to its end.
    pub async fn run(&self, work: impl Future) -> bool {
        tokio::select! {
            biased;
            () = self.ended.notified() => false,
            _ = work => !self.is_over(),
        }
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::SeqCst)
    }

    fn end(&self) {
        self.over.store(true, Ordering::SeqCst);
        self.ended.notify_one();
    }
}

/// A proxy on the loopback. Dropping it ends it.
pub struct FaultProxy {
    address: SocketAddr,
    task: JoinHandle<()>,
}

impl FaultProxy {
    /// A proxy in front of the service at `upstream`.
    pub async fn start(upstream: SocketAddr, fault: Arc<Fault>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let task = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                if !fault.is_over() {
                    let fault = Arc::clone(&fault);
                    tokio::spawn(async move { pass(client, upstream, &fault).await });
                }
            }
        });
        Self { address, task }
    }

    /// Where it listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for FaultProxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Passes bytes both ways. A request is what the client sends from one answer to the next.
async fn pass(mut client: TcpStream, upstream: SocketAddr, fault: &Fault) -> Option<()> {
    let mut upstream = TcpStream::connect(upstream).await.ok()?;
    let (mut asked, mut answered) = (vec![0; 64 * 1024], vec![0; 64 * 1024]);
    let mut effect = None;
    loop {
        tokio::select! {
            read = client.read(&mut asked) => {
                let length = read.ok().filter(|length| *length > 0)?;
                let number = *effect.get_or_insert_with(|| fault.effects.fetch_add(1, Ordering::SeqCst));
                if fault.is_over() {
                    return None;
                }
                if number == fault.at && fault.when == When::Before {
                    fault.end();
                    return None;
                }
                upstream.write_all(&asked[..length]).await.ok()?;
            }
            read = upstream.read(&mut answered) => {
                let length = read.ok().filter(|length| *length > 0)?;
                if effect.take() == Some(fault.at) && fault.when == When::After {
                    fault.end();
                    return None;
                }
                if fault.is_over() {
                    return None;
                }
                client.write_all(&answered[..length]).await.ok()?;
            }
        }
    }
}
