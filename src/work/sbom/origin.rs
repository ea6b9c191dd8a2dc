//! The origin of a document: its stated time, and the commit and job of a snapshot.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::advice::git;
use crate::git::{ObjectId, Repository};
use crate::report::Failure;
use crate::run::World;
use crate::sbom::snapshot::SnapshotOrigin;
use crate::world::Env;

/// The variable that states the time of a reproducible build, in seconds since 1970.
const TIME: &str = "SOURCE_DATE_EPOCH";

/// The last second of the year 9999: formats write years with four digits.
pub(crate) const LAST_SECOND: u64 = 253_402_300_799;

/// The job and correlator of a run outside of CI.
const LOCAL_JOB: &str = "lockctl-sbom";

/// Reads the time that documents state; `None` if the variable is not set.
///
/// # Errors
/// If the variable holds anything but a number of seconds up to the year 9999.
pub(crate) fn stated_time(env: &dyn Env) -> Result<Option<SystemTime>, Failure> {
    let Some(text) = stated(env, TIME) else {
        // Not the time of the clock, which would make each document different.
        return Ok(None);
    };
    // `parse` alone would also accept a sign, as in `+5`.
    let seconds: Option<u64> = text
        .bytes()
        .all(|byte| byte.is_ascii_digit())
        .then(|| text.parse().ok())
        .flatten();
    match seconds.filter(|seconds| *seconds <= LAST_SECOND) {
        Some(seconds) => Ok(Some(UNIX_EPOCH + Duration::from_secs(seconds))),
        None => Err(Failure::new(format!(
            "{TIME} is {text:?}, which is no number of seconds since 1970"
        ))
        .help(format!(
            "set it as in `{TIME}=$(git log -1 --format=%ct)`, or unset it"
        ))),
    }
}

/// Finds the commit and the job of a snapshot: variables of GitHub's runner, else the repository around a
/// directory.
///
/// The time is the stated one, else that of the commit; the clock would make each document different.
///
/// # Errors
/// If neither has a usable value.
pub(super) fn snapshot(
    dir: &Path,
    created: Option<SystemTime>,
    world: World<'_>,
) -> Result<SnapshotOrigin, Failure> {
    let env = world.env;
    // git runs only for values that no variable has.
    let repository = || Repository::find(world.run, dir);
    let sha = match stated(env, "GITHUB_SHA") {
        Some(sha) => ObjectId::read(&sha)
            .ok_or_else(|| lacking(format!("GITHUB_SHA is {sha:?}, which names no commit")))?,
        None => {
            repository()
                .and_then(|repository| repository.revision("HEAD"))
                .map_err(|error| unknown("commit", "GITHUB_SHA", git::failure(&error)))?
                .id
        }
    };
    let git_ref = match stated(env, "GITHUB_REF") {
        Some(name) if name.starts_with("refs/") => name,
        Some(name) => {
            let title =
                format!("GITHUB_REF is {name:?}, and full names of branches begin with refs/");
            return Err(lacking(title));
        }
        None => repository()
            .and_then(|repository| repository.branch())
            .map_err(|error| unknown("branch", "GITHUB_REF", git::failure(&error)))?
            .ok_or_else(|| {
                lacking("no branch is checked out, and GITHUB_REF is not set".to_owned())
            })?,
    };
    let scanned = match created {
        Some(created) => created,
        None => repository()
            .and_then(|repository| repository.commit_time(&sha))
            // The author of a commit chooses its time, which may be later than the last year of the formats.
            .map(|seconds| UNIX_EPOCH + Duration::from_secs(seconds.min(LAST_SECOND)))
            .map_err(|error| unknown("time of the commit", TIME, git::failure(&error)))?,
    };
    let job = [stated(env, "GITHUB_WORKFLOW"), stated(env, "GITHUB_JOB")];
    let job: Vec<String> = job.into_iter().flatten().collect();
    Ok(SnapshotOrigin {
        sha: sha.to_string(),
        git_ref,
        job_id: stated(env, "GITHUB_RUN_ID").unwrap_or_else(|| LOCAL_JOB.to_owned()),
        correlator: if job.is_empty() {
            LOCAL_JOB.to_owned()
        } else {
            format!("{LOCAL_JOB} {}", job.join(" "))
        },
        scanned,
    })
}

/// Returns a variable that is set and not empty.
fn stated(env: &dyn Env, name: &str) -> Option<String> {
    let value = env.var(name)?.to_string_lossy().into_owned();
    (!value.is_empty()).then_some(value)
}

fn lacking(title: String) -> Failure {
    Failure::new(title).help("a snapshot belongs to a commit and a branch: set GITHUB_SHA and GITHUB_REF, as GitHub's runner does")
}

fn unknown(what: &str, variable: &str, failure: Failure) -> Failure {
    Failure {
        title: format!("the {what} of the snapshot could not be determined"),
        causes: std::iter::once(failure.title)
            .chain(failure.causes)
            .collect(),
        help: Some(format!("set {variable}, or run it in a git repository")),
    }
}
