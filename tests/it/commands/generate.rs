//! `completions`, `man` and `schema`: what shells, manuals and validators read.

use std::collections::BTreeSet;

use super::*;
use lockctl::world::mem::slashed;

#[test]
fn each_shell_gets_a_script() {
    for (shell, sign) in [
        ("bash", "complete -F _lockctl"),
        ("elvish", "set edit:completion:arg-completer[lockctl]"),
        ("fish", "complete -c lockctl"),
        ("powershell", "Register-ArgumentCompleter"),
        ("zsh", "#compdef lockctl"),
    ] {
        let outcome = Lab::new().run(&["completions", shell]).exits(0);
        assert!(outcome.stdout.contains(sign), "{shell}");
        // Scripts have the values of options as well, where the shell shows them.
        let has_values = ["bash", "fish", "zsh"].contains(&shell);
        assert_eq!(outcome.stdout.contains("sarif"), has_values, "{shell}");
    }
    let outcome = Lab::new().run(&["completions", "tcsh"]).exits(2);
    outcome.stderr_has("[possible values: bash,");
}

#[test]
fn the_manual_page_of_a_command_is_printed() {
    let lab = Lab::new();
    let page = |words: &[&str]| {
        let outcome = lab.run(&[&["man"], words].concat()).exits(0);
        // Dashes are escaped, and the lab writes paths with slashes.
        outcome.stdout.replace(['\\', '/'], "")
    };
    let program = page(&[]);
    program.has("\n.TH lockctl 1 ");
    program.has("lockctl-verify(1)");
    program.lacks("lockctl-help");
    let verify = page(&["verify"]);
    verify.has("\n.SH EXAMPLES\n.nf\n  lockctl verify  ");
    let install = page(&["git", "install"]);
    let version = env!("CARGO_PKG_VERSION");
    let title = format!("\n.TH lockctl-git-install 1  \"lockctl {version}\"");
    install.has(&title);
    install.has("--dry-run");
}

#[test]
fn every_option_has_a_text_in_the_page() {
    let lab = Lab::new();
    for words in [
        &["man"][..],
        &["man", "verify"],
        &["man", "cache", "import"],
    ] {
        let outcome = lab.run(words).exits(0);
        let options: Vec<&str> = outcome.stdout.split("\n.TP\n").skip(1).collect();
        assert!(options.len() >= 13, "{words:?}: {}", outcome.stdout);
        for option in options {
            let (names, text) = option.split_once('\n').unwrap_or((option, ""));
            let is_text = text.starts_with(char::is_alphabetic) || text.starts_with('`');
            assert!(is_text, "{words:?}: {names}: {text}");
        }
    }
}

#[test]
fn a_command_that_is_not_there_has_no_page() {
    let outcome = Lab::new().run(&["man", "git", "remove"]).exits(2);
    assert_eq!(
        outcome.stderr,
        "error: there is no command \"git remove\"\n  help: `lockctl --help` lists all commands\n"
    );
}

#[test]
fn the_pages_of_all_commands_are_written() {
    let lab = Lab::new();
    let outcome = lab.run(&["man", "--dir", "share/man1"]).exits(0);
    let written = std::fs::read_dir(lab.path("share/man1")).unwrap();
    let written: BTreeSet<String> = written
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let count = written.len();
    assert_eq!(
        outcome.stdout,
        format!("wrote {count} pages to share/man1\n")
    );
    // Each page that another one refers to is there.
    let mut named = BTreeSet::from(["lockctl.1".to_owned()]);
    for page in &written {
        let text = std::fs::read_to_string(lab.path("share/man1").join(page)).unwrap();
        let text = text.replace('\\', "");
        let names = text.lines().filter_map(|line| line.strip_suffix("(1)"));
        named.extend(names.map(|name| format!("{name}.1")));
    }
    assert_eq!(written, named);

    // Written again, they stay as they are; where a file is in the way, nothing is done.
    lab.write("share/man1/lockctl.1", "old");
    assert_exit(&lab.run(&["man", "--dir", "share/man1"]), 0);
    let page = std::fs::read_to_string(lab.path("share/man1/lockctl.1")).unwrap();
    assert_eq!(slashed(page), lab.run(&["man"]).stdout);
    let outcome = lab.run(&["man", "--dir", "share/man1/lockctl.1"]).exits(2);
    assert!(
        outcome
            .stderr
            .starts_with("error: share/man1/lockctl.1 cannot be written"),
        "{}",
        outcome.stderr
    );
}

#[test]
#[cfg_attr(
    windows,
    ignore = "the lab writes each backslash of an output as a slash"
)]
fn the_schema_of_the_output_is_printed() {
    let lab = Lab::new();
    let schema = |args: &[&str]| -> serde_json::Value {
        let outcome = lab.run(&[&["schema"], args].concat()).exits(0);
        serde_json::from_str(&outcome.stdout).unwrap()
    };
    assert_eq!(schema(&[]), *crate::schema::PUBLISHED);
    assert_eq!(schema(&["output"]), *crate::schema::PUBLISHED);
    assert_eq!(schema(&["event"]), *crate::schema::EVENTS);
    assert_exit(&lab.run(&["schema", "x"]), 2);
}

#[test]
fn the_version_names_the_parts_of_the_binary_if_asked() {
    let lab = Lab::new();
    let short = lab.run(&["--version"]).exits(0);
    let first = format!("lockctl {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(short.stdout, first);
    for args in [["--version", "--verbose"], ["-v", "-V"]] {
        let long = lab.run(&args).exits(0);
        assert!(long.stdout.starts_with(&first), "{}", long.stdout);
        let parts: Vec<&str> = long
            .stdout
            .lines()
            .skip(1)
            .map(|line| line.split(':').next().unwrap())
            .collect();
        assert_eq!(parts, ["commit", "platform", "features", "TLS", "rules"]);
        let rules = "\nrules: terraform@1.11, terraform@1.15, terraform@1.16, opentofu@1.12\n";
        assert!(long.stdout.ends_with(rules), "{}", long.stdout);
    }
}
