//! The address of the API.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use http::Uri;
use http::header::HeaderValue;

#[derive(Debug, Clone)]
pub struct Target {
    url: String,
    pub(crate) tls: bool,
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) host_header: HeaderValue,
    /// The prefix of every path, such as a stage: empty, or with a leading and without a trailing slash.
    pub(crate) prefix: String,
}

/// A text that is not the address of an API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an http:// or https:// address")]
pub struct InvalidTarget;

impl FromStr for Target {
    type Err = InvalidTarget;

    fn from_str(text: &str) -> Result<Self, InvalidTarget> {
        let uri: Uri = text.parse().map_err(|_| InvalidTarget)?;
        let tls = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            _ => return Err(InvalidTarget),
        };
        let authority = uri.authority().filter(|authority| !authority.as_str().contains('@')).ok_or(InvalidTarget)?;
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        if host.is_empty() || uri.query().is_some() {
            return Err(InvalidTarget);
        }
        let usual_port = if tls { 443 } else { 80 };
        // The default only applies if no port is given: otherwise tokens meant for an invalid port would go to
        // whatever listens on the default one.
        let port = match authority.as_str().strip_prefix(authority.host()) {
            Some("") => usual_port,
            Some(_) => authority.port_u16().filter(|port| *port != 0).ok_or(InvalidTarget)?,
            None => return Err(InvalidTarget),
        };
        Ok(Self {
            url: text.trim_end_matches('/').to_owned(),
            tls,
            host,
            port,
            host_header: HeaderValue::from_str(authority.as_str()).map_err(|_| InvalidTarget)?,
            prefix: uri.path().trim_end_matches('/').to_owned(),
        })
    }
}

impl Target {
    /// As given, without a trailing slash.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The same with `127.0.0.1` instead of `localhost` and `[::1]`: `make up` is known by that address.
    #[must_use]
    pub fn on_ipv4_loopback(&self) -> Self {
        if !self.host.eq_ignore_ascii_case("localhost") && self.host.parse() != Ok(Ipv6Addr::LOCALHOST) {
            return self.clone();
        }
        let scheme = if self.tls { "https" } else { "http" };
        let url = format!("{scheme}://{}:{}{}", Ipv4Addr::LOCALHOST, self.port, self.prefix);
        url.parse().unwrap_or_else(|_| self.clone())
    }

    /// Whether it is on this machine. Only loopback addresses and the name `localhost` are: any other name may lead
    /// elsewhere, whatever it resolves to now.
    pub fn is_loopback(&self) -> bool {
        self.host.eq_ignore_ascii_case("localhost") || self.host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
    }

    /// The address to connect to, if it is on the IPv4 loopback.
    pub(crate) fn loopback_v4(&self) -> Option<Ipv4Addr> {
        if self.host.eq_ignore_ascii_case("localhost") {
            return Some(Ipv4Addr::LOCALHOST);
        }
        self.host.parse().ok().filter(Ipv4Addr::is_loopback)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_the_loopback() {
        for url in ["http://127.0.0.1:3000", "http://127.9.9.9", "https://localhost/x", "http://[::1]:80"] {
            assert!(url.parse::<Target>().unwrap().is_loopback(), "{url}");
        }
        for url in [
            "https://a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com",
            "http://10.0.0.1",
            "http://localhost.example.org",
            "http://127.0.0.1.example.org",
            "http://0.0.0.0",
        ] {
            assert!(!url.parse::<Target>().unwrap().is_loopback(), "{url}");
        }
    }

    #[test]
    fn names_of_the_loopback_are_one() {
        let on_ipv4 = |url: &str| url.parse::<Target>().unwrap().on_ipv4_loopback().url().to_owned();
        for url in ["http://localhost:3000", "http://LOCALHOST:3000/", "http://[::1]:3000", "http://127.0.0.1:3000"] {
            assert_eq!(on_ipv4(url), "http://127.0.0.1:3000", "{url}");
        }
        assert_eq!(on_ipv4("https://localhost/prod/"), "https://127.0.0.1:443/prod");
        assert_eq!(on_ipv4("https://example.org/prod/"), "https://example.org/prod");
        assert_eq!(on_ipv4("http://[::2]:3000"), "http://[::2]:3000");
    }

    #[test]
    fn an_address_is_taken_apart() {
        let target: Target = "https://example.org/prod/".parse().unwrap();
        assert_eq!((target.tls, &*target.host, target.port, &*target.prefix), (true, "example.org", 443, "/prod"));
        let target: Target = "http://[::1]:8080".parse().unwrap();
        assert_eq!((target.tls, &*target.host, target.port, &*target.prefix), (false, "::1", 8080, ""));
        assert_eq!(target.host_header, "[::1]:8080");
    }

    #[test]
    fn other_texts_are_refused() {
        let ports = ["http://127.0.0.1:99999", "http://[::1]:65536", "https://example.org:0", "http://a:"];
        let others = ["", "lamp", "ftp://example.org", "127.0.0.1:3000", "http://", "http://a@b", "http://a/?b=c"];
        for text in ports.into_iter().chain(others) {
            assert!(text.parse::<Target>().is_err(), "{text}");
        }
    }
}
