//! `lockctl update`: move versions, and complete the lock file as `lock` does.

mod args;

use crate::cli::args::Common;
use crate::cli::lock::{self, LockCommand, LockOptions, LockRequest};
use crate::cli::{Stderr, World};
use crate::report::CommandResult;
use crate::world::FileKind;
pub(in crate::front::cli) use args::UpdateArgs;

impl LockCommand for UpdateArgs {
    fn options(&self) -> &LockOptions {
        &self.options
    }

    fn lock(&self, common: &Common, world: World<'_>, stderr: &mut Stderr<'_>) -> CommandResult {
        let options = common.options();
        let args = self.with_directories(|path| {
            let kind = world.disk.kind(&options.below(path));
            kind.is_ok_and(|kind| kind == FileKind::Directory)
        });
        let request = LockRequest {
            command: "update",
            roots: &args.roots(),
            changed: None,
            options: &self.options,
            moves: Some(&args.moves()),
        };
        lock::run(common, request, world, stderr)
    }

    fn check_arguments(&self, _: &Common) -> Result<(), String> {
        self.contradiction().map_or(Ok(()), Err)
    }
}
