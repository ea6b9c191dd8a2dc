//! Names of released files: what one file makes, others download, unpack or install.

use crate::texts::Text as _;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

const VERSION: &str = "9.8.7";

fn read(below: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(below);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the text between two others, at each place where both are.
fn between<'a>(text: &'a str, before: &str, after: &str) -> Vec<&'a str> {
    let parts = text.split(before).skip(1);
    parts
        .filter_map(|part| Some(part.split_once(after)?.0))
        .collect()
}

/// Returns the text between two others that are in it once.
#[track_caller]
fn only<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    let found = between(text, before, after);
    assert_eq!(found.len(), 1, "{before:?} … {after:?}: {found:?}");
    found[0]
}

/// The platforms that the workflow builds for.
fn released() -> BTreeSet<String> {
    let workflow = read(".github/workflows/release.yml");
    let targets = between(&workflow, "- target: ", "\n");
    targets.into_iter().map(str::to_owned).collect()
}

/// The archive that `scripts/release` makes for a platform.
fn archive(target: &str) -> String {
    let ending = if target.contains("windows") {
        "zip"
    } else {
        "tar.gz"
    };
    format!("lockctl-{VERSION}-{target}.{ending}")
}

#[test]
fn the_workflow_builds_what_the_script_can_build() {
    let script = read("scripts/release");
    let known = only(&script, "\nTARGETS = [", "\n]");
    for target in released() {
        assert!(known.contains(&format!("\"{target}\"")), "{target}");
    }
    for name in [
        "name = f\"lockctl-{version()}-{target}\"",
        "f\"{name}.tar.gz\"",
        "f\"{name}.zip\"",
        "if \"windows\" in target:",
    ] {
        assert!(script.contains(name), "{name}");
    }
    // The workflow calls nothing else, and mise takes a wheel that lies among archives for one of them.
    let workflow = read(".github/workflows/release.yml");
    assert!(workflow.contains("scripts/release --target \"$TARGET\"\n"));
    assert!(workflow.contains(" dist/lockctl-* dist/SHA256SUMS\n"));
    assert!(!workflow.contains("cargo build"));
}

#[test]
fn an_archive_has_the_texts_of_the_repository_and_completions_for_each_shell() {
    let script = read("scripts/release");
    for name in between(only(&script, "\nTEXTS = [", "]"), "\"", "\"")
        .iter()
        .step_by(2)
    {
        read(name);
    }
    let completions = only(&script, "\nCOMPLETIONS = {", "\n}");
    let shells: Vec<&str> = between(completions, "\n    \"", "\": ");
    assert_eq!(shells, ["bash", "elvish", "fish", "powershell", "zsh"]);
    for shell in shells {
        let made = Command::new(env!("CARGO_BIN_EXE_lockctl"))
            .args(["completions", shell])
            .output()
            .unwrap();
        assert!(
            made.status.success() && !made.stdout.is_empty(),
            "{shell}: {made:?}"
        );
    }
}

#[test]
fn cargo_binstall_finds_an_archive_on_every_platform() {
    let manifest = read("Cargo.toml");
    let tables = manifest.split("\n[package.metadata.binstall").skip(1);
    let tables: Vec<(&str, &str)> = tables
        .filter_map(|table| table.split('[').next()?.split_once("]\n"))
        .collect();
    let value = |target: &str, key: &str| {
        let own = tables
            .iter()
            .find(|(name, _)| *name == format!(".overrides.{target}"));
        let general = tables.iter().find(|(name, _)| name.is_empty());
        let line = format!("{key} = \"");
        [own, general]
            .into_iter()
            .flatten()
            .find_map(|(_, table)| Some(table.split_once(&line)?.1.split_once('"')?.0))
            .unwrap_or_else(|| panic!("{target} has no {key}"))
            .replace("{ repo }", "https://example.com/lockctl")
            .replace("{ version }", VERSION)
            .replace("{ target }", target)
            .replace(
                "{ binary-ext }",
                if target.contains("windows") {
                    ".exe"
                } else {
                    ""
                },
            )
    };
    // Linux with glibc has no archive of its own, but binstall asks for it first.
    let glibc = ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"].map(str::to_owned);
    for target in released().into_iter().chain(glibc) {
        let of = target.replace("-linux-gnu", "-linux-musl");
        let url = format!(
            "https://example.com/lockctl/releases/download/v{VERSION}/{}",
            archive(&of)
        );
        assert_eq!(value(&target, "pkg-url"), url);
        let is_zip = target.contains("windows");
        assert_eq!(
            value(&target, "pkg-fmt"),
            if is_zip { "zip" } else { "tgz" }
        );
        let program = if is_zip { "lockctl.exe" } else { "lockctl" };
        let path = format!("lockctl-{VERSION}-{of}/{program}");
        assert_eq!(value(&target, "bin-dir"), path);
    }
}

#[test]
fn the_actions_and_the_images_take_released_archives() {
    let released = released();
    let install = read(".github/actions/verify/install.sh");
    assert!(install.contains("name=lockctl-$version-$(target)\n"));
    let programs = between(&install, ") echo ", " ;;");
    assert_eq!(programs.len(), 5, "{programs:?}");
    let image = read("scripts/image");
    assert!(image.contains("lockctl-*-\"$target\".tar.gz"));
    let layers = between(&image, ") target=", " ;;");
    assert_eq!(layers.len(), 2, "{layers:?}");
    for target in programs.into_iter().chain(layers) {
        assert!(released.contains(target), "{target}");
    }
}

#[test]
fn the_wheel_is_that_of_the_crate() {
    let project = read("scripts/wheel/pyproject.toml");
    project.has("\nname = \"lockctl\"\n");
    project.has("dynamic = [\"version\", ");
    let manifest = only(&project, "manifest-path = \"", "\"");
    assert_eq!(manifest, "../../Cargo.toml");
    // Every job packs with the same version.
    let workflow = read(".github/workflows/release.yml");
    let versions: BTreeSet<&str> = between(&workflow, "maturin==", "\n").into_iter().collect();
    assert_eq!(versions.len(), 1, "{versions:?}");
}

#[test]
fn documents_name_files_of_a_release() {
    let security = read(".github/SECURITY.md");
    assert!(security.contains("lockctl-VERSION-PLATFORM.tar.gz"));
    let workflow = read(".github/workflows/release.yml");
    let readme = read("README.md");
    for (name, source) in [
        ("cargo binstall lockctl", &read("Cargo.toml")),
        ("pip install lockctl", &read("scripts/wheel/pyproject.toml")),
        ("ghcr.io/", &workflow),
    ] {
        assert!(readme.contains(name), "the README does not name {name}");
        let last = name.rsplit(' ').next().unwrap();
        assert!(source.contains(last), "{last}");
    }
}
