//! What `lockctl outdated` reports of a root.

use std::time::SystemTime;

use super::args::FailOn;
use crate::addr::ProviderAddr;
use crate::cli::advice::lock;
use crate::cli::advice::required::Required;
use crate::cli::session::holding;
use crate::diag;
use crate::locker::{ComparedVersions, LockError, VersionComparison};
use crate::package::calendar::ago;
use crate::package::{AgePolicy, ReleaseDates, Youth};
use crate::report::json::{
    ComparedProvider, ConflictingPlace, HoldingPlace, Provider, RootStatus, StatedDate,
    VersionState,
};
use crate::report::{RootResult, Sentence, Tone};
use crate::resolve::{ConstraintConflict, Outlook, SelectError};
use crate::run::root::Root;
use crate::version::{Constraints, Version};

/// A root that was compared, and what is required in it.
pub(super) struct ComparedRoot<'a> {
    pub(super) root: &'a Root,
    pub(super) required: Required<'a>,
    pub(super) now: SystemTime,
    /// How old a release must be to be selected, if that is stated.
    pub(super) age: Option<AgePolicy>,
}

impl ComparedRoot<'_> {
    /// Reports how each provider compares, what failed, and how it came out.
    pub(super) fn report(
        &self,
        result: &mut RootResult,
        outcome: &[ComparedVersions],
        fail_on: Option<FailOn>,
    ) {
        let rows: Vec<ComparedProvider> = outcome.iter().map(|one| self.row(one)).collect();
        let fails = |row: &ComparedProvider| match (fail_on, row.step) {
            (Some(least), Some(step)) => least.includes(step),
            _ => false,
        };
        let is_bad = rows.iter().any(fails);
        if is_bad {
            result.status = RootStatus::Findings;
        }
        for one in outcome {
            self.remarks(result, one);
        }
        let conflicts = outcome.iter().filter_map(|one| match &one.standing {
            VersionComparison::Offered { outlook, .. } => outlook.allowed.as_ref().err(),
            _ => None,
        });
        let conflicts: Vec<LockError> = conflicts.map(|error| error.clone().into()).collect();
        let failures = outcome.iter().filter_map(|one| match &one.standing {
            VersionComparison::Failed(error) if !self.is_passed_over(&one.provider, error) => {
                Some(error)
            }
            _ => None,
        });
        let errors = conflicts.iter().chain(failures);
        for failure in lock::grouped(errors, self.root.flavor, &self.required) {
            result.fail(failure);
        }
        let tone = if is_bad || result.status == RootStatus::Failed {
            Tone::Bad
        } else if rows.iter().any(|row| row.step.is_some()) {
            Tone::Warning
        } else {
            Tone::Good
        };
        let text = verdict(&rows, self.root);
        result.verdict = Some(Sentence { tone, text });
        let rows = rows
            .into_iter()
            .map(|row| Provider::Compared(Box::new(row)));
        result.providers.extend(rows);
    }

    /// Returns whether an error is about an entry that only what cannot be seen may require and that its
    /// source does not have: nothing could be done about it.
    fn is_passed_over(&self, provider: &ProviderAddr, error: &LockError) -> bool {
        error.absent().is_some() && self.required.requirements.places(provider).is_empty()
    }

    /// Says that the newest allowed version is newer than the locked one, but not old enough.
    fn too_young(&self, one: &ComparedVersions) -> Option<String> {
        let VersionComparison::Offered { outlook, .. } = &one.standing else {
            return None;
        };
        let version = outlook.allowed.as_ref().ok()?;
        let (policy, dates) = (self.age?, one.dates.get(version)?);
        let name = one.provider.short(self.root.flavor);
        let why = match policy.youth(dates, self.now)? {
            Youth::Recent { date, .. } => {
                let date = date.seen_at(self.now);
                format!(
                    "{name} {version} ({date}) is younger than {}",
                    policy.min_age
                )
            }
            Youth::Undated => format!("nothing states when {name} {version} was published"),
        };
        Some(format!("{why}, so `update` passes over it"))
    }

    fn row(&self, one: &ComparedVersions) -> ComparedProvider {
        let mut row = ComparedProvider {
            provider: one.provider.clone(),
            state: state(one),
            locked: one.locked.clone(),
            locked_is_offered: None,
            newest_allowed: None,
            newest: None,
            allowed_step: None,
            step: None,
            allowed_dates: Vec::new(),
            dates: Vec::new(),
            allowed_age: None,
            age: None,
            constraints: one.constraints.clone(),
            held_by: Vec::new(),
            conflict: Vec::new(),
        };
        let (VersionComparison::Offered { outlook, .. } | VersionComparison::Unseen(outlook)) =
            &one.standing
        else {
            return row;
        };
        row.locked_is_offered = one.locked.as_ref().map(|_| outlook.offers_locked);
        row.newest_allowed = outlook.allowed.as_ref().ok().cloned();
        row.newest.clone_from(&outlook.newest);
        let step =
            |to: &Option<Version>| ComparedProvider::upgrade(row.locked.as_ref(), to.as_ref());
        (row.allowed_step, row.step) = (step(&row.newest_allowed), step(&row.newest));
        let dates = |version: &Option<Version>| {
            let dates = version.as_ref().and_then(|version| one.dates.get(version));
            let latest = dates.and_then(ReleaseDates::latest);
            let stated = dates.map(StatedDate::all).unwrap_or_default();
            (stated, latest.map(|date| ago(date.time, self.now)))
        };
        (row.allowed_dates, row.allowed_age) = dates(&row.newest_allowed);
        (row.dates, row.age) = dates(&row.newest);
        if let Some(newest) = &outlook.newest {
            row.held_by = self.held_by(one, newest);
        }
        if let Err(error) = &outlook.allowed
            && let SelectError::NoMatch { offered, .. } = &**error
        {
            row.conflict = self.conflict(&one.provider, offered);
        }
        row
    }

    /// Lists the requirements that exclude a version. Where modules cannot be seen, recorded constraints
    /// that no visible place states count as well.
    fn held_by(&self, one: &ComparedVersions, version: &Version) -> Vec<HoldingPlace> {
        let requirements = self.required.requirements;
        let excluding = requirements.excluding(&one.provider, version);
        let texts = self.required.texts;
        let mut places: Vec<HoldingPlace> = excluding
            .into_iter()
            .map(|one| holding::place(texts, one))
            .collect();
        let visible = requirements.constraints(&one.provider);
        let recorded = one
            .constraints
            .iter()
            .filter(|term| !term.is_met_by(version) && !visible.iter().any(|other| other == *term));
        let recorded: Constraints = recorded.cloned().collect();
        if let (false, Some(lock)) = (recorded.is_empty(), &self.root.lock) {
            let entry = lock.document.places.get(&one.provider);
            let span = entry.and_then(|places| places.constraints);
            let span = span.unwrap_or_default();
            places.push(holding::recorded(texts, lock.file, span, &recorded));
        }
        places
    }

    fn conflict(&self, provider: &ProviderAddr, offered: &[Version]) -> Vec<ConflictingPlace> {
        let conflict = ConstraintConflict::of(self.required.requirements, provider, offered);
        let places = conflict.into_iter().flat_map(|conflict| conflict.places);
        let places = places.map(|one| ConflictingPlace {
            place: holding::place(self.required.texts, one.place),
            allows: one.allows,
            without: one.without,
        });
        places.collect()
    }

    /// Says what else is worth knowing of a provider.
    fn remarks(&self, result: &mut RootResult, one: &ComparedVersions) {
        let flavor = self.root.flavor;
        let name = one.provider.short(flavor);
        if let VersionComparison::Offered { warnings, .. } = &one.standing {
            for warning in warnings {
                let text = format!("the registry says of {name}: {warning}");
                result.ruled(diag::named("registry-warning"), &one.provider, text);
            }
        }
        if let Some(remark) = self.too_young(one) {
            result.remark(remark);
        }
        match (&one.standing, &one.locked) {
            (
                VersionComparison::Offered { outlook, .. } | VersionComparison::Unseen(outlook),
                Some(locked),
            ) if !outlook.offers_locked => {
                result.warn(format!(
                    "the locked version {locked} of {name} is not offered any more: `lock` and `init` \
                     fail until `lockctl update {name}` moves it"
                ));
            }
            (VersionComparison::Offered { outlook, .. }, Some(locked))
                if outlook.allowed.is_ok() && !one.constraints.allows(locked) =>
            {
                let error = SelectError::LockedConflict {
                    provider: one.provider.clone(),
                    locked: locked.clone(),
                    constraints: one.constraints.clone(),
                };
                result.warn(lock::in_one_line(&error, flavor, &self.required));
            }
            (VersionComparison::Failed(error), _) if self.is_passed_over(&one.provider, error) => {
                result.warn(format!("{name} was not compared: {error}"));
            }
            _ => {}
        }
    }
}

