//! Repairs that need no decision, and findings that need one.
//!
//! [`plan`] decides in two steps. First it writes texts in their only right form and joins repeated blocks,
//! because the programs refuse a file with such. Then it follows findings of the other checks, so that findings
//! that a project file turns off are left as they are. No version moves, and no hash comes or goes. Only the
//! caller writes files; it also states platforms in project files, which needs the findings of all roots.

mod draft;

use std::fmt;

use self::draft::Draft;
use super::groups::{CheckGroup, Groups};
use super::inputs::RootInputs;
use super::subject::CheckedLock;
use super::{configuration, file, levels};
use crate::addr::ProviderAddr;
use crate::diag::{has_errors, rules};
use crate::flavor::{Flavor, Program};
use crate::lockfile::{self, Document, LockText, WrongForm};
use crate::platform::{self, Platform};
use crate::version::{Constraints, Version};

/// The parts of a lock file that repairs may drop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Nothing that somebody wrote and that the programs ignore.
    Safe,
    /// Comments and blocks of modules, too.
    All,
}

/// The repairs of a lock file, or the reason why there are none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FixPlan {
    /// The text to be written; `None` if the file stays as it is.
    pub text: Option<String>,
    /// The repairs in that text, in report order; empty without a text.
    pub repairs: Vec<Repair>,
    /// The reason why nothing can be repaired at all.
    pub refusal: Option<FixRefusal>,
    /// The findings that need a decision.
    pub left: Vec<Unrepaired>,
}

/// A reason why nothing in a lock file is repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FixRefusal {
    /// The configuration has errors, so what is required is unknown.
    ConfigurationUnread,
    /// The file has faults behind which something would be lost.
    FileUnread,
    /// The file would have more than [`lockfile::MAX_BYTES`].
    TooLarge,
    /// Something would be dropped that [`Extent::Safe`] keeps.
    Drops {
        /// The number of comments of an author.
        comments: usize,
        /// The file has blocks of modules.
        modules: bool,
    },
}

/// Decides what is repaired in the lock file of a root.
///
/// Only findings of the wanted `groups` are, and none where the configuration was read with errors.
#[must_use]
pub fn plan(root: &RootInputs<'_>, groups: &Groups, extent: Extent) -> FixPlan {
    if root.is_unread() {
        return FixPlan::refused(FixRefusal::ConfigurationUnread);
    }
    let Some(lock) = root.lock else {
        return FixPlan::default();
    };
    let Some(draft) = draft(root, lock, groups) else {
        return FixPlan::refused(FixRefusal::FileUnread);
    };
    // Blocks that could not be joined stay an error of the file: it is not written half repaired.
    let is_blocked = has_errors(&lock.diagnostics)
        && draft
            .left
            .iter()
            .any(|left| matches!(left, Unrepaired::Versions { .. } | Unrepaired::Lists { .. }));
    let left = draft.left;
    if draft.repairs.is_empty() || is_blocked {
        return FixPlan {
            left,
            ..FixPlan::default()
        };
    }
    let text = lockfile::write(&draft.lock, root.flavor);
    // Only the text shows if it is too large: canonical form adds a header and white space.
    match refusal(lock, &text, extent) {
        Some(refusal) => FixPlan {
            left,
            ..FixPlan::refused(refusal)
        },
        None => FixPlan {
            text: Some(text),
            repairs: draft.repairs,
            refusal: None,
            left,
        },
    }
}

/// Makes the repaired lock file; `None` if it has faults that need manual repair first.
fn draft(root: &RootInputs<'_>, lock: &LockText, groups: &Groups) -> Option<Draft> {
    let mut draft = Draft::new(&lock.document, &lock.diagnostics)?;
    if !draft.left.is_empty() {
        return Some(draft);
    }
    let document = Document {
        lock: draft.lock.clone(),
        ..Document::default()
    };
    let subject = CheckedLock {
        document: &document,
        ..root.subject(lock)
    };
    let mut findings = Vec::new();
    if groups.wants(CheckGroup::File) {
        findings.extend(file::check(subject, &lock.bytes));
    }
    if groups.wants(CheckGroup::Configuration) {
        findings.extend(configuration::check(subject));
    }
    // Findings that the project file turns off are not repaired.
    let (kept, _) = levels::apply(findings, &[], root.project, root.flavor);
    draft.repair(subject, &lock.bytes, &kept);
    Some(draft)
}

/// Returns the reason why a text must not be written, if there is one.
fn refusal(lock: &LockText, text: &str, extent: Extent) -> Option<FixRefusal> {
    if text.len() as u64 > lockfile::MAX_BYTES {
        return Some(FixRefusal::TooLarge);
    }
    // Canonical form has neither comments nor blocks of modules (`lockfile` rules 1.8).
    let comments = lock.document.comments;
    let modules = lock
        .diagnostics
        .iter()
        .any(|fault| fault.code == rules::MODULE_LOCK);
    let is_safe = comments == 0 && !modules;
    (!is_safe && extent == Extent::Safe).then_some(FixRefusal::Drops { comments, modules })
}

impl FixPlan {
    fn refused(refusal: FixRefusal) -> Self {
        Self {
            refusal: Some(refusal),
            ..Self::default()
        }
    }
}

