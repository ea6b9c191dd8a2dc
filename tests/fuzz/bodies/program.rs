//! The program in memory, as a user would call it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lockctl::cli::{self, Io, World};
use lockctl::world::Files;
use lockctl::world::mem::{MemClock, MemEnv, MemFiles, MemHttp, MemRun};

/// The directory in which the program is called.
pub(super) const ROOT: &str = "/top/root";

/// How a command ended, and what it printed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) code: u8,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
}

/// Runs a command without a network and without other programs.
pub(super) fn run(files: &MemFiles, vars: &[(&str, &str)], command: &[&str]) -> Run {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let env = MemEnv {
        vars: vars
            .iter()
            .map(|(name, value)| ((*name).to_owned(), value.into()))
            .collect::<BTreeMap<_, _>>(),
        current_dir: PathBuf::from(ROOT),
        ..MemEnv::default()
    };
    let world = World {
        disk: files,
        env: &env,
        http: &MemHttp::unreachable(),
        clock: &MemClock::default(),
        run: &MemRun::nothing(),
        project_files: None,
    };
    let mut io = Io {
        stdout: &mut stdout,
        stderr: &mut stderr,
    };
    // Files in memory have absolute paths; a working directory alone would show none of them.
    let line = ["lockctl", "-C", ROOT]
        .iter()
        .chain(command)
        .map(Into::into);
    let code = cli::run(line, world, &mut io);
    Run {
        code,
        stdout,
        stderr,
    }
}

/// The bytes of the lock file, if there is one.
pub(super) fn lock_file(files: &MemFiles) -> Option<Vec<u8>> {
    let path = Path::new(ROOT).join(".terraform.lock.hcl");
    files.read(&path, u64::MAX).ok()
}
