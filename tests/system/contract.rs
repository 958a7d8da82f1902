//! Compares the API's document with the code: problems, bounds and examples. `routes.rs` checks the routes, and
//! `answer.rs` holds every answer in every test to the document.

use api::Code;
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::bad_requests::with;
use crate::openapi::By;
use crate::prelude::*;

fn code_of(schema: &Value) -> Option<&str> {
    schema["properties"]["code"]["const"].as_str()
}

/// The problems that a content's schema allows: one, or one of several.
fn problems(schema: &Value) -> Vec<&Value> {
    match schema["oneOf"].as_array() {
        Some(several) => several.iter().map(|schema| OPENAPI.resolve(schema)).collect(),
        None => vec![OPENAPI.resolve(schema)],
    }
}

#[test]
fn the_problems_are_those_of_the_functions() {
    let known: BTreeSet<(&str, u64)> =
        Code::ALL.iter().map(|code| (code.as_str(), u64::from(code.status().as_u16()))).collect();
    let schemas = OPENAPI.document["components"]["schemas"].as_object().expect("there are schemas");
    let described = schemas.iter().filter_map(|(name, schema)| {
        let status = schema["properties"]["status"]["const"].as_u64();
        code_of(schema).map(|code| (code, status.unwrap_or_else(|| panic!("{name} has no status"))))
    });
    assert_eq!(described.collect::<BTreeSet<_>>(), known);

    let mut used = BTreeSet::new();
    for (method, path, operation) in OPENAPI.operations() {
        for (status, answer) in OPENAPI.answers(operation) {
            let content = &answer["content"]["application/problem+json"];
            if content.is_null() {
                continue;
            }
            for problem in problems(&content["schema"]) {
                let code = code_of(problem).unwrap_or_else(|| panic!("{method} {path}: {status} allows any code"));
                assert_eq!(problem["properties"]["status"]["const"], status, "{method} {path}: {code}");
                used.insert((code, u64::from(status)));
            }
        }
    }
    assert_eq!(used, known, "problems that no operation answers");
}

#[test]
fn the_page_on_routes_has_every_problem() {
    let page = std::fs::read_to_string(local::paths::root().join("docs/routes.md")).unwrap();
    let (_, table) = page.split_once("| status | code |\n").expect("the table of problems");
    let rows: Vec<&str> = table.lines().take_while(|line| line.starts_with('|')).collect();
    for code in Code::ALL {
        let (name, status) = (format!("`{}`", code.as_str()), code.status().as_str().to_owned());
        let told = rows.iter().any(|row| row.contains(&name) && row[..row.find('`').unwrap()].contains(&status));
        assert!(told, "docs/routes.md lacks {status} {name}");
    }
}

#[test]
fn codes_of_headers_are_codes_of_their_answers() {
    for (method, path, operation) in OPENAPI.operations() {
        for (status, answer) in OPENAPI.answers(operation) {
            let schema = &answer["content"]["application/problem+json"]["schema"];
            for (name, header) in answer["headers"].as_object().into_iter().flatten() {
                let header = OPENAPI.resolve(header);
                let says_when = header["required"].is_boolean() || !header["x-sent-with"].is_null();
                assert!(says_when, "{method} {path}: {name}");
                let has = |code: &Value| problems(schema).iter().any(|problem| code_of(problem) == code.as_str());
                let codes = header["x-sent-with"].as_array();
                assert!(codes.is_none_or(|codes| codes.iter().any(has)), "{method} {path}: {status} never has {name}");
            }
        }
    }
}

/// Every `content` in the document, at any depth.
fn contents(value: &'static Value, found: &mut Vec<&'static Value>) {
    match value {
        Value::Object(members) => {
            if members.contains_key("schema") {
                found.push(value);
            }
            members.values().for_each(|value| contents(value, found));
        }
        Value::Array(items) => items.iter().for_each(|value| contents(value, found)),
        _ => {}
    }
}

