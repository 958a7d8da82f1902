use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime};

use aws_config::SdkConfig;
use aws_config::retry::RetryConfig;
use aws_config::timeout::TimeoutConfig;
use aws_credential_types::Credentials;
use aws_credential_types::provider::error::CredentialsError;
use aws_credential_types::provider::{ProvideCredentials as _, SharedCredentialsProvider};
use aws_runtime::retries::classifiers::{THROTTLING_ERRORS, TRANSIENT_ERRORS};
use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningParams, SigningSettings, sign};
use aws_sigv4::sign::v4;
use aws_smithy_runtime_api::client::connection::CaptureSmithyConnection;
use aws_smithy_runtime_api::client::http::{HttpConnector as _, SharedHttpConnector};
use aws_smithy_runtime_api::client::identity::Identity;
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_types::DateTime;
use aws_smithy_types::body::SdkBody;
use aws_smithy_types::date_time::Format;
use backon::{ExponentialBuilder, Retryable as _};
use http_body_util::BodyExt as _;
use serde_json::Value;
use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::aws::{ATTEMPT_TIMEOUT, CALL_TIMEOUT, CONNECT_TIMEOUT, http_connector};

/// Credentials are not used for the last part of their time: the request has to arrive, and clocks differ.
const EXPIRY_MARGIN: Duration = Duration::from_secs(60);

/// How long new credentials may take while the old ones are still good.
const RENEWAL_TIMEOUT: Duration = Duration::from_secs(1);
/// How far AWS's clock has to be from this one's before a refusal is blamed on that: AWS allows five minutes. The codes are
/// those that the SDK takes for it (aws-runtime, `service_clock_skew`).
const SKEW_S: i64 = 4 * 60;
const SKEWED: &str =
    "AccessDeniedException AuthFailure InvalidSignatureException RequestTimeTooSkewed SignatureDoesNotMatch";

type Source = Box<dyn std::error::Error + Send + Sync>;

