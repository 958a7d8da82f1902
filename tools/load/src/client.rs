//! A cheap HTTP client with a limited number of connections.
//!
//! It pools hyper's connections itself: at 10,000 requests a second it matters what a general-purpose client does for
//! each request, such as parsing its URL, looking for proxies and following redirects.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use command_line::allow_open_files;
use futures::future::BoxFuture;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::Semaphore;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::answer::Failure;
use crate::request::{Request, Response};
use crate::target::Target;

/// The longest wait for an answer: more than API Gateway allows.
const TIMEOUT: Duration = Duration::from_secs(35);
/// A connection idle for longer may be closed before a request gets there.
const MAX_IDLE: Duration = Duration::from_secs(15);
/// The largest body of an answer: a page of an export may have some of the six megabytes that Lambda allows.
const MAX_BODY_BYTES: usize = 6 * 1024 * 1024;
/// How many addresses of the loopback connections come from. The API allows an address 2,000 reservations at once and
/// 200 a second after that, so a single address would measure this limit.
const ADDRESSES: usize = 128;
pub const CONNECTIONS: usize = 512;
pub const MAX_CONNECTIONS: usize = 10_000;
/// Open files besides the connections, and besides those of a server in the same process.
const OTHER_FILES: u64 = 256;

/// Sends requests to one API, over as many connections as needed up to a limit. A request waits if all are in use.
///
/// Connections to the loopback come from 128 addresses below 127.1, as if from as many homes and offices.
pub struct Client {
    target: Target,
    pools: Vec<ConnectionPool>,
    tls: Option<(TlsConnector, ServerName<'static>)>,
}

/// The connections from one address.
struct ConnectionPool {
    from: Option<Ipv4Addr>,
    idle: Mutex<Vec<(SendRequest<Full<Bytes>>, Instant)>>,
    turns: Semaphore,
}

impl Client {
    pub fn new(target: Target) -> Self {
        Self::with_connections(target, CONNECTIONS)
    }

    pub fn with_connections(target: Target, connections: usize) -> Self {
        Self::over(target, connections, ADDRESSES)
    }

    /// A client with the machine's own address, for what is no crowd. It does not matter whose request is sent.
    pub fn of_one_address(target: Target, connections: usize) -> Self {
        Self::over(target, connections, 1)
    }

    fn over(target: Target, connections: usize, addresses: usize) -> Self {
        let connections = connections.clamp(1, MAX_CONNECTIONS);
        // The same number again for a server in this process.
        allow_open_files(2 * connections as u64 + OTHER_FILES);
        let is_crowd = target.loopback_v4().is_some() && addresses > 1;
        let pools = if is_crowd { connections.min(addresses) } else { 1 };
        let pools = (0..pools).map(|n| ConnectionPool {
            from: is_crowd.then(|| source(n)),
            idle: Mutex::default(),
            // Adds up to the total number.
            turns: Semaphore::new((connections + pools - 1 - n) / pools),
        });
        let pools = pools.collect();
        let tls = target.tls.then(|| tls(public_roots())).zip(ServerName::try_from(target.host.clone()).ok());
        Self { target, pools, tls }
    }

    pub const fn target(&self) -> &Target {
        &self.target
    }

    /// Sends a request of user `n`. All requests of a user come from one address.
    ///
    /// Boxed: what an `async fn` does is compiled by the program that awaits it, without this crate's optimization.
    pub fn send<'a>(&'a self, n: usize, request: &'a Request) -> BoxFuture<'a, Result<Response, Failure>> {
        let sending = self.send_from(&self.pools[n % self.pools.len()], request);
        Box::pin(async { tokio::time::timeout(TIMEOUT, sending).await.unwrap_or(Err(Failure::Timeout)) })
    }

    /// Stops all requests that wait for a connection or come later. Requests under way continue.
    pub fn hold_back(&self) {
        self.pools.iter().for_each(|pool| pool.turns.close());
    }

    async fn send_from(&self, pool: &ConnectionPool, request: &Request) -> Result<Response, Failure> {
        // After `hold_back` this waits for ever.
        let Ok(_turn) = pool.turns.acquire().await else { return std::future::pending().await };
        let mut message = request.to(&self.target);
        loop {
            let (mut connection, is_new) = match pool.idle_connection().await {
                Some(connection) => (connection, false),
                // Boxed: handshakes are large and rare, and would otherwise be in every sending future.
                None => (Box::pin(self.connect(pool.from)).await?, true),
            };
            match connection.try_send_request(message).await {
                Ok(response) => {
                    let response = read(response).await?;
                    pool.idle.lock().push((connection, Instant::now()));
                    return Ok(response);
                }
                Err(mut error) => match error.take_message() {
                    // The server closed the connection while it was idle. Nothing was sent, so this is not a retry.
                    Some(unsent) if !is_new => message = unsent,
                    _ => return Err(Failure::Broken(error.into_error().to_string())),
                },
            }
        }
    }

