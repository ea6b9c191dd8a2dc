//! Reasons why a root cannot be converted.

use super::other_flavor;
use super::report::place;
use crate::config::Loaded;
use crate::diag::Texts;
use crate::locker::{Conversion, LockError};
use crate::report::Failure;
use crate::resolve::SelectError;
use crate::run::root::Root;

/// Makes sure that a configuration requires no provider that is built into the other program alone.
///
/// # Errors
/// If it does, for the first such provider.
pub(super) fn check_builtin(root: &Root, loaded: &Loaded, texts: &Texts) -> Result<(), Failure> {
    let old = other_flavor(root.flavor);
    for (addr, places) in &loaded.requirements.providers {
        // A built-in provider has no entry to move; the host opentofu.org has some for OpenTofu alone
        // (`addr` rules 1.6).
        if addr.is_builtin(old) && !addr.is_builtin(root.flavor) {
            let places: Vec<String> = places
                .iter()
                .map(|requirement| place(requirement, texts))
                .collect();
            return Err(Failure::new(format!("{} has no provider {addr}", root.flavor.program())).because(format!(
                    "only {} knows it as built in; it is required by {}",
                    old.program(),
                    places.join(" and ")
                )).help(format!(
                    "write the source address terraform.io/builtin/{}, which both programs know",
                    addr.type_name()
                )));
        }
    }
    Ok(())
}

/// Explains the errors about moved entries that the registry of the program does not have; returns the other
/// errors as they are.
pub(crate) fn missing(
    conversion: &Conversion,
    errors: Vec<LockError>,
    root: &Root,
) -> (Vec<Failure>, Vec<LockError>) {
    let (mut missing, mut other_errors) = (Vec::new(), Vec::new());
    for error in errors {
        // The registry has the release, only not for this platform: that is no matter of the conversion.
        let is_of_platform = matches!(
            error,
            LockError::NoPlatform { .. } | LockError::PackagesNotAsked { .. }
        );
        let absent = error.absent().filter(|_| !is_of_platform);
        let moved = conversion
            .moved
            .iter()
            .find(|entry| absent == Some(&entry.to));
        let Some(moved) = moved else {
            other_errors.push(error);
            continue;
        };
        let short = moved.to.short(root.flavor);
        let (host, version) = (moved.to.hostname(), &moved.version);
        let is_locked = format!("{} {version} is locked", moved.from);
        // The version of an entry stays (`locker` rules 5.2), so another one is never taken in its place.
        let failure = if let LockError::Select(error) = &error
            && let SelectError::LockedGone { newest, .. } = &**error
        {
            Failure {
                title: format!("{host} does not offer {short} {version}"),
                causes: vec![is_locked],
                help: newest.as_ref().map(|newest| {
                    format!(
                        "lock a version that both registries have: this one has {newest}, and `lockctl update \
                         {short}@{newest}` moves to it if the other has it, too; then convert again"
                    )
                }),
            }
        } else {
            Failure::new(format!("{host} does not offer the provider {short}"))
                .because(is_locked)
                .because(error.to_string())
                .help(format!(
                    "write the source address in full, as {:?}, to keep it where it is",
                    moved.from.to_string()
                ))
        };
        missing.push(failure);
    }
    (missing, other_errors)
}
