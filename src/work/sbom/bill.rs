//! The content of a bill: roots, the releases that they lock, and the packages of the releases.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::modules::BilledModule;
use crate::addr::ProviderAddr;
use crate::contents::{BuildInfo, ProgramContents};
use crate::hash::{Hash, Hashes, Scheme};
use crate::package::{Fact, Provenance, ReleaseFact};
use crate::platform::Platform;
use crate::remote_module::ModulePin;
use crate::version::Version;

/// The value of the property `contents` if the contents are unknown.
const UNKNOWN: &str = "unknown";

/// A name and a value, for data without a field in the formats.
pub(super) type Property = (String, String);

/// The name of a release: a provider and its version.
pub type ReleaseId = (ProviderAddr, Version);

/// A bill of materials, independent of its format.
#[derive(Clone, Debug, Default)]
pub struct Bill {
    /// The roots by name.
    pub roots: BTreeMap<String, BilledRoot>,
    pub releases: BTreeMap<ReleaseId, BilledRelease>,
    /// The names of roots that the bill lacks, because their lock files could not be read.
    pub left_out: BTreeSet<String>,
}

/// A root with the releases that it locks.
#[derive(Clone, Debug)]
pub struct BilledRoot {
    /// The path of its lock file, from the top of the repository.
    pub lock_file: String,
    pub releases: BTreeSet<ReleaseId>,
    /// The modules that it pins, those of all calls.
    pub modules: BTreeSet<ModulePin>,
}

/// A locked release, with the facts about its hashes.
#[derive(Clone, Debug, Default)]
pub struct BilledRelease {
    /// The packages whose platform is known, by platform and `zh:`.
    pub packages: Vec<BilledPackage>,
    /// The recorded hashes that no known package has, with their evidence.
    pub other_hashes: BTreeMap<Hash, Provenance>,
    /// The fingerprints of the keys that signed the release.
    pub signers: BTreeSet<String>,
}

/// A package of a release.
#[derive(Clone, Debug)]
pub struct BilledPackage {
    pub platform: Platform,
    /// The SHA-256 of the zip.
    pub zh: (Hash, Provenance),
    /// The hash of the files in it, if it is known.
    pub h1: Option<(Hash, Provenance)>,
    /// The length of the zip in bytes, if it is known.
    pub size: Option<u64>,
    /// The contents of the program; `None` if it was not read, or its contents are not trusted.
    pub contents: Option<Arc<ProgramContents>>,
    /// The modules of the program; there are none if its contents are unknown.
    pub modules: BTreeSet<BilledModule>,
}

/// The trusted facts about a release.
pub struct ReleaseEvidence<'a> {
    pub release: Option<&'a ReleaseFact>,
    /// Returns the fact about the zip of a `zh:`.
    pub fact: &'a dyn Fn(&Hash) -> Option<Fact>,
    /// Returns the contents of the program in the zip of a `zh:`.
    pub contents: &'a dyn Fn(&Hash) -> Option<Arc<ProgramContents>>,
}

/// Returns the version of a pinned module, or the commit of one that has none.
pub(super) fn pinned_version(pin: &ModulePin) -> Option<String> {
    let version = pin.version.as_ref().map(ToString::to_string);
    version.or_else(|| pin.commit.clone())
}

/// Lists the data of a pinned module without a field in the formats. Its hash covers names and content of all files,
/// so that no checksum field can hold it.
pub(super) fn pinned_properties(pin: &ModulePin) -> Vec<Property> {
    vec![("module-hash".to_owned(), pin.hash.to_string())]
}

impl Bill {
    /// Returns the modules that roots pin, each once.
    pub fn pinned(&self) -> BTreeSet<&ModulePin> {
        self.roots.values().flat_map(|root| &root.modules).collect()
    }

    /// Returns every module of every package.
    pub fn modules(&self) -> BTreeSet<BilledModule> {
        self.releases
            .values()
            .flat_map(|release| &release.packages)
            .flat_map(|package| &package.modules)
            .cloned()
            .collect()
    }
}

