//! Programs that hold credentials for hosts and registries.

use std::env::consts::EXE_SUFFIX;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::time::Duration;

use crate::run::World;
use crate::world::{Ended, Executable, FileKind, Invocation};

/// Time limit of a helper: it may have to ask a server, but it has no input to wait for.
pub(crate) const HELPER_TIME: Duration = Duration::from_secs(30);

/// Maximum length of the output of a helper, in bytes.
const MAX_ANSWER_BYTES: u64 = 64 * 1024;

/// Maximum number of characters of a helper's standard error that a message repeats.
const MAX_SHOWN_CHARS: usize = 200;

/// A program that holds credentials.
pub(crate) struct Helper<'h> {
    /// The kind of helper, as messages call it.
    pub(crate) kind: &'static str,
    pub(crate) name: &'h str,
    /// The part of the file name before the name.
    pub(crate) prefix: &'static str,
    /// The directories that may hold the program.
    pub(crate) dirs: Vec<PathBuf>,
}

impl Helper<'_> {
    /// Describes a fault of the helper.
    pub(crate) fn fault(&self, reason: &str) -> String {
        format!("the {} {:?} {reason}", self.kind, self.name)
    }

    /// Says that the helper failed, with what it says of it: never what it prints, which may be a secret.
    pub(crate) fn failed(&self, ended: &Ended) -> String {
        let said = String::from_utf8_lossy(&ended.stderr);
        let said: String = said.trim().chars().take(MAX_SHOWN_CHARS).collect();
        match &*said {
            "" => self.fault("failed"),
            said => self.fault(&format!("failed: {said}")),
        }
    }

    /// Runs the helper in the working directory; a failure of its own is no error.
    ///
    /// # Errors
    /// In words, if it is not installed, or gives no answer.
    pub(crate) fn run(
        &self,
        world: World<'_>,
        args: &[OsString],
        stdin: &[u8],
    ) -> Result<Ended, String> {
        let path = self
            .find(world)
            .ok_or_else(|| self.fault("is not installed"))?;
        let here = world.env.current_dir();
        let dir = here.map_err(|error| self.fault(&format!("cannot be run: {error}")))?;
        let invocation = Invocation {
            program: Executable::File(&path),
            args,
            dir: &dir,
            vars: &[],
            stdin,
            limit: MAX_ANSWER_BYTES,
            timeout: Some(HELPER_TIME),
            without: &[],
            room: None,
            memory: None,
        };
        world.run.run(&invocation).map_err(|error| {
            self.fault(&match error.kind() {
                ErrorKind::TimedOut => format!("gave no answer within {} s", HELPER_TIME.as_secs()),
                ErrorKind::FileTooLarge => format!("prints more than {MAX_ANSWER_BYTES} bytes"),
                _ => format!("cannot be run: {error}"),
            })
        })
    }

    fn find(&self, world: World<'_>) -> Option<PathBuf> {
        // A separator in the name would lead elsewhere.
        let is_plain = |c: char| c.is_alphanumeric() || "_-.".contains(c);
        if !self.name.chars().all(is_plain) {
            return None;
        }
        let program = format!("{}{}{EXE_SUFFIX}", self.prefix, self.name);
        self.dirs
            .iter()
            .map(|dir| dir.join(&program))
            .find(|path| world.disk.kind(path).ok() == Some(FileKind::File))
    }
}
