//! `lockctl verify`: will this lock file work?

mod args;
mod fix;
mod job;
mod pins;
mod replaced;
mod result;
mod shared_policy;
mod stated;
mod table;
pub(crate) mod text;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::rc::Rc;

use crate::advice;
use crate::diag::{Severity, counted, rules};
use crate::driver::{self, RunInputs};
use crate::packages::NamedPackages;
use crate::report::reading::Total;
use crate::report::{
    CheckDetail, CommandResult, Failure, Look, ResultEntry, RootResult, Sentence, TextBlock,
};
use crate::run::command::Command;
use crate::run::formats::Format;
use crate::run::options::{Configuration, Options, job_count};
use crate::run::platforms::{self, PlatformChoice};
use crate::run::provenance::Attester;
use crate::run::session::Session;
use crate::run::user::modules::{self, AutoModules, UserModules};
use crate::verify::{CheckGroup, expiry};
use crate::verifying::job::{ObserveRoot, VerifyJob};
use crate::verifying::shared_policy::SharedPolicy;

pub(crate) use args::VerifyArgs;

impl Command for VerifyArgs {
    fn run(&self, session: &Rc<Session<'_>>) -> CommandResult {
        let mut result = observed(session, self, &mut |_, _, _| {});
        // Machine formats name the rule of each finding, and need no advice on how to read more.
        if session.options.format == Format::Human {
            let explained = text::explained(result.roots());
            result.remarks.extend(explained.map(Sentence::note));
        }
        result
    }

    fn check(&self, options: &Options) -> Result<(), String> {
        let asks = self
            .policy
            .as_ref()
            .is_some_and(|policy| policy.contains("://"));
        options.check_offline("--policy with a URL", asks)?;
        options.check_offline("--upstream", self.groups().wants(CheckGroup::Upstream))
    }

    fn configuration(&self) -> Option<&Configuration> {
        Some(&self.configuration)
    }

    fn packages(&self) -> Vec<PathBuf> {
        [&*self.fs_mirrors, &*self.packages].concat()
    }

    fn text(&self, result: &CommandResult, look: Look) -> Vec<TextBlock> {
        text::of_all(result, look)
    }

    fn total(&self) -> Total {
        Total::ResultWithCounts
    }
}

/// Verifies roots, and shows each with its configuration to a callback before its checks.
pub(crate) fn observed(
    session: &Rc<Session<'_>>,
    args: &VerifyArgs,
    observe: ObserveRoot<'_>,
) -> CommandResult {
    let changed = args.changed.files(session, &args.roots);
    let options = checked_options(session, args);
    let (changed, (platforms, named)) = match (changed, options) {
        (Ok(changed), Ok(options)) => (changed, options),
        (Err(failure), _) | (_, Err(failure)) => return CommandResult::failed("verify", [failure]),
    };
    let args = &VerifyArgs {
        roots: args.changed.roots(&args.roots),
        ..args.clone()
    };
    let modules = UserModules::new(session, &args.configuration, AutoModules::Cached);
    // `--only file` reads no configuration: it works where none can be read.
    let needs_configuration = args.groups().need_configuration() || args.matrix;
    let inputs = RunInputs {
        reading: needs_configuration.then(|| modules.reading()),
        changed: changed.as_ref(),
        jobs: job_count(args.jobs),
        ..RunInputs::of_locks(session, &args.roots)
    };
    let (kept, now) = (modules::kept(session), modules::upstream(session));
    let mut verification = VerifyJob::new(session, args, platforms, named, [&kept, &now], observe);
    if let Some(policy) = &args.policy {
        match SharedPolicy::read(session, policy) {
            Ok(shared) => verification.shared = Some(Rc::new(shared)),
            Err(failure) => return CommandResult::failed("verify", [failure]),
        }
    }
    if args.provenance {
        match Attester::new(session) {
            Ok(attester) => verification.attester = Some(attester),
            Err(failure) => return CommandResult::failed("verify", [failure]),
        }
    }
    let mut all = driver::over_roots(&mut verification, inputs);
    // What belongs to no root is reported once, with the first.
    if let Some(first) = all.results.first_mut() {
        for failure in verification.unplaced {
            first.fail(failure);
        }
    }
    name_unchecked_policy(&mut all.results);
    let mut result = all.into_result("verify");
    result.remarks.extend(session.facts.remarks());
    if let Some(attester) = &verification.attester {
        result
            .remarks
            .extend(attester.summary.remarks(session.options.verbose));
    }
    let format = session.options.format;
    let mut notes = verification.notes;
    // With -v each finding is shown at its place, and the other formats have all of them.
    if format == Format::Human && !session.options.verbose {
        notes.extend(expiring_keys(&result));
    }
    let remarks = remarks(format, args, &result, notes);
    result.remarks.extend(remarks);
    result
}

