//! A root that is ready to be locked, and the lock file that it starts from.

use std::collections::BTreeMap;

use super::remarks;
use crate::addr::ProviderAddr;
use crate::config::Loaded;
use crate::diag::has_errors;
use crate::hash::Hashes;
use crate::locker::{Conversion, LockError, Locked, SignatureDemands};
use crate::lockfile::LockFile;
use crate::package::{ClaimPolicy, WantedPlatforms};
use crate::pins::Pins;
use crate::project::Policy;
use crate::report::{Failure, RootResult};
use crate::resolve::Goals;
use crate::run::root::Root;
use crate::workspace::SpecialDirectory;

/// A root that is ready to be locked.
pub(super) struct OpenRoot {
    pub(super) root: Root,
    pub(super) loaded: Loaded,
    /// The pins that it is to have, if its modules are pinned.
    pub(super) pins: Option<Pins>,
    /// The conversion of its lock file, if that was one of the other program.
    pub(super) conversion: Option<Conversion>,
    /// Hashes that were recorded of its versions on another registry.
    pub(super) elsewhere: BTreeMap<ProviderAddr, Hashes>,
    pub(super) goals: Goals,
    pub(super) platforms: WantedPlatforms,
    pub(super) demands: SignatureDemands,
    pub(super) policy: Option<Policy>,
    pub(super) claims: ClaimPolicy,
    /// Providers that are run from a directory and need no package, and entries that stay as they are.
    pub(super) overridden: Vec<ProviderAddr>,
    /// The number of its source.
    pub(super) source: usize,
}

/// The outcome of the work for a root.
pub(super) type LockOutcome = Result<Locked, Vec<LockError>>;

impl OpenRoot {
    /// Returns the lock file that the run starts from.
    pub(super) fn start_lock(&self) -> &LockFile {
        match &self.conversion {
            Some(conversion) => &conversion.lock,
            None => &self.root.document().lock,
        }
    }
}

/// Reports what is wrong with the lock file and the configuration of a root; returns the configuration if both
/// can be worked with.
///
/// # Errors
/// If there is no configuration.
pub(crate) fn sound(
    root: &Root,
    loaded: Option<Loaded>,
    result: &mut RootResult,
) -> Result<Option<Loaded>, Failure> {
    let lock_faults = root.lock.as_ref().map(|lock| &*lock.diagnostics);
    let lock_faults = lock_faults.unwrap_or_default();
    result.faults(lock_faults);
    let pins = root.pins.as_ref().map(|pins| &*pins.diagnostics);
    let pins = pins.unwrap_or_default();
    result.faults(pins);
    let is_new_stack = root.special == Some(SpecialDirectory::Stack) && root.lock.is_none();
    let Some(loaded) = loaded.filter(|loaded| loaded.found && !is_new_stack) else {
        return Err(root.no_configuration().into());
    };
    let about_configuration = loaded
        .diagnostics
        .iter()
        .filter(|diagnostic| !remarks::is_about_state(diagnostic));
    result.faults(about_configuration);
    result.missing_values.clone_from(&loaded.missing_values);
    let is_sound =
        !has_errors(lock_faults) && !has_errors(pins) && !has_errors(&loaded.diagnostics);
    Ok(is_sound.then_some(loaded))
}
