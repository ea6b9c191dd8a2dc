//! Programs of this machine.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use super::read_limited;
use crate::world::{DirectoryRoom, Ended, Executable, Invocation, Run};

/// Maximum size of standard error that is kept, in bytes; the first lines give the reason.
const MAX_STDERR_BYTES: u64 = 1 << 16;

/// The programs of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealRun;

impl Run for RealRun {
    fn run(&self, invocation: &Invocation<'_>) -> io::Result<Ended> {
        let mut child = start(invocation)?;
        if invocation.timeout.is_some() || invocation.room.is_some() {
            let mut stdout = Vec::new();
            let ended = within_limits(child, invocation, &mut |piece| {
                stdout.extend_from_slice(piece);
            })?;
            return Ok(Ended { stdout, ..ended });
        }
        let (stdin, stderr) = (child.stdin.take(), child.stderr.take());
        let stdout = child.stdout.take();
        let (stdout, stderr) = thread::scope(|scope| {
            // A program that waits for another one to read or write would never end.
            scope.spawn(|| give(stdin, invocation.stdin));
            let stderr = scope.spawn(|| errors(stderr));
            let stdout = printed(stdout, invocation.limit);
            if stdout.is_err() {
                // If it has just ended by itself, there is nothing left to end.
                let _ = child.kill();
            }
            (stdout, stderr.join().unwrap_or_default())
        });
        let status = child.wait()?;
        Ok(Ended {
            code: status.code(),
            stdout: stdout?,
            stderr,
        })
    }

    fn stream(
        &self,
        invocation: &Invocation<'_>,
        each: &mut dyn FnMut(&[u8]),
    ) -> io::Result<Ended> {
        within_limits(start(invocation)?, invocation, each)
    }
}

fn start(invocation: &Invocation<'_>) -> io::Result<Child> {
    // `spawn` fails with NotFound for a missing directory as well as for a missing program.
    if !invocation.dir.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    let mut command = Command::new(match invocation.program {
        Executable::Git => OsStr::new("git"),
        Executable::File(path) => path.as_os_str(),
    });
    command.args(invocation.args).current_dir(invocation.dir);
    for name in invocation.without {
        command.env_remove(name);
    }
    command.envs(invocation.vars.iter().copied());
    #[cfg(unix)]
    if invocation.room.is_some() {
        use std::os::unix::process::CommandExt as _;
        // Processes that the program starts are in the same group, and can be ended with it.
        command.process_group(0);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command.stderr(Stdio::piped());
    let mut attempts = 0;
    let child = loop {
        attempts += 1;
        match spawned(&mut command, invocation) {
            // A program that was just written can be busy for a moment: another thread that starts a process at
            // the same time passes it the open file, until that process runs its own program.
            Err(error)
                if error.kind() == io::ErrorKind::ExecutableFileBusy && attempts < MAX_STARTS =>
            {
                thread::sleep(LOOK);
            }
            started => break started?,
        }
    };
    #[cfg(target_os = "linux")]
    if let Some(most) = invocation.memory {
        use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};
        // The program has the limits of this process, and may have no higher ones.
        // `Data` does not count files that are mapped for reading: git maps whole packs.
        let most = getrlimit(Resource::Data).maximum.unwrap_or(most).min(most);
        let limit = Rlimit {
            current: Some(most),
            maximum: Some(most),
        };
        // If a sandbox forbids it, the limit of time remains.
        let _ = prlimit(Some(Pid::from_child(&child)), Resource::Data, limit);
    }
    Ok(child)
}

fn spawned(command: &mut Command, invocation: &Invocation<'_>) -> io::Result<Child> {
    #[cfg(unix)]
    if invocation.room.is_some() {
        return super::unfinished::start_group(|| command.spawn());
    }
    let _ = invocation;
    command.spawn()
}

