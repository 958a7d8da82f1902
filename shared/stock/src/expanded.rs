//! The scripts of `lua/` as Redis gets them: the build script includes fragments and spells the packed fields.

include!(concat!(env!("OUT_DIR"), "/expanded.rs"));
