//! Ten minutes without a part, on a clock that the test moves: buyers come before, during and after, queues and
//! schedules run as often as they would, and the work that each outage leaves is done and timed.

mod buyers;
mod common;
mod dynamodb;
mod queues;
mod redis;
mod running;
mod secrets;
mod sqs;
mod table;
mod time;
