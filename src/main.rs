//! The program `lockctl`: the real world, handed to [`lockctl::cli::run`].

use std::io;
use std::process::ExitCode;

use lockctl::cli::{self, Io, World};
use lockctl::os::{self, RealDisk, RealEnv};

fn main() -> ExitCode {
    let world = World {
        disk: &RealDisk,
        env: &RealEnv,
    };
    let mut stdout = io::BufWriter::new(io::stdout().lock());
    let mut stderr = io::stderr().lock();
    let mut io = Io {
        stdout: &mut stdout,
        stderr: &mut stderr,
    };
    ExitCode::from(cli::run(os::args(), world, &mut io))
}
