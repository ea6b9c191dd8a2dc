//! The real programs.

use std::path::PathBuf;
use std::process::Command;

use lockctl::flavor::{Flavor, FlavorChoice};

use crate::lab::Lab;
use crate::registry::{Origin, Registry};

/// The `terraform` on PATH, or the `tofu` that `LOCKCTL_TOFU` names.
pub(crate) struct Terraform {
    program: PathBuf,
    /// Its rules, as `--flavor` names them.
    pub(crate) flavor: String,
    /// Its rules.
    pub(crate) rules: Flavor,
}

impl Terraform {
    /// Finds the program and asks for its version; says `skipped` where there is none.
    pub(crate) fn find() -> Option<Self> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let found = std::env::split_paths(&path)
            .map(|dir| dir.join(format!("terraform{}", std::env::consts::EXE_SUFFIX)))
            .find(|program| program.is_file());
        let Some(program) = found else {
            let required = std::env::var_os("LOCKCTL_REQUIRE_PARITY").is_some_and(|v| v == "1");
            assert!(
                !required,
                "LOCKCTL_REQUIRE_PARITY=1, and terraform is not on PATH"
            );
            println!("skipped: terraform is not on PATH");
            return None;
        };
        Some(Self::at(program, "terraform"))
    }

    /// Finds the OpenTofu that `LOCKCTL_TOFU` names, if it can be made to trust a registry of the tests;
    /// says `skipped` where it names none.
    pub(crate) fn find_tofu() -> Option<Self> {
        match std::env::var_os("LOCKCTL_TOFU") {
            Some(program) if cfg!(target_os = "linux") => {
                Some(Self::at(PathBuf::from(program), "opentofu"))
            }
            _ => {
                println!("skipped: LOCKCTL_TOFU names no program, or this is not Linux");
                None
            }
        }
    }

    /// Finds the Terraform 1.15 or later that `LOCKCTL_TERRAFORM_NEW` names; says `skipped` where it names
    /// none.
    pub(crate) fn find_new() -> Option<Self> {
        let Some(program) = std::env::var_os("LOCKCTL_TERRAFORM_NEW") else {
            println!("skipped: LOCKCTL_TERRAFORM_NEW names no program");
            return None;
        };
        let found = Self::at(PathBuf::from(program), "terraform");
        assert!(
            found.rules.computes_sources(),
            "{} is older than 1.15",
            found.flavor
        );
        Some(found)
    }

    /// Asks a program for its version.
    fn at(program: PathBuf, name: &str) -> Self {
        let output = clean(Command::new(&program).args(["version", "-json"]))
            .output()
            .unwrap();
        let version: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        // OpenTofu has the same name for it.
        let version = version["terraform_version"].as_str().unwrap().to_owned();
        let flavor = format!("{name}@{version}");
        let FlavorChoice::Stated(stated) = flavor.parse().unwrap() else {
            panic!("a stated flavor")
        };
        Self {
            program,
            flavor,
            rules: stated.flavor,
        }
    }

    /// Finds a program that can be made to trust a registry of the tests.
    ///
    /// It reads `SSL_CERT_FILE` on Linux alone; elsewhere the system decides whom to trust.
    pub(crate) fn find_trusting() -> Option<Self> {
        if cfg!(target_os = "linux") {
            return Self::find();
        }
        println!("skipped: the certificate of a test counts on Linux only");
        None
    }

    /// Makes the program install from `mirror` only.
    pub(crate) fn use_mirror(&self, lab: &Lab) {
        let mirror = lab.path("mirror");
        let text = format!(
            "provider_installation {{\n  filesystem_mirror {{\n    path = {:?}\n  }}\n}}\n",
            mirror.display().to_string()
        );
        lab.write("cli.tfrc", text);
    }

    /// Makes the program and lockctl ask `registry` in place of the hosts, and trust it.
    pub(crate) fn use_registry(&self, lab: &mut Lab, registry: &Registry, hosts: &[&str]) {
        let url = registry.url(Origin::Lab);
        let block = |host: &&str| {
            format!(
                "host {host:?} {{\n  services = {{\n    \"providers.v1\" = \"{url}/v1/providers/\"\n  }}\n}}\n"
            )
        };
        let public = ["registry.terraform.io", "registry.opentofu.org"];
        let blocks: String = public.iter().chain(hosts).map(block).collect();
        lab.write("cli.tfrc", blocks);
        for (name, path) in [
            ("TF_CLI_CONFIG_FILE", lab.path("cli.tfrc")),
            ("SSL_CERT_FILE", registry.ca_file()),
            ("SSL_CERT_DIR", PathBuf::from("/nonexistent")),
        ] {
            lab.env.vars.insert(name.to_owned(), path.into());
        }
    }

    /// Runs the program in a directory of the lab, which must succeed, and returns what it said.
    #[track_caller]
    pub(crate) fn succeeds(&self, lab: &Lab, dir: &str, args: &[&str]) -> String {
        let (succeeded, said) = self.run(lab, dir, args);
        assert!(succeeded, "terraform {args:?} failed:\n{said}");
        said
    }

    /// Runs the program in a directory of the lab; tells whether it succeeded, and what it said.
    pub(crate) fn run(&self, lab: &Lab, dir: &str, args: &[&str]) -> (bool, String) {
        self.run_behind(&[], lab, dir, args)
    }

    /// Runs the program behind another one that starts it, as `unshare` does.
    pub(crate) fn run_behind(
        &self,
        starter: &[&str],
        lab: &Lab,
        dir: &str,
        args: &[&str],
    ) -> (bool, String) {
        let mut command = match starter {
            [] => Command::new(&self.program),
            [starter, more @ ..] => {
                let mut command = Command::new(starter);
                command.args(more).arg(&self.program);
                command
            }
        };
        clean(&mut command);
        command
            .args(args)
            .current_dir(lab.path(dir))
            .env("HOME", lab.path("."))
            .envs(&lab.env.vars);
        // A directory may have a configuration of its own, so that runs with several of them can go on at once.
        let configs = [format!("{dir}/cli.tfrc"), "cli.tfrc".to_owned()];
        if let Some(config) = configs.iter().find(|file| lab.path(file).exists()) {
            command.env("TF_CLI_CONFIG_FILE", lab.path(config));
        }
        let output = command.output().unwrap();
        let said = format!(
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        (output.status.success(), said)
    }
}

/// Takes everything out of the environment that could change what the program does.
fn clean(command: &mut Command) -> &mut Command {
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        let starts = ["TF_", "GIT_"].iter().any(|start| text.starts_with(start));
        if starts || text.to_lowercase().ends_with("_proxy") {
            command.env_remove(&name);
        }
    }
    command.env("CHECKPOINT_DISABLE", "1")
}
