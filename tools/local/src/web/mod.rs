//! The page and the API on one origin, as with CloudFront in production.

mod stand_in;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use anyhow::{Result, ensure};
use axum::extract::{ConnectInfo, Request, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::routing::{any, get, post};
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tower_http::services::ServeDir;

use crate::client::Client;
use crate::deployment::Deployment;
use crate::gateway::Served;
use crate::identity::Issuer;
use crate::paths;
use crate::process::loopback;
use stand_in::Shared;

pub struct WebServer {
    address: SocketAddr,
    /// Dropping it stops the server.
    server: JoinSet<std::io::Result<()>>,
}

impl WebServer {
    /// Serves the page of a deployment and its API on a free port.
    pub async fn start(deployment: &Deployment, issuer: Issuer, api: Arc<Served>) -> Result<Self> {
        Self::start_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?, deployment, issuer, api)
    }

    /// The same on a port that was bound before.
    pub fn start_on(listener: TcpListener, deployment: &Deployment, issuer: Issuer, api: Arc<Served>) -> Result<Self> {
        let pages = paths::pages();
        let are_built = pages.join("index.html").is_file();
        ensure!(are_built, "the pages are not built: no index.html in {}; run `make build`", pages.display());
        let shared = Arc::new(Shared {
            client: Client::new(&deployment.api_url)?,
            api,
            headers: security_headers(deployment.push_url.as_deref())?,
            deployment: deployment.clone(),
            issuer,
        });
        let routes = Router::new()
            .route("/config.json", get(config))
            .route("/stand-in/login", post(stand_in::login))
            .route("/stand-in/pay", post(stand_in::pay))
            .route("/v1/{*rest}", any(answer))
            .fallback_service(ServeDir::new(pages))
            .layer(middleware::from_fn_with_state(Arc::clone(&shared), add_headers))
            .with_state(shared);
        let service = routes.into_make_service_with_connect_info::<SocketAddr>();
        let address = listener.local_addr()?;
        Ok(Self { address, server: JoinSet::from_iter([axum::serve(listener, service).into_future()]) })
    }

    pub fn url(&self) -> String {
        loopback(self.address.port())
    }

    pub async fn ended(mut self) -> Result<()> {
        self.server.join_next().await.transpose()?.transpose()?;
        Ok(())
    }
}

/// The address of the operators' page for a sale, with the page at `url`.
pub fn operators_url(url: &str, sale: &str) -> String {
    format!("{url}/operators.html#/sales/{sale}")
}

async fn answer(State(shared): State<Arc<Shared>>, from: ConnectInfo<SocketAddr>, request: Request) -> Response {
    shared.api.answer(from.0.ip(), request).await
}

async fn config(State(shared): State<Arc<Shared>>) -> Json<Value> {
    Json(json!({
        "login": { "kind": "stand-in", "url": "/stand-in/login" },
        "pay": { "kind": "stand-in", "url": "/stand-in/pay" },
        "push_url": shared.deployment.push_url,
        "contact": "mailto:help@shop.example",
    }))
}

/// Only the page's own files may run, and it may only talk to its own origin and its push API.
fn security_headers(push_url: Option<&str>) -> Result<HeaderMap> {
    let connect = push_url.map_or_else(String::new, |url| format!(" {}", origin_of(url)));
    let policy = format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data:; connect-src 'self'{connect}; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    let opener_policy = HeaderName::from_static("cross-origin-opener-policy");
    Ok(HeaderMap::from_iter([
        (CONTENT_SECURITY_POLICY, HeaderValue::from_str(&policy)?),
        (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
        (opener_policy, HeaderValue::from_static("same-origin")),
    ]))
}

/// Scheme, host and port of a URL.
fn origin_of(url: &str) -> &str {
    let host = url.find("://").map_or(0, |at| at + 3);
    url[host..].find('/').map_or(url, |end| &url[..host + end])
}

/// How long a browser caches the file at `path`; the same as in `infra/cdk/lib/page.ts`.
fn kept(path: &str) -> &'static str {
    if path.starts_with("/assets/") {
        // Its name contains a hash of its content.
        "public, max-age=31536000, immutable"
    } else if path.starts_with("/art/") {
        "public, max-age=86400"
    } else {
        "no-cache"
    }
}

async fn add_headers(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let kept = kept(request.uri().path());
    let mut response = next.run(request).await;
    let is_there = !response.status().is_client_error() && !response.status().is_server_error();
    let headers = response.headers_mut();
    headers.extend(shared.headers.clone());
    let cache = HeaderValue::from_static(if is_there { kept } else { "no-cache" });
    headers.entry(CACHE_CONTROL).or_insert(cache);
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_policy_names_the_push_alone() {
        let policy = |push| security_headers(push).unwrap()["content-security-policy"].to_str().unwrap().to_owned();
        assert!(policy(None).contains("connect-src 'self';"));
        for push in ["ws://127.0.0.1:4566", "ws://127.0.0.1:4566/", "ws://127.0.0.1:4566/_aws/prod?x=1"] {
            assert!(policy(Some(push)).contains("connect-src 'self' ws://127.0.0.1:4566;"), "{push}");
        }
        assert!(!policy(None).contains("unsafe"));
    }

    #[test]
    fn only_what_never_changes_under_its_name_is_kept_for_good() {
        assert!(kept("/assets/index-BwCnQ4xO.js").ends_with("immutable"));
        assert_eq!(kept("/art/lamp.svg"), "public, max-age=86400");
        for path in ["/", "/index.html", "/operators.html", "/config.json", "/assets.html"] {
            assert_eq!(kept(path), "no-cache", "{path}");
        }
    }
}
