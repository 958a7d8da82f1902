use std::convert::Infallible;
use std::future::{Future, ready};
use std::pin::Pin;

use http::uri::PathAndQuery;
use http::{HeaderName, HeaderValue};
use lambda_http::request::LambdaRequest;
use lambda_http::{
    Adapter, Body, Error, IntoResponse, LambdaEvent, Request, RequestExt, Response, Service, service_fn,
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use runtime::Metrics;

use crate::answer_metrics::AnswerMetrics;

/// Characters that stay unescaped when a path is escaped again.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Identifies a request in its response, in the log and in the trace.
const CORRELATION_ID: HeaderName = HeaderName::from_static("x-correlation-id");

static ANSWERS: AnswerMetrics = AnswerMetrics::new();

/// A response that is sent as it is. From a plain one, `lambda_http` copies the headers and the body to find out
/// whether it is text, which the body's type says already.
struct Finished(Response<Body>);

impl IntoResponse for Finished {
    fn into_response(self) -> Pin<Box<dyn Future<Output = Response<Body>> + Send>> {
        Box::pin(ready(self.0))
    }
}

/// Answers the gateway's requests with `handler`, concurrently where Lambda sends a process several, and counts the
/// answers. Runs for the life of the process. Fails if Lambda or a stand-in for it did not start the process.
pub async fn serve<H, F>(metrics: Metrics, handler: H) -> Result<(), Error>
where
    H: Fn(Request) -> F + Clone + Send + 'static,
    F: Future<Output = Response<Body>> + Send + 'static,
{
    let metrics = metrics.before_publishing(|| ANSWERS.report());
    let answering = Adapter::from(service_fn(move |request: Request| {
        let correlation_id = correlation_id(&request).and_then(|id| HeaderValue::from_str(id).ok());
        let (answering, metrics) = (handler(request), metrics.clone());
        async move {
            let mut response = answering.await;
            if let Some(id) = correlation_id {
                response.headers_mut().insert(CORRELATION_ID, id);
            }
            ANSWERS.count(&response);
            metrics.publish_throttled();
            Ok::<_, Infallible>(Finished(response))
        }
    }));
    lambda_runtime::run_concurrent(service_fn(move |event: LambdaEvent<LambdaRequest>| {
        answering.clone().call(LambdaEvent { payload: with_uri(event.payload), ..event })
    }))
    .await
}

/// The id of a request in X-Ray and the log: the root of its trace or, without tracing, Lambda's request id.
pub fn correlation_id(request: &Request) -> Option<&str> {
    let context = request.lambda_context_ref()?;
    let trace = context.xray_trace_id.as_deref().unwrap_or_default();
    let root = trace.split(';').find_map(|part| part.trim().strip_prefix("Root="));
    Some(root.unwrap_or(&context.request_id))
}

/// Escapes the event's path and query, which the gateway has unescaped: `lambda_http` panics at an invalid URI.
pub fn with_uri(mut event: LambdaRequest) -> LambdaRequest {
    if let LambdaRequest::ApiGatewayV2(request) = &mut event {
        for part in [&mut request.raw_path, &mut request.raw_query_string].into_iter().flatten() {
            let is_plain = part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte));
            if !is_plain && (part.contains(['?', '#']) || format!("/{part}").parse::<PathAndQuery>().is_err()) {
                *part = utf8_percent_encode(part, PLAIN).to_string();
            }
        }
    }
    event
}

#[cfg(test)]
mod tests {
    use http::StatusCode;
    use serde_json::json;

    use super::*;
    use crate::{Code, Problem};

    fn path(raw_path: &str, raw_query: &str) -> String {
        let event = json!({
            "version": "2.0", "rawPath": raw_path, "rawQueryString": raw_query, "headers": { "host": "api.example" },
            "requestContext": { "stage": "$default", "http": { "method": "GET", "path": raw_path } }
        });
        let request: Request = with_uri(serde_json::from_value(event).unwrap()).into();
        request.raw_http_path().to_owned()
    }

    #[tokio::test]
    async fn a_finished_response_is_sent_like_a_plain_one() {
        let mut empty = Response::new(Body::Empty);
        *empty.status_mut() = StatusCode::NOT_MODIFIED;
        let answer = crate::json(StatusCode::OK, &json!({ "title": "灯" }));
        for response in [Problem::new(Code::SoldOut).into_response(), answer, empty] {
            let (plain, finished) = (response.clone().into_response().await, Finished(response).into_response().await);
            assert_eq!((finished.status(), finished.headers()), (plain.status(), plain.headers()));
            assert_eq!(finished.body().as_ref(), plain.body().as_ref());
        }
    }

    #[test]
    fn what_a_client_may_write_stays() {
        for plain in ["/", "/v1/sales/lamp", "/v1/admin/blocked/auth0|1@x.y", "/v1/a%20b", "/v1/灯"] {
            assert_eq!(path(plain, "cursor=1.a%20b&x"), plain);
        }
    }

    #[test]
    fn what_is_no_uri_is_escaped() {
        assert_eq!(path("/v1/a b", ""), "/v1/a%20b");
        assert_eq!(path("/v1/a?b", ""), "/v1/a%3Fb");
        assert_eq!(path("/v1/\u{0}\\<>\"^`{}#\u{7f}", ""), "/v1/%00%5C%3C%3E%22%5E%60%7B%7D%23%7F");
        assert_eq!(path("/v1", "cursor=a b\u{1}"), "/v1");
    }
}
