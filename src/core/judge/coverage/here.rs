//! Predictions of `init` and `plan` in a root as it is now, with the packages on this machine (rules 5).

use super::routes::{
    CARRIED_OVER, INCOMPLETE, NO_PLATFORM, NOT_INSTALLED, NOT_SHARED, NOT_THERE, Outcome,
    PackageKind, Prediction, Route, RouteVerdict, init, of_guess, plan,
};
use super::state::{EntryNeed, EntryState, Guess, LockState, MachinePackages, MachineSource};
use crate::flavor::Flavor;

/// Predicts what `init` and `plan` do in a root with what this machine has (rules 5).
#[must_use]
pub fn predict_here(
    state: &LockState,
    machine: MachinePackages,
    flavor: Flavor,
) -> Vec<Prediction> {
    // `plan` needs the package of an entry to be installed, even if `init` would install it (rules 4.3).
    let plan = match (state, machine.installed) {
        // It runs what `dev_overrides` names, and looks at no entry (rules 5.7).
        _ if machine.is_overridden => RouteVerdict::new(Outcome::Passes, None).unchecked(true),
        (LockState::EntryState(_), None) => RouteVerdict::fails(NOT_THERE),
        (LockState::EntryState(entry), Some(is_recorded)) => {
            plan(&machine.with(entry, is_recorded), flavor)
        }
        _ => plan(state, flavor),
    };
    let source = match machine.source {
        MachineSource::Registry => PackageKind::Signed,
        MachineSource::Zips => PackageKind::Zips,
        MachineSource::OciZips => PackageKind::OciZips,
        MachineSource::Directories => PackageKind::Directories,
        MachineSource::NoVersion | MachineSource::NoPlatform => PackageKind::Signed,
    };
    let init_verdict = match state {
        LockState::EntryState(entry) if entry.need == EntryNeed::Fits => {
            // OpenTofu asks no source for a package in its cache (rules 5.5), so no doubt about sources counts.
            let asks_nothing = flavor.is_opentofu() && machine.cached == Some(true);
            let is_doubtful = machine.is_doubtful && !asks_nothing;
            install_here(entry, machine, source, flavor).assumed_if(is_doubtful)
        }
        // Nothing is installed for it.
        LockState::EntryState(_) | LockState::Version { fits: false, .. } => {
            init(state, source, flavor)
        }
        LockState::Nothing(_) | LockState::Version { .. } => match machine.source {
            MachineSource::NoVersion => RouteVerdict::fails(flavor.no_version_title()),
            MachineSource::NoPlatform => RouteVerdict::fails(NO_PLATFORM),
            _ => init(state, source, flavor).assumed_if(machine.is_doubtful),
        },
    };
    vec![init_verdict.of(Route::Here), plan.of(Route::HerePlan)]
}

fn install_here(
    entry: &EntryState,
    machine: MachinePackages,
    source: PackageKind,
    flavor: Flavor,
) -> RouteVerdict {
    let state = &LockState::EntryState(*entry);
    let is_linked = machine.cached == Some(true);
    // The source is queried first, even if a package is installed (rules 5.1); but OpenTofu queries no source
    // for a package in its cache (rules 5.5).
    match machine.source {
        _ if is_linked && flavor.is_opentofu() => {}
        MachineSource::NoVersion => return RouteVerdict::fails(flavor.no_version_title()),
        MachineSource::NoPlatform => return RouteVerdict::fails(NO_PLATFORM),
        _ => {}
    }
    match machine.installed {
        Some(true) if entry.has_twin => RouteVerdict::new(Outcome::Rewrites, CARRIED_OVER),
        Some(true) if entry.hashes.in_order => RouteVerdict::new(Outcome::Passes, None),
        Some(true) => RouteVerdict::new(Outcome::Rewrites, None),
        // OpenTofu does not unpack over another package (rules 2.6).
        Some(false) if flavor.is_opentofu() && entry.hashes.own_h1 => {
            RouteVerdict::fails(NOT_INSTALLED).assumed_if(is_linked)
        }
        // The installed package may be the one that is fetched.
        Some(false) if flavor.is_opentofu() => {
            let fetched = init(state, source, flavor);
            let fails = fetched.outcome == Outcome::Fails;
            fetched.assumed_if(!fails)
        }
        _ => match machine.cached {
            // The cached package matches an `h1:`, so that is the hash of the platform; this replaces the
            // guess.
            Some(true) => init(&machine.with(entry, true), PackageKind::Cache, flavor),
            Some(false) => past_cache(entry, machine, source, flavor),
            None if machine.installed == Some(false) => unpack_over(entry, machine, source, flavor),
            None => init(state, source, flavor),
        },
    }
}

/// Predicts Terraform's `init` where another package is installed than the recorded one (rules 5.6).
fn unpack_over(
    entry: &EntryState,
    machine: MachinePackages,
    source: PackageKind,
    flavor: Flavor,
) -> RouteVerdict {
    let fetched = init(&LockState::EntryState(*entry), source, flavor);
    // A directory of a mirror replaces what is installed, and a package that is refused leaves it alone.
    if source == PackageKind::Directories || fetched.outcome == Outcome::Fails {
        return fetched;
    }
    match machine.keeps_stray_files {
        // The new hash is that of the package with the files that stay, so it is in no entry, and the old one
        // is not all that is known (rules 2.5).
        Some(true) => {
            let title = fetched.title.filter(|_| entry.hashes.is_blind());
            RouteVerdict::new(Outcome::Rewrites, title).unchecked(fetched.unchecked)
        }
        Some(false) => fetched,
        None => {
            let is_unchanged = fetched.outcome == Outcome::Passes;
            fetched.assumed_if(is_unchanged)
        }
    }
}

/// Predicts `init` where the entry does not record the hash of the cached package (rules 5.3 and 5.4).
fn past_cache(
    entry: &EntryState,
    machine: MachinePackages,
    source: PackageKind,
    flavor: Flavor,
) -> RouteVerdict {
    if !flavor.is_opentofu() && machine.cache_may_break {
        return if entry.hashes.is_blind() {
            RouteVerdict::new(Outcome::Rewrites, INCOMPLETE).unchecked(true)
        } else {
            RouteVerdict::fails(NOT_SHARED)
        };
    }
    let fetched = init(&LockState::EntryState(*entry), source, flavor);
    // The fetched package takes the place of the cached one; where the hash of neither is recorded it is
    // not known if the two differ.
    let is_doubtful = match (flavor.is_opentofu(), fetched.outcome, source) {
        (_, Outcome::Fails, _) => false,
        (true, ..) if entry.hashes.own_h1 => return RouteVerdict::fails(NOT_INSTALLED),
        (true, ..) => true,
        // Terraform unpacks over what is there: files that are not replaced change the hash.
        (false, Outcome::Passes, PackageKind::Signed | PackageKind::Zips) => true,
        (false, ..) => false,
    };
    fetched.assumed_if(is_doubtful)
}

/// Predicts as [`predict_here`] does where not everything is known.
#[must_use]
pub fn predict_guess_here(
    guess: &Guess<LockState>,
    machine: MachinePackages,
    flavor: Flavor,
) -> Vec<Prediction> {
    of_guess(guess, |state| predict_here(state, machine, flavor))
}
