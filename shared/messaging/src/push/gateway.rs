use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use runtime::{AwsClient, AwsError, SdkConfig};

use crate::push::StatusUpdate;

/// What may stand in a segment of a path as it is: an id ends with `=`, which may not.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
const GONE: u16 = 410;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Posted {
    Yes,
    Gone,
}

/// The connections of one stage of a WebSocket API.
#[derive(Clone)]
pub struct Gateway(AwsClient);

impl Gateway {
    /// The stage whose management address is `endpoint`.
    pub fn new(config: &SdkConfig, endpoint: impl Into<String>) -> Self {
        Self(AwsClient::api_gateway(config, endpoint))
    }

    /// Sends a message to one connection. Fails if API Gateway does not answer; the client may have the message then.
    pub async fn post(&self, connection: &str, update: &StatusUpdate) -> Result<Posted, AwsError> {
        match self.0.post(&path(connection), &update.to_body()).await {
            Ok(()) => Ok(Posted::Yes),
            Err(AwsError::Refused { status: GONE, .. }) => Ok(Posted::Gone),
            Err(error) => Err(error),
        }
    }

    /// Closes a connection, if it is open. Fails if API Gateway does not answer. Can be repeated.
    pub async fn close(&self, connection: &str) -> Result<(), AwsError> {
        match self.0.delete(&path(connection)).await {
            Err(AwsError::Refused { status: GONE, .. }) => Ok(()),
            closed => closed,
        }
    }
}

fn path(connection: &str) -> String {
    format!("/@connections/{}", utf8_percent_encode(connection, ESCAPED))
}

#[cfg(test)]
mod tests {
    use super::path;

    #[test]
    fn an_id_is_one_segment_of_a_path() {
        assert_eq!(path("L0SM9cOFvHcCIhw="), "/@connections/L0SM9cOFvHcCIhw%3D");
        assert_eq!(path("a/b?c"), "/@connections/a%2Fb%3Fc");
    }
}
