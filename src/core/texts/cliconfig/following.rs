//! Installation methods that are not followed, and why (rules 5).

use std::collections::BTreeSet;

use super::{CliConfig, Installation, MethodKind, another_block};
use crate::addr::ProviderAddr;
use crate::diag::{Diagnostic, rules};
use crate::flavor::Flavor;

/// The rule of a `provider_installation` that is not followed.
const NOT_FOLLOWED: &str = rules::CLI_CONFIGURATION_NOT_FOLLOWED;

impl CliConfig {
    /// Reports that `provider_installation` is not followed, where there is one that changes anything:
    /// worse if registries may be out of reach, because nothing there is `direct`.
    #[must_use]
    pub fn not_followed(&self, flavor: Flavor) -> Option<Diagnostic> {
        if self.installations.iter().all(Installation::is_usual) {
            return None;
        }
        let [first, others @ ..] = self.installations.as_slice() else {
            return None;
        };
        let program = flavor.command();
        let note =
            format!("packages come from registries here, as with `{program} providers lock`");
        let title = "provider_installation is not followed";
        // Without `direct`, the user meant that no registry is asked: that is worth a warning.
        let mut diagnostic = if self.installations.iter().any(Installation::is_direct) {
            Diagnostic::note(NOT_FOLLOWED, title).at(first.file, first.span, note)
        } else {
            let note = format!("{note}, though it has no `direct` method");
            Diagnostic::warning(NOT_FOLLOWED, title).at(first.file, first.span, note)
        };
        for other in others {
            diagnostic = diagnostic.see(other.file, other.span, "neither is this");
        }
        Some(
            diagnostic
                .help("follow it with --installation cli, or name a mirror with --fs-mirror DIR"),
        )
    }

    /// Reports a second `provider_installation` block: which of them counts is not defined (rules 1.5).
    #[must_use]
    pub fn installed_twice(&self) -> Option<Diagnostic> {
        let [first, second, ..] = self.installations.as_slice() else {
            return None;
        };
        let title = "No more than one provider_installation block may be specified";
        let (at, first) = ((second.file, second.span), (first.file, first.span));
        Some(another_block(title, at, first))
    }

    /// Lists the providers that are run from a directory.
    #[must_use]
    pub fn overridden(&self) -> BTreeSet<ProviderAddr> {
        self.installations
            .iter()
            .flat_map(|block| &block.methods)
            .filter_map(|method| match &method.kind {
                MethodKind::DevOverrides(overrides) => Some(overrides.keys().cloned()),
                _ => None,
            })
            .flatten()
            .collect()
    }
}
