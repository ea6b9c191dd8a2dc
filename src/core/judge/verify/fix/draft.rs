//! The lock file that repairs lead to, made step by step.

use std::collections::BTreeMap;

use super::Repair;
use crate::addr::ProviderAddr;
use crate::diag::{Diagnostic, Finding, rules};
use crate::hash::{Hashes, Scheme};
use crate::lockfile::{self, Document, LockFile, ProviderLock};
use crate::verify::subject::CheckedLock;
use crate::version::Constraints;

/// A lock file with the repairs so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Draft {
    /// The lock file to write, if anything was repaired.
    pub(super) lock: LockFile,
    /// The repairs, in report order.
    pub(super) repairs: Vec<Repair>,
    /// The findings that need a decision.
    pub(super) left: Vec<String>,
}

impl Draft {
    /// Starts with the entries of a lock file: texts in their only right form, blocks of one provider joined.
    ///
    /// Blocks of the same version become one with the hashes and the constraints of all, as a merge
    /// of both sides gives it. Lists of `zh:` must not contradict each other for that: each is the
    /// signed list of the one release. `None` if the file has any other error, since what could not
    /// be read would be lost.
    pub(super) fn new(document: &Document, diagnostics: &[Diagnostic]) -> Option<Self> {
        let repaired = document.with_right_forms(diagnostics)?;
        let mut draft = Self {
            lock: repaired.lock,
            repairs: document
                .faulty
                .iter()
                .flat_map(|entry| {
                    entry.forms.iter().map(|form| {
                        let text = form.sentence(&entry.addr);
                        Repair::of(form.rule, &entry.addr, text)
                    })
                })
                .collect(),
            left: Vec::new(),
        };
        let mut repeated: BTreeMap<&ProviderAddr, Vec<&ProviderLock>> = BTreeMap::new();
        for (provider, entry) in &repaired.repeated {
            repeated.entry(provider).or_default().push(entry);
        }
        // All blocks of a provider are compared at once: the third may contradict what the first two became.
        for (provider, others) in repeated {
            draft.join(provider, &others);
        }
        // Blocks that could not be joined stay an error of the file: it is not written half repaired.
        if !draft.left.is_empty() {
            draft.repairs.clear();
        }
        Some(draft)
    }

    /// Joins blocks of one provider, unless they lock different versions or contradict each other.
    fn join(&mut self, provider: &ProviderAddr, others: &[&ProviderLock]) {
        let Some(entry) = self.lock.providers.get_mut(provider) else {
            return;
        };
        let first = entry.version.clone();
        if let Some(other) = others.iter().find(|other| other.version != first) {
            self.left.push(format!(
                "{provider} is locked at {first} and at {}; it is unknown which is meant",
                other.version
            ));
            return;
        }
        for other in others {
            // Two signed lists of one release are equal: one of these is not signed, and it is unknown which.
            let lists_more = |a: &Hashes, b: &Hashes| a.of(Scheme::Zh).any(|zh| !b.contains(zh));
            if lists_more(&entry.hashes, &other.hashes) && lists_more(&other.hashes, &entry.hashes)
            {
                self.left.push(format!(
                    "{provider} {first} is locked with two lists of zh: that cannot both be those of the release"
                ));
                return;
            }
            // Sets merge as two sides without a common base do (`review` rules 1.2).
            let constraints = std::mem::take(&mut entry.constraints);
            entry.constraints = constraints.union(other.constraints.clone());
            entry.hashes = entry.hashes.union(&other.hashes);
        }
        let blocks = others.len() + 1;
        let text = format!("{blocks} blocks of {provider} {first} became one");
        self.repairs
            .push(Repair::of(rules::DUPLICATE_PROVIDER, provider, text));
    }

