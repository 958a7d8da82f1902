//! WebSocket connections: `$connect` verifies the token and stores the connection, `$disconnect` deletes it. Clients
//! only listen.
//!
//! A browser cannot set headers on a WebSocket, so the token comes in the query. It must not be logged: not here, and
//! the API's access log must leave out queries.

mod discovery;
mod issuer;
mod keys;
mod token;

use std::sync::Arc;

use aws_lambda_events::apigw::ApiGatewayWebsocketProxyRequest as Request;
use context::{Serving, serve_events};
use ledger::{Connection, Ledger, LedgerError};
use messaging::push::Gateway;
use runtime::{ANSWER_TIMEOUT, Clock};
use sale::UserId;
use serde::Serialize;

pub use issuer::Issuer;
pub use token::TokenRefused;

context::deps! {
    WebsocketDeps(context) {
        pub ledger: Ledger = context.ledger()?,
        pub gateway: Gateway = context.push_gateway()?,
        pub issuer: Arc<Issuer> = {
            let settings = context.settings();
            Arc::new(Issuer::new(settings.required("JWT_ISSUER")?, &settings.required("JWT_AUDIENCE")?))
        },
        pub clock: Clock = context.clock(),
    }
}

pub fn run() -> Serving {
    serve_events(WebsocketDeps::new, async |deps: &WebsocketDeps, event| Ok(handle(deps, event).await))
}

/// The answer to the gateway. A status other than 200 refuses the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GatewayResponse {
    pub status_code: u16,
}

pub async fn handle(deps: &WebsocketDeps, request: Request) -> GatewayResponse {
    let answered = tokio::time::timeout(deps.clock.limit(ANSWER_TIMEOUT), answer(deps, request)).await;
    GatewayResponse { status_code: answered.unwrap_or_else(|late| unavailable(&late)) }
}

/// Returns the status.
async fn answer(deps: &WebsocketDeps, request: Request) -> u16 {
    let context = &request.request_context;
    let Some(id) = context.connection_id.clone() else { return 400 };
    match context.route_key.as_deref() {
        Some("$connect") => {
            match deps.issuer.user(request.query_string_parameters.first("token").unwrap_or_default()).await {
                Ok(user) => connect(deps, id, user).await.map_or_else(|error| unavailable(&error), |()| 200),
                Err(TokenRefused::BadToken) => 401,
                Err(TokenRefused::NoKeys) => 503,
            }
        }
        Some("$disconnect") => match deps.ledger.disconnect(&id).await {
            Ok(()) => 200,
            // Nobody reads this answer. The first message that finds the connection gone deletes it, or it expires.
            Err(error) => unavailable(&error),
        },
        _ => 400,
    }
}

/// Stores the connection before it looks for surplus ones, so that of two at once at least one sees both.
async fn connect(deps: &WebsocketDeps, id: String, user: UserId) -> Result<(), LedgerError> {
    let connection = Connection { id, user, connected_at_ms: deps.clock.now() };
    deps.ledger.connect(&connection).await?;
    for surplus in deps.ledger.surplus_connections(&connection).await? {
        // A surplus connection that stays open does no harm: only the newest get messages.
        if let Err(error) = deps.gateway.close(&surplus.id).await {
            tracing::warn!(error = &error as &dyn std::error::Error, "a surplus connection stays open");
        }
        deps.ledger.disconnect(&surplus.id).await?;
    }
    tracing::info!(user = %connection.user, "connected");
    Ok(())
}

fn unavailable(error: &(dyn std::error::Error + 'static)) -> u16 {
    tracing::error!(error, "a part of the system did not answer");
    503
}