/// Waits for the end of a program, as long as it keeps its limits, and hands over its standard output piece by piece.
///
/// What it leaves behind may keep its output open, so the threads that read it are not waited for.
fn within_limits(
    mut child: Child,
    invocation: &Invocation<'_>,
    each: &mut dyn FnMut(&[u8]),
) -> io::Result<Ended> {
    let limits = RunLimits {
        deadline: Instant::now() + invocation.timeout.unwrap_or(LONGEST),
        room: invocation.room,
        group: group_of(&child, invocation),
    };
    let (stdin, input) = (child.stdin.take(), invocation.stdin.to_vec());
    thread::spawn(move || give(stdin, &input));
    let (limit, stdout) = (invocation.limit, child.stdout.take());
    // A program that prints faster than its output is used has to wait.
    let (sender, output) = mpsc::sync_channel(MAX_PIECES);
    thread::spawn(move || send_pieces(stdout, limit, &sender));
    let (sender, complaints) = mpsc::channel();
    let stderr = child.stderr.take();
    thread::spawn(move || sender.send(errors(stderr)));
    let ended = limits.printed(&output, each).and_then(|()| {
        let status = limits.ended(&mut child)?;
        let left = limits.deadline.saturating_duration_since(Instant::now());
        Ok(Ended {
            code: status.code(),
            stdout: Vec::new(),
            stderr: complaints.recv_timeout(left).unwrap_or_default(),
        })
    });
    if ended.is_err() {
        // If it has just ended by itself, there is nothing left to end.
        #[cfg(unix)]
        if let Some(group) = limits.group {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        let _ = child.kill();
        let _ = child.wait();
    }
    #[cfg(unix)]
    if let Some(group) = limits.group {
        super::unfinished::remove_group(group);
    }
    #[cfg(not(unix))]
    let () = limits.group;
    ended
}

/// Time limit of a program that has no other one.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// Pause between two measurements of a directory.
const LOOK_AT_ROOM: Duration = Duration::from_millis(50);

/// Limits for a running program.
struct RunLimits<'a> {
    deadline: Instant,
    room: Option<DirectoryRoom<'a>>,
    group: Group,
}

/// The group of processes that a program is, with all that it starts.
#[cfg(unix)]
type Group = Option<rustix::process::Pid>;

/// Elsewhere only the program itself is ended.
#[cfg(not(unix))]
type Group = ();

#[cfg(unix)]
fn group_of(child: &Child, invocation: &Invocation<'_>) -> Group {
    invocation.room?;
    Some(rustix::process::Pid::from_child(child))
}

#[cfg(not(unix))]
fn group_of(child: &Child, invocation: &Invocation<'_>) -> Group {
    let _ = (child, invocation);
}

