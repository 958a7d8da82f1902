//! Who may pass the gateway.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::prelude::*;

/// `{"alg":"none","typ":"JWT"}`
const ALG_NONE: &str = "eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0";

/// Tokens that are tried on each route: they show that it has the authorizer. What the authorizer checks is tried on one.
const ON_EACH_ROUTE: [&str; 2] = ["no token", "another's claims"];

/// Every route whose token the gateway checks: method and path. The document marks the others.
fn guarded_routes() -> Vec<(String, String)> {
    let guarded = OPENAPI.operations().filter(|(.., operation)| operation["security"].is_null());
    let routes: Vec<_> = guarded.map(|(method, path, _)| (method, path.clone())).collect();
    assert!(routes.len() >= 14, "{routes:?}");
    routes
}

fn ask(method: &str, path: &str) -> Ask {
    let path = path
        .replace("{sale_id}", "shop-nowhere")
        .replace("{token}", "1")
        .replace("{round}", "1")
        .replace("{queue}", "nowhere")
        .replace("{user}", "nobody")
        .replace("{reservation_id}", "shop-nowhere.1.00000000000000000000000000000000");
    match method {
        // Without a sale's name they would stop everything.
        "POST" if path.ends_with("/stop") || path.ends_with("/start") => {
            Ask::post(path).json(&json!({ "sale_id": "shop-nowhere" }))
        }
        "POST" => Ask::post(path).json(&json!({})),
        "DELETE" => Ask::delete(path),
        _ => Ask::get(path),
    }
}

#[tokio::test]
async fn only_a_good_token_passes() {
    let issuer = &cloud().await.issuer;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let claims = issuer.claims("mallory", &[]);
    let sign = |change: &dyn Fn(&mut local::identity::TokenClaims)| {
        let mut claims = claims.clone();
        change(&mut claims);
        issuer.sign(&claims).unwrap()
    };
    let good = issuer.token("mallory").unwrap();
    let operator = issuer.operator_token("olga").unwrap();
    let part = |token: &str, n: usize| token.split('.').nth(n).unwrap().to_owned();
    let refused = [
        ("no token", None),
        ("not a token", Some("x".to_owned())),
        ("expired", Some(sign(&|claims| claims.exp = now - 3600))),
        ("for somebody else", Some(sign(&|claims| claims.aud = "another-shop".to_owned()))),
        ("of another issuer", Some(sign(&|claims| claims.iss = "http://issuer.example".to_owned()))),
        ("signed by nobody", Some(format!("{ALG_NONE}.{}.", part(&good, 1)))),
        ("without signature", Some(format!("{}.{}.", part(&good, 0), part(&good, 1)))),
        ("another's claims", Some(format!("{}.{}.{}", part(&good, 0), part(&operator, 1), part(&good, 2)))),
    ];
    for (number, (method, path)) in guarded_routes().into_iter().enumerate() {
        let ask = ask(&method, &path);
        for (what, token) in refused.iter().filter(|(what, _)| number == 0 || ON_EACH_ROUTE.contains(what)) {
            assert_eq!(ask.send_with(token.as_deref()).await.status, 401, "{what}: {method} {path}");
            let emulators = ask.send_through(&cloud().await.deployment.emulator_api_url, token.as_deref()).await;
            assert_eq!(emulators.status, 401, "the emulator's gateway: {what}: {method} {path}");
        }
        let passed = ask.send_with(Some(&operator)).await.status;
        assert!(
            passed != 401 && (passed != 403 || path.ends_with("{token}")) && passed < 500,
            "{passed}: {method} {path}"
        );
    }
}

#[tokio::test]
async fn only_operators_pass_to_admin() {
    let admin = guarded_routes().into_iter().filter(|(_, path)| path.starts_with("/v1/admin"));
    let mut routes = 0;
    for (method, path) in admin {
        ask(&method, &path).by("mallory").send().await.problem(403, "forbidden");
        routes += 1;
    }
    assert!(routes >= 10, "{routes}");
    let issuer = &cloud().await.issuer;
    let almost = issuer.sign(&issuer.claims("mallory", &["operators2", "buyers"])).unwrap();
    Ask::get("/v1/admin/sales").send_with(Some(&almost)).await.problem(403, "forbidden");
}
