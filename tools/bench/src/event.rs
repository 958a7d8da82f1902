use std::borrow::Cow;

use serde_json::{Value, json};

/// A request that the gateway passes on to a function.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) method: &'static str,
    pub(crate) path: String,
    pub(crate) user: String,
    pub(crate) ip: Cow<'static, str>,
    pub(crate) key: Option<String>,
}

impl Request {
    pub(crate) fn reserve(sale: &str, pass: &str, user: &str, ip: impl Into<Cow<'static, str>>) -> Self {
        let path = format!("/v1/sales/{sale}/reservations/{pass}");
        Self { method: "POST", path, user: user.to_owned(), ip: ip.into(), key: Some("first-try".to_owned()) }
    }

    pub(crate) fn look(id: &str, user: &str, ip: impl Into<Cow<'static, str>>) -> Self {
        let path = format!("/v1/reservations/{id}");
        Self { method: "GET", path, user: user.to_owned(), ip: ip.into(), key: None }
    }

    /// The event in the format of API Gateway's HTTP APIs.
    pub(crate) fn event(&self) -> Vec<u8> {
        let Self { method, path, user, ip, key } = self;
        let mut headers = json!({ "accept": "*/*", "content-length": "0", "host": "shop.example" });
        if let Some(key) = key {
            headers["idempotency-key"] = json!(key);
        }
        let event = json!({
            "version": "2.0", "routeKey": "$default", "rawPath": path, "rawQueryString": "", "headers": headers,
            "requestContext": {
                "accountId": "123456789012", "apiId": "a1b2c3d4e5", "stage": "$default", "routeKey": "$default",
                "requestId": "JKJaXmPLvHcESHA=", "domainName": "shop.example", "domainPrefix": "shop",
                "time": "24/Nov/2026:09:00:00 +0000", "timeEpoch": 1_795_510_800_000u64,
                "authorizer": { "jwt": { "claims": { "sub": user, "iss": "https://issuer.example" }, "scopes": null } },
                "http": { "method": method, "path": path, "protocol": "HTTP/1.1", "sourceIp": ip, "userAgent": "bench" },
            },
            "isBase64Encoded": false,
        });
        event.to_string().into_bytes()
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Value,
}

impl Answer {
    pub(crate) fn read(response: &[u8]) -> Option<Self> {
        let response: Value = serde_json::from_slice(response).ok()?;
        let status = u16::try_from(response["statusCode"].as_u64()?).ok()?;
        let body = serde_json::from_str(response["body"].as_str().unwrap_or("null")).ok()?;
        Some(Self { status, body })
    }

    /// `202`, or `409 sold_out`.
    pub(crate) fn name(&self) -> String {
        match self.body["code"].as_str() {
            Some(code) => format!("{} {code}", self.status),
            None => self.status.to_string(),
        }
    }
}
