use http::header::CONTENT_TYPE;
use lambda_http::{Body, Request};
use serde::de::DeserializeOwned;

use crate::{Code, Problem};

/// The largest body in bytes: several times the largest that any route documents.
pub const MAX_BODY_BYTES: usize = 16 * 1024;

/// The body as text, of at most [`MAX_BODY_BYTES`]. Fails with 413 above [`MAX_BODY_BYTES`], 400 if it is not UTF-8.
pub fn text_body(request: &Request) -> Result<&str, Problem> {
    text_up_to(request, MAX_BODY_BYTES)
}

fn text_up_to(request: &Request, most: usize) -> Result<&str, Problem> {
    let bytes: &[u8] = match request.body() {
        Body::Text(text) => text.as_bytes(),
        Body::Binary(bytes) => bytes,
        _ => &[],
    };
    if bytes.len() > most {
        return Err(Problem::new(Code::TooLarge).detail(format!("at most {most} bytes")));
    }
    std::str::from_utf8(bytes).map_err(|_| not_utf_8())
}

fn not_utf_8() -> Problem {
    Problem::invalid("the body is not UTF-8")
}

/// Checks that there is no body, or an empty JSON object. Fails as [`json_body`], and 400 for an object with fields.
pub fn no_body(request: &Request) -> Result<(), Problem> {
    #[derive(serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Nothing {}
    if text_body(request)?.is_empty() { Ok(()) } else { json_body::<Nothing>(request).map(|_| ()) }
}

/// The body as JSON of the shape `T`, which should deny unknown fields. Fails with 415 unless the content type is
/// `application/json`, 413 above [`MAX_BODY_BYTES`], 400 with the path of the field that is wrong.
pub fn json_body<T: DeserializeOwned>(request: &Request) -> Result<T, Problem> {
    json_body_up_to(request, MAX_BODY_BYTES)
}

/// Like [`json_body`], for bodies of up to `most` bytes. Fails as [`json_body`], with 413 above `most` bytes.
pub fn json_body_up_to<T: DeserializeOwned>(request: &Request, most: usize) -> Result<T, Problem> {
    let body = text_up_to(request, most)?;
    // A gateway that takes the body for text has put this in place of what it could not read.
    if body.contains(char::REPLACEMENT_CHARACTER) { Err(not_utf_8()) } else { json_of(request, body) }
}

/// Like [`json_body`], for a body with a verified signature, which no gateway has changed. Fails as [`json_body`].
pub fn signed_json_body<T: DeserializeOwned>(request: &Request) -> Result<T, Problem> {
    json_of(request, text_body(request)?)
}

fn json_of<T: DeserializeOwned>(request: &Request, body: &str) -> Result<T, Problem> {
    let content_type = request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = content_type.split(';').next().unwrap_or_default().trim();
    if !essence.eq_ignore_ascii_case("application/json") {
        return Err(Problem::new(Code::UnsupportedMediaType));
    }
    // Serde would also accept the fields in order as a list, which no route documents.
    if !body.trim_ascii_start().starts_with('{') {
        return Err(Problem::invalid("the body is not a JSON object"));
    }
    let mut json = serde_json::Deserializer::from_str(body);
    let value = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let path = error.path().to_string();
        if path == "." {
            return Problem::invalid(error.inner().to_string());
        }
        let detail = format!("{path}: {}", error.inner());
        Problem::invalid_fields([(path, detail)])
    })?;
    json.end().map_err(|_| Problem::invalid("the body has more than one JSON value"))?;
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(body: Body) -> Request {
        let mut request = Request::new(body);
        request.headers_mut().insert(CONTENT_TYPE, "application/json".parse().unwrap());
        request
    }

    #[test]
    fn a_body_that_is_not_utf_8_is_refused_however_the_gateway_passes_it_on() {
        let latin_1 = b"{\"title\": \"caf\xe9\"}";
        let replaced = String::from_utf8_lossy(latin_1).into_owned();
        for body in [Body::Binary(latin_1.to_vec()), Body::Text(replaced)] {
            assert!(json_body::<serde_json::Value>(&json(body)).is_err());
        }
        assert!(json_body::<serde_json::Value>(&json(Body::Text("{\"title\": \"café\"}".to_owned()))).is_ok());
        // What a provider signed is what it meant.
        let mangled = Body::Text("{\"name\": \"caf\u{fffd}\"}".to_owned());
        assert!(signed_json_body::<serde_json::Value>(&json(mangled)).is_ok());
    }
}
