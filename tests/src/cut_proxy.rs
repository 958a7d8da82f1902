//! A service that can be cut off and reconnected.

use std::io;
use std::net::SocketAddr;

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{Mutex, watch};
use tokio::task::JoinSet;

const BACKLOG: u32 = 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    Answers,
    /// New connections are refused, and existing ones are closed.
    Refuses,
    /// Connections stay open and new ones are accepted, but they never carry any more data.
    Silent,
}

/// A proxy on the loopback interface. Dropping it stops it.
pub struct CutProxy {
    address: SocketAddr,
    /// Keeps the port while nobody listens: several sockets may bind it.
    _port: TcpSocket,
    upstream: SocketAddr,
    reach: watch::Sender<Reach>,
    /// The task that listens, unless connections are refused.
    server: Mutex<JoinSet<()>>,
}

impl CutProxy {
    /// A proxy in front of the service at `upstream` that passes connections on.
    pub async fn start(upstream: SocketAddr) -> Self {
        let port = bound(SocketAddr::from(([127, 0, 0, 1], 0)));
        let address = port.local_addr().expect("an address");
        let (reach, server) = (watch::Sender::new(Reach::Answers), Mutex::default());
        let proxy = Self { address, _port: port, upstream, reach, server };
        proxy.set(Reach::Answers).await;
        proxy
    }

    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Changes the behavior. Returns once the change is in effect.
    pub async fn set(&self, reach: Reach) {
        self.reach.send_replace(reach);
        let mut server = self.server.lock().await;
        if reach == Reach::Refuses {
            server.shutdown().await;
        } else if server.is_empty() {
            let listener = bound(self.address).listen(BACKLOG).expect("the port is ours");
            server.spawn(serve(listener, self.upstream, self.reach.subscribe()));
        }
    }
}

fn bound(address: SocketAddr) -> TcpSocket {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.set_reuseport(true).expect("SO_REUSEPORT");
    socket.bind(address).expect("a free port");
    socket
}

/// Accepts connections, which end with this task.
async fn serve(listener: TcpListener, upstream: SocketAddr, reach: watch::Receiver<Reach>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                if let Ok((client, _)) = accepted {
                    connections.spawn(pass(client, upstream, reach.clone()));
                }
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn pass(mut client: TcpStream, upstream: SocketAddr, mut reach: watch::Receiver<Reach>) -> io::Result<()> {
    let cut = async {
        let _ = reach.wait_for(|reach| *reach != Reach::Answers).await;
    };
    // Open as long as the client's: closed with unread answers, it could lose what the service has not read.
    let mut upstream = TcpStream::connect(upstream).await?;
    tokio::select! {
        biased;
        () = cut => {}
        passed = copy_bidirectional(&mut client, &mut upstream) => return passed.map(drop),
    }
    // A connection that was silent once does not recover.
    let _ = reach.wait_for(|reach| *reach != Reach::Silent).await;
    Ok(())
}
