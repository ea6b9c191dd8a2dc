//! `lockctl audit`: known vulnerabilities of locked providers.

mod args;
mod text;

use crate::cli::args::{Common, Configuration};
use crate::cli::{Command, Look, Stderr, World};
use crate::report::reading::Total;
use crate::report::{CommandResult, TextBlock};
use crate::run::audit;
use crate::run::progress::Progress;
use crate::sources::net::Event;
pub(in crate::front::cli) use args::AuditArgs;

impl Command for AuditArgs {
    fn run(&self, common: &Common, world: World<'_>, stderr: &mut Stderr<'_>) -> CommandResult {
        let progress = Progress::new(common.progress(world.env), world.env, stderr);
        let observer = &|event: &Event<'_>| progress.observe(event);
        let options = common.options();
        let result = audit::audit(
            &options,
            &self.options(common.format),
            &self.configuration.options(),
            &self.roots.choice(),
            world,
            observer,
        );
        progress.finish();
        result
    }

    fn configuration(&self) -> Option<&Configuration> {
        Some(&self.configuration)
    }

    fn text(&self, result: &CommandResult, look: Look) -> Vec<TextBlock> {
        text::of_all(result, look)
    }

    fn total(&self) -> Total {
        Total::Result
    }
}
