//! Input that was made to make a command panic, hang or flood.

use std::io;
use std::path::Path;
use std::sync::LazyLock;

use lockctl::config;
use lockctl::diag::{FileId, Texts};
use lockctl::flavor::Flavor;
use lockctl::os::RealDisk;
use lockctl::world::mem::MemFiles;
use lockctl::world::{Files, ReadSeek};
use regex::Regex;

use super::*;
use crate::disk::{Changed, Changes};

const USED: &str = "terraform {\n  required_providers {\n    x = { source = \"acme/x\" }\n  }\n}\n";

#[test]
#[cfg_attr(
    windows,
    ignore = "the lab writes each backslash of an output as a slash"
)]
fn a_fault_may_be_any_character() {
    let lab = Lab::new();
    lab.write("a/main.tf.json", "{\"a\":\u{201c}x\u{201d}}")
        .write("a/.terraform.lock.hcl", "")
        .write("b/main.tf.json", "{\"a\":\"\\\u{e9}\"}")
        .write("b/.terraform.lock.hcl", "")
        .write("c/main.tf", USED)
        .write("c/.terraform.lock.hcl", "");
    let outcome = lab.run(&["verify", "-r"]).exits(2);
    let shown = outcome.stdout;
    shown.has("1 | {\"a\":\u{201c}x");
    shown.has("1 | {\"a\":\"\\\u{e9}\"}");
    shown.has("acme/x");
}

/// A disk on which reading some files makes lockctl panic.
struct Panicking;

impl Changes for Panicking {
    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        assert!(
            !path.ends_with("bad/main.tf"),
            "\u{1b}[31mno character boundary"
        );
        RealDisk.read(path, limit)
    }
}

#[test]
fn a_panic_in_one_root_hides_no_other() {
    let lab = Lab::new();
    for root in ["a", "bad", "c"] {
        lab.write(&format!("{root}/main.tf"), USED)
            .write(&format!("{root}/.terraform.lock.hcl"), "");
    }
    let outcome = lab.run_on(&Changed(Panicking), &["verify", "-r"]).exits(2);
    let text = format!("{}{}", outcome.stdout, outcome.stderr);
    for wanted in ["this is a bug", " --> a: ", " --> c: "] {
        text.has(wanted);
    }
    assert!(!text.contains('\u{1b}'), "{text}");
}

/// A disk on which opening a package makes lockctl panic.
struct PanickingMirror;

impl Changes for PanickingMirror {
    fn open(&self, path: &Path) -> io::Result<Box<dyn ReadSeek>> {
        let is_package = path.extension().is_some_and(|extension| extension == "zip");
        assert!(!is_package, "no such platform");
        RealDisk.open(path)
    }
}

#[test]
fn a_panic_in_the_work_on_all_roots_fails_each_of_them() {
    let lab = Lab::new();
    for root in ["a", "c"] {
        lab.write(&format!("{root}/main.tf"), USED)
            .write(&format!("{root}/.terraform.lock.hcl"), "");
    }
    lab.packed(
        "mirror",
        "registry.terraform.io/acme/x/1.0.0/linux_amd64",
        "x",
    );
    let mut args = vec!["lock", "-r", "--offline", "--fs-mirror", "mirror"];
    args.extend(["--platform", "linux_amd64"]);
    let outcome = lab.run_on(&Changed(PanickingMirror), &args).exits(2);
    let text = format!("{}{}", outcome.stdout, outcome.stderr);
    for wanted in ["this is a bug", "no such platform", "error: a, c: "] {
        text.has(wanted);
    }
    text.lacks("make it readable");
    assert_eq!(lab.read("a/.terraform.lock.hcl"), "");
}

#[test]
fn a_file_of_too_many_words_is_refused() {
    let large = format!("locals {{\n  x = [{}]\n}}\n", "1,".repeat(1 << 20));
    let faults = lockctl::hcl::parse(FileId::ALONE, large.as_bytes()).1;
    assert_eq!(faults.len(), 1);
    assert_eq!(faults[0].code, "object-too-large");
    let faults = lockctl::json::parse(format!("[{}0]", "0,".repeat(1 << 20)).as_bytes());
    assert_eq!(
        faults.expect_err("too many")[0].title,
        lockctl::json::TOO_MANY
    );
}