#[test]
fn examples_are_valid() {
    let mut found = Vec::new();
    contents(&OPENAPI.document, &mut found);
    let mut examples = 0;
    for content in found {
        let named = content["examples"].as_object().into_iter().flatten().map(|(_, example)| &example["value"]);
        for example in content.get("example").into_iter().chain(named) {
            assert_eq!(OPENAPI.misfits(&content["schema"], example), [] as [String; 0], "{example}");
            examples += 1;
        }
    }
    assert!(examples >= 30, "{examples}");
}

#[test]
fn bounds_are_those_of_the_types() {
    for (place, bound) in [
        ("SaleId/maxLength", sale::MAX_SALE_ID_LENGTH as u64),
        ("CampaignId/maxLength", sale::MAX_SALE_ID_LENGTH as u64),
        ("UserId/maxLength", sale::MAX_USER_ID_LENGTH as u64),
        ("SaleIds/maxItems", sale::MAX_CAMPAIGN_SALES as u64),
        ("SaleThrottle/properties/requests_per_s/maximum", u64::from(sale::MAX_THROTTLE_REQUESTS_PER_S)),
        ("ChallengeAnswer/properties/answer/maxLength", pass::MAX_ANSWER_LENGTH as u64),
        ("Unit/maximum", u64::from(sale::MAX_TOTAL)),
        ("Orders/properties/orders/maxItems", reservation::MAX_LISTED),
        ("Title/maxLength", sale::MAX_TITLE_LENGTH as u64),
        ("SaleTerms/properties/total/maximum", u64::from(sale::MAX_TOTAL)),
        ("SaleTerms/properties/per_user_limit/maximum", u64::from(sale::MAX_PER_USER_LIMIT)),
        ("LimitReached/properties/reservation_ids/maxItems", u64::from(sale::MAX_PER_USER_LIMIT)),
        ("PriceMinor/maximum", sale::MAX_PRICE_MINOR),
        ("SplitAllocation/properties/total_minor/maximum", sale::MAX_PRICE_MINOR),
        ("SplitAllocation/properties/min_minor/maximum", sale::MAX_PRICE_MINOR),
        ("AmountAward/properties/amount_minor/maximum", sale::MAX_PRICE_MINOR),
        ("PrizesAllocation/properties/prizes/maxItems", sale::MAX_PRIZES as u64),
        ("PrizesAllocation/properties/prizes/items/properties/count/maximum", u64::from(sale::MAX_AWARDS)),
        ("PrizeName/maxLength", sale::MAX_PRIZE_NAME_LENGTH as u64),
        ("DrawTerms/properties/units/maximum", u64::from(sale::MAX_AWARDS)),
        ("SaleTerms/properties/payment_window_s/minimum", u64::from(sale::MIN_PAYMENT_WINDOW_S)),
        ("SaleTerms/properties/payment_window_s/maximum", u64::from(sale::MAX_PAYMENT_WINDOW_S)),
        ("Restock/properties/units/maximum", u64::from(sale::MAX_TOTAL - 1)),
        ("Audit/properties/total/maximum", u64::from(sale::MAX_TOTAL)),
        ("Audit/properties/discrepancies/maxItems", sale::audit::MAX_DISCREPANCIES as u64),
        ("DoorTerms/properties/violations/maximum", u64::from(sale::MAX_VIOLATIONS)),
        ("DoorTerms/properties/violation_window_s/maximum", u64::from(sale::MAX_VIOLATION_WINDOW_S)),
        ("DoorTerms/properties/blocked_for_s/maximum", u64::from(sale::MAX_BLOCKED_FOR_S)),
        ("DoorTerms/properties/planned_requests_per_s/maximum", u64::from(sale::MAX_PLANNED_REQUESTS_PER_S)),
    ] {
        let pointer = format!("/components/schemas/{place}");
        assert_eq!(OPENAPI.document.pointer(&pointer), Some(&json!(bound)), "{place}");
    }
    let too_large = &OPENAPI.document["components"]["responses"]["413-TooLarge-Gateway"]["content"];
    let example = &too_large["application/problem+json"]["examples"]["TooLarge"]["value"];
    assert_eq!(example["detail"], format!("at most {} bytes", api::MAX_BODY_BYTES));
}

