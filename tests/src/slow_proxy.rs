//! A service that is slow or never answers.

use std::net::SocketAddr;
use std::time::Duration;

use local::server::Server;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc::unbounded_channel;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// A proxy on the loopback interface that delays answers like a long network path: they do not wait for each other.
/// Dropping it stops it.
pub struct SlowProxy {
    server: Server,
    delay: watch::Sender<Duration>,
}

impl SlowProxy {
    /// A proxy in front of the service at `upstream`, without delay at first.
    pub fn start(upstream: SocketAddr) -> Self {
        let (delay, late) = watch::channel(Duration::ZERO);
        Self { server: Server::tcp(move |client| pass(client, upstream, late.clone())), delay }
    }

    pub const fn address(&self) -> SocketAddr {
        self.server.address()
    }

    /// Delays answers by this much from now on. With `Duration::MAX` they never come.
    pub fn delay(&self, delay: Duration) {
        self.delay.send_replace(delay);
    }
}

async fn pass(client: TcpStream, upstream: SocketAddr, delay: watch::Receiver<Duration>) -> std::io::Result<()> {
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_upstream, mut to_upstream) = TcpStream::connect(upstream).await?.into_split();
    let (put, mut due) = unbounded_channel::<(Option<Instant>, Vec<u8>)>();
    let read = async move {
        let mut answer = vec![0; 64 * 1024];
        loop {
            let length = from_upstream.read(&mut answer).await?;
            if length == 0 {
                return std::io::Result::Ok(());
            }
            let at = Instant::now().checked_add(*delay.borrow());
            let _ = put.send((at, answer[..length].to_vec()));
        }
    };
    let write = async {
        while let Some((at, answer)) = due.recv().await {
            match at {
                Some(at) => sleep_until(at).await,
                None => std::future::pending().await,
            }
            to_client.write_all(&answer).await?;
        }
        std::io::Result::Ok(())
    };
    tokio::select! {
        copied = tokio::io::copy(&mut from_client, &mut to_upstream) => copied.map(drop),
        both = async { tokio::try_join!(read, write) } => both.map(drop),
    }
}
