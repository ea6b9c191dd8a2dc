//! Duplicates that leave open which module or value counts.

use std::collections::BTreeMap;

use crate::diag::{Diagnostic, rules};
use crate::module_config::decode::contents::Declaration;
use crate::module_config::file::SourcePlace;
use crate::module_config::flood;

/// Reports what stands more than once but may not (config rules 3.14).
pub(crate) fn duplicates(declared: &[Declaration], found: &mut Vec<Diagnostic>) {
    let mut first: BTreeMap<(&str, &[String]), SourcePlace> = BTreeMap::new();
    for declaration in declared {
        let title = match declaration.kind {
            "required_providers" => "Duplicate required providers configuration",
            "variable" => "Duplicate variable declaration",
            "local" => "Duplicate local value definition",
            "module" => "Duplicate module call",
            _ => continue,
        };
        let place = declaration.place;
        let key = (declaration.kind, &*declaration.labels);
        // Each further one is compared with the first, as the programs report it.
        let Some(other) = first.get(&key) else {
            first.insert(key, place);
            continue;
        };
        let error = Diagnostic::error(rules::CONFIGURATION_INVALID, title)
            .at(place.file, place.span, "declared again")
            .see(other.file, other.span, "first declared here");
        flood::push(found, error);
    }
}
