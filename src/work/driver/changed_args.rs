//! The options that leave out unchanged roots.

use std::ffi::OsString;
use std::path::Path;

use clap::Args;

use crate::advice;
use crate::driver::ChangedFiles;
use crate::git::{GitError, Repository};
use crate::report::Failure;
use crate::run::options::RootArgs;
use crate::run::session::Session;
use crate::world::{Files, clean};

/// Options about files that changed.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ChangedArgs {
    /// Leave out roots of which no file changed since this revision
    ///
    /// Files of a root are its own, those of its local modules and all others that are read for it, the
    /// project file included. Changes that are not committed count, and files that are not tracked unless git
    /// ignores them. `main...` means the commit where this branch left main.
    #[arg(long, value_name = "REF")]
    since: Option<String>,
    /// With -r, take each ROOT as a file that changed, and leave out all other roots
    ///
    /// For programs that know which files changed, such as pre-commit. Roots are found below the working
    /// directory.
    #[arg(long, requires = "recursive", conflicts_with = "since")]
    changed: bool,
}

impl ChangedArgs {
    /// Returns the roots that are meant: with `--changed`, those that are found in the working directory.
    pub(crate) fn roots(&self, typed: &RootArgs) -> RootArgs {
        if self.changed {
            RootArgs {
                roots: Vec::new(),
                ..typed.clone()
            }
        } else {
            typed.clone()
        }
    }

    /// Returns true if no root is left out.
    pub(crate) fn is_off(&self) -> bool {
        self.since.is_none() && !self.changed
    }

    /// Finds the files that changed; `None` if all roots are meant.
    ///
    /// # Errors
    /// If the revision names nothing, or git does not answer.
    pub(crate) fn files(
        &self,
        session: &Session<'_>,
        typed: &RootArgs,
    ) -> Result<Option<ChangedFiles>, Failure> {
        let (options, world) = (session.options, session.world);
        let current = world.env.current_dir().unwrap_or_default();
        if self.changed {
            let absolute = |path| clean(&current.join(options.below(path)));
            let named = ChangedFiles {
                since: String::new(),
                paths: typed.roots.iter().map(|path| absolute(path)).collect(),
                top: None,
            };
            return Ok(Some(named.with_targets(world.disk)));
        }
        let Some(since) = &self.since else {
            return Ok(None);
        };
        let compare = || {
            let repository = Repository::find(world.run, &options.below(Path::new(".")))?;
            let top = repository.top().ok_or(GitError::Bare)?.to_owned();
            let paths = repository.changed_paths(&repository.since(since)?)?;
            Ok((top, paths))
        };
        let (top, paths) = compare().map_err(|error: GitError| advice::git::failure(&error))?;
        let top = clean(&current.join(top));
        // git lists paths without links, and the working directory may have been reached through one.
        let resolved = world.disk.resolve(&top).unwrap_or_else(|_| top.clone());
        let changed = ChangedFiles {
            since: format!(" since {since}"),
            paths: [&top, &resolved]
                .into_iter()
                .flat_map(|top| paths.iter().map(|path| top.join(path)))
                .collect(),
            top: Some(top),
        };
        Ok(Some(changed.with_targets(world.disk)))
    }
}

/// Finds a word behind `--changed` that reads as an option and is the name of a file.
///
/// pre-commit appends the names of files that strangers chose. Taken for an option, `-h.tf` prints the help
/// and ends with 0, and `--config=x.tf` turns off the rules that `x.tf` says.
pub(crate) fn ambiguous_file<'a>(args: &'a [OsString], files: &dyn Files) -> Option<&'a OsString> {
    args.iter()
        .take_while(|arg| *arg != "--")
        .skip_while(|arg| *arg != "--changed")
        .skip(1)
        .filter(|arg| arg.as_encoded_bytes().starts_with(b"-"))
        .find(|arg| files.kind(Path::new(arg)).is_ok())
}
