//! A server for as long as somebody holds it.

use std::net::{Ipv4Addr, SocketAddr, TcpListener as StdListener};

use axum::Router;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// A server on the loopback interface. Dropping it stops it.
pub struct Server {
    address: SocketAddr,
    _task: JoinSet<()>,
}

impl Server {
    pub fn http(routes: Router) -> Self {
        Self::start(|listener| async move { drop(axum::serve(listener, routes).await) })
    }

    /// Each connection is a task of its own, which goes on after the server.
    pub fn tcp<F>(handle: impl Fn(TcpStream) -> F + Send + 'static) -> Self
    where
        F: Future<Output: Send> + Send + 'static,
    {
        Self::start(|listener| async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(handle(client));
            }
        })
    }

    fn start<F>(serve: impl FnOnce(TcpListener) -> F) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let listener = StdListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        listener.set_nonblocking(true).expect("a socket");
        let address = listener.local_addr().expect("an address");
        let listener = TcpListener::from_std(listener).expect("a socket");
        Self { address, _task: JoinSet::from_iter([serve(listener)]) }
    }

    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Lets it go on until the test ends.
    pub fn keep(self) -> String {
        let url = self.url();
        std::mem::forget(self);
        url
    }
}
