//! Who may cache an answer, and for how long.

use api::{Problem, json};
use headers::{ETag, HeaderMapExt, IfNoneMatch};
use http::header::{CACHE_CONTROL, VIA};
use http::{HeaderValue, StatusCode};
use lambda_http::{Body, Request, Response};
use sale::EpochMs;
use serde::Serialize;
use sha2::{Digest, Sha256};

/// Seconds for which a shared cache may answer by itself: with the process's cache, how long a change takes to show.
pub const SHARED_S: u32 = 1;

/// Browsers ask the shared cache every time, which costs the function nothing. There is no `stale-while-revalidate`,
/// which would delay changes by whole seconds. If the function fails, a page half a minute old is better than none.
pub(crate) const KEEP: HeaderValue = HeaderValue::from_static("public, max-age=0, s-maxage=1, stale-if-error=30");
/// What is missing now may exist in a moment.
const KEEP_ABSENT: HeaderValue = HeaderValue::from_static("public, max-age=0, s-maxage=1");

#[derive(Serialize)]
struct At<'a, T> {
    server_time: String,
    #[serde(flatten)]
    content: &'a T,
}

pub(crate) fn told(now: EpochMs, content: &impl Serialize) -> Response<Body> {
    json(StatusCode::OK, &At { server_time: now.to_string(), content })
}

/// The response with this content, or 304 if the client already has it.
///
/// The tag does not cover the time in the content, so it is weak. On a 304 a shared cache would keep its old body,
/// whose time its next client would take for the current one, so a request through one always gets a whole answer.
pub(crate) fn found(request: &Request, now: EpochMs, content: &impl Serialize) -> Response<Body> {
    let tag = tag_of(content);
    if knows(request, &tag) && !request.headers().contains_key(VIA) {
        tagged(unchanged(), tag, KEEP)
    } else {
        tagged(told(now, content), tag, KEEP)
    }
}

/// Like [`found`], for content without a time, with the cache policy `keep`.
pub(crate) fn kept(request: &Request, content: &impl Serialize, keep: HeaderValue) -> Response<Body> {
    let tag = tag_of(content);
    let response = if knows(request, &tag) { unchanged() } else { json(StatusCode::OK, content) };
    tagged(response, tag, keep)
}

fn knows(request: &Request, tag: &ETag) -> bool {
    request.headers().typed_get::<IfNoneMatch>().is_some_and(|known| !known.precondition_passes(tag))
}

fn unchanged() -> Response<Body> {
    let mut unchanged = Response::new(Body::Empty);
    *unchanged.status_mut() = StatusCode::NOT_MODIFIED;
    unchanged
}

fn tagged(mut response: Response<Body>, tag: ETag, keep: HeaderValue) -> Response<Body> {
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, keep);
    headers.typed_insert(tag);
    response
}

/// A 404. Caches keep it too: many may ask for a sale that was announced and is not published yet.
pub(crate) fn not_found(problem: Problem) -> Response<Body> {
    let mut response = problem.into_response();
    response.headers_mut().insert(CACHE_CONTROL, KEEP_ABSENT);
    response
}

/// The tag: equal for equal content, whichever process computes it.
fn tag_of(content: &impl Serialize) -> ETag {
    let content = serde_json::to_vec(content).expect("answers have text keys and plain values only");
    let mut start = [0; 16];
    start.copy_from_slice(&Sha256::digest(content)[..16]);
    let tag = format!("W/\"{:032x}\"", u128::from_be_bytes(start));
    tag.parse().expect("a quoted number is a tag")
}

#[cfg(test)]
mod tests {
    use api::Code;
    use serde_json::{Value, json};

    use super::*;

    fn asking(headers: &[(&'static str, &str)]) -> Request {
        let mut request = Request::new(Body::Empty);
        for (name, value) in headers {
            request.headers_mut().append(*name, value.parse().unwrap());
        }
        request
    }

    fn tag(response: &Response<Body>) -> String {
        response.headers()["etag"].to_str().unwrap().to_owned()
    }

    #[test]
    fn the_tag_is_of_the_content_and_not_of_the_time() {
        let at = |ms, content: Value| found(&asking(&[]), EpochMs(ms), &content);
        let first = at(0, json!({ "availability": "available" }));
        assert_eq!(tag(&first), tag(&at(5, json!({ "availability": "available" }))));
        assert_ne!(tag(&first), tag(&at(0, json!({ "availability": "few_left" }))));
        assert!(tag(&first).starts_with("W/\""));
        let body: Value = serde_json::from_slice(first.body()).unwrap();
        assert_eq!(body, json!({ "server_time": "1970-01-01T00:00:00.000Z", "availability": "available" }));
    }

    #[test]
    fn who_has_it_hears_304() {
        let content = json!({ "title": "A lamp" });
        let answer = |headers: &[(&'static str, &str)]| found(&asking(headers), EpochMs(0), &content);
        let known = tag(&answer(&[]));
        let strong = known.trim_start_matches("W/").to_owned();
        for header in [&known, &strong, "*", &format!("\"x\", {known}"), &format!("{known},W/\"x\"")] {
            let answer = answer(&[("if-none-match", header)]);
            assert_eq!(answer.status(), 304, "{header}");
            assert!(answer.body().is_empty());
            assert_eq!((tag(&answer), &answer.headers()["cache-control"]), (known.clone(), &KEEP));
            assert!(!answer.headers().contains_key("content-type"));
        }
        assert_eq!(answer(&[("if-none-match", "\"x\""), ("if-none-match", &known)]).status(), 304, "two headers");
        for header in ["\"x\"", "", "W/", "W/\"\"", strong.trim_matches('"')] {
            assert_eq!(answer(&[("if-none-match", header)]).status(), 200, "{header}");
        }
    }

    #[test]
    fn a_shared_cache_gets_the_time_with_every_answer() {
        let content = json!({ "title": "A lamp" });
        let known = tag(&found(&asking(&[]), EpochMs(0), &content));
        let through_cache = asking(&[("if-none-match", &known), ("via", "1.1 0123.cloudfront.net (CloudFront)")]);
        let answer = found(&through_cache, EpochMs(1), &content);
        assert_eq!((answer.status(), tag(&answer)), (StatusCode::OK, known));
    }

    #[test]
    fn what_says_no_time_need_not_be_sent_again_to_anybody() {
        let content = json!({ "seed": "00" });
        let answer = |headers: &[(&'static str, &str)]| kept(&asking(headers), &content, KEEP);
        let first = answer(&[]);
        assert_eq!(serde_json::from_slice::<Value>(first.body()).unwrap(), content);
        let again = answer(&[("if-none-match", &tag(&first)), ("via", "1.1 0123.cloudfront.net (CloudFront)")]);
        assert_eq!((again.status(), tag(&again)), (StatusCode::NOT_MODIFIED, tag(&first)));
    }

    #[test]
    fn everything_may_be_kept_for_as_long_as_a_change_may_take() {
        for response in [found(&asking(&[]), EpochMs(0), &json!({})), not_found(Problem::new(Code::UnknownSale))] {
            let header = response.headers()["cache-control"].to_str().unwrap();
            let directives: Vec<&str> = header.split(", ").collect();
            assert!(directives.contains(&"public") && directives.contains(&"max-age=0"), "{header}");
            assert!(directives.contains(&&*format!("s-maxage={SHARED_S}")), "{header}");
            assert!(!header.contains("stale-while-revalidate"), "{header}");
        }
    }
}
