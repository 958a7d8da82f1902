//! Ten minutes without a part, by a clock that the test moves on: buyers come before, meanwhile and after, queues and
//! schedules run as often as they would, and what each outage leaves is worked off and timed.

mod buyers;
mod common;
mod dynamodb;
mod queues;
mod redis;
mod running;
mod secrets;
mod sqs;
mod time;
