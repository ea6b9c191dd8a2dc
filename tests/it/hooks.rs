//! The hooks of pre-commit: the files that start them, what they run, and the wheel that they install.

use crate::texts::Text as _;
use regex::Regex;

const HOOKS: &str = include_str!("../../.pre-commit-hooks.yaml");

/// The package that pre-commit installs for hooks of the language python.
const PACKAGE: &str = include_str!("../../pyproject.toml");

/// A hook, as far as it matters here. An alias of YAML stands for the text of its anchor.
#[derive(Debug)]
struct Hook {
    id: &'static str,
    entry: &'static str,
    language: &'static str,
    files: Regex,
}

fn hooks() -> Vec<Hook> {
    let anchored = |name: &str| {
        let (_, text) = HOOKS.split_once(&format!("&{name} '")).unwrap();
        text.split_once('\'').unwrap().0
    };
    HOOKS
        .split("\n- ")
        .skip(1)
        .map(|block| {
            let value = |name: &str| {
                let line = block
                    .lines()
                    .find_map(|line| line.trim().strip_prefix(name)?.strip_prefix(": "));
                line.unwrap_or_else(|| panic!("{name} of {block}"))
            };
            let files = value("files");
            let name = files.trim_start_matches(['&', '*']).split(' ').next();
            Hook {
                id: value("id"),
                entry: value("entry"),
                language: value("language"),
                files: Regex::new(anchored(name.unwrap())).unwrap(),
            }
        })
        .collect()
}

#[test]
fn every_hook_installs_a_wheel_or_is_built_from_source() {
    let hooks = hooks();
    let kinds: Vec<_> = hooks.iter().map(|hook| (hook.id, hook.language)).collect();
    assert_eq!(
        kinds,
        [
            ("lockctl-verify", "python"),
            ("lockctl-lock", "python"),
            ("lockctl-diff", "python"),
            ("lockctl-verify-src", "rust"),
            ("lockctl-lock-src", "rust"),
            ("lockctl-diff-src", "rust"),
        ]
    );
    let (wheels, sources) = hooks.split_at(3);
    for (wheel, source) in wheels.iter().zip(sources) {
        assert_eq!(wheel.entry, source.entry);
        assert_eq!(wheel.files.as_str(), source.files.as_str());
    }
    let required = format!(
        "\ndependencies = [\"lockctl=={}\"]\n",
        env!("CARGO_PKG_VERSION")
    );
    PACKAGE.has(&required);
}

#[test]
fn hooks_start_for_every_file_that_a_root_is_made_of() {
    for hook in hooks() {
        let is_diff = hook.id.starts_with("lockctl-diff");
        for path in [".terraform.lock.hcl", "live/a/.terraform.lock.hcl"] {
            assert!(hook.files.is_match(path), "{} {path}", hook.id);
        }
        for path in [
            "terragrunt.hcl",
            "live/a/terragrunt.hcl",
            "live/a/terragrunt.hcl.json",
            "live/terragrunt.stack.hcl",
            ".lockctl.hcl",
            "live/.lockctl.hcl",
            "main.tf",
            "live/a/main.tf.json",
            "live/a/main.tofu",
            "live/a/tests/a.tftest.hcl",
        ] {
            assert_eq!(hook.files.is_match(path), !is_diff, "{} {path}", hook.id);
        }
        for path in [
            "README.md",
            "my-terragrunt.hcl",
            "other.hcl",
            "main.tf.bak",
            "my.terraform.lock.hcl",
        ] {
            assert!(!hook.files.is_match(path), "{} {path}", hook.id);
        }
    }
}
