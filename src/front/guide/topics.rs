//! The pages of `lockctl explain` that are about lockctl as a whole, beside those of the rules.

/// A page about lockctl as a whole, as the exit codes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Topic {
    /// Its name, as typed.
    pub name: &'static str,
    /// The subject in a few words, without a period.
    pub summary: &'static str,
    /// The page: Markdown that begins with a heading, of the same kind as the page of a rule.
    pub page: &'static str,
}

/// Makes the table of topics: name and summary. The page is the file of that name.
macro_rules! topics {
    ($($name:literal: $summary:literal;)*) => {
        /// Every topic, sorted by name.
        pub const TOPICS: &[Topic] = &[$(Topic {
            name: $name,
            summary: $summary,
            page: include_str!(concat!("topics/", $name, ".md")),
        }),*];
    };
}

topics! {
    "audit": "known vulnerabilities of locked providers";
    "changes": "what another version of a provider brings";
    "ci": "GitHub Actions, GitLab, pre-commit";
    "config": "a module after its override files, printed";
    "configuration": "what is read of a configuration and its modules";
    "contents": "what programs were built from, if known";
    "convert": "a lock file for the other program";
    "differences": "where lockctl acts otherwise than the programs";
    "edit": "constraints that are raised, providers that moved";
    "errors": "what errors of terraform and tofu mean";
    "exit-codes": "what 0, 1 and 2 mean";
    "facts": "what lock keeps about packages, and who trusts it";
    "flavors": "whose rules apply: Terraform or OpenTofu";
    "formats": "JSON, Markdown, SARIF, JUnit and other output";
    "git": "merge driver, readable diffs, review of a branch";
    "limits": "how large input may be, how slow a server";
    "matrix": "how init and plan are predicted";
    "mirror": "packages of lock files, for init without requests";
    "modules": "how remote modules are found, kept and pinned";
    "network": "registries, mirrors, credentials, proxies";
    "policy": "what may be locked: three ready policies";
    "project-file": ".lockctl.hcl: platforms, rules, policy";
    "provenance": "where packages were built: attestations of GitHub";
    "report": "one HTML page about all roots, and pictures";
    "roots": "which directories -r finds";
    "sbom": "bills of materials: CycloneDX, SPDX, GitHub";
    "shared-store": "facts that many machines share, and whose count";
    "terragrunt": "how units are evaluated and locked";
    "trust": "which hashes are recorded, and why";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_and_none_is_a_rule() {
        assert!(TOPICS.is_sorted_by(|a, b| a.name < b.name));
        let is_rule = |name| crate::diag::RULES.iter().any(|rule| rule.name == name);
        assert!(!TOPICS.iter().any(|topic| is_rule(topic.name)));
    }
}
