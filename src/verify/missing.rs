//! A root that requires providers and has no lock file.

use super::inputs::RootInputs;
use crate::diag::{Diagnostic, Finding};

/// How many places that require a provider are shown.
const MAX_REQUIRED: usize = 20;

/// Reports the missing lock file of a root that requires providers, or may do so where its
/// configuration could not be read.
pub(super) fn check(root: &RootInputs<'_>) -> Option<Finding> {
    let requirements = root.requirements();
    let required = requirements.iter().flat_map(|all| &all.providers);
    let required = required.filter(|(provider, _)| !provider.is_builtin(root.flavor));
    let mut places = required
        .filter_map(|(provider, places)| {
            Some((places.first()?, format!("{provider} is required here")))
        })
        .take(MAX_REQUIRED);
    let title = format!("There is no {}", root.lock_path.display());
    let help = format!("run `{}` to create it", root.advice.lock);
    let diagnostic = Diagnostic::error("lock-missing", title).help(help);
    let diagnostic = match places.next() {
        Some((place, note)) => {
            let diagnostic = diagnostic.at(place.file, place.span, note);
            places.fold(diagnostic, |diagnostic, (place, note)| {
                diagnostic.see(place.file, place.span, note)
            })
        }
        None if root.is_unread() => diagnostic,
        None => return None,
    };
    Some(diagnostic.into())
}
