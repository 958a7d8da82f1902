use http::HeaderMap;
use lambda_http::Request;

use crate::openapi::By;
use crate::prelude::*;

/// An answer from a handler or through the gateway.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    /// Null if it is not JSON; the text of a file.
    pub(crate) body: Value,
}

fn read(headers: &HeaderMap, body: &[u8]) -> Value {
    let said = headers.get("content-type").and_then(|value| value.to_str().ok()).unwrap_or_default();
    match said.split(';').next().unwrap_or_default() {
        "text/csv" | "application/jsonl" => String::from_utf8(body.to_vec()).expect("files are UTF-8").into(),
        _ => serde_json::from_slice(body).unwrap_or_default(),
    }
}

impl Answer {
    #[track_caller]
    pub(crate) fn of_handler(ask: &Ask, response: Response<Body>) -> Self {
        let (parts, body) = response.into_parts();
        let body = read(&parts.headers, &body);
        Self { status: parts.status.as_u16(), headers: parts.headers, body }.documented(ask, By::Function)
    }

    /// What a function's program makes of an event: a handler's answer, and the headers that every answer gets.
    pub(crate) fn of_program(ask: &Ask, made: &[u8]) -> Self {
        let made: Value = serde_json::from_slice(made).expect("an answer to the gateway");
        let status = made["statusCode"].as_u64().and_then(|status| status.try_into().ok()).expect("a status");
        let headers: HeaderMap = serde_json::from_value::<HashMap<String, String>>(made["headers"].clone())
            .ok()
            .and_then(|headers| (&headers).try_into().ok())
            .expect("headers");
        let body = read(&headers, made["body"].as_str().unwrap_or_default().as_bytes());
        Self { status, headers, body }.documented(ask, By::Gateway)
    }

    pub(crate) async fn of_gateway(ask: &Ask, response: reqwest::Response) -> Self {
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let body = read(&headers, &response.bytes().await.unwrap());
        Self { status, headers, body }.documented(ask, By::Gateway)
    }

    /// Checks it against the API's document.
    #[track_caller]
    fn documented(self, ask: &Ask, by: By) -> Self {
        if let Err(error) = OPENAPI.check(ask, by, self.status, &self.headers, &self.body) {
            panic!("the API's document, {} {:.200}: {error}\n{self:?}", ask.method, ask.path);
        }
        self
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    pub(crate) fn text(&self, member: &str) -> &str {
        self.body[member].as_str().unwrap_or_else(|| panic!("no {member} in {self:?}"))
    }

    #[track_caller]
    pub(crate) fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{self:?}");
        assert_eq!(self.header("content-type"), "application/json");
        assert_eq!(self.header("cache-control"), "no-store");
        self
    }

    /// Asserts that the answer is this problem, in the form of RFC 9457, and returns it.
    #[track_caller]
    pub(crate) fn problem(self, status: u16, code: &str) -> Self {
        assert_eq!((self.status, self.body["code"].as_str()), (status, Some(code)), "{self:?}");
        assert_eq!(self.header("content-type"), "application/problem+json");
        assert_eq!(self.body["status"], status);
        assert!(self.body["title"].is_string());
        self
    }
}

/// A function that answers requests, called directly.
pub(crate) trait Handler: Sync {
    fn respond(&self, request: Request) -> impl Future<Output = Response<Body>> + Send;

    fn answer(&self, ask: &Ask) -> impl Future<Output = Answer> + Send {
        async move { Answer::of_handler(ask, self.respond(ask.request()).await) }
    }
}

macro_rules! handlers {
    ($($function:ident: $deps:ident),*) => {
        $(impl Handler for $function::$deps {
            async fn respond(&self, request: Request) -> Response<Body> {
                Box::pin($function::handle(self, request)).await
            }
        })*

        /// Answers with the function of this name in this process.
        pub(crate) async fn respond(function: &str, process: &Context, request: Request) -> Response<Body> {
            $(if function == stringify!($function) {
                return $function::$deps::new(process).unwrap().respond(request).await;
            })*
            panic!("{function} answers no requests here")
        }
    };
}
handlers!(
    admin: AdminDeps,
    admission: AdmissionDeps,
    catalog: CatalogDeps,
    payment: PaymentDeps,
    reservation: ReservationDeps,
    waiting_room: WaitingRoomDeps
);
