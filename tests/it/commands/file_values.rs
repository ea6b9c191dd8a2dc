//! Values that a configuration computes from files: none of a file outside of the repository.

use std::io;
use std::path::Path;

use lockctl::os::RealDisk;
use lockctl::world::Files;

use super::*;
use crate::disk::{Changed, Changes};

/// The content of the files outside, and the name of the module that it leads to.
const SECRET: &str = "hush";

/// A disk on which the files outside must not be read.
struct Guarded;

impl Changes for Guarded {
    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        let bytes = RealDisk.read(path, limit)?;
        // The configuration may hold the word, too, but a secret is nothing else.
        assert_ne!(bytes, SECRET.as_bytes(), "{} was read", path.display());
        Ok(bytes)
    }
}

/// A repository below the directory of the test, with a root in it and files beside it.
fn lab() -> Lab {
    let lab = Lab::new();
    std::fs::remove_dir(lab.path(".git")).unwrap();
    lab.write("outside/secret", SECRET)
        .write("repo/.git/config", SECRET)
        .write("repo/inside", "one")
        .write("repo/one/main.tf", "resource \"one_x\" \"y\" {}\n")
        .write("repo/live/.terraform.lock.hcl", "");
    #[cfg(unix)]
    for (link, target) in [
        ("link", "../outside/secret"),
        ("dir-link", "../outside"),
        ("dangling", "../outside/nothing"),
    ] {
        std::os::unix::fs::symlink(target, lab.path(&format!("repo/{link}"))).unwrap();
    }
    lab
}

fn verify(lab: &Lab, format: &str, more: &[&str]) -> Outcome {
    let args = ["verify", "repo/live", "--format", format, "-v"];
    lab.run_on(&Changed(Guarded), &[&args, more].concat())
}

/// Paths that lead out of the repository, and the directory of git.
fn outer_paths(lab: &Lab) -> Vec<String> {
    let absolute = lab.path("outside/secret").display().to_string();
    let mut paths = vec![
        absolute,
        lab.path("repo/../outside/secret").display().to_string(),
        "../../outside/secret".to_owned(),
        "../../outside/nothing".to_owned(),
        "../.git/config".to_owned(),
    ];
    if cfg!(unix) {
        let links = ["../link", "../dir-link/secret", "../dangling"];
        paths.extend(links.map(str::to_owned));
    }
    paths
}

#[test]
fn files_outside_of_the_repository_are_not_read_for_a_value() {
    let lab = lab();
    let calls = [
        "file(PATH)",
        "filebase64(PATH)",
        "filesha256(PATH)",
        "filebase64sha512(PATH)",
        "templatefile(PATH, {})",
        "fileexists(PATH) ? \"a\" : \"b\"",
    ];
    for path in outer_paths(&lab) {
        for call in calls {
            let call = call.replace("PATH", &format!("{path:?}"));
            let text = format!(
                "locals {{\n  x = {call}\n}}\nmodule \"m\" {{\n  source = \"../${{local.x}}\"\n}}\n"
            );
            lab.write("repo/live/main.tf", text);
            for format in ["human", "json", "github", "markdown", "sarif", "junit"] {
                let outcome = verify(&lab, format, &["--flavor", "opentofu"]);
                let shown = format!("{}{}", outcome.stdout, outcome.stderr);
                assert_exit(&outcome, 0);
                assert!(!shown.contains(SECRET), "{call}, {format}: {shown}");
                if ["human", "json"].contains(&format) {
                    assert!(shown.contains("module-not-visible"), "{call}: {shown}");
                }
            }
        }
    }
    let outcome = verify(&lab, "human", &["--flavor", "opentofu"]);
    outcome.stdout_has("values of files outside of the repository are not computed");
}

#[test]
fn files_of_the_repository_are_read_for_a_value() {
    let lab = lab();
    for path in ["../inside", "../live/../inside"] {
        let call = format!("module \"m\" {{\n  source = \"../${{file({path:?})}}\"\n}}\n");
        lab.write("repo/live/main.tf", call);
        let outcome = lab.run(&["why", "one", "repo/live", "--flavor", "opentofu"]);
        assert_exit(&outcome, 0);
    }
}

#[test]
fn without_a_repository_the_root_is_the_limit() {
    let lab = lab();
    std::fs::remove_dir_all(lab.path("repo/.git")).unwrap();
    lab.write("repo/live/own", "one");
    for (path, is_read) in [("own", true), ("../inside", false)] {
        let call = format!("module \"m\" {{\n  source = \"../${{file({path:?})}}\"\n}}\n");
        lab.write("repo/live/main.tf", call);
        let outcome = lab.run(&["why", "one", "repo/live", "--flavor", "opentofu", "-v"]);
        let shown = format!("{}{}", outcome.stdout, outcome.stderr);
        assert_eq!(shown.contains("module-not-visible"), !is_read, "{shown}");
    }
}

#[test]
fn a_path_of_the_command_line_is_read() {
    let lab = lab();
    lab.write("outside/name", "one").write(
        "repo/live/main.tf",
        "variable \"path\" {}\nmodule \"m\" {\n  source = \"../${file(var.path)}\"\n}\n",
    );
    let given = format!("path={}", lab.path("outside/name").display());
    let args = ["why", "one", "repo/live", "--flavor", "opentofu", "--var"];
    assert_exit(&lab.run(&[&args[..], &[&given]].concat()), 0);
    // A value from anywhere else may be that of a stranger.
    lab.write(
        "repo/live/terraform.tfvars",
        given.replace('=', " = \"") + "\"\n",
    );
    let args = ["why", "one", "repo/live", "--flavor", "opentofu", "-v"];
    lab.run(&args).stderr_has("module-not-visible");
}

#[test]
fn a_unit_reads_no_file_outside_of_the_repository() {
    let lab = lab();
    let calls = [
        "file(PATH)",
        "filesha1(PATH)",
        "templatefile(PATH, {})",
        "read_tfvars_file(PATH)",
        "jsonencode(read_terragrunt_config(PATH))",
        "jsonencode(read_terragrunt_config(PATH, {}))",
    ];
    for path in outer_paths(&lab) {
        // A missing file has a default, wherever it is.
        if path.ends_with("/nothing") || path.ends_with("/dangling") {
            continue;
        }
        for call in calls {
            let call = call.replace("PATH", &format!("{path:?}"));
            let text = format!("terraform {{\n  source = {call}\n}}\n");
            lab.write("repo/live/terragrunt.hcl", text);
            for format in ["human", "json"] {
                let outcome = verify(&lab, format, &[]);
                let shown = format!("{}{}", outcome.stdout, outcome.stderr);
                assert!(!shown.contains(SECRET), "{call}: {shown}");
                assert!(shown.contains("module-not-visible"), "{call}: {shown}");
            }
        }
    }
}
