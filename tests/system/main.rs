//! The whole system: deployed on the emulator and asked over HTTP, or its functions in this process on parts of a test's
//! own.

mod answer;
mod ask;
mod bad_callbacks;
mod bad_requests;
mod bad_steering;
mod calls;
mod cloud;
mod events;
mod handicap;
mod heal;
mod lab;
mod resources;
mod shop;
mod wait;

mod audits;
mod bad_input;
mod batches;
mod buying;
mod cancelling;
mod counted;
mod crashes;
mod dead_letters;
mod deployed_queues;
mod expiring;
mod five_consumers;
mod order_list;
mod outages;
mod pay_or_expire;
mod placing;
mod refusals;
mod samples;
mod stampede;
mod tokens;
mod warming;
