//! Finds the route of a request.

use std::collections::HashMap;

use anyhow::{Context, Result, bail, ensure};
use matchit::Router;

/// Routes by method and path, the most specific first.
pub(super) struct Routes<T> {
    by_method: HashMap<String, Router<T>>,
    default: Option<T>,
}

impl<T> Routes<T> {
    /// Builds routes from their keys: `METHOD /path/{parameter}`, `ANY /path`, or `$default`. Fails if a key has
    /// another form, or two match the same requests.
    pub(super) fn new(routes: impl IntoIterator<Item = (String, T)>) -> Result<Self> {
        let mut made = Self { by_method: HashMap::new(), default: None };
        for (key, route) in routes {
            made.add(&key, route).with_context(|| format!("the route {key}"))?;
        }
        Ok(made)
    }

    fn add(&mut self, key: &str, route: T) -> Result<()> {
        if key == "$default" {
            self.default = Some(route);
            return Ok(());
        }
        let Some((method, path)) = key.split_once(' ') else { bail!("it has no path") };
        ensure!(method != "ANY", "it takes any method, which this gateway does not support");
        Ok(self.by_method.entry(method.to_owned()).or_default().insert(pattern(path), route)?)
    }

    /// The route of a request, if there is one, and the values of its path parameters. `path` must be decoded.
    pub(super) fn find<'r, 'p>(&'r self, method: &str, path: &'p str) -> Option<(&'r T, Vec<(&'r str, &'p str)>)> {
        if let Some(found) = self.by_method.get(method).and_then(|router| router.at(path).ok())
            // A parameter is never empty.
            && found.params.iter().all(|(_, value)| !value.is_empty())
        {
            return Some((found.value, found.params.iter().collect()));
        }
        self.default.as_ref().map(|route| (route, Vec::new()))
    }
}

/// A path in the router's syntax: `{proxy+}` matches the rest.
fn pattern(path: &str) -> String {
    let segment = |segment: &str| match segment.strip_prefix('{').and_then(|rest| rest.strip_suffix("+}")) {
        Some(name) => format!("{{*{name}}}"),
        None => segment.to_owned(),
    };
    path.split('/').map(segment).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(keys: &[&str], method: &str, path: &str) -> Option<String> {
        let routes = Routes::new(keys.iter().map(|key| ((*key).to_owned(), (*key).to_owned()))).unwrap();
        routes.find(method, path).map(|(route, _)| route.clone())
    }

    #[test]
    fn the_most_specific_route_wins_wherever_it_stands() {
        let keys = ["GET /v1/{proxy+}", "GET /v1/sales/{sale}", "GET /v1/sales/all", "$default"];
        for (path, expected) in [
            ("/v1/sales/all", "GET /v1/sales/all"),
            ("/v1/sales/lamp", "GET /v1/sales/{sale}"),
            ("/v1/sales/lamp/live", "GET /v1/{proxy+}"),
            ("/elsewhere", "$default"),
        ] {
            assert_eq!(route(&keys, "GET", path).as_deref(), Some(expected), "{path}");
        }
        assert_eq!(route(&keys, "POST", "/v1/sales/all").as_deref(), Some("$default"));
    }

    #[test]
    fn what_has_no_route_is_not_found() {
        let keys = ["GET /v1/orders", "POST /v1/sales/{sale}/tokens"];
        for (method, path) in [
            ("POST", "/v1/orders"),
            ("GET", "/v1/orders/"),
            ("GET", "/v1"),
            ("get", "/v1/orders"),
            ("POST", "/v1/sales//tokens"),
            ("POST", "/v1/sales/a/b/tokens"),
        ] {
            assert_eq!(route(&keys, method, path), None, "{method} {path}");
        }
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for key in ["ANY /v1", "GET", ""] {
            assert!(Routes::new([(key.to_owned(), ())]).is_err(), "{key:?}");
        }
        assert!(Routes::new([("GET /{a}".to_owned(), ()), ("GET /{b}".to_owned(), ())]).is_err());
    }
}
