//! The places that require a provider, as advice names them.

use std::collections::BTreeMap;

use crate::addr::ProviderAddr;
use crate::diag::Texts;
use crate::project::Project;
use crate::report::shared::first_names;
use crate::requirement::{Requirement, Requirements, StateSeen};
use crate::run::root::Root;
use crate::verify::Advice;
use crate::version::Version;

/// Maximum number of places in one sentence.
const MAX_PLACES: usize = 5;

/// The requirements of the configuration and the demands of the project file, with their places.
pub(crate) struct Required<'a> {
    pub(crate) requirements: &'a Requirements,
    pub(crate) project: &'a Project,
    pub(crate) texts: &'a Texts,
    /// The commands for the root; those that fetch packages take them from the source of the run.
    pub(crate) commands: Advice,
    /// The root has a lock file.
    pub(crate) has_lock: bool,
    /// The locked versions, if the run may select others.
    pub(crate) locked: Option<BTreeMap<ProviderAddr, Version>>,
    /// The name of the project file, where the wanted platforms are those that it states.
    pub(crate) platforms_from: Option<String>,
}

impl<'a> Required<'a> {
    /// Returns the context of advice for a root; `None` if no configuration was read.
    pub(crate) fn of(
        root: &'a Root,
        requirements: Option<&'a Requirements>,
        texts: &'a Texts,
    ) -> Self {
        const NOTHING: &Requirements = &Requirements {
            providers: BTreeMap::new(),
            unseen_calls: Vec::new(),
            state: StateSeen::No,
            faulty: false,
            edited: BTreeMap::new(),
        };
        Self {
            requirements: requirements.unwrap_or(NOTHING),
            project: root.project(),
            texts,
            commands: root.advice.clone(),
            has_lock: root.lock.is_some(),
            locked: None,
            platforms_from: None,
        }
    }
}

impl Required<'_> {
    /// Names the places that require a provider, each with its condition; the first few.
    pub(super) fn places(&self, provider: &ProviderAddr) -> Option<String> {
        let places = self.requirements.providers.get(provider)?;
        let mut named: Vec<String> = Vec::new();
        for place in places {
            let at = self.at(place);
            let text = if place.constraints.is_empty() {
                at
            } else {
                format!("{at} (\"{}\")", place.constraints)
            };
            if !named.contains(&text) {
                named.push(text);
            }
        }
        let named = first_names(named.into_iter(), MAX_PLACES).join(", ");
        Some(format!("required in {named}"))
    }

    /// Names a place: file and line.
    pub(super) fn at(&self, place: &Requirement) -> String {
        let line = self.texts.position(place.file, place.span.start).line;
        format!("{}:{line}", self.texts.name(place.file))
    }
}
