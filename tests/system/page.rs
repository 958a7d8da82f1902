//! The local web server: the page and the API on one origin, and stand-ins for the rest of the world.

use local::deployment::Deployment;
use local::gateway::{Concurrency, Gateway};
use local::identity::Issuer;
use local::web::WebServer;
use reqwest::{Client, Response};

use crate::prelude::*;

struct Page {
    server: WebServer,
    http: Client,
    _gateway: Gateway,
}

impl Page {
    async fn open() -> Self {
        let cloud = cloud().await;
        let issuer = Issuer::from_pem(&cloud.deployment.endpoint, cloud.issuer.private_key_pem().to_owned()).unwrap();
        let home = cloud.deployment.home.join(format!("page-{}", std::process::id()));
        std::fs::create_dir_all(&home).unwrap();
        let gateway = Gateway::start(&cloud.deployment.endpoint, 0, &home, Concurrency::FAST).await.unwrap();
        let deployment = Deployment { api_url: gateway.url(), ..cloud.deployment.clone() };
        let server = WebServer::start(&deployment, issuer, gateway.served()).await.unwrap();
        Self { server, http: Client::new(), _gateway: gateway }
    }

    async fn get(&self, path: &str) -> Response {
        self.http.get(format!("{}{path}", self.server.url())).send().await.unwrap()
    }

    async fn post(&self, path: &str, body: &Value) -> Response {
        self.http.post(format!("{}{path}", self.server.url())).json(body).send().await.unwrap()
    }

    async fn log_in(&self, body: Value) -> String {
        let answer: Value = self.post("/stand-in/login", &body).await.error_for_status().unwrap().json().await.unwrap();
        assert!(answer["expires_at"].as_str().unwrap() > &*crate::shop::in_s(60));
        answer["token"].as_str().unwrap().to_owned()
    }

    async fn with_token(&self, path: &str, token: &str) -> Response {
        self.http.get(format!("{}{path}", self.server.url())).bearer_auth(token).send().await.unwrap()
    }
}

#[tokio::test]
async fn every_answer_keeps_strangers_out() {
    let page = Page::open().await;
    assert!(page.server.url().starts_with("http://127.0.0.1:"));
    for (path, status) in [
        ("/", 200),
        ("/config.json", 200),
        ("/no-such-file", 404),
        ("/../Cargo.toml", 404),
        ("/%2e%2e/Cargo.toml", 404),
        ("/v1/orders", 401),
        ("/v1/nowhere", 404),
    ] {
        let answer = page.get(path).await;
        // The page may not be built yet.
        assert!(answer.status() == status || path == "/", "{path}: {answer:?}");
        let header = |name: &str| answer.headers()[name].to_str().unwrap();
        let policy = header("content-security-policy");
        for directive in ["default-src 'none'", "script-src 'self'", "base-uri 'none'", "frame-ancestors 'none'"] {
            assert!(policy.split("; ").any(|known| known == directive), "{path}: {policy}");
        }
        assert!(!policy.contains("unsafe-"), "{policy}");
        assert_eq!((header("x-content-type-options"), header("referrer-policy")), ("nosniff", "no-referrer"));
        assert!(!answer.headers().contains_key("access-control-allow-origin") || path.starts_with("/v1/"), "{path}");
    }
}

#[tokio::test]
async fn the_page_hears_where_to_log_in_and_who_does_is_known_to_the_api() {
    let page = Page::open().await;
    let config: Value = page.get("/config.json").await.json().await.unwrap();
    assert_eq!(config["login"], json!({ "kind": "stand-in", "url": "/stand-in/login" }));
    assert_eq!(config["pay"], json!({ "kind": "stand-in", "url": "/stand-in/pay" }));
    assert!(config["push_url"].is_null() || config["push_url"].as_str().unwrap().starts_with("ws"));
    let alice = page.log_in(json!({ "user": "alice" })).await;
    let orders: Value = page.with_token("/v1/orders?", &alice).await.error_for_status().unwrap().json().await.unwrap();
    assert!(orders["orders"].is_array());
    assert_eq!(page.with_token("/v1/admin/sales", &alice).await.status(), 403);
    let olga = page.log_in(json!({ "user": "olga", "operator": true })).await;
    assert_eq!(page.with_token("/v1/admin/sales", &olga).await.status(), 200);
    for bad in [json!({}), json!({ "user": "a b" }), json!({ "user": "alice", "admin": true })] {
        assert!(page.post("/stand-in/login", &bad).await.status().is_client_error(), "{bad}");
    }
    let unmarked = page.http.post(format!("{}/stand-in/login", page.server.url())).body(r#"{"user":"alice"}"#);
    assert_eq!(unmarked.send().await.unwrap().status(), 415, "a form on another page could send this");
}
