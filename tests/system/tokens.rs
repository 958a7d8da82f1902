//! Who may pass the gateway.

use crate::prelude::*;
use crate::routes::filled;

/// Every route whose token the gateway checks: method and path. The document marks the others.
fn guarded_routes() -> Vec<(String, String)> {
    let guarded = OPENAPI.operations().filter(|(.., operation)| operation["security"].is_null());
    let routes: Vec<_> = guarded.map(|(method, path, _)| (method, path.clone())).collect();
    assert!(routes.len() >= 14, "{routes:?}");
    routes
}

fn ask(method: &str, path: &str) -> Ask {
    let path = filled(&path.replace("{sale_id}", "shop-nowhere").replace("{queue}", "nowhere"));
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

/// Each route has the authorizer. What that checks is tried in `tests/gateway`.
#[tokio::test]
async fn only_a_good_token_passes() {
    let issuer = &cloud().await.issuer;
    let (good, operator) = (issuer.token("mallory").unwrap(), issuer.operator_token("olga").unwrap());
    let parts = [&good, &operator, &good].into_iter().enumerate();
    let with_anothers_claims = parts.map(|(n, of)| of.split('.').nth(n).unwrap()).collect::<Vec<_>>().join(".");
    for (method, path) in guarded_routes() {
        let ask = ask(&method, &path);
        for token in [None, Some(&*with_anothers_claims)] {
            assert_eq!(ask.send_with(token).await.status, 401, "{token:?}: {method} {path}");
            let emulators = ask.send_through(&cloud().await.deployment.emulator_api_url, token).await;
            assert_eq!(emulators.status, 401, "the emulator's gateway: {token:?}: {method} {path}");
        }
        let passed = ask.send_with(Some(&operator)).await.status;
        let is_refused = passed == 401 || passed == 403 && !path.ends_with("{token}");
        assert!(!is_refused && passed < 500, "{passed}: {method} {path}");
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
    // `api::caller` has tests of what makes an operator.
    let issuer = &cloud().await.issuer;
    let almost = issuer.sign(&issuer.claims("mallory", &["operators2", "call-centre,operators"])).unwrap();
    Ask::get("/v1/admin/sales").send_with(Some(&almost)).await.problem(403, "forbidden");
}
