//! The route to a fixed version: a command, or the constraint that excludes it.

use crate::addr::ProviderAddr;
use crate::config::Loaded;
use crate::diag::{RootCommand, Texts, has_errors};
use crate::run::root::Root;
use crate::version::{Constraints, Version};
use crate::workspace::Reading;

/// The search for constraints that exclude fixed versions.
pub(super) struct FixSearch<'a> {
    /// The sources and options for reading configuration.
    pub(super) reading: Reading<'a>,
    /// The command that moves versions in all roots of the run.
    pub(super) for_all: RootCommand,
}

/// The route to a fixed version in a root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FixRoute {
    /// The version is within all constraints.
    Command(RootCommand),
    /// A constraint excludes the version.
    Excluded {
        /// The constraint, in words.
        constraint: String,
        /// The place of the constraint, as in `main.tf:3`.
        place: Option<String>,
    },
}

impl FixRoute {
    /// Returns the constraint that excludes the version, with its place, if one does.
    pub(super) fn excluded_by(&self) -> Option<String> {
        match self {
            Self::Command(_) => None,
            Self::Excluded {
                constraint,
                place: Some(place),
            } => Some(format!("{constraint} ({place})")),
            Self::Excluded { constraint, .. } => Some(constraint.clone()),
        }
    }
}

/// The constraints of a root, read when the first fixed version is looked for.
pub(super) struct RootConstraints<'a> {
    search: &'a FixSearch<'a>,
    root: &'a Root,
    /// The requirements with their source texts; the inner `None` means that there is no sound configuration.
    read: Option<Option<(Loaded, Texts)>>,
}

impl<'a> RootConstraints<'a> {
    pub(super) fn new(search: &'a FixSearch<'a>, root: &'a Root) -> Self {
        Self {
            search,
            root,
            read: None,
        }
    }

    /// Returns the route to a fixed version, by the configuration, else by the recorded constraints.
    pub(super) fn route(
        &mut self,
        provider: &ProviderAddr,
        recorded: &Constraints,
        fixed: &Version,
    ) -> FixRoute {
        let command = |root: &Root| {
            let target = format!("{}@{fixed}", provider.short(root.flavor));
            RootCommand {
                for_root: root.advice.update.with(&target).for_root,
                for_all: self.search.for_all.with(&target).for_all,
            }
        };
        // Few roots have an advisory with a fix, so the configuration is read on first use.
        let found = self.read.get_or_insert_with(|| {
            let mut texts = Texts::default();
            let loaded = self.root.load(&self.search.reading, &mut texts);
            // A configuration with errors may lack the constraint that excludes the version; the lock file decides.
            let is_sound = loaded.found && !self.root.is_alone && !has_errors(&loaded.diagnostics);
            is_sound.then_some((loaded, texts))
        });
        let required = found.as_ref().and_then(|(loaded, texts)| {
            Some((loaded.requirements.providers.get(provider)?, texts))
        });
        if let Some((requirements, texts)) = required {
            return match requirements
                .iter()
                .find(|stated| !stated.constraints.allows(fixed))
            {
                Some(stated) => {
                    let name = texts.name(stated.file);
                    let line = texts.position(stated.file, stated.span.start).line;
                    let stated = &stated.constraints;
                    FixRoute::Excluded {
                        constraint: format!("the constraint {stated}"),
                        place: Some(format!("{name}:{line}")),
                    }
                }
                None => FixRoute::Command(command(self.root)),
            };
        }
        if recorded.allows(fixed) {
            FixRoute::Command(command(self.root))
        } else {
            FixRoute::Excluded {
                constraint: format!("the recorded constraint {recorded}"),
                place: None,
            }
        }
    }
}
