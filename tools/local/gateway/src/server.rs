//! Connections of HTTP/1.1 on the loopback: clients', and those of functions' processes.

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio::time::sleep;

/// The pause after a failure to accept a connection, usually because of too many open files.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Serves all connections until it is aborted. A client may take `head_timeout` for the head of a request, and a
/// connection may be idle for as long; if there is none, for ever.
/// Neither this nor what calls it is `async`: that would be compiled by the program that awaits it, without this crate's
/// optimization.
pub(super) fn serve<A, F>(listener: TcpListener, head_timeout: Option<Duration>, answer: A) -> JoinHandle<()>
where
    A: Fn(IpAddr, Request<Incoming>) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Response<Body>> + Send + 'static,
{
    let mut http = http1::Builder::new();
    if let Some(head_timeout) = head_timeout {
        http.timer(TokioTimer::new()).header_read_timeout(head_timeout);
    }
    let http = Arc::new(http);
    tokio::spawn(async move {
        loop {
            match listener.accept().await {
                Ok((connection, from)) => {
                    tokio::spawn(serve_one(Arc::clone(&http), connection, from, answer.clone()));
                }
                Err(error) => {
                    eprintln!("the gateway cannot accept a connection: {error}");
                    sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    })
}

async fn serve_one<A, F>(http: Arc<http1::Builder>, connection: TcpStream, from: SocketAddr, answer: A)
where
    A: Fn(IpAddr, Request<Incoming>) -> F,
    F: Future<Output = Response<Body>>,
{
    // Answers are small, and latency matters.
    let _ = connection.set_nodelay(true);
    let service = service_fn(|request| {
        let answered = answer(from.ip(), request);
        async move { Ok::<_, Infallible>(answered.await) }
    });
    // How a connection ends is up to the client.
    let _ = http.serve_connection(TokioIo::new(connection), service).await;
}
