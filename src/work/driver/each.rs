//! A job that needs nothing but the lock files of its roots, one after the other.

use std::path::PathBuf;

use crate::config::Loaded;
use crate::diag::{Texts, has_errors};
use crate::driver::job::{Job, OpenResult, RunInputs};
use crate::driver::over_roots::over_roots;
use crate::driver::results::RootResults;
use crate::report::{Failure, RootResult};
use crate::run::options::{Configuration, RootArgs};
use crate::run::root::Root;
use crate::run::session::Session;
use crate::run::unseen::{self, UnseenParts};
use crate::run::user::modules::{AutoModules, UserModules};
use crate::workspace::Reading;
use crate::world::Replaced;

/// Does something with every root by itself, in the order of the roots.
pub(crate) fn each(
    session: &Session<'_>,
    roots: &RootArgs,
    work: impl FnMut(&Root, &mut Texts, &mut RootResult) -> Result<Replaced, Failure>,
) -> RootResults {
    over_roots(&mut EachRoot(work), RunInputs::of_locks(session, roots))
}

/// Does something with the configuration of every root by itself; one with errors is only reported. A lock file
/// without configuration that a search found is passed over. `keeps_merged` spares reading files again, if all merged
/// modules are looked at.
pub(crate) fn each_loaded(
    session: &Session<'_>,
    configuration: &Configuration,
    roots: &RootArgs,
    keeps_merged: bool,
    mut work: impl FnMut(&Root, &Loaded, &mut Texts, &mut RootResult) -> Result<(), Failure>,
) -> RootResults {
    let modules = UserModules::new(session, configuration, AutoModules::Cached);
    let mut alone: Vec<PathBuf> = Vec::new();
    let mut all = each(session, roots, |root, texts, result| {
        // A run over all roots below a directory does not demand that each has a configuration (`project` rules
        // 3.2).
        if root.is_alone && roots.recursive {
            alone.push(root.lock_path.clone());
            result.aside(&root.load(&modules.reading(), texts).diagnostics);
            return Ok(Replaced::Done);
        }
        let reading = Reading {
            traces_values: true,
            keeps_merged,
            ..modules.reading()
        };
        let loaded = root.load(&reading, texts);
        if !loaded.found || root.is_alone {
            return Err(root.no_configuration().into());
        }
        UnseenParts::new(&loaded, configuration, session.options).faults(result);
        if !has_errors(&loaded.diagnostics) {
            work(root, &loaded, texts, result)?;
        }
        Ok(Replaced::Done)
    });
    let alone = alone
        .iter()
        .map(|lock| (lock.as_path(), unseen::NONE_BESIDE));
    all.not_compared = unseen::not_compared(alone);
    all
}

struct EachRoot<F>(F);

impl<F> Job for EachRoot<F>
where
    F: FnMut(&Root, &mut Texts, &mut RootResult) -> Result<Replaced, Failure>,
{
    type Opened = ();
    type Done = ();

    fn open(
        &mut self,
        root: Root,
        _: Option<Loaded>,
        texts: &mut Texts,
        result: &mut RootResult,
    ) -> Result<OpenResult<()>, Failure> {
        Ok((self.0)(&root, texts, result)?.into())
    }

    /// Does nothing: each root was finished when it was opened.
    fn work(&mut self, _: Vec<((), &mut RootResult)>, _: &Texts) -> Vec<()> {
        Vec::new()
    }
}
