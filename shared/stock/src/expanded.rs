//! The scripts of `lua/` as sent to Redis: the build script has included fragments and replaced packed fields.

include!(concat!(env!("OUT_DIR"), "/expanded.rs"));
