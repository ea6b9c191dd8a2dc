//! Commands over a root in memory: whatever its files hold, every format stays what it is.

use std::path::Path;

use lockctl::world::Disk;
use lockctl::world::mem::MemFiles;
use serde_json::Value;

use super::program::{ROOT, Run, lock_file, run as call};

/// Stands between the parts of an input.
const CUT: &[u8] = b"\n--8<--\n";

/// The files of an input in the order of its parts: a root, and with the last two another one below.
const FILES: [&str; 6] = [
    "main.tf",
    ".terraform.lock.hcl",
    ".lockctl.hcl",
    "old.lock.hcl",
    "b/main.tf",
    "b/.terraform.lock.hcl",
];

/// The first byte of an input says which of these is run.
const COMMANDS: &[&[&str]] = &[
    &["verify"],
    &["verify", "--format", "markdown"],
    &["verify", "--format", "github"],
    &["verify", "--format", "junit"],
    &["verify", "--format", "json"],
    &["verify", "--format", "sarif"],
    &["diff", "old.lock.hcl", ".terraform.lock.hcl"],
    &[
        "diff",
        "--format",
        "markdown",
        "old.lock.hcl",
        ".terraform.lock.hcl",
    ],
    &[
        "diff",
        "--format",
        "json",
        "old.lock.hcl",
        ".terraform.lock.hcl",
    ],
    &["show", "-v"],
    &["show", "--format", "markdown"],
    &["tree"],
    &["tree", "--format", "markdown"],
    &["fmt", "--check"],
    &["verify", "--matrix", "-v"],
    &["git-textconv", "old.lock.hcl"],
    &["why", "hashicorp/null"],
    &["tree", "--format", "mermaid"],
    &["tree", "--format", "dot"],
    &["show", "--format", "json"],
    &["verify", "-r"],
    &["verify", "-r", "--format", "markdown"],
    &["verify", "-r", "--format", "junit"],
    &["show", "-r", "-v"],
    &["tree", "-r"],
    &["why", "-r", "hashicorp/null"],
    &["verify", "-r", "--matrix", "--format", "markdown"],
];

/// The first byte chooses a command, the second is left out; so an input is readable as text.
pub fn run(data: &[u8]) {
    let Some((&choice, rest)) = data.split_first() else {
        return;
    };
    let rest = rest.strip_prefix(b"\n").unwrap_or(rest);
    // The first one has the sign `a`.
    let command = COMMANDS[usize::from(choice.wrapping_sub(b'a')) % COMMANDS.len()];
    let files = MemFiles::default();
    let objects = files.objects(Path::new(ROOT));
    for (name, text) in FILES.into_iter().zip(parts(rest)) {
        objects.put(name, text).expect("memory");
    }
    let Run {
        code,
        stdout,
        stderr,
    } = call(&files, &[], command);
    assert!(code <= 2, "{command:?} ends with {code}");
    for text in [&stdout, &stderr] {
        let mut text = std::str::from_utf8(text)
            .expect("output is UTF-8")
            .to_owned();
        // A text is passed on with its line ends.
        if command[0] == "git-textconv" {
            text = text.replace("\r\n", "\n");
        }
        for character in text.chars() {
            assert!(
                !is_forbidden(character),
                "{command:?} prints {character:?} in {text:?}"
            );
        }
    }
    let text = String::from_utf8_lossy(&stdout);
    if command.iter().any(|word| matches!(*word, "json" | "sarif")) {
        let value: Value = serde_json::from_slice(&stdout).expect("one object");
        assert!(value.is_object());
        if let Some(exit) = value.get("exit") {
            assert_eq!(exit, &Value::from(code), "{text}");
        }
    }
    if command.contains(&"github") {
        // A runner takes such a line for a command wherever it stands.
        for line in text.lines().chain(String::from_utf8_lossy(&stderr).lines()) {
            let command = line.trim_start();
            let is_ours = ["::error ", "::warning ", "::notice "]
                .iter()
                .any(|sign| line.starts_with(sign));
            assert!(is_ours || !command.starts_with("::"), "{line:?}");
        }
    }
    let again = call(&files, &[], command);
    assert_eq!(
        (again.code, again.stdout, again.stderr),
        (code, stdout, stderr),
        "the same again"
    );
    if command == ["fmt", "--check"] {
        check_fmt(&files, code);
    }
}

fn parts(data: &[u8]) -> Vec<&[u8]> {
    let mut parts = Vec::new();
    let mut rest = data;
    while let Some(at) = rest.windows(CUT.len()).position(|window| window == CUT) {
        parts.push(&rest[..at]);
        rest = &rest[at + CUT.len()..];
    }
    parts.push(rest);
    parts
}

/// Checks that what `fmt` writes is canonical to it.
fn check_fmt(files: &MemFiles, code: u8) {
    let old = lock_file(files);
    let run = call(files, &[], &["fmt"]);
    assert!(run.code == 2 || run.code == 0, "{run:?}");
    assert_eq!(run.code == 2, code == 2, "as with --check");
    let written = lock_file(files);
    assert_eq!(written == old, code != 1, "changed as --check says");
    if run.code == 0 {
        let check = call(files, &[], &["fmt", "--check"]);
        assert_eq!(check.code, 0, "{check:?}");
        let again = call(files, &[], &["fmt"]);
        assert_eq!((again.code, lock_file(files)), (0, written), "fmt of fmt");
    }
}

/// Control characters but the tab and the line end, and characters by Unicode's property
/// `Default_Ignorable_Code_Point`, which show nothing or turn the direction of writing.
///
/// Written down once more here: an oracle that asks the program proves nothing.
fn is_forbidden(character: char) -> bool {
    (character.is_control() && !matches!(character, '\n' | '\t'))
        || matches!(
            character,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}'..='\u{1160}'
                | '\u{17b4}'..='\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}
