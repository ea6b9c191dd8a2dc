//! The rows of results: values that are printed as they are.
//!
//! The schema of the JSON format is made of these types, too: comments on them are for its readers.

mod change;
mod convert;
mod date;
mod evaluated;
mod event;
mod finding;
mod fixed;
mod git;
mod in_use;
mod matrix;
mod module;
mod outdated;
mod package;
mod place;
mod provider;
mod rule;
mod store;

pub use change::{ChangeRow, EntrySide, PastChange};
pub use convert::{ConvertedProvider, NotConverted};
pub use date::{DateSource, PassedOverRelease, StatedDate};
pub use evaluated::{EvaluatedExpression, PlainValue};
pub use event::EventLine;
pub use finding::{FindingRow, Related, TurnedOffRow};
pub use fixed::FixRow;
pub use git::GitSetting;
pub use in_use::{HeldBackRoot, ProviderInUse, VersionInUse, VersionMove, VersionsInUse};
pub use matrix::{MatrixRow, Outcome, Route};
pub use module::{ModuleKind, ModuleRow, RequiredProviderRow};
pub use outdated::{ComparedProvider, ConflictingPlace, HoldingPlace, VersionState};
pub use package::{FailedPackage, HashedPackageRow, PackageFile, PackageRow};
pub use place::{ComputedModule, ExplainedProvider, Overridden, PlaceKind, RequiringPlace};
pub use provider::{
    CheckedProvider, ComputedHash, ContradictedBy, DroppedHash, HashEvidenceRow, KeptFact,
    LockedHash, LockedProvider, Provenance, Provider, RemovedProvider, ReplacedHash, ShownHash,
    ShownProvider, SignerClass, SignerRow,
};
pub use rule::{RuleLevel, RuleRow, TopicRow};
pub use store::{
    CachedModules, ExportedFacts, FactContradiction, IgnoredObjects, ImportedFile, RemovedFacts,
    StoreReport, StoreStats,
};

use std::fmt::Display;

use serde::Serializer;

/// Writes a value as the text that it is parsed from.
fn text<T: Display, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

/// As [`text`]; null if there is no value.
fn optional_text<T: Display, S: Serializer>(
    value: &Option<T>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => serializer.collect_str(value),
        None => serializer.serialize_none(),
    }
}
