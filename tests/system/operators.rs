//! Who is an operator: only a user in the group, and nobody with something that resembles it.

use crate::prelude::*;

const GROUPS_OF_OTHERS: [(&str, &[&str]); 9] = [
    ("groups", &["Store operators"]),
    ("groups", &["call-centre,operators"]),
    ("groups", &["smooth operators", "x"]),
    ("groups", &["buyers", "operators"]),
    ("groups", &["operators", "operators"]),
    ("groups", &[]),
    ("groups", &["Operators"]),
    ("cognito:groups", &["a operators"]),
    ("cognito:groups", &["operators b"]),
];

fn sales() -> Ask {
    Ask::get("/v1/admin/sales")
}

/// Through the emulator's gateway, which turns lists into text as AWS does.
#[tokio::test]
async fn no_other_group_opens_the_operators_routes() {
    let issuer = &cloud().await.issuer;
    let mut claims = serde_json::to_value(issuer.claims("mallory", &[])).unwrap();
    let token = |claims: &Value| issuer.sign(claims).unwrap();
    for (claim, groups) in GROUPS_OF_OTHERS {
        let mut claims = claims.clone();
        claims[claim] = json!(groups);
        sales().by("mallory").send_with(Some(&token(&claims))).await.problem(403, "forbidden");
    }
    for text in ["operators b", "a,operators", "[a operators]", " operators", "operators "] {
        claims["groups"] = json!(text);
        sales().by("mallory").send_with(Some(&token(&claims))).await.problem(403, "forbidden");
    }
    for operators in [json!(["operators"]), json!("operators")] {
        claims["groups"] = operators;
        sales().by("olga").send_with(Some(&token(&claims))).await.expect(200);
    }
}

async fn heard(lab: &Lab, claims: &Value) -> Answer {
    let ask = sales().by("olga");
    let mut event = events::http(&ask);
    let all = &mut event["requestContext"]["authorizer"]["jwt"]["claims"];
    all.as_object_mut().unwrap().extend(claims.as_object().unwrap().clone());
    Answer::of_handler(&ask, admin::handle(&lab.admin(), events::request(&event)).await)
}

#[tokio::test]
async fn where_two_claims_say_something_both_say_the_same() {
    let lab = Lab::new().await;
    heard(&lab, &json!({ "groups": "[operators]", "cognito:groups": "operators" })).await.expect(200);
    for other in ["[operators b]", "[buyers]", ""] {
        for claims in [
            json!({ "groups": "[operators]", "cognito:groups": other }),
            json!({ "groups": other, "cognito:groups": "[operators]" }),
        ] {
            heard(&lab, &claims).await.problem(403, "forbidden");
        }
    }
    heard(&lab, &json!({ "scope": "operators", "role": "operators" })).await.problem(403, "forbidden");
}
