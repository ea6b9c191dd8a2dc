//! Causes of changes, and their risk.

use crate::version::ScopeChange;

/// The risk of a change, in rising order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Risk {
    /// A change of every day.
    #[default]
    Routine,
    /// A change that a reader should know of.
    Notice,
    /// A change that is unusual, or likely to cause a failure.
    Warning,
    /// A change as an attack would make it.
    Danger,
}

impl Risk {
    /// Returns its name, a kebab-case word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Routine => "routine",
            Self::Notice => "notice",
            Self::Warning => "warning",
            Self::Danger => "danger",
        }
    }
}

/// One thing that explains a part of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The kind of the cause.
    pub kind: CauseKind,
    /// The risk of the change, by this cause alone.
    pub risk: Risk,
    /// A clause: no capital letter, no period. It states what is known; where several things may have led to it, it
    /// names them.
    pub text: String,
}

/// The kinds of causes that are shown in other ways than by their clause, or that decide about other causes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CauseKind {
    /// A cause that its clause alone shows, and that decides about no other one.
    Other,
    /// The kinds of the change and the two versions say the same.
    ShownByKinds,
    /// The registry of Terraform was replaced by that of OpenTofu, or the other way round.
    ProgramSwitched,
    /// Somebody else publishes or serves the provider now.
    OtherPublisher,
    /// The name of a new provider is one typing error away from a known one.
    LookAlike,
    /// The version moved, yet some hashes are those of the version before.
    HashesCarriedOver,
    /// So many `h1:` were added, and nothing else: beside a list of `zh:` each is that of a platform.
    H1Added(usize, BesideList),
    /// The constraints allow other versions, or the same in other words.
    Constraints(ScopeChange),
    /// The entry states constraints for the first time.
    ConstraintsAdded,
    /// The entry states no constraints any more.
    ConstraintsDropped,
}

/// The `zh:` beside an `h1:`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BesideList {
    /// There is a list of `zh:`.
    Yes,
    /// There is none, so that an `h1:` may be of any package.
    No,
}

impl Cause {
    pub(super) fn new(risk: Risk, text: impl Into<String>) -> Self {
        Self {
            kind: CauseKind::Other,
            risk,
            text: text.into(),
        }
    }

    pub(super) fn routine(text: impl Into<String>) -> Self {
        Self::new(Risk::Routine, text)
    }

    pub(super) fn notice(text: impl Into<String>) -> Self {
        Self::new(Risk::Notice, text)
    }

    pub(super) fn warning(text: impl Into<String>) -> Self {
        Self::new(Risk::Warning, text)
    }

    pub(super) fn danger(text: impl Into<String>) -> Self {
        Self::new(Risk::Danger, text)
    }

    pub(super) fn of(self, kind: CauseKind) -> Self {
        Self { kind, ..self }
    }

    /// Returns true if the cause names the publisher or registry of the provider, which comes before all else.
    pub(super) fn is_about_the_source(&self) -> bool {
        matches!(
            self.kind,
            CauseKind::ProgramSwitched | CauseKind::OtherPublisher | CauseKind::LookAlike
        )
    }
}
