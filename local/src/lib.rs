//! This machine as AWS: a Valkey server and an AWS emulator on the loopback, the CDK app deployed on it.

pub mod beside;
pub mod build;
pub mod client;
pub mod cloud;
pub mod demo;
pub mod deployment;
pub mod emulator;
pub mod event;
pub mod function;
pub mod gateway;
pub mod identity;
pub mod install;
pub mod operate;
pub mod paths;
pub mod pool;
pub mod process;
pub mod runtime_api;
pub mod setup;
pub mod stages;
pub mod supervisor;
pub mod trace;
pub mod up;
pub mod valkey;
pub mod valkey_cluster;
pub mod watch;
pub mod web;
