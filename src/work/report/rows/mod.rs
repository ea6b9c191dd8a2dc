//! The rows of results: values that are printed as they are.
//!
//! The schema of the JSON format is made of these types, too: comments on them are for its readers.

mod audited;
mod build;
mod change;
mod configuration;
mod convert;
mod date;
mod edit;
mod finding;
mod matrix;
mod mirrored;
mod module;
mod outdated;
mod package;
mod place;
mod provider;
mod rule;
mod store;
mod symptom;
mod trusted;

pub use audited::{AdvisoryRow, AdvisoryStatus, AuditedAdvisory, AuditedProvider, ContentsState};
pub use build::{ContentsKnowledge, GoBuildRow, PackageBuildRow, ReleaseBuildRow};
pub use change::{ChangeRow, EntrySide, PastChange};
pub use configuration::{ConfiguredArgumentRow, ConfiguredBlockRow, ConfiguredModuleRow};
pub use convert::ConvertedProvider;
pub use date::{DateSource, PassedOverRelease, StatedDate};
pub use edit::{EditRow, FileEdits};
pub use finding::{FileRange, FindingRow, Related, RemarkRow, TurnedOffRow};
pub use matrix::{MatrixRow, Outcome, Route};
pub use mirrored::{BundleBase, MirrorBundle, MirroredProvider};
pub use module::{ModuleKind, ModuleRow, RequiredProviderRow, shown_dir};
pub use outdated::{ComparedProvider, ConflictingPlace, HoldingPlace, VersionState};
pub use package::{FailedPackage, HashedPackageRow, PackageFile, PackageRow};
pub use place::{
    ComputedModule, ExplainedProvider, FilePosition, Overridden, PlaceKind, RequiringPlace,
};
pub use provider::{
    BesidePackages, CheckedProvider, ComputedHash, DroppedHash, LockedHash, LockedProvider,
    Provenance, Provider, RemovedProvider, ReplacedHash, ShownHash, ShownProvider, SignerClass,
    SignerRow,
};
pub use rule::{RuleRow, TopicRow};
pub use store::{
    CachedAdvisories, CachedModules, CollectedObjects, ExportedFacts, FactContradiction,
    IgnoredObjects, ImportedFile, NewKey, RemovedFacts, StoreReport, StoreStats,
};
pub use symptom::{PageMatchRow, SymptomEntry, SymptomRow};
pub use trusted::{MemoryState, TrustedProvider};
