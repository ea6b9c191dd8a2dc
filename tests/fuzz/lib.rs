//! The fuzz targets as a library of their own, for the programs of the fuzzer.

#[path = "bodies/mod.rs"]
pub mod bodies;
#[path = "../support/zips.rs"]
mod zips;
