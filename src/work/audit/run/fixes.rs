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

/// The route to a fixed version in a root: the command that moves to it, or the constraint that excludes it.
pub(super) type FixRoute = Result<RootCommand, ExcludingConstraint>;

/// A constraint that excludes a fixed version, in words.
pub(super) struct ExcludingConstraint {
    pub(super) text: String,
    /// The same with its place, as in `the constraint ~> 1.0 (main.tf:3)`.
    pub(super) with_place: String,
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
                    let text = format!("the constraint {}", stated.constraints);
                    Err(ExcludingConstraint {
                        with_place: format!("{text} ({name}:{line})"),
                        text,
                    })
                }
                None => Ok(command(self.root)),
            };
        }
        if recorded.allows(fixed) {
            return Ok(command(self.root));
        }
        let text = format!("the recorded constraint {recorded}");
        Err(ExcludingConstraint {
            with_place: text.clone(),
            text,
        })
    }
}