    /// Repairs the findings about the joined lock file, which is the document of `subject`; `bytes`
    /// are the text as it was read.
    ///
    /// The caller leaves out findings that are turned off. Findings of other rules need a decision. The file is
    /// always written in canonical form, and that is a repair, too.
    pub(super) fn repair(&mut self, subject: CheckedLock<'_>, bytes: &[u8], findings: &[Finding]) {
        let was_refused = !self.repairs.is_empty();
        for finding in findings {
            match (finding.diagnostic.code, &finding.provider) {
                (rules::CONSTRAINTS_STALE, Some(provider)) => self.refresh(subject, provider),
                (rules::PROVIDER_NOT_REQUIRED, Some(provider)) => {
                    self.drop_entry(subject, provider)
                }
                _ => {}
            }
        }
        let written = lockfile::write(&subject.document.lock, subject.flavor);
        let wanted = findings
            .iter()
            .any(|finding| finding.diagnostic.code == rules::FILE_NOT_CANONICAL);
        let is_rewritten = wanted || !self.repairs.is_empty();
        // A file that the programs refuse cannot be canonical: what was wrong with it says so already.
        if is_rewritten && !was_refused && written.as_bytes() != bytes {
            self.repairs.push(Repair {
                rule: rules::FILE_NOT_CANONICAL,
                provider: None,
                text: format!(
                    "the file is written as `{}` writes it",
                    subject.flavor.command()
                ),
            });
        }
    }

    fn refresh(&mut self, subject: CheckedLock<'_>, provider: &ProviderAddr) {
        let entry = self.lock.providers.get_mut(provider);
        let (Some(requirements), Some(entry)) = (subject.requirements, entry) else {
            return;
        };
        // Locking would stop here, too: which of the two moves is a decision.
        let conditions = requirements.on_locked(provider, &entry.version, &entry.constraints);
        if !conditions.allows(&entry.version) {
            self.left.push(format!(
                "the constraints of {provider} stay as recorded, since the locked version {} does not meet those of \
                 the configuration",
                entry.version
            ));
            return;
        }
        let after = requirements.to_record(provider, &entry.constraints);
        let before = std::mem::replace(&mut entry.constraints, after.clone());
        let (before, after) = (quoted(&before), quoted(&after));
        let text = format!("the constraints of {provider} are {after}, not {before}");
        self.repairs
            .push(Repair::of(rules::CONSTRAINTS_STALE, provider, text));
    }

    fn drop_entry(&mut self, subject: CheckedLock<'_>, provider: &ProviderAddr) {
        if let Some(twin) = subject.waiting_twin(provider) {
            self.left.push(format!(
                "{provider} is not dropped before {twin} is locked at its version"
            ));
            return;
        }
        if let Some(entry) = self.lock.providers.remove(provider) {
            let version = entry.version;
            let text = format!("{provider} {version} is dropped: nothing requires it");
            self.repairs
                .push(Repair::of(rules::PROVIDER_NOT_REQUIRED, provider, text));
        }
    }
}