/// A FIFO without a writer is never opened for reading in a way that waits, and neither is the kernel's log.
#[cfg(target_os = "linux")]
#[test]
fn only_regular_files_are_read() {
    const NAMED: [&str; 3] = ["main.tf", ".terraform.lock.hcl", ".lockctl.hcl"];
    let readers: &[(&str, &[&str])] = &[
        ("main.tf", &["verify"]),
        ("main.tf.json", &["verify"]),
        ("terraform.tfvars", &["--flavor", "opentofu", "verify"]),
        ("terraform.tfstate", &["verify"]),
        (".terraform/terraform.tfstate", &["verify"]),
        (".terraform/modules/modules.json", &["verify"]),
        (".terraform.lock.hcl", &["verify"]),
        (".terraform.lock.hcl", &["lock"]),
        (".terraform.lock.hcl", &["fmt"]),
        (".terraform.lock.hcl", &["show"]),
        (".lockctl.hcl", &["verify"]),
        ("rc", &["--cli-config", "rc", "verify"]),
        ("rc", &["--config", "rc", "verify"]),
        ("rc", &["verify", "--var-file", "rc"]),
        ("rc", &["verify", "--package", "rc"]),
        ("rc", &["cache", "import", "rc"]),
        ("rc", &["git-textconv", "rc"]),
        ("rc", &["diff", "rc", "rc"]),
    ];
    for (name, args) in readers {
        for target in [None, Some("/proc/kmsg")] {
            let lab = Lab::new();
            lab.write("main.tf", USED).write(".terraform.lock.hcl", "");
            let path = lab.path(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::remove_file(&path).ok();
            match target {
                None => {
                    let made = std::process::Command::new("mkfifo").arg(&path).status();
                    assert!(made.unwrap().success());
                }
                Some(target) => std::os::unix::fs::symlink(target, &path).unwrap(),
            }
            let outcome = lab.run(args);
            assert_ne!(outcome.code, 0, "{args:?} of {name}: {outcome:#?}");
            let text = format!("{}{}", outcome.stdout, outcome.stderr);
            // Whoever may not open the log of the kernel gets that error instead.
            if target.is_none() && NAMED.contains(name) {
                assert!(text.contains("regular file"), "{args:?} of {name}: {text}");
            }
        }
    }
}

/// The formats of all commands.
const FORMATS: [&str; 9] = [
    "human",
    "json",
    "json-lines",
    "markdown",
    "sarif",
    "junit",
    "github",
    "mermaid",
    "dot",
];

/// Names and texts of strangers: commands of GitHub's runner, escape sequences, characters without width, other
/// directions.
const STRANGE: [&str; 5] = [
    "::error::pwn",
    "nl\n::warning::pwn",
    "a##[error]pwn",
    "\u{1b}[31m\u{9b}2J\u{ad}\u{180e}\u{202e}pwn",
    " \u{3164}\u{115f}\u{fff9}\u{e0041}\r::notice::pwn",
];

/// Fails for an output that steers a terminal, hides text or has a command of GitHub's runner. `begins` is the name of
/// a file that lines may begin with, because the directory of the test was taken off.
#[track_caller]
fn assert_harmless(output: &str, format: &str, args: &[&str], begins: &str) {
    // Line ends and the tab aside, as `report` judges them; the properties are those of Unicode 16.
    static STEERING: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(
            r"[\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\u{fff9}-\u{fffb}&&[^\n\t]]",
        )
        .unwrap()
    });
    let found = STEERING.find(output).map(|found| found.as_str());
    assert_eq!(found, None, "{args:?} {format}: {output}");
    assert!(!output.contains("##["), "{args:?} {format}: {output}");
    for line in output.lines().map(str::trim_start) {
        let is_own = format == "github"
            && ["::error ", "::warning ", "::notice "]
                .iter()
                .any(|own| line.starts_with(own));
        assert!(
            !line.starts_with("::")
                || line.starts_with(":::")
                || line.starts_with(begins)
                || is_own,
            "{args:?} {format}: {output}"
        );
    }
}

/// Runs commands in formats for people, and each in a third of the others; looks at both streams.
///
/// Names of successive numbers use other thirds, so that three of them see all commands in all formats.
fn assert_all_harmless(lab: &Lab, commands: &[&[&str]], number: usize, begins: &str) {
    for (at, args) in commands.iter().enumerate() {
        for (format_at, format) in FORMATS.iter().enumerate() {
            let is_for_people = ["human", "markdown", "github"].contains(format);
            if !is_for_people && !(at + format_at + number).is_multiple_of(3) {
                continue;
            }
            for more in [&[][..], &["-v"]] {
                // Formats for programs show all without it.
                if !more.is_empty() && !is_for_people {
                    continue;
                }
                let line = [&["--format", format], *args, more].concat();
                let outcome = lab.run(&line);
                for output in [&outcome.stdout, &outcome.stderr] {
                    assert_harmless(output, format, args, begins);
                }
            }
        }
    }
}

