//! Advice on what `lockctl verify` could not check.

use std::path::Path;

use crate::advice::lock::grouped;
use crate::advice::required::Required;
use crate::flavor::Flavor;
use crate::locker::LockError;
use crate::packages::NamedError;
use crate::report::Failure;
use crate::run::root::unreadable_packages;
use crate::upstream::CheckError;

/// Returns the failure of a format that cannot show the matrix.
pub(crate) fn matrix_format() -> Failure {
    Failure::new("--matrix cannot be shown in this format")
        .help("use --format human or json, or leave out --matrix")
}

/// Turns what could not be checked into failures; releases that share a cause share a failure.
pub(crate) fn failures(
    errors: &[CheckError],
    flavor: Flavor,
    required: &Required<'_>,
) -> Vec<Failure> {
    let releases: Vec<&LockError> = errors
        .iter()
        .filter_map(|error| match error {
            CheckError::Release(error) => Some(&**error),
            CheckError::NotAsked | CheckError::Packages(_) => None,
        })
        .collect();
    let mut failures = Vec::new();
    // Said once: with errors in the CLI configuration the URLs of registries are unknown, and none is asked.
    if errors
        .iter()
        .any(|error| matches!(error, CheckError::NotAsked))
    {
        failures.push(
            Failure::new(CheckError::NotAsked.to_string())
                .because("the CLI configuration has errors")
                .help("correct them first"),
        );
    }
    failures.extend(grouped(releases, flavor, required));
    failures.extend(errors.iter().filter_map(|error| match error {
        CheckError::Packages(unscanned) => Some(unreadable_packages(unscanned)),
        CheckError::NotAsked | CheckError::Release(_) => None,
    }));
    failures
}

/// The help on a path that `--package` cannot use.
const PACKAGE_HELP: &str = "name a zip, an unpacked package, a directory of zips, or the top of a \
                            directory laid out as a mirror";

/// Returns the failure of a path that `--package` names.
pub(crate) fn no_package(error: &NamedError) -> Failure {
    let mut failure = Failure::from_error(error).help(PACKAGE_HELP);
    if let NamedError::NoPackage { .. } = error {
        failure.causes = vec![
            "it holds no file terraform-provider-…, and is not laid out as a mirror".to_owned(),
        ];
    }
    failure
}

/// Returns the failure of a package that `--package` names and that no lock file records.
pub(crate) fn unplaced(path: &Path) -> Failure {
    Failure::new(format!(
        "no lock file records the package {}",
        path.display()
    ))
    .because("it was named with --package")
    .help("-v shows what each lock file was looked through for")
}
