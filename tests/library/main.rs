//! Programs that use the library, each as short as its job: what other tools would write.
//!
//! They need `lockctl-core` alone: `cargo test --package lockctl-core --test library`.
#![allow(
    clippy::disallowed_types,
    clippy::unwrap_used,
    reason = "a test fails where it stands"
)]

mod crates;
mod diff_two_files;
mod hash_a_package;
mod parse_and_list;
mod verify_in_ci;
