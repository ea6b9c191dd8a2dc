//! `lockctl mirror`: the packages of lock files in one directory.

mod args;
mod text;

use crate::cli::args::Common;
use crate::cli::{Command, Look, MarkdownText, Stderr, World};
use crate::report::reading::Total;
use crate::report::{CommandResult, TextBlock};
use crate::run::mirror;
use crate::run::progress::Progress;
use crate::sources::net::Event;
pub(in crate::front::cli) use args::MirrorArgs;

impl Command for MirrorArgs {
    fn run(&self, common: &Common, world: World<'_>, stderr: &mut Stderr<'_>) -> CommandResult {
        let progress = Progress::new(common.progress(world.env), world.env, stderr);
        let observer = &|event: &Event<'_>| progress.observe(event);
        let (options, choice) = (common.options(), self.roots.choice());
        let result = mirror::mirror(&options, &self.options(&options), &choice, world, observer);
        progress.finish();
        result
    }

    fn check(&self, _: &Common) -> Result<(), String> {
        self.check_unpacked()
    }

    fn text(&self, result: &CommandResult, look: Look) -> Vec<TextBlock> {
        text::of_all(result, self.extent(), look)
    }

    fn total(&self) -> Total {
        Total::Result
    }

    fn markdown(&self) -> MarkdownText {
        MarkdownText::Blocks
    }
}
