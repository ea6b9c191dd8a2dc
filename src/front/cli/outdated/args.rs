//! The arguments of `lockctl outdated`.

use clap::{Args, ValueEnum};

use crate::cli::args::{Configuration, RootArgs, examples};
use crate::cli::source_args::SourceArgs;
use crate::version::Upgrade;

/// Compare locked versions with the newest ones
///
/// For each provider it shows the locked version, the newest that the constraints allow, the newest
/// release, and which constraints exclude that. Nothing is downloaded or written. A ROOT that is no directory
/// is a provider, as in hashicorp/aws or aws: only named ones are compared.
#[derive(Clone, Debug, Args)]
#[command(before_help = examples(&[
    ("lockctl outdated", "what can be updated, what is held back"),
    ("lockctl outdated -r --fail-on major", "all roots; fail if a major step is due"),
    ("lockctl outdated hashicorp/aws", "compare one provider"),
    ("lockctl outdated --format markdown", "a table for a pull request"),
]))]
pub(in crate::front::cli) struct OutdatedArgs {
    #[command(flatten)]
    pub(super) roots: RootArgs,
    #[command(flatten)]
    pub(super) configuration: Configuration,
    #[command(flatten)]
    pub(super) source: SourceArgs,
    /// Exit with code 1 if a provider is behind the newest release by this step or a larger one
    ///
    /// It makes no difference whether constraints allow the newest release; to check only what `update`
    /// would move, use `lockctl update --check`.
    #[arg(long, value_enum, value_name = "STEP")]
    pub(super) fail_on: Option<FailOn>,
}

/// The smallest step that makes an outdated provider a bad answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum FailOn {
    Patch,
    Minor,
    Major,
}

impl FailOn {
    /// Returns whether a step is at least as large.
    pub(super) fn includes(self, step: Upgrade) -> bool {
        match self {
            // From a pre-release to its release is a step as well.
            Self::Patch => step >= Upgrade::Prerelease,
            Self::Minor => step >= Upgrade::Minor,
            Self::Major => step >= Upgrade::Major,
        }
    }
}
