//! Bills of materials: the locked providers of roots, their packages, and the Go modules in them, as documents.
//!
//! A [`Bill`] is made of lock files and of facts about their packages; [`cyclonedx`], [`spdx`] and [`snapshot`] are
//! renderings of it. Nothing here reads a clock or asks anybody, and everything is sorted: the same bill gives the same
//! bytes. Contents that nobody read are said to be unknown.

mod bill;
pub mod cyclonedx;
mod identity;
mod modules;
pub mod purl;
pub mod snapshot;
pub mod spdx;
#[cfg(test)]
mod tests;

use std::time::SystemTime;

pub use bill::{
    Bill, BilledContents, BilledPackage, BilledRelease, BilledRoot, ReleaseEvidence, ReleaseId,
};
pub use modules::BilledModule;

/// The circumstances in which a document is made, which its content depends on beside the bill.
#[derive(Clone, Copy, Debug)]
pub struct Circumstances {
    /// The version of the program that makes the document.
    pub tool_version: &'static str,
    /// The time that the document states; `None` where it states none.
    pub created: Option<SystemTime>,
}

/// The name of the program in documents.
const TOOL: &str = "lockctl";

/// The page about the program.
const TOOL_URL: &str = env!("CARGO_PKG_REPOSITORY");

/// Spells a document as lines of JSON.
fn printed(document: &impl serde::Serialize) -> String {
    // Every key of a map in there is a string, and no number is infinite: nothing else can fail.
    let text = serde_json::to_string_pretty(document).expect("it is JSON");
    text + "\n"
}
