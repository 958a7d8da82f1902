use aws_config::SdkConfig;
use aws_sdk_apigatewaymanagement::Client;
use aws_sdk_apigatewaymanagement::config::Builder;
use aws_sdk_apigatewaymanagement::error::SdkError;
use aws_sdk_apigatewaymanagement::operation::delete_connection::DeleteConnectionError;
use aws_sdk_apigatewaymanagement::operation::post_to_connection::PostToConnectionError;

use crate::StatusUpdate;

/// API Gateway did not accept a call, which can be repeated.
#[derive(Debug, thiserror::Error)]
#[error("API Gateway did not answer {call}")]
pub struct PushError {
    call: &'static str,
    #[source]
    source: Box<dyn std::error::Error + Send + Sync>,
}

/// The result of sending a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Posted {
    /// API Gateway has accepted it.
    Yes,
    /// The connection is closed.
    Gone,
}

/// The connections of one stage of a WebSocket API.
#[derive(Clone)]
pub struct Gateway(Client);

impl Gateway {
    /// The stage whose management address is `endpoint`.
    pub fn new(config: &SdkConfig, endpoint: impl Into<String>) -> Self {
        Self(Client::from_conf(Builder::from(config).endpoint_url(endpoint).build()))
    }

    /// Sends a message to one connection.
    ///
    /// # Errors
    /// If API Gateway does not answer; the client may have the message all the same.
    pub async fn post(&self, connection: &str, update: &StatusUpdate) -> Result<Posted, PushError> {
        let post = self.0.post_to_connection().connection_id(connection).data(update.to_body().into());
        match post.send().await.map_err(SdkError::into_service_error) {
            Ok(_) => Ok(Posted::Yes),
            Err(PostToConnectionError::GoneException(_)) => Ok(Posted::Gone),
            Err(source) => Err(PushError { call: "PostToConnection", source: Box::new(source) }),
        }
    }

    /// Closes a connection, if it is open.
    ///
    /// # Errors
    /// If API Gateway does not answer. Can be repeated.
    pub async fn close(&self, connection: &str) -> Result<(), PushError> {
        match self.0.delete_connection().connection_id(connection).send().await.map_err(SdkError::into_service_error) {
            Ok(_) | Err(DeleteConnectionError::GoneException(_)) => Ok(()),
            Err(source) => Err(PushError { call: "DeleteConnection", source: Box::new(source) }),
        }
    }
}