/// `tools/planner/tests/in_step.rs` checks what the planner takes from `infra/cdk` and `web`.
#[test]
fn the_planner_counts_on_what_the_functions_do() {
    assert_eq!(planner::deployment::ROUND_SHARDS, f64::from(ledger::ROUND_SHARDS));
    assert_eq!(catalog::SHARED_S, 1, "each cache in planner::quotas::EDGE_CACHES asks once a second");
}

/// All system tests check answers against the document; this one tests that check.
#[test]
fn what_is_not_documented_is_noticed() {
    let id = format!("lamp.1.{}", "0".repeat(32));
    let path = format!("/v1/reservations/{id}");
    let (look, cancel) = (Ask::get(&path), Ask::delete(&path));
    let headers = |of: &[(&'static str, &'static str)]| -> HeaderMap {
        of.iter().map(|&(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value))).collect()
    };
    let [as_json, no_store] = [("content-type", "application/json"), ("cache-control", "no-store")];
    let (usual, problem) =
        (headers(&[as_json, no_store]), headers(&[("content-type", "application/problem+json"), no_store]));
    let queued = json!({
        "reservation_id": id, "status": "queued", "unit": 1, "reserved_at": "2026-11-24T09:00:00Z",
        "poll_after_ms": 500
    });
    let changed = |name: &str, value: Value| with(&queued, name, Some(value));
    assert_eq!(OPENAPI.check(&look, By::Function, 200, &usual, &queued), Ok(()));
    let by_gateway = headers(&[as_json, no_store, ("apigw-requestid", "x")]);
    assert_eq!(OPENAPI.check(&look, By::Gateway, 200, &by_gateway, &queued), Ok(()));
    for (what, status, headers, body) in [
        ("a status", 202, &usual, queued.clone()),
        ("a member", 200, &usual, changed("user", json!("alice"))),
        ("a member of another status", 200, &usual, changed("pay_by", queued["reserved_at"].clone())),
        ("no moment", 200, &usual, changed("reserved_at", json!("yesterday"))),
        ("out of bounds", 200, &usual, changed("unit", json!(0))),
        ("no JSON", 200, &usual, Value::Null),
        ("a content type", 200, &headers(&[("content-type", "text/html"), no_store]), queued.clone()),
        ("a header", 200, &headers(&[as_json, no_store, ("x-powered-by", "x")]), queued.clone()),
        ("another header", 200, &headers(&[as_json, ("cache-control", "public")]), queued.clone()),
        ("no header", 200, &headers(&[as_json]), queued.clone()),
        ("a code", 404, &problem, json!({ "status": 404, "title": "", "code": "sold_out" })),
        ("without Retry-After", 503, &problem, json!({ "status": 503, "title": "", "code": "overloaded" })),
        ("words of the gateway", 401, &usual, json!({ "message": "Unauthorized" })),
    ] {
        assert!(OPENAPI.check(&look, By::Function, status, headers, &body).is_err(), "{what} is not noticed");
    }
    let mut gone = changed("status", json!("cancelled"));
    gone["ended_at"] = gone["reserved_at"].clone();
    gone.as_object_mut().unwrap().remove("poll_after_ms");
    assert_eq!(OPENAPI.check(&cancel, By::Function, 200, &usual, &gone), Ok(()));
    let explained = Ask::delete(&path).json(&json!({ "why": "no money" }));
    assert!(
        OPENAPI.check(&explained, By::Function, 200, &usual, &gone).is_err(),
        "an accepted bad request is not noticed"
    );
    let nowhere = Ask::post(&path);
    assert_eq!(OPENAPI.check(&nowhere, By::Gateway, 404, &usual, &json!({ "message": "Not Found" })), Ok(()));
    assert!(OPENAPI.check(&nowhere, By::Gateway, 200, &usual, &queued).is_err(), "an unknown route is not noticed");
}
