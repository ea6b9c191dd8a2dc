//! Explains failures to find a module to readers of configuration.

use crate::addr::module::{Danger, RemoteModule};
use crate::archive::{ArchiveError, EntryFault};
use crate::diag::rules;
use crate::flavor::Flavor;
use crate::modules::git::GitFailure;
use crate::modules::package::{PackageError, SubdirectoryError};
use crate::remote_module::{ModuleFailure, ModuleFailureKind as Kind};
use crate::sources::discovery::DiscoveryError;
use crate::sources::modules::{DirectoryError, ModuleRegistryError, NoSelection};
use crate::sources::{FetchError, FetchFault, SourceFault};

/// The rule about modules that are not fetched although a program would.
const UNSAFE: &str = rules::MODULE_UNSAFE;
/// The rule about paths that lead out of their package.
const ESCAPES: &str = rules::MODULE_ESCAPES_PACKAGE;

/// The title of a kind of source that only the programs fetch.
const UNSUPPORTED: &str = "Unsupported kind of module source";

/// The title that the programs give to what cannot be fetched.
const DOWNLOAD: &str = "Failed to download module";

/// Makes the failure of something that does not exist, or is broken.
pub(super) fn missing(cause: impl Into<String>) -> ModuleFailure {
    failure(Kind::Missing, DOWNLOAD, cause)
}

fn failure(kind: Kind, title: &'static str, cause: impl Into<String>) -> ModuleFailure {
    ModuleFailure {
        kind,
        title,
        cause: cause.into(),
        help: None,
    }
}

fn helped(failure: ModuleFailure, help: impl Into<String>) -> ModuleFailure {
    ModuleFailure {
        help: Some(help.into()),
        ..failure
    }
}

/// Joins an error and its causes.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let said = error.to_string();
        if !text.ends_with(&said) {
            text = format!("{text}: {said}");
        }
        cause = error.source();
    }
    text
}

/// The module is not here, and this run does not fetch.
pub(super) fn not_fetched() -> ModuleFailure {
    let cause = "the module is neither installed nor in the cache";
    failure(Kind::NotFetched, "Module not installed", cause)
}

/// The CLI configuration does not say how to fetch.
pub(super) fn no_configuration() -> ModuleFailure {
    let cause = "the CLI configuration has errors, so nothing is fetched";
    failure(Kind::Unreachable, DOWNLOAD, cause)
}

/// A source that is unsafe by its text.
pub(super) fn danger(danger: &Danger) -> ModuleFailure {
    let rule = match danger {
        Danger::LeavesPackage { .. } => ESCAPES,
        Danger::Transport { .. } | Danger::Ref => UNSAFE,
    };
    failure(Kind::Refused(rule), DOWNLOAD, danger.to_string())
}

/// A server names a path of this machine.
pub(super) fn local_path(module: &RemoteModule) -> ModuleFailure {
    let shown = module.shown();
    let cause = format!("a server names a place on this machine: {shown}");
    failure(Kind::Refused(UNSAFE), DOWNLOAD, cause)
}

/// A server that was asked over an encrypted connection names one that is not.
pub(super) fn unencrypted(module: &RemoteModule) -> ModuleFailure {
    let shown = module.shown();
    let cause = format!("a server that is asked by https names a package at {shown}");
    failure(Kind::Refused(UNSAFE), DOWNLOAD, cause)
}

/// A kind of package that lockctl does not fetch.
pub(super) fn unsupported(kind: &str, flavor: Flavor) -> ModuleFailure {
    let cause = format!("lockctl does not fetch modules by {kind}");
    let program = flavor.command();
    helped(
        failure(Kind::Unsupported, UNSUPPORTED, cause),
        format!("install the modules with `{program} get`; lockctl then reads what is installed"),
    )
}

/// A kind of package that no program fetches.
pub(super) fn unknown_kind(kind: &str) -> ModuleFailure {
    let cause = format!("no module can be fetched by the scheme {kind:?}");
    helped(
        failure(Kind::Missing, DOWNLOAD, cause),
        "write https://…, or git:: before the URL of a repository",
    )
}

/// More answers that name another address than are followed.
pub(super) fn too_many_steps(limit: usize) -> ModuleFailure {
    missing(format!("more than {limit} servers name another address"))
}

/// A package that cannot be used.
pub(super) fn package(error: &PackageError) -> ModuleFailure {
    match error {
        PackageError::ParentInPath { .. }
        | PackageError::Zip(ArchiveError::Entry {
            fault: EntryFault::ParentInName,
            ..
        }) => failure(Kind::Refused(ESCAPES), DOWNLOAD, chain(error)),
        error => missing(chain(error)),
    }
}

