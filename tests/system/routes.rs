//! `api.yaml` is the list of routes. The deployment's are made from it (`infra/cdk/lib/routes.ts`); these tests check
//! everything else that names routes against it.

use api::Code;

use crate::crates::METADATA;
use crate::prelude::*;

/// Every method that a handler could mistake for a listed one.
const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
/// Its last parameter takes the rest of the path: the gateway unescapes the path, and an id may have slashes.
const TAKES_THE_REST: &str = "/v1/admin/blocked/{user}";

type Route = (String, String);

fn documented() -> BTreeMap<Route, &'static str> {
    let route = |(method, path, operation): (String, &String, &'static Value)| {
        ((method, path.clone()), OPENAPI.function_of(operation))
    };
    OPENAPI.operations().map(route).collect()
}

pub(crate) fn filled(path: &str) -> String {
    let segment = |segment| match segment {
        "{sale_id}" => SALE.to_owned(),
        "{campaign_id}" => "autumn".to_owned(),
        "{reservation_id}" => format!("{SALE}.1.{}", "0".repeat(32)),
        "{token}" => "pass".to_owned(),
        "{round}" => "1".to_owned(),
        "{chunk}" => "0".to_owned(),
        "{queue}" => "orders".to_owned(),
        "{group}" => "members".to_owned(),
        "{user}" => "mallory".to_owned(),
        placeholder if placeholder.starts_with('{') => panic!("{path}: {placeholder} needs a value here"),
        plain => plain.to_owned(),
    };
    path.split('/').map(segment).collect::<Vec<_>>().join("/")
}

/// Listed paths, and unlisted neighbours of them.
fn paths() -> BTreeSet<String> {
    let mut paths = BTreeSet::from(["/".to_owned(), "/everything".to_owned()]);
    for (_, path) in documented().keys() {
        let (above, last) = path.rsplit_once('/').expect("a path has a slash");
        paths.extend([filled(path), filled(above), format!("/v2{}", filled(&path[3..]))]);
        if !last.starts_with('{') {
            paths.insert(filled(above) + "/nothing");
        }
        if path != TAKES_THE_REST {
            paths.insert(filled(path) + "/more");
        }
    }
    paths
}

#[tokio::test]
async fn a_route_is_known_to_its_function_and_to_no_other() {
    let lab = Lab::new().await;
    let functions: BTreeSet<&str> = documented().into_values().collect();
    assert!(functions.len() > 1, "{functions:?}");
    let mut known = BTreeSet::new();
    for path in paths() {
        for method in METHODS {
            // An operator may call every route.
            let ask = Ask { method, ..Ask::get(&path).by_operator() };
            let listed = OPENAPI.function_for(&ask);
            for function in &functions {
                let response = lab.respond(function, ask.request()).await;
                let knows = response.extensions().get() != Some(&Code::UnknownRoute);
                assert_eq!(knows, listed == Some(function), "{method} {path}, functions/{function}");
            }
            known.extend(listed.map(|_| (method, path.clone())));
        }
    }
    assert!(known.len() >= documented().len(), "{known:?}");
}

fn not_in(these: &BTreeMap<Route, String>, others: &BTreeMap<Route, String>) -> Vec<String> {
    let missing = these.iter().filter(|(route, function)| others.get(route) != Some(function));
    missing.map(|((method, path), function)| format!("{method} {path} to {function}")).collect()
}

#[test]
fn cargo_lambda_watch_knows_the_routes() {
    let router =
        METADATA.pointer("/metadata/lambda/watch/router").and_then(Value::as_object).expect("there is a router");
    let mut watched = BTreeMap::new();
    for (path, rules) in router {
        for rule in rules.as_array().expect("a path has a list of rules") {
            let said = |what: &str| rule[what].as_str().unwrap_or_else(|| panic!("{path}: no {what}")).to_owned();
            let twice = watched.insert((said("method"), path.clone()), said("function"));
            assert_eq!(twice, None, "{path} is listed twice");
        }
    }
    let documented = documented().into_iter().map(|(route, function)| (route, function.to_owned())).collect();
    assert_eq!(not_in(&watched, &documented), [] as [String; 0], "not in api.yaml");
    assert_eq!(not_in(&documented, &watched), [] as [String; 0], "not in Cargo.toml");
}

/// In the page, `…/resume` after `POST /v1/admin/sales/{sale_id}/pause` replaces the last segment.
#[test]
fn the_page_on_routes_has_every_route() {
    let page = std::fs::read_to_string(local::paths::root().join("docs/routes.md")).unwrap();
    let tables = page.split("| route | answer |\n").skip(1);
    let rows = tables.flat_map(|table| table.lines().take_while(|line| line.starts_with('|')));
    let mut told = BTreeSet::<Route>::new();
    let mut last: Option<Route> = None;
    for code in rows.flat_map(|row| row.split('`').skip(1).step_by(2)) {
        let route = match (code.split_once(' '), &last) {
            (Some((method, path)), _) if METHODS.contains(&method) => (method.to_owned(), path.to_owned()),
            (None, Some((method, path))) if code.starts_with("…/") => {
                let (above, _) = path.rsplit_once('/').expect("a path has a slash");
                (String::clone(method), code.replacen('…', above, 1))
            }
            _ => continue,
        };
        last = Some(route.clone());
        told.insert(route);
    }
    let documented: BTreeSet<Route> = documented().into_keys().collect();
    assert_eq!(told.difference(&documented).collect::<Vec<_>>(), [] as [&Route; 0], "not in api.yaml");
    assert_eq!(documented.difference(&told).collect::<Vec<_>>(), [] as [&Route; 0], "not in docs/routes.md");
}

#[test]
fn samples_are_of_routes() {
    let documented = documented();
    let mut samples = 0;
    for name in local::event::names().unwrap() {
        let event = events::sample(&name);
        let Some((method, path)) = event["routeKey"].as_str().and_then(|key| key.split_once(' ')) else { continue };
        let function = documented.get(&(method.to_owned(), path.to_owned()));
        assert_eq!(function.copied(), name.split('/').next(), "events/{name}.json, {method} {path}");
        samples += 1;
    }
    assert!(samples >= 20, "{samples}");
}
