//! Advice on roots that cannot be opened, read or written.

use std::io::ErrorKind;

use crate::diag::counted_as;
use crate::project;
use crate::project::roots::RootsError;
use crate::report::Failure;
use crate::run::unseen::some_of;
use crate::workspace::{LockCause, SpecialDirectory, WorkspaceError};

impl From<WorkspaceError> for Failure {
    fn from(error: WorkspaceError) -> Self {
        // Title and sources are the error's own; what the user can do is not known in `workspace`.
        let mut failure = Self::from_error(&error);
        failure.help = help(&error);
        failure.causes.extend(cause(&error));
        failure
    }
}

/// Returns what an error says beside its title, where it has no source that says it.
fn cause(error: &WorkspaceError) -> Option<String> {
    match error {
        WorkspaceError::NoConfiguration {
            flavor, special, ..
        } => Some(match special {
            None => format!(
                "there is no {} file",
                flavor.native_extensions().join(" or ")
            ),
            Some(special) => special_name(*special).to_owned(),
        }),
        WorkspaceError::TooLarge { .. } => {
            Some("a registry lists far more packages than any release has".to_owned())
        }
        WorkspaceError::KeepsChanging { .. } => {
            Some("something else writes it at the same time".to_owned())
        }
        WorkspaceError::NoRoot { not_locked, .. } => Some(match &**not_locked {
            [] => "no directory there holds configuration".to_owned(),
            dirs => {
                let hold = counted_as(
                    dirs.len(),
                    "directory holds configuration",
                    "directories hold configuration",
                );
                let names = dirs.iter().map(|dir| dir.display().to_string());
                let names = some_of(names).join(", ");
                format!("{hold}, but neither a lock file nor a backend: {names}")
            }
        }),
        _ => None,
    }
}

/// Says what a directory is that is no root.
pub(super) fn special_name(special: SpecialDirectory) -> &'static str {
    match special {
        SpecialDirectory::MissingSubmodule => "this is a git submodule that is not checked out",
        SpecialDirectory::Stack => "this is a Terraform Stack, which has a lock file of its own",
        SpecialDirectory::UnitStack => "this is a stack of Terragrunt, whose units are not read",
        SpecialDirectory::UnitParent => {
            "terragrunt.hcl has neither a source nor an include, and no .tf file is beside it, so it is no unit"
        }
    }
}

fn special_help(special: SpecialDirectory) -> &'static str {
    match special {
        SpecialDirectory::MissingSubmodule => "run `git submodule update --init`",
        SpecialDirectory::Stack => "run `terraform stacks providers-lock` there",
        SpecialDirectory::UnitStack => {
            "run `terragrunt stack generate` there, and name the units in .terragrunt-stack"
        }
        SpecialDirectory::UnitParent => "name the directory of a unit that includes it",
    }
}

fn help(error: &WorkspaceError) -> Option<String> {
    let help = match error {
        WorkspaceError::NoConfiguration {
            special: Some(special),
            ..
        } => special_help(*special),
        WorkspaceError::NotADirectory { .. }
        | WorkspaceError::UnreadableDirectory { .. }
        | WorkspaceError::NoConfiguration { .. } => "name the directory of a root module",
        WorkspaceError::DanglingLink { .. } => {
            "remove the link, or create the file that it leads to"
        }
        WorkspaceError::UnreadableLock {
            cause: LockCause::Io(cause),
            ..
        } if cause.kind() == ErrorKind::PermissionDenied => "make it readable",
        WorkspaceError::UnreadableLock { .. } => {
            "a lock file is a small regular file; restore it from version control"
        }
        // The command depends on what was typed.
        WorkspaceError::NoLock { .. } => return None,
        WorkspaceError::Unwritable { cause, .. } => match cause.kind() {
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
                "nothing was written; make the directory writable"
            }
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
                "nothing was written; make room on the disk"
            }
            _ => "nothing was written",
        },
        WorkspaceError::TooLarge { .. } => {
            "nothing was written; report it to the operator of the registry"
        }
        WorkspaceError::KeepsChanging { .. } => "nothing was written; run the command again",
        WorkspaceError::NoWorkingDirectory { .. } => "change to a directory that exists",
        WorkspaceError::NoRoot { units: 1.., .. } => {
            "add `--terragrunt` to take units of Terragrunt as roots, or name the roots"
        }
        WorkspaceError::NoRoot { .. } => {
            let file = project::FILE_NAME;
            return Some(format!("name the roots, or state `roots = […]` in {file}"));
        }
        WorkspaceError::Search(error) => match error {
            RootsError::Unreadable { cause, .. } => match cause.kind() {
                ErrorKind::FileTooLarge | ErrorKind::InvalidData => "make it smaller",
                _ => "make it readable",
            },
            RootsError::TooDeep { .. } | RootsError::TooMany { .. } => {
                "name the roots, or start the search further down"
            }
        },
    };
    Some(help.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_says_what_the_system_lacks() {
        for (kind, unwritable, unreadable) in [
            (
                ErrorKind::PermissionDenied,
                "nothing was written; make the directory writable",
                "make it readable",
            ),
            (
                ErrorKind::StorageFull,
                "nothing was written; make room on the disk",
                "a lock file is a small regular file; restore it from version control",
            ),
            (
                ErrorKind::Interrupted,
                "nothing was written",
                "a lock file is a small regular file; restore it from version control",
            ),
        ] {
            let (path, cause) = ("a".into(), kind.into());
            let error = WorkspaceError::Unwritable { path, cause };
            assert_eq!(help(&error).as_deref(), Some(unwritable), "{kind}");
            let (path, cause) = ("a".into(), LockCause::Io(kind.into()));
            let error = WorkspaceError::UnreadableLock { path, cause };
            assert_eq!(help(&error).as_deref(), Some(unreadable), "{kind}");
        }
    }
}
