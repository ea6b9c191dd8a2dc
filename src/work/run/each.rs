//! A job that needs nothing but the lock files of its roots, one after the other.

use std::path::PathBuf;

use crate::config::Loaded;
use crate::diag::Texts;
use crate::report::{Failure, RootResult};
use crate::run::World;
use crate::run::driver::over_roots;
use crate::run::job::{Job, OpenResult, RunInputs};
use crate::run::options::{ConfigurationOptions, RootChoice, RunOptions};
use crate::run::results::RootResults;
use crate::run::root::Root;
use crate::run::unseen;
use crate::run::user::modules::{self, UserModules};
use crate::world::Replaced;

/// Does something with every root by itself, in the order of the roots.
pub(crate) fn each(
    options: &RunOptions,
    choice: &RootChoice,
    world: World<'_>,
    work: impl FnMut(&Root, &mut Texts, &mut RootResult) -> Result<Replaced, Failure>,
) -> RootResults {
    let inputs = RunInputs::of_locks(choice, options, world);
    over_roots(&mut EachRoot(work), inputs)
}

/// Does something with the configuration of every root by itself; one with errors is only reported. A lock file
/// without configuration that a search found is passed over.
pub(crate) fn each_loaded(
    options: &RunOptions,
    configuration: &ConfigurationOptions,
    choice: &RootChoice,
    world: World<'_>,
    mut work: impl FnMut(&Root, &Loaded, &mut Texts, &mut RootResult) -> Result<(), Failure>,
) -> RootResults {
    let cache = modules::cache(options, world);
    let modules = UserModules::quiet(options, configuration, world, cache.as_ref());
    let mut alone: Vec<PathBuf> = Vec::new();
    let mut all = each(options, choice, world, |root, texts, result| {
        // A run over all roots below a directory does not demand that each has a configuration (`project` rules
        // 3.2).
        if root.is_alone && choice.recursive {
            alone.push(root.lock_path.clone());
            let reading = modules.reading(configuration);
            result.aside(&root.load(&reading, texts).diagnostics);
            return Ok(Replaced::Done);
        }
        let loaded = unseen::load(root, configuration, options, &modules, texts, result)?;
        if let Some(loaded) = loaded {
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
