//! The results of all roots of a run.

use std::path::{Path, PathBuf};

use crate::diag::{Texts, counted};
use crate::report::{CommandResult, Failure, RootResult, Sentence};
use crate::run::unseen::some_of;

/// The results of all roots of a run.
#[derive(Clone, Default)]
pub(crate) struct RootResults {
    pub(crate) results: Vec<RootResult>,
    /// Everything that was read.
    pub(crate) texts: Texts,
    /// Directories with configuration that no root covers, if roots were searched for.
    pub(crate) not_locked: Option<Vec<PathBuf>>,
    /// The number of unchanged roots, and the revision they were compared with, if the work is limited to
    /// changed roots.
    pub(super) unchanged: Option<(usize, String)>,
    /// The sentence about lock files without configuration that were passed over.
    pub(super) not_compared: Option<String>,
    /// The files of stacks of Terragrunt, if roots were searched for.
    pub(super) stacks: Vec<PathBuf>,
    /// Git submodules that are not checked out, if roots were searched for.
    pub(super) submodules: Vec<PathBuf>,
}

impl RootResults {
    /// Makes the result of a command.
    pub(crate) fn into_result(self, command: &'static str) -> CommandResult {
        let not_locked = self
            .not_locked
            .map(|dirs| dirs.iter().map(|dir| dir.display().to_string()).collect());
        let mut result = CommandResult::of_roots(command, self.results, self.texts);
        result.not_locked = not_locked;
        if let Some((count, since)) = self.unchanged {
            result.unchanged = Some(count);
            let checked = result.roots().len();
            let all = counted(checked + count, "root");
            let what = match checked {
                0 => format!("no file of {all} changed{since}"),
                _ => {
                    format!("a file of {checked} of {all} changed{since}, or could not be compared")
                }
            };
            result.remarks.push(Sentence::note(what));
        }
        result.remarks.extend(self.not_compared.map(Sentence::note));
        if !self.stacks.is_empty() {
            let stacks = match self.stacks.len() {
                1 => "a stack of Terragrunt is not read",
                _ => "stacks of Terragrunt are not read",
            };
            let names = self.stacks.iter().map(|path| path.display().to_string());
            result.remarks.push(Sentence::note(format!(
                "{stacks}: {}; `terragrunt stack generate` writes its units to .terragrunt-stack",
                some_of(names).join(", ")
            )));
        }
        let (what, are) = match self.submodules.len() {
            0 => return result,
            1 => ("git submodule", "is"),
            _ => ("git submodules", "are"),
        };
        let names = self.submodules.iter().map(|dir| dir.display().to_string());
        result.remarks.push(Sentence::note(format!(
            "the {what} {} {are} not checked out, so roots in there are not found; run `git submodule \
             update --init`",
            some_of(names).join(", ")
        )));
        result
    }

    /// Adds the failure of a directory that is not opened.
    pub(super) fn fail(&mut self, dir: &Path, failure: Failure) {
        let mut result = RootResult::new(dir.display().to_string());
        result.fail(failure);
        self.results.push(result);
    }
}
