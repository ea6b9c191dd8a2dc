//! Programs of this machine.

use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::world::{Ended, Invocation, Program, Run};

/// How many bytes of standard error are kept; the first lines say what is wrong.
const MAX_STDERR_BYTES: u64 = 1 << 16;

/// The programs of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealRun;

impl Run for RealRun {
    fn run(&self, invocation: &Invocation<'_>) -> io::Result<Ended> {
        let mut child = start(invocation)?;
        if let Some(timeout) = invocation.timeout {
            return in_time(child, invocation, timeout);
        }
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
        Program::Git => OsStr::new("git"),
        Program::File(path) => path.as_os_str(),
    });
    command.args(invocation.args).current_dir(invocation.dir);
    command.envs(invocation.vars.iter().copied());
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command.stderr(Stdio::piped());
    let mut attempts = 0;
    loop {
        attempts += 1;
        match command.spawn() {
            // A program that was just written is busy for the moment in which another one is started, since
            // that one has the open file as well until it runs.
            Err(error)
                if error.kind() == io::ErrorKind::ExecutableFileBusy && attempts < MAX_STARTS =>
            {
                thread::sleep(LOOK);
            }
            started => return started,
        }
    }
}

/// Waits for the end of a program, but no longer than it may take.
///
/// What it leaves behind may keep its output open, so the threads that read it are not waited for.
fn in_time(mut child: Child, invocation: &Invocation<'_>, timeout: Duration) -> io::Result<Ended> {
    let deadline = Instant::now() + timeout;
    let (stdin, input) = (child.stdin.take(), invocation.stdin.to_vec());
    thread::spawn(move || give(stdin, &input));
    let (limit, stdout) = (invocation.limit, child.stdout.take());
    let (sender, output) = mpsc::channel();
    thread::spawn(move || sender.send(printed(stdout, limit)));
    let (sender, complaints) = mpsc::channel();
    let stderr = child.stderr.take();
    thread::spawn(move || sender.send(errors(stderr)));
    let ended = output
        .recv_timeout(timeout)
        .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
        .and_then(|stdout| {
            let status = wait_until(&mut child, deadline)?;
            let left = deadline.saturating_duration_since(Instant::now());
            Ok(Ended {
                code: status.code(),
                stdout,
                stderr: complaints.recv_timeout(left).unwrap_or_default(),
            })
        });
    if ended.is_err() {
        // If it has just ended by itself, there is nothing left to end.
        let _ = child.kill();
        let _ = child.wait();
    }
    ended
}

fn printed(stdout: Option<ChildStdout>, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(stdout) = stdout {
        stdout
            .take(limit.saturating_add(1))
            .read_to_end(&mut bytes)?;
    }
    if bytes.len() as u64 > limit {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(bytes)
}

/// How long is waited between two looks whether a program has ended or can be started.
const LOOK: Duration = Duration::from_millis(5);

/// How often the start of a program that is busy is tried.
const MAX_STARTS: usize = 100;

fn wait_until(child: &mut Child, deadline: Instant) -> io::Result<ExitStatus> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if Instant::now() >= deadline {
            return Err(io::ErrorKind::TimedOut.into());
        }
        thread::sleep(LOOK);
    }
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

#[cfg(all(test, unix))]
mod tests {
    use std::ffi::OsString;
    use std::path::Path;

    use super::*;

    fn shell(script: &str, limit: u64, timeout: Duration) -> io::Result<Ended> {
        let args = ["-c", script].map(OsString::from);
        RealRun.run(&Invocation {
            program: Program::File(Path::new("/bin/sh")),
            args: &args,
            dir: Path::new("/"),
            vars: &[],
            stdin: b"",
            limit,
            timeout: Some(timeout),
        })
    }

    #[test]
    fn a_program_with_a_limit_of_time_is_ended() {
        let minute = Duration::from_secs(60);
        let ended = shell("echo out; echo err >&2; exit 3", 10, minute).expect("runs");
        assert_eq!(
            (ended.code, &*ended.stdout, &*ended.stderr),
            (Some(3), &b"out\n"[..], &b"err\n"[..])
        );
        let kind =
            |script: &str, limit, timeout| shell(script, limit, timeout).expect_err("ended").kind();
        let short = Duration::from_millis(50);
        assert_eq!(kind("sleep 60", 10, short), io::ErrorKind::TimedOut);
        assert_eq!(
            kind("exec >&- 2>&-; sleep 60", 10, short),
            io::ErrorKind::TimedOut
        );
        assert_eq!(
            kind("echo too much", 3, minute),
            io::ErrorKind::FileTooLarge
        );
    }
}
