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
    /// The numbers of roots, if the work is limited to changed roots.
    pub(super) changed: Option<ChangedRoots>,
    /// The sentence about lock files without configuration that were passed over.
    pub(super) not_compared: Option<String>,
    /// The files of stacks of Terragrunt, if roots were searched for.
    pub(super) stacks: Vec<PathBuf>,
    /// Git submodules that are not checked out, if roots were searched for.
    pub(super) submodules: Vec<PathBuf>,
}

/// The roots of a run that is limited to changed roots.
#[derive(Clone)]
pub(super) struct ChangedRoots {
    /// The number of roots that were left out.
    pub(super) unchanged: usize,
    /// The number of roots that stay because not all of their files could be compared.
    pub(super) not_compared: usize,
    /// Says in words what files were compared with, as in ` since main`; empty if they were named.
    pub(super) since: String,
}

impl ChangedRoots {
    /// Says which of the roots have changed files; `worked_on` is the number of those that stay.
    fn sentence(&self, worked_on: usize) -> String {
        let since = &self.since;
        let all = counted(worked_on + self.unchanged, "root");
        let mut text = match worked_on.saturating_sub(self.not_compared) {
            0 if self.not_compared == 0 => format!("no file of {all} changed{since}"),
            0 => format!("no file of {all} is known to have changed{since}"),
            changed => format!("a file of {changed} of {all} changed{since}"),
        };
        match self.not_compared {
            0 => {}
            1 => text += "; not all files of 1 could be compared, so it was not passed over",
            count => {
                text += &format!(
                    "; not all files of {count} could be compared, so they were not passed over"
                );
            }
        }
        if worked_on > 0 && self.unchanged > 0 {
            text += "; the others were passed over";
        }
        text
    }
}

impl RootResults {
    /// Makes the result of a command.
    pub(crate) fn into_result(self, command: &'static str) -> CommandResult {
        let not_locked = self
            .not_locked
            .map(|dirs| dirs.iter().map(|dir| dir.display().to_string()).collect());
        let mut result = CommandResult::of_roots(command, self.results, self.texts);
        result.not_locked = not_locked;
        if let Some(changed) = self.changed {
            result.unchanged = Some(changed.unchanged);
            let text = changed.sentence(result.roots().len());
            result.remarks.push(Sentence::note(text));
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