fn state(one: &ComparedVersions) -> VersionState {
    let outlook = match &one.standing {
        VersionComparison::BuiltIn => return VersionState::BuiltIn,
        VersionComparison::Overridden => return VersionState::Overridden,
        VersionComparison::NotRequired => return VersionState::NotRequired,
        VersionComparison::Failed(_) => return VersionState::Failed,
        VersionComparison::Unseen(_) => return VersionState::NotVisible,
        VersionComparison::Offered { outlook, .. } => outlook,
    };
    let Outlook {
        newest, allowed, ..
    } = outlook;
    match (&one.locked, allowed) {
        (_, Err(_)) => VersionState::Conflict,
        (None, Ok(_)) => VersionState::NotLocked,
        (Some(locked), Ok(_)) if !one.constraints.allows(locked) => VersionState::NotAllowed,
        (Some(locked), Ok(allowed)) if allowed != locked => VersionState::Behind,
        (locked, Ok(_)) => match ComparedProvider::upgrade(locked.as_ref(), newest.as_ref()) {
            Some(_) => VersionState::HeldBack,
            None => VersionState::UpToDate,
        },
    }
}

/// Says in one sentence how a root came out, and which commands help.
fn verdict(rows: &[ComparedProvider], root: &Root) -> String {
    let path = root.lock_path.display();
    let count = |states: &[VersionState]| {
        let rows = rows.iter().filter(|row| states.contains(&row.state));
        rows.count()
    };
    let all = rows.len() - count(&[VersionState::BuiltIn, VersionState::NotRequired]);
    if all == 0 {
        return format!("{path}: no locked provider is required");
    }
    let mut parts: Vec<(usize, String)> = Vec::new();
    let mut part = |states: &[VersionState], one: &str, many: &str| match count(states) {
        0 => {}
        1 => parts.push((1, one.to_owned())),
        n => parts.push((n, many.to_owned())),
    };
    let update = &root.advice.update;
    part(
        &[VersionState::Behind],
        &format!("can be updated (`{update}`)"),
        &format!("can be updated (`{update}`)"),
    );
    part(
        &[VersionState::NotAllowed],
        &format!("is locked at a version that is not allowed (`{update}` moves it)"),
        &format!("are locked at versions that are not allowed (`{update}` moves them)"),
    );
    part(
        &[VersionState::HeldBack],
        "is held back by constraints",
        "are held back by constraints",
    );
    let lock = &root.advice.lock;
    part(
        &[VersionState::NotLocked],
        &format!("is not locked (`{lock}`)"),
        &format!("are not locked (`{lock}`)"),
    );
    part(
        &[VersionState::NotVisible],
        "may be required by what cannot be seen",
        "may be required by what cannot be seen",
    );
    part(
        &[VersionState::Overridden],
        "is run from a directory",
        "are run from directories",
    );
    part(
        &[VersionState::Conflict],
        "has no version that its constraints allow",
        "have no version that their constraints allow",
    );
    part(
        &[VersionState::Failed],
        "could not be compared",
        "could not be compared",
    );
    match (all, &*parts) {
        (1, []) => format!("{path}: the only provider is up to date"),
        (_, []) => format!("{path}: all {all} providers are up to date"),
        (1, [(_, part)]) => format!("{path}: the only provider {part}"),
        _ => {
            let parts = parts.iter().map(|(count, part)| format!("{count} {part}"));
            let parts: Vec<String> = parts.collect();
            format!("{path}: of {all} providers, {}", parts.join(", "))
        }
    }
}