fn quoted(constraints: &Constraints) -> String {
    if constraints.is_empty() {
        "none".to_owned()
    } else {
        format!("\"{constraints}\"")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Texts;
    use crate::flavor::Flavor;
    use crate::verify::Advice;

    const H1: &str = "h1:vSUZJPJlJhDOkbAT+iqt7AAQArew8uExp71bJtBUdMw=";
    const OTHER: &str = "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";

    fn block(version: &str, more: &str) -> String {
        format!("provider \"e.com/t/x\" {{\n  version = \"{version}\"\n{more}}}\n")
    }

    fn hashes(listed: &[&str]) -> String {
        format!("  hashes = [\"{}\"]\n", listed.join("\", \""))
    }

    /// Says what becomes of a text by itself, all of whose findings are `codes` about its provider.
    fn outcome(text: &str, codes: &[&'static str]) -> Vec<String> {
        let flavor = Flavor::Terraform1_16;
        let file = Texts::default().add("lock", text.as_bytes());
        let (document, diagnostics) = lockfile::parse(file, text.as_bytes(), flavor);
        let Some(mut draft) = Draft::new(&document, &diagnostics) else {
            return vec!["unreadable".to_owned()];
        };
        let provider = ProviderAddr::parse("e.com/t/x", flavor).expect("valid");
        let findings: Vec<Finding> = codes
            .iter()
            .map(|code| Finding::about(&provider, Diagnostic::note(code, "")))
            .collect();
        let subject = CheckedLock {
            document: &Document {
                lock: draft.lock.clone(),
                ..Document::default()
            },
            file,
            flavor,
            requirements: None,
            advice: &Advice::here(),
        };
        if draft.left.is_empty() {
            draft.repair(subject, text.as_bytes(), &findings);
        }
        let repairs = draft.repairs.into_iter().map(|repair| repair.text);
        repairs.chain(draft.left).collect()
    }

    #[track_caller]
    fn check(text: &str, codes: &[&'static str], wanted: &[&str]) {
        assert_eq!(outcome(text, codes), wanted, "{text}");
    }

    #[test]
    fn only_findings_are_followed() {
        let form = "the file is written as `terraform` writes it";
        let dropped = "e.com/t/x 1.0.0 is dropped: nothing requires it";
        let loose = block("1.0.0", "");
        check(&loose, &[], &[]);
        check(&loose, &["file-not-canonical"], &[form]);
        check(&loose, &["provider-not-required"], &[dropped, form]);
        let header = Flavor::Terraform1_16.header();
        let good = format!("{header}\n{loose}");
        check(&good, &["provider-not-required"], &[dropped]);
        // Nothing is refreshed from a configuration that was not read.
        check(&good, &["constraints-stale", "hash-not-well-formed"], &[]);
    }

    #[test]
    fn blocks_are_joined_where_they_agree() {
        let joined = "2 blocks of e.com/t/x 1.0.0 became one";
        let pair = |a: &str, b: &str| block("1.0.0", a) + &block("1.0.0", b);
        let zh = |digits: &[&str]| {
            let all: Vec<String> = digits
                .iter()
                .map(|d| format!("zh:{}", d.repeat(64)))
                .collect();
            hashes(&all.iter().map(String::as_str).collect::<Vec<_>>())
        };
        check(&pair("", ""), &["file-not-canonical"], &[joined]);
        check(&pair(&hashes(&[H1]), &hashes(&[OTHER])), &[], &[joined]);
        check(&pair(&zh(&["a", "b"]), &zh(&["b"])), &[], &[joined]);
        check(&pair(&zh(&["a", "b"]), &hashes(&[H1])), &[], &[joined]);
        check(
            &pair(&zh(&["a", "b"]), &zh(&["b", "c"])),
            &[],
            &[
                "e.com/t/x 1.0.0 is locked with two lists of zh: that cannot both be those of the release",
            ],
        );
        check(
            &(pair("", "") + &block("1.0.1", "")),
            &[],
            &["e.com/t/x is locked at 1.0.0 and at 1.0.1; it is unknown which is meant"],
        );
    }

    #[test]
    fn texts_get_their_only_form() {
        let version = "the version of e.com/t/x must be written \"1.0.0\", not \"1.0\"";
        let prefixed = "the version of e.com/t/x must be written \"1.0.0\", not \"v1.0.0\"";
        let constraints = "the constraints of e.com/t/x must be written \"~> 1.0\", not \"~>1\"";
        let label = "the address must be written \"e.com/t/x\", not \"E.com/t/x\"";
        let loose = "  constraints = \"~>1\"\n";
        check(&block("1.0", loose), &[], &[version, constraints]);
        check(&block("v1.0.0", ""), &["file-not-canonical"], &[prefixed]);
        let labelled = block("1.0", "").replace("e.com", "E.com");
        check(&labelled, &[], &[label, version]);
        let joined = "2 blocks of e.com/t/x 1.0.0 became one";
        check(
            &(block("1.0", "") + &block("1.0.0", "")),
            &[],
            &[version, joined],
        );
        check(
            &(labelled + &block("1.0.0", "")),
            &[],
            &[label, version, joined],
        );
    }

    #[test]
    fn nothing_is_made_of_what_cannot_be_read() {
        let good = block("1.0.0", "");
        for bad in [
            good.clone() + &block("x", ""),
            block("x", "") + &good,
            block("1.0", "  oops = 1\n"),
            block("1.0", "  hashes = [\"h1\"]\n"),
            good.clone() + &good + &block("1.0.0", "  oops = 1\n"),
            good.clone() + &good.replace("e.com/t/x", "e.com/t"),
            good.clone() + &good + "oops {}\n",
        ] {
            check(&bad, &["file-not-canonical"], &["unreadable"]);
        }
    }
}
