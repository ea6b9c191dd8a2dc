//! `lockctl mirror` against `terraform providers mirror`, and the real `init` from what it places.

mod generated;
mod installed;
mod verified;

use std::collections::BTreeMap;
use std::path::Path;

use crate::lab::{Lab, zip_of};
use crate::registry::Registry;
use crate::seed::Seed;
use crate::terraform::Terraform;
use crate::{LOCK, lockctl};

/// The providers of the registry, each with its versions.
const PROVIDERS: [(&str, [&str; 2]); 6] = [
    ("acme/alpha", ["1.0.0", "1.1.0"]),
    ("acme/beta", ["0.9.0", "1.0.0-rc1"]),
    ("acme/gamma", ["2.0.0", "10.0.0"]),
    ("other/alpha", ["1.0.0", "1.0.1"]),
    ("other/delta", ["3.0.0+meta", "3.0.1"]),
    ("hashicorp/null", ["3.2.1", "3.2.2"]),
];

const PLATFORMS: [&str; 3] = ["linux_amd64", "darwin_arm64", "windows_amd64"];

/// A lab whose registry has all packages.
struct MirrorSetting {
    terraform: Terraform,
    registry: Registry,
    lab: Lab,
    /// The `host` blocks that lead each program to the registry.
    hosts: String,
}

impl MirrorSetting {
    fn new() -> Option<Self> {
        Some(Self::of(Terraform::find_trusting()?))
    }

    fn of(terraform: Terraform) -> Self {
        let registry = Registry::start();
        for (source, versions) in PROVIDERS {
            let (_, type_name) = source.split_once('/').unwrap();
            for version in versions {
                for platform in PLATFORMS {
                    let program = format!("terraform-provider-{type_name}_v{version}");
                    let content = format!("{source} {version} {platform}");
                    let zip = zip_of(&[(&program, &content), ("LICENSE", "free")]);
                    registry.add_zip(source, version, platform, &zip);
                }
            }
        }
        let mut lab = Lab::new();
        terraform.use_registry(&mut lab, &registry, &[]);
        let hosts = lab.read("cli.tfrc");
        Self {
            terraform,
            registry,
            lab,
            hosts,
        }
    }

    /// Writes a root that requires some of the providers, in some of their versions.
    fn write_root(&self, root: &str, seed: &mut Seed) {
        let first = seed.below(PROVIDERS.len());
        let count = 1 + seed.below(3);
        let requirements: String = (first..first + count)
            .map(|at| {
                let (source, versions) = PROVIDERS[at % PROVIDERS.len()];
                let version = seed.pick(&versions);
                format!("    p{at} = {{ source = {source:?}, version = {version:?} }}\n")
            })
            .collect();
        let main = format!("terraform {{\n  required_providers {{\n{requirements}  }}\n}}\n");
        // `-r` takes a directory with a lock file for a root.
        self.lab
            .write(&format!("{root}/main.tf"), main)
            .write(&format!("{root}/{LOCK}"), "");
    }

    /// Locks every root below a directory for all platforms.
    #[track_caller]
    fn lock(&self, dir: &str) {
        let platforms = PLATFORMS.join(",");
        let outcome = lockctl(
            &self.lab,
            &self.terraform,
            &["lock", "-r", dir, "--platform", &platforms],
        );
        assert_eq!(outcome.code, 0, "{outcome:#?}");
    }

    /// Mirrors what roots need, with further options.
    #[track_caller]
    fn mirror(&self, dir: &str, more: &[&str]) {
        let args = [&["mirror", dir], more].concat();
        let outcome = lockctl(&self.lab, &self.terraform, &args);
        assert_eq!(outcome.code, 0, "{outcome:#?}");
    }

    /// Lets `init` in a root use installation methods. Registries still lead to that of the tests, where a request
    /// would be seen.
    fn use_methods(&self, root: &str, installation: &str) {
        let text = format!("{}{installation}", self.hosts);
        self.lab.write(&format!("{root}/cli.tfrc"), text);
    }

    /// Runs `init` with these options in a copy of a root: every provider is installed, the lock file stays as it is,
    /// and no registry is asked.
    #[track_caller]
    fn installs(&self, root: &str, more: &[&str]) {
        let lock = self.lab.read(&format!("{root}/{LOCK}"));
        std::fs::remove_dir_all(self.lab.path(&format!("{root}/.terraform"))).ok();
        let args = [&["init", "-no-color", "-backend=false"], more].concat();
        let said = self.terraform.succeeds(&self.lab, root, &args);
        assert_eq!(self.lab.read(&format!("{root}/{LOCK}")), lock, "{said}");
        assert_eq!(self.registry.requests(), [""; 0], "{said}");
        assert_eq!(
            said.matches("- Installed ").count(),
            lock.matches("provider \"").count(),
            "{said}"
        );
    }
}

/// Every file below a directory, with its bytes.
fn tree(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut left = vec![dir.to_owned()];
    while let Some(path) = left.pop() {
        for entry in std::fs::read_dir(&path).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                left.push(path);
            } else {
                let name = path.strip_prefix(dir).unwrap().display().to_string();
                files.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    files
}