/// A lock file with a fault, a configuration with a fault, and names in both.
fn strange_texts(name: &str) -> [String; 4] {
    let lock = format!(
        "# {name}\nprovider \"registry.terraform.io/acme/x\" {{\n  version = \"1.0.0\"\n  hashes = [\"h1:{name}\"]\n}}\n"
    );
    let broken = format!("provider \"{name}\" {{\n  version = \"{name}\"\n  {name} = 1\n");
    let configuration = format!(
        "# {name}\nterraform {{\n  required_providers {{\n    x = {{ source = {name:?} }}\n    y = {{ source = \"acme/x\", version = {name:?} }}\n  }}\n}}\nmodule {name:?} {{\n  source = {name:?}\n}}\nmodule \"m\" {{\n  source = \"./{}\"\n  version = {name:?}\n}}\n",
        name.replace('\n', "\\n").replace('\r', "\\r")
    );
    let project = format!("platforms = [{name:?}]\n{name} = \"{name}\"\n");
    [lock, broken, configuration, project]
}

#[test]
#[cfg_attr(windows, ignore = "Windows has no such names of files")]
fn no_name_and_no_text_of_a_stranger_steers_a_terminal_or_a_runner() {
    for (number, name) in STRANGE.into_iter().enumerate() {
        let mut lab = Lab::new();
        let [lock, broken, configuration, project] = strange_texts(name);
        for (root, lock) in [("sound", &lock), ("broken", &broken)] {
            for dir in [root.to_owned(), format!("{name}/{root}")] {
                lab.write(&format!("{dir}/main.tf"), &configuration)
                    .write(&format!("{dir}/.terraform.lock.hcl"), lock);
            }
        }
        lab.write(
            &format!("json {name}/main.tf.json"),
            format!("{{{name:?}: {name}"),
        )
        .write(
            &format!("unit {name}/terragrunt.hcl"),
            format!("terraform {{\n source = {name:?} }}"),
        )
        .write(&format!("unit {name}/.terraform.lock.hcl"), &lock)
        .write(&format!("project {name}/.lockctl.hcl"), &project)
        .write(&format!("project {name}/main.tf"), &configuration)
        .write(&format!("{name}.txt"), &broken);
        lab.env.input = format!("Error: {name}\n\n{name}\n\nFailed to query available provider packages\n\nCould not retrieve the list of available versions for provider acme/x: {name}\n").into_bytes();
        let file = format!("{name}.txt");
        let lock = format!("{name}/sound/.terraform.lock.hcl");
        let root = format!("{name}/sound");
        assert_all_harmless(
            &lab,
            &[
                &["verify", "-r"],
                &["verify", "-r", "--flavor", "opentofu", "--matrix"],
                &["verify", &root],
                &["lock", "-r", "--offline", "--dry-run"],
                &["update", "-r", "--offline", "--dry-run"],
                &[
                    "convert",
                    "-r",
                    "--to",
                    "opentofu",
                    "--offline",
                    "--dry-run",
                ],
                &["outdated", "-r", "--offline"],
                &["show", "-r"],
                &["why", "acme/x", "-r"],
                &["why", name],
                &["tree", "-r"],
                &["diff", &lock, &file],
                &["diff", "sound/.terraform.lock.hcl", &lock],
                &["explain", name],
                &["explain", "-"],
                &["hash", &file],
                &["fmt", "-r", "--check"],
                &["merge", &lock, &file, &file],
                &["resolve", &root],
                &["log", "--", name],
                &["git", "status"],
                &["git-textconv", &file],
                &["git-textconv", &lock],
                &["cache", "import", &file],
                &["verify", "--package", &file, &root],
                &["verify", "--config", &file],
                &["verify", "--cli-config", &file],
                &[name],
                &["verify", "--platform", name],
            ],
            number,
            name,
        );
    }
}

/// In the working directory, the name of a root is the beginning of a line.
#[cfg(unix)]
#[test]
fn a_name_that_looks_like_a_command_begins_no_line() {
    let lab = Lab::new();
    let [lock, _, configuration, _] = strange_texts(STRANGE[0]);
    for root in ["::error::pwn", "a"] {
        lab.write(&format!("{root}/main.tf"), &configuration)
            .write(&format!("{root}/.terraform.lock.hcl"), &lock);
    }
    for command in ["verify", "show", "tree", "fmt"] {
        for format in FORMATS {
            let ended = std::process::Command::new(env!("CARGO_BIN_EXE_lockctl"))
                .args([command, "-r", "-v", "--format", format])
                .current_dir(lab.dir())
                .output()
                .unwrap();
            for output in [&ended.stdout, &ended.stderr] {
                let output = String::from_utf8_lossy(output);
                assert_harmless(&output, format, &[command], "no such name");
            }
        }
    }
}

