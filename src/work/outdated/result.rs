//! The result of a root whose locked versions were compared with those on offer.

use std::time::SystemTime;

use super::verdict;
use crate::addr::ProviderAddr;
use crate::advice::lock;
use crate::advice::required::Required;
use crate::diag::{self, rules};
use crate::locker::{ComparedVersions, LockError, VersionComparison};
use crate::package::calendar::ago;
use crate::package::{AgePolicy, ReleaseDates, Youth};
use crate::report::json::{
    ComparedProvider, ConflictingPlace, HoldingPlace, Provider, RootStatus, StatedDate,
    VersionState,
};
use crate::report::{RootResult, Sentence, Tone};
use crate::resolve::{ConstraintConflict, Outlook, SelectError};
use crate::run::holding;
use crate::run::root::Root;
use crate::version::{Constraints, Upgrade, Version};

/// A root that was compared, and what is required in it.
pub(super) struct OutdatedRoot<'a> {
    pub(super) root: &'a Root,
    pub(super) required: Required<'a>,
    pub(super) now: SystemTime,
}

impl OutdatedRoot<'_> {
    /// Reports how each provider compares, what failed, and how it came out.
    pub(super) fn report(
        &self,
        result: &mut RootResult,
        outcome: &[ComparedVersions],
        fail_on: Option<Upgrade>,
    ) {
        let rows: Vec<ComparedProvider> =
            outcome.iter().map(|compared| self.row(compared)).collect();
        let fails = |row: &ComparedProvider| match (fail_on, row.step) {
            (Some(least), Some(step)) => step >= least,
            _ => false,
        };
        let is_bad = rows.iter().any(fails);
        if is_bad {
            result.status = RootStatus::Findings;
        }
        let (mut conflicts, mut failures) = (Vec::new(), Vec::new());
        for compared in outcome {
            self.remarks(result, compared);
            match &compared.standing {
                VersionComparison::Offered { outlook, .. } => {
                    let error = outlook.allowed.as_ref().err();
                    conflicts.extend(error.map(|error| LockError::from(error.clone())));
                }
                VersionComparison::Failed(error)
                    if !self.is_passed_over(&compared.provider, error) =>
                {
                    failures.push(error);
                }
                _ => {}
            }
        }
        let errors = conflicts.iter().chain(failures);
        // Grouped as by `lock`, so that both commands explain a conflict alike.
        for failure in lock::grouped(errors, self.root.flavor, &self.required) {
            result.fail(failure);
        }
        // A newer release alone is a warning: the constraints may exclude it on purpose.
        let tone = if is_bad || result.status == RootStatus::Failed {
            Tone::Bad
        } else if rows.iter().any(|row| row.step.is_some()) {
            Tone::Warning
        } else {
            Tone::Good
        };
        let path = self.root.lock_path.display();
        let text = format!("{path}: {}", verdict::counts(rows.iter()));
        result.verdict = Some(Sentence { tone, text });
        for row in rows {
            result.providers.push(Provider::Compared(Box::new(row)));
        }
    }

    /// Returns true for an error about an entry that its source does not have, and that nothing visible
    /// requires: the user could do nothing about it.
    fn is_passed_over(&self, provider: &ProviderAddr, error: &LockError) -> bool {
        error.absent().is_some() && self.required.requirements.places(provider).is_empty()
    }

    /// Returns how old a release must be to be selected.
    fn age(&self, compared: &ComparedVersions) -> Option<AgePolicy> {
        let policy = self.root.project().policy.as_ref()?;
        policy.age(&compared.provider, self.root.flavor)
    }

    /// Returns the newest allowed version, with its youth, if it is newer than the locked one, but not old enough.
    fn youth<'c>(&self, compared: &'c ComparedVersions) -> Option<(&'c Version, Youth)> {
        let VersionComparison::Offered { outlook, .. } = &compared.standing else {
            return None;
        };
        let version = outlook.allowed.as_ref().ok()?;
        let dates = compared.newer_dates.get(version)?;
        Some((version, self.age(compared)?.youth(dates, self.now)?))
    }

    /// Warns that the newest allowed version is newer than the locked one, but not old enough.
    fn too_young(&self, compared: &ComparedVersions) -> Option<String> {
        let (version, youth) = self.youth(compared)?;
        let policy = self.age(compared)?;
        let name = compared.provider.short(self.root.flavor);
        let reason = match youth {
            Youth::Recent { date, .. } => {
                let date = date.seen_at(self.now);
                format!(
                    "{name} {version} ({date}) is younger than {}",
                    policy.min_age
                )
            }
            Youth::Undated => format!("nothing states when {name} {version} was published"),
        };
        let instead = match &compared.old_enough {
            Some(version) => format!(" and takes {version}"),
            None => String::new(),
        };
        Some(format!("{reason}, so `update` passes over it{instead}"))
    }

    fn row(&self, compared: &ComparedVersions) -> ComparedProvider {
        let outlook = match &compared.standing {
            VersionComparison::Offered { outlook, .. } | VersionComparison::Unseen(outlook) => {
                Some(outlook)
            }
            _ => None,
        };
        let locked = compared.locked.as_ref();
        let allowed = outlook.and_then(|outlook| outlook.allowed.as_ref().ok());
        let newest = outlook.and_then(|outlook| outlook.newest.as_ref());
        let old_enough = compared.old_enough.as_ref();
        let dates = |version: Option<&Version>| {
            version.and_then(|version| compared.newer_dates.get(version))
        };
        let stated = |version| dates(version).map(StatedDate::all).unwrap_or_default();
        let age = |version| {
            let latest = dates(version).and_then(ReleaseDates::latest);
            latest.map(|date| ago(date.time, self.now))
        };
        let error = outlook.and_then(|outlook| outlook.allowed.as_ref().err());
        let conflict = match error.map(|error| &**error) {
            Some(SelectError::NoMatch { offered, .. }) => {
                self.conflict(&compared.provider, offered)
            }
            _ => Vec::new(),
        };
        let is_too_young = self.youth(compared).is_some() && old_enough.is_none();
        ComparedProvider {
            provider: compared.provider.clone(),
            state: match state(compared) {
                VersionState::Behind if is_too_young => VersionState::TooYoung,
                state => state,
            },
            version: locked.cloned(),
            locked: locked.cloned(),
            locked_is_offered: locked.and(outlook).map(|outlook| outlook.offers_locked),
            newest_allowed: allowed.cloned(),
            old_enough: old_enough.cloned(),
            newest: newest.cloned(),
            allowed_step: ComparedProvider::upgrade(locked, allowed),
            step: ComparedProvider::upgrade(locked, newest),
            allowed_dates: stated(allowed),
            dates: stated(newest),
            allowed_age: age(allowed),
            old_enough_age: age(old_enough),
            age: age(newest),
            advisories: Vec::new(),
            constraints: compared.constraints.clone(),
            held_by: newest.map_or_else(Vec::new, |newest| self.held_by(compared, newest)),
            conflict,
        }
    }

    /// Lists the requirements that exclude a version.
    fn held_by(&self, compared: &ComparedVersions, version: &Version) -> Vec<HoldingPlace> {
        let requirements = self.required.requirements;
        let texts = self.required.texts;
        let mut places: Vec<HoldingPlace> = requirements
            .excluding(&compared.provider, version)
            .into_iter()
            .map(|requirement| holding::place(texts, requirement))
            .collect();
        // If a module cannot be seen, recorded constraints that no visible place states count as well.
        let recorded: Constraints = requirements
            .unseen_terms(&compared.provider, &compared.constraints)
            .iter()
            .filter(|term| !term.is_met_by(version))
            .cloned()
            .collect();
        if let Some(lock) = &self.root.lock
            && !recorded.is_empty()
        {
            let entry = lock.document.places.get(&compared.provider);
            let span = entry.and_then(|places| places.constraints);
            let span = span.unwrap_or_default();
            places.push(holding::recorded(texts, lock.file, span, &recorded));
        }
        places
    }

    fn conflict(&self, provider: &ProviderAddr, offered: &[Version]) -> Vec<ConflictingPlace> {
        ConstraintConflict::of(self.required.requirements, provider, offered)
            .into_iter()
            .flat_map(|conflict| conflict.places)
            .map(|conflicting| ConflictingPlace {
                place: holding::place(self.required.texts, conflicting.place),
                allows: conflicting.allows,
                without: conflicting.without,
            })
            .collect()
    }

    /// Adds warnings about a provider: those of its registry, and on the version that is locked.
    fn remarks(&self, result: &mut RootResult, compared: &ComparedVersions) {
        let flavor = self.root.flavor;
        let name = compared.provider.short(flavor);
        if let VersionComparison::Offered { warnings, .. } = &compared.standing {
            for warning in warnings {
                let text = format!("the registry says of {name}: {warning}");
                result.ruled(
                    diag::named(rules::REGISTRY_WARNING),
                    &compared.provider,
                    text,
                );
            }
        }
        if let Some(remark) = self.too_young(compared) {
            result.remark(remark);
        }
        match (&compared.standing, &compared.locked) {
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
                // Where no version is allowed at all, the failure of the provider says it already.
                if outlook.allowed.is_ok() && !compared.constraints.allows(locked) =>
            {
                let error = SelectError::LockedConflict {
                    provider: compared.provider.clone(),
                    locked: locked.clone(),
                    constraints: compared.constraints.clone(),
                };
                result.warn(lock::in_one_line(&error, flavor, &self.required));
            }
            (VersionComparison::Failed(error), _)
                if self.is_passed_over(&compared.provider, error) =>
            {
                result.warn(format!("{name} was not compared: {error}"));
            }
            _ => {}
        }
    }
}

fn state(compared: &ComparedVersions) -> VersionState {
    let outlook = match &compared.standing {
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
    match (&compared.locked, allowed) {
        // This comes first: where no version is allowed, none could be locked either.
        (_, Err(_)) => VersionState::Conflict,
        (None, Ok(_)) => VersionState::NotLocked,
        (Some(locked), Ok(_)) if !compared.constraints.allows(locked) => VersionState::NotAllowed,
        (Some(locked), Ok(allowed)) if allowed != locked => VersionState::Behind,
        (locked, Ok(_)) => match ComparedProvider::upgrade(locked.as_ref(), newest.as_ref()) {
            Some(_) => VersionState::HeldBack,
            None => VersionState::UpToDate,
        },
    }
}
