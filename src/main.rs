//! The program `lockctl`: the real world, handed to [`lockctl::cli::run`].

use std::io;
use std::process::ExitCode;

use lockctl::cli::{self, Io, World};
use lockctl::net::RealHttp;
use lockctl::os::{self, RealClock, RealDisk, RealEnv, RealRun};
#[cfg(unix)]
use lockctl::signals;

// The allocator of musl takes one lock for all threads.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    os::announce_panics();
    #[cfg(unix)]
    signals::handle();
    let http = RealHttp::new(&RealEnv);
    let world = World {
        disk: &RealDisk,
        env: &RealEnv,
        http: &http,
        clock: &RealClock,
        run: &RealRun,
        project_files: None,
    };
    // Neither is locked: other threads report events.
    let mut stdout = io::BufWriter::new(io::stdout());
    let mut stderr = io::stderr();
    let mut io = Io {
        stdout: &mut stdout,
        stderr: &mut stderr,
    };
    let args: Vec<_> = os::args().collect();
    // Only a run that locks may take minutes, and leaves something to resume.
    #[cfg(unix)]
    if cli::locks(&args) {
        signals::announce_interruption();
    }
    ExitCode::from(cli::run(args, world, &mut io))
}
