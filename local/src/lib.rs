//! This machine as AWS: a Valkey server and an AWS emulator on the loopback, the CDK app deployed on it.

pub mod install;
pub mod paths;
pub mod process;
pub mod valkey;
