//! What is typed for `lockctl log`.

use std::borrow::Cow;

use clap::Args;

use crate::cli::args::Roots;

/// Show the history of a provider, or of all, in the lock file of a git repository
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct Log {
    /// The provider, as in hashicorp/aws; a type alone stands for every provider of that type, and
    /// what begins with a dot or a slash is a ROOT [default: all providers]
    #[arg(value_name = "ADDR")]
    provider: Option<String>,
    #[command(flatten)]
    roots: Roots,
}

impl Log {
    /// Returns the provider, if one was typed, and the roots.
    ///
    /// What begins like a path is a root: no address begins with a dot or a slash.
    pub(in crate::cli) fn provider_and_roots(&self) -> (Option<&str>, Cow<'_, Roots>) {
        match self.provider.as_deref() {
            Some(path) if path.starts_with(['.', '/']) => {
                (None, Cow::Owned(self.roots.after(path)))
            }
            provider => (provider, Cow::Borrowed(&self.roots)),
        }
    }
}
