//! Programs of this machine.

use std::io::{self, Read, Write};
use std::process::{Child, ChildStderr, ChildStdin, Command, Stdio};
use std::thread;

use crate::world::{Ended, Invocation, Program, Run};

/// How many bytes of standard error are kept; the first lines say what is wrong.
const MAX_STDERR_BYTES: u64 = 1 << 16;

/// The programs of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealRun;

impl Run for RealRun {
    fn run(&self, invocation: &Invocation<'_>) -> io::Result<Ended> {
        let mut child = start(invocation)?;
        let (stdin, stderr) = (child.stdin.take(), child.stderr.take());
        let stdout = child.stdout.take();
        let (stdout, stderr) = thread::scope(|scope| {
            // A program that waits for another one to read or write would never end.
            scope.spawn(|| give(stdin, invocation.stdin));
            let stderr = scope.spawn(|| errors(stderr));
            let mut bytes = Vec::new();
            let read = stdout.map_or(Ok(0), |stdout| {
                let mut limited = stdout.take(invocation.limit.saturating_add(1));
                limited.read_to_end(&mut bytes)
            });
            let too_large = bytes.len() as u64 > invocation.limit;
            if too_large || read.is_err() {
                // If it has just ended by itself, there is nothing left to end.
                let _ = child.kill();
            }
            let stdout = match (read, too_large) {
                (Err(error), _) => Err(error),
                (_, true) => Err(io::ErrorKind::FileTooLarge.into()),
                _ => Ok(bytes),
            };
            (stdout, stderr.join().unwrap_or_default())
        });
        let status = child.wait()?;
        Ok(Ended {
            code: status.code(),
            stdout: stdout?,
            stderr,
        })
    }
}

fn start(invocation: &Invocation<'_>) -> io::Result<Child> {
    // Else a missing directory could not be distinguished from a missing program.
    if !invocation.dir.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    let mut command = Command::new(match invocation.program {
        Program::Git => "git",
    });
    command.args(invocation.args).current_dir(invocation.dir);
    command.envs(invocation.vars.iter().copied());
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command.stderr(Stdio::piped()).spawn()
}

/// Writes standard input and closes it; a program need not read all of it.
fn give(stdin: Option<ChildStdin>, bytes: &[u8]) {
    if let Some(mut stdin) = stdin {
        let _ = stdin.write_all(bytes);
    }
}

/// Reads standard error to its end and keeps the beginning.
fn errors(stderr: Option<ChildStderr>) -> Vec<u8> {
    let mut kept = Vec::new();
    if let Some(mut stderr) = stderr {
        let first = stderr.by_ref().take(MAX_STDERR_BYTES);
        let _ = { first }.read_to_end(&mut kept);
        let _ = io::copy(&mut stderr, &mut io::sink());
    }
    kept
}
