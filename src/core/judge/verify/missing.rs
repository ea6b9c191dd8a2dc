//! A root that requires providers, or may require some, and has no lock file.

use super::inputs::RootInputs;
use crate::diag::{Diagnostic, Finding, RootCommand, counted, rules};
use crate::requirement::{UnseenCall, UnseenReason};

/// Maximum number of places that require a provider that are shown.
const MAX_REQUIRED: usize = 20;

/// Maximum number of calls that are not visible in the title.
const MAX_NAMED: usize = 3;

/// Reports the missing lock file of a root that requires providers, or may do so because its
/// configuration could not be read; as a warning if only modules that are not visible may require
/// some.
pub(super) fn check(root: &RootInputs<'_>) -> Option<Finding> {
    let requirements = root.requirements();
    let mut places = requirements
        .iter()
        .flat_map(|requirements| &requirements.providers)
        // A built-in provider is never locked (`resolve` rules 1.1).
        .filter(|(provider, _)| !provider.is_builtin(root.flavor))
        .filter_map(|(provider, places)| {
            Some((places.first()?, format!("{provider} is required here")))
        })
        .take(MAX_REQUIRED);
    let title = format!("There is no {}", root.lock_path.display());
    let help = root.advice.lock.run(if root.is_unread() {
        " to create it, after the configuration is repaired"
    } else {
        " to create it"
    });
    let diagnostic = Diagnostic::error(rules::LOCK_MISSING, title).help(help);
    let diagnostic = match places.next() {
        Some((place, note)) => {
            let diagnostic = diagnostic.at(place.file, place.span, note);
            places.fold(diagnostic, |diagnostic, (place, note)| {
                diagnostic.see(place.file, place.span, note)
            })
        }
        None if root.is_unread() => diagnostic,
        None => perhaps_missing(root, &requirements?.unseen_calls)?,
    };
    Some(diagnostic.into())
}

/// Warns that modules which are not visible may require providers.
fn perhaps_missing(root: &RootInputs<'_>, calls: &[UnseenCall]) -> Option<Diagnostic> {
    let (first, others) = calls.split_first()?;
    let mut names: Vec<String> = calls.iter().take(MAX_NAMED).map(UnseenCall::name).collect();
    if calls.len() > names.len() {
        names.push(format!("{} more", calls.len() - names.len()));
    }
    let (what, note) = if first.reason == UnseenReason::Generated {
        let file = format!("{} cannot be seen", first.name());
        (file, "this file may require providers")
    } else {
        let (calls, names) = (counted(calls.len(), "module call"), names.join(", "));
        let modules = format!("{calls} cannot be seen: {names}");
        (modules, "this module may require providers")
    };
    let title = format!("There is no {}, and {what}", root.lock_path.display());
    let mut diagnostic =
        Diagnostic::warning(rules::LOCK_MISSING, title).at(first.file, first.span, note);
    for call in others.iter().take(MAX_REQUIRED) {
        diagnostic = diagnostic.see(call.file, call.span, "and this one");
    }
    let program = root.flavor.command();
    let no_provider = "without any provider there is no lock file to create";
    // The reasons are in the order of what most likely helps; one command is enough for a warning.
    let help = match calls.iter().map(|call| call.reason).min()? {
        UnseenReason::NotHere => root.advice.lock.run(&format!(
            ", which fetches modules, or install them with `{program} get`; {no_provider}"
        )),
        UnseenReason::NotCheckedOut => {
            RootCommand::new("git submodule update --init").run(&format!("; {no_provider}"))
        }
        UnseenReason::FetchFailed => {
            format!("install the modules with `{program} get`; {no_provider}").into()
        }
        UnseenReason::NotComputed => format!(
            "give the values that the source needs with --var, or install the module with `{program} get`; \
             {no_provider}"
        )
        .into(),
        UnseenReason::Generated => format!(
            "`terragrunt init` writes this file, and then the lock file; {no_provider}"
        )
        .into(),
    };
    Some(diagnostic.help(help))
}
