//! The places that require a provider, as advice names them.

use std::collections::BTreeMap;

use crate::addr::ProviderAddr;
use crate::diag::Texts;
use crate::project::Project;
use crate::requirement::{Requirement, Requirements};
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
        let hidden = named.len().saturating_sub(MAX_PLACES);
        named.truncate(MAX_PLACES);
        let mut text = format!("required in {}", named.join(", "));
        if hidden > 0 {
            text += &format!(" and {hidden} more");
        }
        Some(text)
    }

    /// Names a place: file and line.
    pub(super) fn at(&self, place: &Requirement) -> String {
        let line = self.texts.position(place.file, place.span.start).line;
        format!("{}:{line}", self.texts.name(place.file))
    }
}
