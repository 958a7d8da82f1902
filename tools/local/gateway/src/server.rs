//! The gateway's connections.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;

use super::served::Served;

/// The pause after a failure to accept a connection, usually because of too many open files.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Serves all connections, without end. A client may take `head_timeout` for the head of a request, and a connection may
/// be idle for as long.
///
/// HTTP/1.1 only: API Gateway only offers HTTP/2 over TLS.
pub(super) async fn serve(listener: TcpListener, head_timeout: Duration, served: Served) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(head_timeout);
    let http = Arc::new(http);
    loop {
        match listener.accept().await {
            Ok((connection, from)) => {
                tokio::spawn(answer(Arc::clone(&http), connection, from, served.clone()));
            }
            Err(error) => {
                eprintln!("the gateway cannot accept a connection: {error}");
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

async fn answer(http: Arc<http1::Builder>, connection: TcpStream, from: SocketAddr, served: Served) {
    // Answers are small, and latency matters.
    let _ = connection.set_nodelay(true);
    let service = service_fn(|request: axum::http::Request<Incoming>| {
        let served = served.clone();
        async move { Ok::<_, std::convert::Infallible>(served.answer(from.ip(), request.map(Body::new)).await) }
    });
    // How a connection ends is up to the client.
    let _ = http.serve_connection(TokioIo::new(connection), service).await;
}
