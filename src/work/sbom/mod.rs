//! Bills of materials: the locked providers of roots, their packages, and the Go modules in them, as documents.
//!
//! A [`Bill`] is made of lock files and of facts about their packages; [`cyclonedx`], [`spdx`] and [`snapshot`] are
//! renderings of it. [`run`] makes the bill of roots. This room reads no clock and makes no request, and everything is sorted: the same bill gives the
//! same bytes. Contents that were not read are marked as unknown.

mod bill;
pub(crate) mod command;
pub mod cyclonedx;
mod identity;
mod modules;
pub(crate) mod origin;
pub mod purl;
pub(crate) mod run;
pub mod snapshot;
pub mod spdx;
#[cfg(test)]
mod tests;

use std::time::SystemTime;

pub use bill::{
    Bill, BilledContents, BilledPackage, BilledRelease, BilledRoot, ReleaseEvidence, ReleaseId,
};
pub use modules::BilledModule;

/// The inputs of a document other than the bill.
#[derive(Clone, Copy, Debug)]
pub struct Circumstances {
    /// The version of the program that makes the document.
    pub tool_version: &'static str,
    /// The time that the document states, if there is one.
    pub created: Option<SystemTime>,
}

/// The name of the program in documents.
const TOOL: &str = "lockctl";

/// The page about the program.
const TOOL_URL: &str = env!("CARGO_PKG_REPOSITORY");

/// Writes a document as indented JSON.
fn printed(document: &impl serde::Serialize) -> String {
    // Every key of a map in a document is a string, and no number is infinite: nothing else can fail.
    let text = serde_json::to_string_pretty(document).expect("it is JSON");
    text + "\n"
}