impl BilledRelease {
    /// Groups the recorded hashes of a release by the packages that facts attribute them to.
    pub fn of(id: &ReleaseId, hashes: &Hashes, evidence: &ReleaseEvidence<'_>) -> Self {
        let release = evidence.release;
        let mut billed = Self {
            signers: release
                .into_iter()
                .flat_map(|release| &release.signers)
                .map(|key| key.fingerprint.clone())
                .collect(),
            ..Self::default()
        };
        let is_signed = |hash: &Hash| release.is_some_and(|release| release.has(hash));
        for zh in hashes.of(Scheme::Zh).filter(|zh| zh.is_well_formed()) {
            // The packages of one release may come from several registries (`coverage` rules 1.3).
            let fact = (evidence.fact)(zh).filter(|fact| {
                fact.id.version == id.1 && fact.id.provider.type_name() == id.0.type_name()
            });
            // A signed list names platforms as well, so a package may be known before it is downloaded.
            let listed = release.and_then(|release| release.packages.get(zh));
            let platform = match (&fact, listed) {
                (Some(fact), _) => &fact.id.platform,
                (None, Some(package)) => &package.platform,
                // The hash is listed with the other hashes: the zip may be for any platform.
                (None, None) => continue,
            };
            let zh_evidence = match (is_signed(zh), &fact) {
                (true, _) => Provenance::Signed,
                (false, Some(_)) => Provenance::Computed,
                (false, None) => Provenance::Kept,
            };
            // The bytes of the zip determine its `h1:`, so both hashes have equal evidence.
            let h1_evidence = match zh_evidence {
                Provenance::Signed => Provenance::Proven,
                other => other,
            };
            let h1 = fact
                .as_ref()
                .map(|fact| &fact.h1)
                .or(listed.and_then(|package| package.h1.as_ref()));
            let contents = (evidence.contents)(zh);
            let info = contents.as_ref().and_then(|contents| contents.build_info());
            billed.packages.push(BilledPackage {
                platform: platform.clone(),
                zh: (zh.clone(), zh_evidence),
                h1: h1.map(|h1| (h1.clone(), h1_evidence)),
                size: fact.as_ref().map(|fact| fact.size),
                modules: info.map(BilledModule::all_of).unwrap_or_default(),
                contents,
            });
        }
        billed.packages.sort_by(|left, right| {
            (&left.platform, &left.zh.0).cmp(&(&right.platform, &right.zh.0))
        });
        for hash in hashes.iter() {
            let packages = &billed.packages;
            let mut known = packages
                .iter()
                .flat_map(|package| std::iter::once(&package.zh).chain(&package.h1));
            if known.any(|(known, _)| known == hash) {
                continue;
            }
            // Signed lists have no `h1:`, so the `h1:` of a listed package was computed from its bytes.
            let evidence = match (is_signed(hash), hash.scheme()) {
                (true, Scheme::H1) => Provenance::Proven,
                (true, _) => Provenance::Signed,
                (false, _) => Provenance::Kept,
            };
            billed.other_hashes.insert(hash.clone(), evidence);
        }
        billed
    }

    /// Returns true if a package was read, and every package with one of these hashes as its `h1:`.
    pub fn is_read(&self, hashes: &Hashes) -> bool {
        // A signed list names packages for platforms that the lock file is not for: nothing downloads them.
        let is_locked = |package: &&BilledPackage| {
            let h1 = package.h1.as_ref();
            h1.is_some_and(|(h1, _)| hashes.contains(h1))
        };
        let was_read = |package: &BilledPackage| package.contents.is_some();
        self.packages.iter().any(was_read) && self.packages.iter().filter(is_locked).all(was_read)
    }

    /// Returns true if no package has known contents.
    pub fn is_unknown(&self) -> bool {
        self.packages
            .iter()
            .all(|package| package.build_info().is_none())
    }

    /// Lists the data without a field in the formats, as pairs of a name and a value.
    pub fn properties(&self) -> Vec<Property> {
        // Each listed package has this property as well, but there may be no listed package.
        let contents = self.is_unknown().then(|| property("contents", UNKNOWN));
        let signers = self.signers.iter().map(|key| property("signed-by", key));
        let hashes = self
            .other_hashes
            .iter()
            .map(|(hash, evidence)| property(&format!("hash:{}", evidence.name()), hash));
        contents.into_iter().chain(signers).chain(hashes).collect()
    }
}

impl BilledPackage {
    /// Returns the build information of the program, if it is known and the program has any.
    pub(super) fn build_info(&self) -> Option<&BuildInfo> {
        self.contents.as_ref()?.build_info()
    }

    /// Returns the name of the package: the file name of the zip in the release.
    pub fn file_name(&self, (provider, version): &ReleaseId) -> String {
        let (name, platform) = (provider.type_name(), &self.platform);
        format!("terraform-provider-{name}_{version}_{platform}.zip")
    }

    /// Lists the data without a field in the formats, as pairs of a name and a value.
    pub fn properties(&self) -> Vec<Property> {
        let mut properties = vec![
            property("platform", &self.platform),
            property(&format!("hash:{}", self.zh.1.name()), &self.zh.0),
        ];
        if let Some((h1, evidence)) = &self.h1 {
            properties.push(property(&format!("hash:{}", evidence.name()), h1));
        }
        if let Some(size) = self.size {
            properties.push(property("size", size));
        }
        let Some(info) = self.build_info() else {
            properties.push(property("contents", UNKNOWN));
            return properties;
        };
        properties.push(property("contents", "go"));
        let main_module = info.main.as_ref();
        let stated = [
            (
                "go:main-module",
                main_module.map(|main| format!("{}@{}", main.path, main.version)),
            ),
            ("go:vcs-revision", info.commit().map(str::to_owned)),
            ("go:vcs-time", info.time().map(str::to_owned)),
            (
                "go:vcs-modified",
                info.is_dirty().map(|is_dirty| is_dirty.to_string()),
            ),
        ];
        for (name, value) in stated {
            properties.extend(value.map(|value| property(name, value)));
        }
        properties
    }
}

fn property(name: &str, value: impl std::fmt::Display) -> Property {
    (name.to_owned(), value.to_string())
}
