use std::net::{IpAddr, Ipv6Addr};

use lambda_http::request::RequestContext;
use lambda_http::{Request, RequestExt};

/// The client's address as seen by the gateway, or by the CDN in front of it ([`Edge`](crate::Edge)). No other header
/// is read, since a client could write it. For IPv6 it is the network, `NETWORK/64`, which one customer usually has.
pub fn client_ip(request: &Request) -> Option<String> {
    Some(match client_network(request)? {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(network) => format!("{network}/64"),
    })
}

/// What [`client_ip`] writes: an IPv4 address, or the first address of an IPv6 network.
pub fn client_network(request: &Request) -> Option<IpAddr> {
    Some(match client_address(request)? {
        IpAddr::V4(address) => address.into(),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
    })
}

/// The client's whole address. An IPv4 address is never written as IPv6.
pub fn client_address(request: &Request) -> Option<IpAddr> {
    let RequestContext::ApiGatewayV2(context) = request.request_context_ref()? else { return None };
    Some(context.http.source_ip.as_ref()?.parse::<IpAddr>().ok()?.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(context: &str) -> Option<String> {
        let event = format!(
            r#"{{"version":"2.0","rawPath":"/","headers":{{"x-forwarded-for":"198.51.100.9, 203.0.113.9",
                "forwarded":"for=198.51.100.9","x-real-ip":"198.51.100.9","cf-connecting-ip":"198.51.100.9"}},
               "requestContext":{{"http":{{"method":"GET","path":"/"{context}}}}}}}"#
        );
        client_ip(&lambda_http::request::from_str(&event).unwrap())
    }

    #[test]
    fn the_gateway_says_where_a_request_came_from() {
        for (source, ip) in [
            ("203.0.113.7", "203.0.113.7"),
            ("::ffff:203.0.113.7", "203.0.113.7"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
            ("2001:db8:1:2::", "2001:db8:1:2::/64"),
            ("2001:DB8:0:0:ffff::1", "2001:db8::/64"),
        ] {
            assert_eq!(from(&format!(r#","sourceIp":"{source}""#)).as_deref(), Some(ip));
        }
    }

    #[test]
    fn a_header_never_does() {
        for context in ["", r#","sourceIp":null"#, r#","sourceIp":"""#, r#","sourceIp":"198.51.100.9, 203.0.113.7""#] {
            assert_eq!(from(context), None, "{context}");
        }
    }
}
