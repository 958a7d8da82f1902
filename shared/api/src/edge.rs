use lambda_http::Request;
use lambda_http::request::RequestContext;
use runtime::Secret;
use subtle::ConstantTimeEq;

/// Says that a request came through the CDN: its own secret, which it writes over whatever a client sends.
const KEY_HEADER: &str = "x-door-key";
/// The client's address as the CDN saw it, likewise.
const VIEWER_HEADER: &str = "x-viewer-address";

/// The CDN's secret, where there is a CDN in front.
#[derive(Debug, Clone)]
pub struct EdgeKey(Option<Secret>);

impl EdgeKey {
    /// The key in `secret`; none if there is no CDN.
    pub const fn new(secret: Option<Secret>) -> Self {
        Self(secret)
    }

    /// Puts the client's address, of a request that came through the CDN, where the gateway puts the address of who asks
    /// it: behind a CDN that is the CDN. Any other request stays as it is, and so does this one if the secret cannot be
    /// read: one rate for many is better than no answer for all.
    pub async fn take_viewer_address(&self, request: &mut Request) {
        let Some(secret) = &self.0 else { return };
        match secret.get().await {
            Ok(key) => take_viewer_address(request, &key),
            Err(error) => {
                tracing::error!(error = &error as &dyn std::error::Error, "the client's address is not known")
            }
        }
    }
}

fn take_viewer_address(request: &mut Request, key: &str) {
    let header = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if !bool::from(header(KEY_HEADER).as_bytes().ct_eq(key.as_bytes())) {
        return;
    }
    let viewer = header(VIEWER_HEADER).to_owned();
    if let Some(RequestContext::ApiGatewayV2(context)) = request.extensions_mut().get_mut::<RequestContext>() {
        context.http.source_ip = Some(viewer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client_ip;

    const KEY: &str = "0123456789abcdef0123456789abcdef";

    fn seen(headers: &str) -> Option<String> {
        let event = format!(
            r#"{{"version":"2.0","rawPath":"/","headers":{{{headers}}},
               "requestContext":{{"http":{{"method":"GET","path":"/","sourceIp":"192.0.2.1"}}}}}}"#
        );
        let mut request = lambda_http::request::from_str(&event).unwrap();
        take_viewer_address(&mut request, KEY);
        client_ip(&request)
    }

    #[test]
    fn the_cdn_says_where_a_request_came_from() {
        let headers = format!(r#""x-door-key":"{KEY}","x-viewer-address":"2001:db8:1:2:3::4""#);
        assert_eq!(seen(&headers).as_deref(), Some("2001:db8:1:2::/64"));
    }

    #[test]
    fn a_client_does_not() {
        let wrong = KEY.replace('0', "1");
        for headers in [
            r#""x-viewer-address":"198.51.100.9""#.to_owned(),
            r#""x-door-key":"","x-viewer-address":"198.51.100.9""#.to_owned(),
            format!(r#""x-door-key":"{wrong}","x-viewer-address":"198.51.100.9""#),
            format!(r#""x-door-key":"{}","x-viewer-address":"198.51.100.9""#, &KEY[1..]),
        ] {
            assert_eq!(seen(&headers).as_deref(), Some("192.0.2.1"), "{headers}");
        }
    }
}
