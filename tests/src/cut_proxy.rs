//! A service that can be cut off and reconnected.

use std::io;
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

const BACKLOG: u32 = 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    Answers,
    /// New ones are refused, and existing ones are closed.
    Refuses,
    /// They stay open and new ones are accepted, but they never carry any more data.
    Silent,
}

/// A proxy on the loopback interface. It keeps its port even while refusing connections. Dropping it stops it.
pub struct CutProxy {
    address: SocketAddr,
    reach: watch::Sender<Reach>,
    done: watch::Receiver<Reach>,
    server: JoinHandle<()>,
    _port: TcpSocket,
}

impl CutProxy {
    /// A proxy in front of the service at `upstream` that passes connections on.
    pub async fn start(upstream: SocketAddr) -> Self {
        let port = bound(SocketAddr::from(([127, 0, 0, 1], 0)));
        let address = port.local_addr().expect("an address");
        let (reach, wanted) = watch::channel(Reach::Answers);
        let (did, done) = watch::channel(Reach::Refuses);
        let server = tokio::spawn(serve(address, upstream, wanted, did));
        let proxy = Self { address, reach, done, server, _port: port };
        proxy.set(Reach::Answers).await;
        proxy
    }

    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Changes the behavior. Returns once the change is in effect.
    pub async fn set(&self, reach: Reach) {
        self.reach.send_replace(reach);
        self.done.clone().wait_for(|done| *done == reach).await.expect("the proxy is running");
    }
}

impl Drop for CutProxy {
    fn drop(&mut self) {
        self.server.abort();
    }
}

/// Several sockets may bind the port, but only one listens.
fn bound(address: SocketAddr) -> TcpSocket {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.set_reuseport(true).expect("SO_REUSEPORT");
    socket.bind(address).expect("a free port");
    socket
}

async fn serve(
    address: SocketAddr,
    upstream: SocketAddr,
    mut wanted: watch::Receiver<Reach>,
    done: watch::Sender<Reach>,
) {
    let mut listener: Option<TcpListener> = None;
    let mut connections = JoinSet::new();
    loop {
        let reach = *wanted.borrow_and_update();
        match reach {
            Reach::Refuses => {
                listener = None;
                connections.shutdown().await;
            }
            Reach::Answers | Reach::Silent => {
                listener.get_or_insert_with(|| bound(address).listen(BACKLOG).expect("the port is ours"));
            }
        }
        done.send_replace(reach);
        loop {
            tokio::select! {
                changed = wanted.changed() => match changed {
                    Ok(()) => break,
                    Err(_) => return,
                },
                accepted = accept(listener.as_ref()) => {
                    if let Ok(client) = accepted {
                        connections.spawn(pass(client, upstream, wanted.clone()));
                    }
                }
                Some(_) = connections.join_next() => {}
            }
        }
    }
}

async fn accept(listener: Option<&TcpListener>) -> io::Result<TcpStream> {
    match listener {
        Some(listener) => Ok(listener.accept().await?.0),
        None => std::future::pending().await,
    }
}

async fn pass(client: TcpStream, upstream: SocketAddr, reach: watch::Receiver<Reach>) -> io::Result<()> {
    let mut gone = reach.clone();
    let passing = async {
        let (from_client, to_client) = client.into_split();
        while_it_answers(&reach).await;
        let (from_upstream, to_upstream) = TcpStream::connect(upstream).await?.into_split();
        tokio::select! {
            sent = forward(from_client, to_upstream, &reach) => sent,
            answered = forward(from_upstream, to_client, &reach) => answered,
        }
    };
    // A connection that was silent once does not recover.
    let ended = async {
        let _ = gone.wait_for(|reach| *reach == Reach::Silent).await;
        let _ = gone.wait_for(|reach| *reach != Reach::Silent).await;
    };
    tokio::select! {
        passed = passing => passed,
        () = ended => Ok(()),
    }
}

async fn forward(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, reach: &watch::Receiver<Reach>) -> io::Result<()> {
    let mut piece = vec![0; 64 * 1024];
    loop {
        let length = from.read(&mut piece).await?;
        while_it_answers(reach).await;
        if length == 0 {
            return Ok(());
        }
        to.write_all(&piece[..length]).await?;
    }
}

/// Returns only while the service answers.
async fn while_it_answers(reach: &watch::Receiver<Reach>) {
    if *reach.borrow() != Reach::Answers {
        std::future::pending::<()>().await;
    }
}
