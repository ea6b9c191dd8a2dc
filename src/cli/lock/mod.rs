//! `lockctl lock`: create or complete the lock file.

mod args;
mod result;
mod run;
mod text;

use std::path::PathBuf;

use crate::cli::args::{Common, Configuration};
use crate::cli::{Command, Look, Stderr, World};
use crate::report::reading::Total;
use crate::report::{Block, CommandResult, RootResult};
pub(in crate::cli) use args::Lock;
use run::Job;

impl Command for Lock {
    fn run(&self, common: &Common, world: World<'_>, stderr: &mut Stderr<'_>) -> CommandResult {
        let job = Job {
            command: "lock",
            roots: &self.roots,
            options: &self.options,
        };
        run::run(common, &job, world, stderr)
    }

    fn configuration(&self) -> Option<&Configuration> {
        Some(&self.options.configuration)
    }

    fn packages(&self) -> Vec<PathBuf> {
        self.options.source.fs_mirror.iter().cloned().collect()
    }

    fn root_text(&self, root: &RootResult, look: Look) -> Vec<Block> {
        text::of_root(root, look)
    }

    fn total(&self) -> Total {
        Total::Result
    }
}