/// Titles and remarks quote names, and a name may have megabytes.
#[test]
fn no_format_repeats_a_name_of_megabytes() {
    let lab = Lab::new();
    let long = "x".repeat(1 << 20);
    lab.write("main.tf", USED.replace("acme/x", &format!("acme/{long}")))
        .write("b.tf", format!("a = {long} \"{long}\""))
        .write(".terraform.lock.hcl", format!("provider \"{long}\" {{}}"));
    for format in FORMATS {
        let outcome = lab.run(&["verify", "--format", format]);
        let printed = outcome.stdout.len() + outcome.stderr.len();
        assert!(printed < 100_000, "{format}: {printed} bytes");
    }
}

/// Reads a root of `count` files, each of them below the limits. `text` makes one from its number; returns the number
/// of those that are not read.
fn unread_files(count: usize, text: fn(usize) -> String) -> usize {
    let files: MemFiles = (0..count)
        .map(|file| (format!("r/f{file}.tf"), text(file)))
        .collect();
    let mut unread = 0;
    let taken = allocation_counter::measure(|| {
        let settings = config::Settings::new(Flavor::OpenTofu1_12);
        let loaded = config::load(&files, &mut Texts::default(), Path::new("r"), &settings);
        let notes = loaded
            .diagnostics
            .iter()
            .filter_map(|found| found.primary.as_ref());
        unread = notes
            .filter(|label| label.note.contains("arguments and blocks"))
            .count();
    });
    assert!(taken.bytes_max < 236 << 20, "{} bytes", taken.bytes_max);
    unread
}

#[test]
fn the_files_of_a_root_have_a_limit_together() {
    fn lines(line: &dyn Fn(usize) -> String) -> String {
        (0..90_000).map(line).collect()
    }
    let unread = [
        unread_files(5, |file| {
            let arguments = lines(&|at| format!("a{file}_{at}=1\n"));
            format!("locals {{\n{arguments}}}\n")
        }),
        unread_files(3, |file| {
            lines(&|at| format!("variable \"a{file}_{at}\" {{}}\n"))
        }),
        unread_files(3, |file| {
            lines(&|at| format!("resource \"a_b\" \"a{file}_{at}\" {{}}\n"))
        }),
    ];
    assert_eq!(unread, [1, 1, 1]);
}

#[test]
fn a_name_of_megabytes_is_not_repeated() {
    let lab = Lab::new();
    let long = format!("acme/{}", "x".repeat(1 << 20));
    lab.write("main.tf", USED.replace("acme/x", &long));
    let outcome = lab.run(&["verify"]).exits(1);
    assert!(outcome.stdout.len() < 4000, "{}", outcome.stdout.len());
}

#[test]
fn a_run_leaves_no_memory_behind() {
    let lab = Lab::new();
    lab.write("main.tf", "terraform {}\n");
    let run = || drop(lab.run(&["tree"]).exits(0));
    // The first run makes what lives as long as the process.
    run();
    let taken = allocation_counter::measure(run);
    assert_eq!(taken.count_current, 0, "{taken:?}");
}

/// Reads 2 MB of a few letters again and again, and returns the most memory that it took, in bytes.
fn most_memory(letters: &str, json: bool) -> u64 {
    let text = letters.repeat((2 << 20) / letters.len()).into_bytes();
    let taken = allocation_counter::measure(|| {
        let is_refused = if json {
            lockctl::json::parse(&text).is_err()
        } else {
            !lockctl::hcl::parse(FileId::ALONE, &text).1.is_empty()
        };
        assert!(is_refused, "{letters:?}");
    });
    taken.bytes_max
}

#[test]
fn memory_is_bounded_by_the_size_of_a_file() {
    for letters in [
        "=\n", "=", "x=\n", "a{}", "1\n", "\"\n", "a {\n", "(", "\u{80}\n",
    ] {
        let most = most_memory(letters, false);
        assert!(most < 96 << 20, "{most} bytes for {letters:?}");
    }
    for letters in ["+,", "[", "{\"\":", "0,"] {
        let most = most_memory(letters, true);
        assert!(most < 16 << 20, "{most} bytes for {letters:?}");
    }
}

/// The runner of GitHub takes a line of any output for a command if it begins with two colons.
#[cfg(unix)]
#[test]
fn a_line_end_in_a_name_begins_no_command() {
    let lab = Lab::new();
    lab.write("nl\n::warning::pwn/main.tf", "a {")
        .write("nl\n::warning::pwn/.terraform.lock.hcl", "provider {");
    for format in ["human", "junit", "markdown", "sarif", "json"] {
        let outcome = lab.run(&["verify", "-r", "--format", format]);
        let text = format!("{}\n{}", outcome.stdout, outcome.stderr);
        assert!(text.contains("pwn"), "{format}: {text}");
        let begins = text.lines().any(|line| line.trim_start().starts_with("::"));
        assert!(!begins, "{format}: {text}");
    }
}
