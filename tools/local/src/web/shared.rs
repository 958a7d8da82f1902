use std::sync::Arc;

use axum::http::HeaderMap;

use crate::client::Client;
use crate::deployment::Deployment;
use crate::gateway::Served;
use crate::identity::Issuer;

pub(super) struct Shared {
    pub(super) deployment: Deployment,
    pub(super) issuer: Issuer,
    pub(super) client: Client,
    pub(super) api: Arc<Served>,
    pub(super) headers: HeaderMap,
}
