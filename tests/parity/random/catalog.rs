//! What is published: the same for every setting.

use std::collections::BTreeMap;
use std::io::Cursor;

use lockctl::archive::Limits;
use lockctl::archive::zip::hash_zip;
use lockctl::hash::zh;

use crate::dice::Dice;
use crate::lab::{Lab, zip_of};
use crate::registry::Registry;

pub(super) const PROVIDERS: [&str; 5] = [
    "acme/one",
    "acme/two",
    "other/three",
    "other/four",
    "acme/five",
];

/// The running platform, then those that others have, the last of them no common one.
pub(super) const PLATFORMS: [&str; 6] = [
    "linux_amd64",
    "linux_arm64",
    "darwin_amd64",
    "darwin_arm64",
    "windows_amd64",
    "freebsd_amd64",
];

/// Each provider has some of these, but never two that differ in metadata only: among those the
/// program chooses at random.
const VERSIONS: [&[&str]; 9] = [
    &["0.9.0"],
    &["1.0.0-beta1"],
    &["1.0.0", "1.0.0+b1"],
    &["1.1.0-rc1"],
    &["1.1.0", "1.1.0+b2"],
    &["1.10.0"],
    &["2.0.0-rc1", "2.0.0-rc1+b3"],
    &["2.0.0"],
    &["2.3.4"],
];

/// The hashes of a package.
pub(super) struct Package {
    pub(super) h1: String,
    pub(super) zh: String,
    zip: Vec<u8>,
}

/// One version of a provider, with its packages by platform.
pub(super) struct Release {
    pub(super) provider: &'static str,
    pub(super) version: &'static str,
    pub(super) packages: BTreeMap<&'static str, Package>,
}

/// Everything that is published.
pub(super) struct Catalog {
    /// The default host of the program.
    pub(super) host: &'static str,
    releases: Vec<Release>,
}

impl Catalog {
    pub(super) fn new(host: &'static str) -> Self {
        let mut dice = Dice::new(15);
        let mut releases = Vec::new();
        for provider in PROVIDERS {
            for spellings in VERSIONS {
                if dice.chance(60) {
                    let version = dice.one_of(spellings);
                    releases.push(Release::new(&mut dice, provider, version));
                }
            }
        }
        Self { host, releases }
    }

    /// Makes a registry and its network mirror offer all of it.
    pub(super) fn publish(&self, registry: &Registry) {
        for release in &self.releases {
            for (platform, package) in &release.packages {
                registry.add_zip(release.provider, release.version, platform, &package.zip);
            }
        }
    }

    /// Fills a mirror directory with so many of a hundred packages, packed or not.
    pub(super) fn fill(&self, dice: &mut Dice, lab: &Lab, dir: &str, percent: usize) {
        std::fs::create_dir_all(lab.path(dir)).unwrap();
        for release in &self.releases {
            for platform in release.packages.keys() {
                if !dice.chance(percent) {
                    continue;
                }
                let Release {
                    provider, version, ..
                } = release;
                let package = format!("{}/{provider}/{version}/{platform}", self.host);
                let text = content(provider, version, platform);
                if dice.chance(50) {
                    lab.packed(dir, &package, &text);
                } else {
                    lab.unpacked(dir, &package, &text);
                }
            }
        }
    }

    /// The releases of a provider.
    pub(super) fn of(&self, provider: &str) -> Vec<&Release> {
        let releases = self.releases.iter();
        releases.filter(|one| one.provider == provider).collect()
    }
}

impl Release {
    fn new(dice: &mut Dice, provider: &'static str, version: &'static str) -> Self {
        let mut packages = BTreeMap::new();
        for platform in PLATFORMS {
            let percent = if platform == "linux_amd64" { 99 } else { 93 };
            if dice.chance(percent) {
                let zip = zip_of(&[(
                    &program(provider, version),
                    &content(provider, version, platform),
                )]);
                let hashed = hash_zip(Cursor::new(&zip), &Limits::PACKAGE).unwrap();
                let package = Package {
                    h1: hashed.h1.to_string(),
                    zh: zh(&*zip).unwrap().to_string(),
                    zip,
                };
                packages.insert(platform, package);
            }
        }
        Self {
            provider,
            version,
            packages,
        }
    }

    /// The signed list: the `zh:` of all platforms.
    pub(super) fn signed(&self) -> impl Iterator<Item = String> {
        self.packages.values().map(|package| package.zh.clone())
    }
}

fn content(provider: &str, version: &str, platform: &str) -> String {
    format!("{provider} {version} {platform}")
}

fn program(provider: &str, version: &str) -> String {
    let (_, type_name) = provider.split_once('/').unwrap();
    format!("terraform-provider-{type_name}_v{version}")
}
