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

use serde_json::Value;

pub use bill::{Bill, BilledPackage, BilledRelease, BilledRoot, ReleaseEvidence, ReleaseId};
pub use modules::BilledModule;

/// The name of the program in documents.
const TOOL: &str = "lockctl";

/// The version of the program, as documents state it.
const TOOL_VERSION: &str = env!("CARGO_PKG_VERSION");

/// The page about the program.
const TOOL_URL: &str = env!("CARGO_PKG_REPOSITORY");

/// Leaves out the fields of an object that state nothing: null, and empty lists.
fn stated(mut object: Value) -> Value {
    if let Value::Object(fields) = &mut object {
        fields.retain(|_, value| !value.is_null() && *value != Value::Array(Vec::new()));
    }
    object
}

/// Writes a document as indented JSON.
fn printed(document: &Value) -> String {
    format!("{document:#}\n")
}
