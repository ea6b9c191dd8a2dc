//! Known vulnerabilities of locked providers: the job, the database and the result.

mod database;
mod fixes;
mod ignores;
mod job;
mod kept;
mod marks;
mod result;

use std::sync::Arc;

use crate::audit::AuditLevel;
use crate::report::CommandResult;
use crate::run::options::{ConfigurationOptions, RootChoice, RunOptions};
use crate::run::user::config::{NetworkObserver, UserConfigs};
use crate::run::user::modules::{self, AutoModules, UserModules};
use crate::run::{RunInputs, World, commands, over_roots};
use database::{AdvisorySource, DatabasePlace, DatabaseUse};
use job::AuditJob;
pub(crate) use kept::AdvisoryCache;
pub(crate) use marks::{KnownAdvisories, known_advisories};

/// The options of an audit.
#[derive(Clone, Debug)]
pub(crate) struct AuditOptions {
    /// The database as typed, if it is not the public one.
    pub(crate) database: Option<String>,
    /// The lowest level that makes the exit code 1; `None` for none.
    pub(crate) fail_on: Option<AuditLevel>,
    pub(crate) detail: AuditDetail,
}

/// The form of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AuditDetail {
    /// Rows of providers, for text.
    Rows,
    /// Also a finding for each advisory and root, for formats that are made of findings.
    Findings,
}

/// Compares the locked providers of all roots with advisories.
pub(crate) fn audit(
    options: &RunOptions,
    audit: &AuditOptions,
    configuration: &ConfigurationOptions,
    choice: &RootChoice,
    world: World<'_>,
    observer: NetworkObserver<'_>,
) -> CommandResult {
    let place = match DatabasePlace::typed(audit.database.as_deref(), options) {
        Ok(place) => place,
        Err(failure) => return CommandResult::failed("audit", [failure]),
    };
    let cache = modules::cache(options, world);
    let user = Arc::new(UserConfigs::new(options, world, observer));
    let source = AdvisorySource {
        world,
        options,
        user: Arc::clone(&user),
    };
    let usage = if options.offline {
        DatabaseUse::Kept
    } else {
        DatabaseUse::Asked
    };
    let modules = UserModules::new(user, configuration, AutoModules::Cached, cache.as_ref());
    let fixes = fixes::FixSearch {
        reading: modules.reading(configuration),
        for_all: commands::of_all(options, choice).update,
    };
    let mut job = AuditJob::new(audit, choice, world, options);
    let inputs = RunInputs::of_locks(choice, options, world);
    job.load_with(move |selection| source.load(&place, selection, usage));
    job.search_with(fixes);
    let all = over_roots(&mut job, inputs);
    let mut result = all.into_result("audit");
    job.complete(&mut result);
    result
}
