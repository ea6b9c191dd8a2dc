//! The arguments of `lockctl merge`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::cli::args::examples;
use crate::review::{self, MARKER_SIZE};

/// Merge three versions of a lock file, as a merge driver of git
#[derive(Clone, Debug, Args)]
#[command(before_help = examples(&[
    ("lockctl merge base.hcl ours.hcl theirs.hcl", "write the result to ours.hcl"),
    ("lockctl git install", "let git do this in every merge"),
]))]
pub(in crate::front::cli) struct MergeArgs {
    /// The lock file that both sides started from (%O of git)
    #[arg(value_name = "BASE")]
    pub(in crate::front::cli) base: PathBuf,
    /// Our lock file (%A); the result replaces it
    #[arg(value_name = "OURS")]
    pub(in crate::front::cli) ours: PathBuf,
    /// Their lock file (%B)
    #[arg(value_name = "THEIRS")]
    pub(in crate::front::cli) theirs: PathBuf,
    #[command(flatten)]
    pub(in crate::front::cli) policy: MergePolicy,
    /// The path of the lock file, for messages (%P) [default: OURS]
    #[arg(long, value_name = "PATH")]
    pub(in crate::front::cli) path: Option<PathBuf>,
    /// How conflicts are marked; all but `merge` show the base [default: as configured in git]
    #[arg(long, value_enum, value_name = "STYLE")]
    pub(in crate::front::cli) conflict_style: Option<Style>,
    /// How many characters a conflict marker has, at least 7 (%L)
    #[arg(long, value_name = "N", default_value_t = MARKER_SIZE)]
    pub(in crate::front::cli) marker_size: usize,
    /// The text after the marker of our side (%X)
    #[arg(long, value_name = "TEXT", default_value = "ours", value_parser = label)]
    pub(in crate::front::cli) label_ours: SideLabel,
    /// The text after the marker of the base (%S)
    #[arg(long, value_name = "TEXT", default_value = "base", value_parser = label)]
    pub(in crate::front::cli) label_base: SideLabel,
    /// The text after the marker of their side (%Y)
    #[arg(long, value_name = "TEXT", default_value = "theirs", value_parser = label)]
    pub(in crate::front::cli) label_theirs: SideLabel,
}

#[derive(Clone, Copy, Debug, Args)]
pub(in crate::front::cli) struct MergePolicy {
    /// Which version is taken if both sides moved a provider
    ///
    /// `newest` takes the newer version if both moved up; `fail` leaves a conflict.
    #[arg(long, value_enum, value_name = "SIDE", default_value_t = PreferredSide::Newest)]
    prefer: PreferredSide,
}

/// The version that is taken if both sides moved a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PreferredSide {
    Newest,
    Ours,
    Theirs,
    Fail,
}

/// The markers of conflicts, as git names their styles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::front::cli) enum Style {
    Merge,
    Diff3,
    Zdiff3,
}

/// The text after a marker; `None` if a version of git does not replace the placeholder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::front::cli) struct SideLabel(Option<String>);

fn label(text: &str) -> Result<SideLabel, String> {
    // Older versions of git know no %S, %X and %Y, and hand them over as they are.
    let is_unknown = text.len() == 2 && text.starts_with('%');
    // A line feed would end the line of the marker.
    let line = text.replace(|c: char| c.is_control(), " ");
    Ok(SideLabel((!is_unknown).then_some(line)))
}

impl SideLabel {
    pub(in crate::front::cli) fn or(&self, other: &str) -> String {
        self.0.clone().unwrap_or_else(|| other.to_owned())
    }
}

impl MergePolicy {
    pub(in crate::front::cli) fn prefer(self) -> review::MergePreference {
        match self.prefer {
            PreferredSide::Newest => review::MergePreference::Newest,
            PreferredSide::Ours => review::MergePreference::Ours,
            PreferredSide::Theirs => review::MergePreference::Theirs,
            PreferredSide::Fail => review::MergePreference::Fail,
        }
    }
}
