//! HTTP conventions: one form for results and errors, bounded input, the caller's identity.

mod answer_metrics;
mod body;
mod caller;
mod client_ip;
mod edge;
mod object;
mod problem;
mod refusal;
mod request;
mod response;
mod serve;
mod sync;

pub use body::{MAX_BODY_BYTES, json_body, json_body_up_to, no_body, signed_json_body, text_body};
pub use caller::{Caller, GroupClaims, Operators, caller};
pub use client_ip::{client_address, client_ip, client_network};
pub use edge::{Edge, EdgeKeys};
pub use object::Object;
pub use problem::{Code, Problem, RatePolicy};
pub use request::{idempotency_key, last_segment, segments};
pub use response::{Reply, json, respond};
pub use sale::present;
pub use serve::{correlation_id, serve, with_uri};