/// Something that is repaired; displayed as a sentence without a period.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Repair {
    /// A text was brought into the only form that the programs accept.
    Written {
        /// The address of the entry.
        provider: ProviderAddr,
        /// The text before and after.
        form: WrongForm,
    },
    /// Blocks of one provider became one.
    Joined {
        /// The address of the entry.
        provider: ProviderAddr,
        /// The version that all of them lock.
        version: Version,
        /// The number of blocks before.
        blocks: usize,
    },
    /// Recorded constraints became those of the configuration.
    Refreshed {
        /// The address of the entry.
        provider: ProviderAddr,
        /// The constraints that were recorded.
        before: Constraints,
        /// The constraints that are recorded now.
        after: Constraints,
    },
    /// An entry that nothing requires was dropped.
    Dropped {
        /// The address of the entry.
        provider: ProviderAddr,
        /// The version that was locked.
        version: Version,
    },
    /// The project file states the platforms of a provider, since the release has packages for no others.
    Stated {
        /// The address of the provider.
        provider: ProviderAddr,
        /// The platforms that it has packages for.
        platforms: Vec<Platform>,
        /// The path of the project file.
        file: String,
    },
    /// The whole file was brought into canonical form.
    Rewritten {
        /// The program whose form it is.
        program: Program,
    },
}

/// Something that needs a decision; displayed as a sentence without a period.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unrepaired {
    /// Blocks of one provider lock different versions.
    Versions {
        /// The address of the entry.
        provider: ProviderAddr,
        /// The version of the first block.
        first: Version,
        /// The version of another block.
        other: Version,
    },
    /// Blocks of one provider lock the same version with lists of `zh:` that contradict each other.
    Lists {
        /// The address of the entry.
        provider: ProviderAddr,
        /// The version of all blocks.
        version: Version,
    },
    /// Constraints are stale, and the locked version does not meet the new ones.
    Unmet {
        /// The address of the entry.
        provider: ProviderAddr,
        /// The version that is locked.
        version: Version,
    },
    /// A policy or another root of the project file wants other platforms of a provider than its packages are for.
    Platforms {
        /// The address of the provider.
        provider: ProviderAddr,
        /// The path of the project file.
        file: String,
    },
    /// An entry is not required, but its version counts for another provider.
    CarriedOver {
        /// The provider of the entry.
        provider: ProviderAddr,
        /// The one that is required and not locked.
        twin: ProviderAddr,
    },
}

impl Repair {
    /// Returns the name of the rule whose finding is gone.
    #[must_use]
    pub fn rule(&self) -> &'static str {
        match self {
            Self::Written { form, .. } => form.rule,
            Self::Joined { .. } => rules::DUPLICATE_PROVIDER,
            Self::Refreshed { .. } => rules::CONSTRAINTS_STALE,
            Self::Dropped { .. } => rules::PROVIDER_NOT_REQUIRED,
            Self::Stated { .. } => rules::PLATFORMS_INCOMPLETE,
            Self::Rewritten { .. } => rules::FILE_NOT_CANONICAL,
        }
    }

    /// Returns the provider concerned, if it is one.
    #[must_use]
    pub fn provider(&self) -> Option<&ProviderAddr> {
        match self {
            Self::Written { provider, .. }
            | Self::Joined { provider, .. }
            | Self::Refreshed { provider, .. }
            | Self::Dropped { provider, .. }
            | Self::Stated { provider, .. } => Some(provider),
            Self::Rewritten { .. } => None,
        }
    }
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Written { provider, form } => f.write_str(&form.sentence(provider)),
            Self::Joined {
                provider,
                version,
                blocks,
            } => write!(f, "{blocks} blocks of {provider} {version} became one"),
            Self::Refreshed {
                provider,
                before,
                after,
            } => {
                let (before, after) = (quoted(before), quoted(after));
                write!(f, "the constraints of {provider} are {after}, not {before}")
            }
            Self::Dropped { provider, version } => {
                write!(f, "{provider} {version} is dropped: nothing requires it")
            }
            Self::Stated {
                provider,
                platforms,
                file,
            } => write!(
                f,
                "{file} states the platforms of {provider}: {}",
                platform::join(platforms, ", ")
            ),
            Self::Rewritten { program } => {
                let command = Flavor::newest(*program).command();
                write!(f, "the file is written as `{command}` writes it")
            }
        }
    }
}

impl fmt::Display for Unrepaired {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Versions {
                provider,
                first,
                other,
            } => write!(
                f,
                "{provider} is locked at {first} and at {other}; it is unknown which is meant"
            ),
            Self::Lists { provider, version } => write!(
                f,
                "{provider} {version} is locked with two lists of zh: that cannot both be those of the \
                 release"
            ),
            Self::Unmet { provider, version } => write!(
                f,
                "the constraints of {provider} stay as recorded, since the locked version {version} \
                 does not meet those of the configuration"
            ),
            Self::Platforms { provider, file } => write!(
                f,
                "{file} cannot state the platforms of {provider}: a policy or another of its roots wants others"
            ),
            Self::CarriedOver { provider, twin } => write!(
                f,
                "{provider} is not dropped before {twin} is locked at its version"
            ),
        }
    }
}

fn quoted(constraints: &Constraints) -> String {
    if constraints.is_empty() {
        "none".to_owned()
    } else {
        format!("\"{constraints}\"")
    }
}