/// Why a service of AWS did not do what it was asked to. Contains neither what was sent nor what a success returned.
#[derive(Debug, thiserror::Error)]
pub enum AwsError {
    /// No request could be made, for lack of credentials or of a valid address.
    #[error("the request to AWS could not be made")]
    NotSent(#[source] Source),
    /// No answer, or none in time. The service may have done what it was asked to.
    #[error("AWS did not answer")]
    NoAnswer(#[source] Source),
    /// With the service's code for the reason, and its explanation, if it says them.
    #[error("AWS answered {status} {code}: {message}")]
    Refused { status: u16, code: String, message: String },
    #[error("AWS's answer cannot be read")]
    Unreadable(#[source] serde_json::Error),
}

impl AwsError {
    /// Whether the same request may succeed in a moment.
    fn is_transient(&self) -> bool {
        match self {
            Self::NoAnswer(_) => true,
            Self::Refused { status, code, .. } => {
                *status == 429
                    || *status >= 500
                    || THROTTLING_ERRORS.iter().chain(TRANSIENT_ERRORS).any(|transient| transient == code)
            }
            Self::NotSent(_) | Self::Unreadable(_) => false,
        }
    }

    /// A refusal, as the SDK's clients read it: a code may be `namespace#Code:address`.
    fn refused(status: u16, header: Option<&str>, body: &[u8]) -> Self {
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        let code = header.or(body["code"].as_str()).or(body["__type"].as_str()).unwrap_or_default();
        let code = code.split(':').next().unwrap_or_default();
        let code = code.split_once('#').map_or(code, |(_, code)| code);
        let message = body["message"].as_str().or(body["Message"].as_str()).unwrap_or_default();
        Self::Refused { status, code: code.to_owned(), message: message.to_owned() }
    }
}

/// A client of an AWS service of which one or two operations are used: the SDK's client takes many times as long to
/// compile. It takes its credentials, endpoint, time limits and number of attempts from the configuration, as the SDK's
/// clients do.
#[derive(Clone)]
pub struct AwsClient(Arc<Inner>);

struct Inner {
    /// The service's name in signatures, and in the name of its host.
    service: &'static str,
    /// Without a trailing slash.
    endpoint: String,
    region: String,
    http: SharedHttpConnector,
    provider: SharedCredentialsProvider,
    /// The credentials that the provider returned last.
    credentials: Mutex<Option<Credentials>>,
    /// How far AWS's clock is ahead of this one, in seconds, once that matters.
    ahead_s: AtomicI64,
    attempt_timeout: Duration,
    call_timeout: Duration,
    backoff: ExponentialBuilder,
}

struct Request<'a> {
    method: &'static str,
    /// Percent-encoded.
    path: &'a str,
    headers: &'a [(&'static str, &'static str)],
    body: &'a [u8],
}

impl AwsClient {
    pub fn secrets_manager(config: &SdkConfig) -> Self {
        Self::new(config, "secretsmanager", None)
    }

    pub fn event_bridge(config: &SdkConfig) -> Self {
        Self::new(config, "events", None)
    }

    /// API Gateway, for the stage of an API whose management address is `endpoint`.
    pub fn api_gateway(config: &SdkConfig, endpoint: impl Into<String>) -> Self {
        Self::new(config, "execute-api", Some(endpoint.into()))
    }

    fn new(config: &SdkConfig, service: &'static str, endpoint: Option<String>) -> Self {
        let connect_timeout = config.timeout_config().and_then(TimeoutConfig::connect_timeout);
        Self::over(http_connector(connect_timeout.unwrap_or(CONNECT_TIMEOUT)), config, service, endpoint)
    }

    fn over(http: SharedHttpConnector, config: &SdkConfig, service: &'static str, endpoint: Option<String>) -> Self {
        let region = config.region().expect("every configuration names its region").to_string();
        let endpoint = endpoint.or_else(|| config.endpoint_url().map(str::to_owned)).unwrap_or_else(|| {
            let domain = match region.split('-').next() {
                Some("cn") => "amazonaws.com.cn",
                Some("eusc") => "amazonaws.eu",
                _ => "amazonaws.com",
            };
            format!("https://{service}.{region}.{domain}")
        });
        let timeouts = config.timeout_config();
        let retries = config.retry_config().cloned().unwrap_or_else(RetryConfig::standard);
        // The SDK's pauses have a random length of up to this, twice this, and so on. Here a random part of up to as
        // much is added to a third: on average they are the same.
        let backoff = ExponentialBuilder::new().with_min_delay(retries.initial_backoff() / 3).with_jitter();
        Self(Arc::new(Inner {
            service,
            endpoint: endpoint.trim_end_matches('/').to_owned(),
            region,
            http,
            provider: config.credentials_provider().expect("every configuration has credentials"),
            credentials: Mutex::default(),
            ahead_s: AtomicI64::new(0),
            attempt_timeout: timeouts.and_then(TimeoutConfig::operation_attempt_timeout).unwrap_or(ATTEMPT_TIMEOUT),
            call_timeout: timeouts.and_then(TimeoutConfig::operation_timeout).unwrap_or(CALL_TIMEOUT),
            backoff: backoff.with_max_times(retries.max_attempts().saturating_sub(1) as usize),
        }))
    }

    /// Calls an operation of a service that speaks AWS's JSON protocol, for example `secretsmanager.GetSecretValue`.
    /// Fails if the service refuses, or does not answer; it may have done what it was asked to then.
    pub async fn call(&self, target: &'static str, input: &Value) -> Result<Value, AwsError> {
        let headers = [("content-type", "application/x-amz-json-1.1"), ("x-amz-target", target)];
        let body = input.to_string();
        let request = Request { method: "POST", path: "/", headers: &headers, body: body.as_bytes() };
        serde_json::from_slice(&self.send(&request).await?).map_err(AwsError::Unreadable)
    }

    /// Posts a body to a percent-encoded path. Fails if the service refuses, or is silent; it may have the body then.
    pub async fn post(&self, path: &str, body: &[u8]) -> Result<(), AwsError> {
        let headers = [("content-type", "application/octet-stream")];
        self.send(&Request { method: "POST", path, headers: &headers, body }).await.map(drop)
    }

    /// Deletes what is at a percent-encoded path. Fails if the service refuses, or is silent; it may be deleted then.
    pub async fn delete(&self, path: &str) -> Result<(), AwsError> {
        self.send(&Request { method: "DELETE", path, headers: &[], body: &[] }).await.map(drop)
    }

    /// Returns the body of a success.
    async fn send(&self, request: &Request<'_>) -> Result<Vec<u8>, AwsError> {
        let attempts = (|| self.attempt(request)).retry(self.0.backoff).when(AwsError::is_transient);
        timeout(self.0.call_timeout, attempts).await.unwrap_or_else(|late| Err(AwsError::NoAnswer(late.into())))
    }

    async fn attempt(&self, request: &Request<'_>) -> Result<Vec<u8>, AwsError> {
        let connection = CaptureSmithyConnection::new();
        let answer = timeout(self.0.attempt_timeout, self.answer(request, &connection)).await;
        let answer = answer.unwrap_or_else(|late| Err(AwsError::NoAnswer(late.into())));
        // The next attempt would hang on a connection that is silent, too.
        if matches!(answer, Err(AwsError::NoAnswer(_) | AwsError::Refused { status: 500.., .. }))
            && let Some(connection) = connection.get()
        {
            connection.poison();
        }
        answer
    }

    async fn answer(&self, request: &Request<'_>, connection: &CaptureSmithyConnection) -> Result<Vec<u8>, AwsError> {
        let credentials = self.credentials().await.map_err(|error| AwsError::NotSent(error.into()))?;
        let mut signed = self.signed(request, &credentials.into()).map_err(AwsError::NotSent)?;
        signed.add_extension(connection.clone());
        let response = self.0.http.call(signed).await.map_err(|error| {
            // The connector's word for a request that cannot be sent.
            if error.is_user() { AwsError::NotSent(error.into()) } else { AwsError::NoAnswer(error.into()) }
        })?;
        let status = response.status();
        let code = response.headers().get("x-amzn-errortype").map(str::to_owned);
        let date = response.headers().get("date").map(str::to_owned);
        let body = response.into_body().collect().await.map_err(AwsError::NoAnswer)?.to_bytes();
        if status.is_success() {
            return Ok(body.into());
        }
        let refused = AwsError::refused(status.as_u16(), code.as_deref(), &body);
        if self.was_wrong_about_the_time(&refused, date.as_deref()) {
            return Err(AwsError::NoAnswer("this clock is wrong; it is corrected by AWS's from now on".into()));
        }
        Err(refused)
    }

    /// Whether a refusal may be due to this clock. Later requests are signed with the time that the answer tells.
    fn was_wrong_about_the_time(&self, refused: &AwsError, date: Option<&str>) -> bool {
        let AwsError::Refused { code, .. } = refused else { return false };
        let Some(date) = date.and_then(|date| DateTime::from_str(date, Format::HttpDate).ok()) else { return false };
        let ahead_s = date.secs() - DateTime::from(SystemTime::now()).secs();
        let is_off = (ahead_s - self.0.ahead_s.load(Ordering::Relaxed)).abs() > SKEW_S;
        if is_off && SKEWED.split(' ').any(|skewed| skewed == code) {
            self.0.ahead_s.store(ahead_s, Ordering::Relaxed);
            return true;
        }
        false
    }

    /// The time by AWS's clock, as far as this one is known to be wrong.
    fn now(&self) -> SystemTime {
        let ahead_s = self.0.ahead_s.load(Ordering::Relaxed);
        let by = Duration::from_secs(ahead_s.unsigned_abs());
        if ahead_s < 0 { SystemTime::now() - by } else { SystemTime::now() + by }
    }

    /// Credentials from the environment never expire, and are cheap to read each time. Those that the provider requests
    /// do, and are kept until then. Calls that come meanwhile wait for that request.
    async fn credentials(&self) -> Result<Credentials, CredentialsError> {
        let mut kept = self.0.credentials.lock().await;
        let good_at = |at| kept.as_ref().filter(|kept| kept.expiry().is_some_and(|expiry| expiry > at)).cloned();
        let now = self.now();
        if let Some(good) = good_at(now + EXPIRY_MARGIN) {
            return Ok(good);
        }
        let new = self.0.provider.provide_credentials();
        let new = match good_at(now) {
            None => new.await?,
            Some(still_good) => match timeout(RENEWAL_TIMEOUT, new).await {
                Ok(Ok(new)) => new,
                _ => return Ok(still_good),
            },
        };
        *kept = Some(new.clone());
        Ok(new)
    }

    fn signed(&self, request: &Request<'_>, identity: &Identity) -> Result<HttpRequest, Source> {
        let mut signed = HttpRequest::new(SdkBody::from(request.body));
        signed.set_method(request.method)?;
        signed.set_uri(format!("{}{}", self.0.endpoint, request.path))?;
        for (name, value) in request.headers {
            signed.headers_mut().insert(*name, *value);
        }
        // By default the path is encoded once more, as every service but S3 expects.
        let settings = SigningSettings::default();
        let params = v4::SigningParams::builder().identity(identity).region(&self.0.region).name(self.0.service);
        let params: SigningParams<'_> = params.time(self.now()).settings(settings).build()?.into();
        let body = SignableBody::Bytes(request.body);
        let signable = SignableRequest::new(signed.method(), signed.uri(), signed.headers().iter(), body)?;
        let (signature, _) = sign(signable, &params)?.into_parts();
        let (headers, _) = signature.into_parts();
        for header in headers {
            signed.headers_mut().insert(header.name(), header.value().to_owned());
        }
        Ok(signed)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::sync::Mutex;

    use aws_credential_types::provider::{self, ProvideCredentials, future};
    use aws_smithy_runtime_api::client::http::{HttpConnector, HttpConnectorFuture};
    use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
    use aws_smithy_runtime_api::client::result::ConnectorError;
    use serde_json::json;
    use tokio::time::Instant;

    use super::*;
    use crate::{Settings, aws_config};

    const OK: (u16, &str) = (200, "{}");
    /// The status that stands for a connection that breaks.
    const BROKEN: (u16, &str) = (0, "");

    /// A service that answers as a test says, and then no more.
    #[derive(Debug, Clone, Default)]
    struct Service {
        answers: Arc<Mutex<VecDeque<(u16, &'static str)>>>,
        asked: Arc<Mutex<Vec<HttpRequest>>>,
    }

    impl HttpConnector for Service {
        fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
            self.asked.lock().unwrap().push(request);
            match self.answers.lock().unwrap().pop_front() {
                None => HttpConnectorFuture::new(std::future::pending()),
                Some(BROKEN) => HttpConnectorFuture::ready(Err(ConnectorError::io("broken".into()))),
                Some((status, body)) => {
                    HttpConnectorFuture::ready(Ok(HttpResponse::new(status.try_into().unwrap(), SdkBody::from(body))))
                }
            }
        }
    }

    /// Each time other credentials, for this long.
    #[derive(Debug)]
    struct Keys {
        given: Mutex<u32>,
        good_for: Option<Duration>,
    }

    impl ProvideCredentials for Keys {
        fn provide_credentials<'a>(&'a self) -> future::ProvideCredentials<'a>
        where
            Self: 'a,
        {
            let mut given = self.given.lock().unwrap();
            *given += 1;
            let expiry = self.good_for.map(|good_for| SystemTime::now() + good_for);
            let key: provider::Result = Ok(Credentials::new(format!("key-{given}"), "secret", None, expiry, "test"));
            future::ProvideCredentials::ready(key)
        }
    }

    /// With a function's limits.
    fn config(good_for: Option<Duration>) -> SdkConfig {
        let config = aws_config(&Settings::given([("AWS_REGION", "eu-central-1")])).unwrap();
        let keys = SharedCredentialsProvider::new(Keys { given: Mutex::default(), good_for });
        config.into_builder().credentials_provider(keys).build()
    }

    impl Service {
        fn answering(answers: impl IntoIterator<Item = (u16, &'static str)>) -> Self {
            Self { answers: Arc::new(Mutex::new(answers.into_iter().collect())), ..Self::default() }
        }

        fn client(&self, good_for: Option<Duration>) -> AwsClient {
            AwsClient::over(SharedHttpConnector::new(self.clone()), &config(good_for), "secretsmanager", None)
        }

        fn attempts(&self) -> usize {
            self.asked.lock().unwrap().len()
        }

        fn keys(&self) -> Vec<String> {
            let asked = self.asked.lock().unwrap();
            let signatures = asked.iter().map(|request| request.headers().get("authorization").unwrap());
            let keys = signatures.map(|signature| signature.split_once("Credential=").unwrap().1);
            keys.map(|rest| rest.split('/').next().unwrap().to_owned()).collect()
        }
    }

    async fn get(client: &AwsClient) -> Result<Value, AwsError> {
        client.call("secretsmanager.GetSecretValue", &json!({ "SecretId": "s" })).await
    }

    /// The clock is paused: pauses take no time.
    #[tokio::test(start_paused = true)]
    async fn what_may_pass_is_tried_again_and_nothing_else() {
        for passes in [
            BROKEN,
            (500, ""),
            (503, "<html>"),
            (429, r#"{"message":"slow down"}"#),
            (400, r#"{"__type":"ThrottlingException"}"#),
            (400, r#"{"__type":"com.amazonaws.x#TooManyRequestsException:http://x"}"#),
            (400, r#"{"code":"RequestTimeout","__type":"Else"}"#),
        ] {
            let service = Service::answering([passes, passes, OK]);
            assert_eq!(get(&service.client(None)).await.unwrap(), json!({}), "{passes:?}");
            let service = Service::answering([passes, passes, passes, OK]);
            get(&service.client(None)).await.unwrap_err();
            assert_eq!(service.attempts(), 3, "{passes:?}");
        }
        for stays in [
            (400, r#"{"__type":"ResourceNotFoundException"}"#),
            (403, ""),
            (404, "not JSON"),
            (410, r#"{"message":"ThrottlingException"}"#),
            (200, "not JSON"),
        ] {
            let service = Service::answering([stays, OK]);
            get(&service.client(None)).await.unwrap_err();
            assert_eq!(service.attempts(), 1, "{stays:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn silence_is_given_up_in_time() {
        let (service, began) = (Service::default(), Instant::now());
        assert!(matches!(get(&service.client(None)).await, Err(AwsError::NoAnswer(_))));
        assert_eq!(began.elapsed(), CALL_TIMEOUT);
        assert!(service.attempts() > 1, "an attempt that hangs leaves time for another");
    }

    #[tokio::test(start_paused = true)]
    async fn each_attempt_is_signed_anew() {
        let service = Service::answering([BROKEN, OK]);
        get(&service.client(None)).await.unwrap();
        assert_eq!(service.keys(), ["key-1", "key-2"]);
    }

    #[tokio::test]
    async fn credentials_that_expire_are_kept_until_shortly_before() {
        for (good_for, keys) in [(EXPIRY_MARGIN * 2, ["key-1", "key-1"]), (EXPIRY_MARGIN / 2, ["key-1", "key-2"])] {
            let service = Service::answering([OK, OK]);
            let client = service.client(Some(good_for));
            get(&client).await.unwrap();
            get(&client).await.unwrap();
            assert_eq!(service.keys(), keys);
        }
    }

    #[tokio::test]
    async fn a_request_goes_to_its_service_and_is_signed_for_it() {
        let service = Service::answering([OK, OK, OK]);
        let http = || SharedHttpConnector::new(service.clone());
        let events = AwsClient::over(http(), &config(None), "events", None);
        events.call("AWSEvents.PutEvents", &json!({ "Entries": [] })).await.unwrap();
        let endpoint = Some("https://api.example.com/push/".to_owned());
        let gateway = AwsClient::over(http(), &config(None), "execute-api", endpoint);
        gateway.post("/@connections/a%3D", b"body").await.unwrap();
        gateway.delete("/@connections/a%3D").await.unwrap();
        let asked = service.asked.lock().unwrap();
        let [put, post, delete] = &asked[..] else { panic!("{asked:?}") };
        assert_eq!((put.method(), put.uri()), ("POST", "https://events.eu-central-1.amazonaws.com/"));
        assert_eq!(put.headers().get("x-amz-target"), Some("AWSEvents.PutEvents"));
        assert_eq!(put.body().bytes(), Some(&br#"{"Entries":[]}"#[..]));
        let connection = "https://api.example.com/push/@connections/a%3D";
        assert_eq!((post.method(), post.uri(), post.body().bytes()), ("POST", connection, Some(&b"body"[..])));
        assert_eq!((delete.method(), delete.uri()), ("DELETE", connection));
        for (request, scope) in [(put, "/eu-central-1/events/"), (post, "/eu-central-1/execute-api/")] {
            assert!(request.headers().get("authorization").unwrap().contains(scope), "{request:?}");
        }
    }

    #[test]
    fn a_clock_that_is_wrong_is_corrected_once_by_the_answer_that_says_so() {
        let client = Service::default().client(None);
        let says = |code: &str, ahead_s: i64| {
            let refused = AwsError::refused(403, Some(code), b"");
            let date = DateTime::from_secs(DateTime::from(SystemTime::now()).secs() + ahead_s);
            client.was_wrong_about_the_time(&refused, Some(&date.fmt(Format::HttpDate).unwrap()))
        };
        assert!(!says("InvalidSignatureException", 60), "that much is allowed");
        assert!(!says("ResourceNotFoundException", -3600), "that has another reason");
        assert!(says("InvalidSignatureException", -3600));
        let behind = SystemTime::now().duration_since(client.now()).unwrap();
        assert!((3590..=3610).contains(&behind.as_secs()), "{behind:?}");
        assert!(!says("InvalidSignatureException", -3600), "and yet it was refused");
    }

    #[test]
    fn a_refusal_says_why() {
        let body = br#"{"__type":"AccessDeniedException","Message":"no"}"#;
        assert_eq!(AwsError::refused(400, None, body).to_string(), "AWS answered 400 AccessDeniedException: no");
        let gone = AwsError::refused(410, Some("GoneException:http://x"), br#"{"message":"gone"}"#);
        assert_eq!(gone.to_string(), "AWS answered 410 GoneException: gone");
    }
}