    async fn connect(&self, from: Option<Ipv4Addr>) -> Result<SendRequest<Full<Bytes>>, Failure> {
        let failed = |error: std::io::Error| Failure::Connect(error.to_string());
        let stream = match (from, self.target.loopback_v4()) {
            (Some(from), Some(to)) => {
                let socket = TcpSocket::new_v4().map_err(failed)?;
                socket.bind(SocketAddr::new(IpAddr::V4(from), 0)).map_err(failed)?;
                socket.connect(SocketAddr::new(IpAddr::V4(to), self.target.port)).await
            }
            _ => TcpStream::connect((&*self.target.host, self.target.port)).await,
        };
        let stream = stream.map_err(failed)?;
        stream.set_nodelay(true).map_err(failed)?;
        match &self.tls {
            Some((tls, name)) => shake_hands(tls.connect(name.clone(), stream).await.map_err(failed)?).await,
            None if self.target.tls => Err(Failure::Connect("the host's name cannot be in a certificate".to_owned())),
            None => shake_hands(stream).await,
        }
    }
}

impl ConnectionPool {
    async fn idle_connection(&self) -> Option<SendRequest<Full<Bytes>>> {
        loop {
            let (mut connection, since) = self.idle.lock().pop()?;
            if since.elapsed() < MAX_IDLE && connection.ready().await.is_ok() {
                return Some(connection);
            }
        }
    }
}

async fn shake_hands(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
) -> Result<SendRequest<Full<Bytes>>, Failure> {
    let broken = |error: hyper::Error| Failure::Broken(error.to_string());
    let (connection, driver) = http1::handshake(TokioIo::new(stream)).await.map_err(broken)?;
    // Requests that wait for an answer on it get its errors.
    tokio::spawn(driver);
    Ok(connection)
}

async fn read(response: http::Response<hyper::body::Incoming>) -> Result<Response, Failure> {
    let (head, body) = response.into_parts();
    let body = Limited::new(body, MAX_BODY_BYTES).collect().await;
    let body = body.map_err(|error| Failure::Broken(error.to_string()))?.to_bytes();
    Ok(Response { status: head.status.as_u16(), headers: head.headers, body })
}

fn public_roots() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(webpki_root_certs::TLS_SERVER_ROOT_CERTS.iter().cloned());
    roots
}

fn tls(roots: RootCertStore) -> TlsConnector {
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("ring speaks TLS 1.2 and 1.3");
    TlsConnector::from(Arc::new(config.with_root_certificates(roots).with_no_client_auth()))
}

const fn source(n: usize) -> Ipv4Addr {
    Ipv4Addr::new(127, 1, (n / 250) as u8, (n % 250) as u8 + 1)
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;
    use tokio_rustls::TlsAcceptor;
    use tokio_rustls::rustls::ServerConfig;
    use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

    use http::Method;

    use super::*;

    /// Answers every request with its source address, on connections that it closes after `each` answers.
    async fn server(each: usize) -> Target {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move {
            loop {
                let (stream, from) = listener.accept().await.unwrap();
                tokio::spawn(answer(stream, from, each));
            }
        });
        url.parse().unwrap()
    }

    async fn answer(mut stream: impl AsyncRead + AsyncWrite + Unpin, from: SocketAddr, each: usize) {
        for _ in 0..each {
            let mut request = Vec::new();
            while !request.ends_with(b"\r\n\r\n") {
                let Ok(byte) = stream.read_u8().await else { return };
                request.push(byte);
            }
            let body = from.to_string();
            let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len());
            stream.write_all(answer.as_bytes()).await.unwrap();
            stream.flush().await.unwrap();
        }
    }

    #[tokio::test]
    async fn a_certificate_must_be_of_somebody_known() {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let config = config.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
        let acceptor =
            TlsAcceptor::from(Arc::new(config.with_single_cert(vec![made.cert.der().clone()], key).unwrap()));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let target: Target = format!("https://localhost:{}", listener.local_addr().unwrap().port()).parse().unwrap();
        tokio::spawn(async move {
            loop {
                let (stream, from) = listener.accept().await.unwrap();
                // Fails for clients that do not know the certificate.
                if let Ok(stream) = acceptor.accept(stream).await {
                    tokio::spawn(answer(stream, from, usize::MAX));
                }
            }
        });

        let mut client = Client::new(target);
        let failure = client.send(0, &request()).await.unwrap_err();
        assert!(matches!(&failure, Failure::Connect(said) if said.contains("certificate")), "{failure}");
        let mut roots = RootCertStore::empty();
        roots.add(made.cert.der().clone()).unwrap();
        client.tls = Some((tls(roots), "localhost".try_into().unwrap()));
        assert!(asked_from(&client, 0).await.ip().is_loopback());
    }

    fn request() -> Request {
        Request::new(Method::GET, "/").unwrap()
    }

    async fn asked_from(client: &Client, n: usize) -> SocketAddr {
        let response = client.send(n, &request()).await.unwrap();
        str::from_utf8(&response.body).unwrap().parse().unwrap()
    }

    #[tokio::test]
    async fn every_user_has_an_address_and_a_connection_serves_many_requests() {
        let client = Client::new(server(usize::MAX).await);
        let first = asked_from(&client, 0).await;
        assert_eq!(asked_from(&client, 0).await, first);
        assert_eq!(asked_from(&client, ADDRESSES).await, first);
        assert_ne!(asked_from(&client, 1).await.ip(), first.ip());
        assert!(first.ip().is_loopback());
    }

    #[tokio::test]
    async fn connections_have_a_bound() {
        let client = Arc::new(Client::with_connections(server(usize::MAX).await, 3));
        let sent = (0..100).map(|n| {
            let client = Arc::clone(&client);
            tokio::spawn(async move { asked_from(&client, n).await })
        });
        let mut seen: Vec<_> = futures::future::try_join_all(sent).await.unwrap();
        seen.sort();
        seen.dedup();
        assert!(seen.len() <= 3, "{seen:?}");
    }

    #[tokio::test]
    async fn a_connection_that_was_closed_meanwhile_is_replaced() {
        let client = Client::with_connections(server(1).await, 1);
        let first = asked_from(&client, 0).await;
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert_ne!(asked_from(&client, 0).await, first);
    }

    #[tokio::test]
    async fn nobody_there_is_a_failure() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let target = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
        drop(listener);
        let failure = Client::new(target).send(0, &request()).await.unwrap_err();
        assert!(matches!(failure, Failure::Connect(_)), "{failure}");
    }
}