impl RunLimits<'_> {
    /// Hands over standard output to its end.
    fn printed(
        &self,
        output: &mpsc::Receiver<io::Result<Vec<u8>>>,
        each: &mut dyn FnMut(&[u8]),
    ) -> io::Result<()> {
        loop {
            // A program that prints all the time has its limits, too.
            self.check()?;
            let left = self.deadline.saturating_duration_since(Instant::now());
            let wait = match self.room {
                Some(_) => left.min(LOOK_AT_ROOM),
                None => left,
            };
            match output.recv_timeout(wait) {
                Ok(piece) => each(&piece?),
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    fn ended(&self, child: &mut Child) -> io::Result<ExitStatus> {
        // Most programs end at once behind their last output: a whole pause would double the time of git.
        let mut pause = LOOK / 64;
        loop {
            if let Some(status) = child.try_wait()? {
                // A fast program may fill the directory and end between two measurements.
                self.check_room()?;
                return Ok(status);
            }
            self.check()?;
            thread::sleep(pause);
            pause = LOOK.min(pause * 2);
        }
    }

    fn check(&self) -> io::Result<()> {
        if Instant::now() >= self.deadline {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.check_room()
    }

    fn check_room(&self) -> io::Result<()> {
        if self
            .room
            .is_some_and(|room| bytes_below(room.dir) > room.limit)
        {
            return Err(io::ErrorKind::QuotaExceeded.into());
        }
        Ok(())
    }
}

/// Sums up the sizes of the files below a directory; files that vanish meanwhile do not count.
fn bytes_below(dir: &Path) -> u64 {
    let mut dirs = vec![dir.to_owned()];
    let mut bytes = 0_u64;
    while let Some(dir) = dirs.pop() {
        let Ok(entries) = fs::read_dir(dir) else {
            continue;
        };
        for entry in entries.flatten() {
            match entry.metadata() {
                Ok(metadata) if metadata.is_dir() => dirs.push(entry.path()),
                Ok(metadata) => bytes = bytes.saturating_add(metadata.len()),
                Err(_) => {}
            }
        }
    }
    bytes
}

/// Maximum size of a piece of standard output, in bytes: a pipe of Linux holds no more.
const PIECE_BYTES: usize = 1 << 16;

/// Maximum number of pieces that wait for their use.
const MAX_PIECES: usize = 16;

/// Reads standard output to its end, or to a limit, in pieces.
fn send_pieces(
    stdout: Option<ChildStdout>,
    limit: u64,
    sender: &mpsc::SyncSender<io::Result<Vec<u8>>>,
) {
    let Some(mut stdout) = stdout else { return };
    let mut buffer = vec![0; PIECE_BYTES];
    let mut bytes = 0;
    loop {
        let piece = match stdout.read(&mut buffer) {
            Ok(0) => return,
            Ok(length) => {
                bytes += length as u64;
                if bytes > limit {
                    Err(io::ErrorKind::FileTooLarge.into())
                } else {
                    Ok(buffer[..length].to_vec())
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => Err(error),
        };
        let is_last = piece.is_err();
        // The receiver is gone once the reader of the output has enough.
        if sender.send(piece).is_err() || is_last {
            return;
        }
    }
}

fn printed(stdout: Option<ChildStdout>, limit: u64) -> io::Result<Vec<u8>> {
    match stdout {
        Some(stdout) => read_limited(stdout, 0, limit),
        None => Ok(Vec::new()),
    }
}

/// Pause between two looks whether a program has ended or can be started.
const LOOK: Duration = Duration::from_millis(5);

/// Attempts to start a program file that is busy.
const MAX_STARTS: usize = 100;

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

    use super::*;

    fn shell(script: &str, limit: u64, timeout: Duration) -> io::Result<Ended> {
        let args = ["-c", script].map(OsString::from);
        RealRun.run(&Invocation {
            program: Executable::File(Path::new("/bin/sh")),
            args: &args,
            dir: Path::new("/"),
            vars: &[],
            stdin: b"",
            limit,
            timeout: Some(timeout),
            without: &[],
            room: None,
            memory: Some(256 << 20),
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
        assert_eq!(
            kind("while :; do echo; done", u64::MAX, short),
            io::ErrorKind::TimedOut
        );
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

    #[cfg(target_os = "linux")]
    #[test]
    fn a_program_with_a_limit_of_memory_gets_no_more() {
        let minute = Duration::from_secs(60);
        // The limit is set while the shell runs already.
        let script =
            "while [ \"$(ulimit -d)\" = unlimited ]; do :; done; ulimit -d; tail -n 1 /dev/zero";
        let ended = shell(script, 100, minute).expect("runs");
        assert_eq!(ended.stdout, b"262144\n");
        assert_ne!(ended.code, Some(0));
    }

    #[test]
    fn a_program_that_fills_its_directory_is_ended_with_what_it_started() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let run = |script: &str, limit| {
            let args = ["-c", script].map(OsString::from);
            RealRun.run(&Invocation {
                program: Executable::File(Path::new("/bin/sh")),
                args: &args,
                dir: dir.path(),
                vars: &[("GIVEN", "1")],
                stdin: b"",
                limit: 100,
                timeout: Some(Duration::from_secs(60)),
                without: &["HOME"],
                room: Some(DirectoryRoom {
                    dir: dir.path(),
                    limit,
                }),
                memory: None,
            })
        };
        let ended = run("echo $GIVEN${HOME-none}; echo 12345 >a", 6).expect("runs");
        assert_eq!(&*ended.stdout, b"1none\n");
        let error = run("echo 123456 >a", 6).expect_err("too much, and ended at once");
        assert_eq!(error.kind(), io::ErrorKind::QuotaExceeded);
        let script = "(while :; do echo x >>b; done) & wait";
        let error = run(script, 1000).expect_err("too much");
        assert_eq!(error.kind(), io::ErrorKind::QuotaExceeded);
        // A writer that is still there would change it between any of so many looks.
        let mut sizes = (0..1000).map(|_| {
            thread::yield_now();
            bytes_below(dir.path())
        });
        let first = sizes.next();
        assert!(
            sizes.all(|size| Some(size) == first),
            "something still writes"
        );
    }
}
