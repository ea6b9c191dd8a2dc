//! Explanations of a provider that gets no version: the places that cause it, and ways out.

use std::cmp::Reverse;

use super::required::Required;
use crate::addr::ProviderAddr;
use crate::flavor::Flavor;
use crate::report::shared::first_names;
use crate::requirement::{Requirement, UnseenCall};
use crate::resolve::{ConflictKind, ConflictPlace, ConstraintConflict, SelectError};
use crate::version::{Constraints, Version};

/// Maximum number of places in one sentence; one more than that is named, too.
const MAX_PLACES: usize = 5;

/// Maximum number of ways out of a conflict that are named.
const MAX_WAYS: usize = 3;

/// Causes and help beside the title of such an error.
pub(super) struct Explanation {
    pub(super) causes: Vec<String>,
    pub(super) help: Option<String>,
}

/// Explains why a provider gets no version.
pub(super) fn explain(error: &SelectError, required: &Required<'_>, flavor: Flavor) -> Explanation {
    let provider = error.provider();
    let (causes, help) = match error {
        SelectError::NoMatch {
            offered,
            constraints,
            ..
        } => {
            let conflict = ConstraintConflict::of(required.requirements, provider, offered);
            let unseen = required.requirements.unseen_terms(provider, constraints);
            return conflict.map_or_else(
                || required.recorded_conflict(&unseen, flavor),
                |conflict| required.conflict(&conflict, provider, offered),
            );
        }
        SelectError::LockedConflict { locked, .. } => {
            return required.locked_conflict(provider, locked, flavor);
        }
        SelectError::Forbidden {
            wanted,
            constraints,
            ..
        } => return required.forbidden(provider, wanted, constraints, flavor),
        // The locked version is not allowed any more, and `--patch` or `--minor` excludes those that are
        // (`resolve` rules 2.5).
        SelectError::OutOfReach {
            locked,
            newest_allowed,
            ..
        } => (
            required.exclusion(provider, locked),
            Some(format!(
                "the newest version that the constraints allow is {newest_allowed}"
            )),
        ),
        // This holds even where the package is installed (`resolve` rules 2.2), so keeping the version is no way out.
        SelectError::LockedGone { newest, .. } => {
            let update = required.commands.update.with(provider.short(flavor));
            let newest = newest
                .as_ref()
                .map(|newest| format!("; the newest release offered is {newest}"));
            let newest = newest.unwrap_or_default();
            (
                required.places(provider).into_iter().collect(),
                Some(format!("run `{update}` to select another version{newest}")),
            )
        }
        SelectError::NotOffered { newest, .. } => (
            required.places(provider).into_iter().collect(),
            newest
                .as_ref()
                .map(|newest| format!("the newest release offered is {newest}")),
        ),
        SelectError::Refused { refusal, .. } => (
            required.places(provider).into_iter().collect(),
            Some(refusal.help().to_owned()),
        ),
    };
    Explanation { causes, help }
}