/// A repository that gives no package.
pub(super) fn git(error: &GitFailure) -> ModuleFailure {
    let kind = match error {
        error if error.is_refusal() => Kind::Refused(UNSAFE),
        GitFailure::Package(error) => return package(error),
        GitFailure::Unreachable {
            is_missing: false, ..
        }
        | GitFailure::TooSlow { .. }
        | GitFailure::NotInstalled
        | GitFailure::NotRun(_)
        // These say nothing of the module: on another machine, or later, the same call may work.
        | GitFailure::Unexpected { .. } => Kind::Unreachable,
        _ => Kind::Missing,
    };
    let failed = failure(kind, DOWNLOAD, chain(error));
    match error {
        GitFailure::NotInstalled => helped(failed, "install git, or install the modules elsewhere"),
        GitFailure::Unreachable { .. } => helped(
            failed,
            "check the address; for a private repository, let git know its credentials",
        ),
        _ => failed,
    }
}

/// Something that could not be fetched.
pub(super) fn fetch(error: &FetchError, title: &'static str) -> ModuleFailure {
    let kind = match error.fault {
        FetchFault::Unencrypted => Kind::Refused(UNSAFE),
        FetchFault::Status {
            status: 404 | 410, ..
        }
        | FetchFault::TooLarge { .. } => Kind::Missing,
        _ => Kind::Unreachable,
    };
    failure(kind, title, chain(error))
}

/// A package that could not be fetched.
pub(super) fn download(error: &FetchError) -> ModuleFailure {
    fetch(error, DOWNLOAD)
}

/// A server that does not say where a package is.
pub(super) fn directory(error: &DirectoryError) -> ModuleFailure {
    match error {
        DirectoryError::Fetch(error) => download(error),
        error => helped(
            missing(chain(error)),
            "name an archive (.zip, .tar.gz, archive=zip), or write git:: before the URL of a repository",
        ),
    }
}

/// A registry that gave no answer that can be used.
pub(super) fn registry(error: &ModuleRegistryError, flavor: Flavor) -> ModuleFailure {
    let title = error.title(flavor);
    match error {
        ModuleRegistryError::Source(source) => match &*source.fault {
            // A failure on the network may pass; all others are answers, and stay as they are.
            SourceFault::Fetch(inner)
            | SourceFault::Discovery {
                cause: DiscoveryError::Fetch(inner),
                ..
            } => ModuleFailure {
                cause: chain(error),
                ..fetch(inner, title)
            },
            SourceFault::Unauthorized(refused) => {
                let help = format!(
                    "give a token for {} in a credentials block of the CLI configuration, or log in with \
                     `{} login`",
                    refused.host,
                    flavor.command()
                );
                helped(failure(Kind::Unreachable, title, chain(error)), help)
            }
            _ => failure(Kind::Missing, title, chain(error)),
        },
        ModuleRegistryError::UnknownModule { .. } => helped(
            failure(Kind::Missing, title, chain(error)),
            "check the source address; a private module needs a token for its host",
        ),
        error => failure(Kind::Missing, title, chain(error)),
    }
}

/// No version that can be selected.
pub(super) fn selection(error: &NoSelection) -> ModuleFailure {
    let title = match error {
        NoSelection::NoVersions => "Module has no versions",
        NoSelection::Unmet { .. } => "Unresolvable module version constraint",
    };
    failure(Kind::Missing, title, error.to_string())
}

/// The directory of a package that a server names.
pub(super) fn named_directory(error: SubdirectoryError, sub: &str) -> ModuleFailure {
    subdirectory(DOWNLOAD, error, sub)
}

/// The directory of a module with a full address (rules 2.2).
pub(super) fn module_directory(error: SubdirectoryError, sub: &str) -> ModuleFailure {
    let title = match error {
        SubdirectoryError::NotADirectory => UNREADABLE,
        _ => "Failed to expand subdir globs",
    };
    subdirectory(title, error, sub)
}

/// The directory of a module of a registry (rules 2.3).
pub(super) fn registry_directory(
    error: SubdirectoryError,
    sub: &str,
    flavor: Flavor,
) -> ModuleFailure {
    let title = match error {
        SubdirectoryError::NotADirectory => UNREADABLE,
        _ if flavor.is_opentofu() => "Module subdirectory not found",
        _ => "Unreadable module subdirectory",
    };
    subdirectory(title, error, sub)
}

const UNREADABLE: &str = "Unreadable module directory";

fn subdirectory(title: &'static str, error: SubdirectoryError, sub: &str) -> ModuleFailure {
    let kind = match error {
        SubdirectoryError::Leaves => Kind::Refused(ESCAPES),
        _ => Kind::Missing,
    };
    failure(kind, title, format!("{sub:?}: {error}"))
}
