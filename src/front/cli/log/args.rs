//! The arguments of `lockctl log`.

use std::borrow::Cow;

use clap::Args;

use crate::cli::args::{RootArgs, examples};
use crate::run::options::is_path;
use crate::run::typed_addr::TypedAddr;

/// Unlike other commands, `log` does not stop at the working directory.
const ROOTS_HELP: &str = "Root module directories [default: every lock file of the repository]";

/// Show the history of providers in the lock files of a git repository
///
/// Without a ROOT every lock file of the repository is listed. A ROOT may be one that was removed, and the
/// repository may be bare.
#[derive(Clone, Debug, Args)]
#[command(before_help = examples(&[
    ("lockctl log", "all providers"),
    ("lockctl log hashicorp/aws live/prod", "one provider in one root"),
    ("lockctl log -n 5", "what the newest five commits changed"),
]))]
#[command(mut_arg("roots", |arg| arg.help(ROOTS_HELP)))]
pub(in crate::front::cli) struct LogArgs {
    /// The provider, as in hashicorp/aws, or a type, as in aws [default: all providers]
    ///
    /// An argument that begins with a dot or a slash, or ends with a slash, is a ROOT.
    #[arg(value_name = "ADDR", value_parser = provider_or_root)]
    provider: Option<String>,
    #[command(flatten)]
    roots: RootArgs,
    /// Show the changes of the newest N commits only [default: all; of several lock files the newest 40 rows]
    ///
    /// Commits without a matching change do not count.
    #[arg(short = 'n', long, value_name = "N")]
    pub(super) max_count: Option<usize>,
}

/// Makes sure that a text is an address, or looks like a path.
fn provider_or_root(text: &str) -> Result<String, String> {
    if !is_path(text) {
        text.parse::<TypedAddr>()?;
    }
    Ok(text.to_owned())
}

impl LogArgs {
    /// Returns the provider, if one was typed, and the roots.
    ///
    /// What looks like a path is a root.
    pub(in crate::front::cli) fn provider_and_roots(&self) -> (Option<&str>, Cow<'_, RootArgs>) {
        match self.provider.as_deref() {
            Some(path) if is_path(path) => (None, Cow::Owned(self.roots.after(path))),
            provider => (provider, Cow::Borrowed(&self.roots)),
        }
    }
}
