//! TLS in front of a service without it.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use local::server::Server;
use pem::Pem;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tokio::io::copy_bidirectional;
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

/// The first byte of a TLS connection: a handshake record.
const HANDSHAKE: u8 = 0x16;

/// A certificate authority for the loopback address, which only tests trust.
pub struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Default for Authority {
    fn default() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().expect("a key")).expect("a certificate"))
    }
}

impl Authority {
    pub fn pem(&self) -> Vec<u8> {
        pem::encode(&Pem::new("CERTIFICATE", self.0.der().to_vec())).into_bytes()
    }

    fn acceptor(&self) -> TlsAcceptor {
        let key = KeyPair::generate().expect("a key");
        let params = CertificateParams::new([Ipv4Addr::LOCALHOST.to_string()]).expect("a name");
        let certificate = params.signed_by(&key, &self.0).expect("a certificate").der().clone();
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .and_then(|config| config.with_no_client_auth().with_single_cert(vec![certificate], key));
        TlsAcceptor::from(Arc::new(config.expect("a configuration")))
    }
}

/// A proxy on the loopback interface that terminates TLS. Connections without TLS pass unchanged, since the nodes of a
/// cluster use the same address as clients to reach each other. Dropping it stops it.
pub struct TlsFront {
    server: Server,
    handshakes: Arc<AtomicUsize>,
}

impl TlsFront {
    /// A proxy in front of the local port `upstream`, with a certificate of `authority`.
    pub fn start(authority: &Authority, upstream: u16) -> Self {
        let (acceptor, handshakes) = (authority.acceptor(), Arc::new(AtomicUsize::new(0)));
        let counted = Arc::clone(&handshakes);
        let server = Server::tcp(move |client| pass(client, upstream, acceptor.clone(), Arc::clone(&counted)));
        Self { server, handshakes }
    }

    pub const fn port(&self) -> u16 {
        self.server.address().port()
    }

    pub fn handshakes(&self) -> usize {
        self.handshakes.load(Ordering::SeqCst)
    }
}

async fn pass(
    mut client: TcpStream,
    upstream: u16,
    acceptor: TlsAcceptor,
    handshakes: Arc<AtomicUsize>,
) -> std::io::Result<()> {
    // First, so that without the service there is no handshake either.
    let mut upstream = TcpStream::connect(SocketAddr::from((Ipv4Addr::LOCALHOST, upstream))).await?;
    for stream in [&client, &upstream] {
        stream.set_nodelay(true)?;
    }
    let mut first = [0];
    client.peek(&mut first).await?;
    if first == [HANDSHAKE] {
        let mut client = acceptor.accept(client).await?;
        handshakes.fetch_add(1, Ordering::SeqCst);
        copy_bidirectional(&mut client, &mut upstream).await.map(drop)
    } else {
        copy_bidirectional(&mut client, &mut upstream).await.map(drop)
    }
}
