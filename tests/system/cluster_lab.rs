//! A lab whose Redis is a cluster with TLS and passwords, as on AWS.

use std::ops::Deref;

use local::valkey_cluster::ValkeyCluster;
use runtime::Secret;
use stock::Access;
use tests::{Authority, TlsFront};

use crate::prelude::*;
use crate::resources::{make_secret, secrets_manager};

pub(crate) struct ClusterLab {
    pub(crate) lab: Arc<Lab>,
    pub(crate) cluster: ValkeyCluster,
    pub(crate) authority: Authority,
    pub(crate) fronts: Vec<TlsFront>,
    /// The stock of another, idle process.
    pub(crate) onlooker: Stock,
}

impl ClusterLab {
    pub(crate) async fn new() -> Self {
        let (authority, mut fronts) = (Authority::default(), Vec::new());
        let cluster = ValkeyCluster::start(|port| {
            let front = TlsFront::start(&authority, port);
            let announced = front.port();
            fronts.push(front);
            Ok(announced)
        });
        let cluster = cluster.await.unwrap();
        let lab = Lab::new().await.with_stock(stock(&cluster, &authority).await);
        let onlooker = stock(&cluster, &authority).await;
        Self { lab: Arc::new(lab), cluster, authority, fronts, onlooker }
    }

    /// The slot of a sale's first round.
    pub(crate) async fn slot_of(&self, sale: &str) -> u16 {
        self.cluster.slot_of(&format!("{{{sale}:1:0}}")).await.unwrap()
    }
}

async fn stock(cluster: &ValkeyCluster, authority: &Authority) -> Stock {
    let credentials = json!({"username": ValkeyCluster::USER, "password": cluster.password()}).to_string();
    let credentials = Some(secret(&credentials).await);
    let access = Access { url: url(cluster), credentials, authority: Some(authority.pem()), clock: Clock::system() };
    let stock = Stock::open(access).unwrap();
    // Each node has 400 ms for TLS, and no clock gives it more.
    until("the cluster is connected to", async || stock.connect().await.ok()).await;
    stock
}

/// All nodes, with TLS.
pub(crate) fn url(cluster: &ValkeyCluster) -> String {
    let hosts: Vec<String> = cluster.announced().iter().map(|port| format!("127.0.0.1:{port}")).collect();
    format!("rediss+cluster://{}", hosts.join(","))
}

/// A secret of its own, in Secrets Manager.
pub(crate) async fn secret<T>(text: &str) -> Secret<T>
where
    T: std::str::FromStr<Err: std::error::Error + Send + Sync + 'static> + Send + Sync + 'static,
{
    Secret::new(secrets_manager().await, make_secret("redis", text).await, Clock::system())
}

impl Deref for ClusterLab {
    type Target = Lab;

    fn deref(&self) -> &Lab {
        &self.lab
    }
}
