//! Programs that hold credentials for hosts and registries.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use crate::run::World;
use crate::world::{Ended, Executable, Invocation};

/// Time limit of a helper: it may have to ask a server, but it has no input to wait for.
pub(crate) const HELPER_TIME: Duration = Duration::from_secs(30);

/// Maximum length of the output of a helper, in bytes.
const MAX_ANSWER_BYTES: u64 = 64 * 1024;

/// Maximum number of characters of a helper's standard error that a message repeats.
const MAX_SHOWN_CHARS: usize = 200;

/// Runs a helper in the working directory; a failure of its own is no error.
///
/// # Errors
/// In words that follow its name.
pub(crate) fn run(
    world: World<'_>,
    path: &Path,
    args: &[OsString],
    stdin: &[u8],
) -> Result<Ended, String> {
    let here = world.env.current_dir();
    let dir = here.map_err(|error| format!("cannot be run: {error}"))?;
    let invocation = Invocation {
        program: Executable::File(path),
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
    world
        .run
        .run(&invocation)
        .map_err(|error| match error.kind() {
            ErrorKind::TimedOut => format!("gave no answer within {} s", HELPER_TIME.as_secs()),
            ErrorKind::FileTooLarge => format!("prints more than {MAX_ANSWER_BYTES} bytes"),
            _ => format!("cannot be run: {error}"),
        })
}

/// Says that a helper failed, with what it says of it: never what it prints, which may be a secret.
pub(crate) fn failed(ended: &Ended) -> String {
    let said = String::from_utf8_lossy(&ended.stderr);
    let said: String = said.trim().chars().take(MAX_SHOWN_CHARS).collect();
    match &*said {
        "" => "failed".to_owned(),
        said => format!("failed: {said}"),
    }
}

/// Returns whether a name can be a part of the name of a program: a separator would lead elsewhere.
pub(crate) fn is_plain(name: &str) -> bool {
    name.chars()
        .all(|c| c.is_alphanumeric() || "_-.".contains(c))
}