/// Verifies the root in the working directory, as `lockctl verify` without options does.
pub(crate) fn here(session: &Rc<Session<'_>>) -> CommandResult {
    VerifyArgs::default().run(session)
}

/// Checks what was typed against the format, the known platforms and the files of the user.
fn checked_options(
    session: &Session<'_>,
    args: &VerifyArgs,
) -> Result<(PlatformChoice, NamedPackages), Failure> {
    if args.matrix && !matches!(session.options.format, Format::Human | Format::Json) {
        return Err(advice::verify::matrix_format());
    }
    let platforms = platforms::checkable(&args.platforms.platforms)?;
    let world = session.world;
    let current = world.env.current_dir().unwrap_or_default();
    let mut named = NamedPackages::default();
    for path in &args.packages {
        named
            .add(world.disk, &current, &session.options.below(path))
            .map_err(|error| advice::verify::no_package(&error))?;
    }
    Ok((platforms, named))
}

/// Returns what is worth knowing about the run as a whole.
fn remarks(
    format: Format,
    args: &VerifyArgs,
    result: &CommandResult,
    notes: Vec<String>,
) -> Vec<Sentence> {
    let policy = policy_not_checked(result, format);
    let doubts = platforms::remarks(&args.platforms.platforms);
    let doubts = doubts.into_iter().map(Sentence::warning);
    notes
        .into_iter()
        .chain(policy)
        .map(Sentence::note)
        .chain(doubts)
        .collect()
}

/// Names keys that expire, each once for all roots. Other notes are only counted without `-v`.
fn expiring_keys(result: &CommandResult) -> Vec<String> {
    let mut roots: BTreeMap<&str, usize> = BTreeMap::new();
    for entry in result.roots().iter().flat_map(|root| &root.entries) {
        if let ResultEntry::Finding(finding, _) = entry
            && finding.diagnostic.code == rules::KEY_EXPIRES
            && finding.diagnostic.severity == Severity::Note
        {
            *roots.entry(&finding.diagnostic.title).or_default() += 1;
        }
    }
    roots
        .into_iter()
        .map(|(key, roots)| expiry::of_roots(key, roots))
        .collect()
}

/// Names the settings of the policy of a single root that were not checked, in its verdict.
fn name_unchecked_policy(results: &mut [RootResult]) {
    if let [only] = results
        && let Some(settings) = only
            .check()
            .map(|check| check.policy_not_checked.join(", "))
        && let Some(verdict) = only.verdict.as_mut().filter(|_| !settings.is_empty())
    {
        verdict.text += &format!("; policy not checked: {settings} (needs --upstream)");
    }
}

/// Names the settings of policies that were not checked, once for all roots.
fn policy_not_checked(result: &CommandResult, format: Format) -> Option<String> {
    let concerned: Vec<&CheckDetail> = result
        .roots()
        .iter()
        .filter_map(RootResult::check)
        .filter(|check| !check.policy_not_checked.is_empty())
        .collect();
    // The verdict of a single root says so itself.
    if concerned.is_empty() || result.roots().len() == 1 && format == Format::Human {
        return None;
    }
    let settings: BTreeSet<&str> = concerned
        .iter()
        .flat_map(|check| check.policy_not_checked.iter().copied())
        .collect();
    Some(format!(
        "policy not checked in {}: {} (needs --upstream)",
        counted(concerned.len(), "root"),
        Vec::from_iter(settings).join(", ")
    ))
}
