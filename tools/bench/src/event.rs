use serde_json::json;

/// A request for a unit, as API Gateway's HTTP APIs pass it on to a function.
pub(crate) fn reserve(sale: &str, pass: &str, user: &str, ip: &str, key: &str) -> Vec<u8> {
    let path = format!("/v1/sales/{sale}/reservations/{pass}");
    let event = json!({
        "version": "2.0", "routeKey": "$default", "rawPath": path, "rawQueryString": "",
        "headers": { "accept": "*/*", "content-length": "0", "host": "shop.example", "idempotency-key": key },
        "requestContext": {
            "accountId": "123456789012", "apiId": "a1b2c3d4e5", "stage": "$default", "routeKey": "$default",
            "requestId": "JKJaXmPLvHcESHA=", "domainName": "shop.example", "domainPrefix": "shop",
            "time": "24/Nov/2026:09:00:00 +0000", "timeEpoch": 1_795_510_800_000u64,
            "authorizer": { "jwt": { "claims": { "sub": user, "iss": "https://issuer.example" }, "scopes": null } },
            "http": { "method": "POST", "path": path, "protocol": "HTTP/1.1", "sourceIp": ip, "userAgent": "bench" },
        },
        "isBase64Encoded": false,
    });
    event.to_string().into_bytes()
}
