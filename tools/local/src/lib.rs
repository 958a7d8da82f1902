//! This machine as AWS: a Valkey server and an AWS emulator on the loopback, with the CDK app deployed on them.

// Nobody outside the project uses it.
#![allow(missing_docs)]

pub mod alarms;
mod archives;
pub mod beside;
pub mod build;
pub mod buy;
pub mod check_draw;
pub mod check_line;
pub mod client;
pub mod cloud;
pub mod control;
pub mod crowd;
pub mod demo;
pub mod deployment;
pub mod emulator;
pub mod event;
pub mod export;
pub mod identity;
pub mod install;
pub mod lagging;
pub mod lend;
pub mod operate;
pub mod published;
pub mod recorded;
pub mod running;
mod sales;
pub mod setup;
pub mod soak;
mod stack;
pub mod stages;
pub mod supervisor;
mod synthesis;
pub mod tokens;
pub mod trace;
pub mod up;
pub mod valkey;
pub mod valkey_cluster;
pub mod watch;
pub mod web;

pub use ::gateway;
pub use ::gateway::{function, paths, pool, process, runtime_api};
