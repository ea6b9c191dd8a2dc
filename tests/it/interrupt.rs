//! What an interrupted run leaves behind: nothing.
#![cfg(unix)]

use std::io::Read as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::json;

use crate::registry::{Entry, Origin, Registry};

const SIGHUP: i32 = 1;
const SIGQUIT: i32 = 3;
const SIGUSR1: i32 = 10;
/// To a program without handlers it is the same as Ctrl-C, which programs that a shell starts in the
/// background are told to pass over, and so is all that they start.
const SIGTERM: i32 = 15;

fn names(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.collect()
}

/// Has a shell start a run, sends it signals in the middle of a download, and looks at which one ends it.
#[track_caller]
fn check(script: &str, sent: &[i32], expected: i32) {
    let registry = Registry::start();
    registry.add_zip("acme/demo", "1.0.0", "linux_amd64", &vec![7; 1 << 20]);
    // The download takes minutes, and is not so slow that the run gives up.
    registry.reset(&json!({"rules": [
        {"kind": "package", "action": "slow", "rate": 2048, "times": -1},
    ]}));
    let dir = crate::temp::dir();
    let (root, temporary) = (dir.path().join("root"), dir.path().join("tmp"));
    std::fs::create_dir(&root).unwrap();
    std::fs::create_dir(&temporary).unwrap();
    let source = format!("localhost:{}/acme/demo", registry.port(Origin::Lab));
    let config = format!(
        "terraform {{\n  required_providers {{\n    demo = {{ source = \"{source}\" }}\n  }}\n}}\n"
    );
    std::fs::write(root.join("main.tf"), config).unwrap();

    let mut run = Command::new("/bin/sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_lockctl")])
        .current_dir(&root)
        .env_clear()
        .env("TMPDIR", &temporary)
        .env("SSL_CERT_FILE", registry.ca_file())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let is_download = |entry: &Entry| entry.target.ends_with(".zip");
    let is_downloading = registry.wait_for(Duration::from_secs(60), is_download);
    assert!(
        is_downloading,
        "the run ended by itself: {:?}",
        run.try_wait()
    );
    for signal in sent {
        let sent = Command::new("/bin/kill")
            .args([&format!("-{signal}"), &run.id().to_string()])
            .status()
            .unwrap();
        assert!(sent.success());
    }
    let mut said = String::new();
    run.stderr
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    let status = run.wait().unwrap();
    assert_eq!(status.signal(), Some(expected), "{status}: {said}");
    assert_eq!(
        said,
        "interrupted: nothing was written; run the same command again to resume\n"
    );
    assert_eq!(names(&root), ["main.tf"]);
    assert!(names(&temporary).is_empty(), "{:?}", names(&temporary));
}

const LOCK: &str = "exec \"$0\" lock --platform linux_amd64";

#[test]
fn an_interrupted_run_leaves_nothing_behind() {
    // Other systems do not say which of the others is ignored.
    let signals: &[i32] = if cfg!(target_os = "linux") {
        &[SIGTERM, SIGHUP, SIGQUIT, SIGUSR1]
    } else {
        &[SIGTERM]
    };
    for &signal in signals {
        // What started the tests may ignore it, as `nohup` does, and so would the run.
        if is_ignored(signal) {
            continue;
        }
        check(&format!("ulimit -c 0; {LOCK}"), &[signal], signal);
    }
}

/// Returns whether this process ignores a signal; false where no system says so.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// As for a program that `nohup` starts.
#[test]
fn a_signal_that_is_ignored_from_the_start_ends_no_run() {
    check(&format!("trap '' HUP; {LOCK}"), &[SIGHUP, SIGTERM], SIGTERM);
}
