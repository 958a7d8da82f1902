//! A Redis with TLS and passwords accepts only the right authority and password.

use stock::{Access, StockError};
use tests::Authority;

use crate::cluster_lab::{ClusterLab, secret, url};
use crate::prelude::*;

async fn is_loaded(access: Access) -> Result<bool, StockError> {
    let stock = Stock::open(access).unwrap();
    stock.round(&round(SALE, 1)).is_loaded().await
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_not_known_or_trusts_another_authority_hears_nothing() {
    let lab = ClusterLab::new().await;
    lab.open(SALE, &terms(5, 1)).await;
    let password = lab.cluster.password();
    let owner = lab.cluster.owner(lab.slot_of(SALE).await).await.unwrap();
    let [cluster, node] = [url(&lab.cluster), format!("rediss://127.0.0.1:{}", lab.cluster.announced()[owner])];
    for url in [&cluster, &node] {
        let access = |user: &str, authority: &Authority| {
            let url = url.replace("://", &format!("://{user}"));
            Access { url, credentials: None, authority: Some(authority.pem()), clock: Clock::system() }
        };
        let known = format!("shop:{password}@");
        // A busy machine may need longer than a node has for a connection.
        assert!(until("who is known is let in", async || is_loaded(access(&known, &lab.authority)).await.ok()).await);
        let other = Authority::default();
        for (user, authority) in [("shop:guess@", &lab.authority), (&*known, &other), ("", &lab.authority)] {
            let refused = is_loaded(access(user, authority)).await;
            assert!(matches!(refused, Err(StockError::Redis(_))), "{user}: {refused:?}");
        }
        let known = json!({"username": "shop", "password": password}).to_string();
        let credentials = Some(secret(&known).await);
        let by_secret = || Access { credentials: credentials.clone(), ..access("", &lab.authority) };
        assert!(until("the secret lets in", async || is_loaded(by_secret()).await.ok()).await);
        let credentials = Some(secret("no JSON").await);
        let asked = is_loaded(Access { credentials, ..access("", &lab.authority) }).await;
        assert!(asked.is_err(), "{asked:?}");
    }
    assert!(lab.fronts.iter().map(tests::TlsFront::handshakes).sum::<usize>() >= 6, "every connection used TLS");
}
