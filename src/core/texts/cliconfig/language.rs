//! The names that a CLI configuration may hold.

use crate::diag::{Diagnostic, FileId, did_you_mean, rules};
use crate::hcl::tree::Word;

/// A name at the top of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Top {
    Host,
    Credentials,
    Helper,
    Installation,
    CacheDir,
    CacheMayBreak,
    /// Known and not read yet, or of no concern here.
    Unread,
    /// Credentials for registries of OCI artifacts; OpenTofu only.
    OciCredentials,
    /// Other places for those; OpenTofu only.
    OciDefaults,
    /// Requests to registries; OpenTofu only.
    Protocols,
}

/// Every name that one of the programs has (rules 2 to 5).
pub(super) const TOPS: [(&str, Top); 13] = [
    ("credentials", Top::Credentials),
    ("credentials_helper", Top::Helper),
    ("disable_checkpoint", Top::Unread),
    ("disable_checkpoint_signature", Top::Unread),
    ("host", Top::Host),
    ("oci_credentials", Top::OciCredentials),
    ("oci_default_credentials", Top::OciDefaults),
    ("plugin_cache_dir", Top::CacheDir),
    (
        "plugin_cache_may_break_dependency_lock_file",
        Top::CacheMayBreak,
    ),
    ("provider_installation", Top::Installation),
    ("providers", Top::Unread),
    ("provisioners", Top::Unread),
    ("registry_protocols", Top::Protocols),
];

/// Maximum length of a wrong name that a message repeats, in bytes.
pub(super) const MAX_NAMED: usize = 256;

/// Reports an argument that the programs ignore silently.
pub(super) fn unknown_argument(file: FileId, name: &Word, known: &[&str]) -> Diagnostic {
    let warning = Diagnostic::warning(rules::UNSUPPORTED_ITEM, "Unsupported argument");
    let note = "neither Terraform nor OpenTofu has such an argument; they ignore it silently";
    let help = did_you_mean(&name.text, known);
    let help = help.unwrap_or_else(|| "delete the argument".to_owned());
    warning.at(file, name.span, note).help(help)
}

/// Reports a name that Terraform ignores.
pub(super) fn opentofu_only(file: FileId, name: &Word, what: &str) -> Diagnostic {
    let title = format!("{} has no effect in Terraform", name.text);
    let warning = Diagnostic::warning(rules::CLI_CONFIGURATION_WITHOUT_EFFECT, title);
    warning.at(file, name.span, format!("only OpenTofu has this {what}"))
}
