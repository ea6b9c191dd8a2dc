//! The group *build*: compares the packages of a release with each other and with the address, if contents of their
//! programs are known.

use super::known::LockedBuilds;
use super::subject::CheckedLock;
use crate::addr::ProviderAddr;
use crate::contents::{BuildDisagreement, ReleaseBuilds, without_major};
use crate::diag::{Diagnostic, Finding, rules};
use crate::platform::{self, Platform};

/// The GitHub organisation of partner providers before the registry existed. Programs keep the path of their module
/// when they move, so the path does not identify their publisher.
const FORMER_ORGANISATION: &str = "terraform-providers";

/// Maximum number of commits that are shown; more are counted.
const MAX_COMMITS: usize = 5;

/// Reports packages of one release that differ in their source, and programs of another publisher's module.
#[must_use]
pub(super) fn check(subject: CheckedLock<'_>, known: &LockedBuilds) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (provider, builds) in known {
        // One finding for both: a platform that was built by hand usually differs in its commit and its tree.
        let disagreements = builds.disagreements();
        if !disagreements.is_empty() {
            findings.push(inconsistent(subject, provider, &disagreements));
        }
        findings.extend(of_another_module(subject, provider, builds));
    }
    findings
}

fn inconsistent(
    subject: CheckedLock<'_>,
    provider: &ProviderAddr,
    disagreements: &[BuildDisagreement],
) -> Finding {
    let mut remarks = Vec::new();
    for disagreement in disagreements {
        match disagreement {
            BuildDisagreement::Commits(commits) => {
                for (commit, platforms) in commits.iter().take(MAX_COMMITS) {
                    // The publisher chooses the text, which may have any length.
                    let commit: String = commit.chars().take(12).collect();
                    remarks.push(format!("commit {commit}: {}", joined(platforms)));
                }
                if commits.len() > MAX_COMMITS {
                    remarks.push(format!("and {} more commits", commits.len() - MAX_COMMITS));
                }
            }
            BuildDisagreement::Dirty { dirty, .. } => {
                remarks.push(format!(
                    "source that differs from its commit: {}",
                    joined(dirty)
                ));
            }
        }
    }
    // Different commits are the graver fault where both are there.
    let what = match disagreements {
        [BuildDisagreement::Dirty { .. }] => "partly from modified source",
        _ => "from different commits",
    };
    let version = subject
        .document
        .lock
        .providers
        .get(provider)
        .map(|entry| entry.version.to_string())
        .unwrap_or_default();
    let title = format!("the packages of {provider} {version} are built {what}");
    let diagnostic = Diagnostic::warning(rules::BUILD_INCONSISTENT, title)
        .at(subject.file, subject.version(provider), remarks.join("; "))
        .help(
            "compare the release with its tag and ask the publisher; `lockctl show --build` shows the build of each platform"
                .to_owned(),
        );
    Finding::about(provider, diagnostic)
}

/// Reports a main module that belongs to another namespace than the address: forks keep the path of their module.
fn of_another_module(
    subject: CheckedLock<'_>,
    provider: &ProviderAddr,
    builds: &ReleaseBuilds,
) -> Option<Finding> {
    // One module is enough: packages of several modules also differ in their commits (`build-inconsistent`).
    let modules = builds.platforms_by(|info| {
        let module = &info.main.as_ref()?.path;
        let publisher = publisher(module)?;
        let is_other = !publisher.eq_ignore_ascii_case(provider.namespace())
            && publisher != FORMER_ORGANISATION;
        is_other.then(|| module.clone())
    });
    let (module, platforms) = modules.first_key_value()?;
    let title = format!("{provider} is built from the module {module}");
    let diagnostic = Diagnostic::note(rules::BUILD_OF_ANOTHER_MODULE, title)
        .at(
            subject.file,
            subject.header(provider),
            format!("by the programs for {}", joined(platforms)),
        )
        .help(format!(
            "compare the address with the documentation of the provider: a fork keeps the path of its module, and so does \
             a copy; `lockctl why {provider}` shows which module requires it"
        ));
    Some(Finding::about(provider, diagnostic))
}

/// Returns the GitHub organisation of a provider's module; the registry requires providers to be on GitHub.
fn publisher(module: &str) -> Option<&str> {
    let rest = without_major(module).strip_prefix("github.com/")?;
    let (publisher, name) = rest.split_once('/')?;
    let is_provider = name.starts_with("terraform-provider-") && !name.contains('/');
    is_provider.then_some(publisher)
}

fn joined<'p>(platforms: impl IntoIterator<Item = &'p Platform>) -> String {
    let platforms: Vec<Platform> = platforms.into_iter().cloned().collect();
    platform::join(&platforms, ", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn publishers_are_organisations_of_github() {
        for (module, wanted) in [
            (
                "github.com/hashicorp/terraform-provider-aws",
                Some("hashicorp"),
            ),
            ("github.com/acme/terraform-provider-x/v12", Some("acme")),
            ("github.com/acme/terraform-provider-x/internal", None),
            ("github.com/acme/tool", None),
            ("gitlab.com/acme/terraform-provider-x", None),
            ("terraform-provider-x", None),
            ("", None),
        ] {
            assert_eq!(publisher(module), wanted, "{module}");
        }
    }
}
