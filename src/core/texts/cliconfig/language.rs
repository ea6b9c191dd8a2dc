//! The names that a CLI configuration may hold, and what is wrong with those of a file.

use crate::diag::{Diagnostic, FileId, Span, did_you_mean, rules};
use crate::hcl::tree::Word;

/// Every name that one of the programs has at the top of a file (rules 2 to 5).
pub(super) const TOPS: [&str; 13] = [
    "credentials",
    "credentials_helper",
    "disable_checkpoint",
    "disable_checkpoint_signature",
    "host",
    "oci_credentials",
    "oci_default_credentials",
    "plugin_cache_dir",
    "plugin_cache_may_break_dependency_lock_file",
    "provider_installation",
    "providers",
    "provisioners",
    "registry_protocols",
];

/// Maximum length of a wrong name that a message repeats, in bytes.
pub(super) const MAX_NAMED: usize = 256;

/// The problems of one file.
pub(super) struct Findings {
    pub(super) file: FileId,
    pub(super) list: Vec<Diagnostic>,
}

impl Findings {
    pub(super) fn push(&mut self, diagnostic: Diagnostic, at: Span, note: impl Into<String>) {
        self.list.push(diagnostic.at(self.file, at, note));
    }

    /// Adds an error that belongs to no narrower rule.
    pub(super) fn invalid(&mut self, title: impl Into<String>, at: Span, note: impl Into<String>) {
        let error = Diagnostic::error(rules::CLI_CONFIGURATION_INVALID, title);
        self.push(error, at, note);
    }

    pub(super) fn wrong_type(&mut self, title: impl Into<String>, at: Span, note: &str) {
        self.push(Diagnostic::error(rules::WRONG_TYPE, title), at, note);
    }

    /// Reports an argument that the programs ignore silently.
    pub(super) fn unknown_argument(&mut self, name: &Word, known: &[&str]) {
        let warning = Diagnostic::warning(rules::UNSUPPORTED_ITEM, "Unsupported argument");
        let note = "neither Terraform nor OpenTofu has such an argument; they ignore it silently";
        let help = did_you_mean(&name.text, known);
        let help = help.unwrap_or_else(|| "delete the argument".to_owned());
        self.push(warning.help(help), name.span, note);
    }

    /// Reports a name that Terraform ignores.
    pub(super) fn opentofu_only(&mut self, name: &Word, what: &str) {
        let title = format!("{} has no effect in Terraform", name.text);
        let warning = Diagnostic::warning(rules::CLI_CONFIGURATION_WITHOUT_EFFECT, title);
        self.push(warning, name.span, format!("only OpenTofu has this {what}"));
    }
}