impl Required<'_> {
    /// Names the places that do not allow a version; if each does, those that require the provider.
    fn exclusion(&self, provider: &ProviderAddr, version: &Version) -> Vec<String> {
        let places = self.requirements.excluding(provider, version);
        if places.is_empty() {
            return self.places(provider).into_iter().collect();
        }
        let verb = if places.len() == 1 { "does" } else { "do" };
        let names = places.iter().map(|place| self.named(place, 0)).collect();
        let names = and_more(names);
        vec![format!("{names} {verb} not allow {version}")]
    }

    /// Explains why the version that was asked for is not allowed.
    fn forbidden(
        &self,
        provider: &ProviderAddr,
        wanted: &Version,
        constraints: &Constraints,
        flavor: Flavor,
    ) -> Explanation {
        let unseen: Constraints = self
            .requirements
            .unseen_terms(provider, constraints)
            .iter()
            .filter(|term| !term.is_met_by(wanted))
            .cloned()
            .collect();
        if self.requirements.excluding(provider, wanted).is_empty() && !unseen.is_empty() {
            return self.recorded_conflict(&unseen, flavor);
        }
        let help = "choose a version that it allows, or change the constraint, as --edit does";
        Explanation {
            causes: self.exclusion(provider, wanted),
            help: Some(help.to_owned()),
        }
    }

    /// Explains why the locked version meets the constraints no longer.
    fn locked_conflict(
        &self,
        provider: &ProviderAddr,
        locked: &Version,
        flavor: Flavor,
    ) -> Explanation {
        let mut causes = self.exclusion(provider, locked);
        // The locked version is the only candidate (`resolve` rules 1.2), so offered ones are not compared.
        let conflict = ConstraintConflict::of(self.requirements, provider, &[]);
        if let Some(conflict) = conflict.filter(|conflict| !conflict.places.is_empty()) {
            // Then no other version meets them either.
            let more = self.conflict(&conflict, provider, &[]);
            causes.extend(more.causes);
            return Explanation {
                causes,
                help: more.help,
            };
        }
        Explanation {
            causes,
            help: Some(format!(
                "run `{}` to select another version, or change the constraint",
                self.commands.update.with(provider.short(flavor))
            )),
        }
    }

    /// Explains a conflict that visible places do not have: recorded constraints count as well.
    fn recorded_conflict(&self, recorded: &Constraints, flavor: Flavor) -> Explanation {
        // The recorded conditions count beside the visible ones only while a module cannot be seen (`resolve`
        // rules 2.6): with the modules installed, the conflict may be gone.
        let calls = &self.requirements.unseen_calls;
        let unseen = and_more(calls.iter().map(UnseenCall::name).collect());
        Explanation {
            causes: vec![format!(
                "the lock file records \"{recorded}\", which no visible module states: it counts because \
                 modules cannot be seen: {unseen}"
            )],
            help: Some(format!(
                "add `--modules fetch`, or run `{} get`, so that only what the modules require counts",
                flavor.command()
            )),
        }
    }

    fn conflict(
        &self,
        conflict: &ConstraintConflict<'_>,
        provider: &ProviderAddr,
        offered: &[Version],
    ) -> Explanation {
        let mut causes = self.causes(conflict, offered);
        if causes.is_empty() {
            causes.extend(self.places(provider));
        }
        Explanation {
            causes,
            help: self.ways_out(conflict, provider, offered),
        }
    }

    /// Says which places leave no version, and what each of them allows.
    fn causes(&self, conflict: &ConstraintConflict<'_>, offered: &[Version]) -> Vec<String> {
        let versions = match offered {
            [only] => format!("the only offered version, {only}"),
            several => format!("any of the {} offered versions", several.len()),
        };
        let names: Vec<String> = conflict
            .places
            .iter()
            .map(|conflicting| self.named(conflicting.place, conflicting.others))
            .collect();
        let is_alone = names.len() == 1;
        let names = and_more(names);
        let cause = match conflict.kind {
            // Without a place there is nothing to name: the title has the constraints.
            _ if names.is_empty() => return Vec::new(),
            ConflictKind::NoPlace => return Vec::new(),
            ConflictKind::Contradiction if is_alone => format!("{names} excludes every version"),
            ConflictKind::NotOffered if is_alone => format!("{names} does not allow {versions}"),
            ConflictKind::Contradiction => format!("no version can meet all of these: {names}"),
            ConflictKind::NotOffered => {
                format!("together these do not allow {versions}: {names}")
            }
        };
        let mut causes = vec![cause];
        if !offered.is_empty() && !is_alone {
            // Beside each other these versions show which of the places is behind.
            let allowed = conflict.places.iter().map(|conflicting| {
                let constraints = &conflicting.place.constraints;
                match &conflicting.allows {
                    Some(version) => format!("{version} by \"{constraints}\""),
                    None => format!("none by \"{constraints}\""),
                }
            });
            let allowed = and_more(allowed.collect());
            causes.push(format!(
                "the newest offered version that each allows: {allowed}"
            ));
        }
        causes
    }

    /// Names changes of constraints, each with the version that it leads to.
    fn ways_out(
        &self,
        conflict: &ConstraintConflict<'_>,
        provider: &ProviderAddr,
        offered: &[Version],
    ) -> Option<String> {
        // A pre-release must be named exactly by a constraint (`version` rules 5.2), so loosening others does
        // not help.
        if let Some(version) = &conflict.unnamed {
            return Some(format!(
                "a pre-release is selected only where a constraint names it exactly: to select the \
                 newest one that meets the others, write version = \"{version}\""
            ));
        }
        let mut ways: Vec<(&Version, &ConflictPlace<'_>)> = conflict
            .places
            .iter()
            .filter_map(|conflicting| Some((conflicting.without.as_ref()?, conflicting)))
            .collect();
        ways.sort_by_key(|(version, _)| Reverse(*version));
        let ways: Vec<String> = ways
            .into_iter()
            .take(MAX_WAYS)
            .map(|(version, conflicting)| {
                let place = self.named(conflicting.place, conflicting.others);
                format!("to select {version}, change {place}")
            })
            .collect();
        if !ways.is_empty() {
            return Some(ways.join("; "));
        }
        match (conflict.places.len(), offered.iter().max()) {
            (0, newest) => newest.map(|newest| format!("the newest version offered is {newest}")),
            (1, None) => Some("change that constraint".to_owned()),
            (1, Some(newest)) => Some(format!(
                "change that constraint and others: the newest version offered is {newest}"
            )),
            (_, Some(_)) => Some(format!(
                "change several constraints, since no single change is enough; `{}` lists them all",
                self.commands.why(provider)
            )),
            (_, None) => Some("change one of these constraints".to_owned()),
        }
    }

    /// Names a condition with its place, and how many other places state the same.
    fn named(&self, place: &Requirement, others: usize) -> String {
        let mut text = format!("\"{}\" at {}", place.constraints, self.at(place));
        if !place.module.is_root() {
            text += &format!(" ({})", place.module);
        }
        match others {
            0 => text,
            1 => text + " and at 1 more place",
            n => text + &format!(" and at {n} more places"),
        }
    }
}

/// Joins names; of many the first ones, with the number of the others.
fn and_more(names: Vec<String>) -> String {
    first_names(names.into_iter(), MAX_PLACES).join(", ")
}
