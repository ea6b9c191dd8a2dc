//! How much a program takes in with the library.

use std::collections::BTreeSet;
use std::process::Command;

/// Maximum number of crates of a program with `lockctl-core`, that one included.
/// `toml_edit` reads `mise.toml` and brings two; `serde_json` reads the logins of Docker and brings three; `strsim` finds
/// what a mistyped name means. One is a feature of the tests alone, which `resolver = "1"` counts here.
const MAX_CRATES: usize = 89;

#[track_caller]
fn crates(package: &str) -> BTreeSet<String> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(env!("CARGO_MANIFEST_DIR"));
    cargo.args(["tree", "--offline", "--locked", "--edges=normal"]);
    cargo.args(["--prefix=none", "--no-dedupe"]);
    let output = cargo.args(["--package", package]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let lines = String::from_utf8(output.stdout).unwrap();
    lines.lines().map(str::to_owned).collect()
}

#[test]
fn reading_a_lock_file_needs_few_crates() {
    let core = crates("lockctl-core");
    assert!(core.len() <= MAX_CRATES, "{} crates: {core:#?}", core.len());
    let heavy = [
        "clap ",
        "indicatif ",
        "reqwest ",
        "tokio ",
        "rustls ",
        "pgp ",
    ];
    for name in heavy {
        assert!(!core.iter().any(|line| line.starts_with(name)), "{name}");
    }
    let fetch = crates("lockctl-fetch");
    assert!(!fetch.iter().any(|line| line.starts_with("clap ")));
}
