//! The content of a bill: roots, the releases that they lock, and the packages of these.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::modules::BilledModule;
use crate::addr::ProviderAddr;
use crate::contents::ProgramContents;
use crate::hash::{Hash, Hashes, Scheme};
use crate::package::{Fact, Provenance, ReleaseFact};
use crate::platform::Platform;
use crate::version::Version;

/// The value of the property `contents` where nobody knows them.
const UNKNOWN: &str = "unknown";

/// A name and a value: what formats have no field for.
pub(super) type Property = (String, String);

/// The name of a release: a provider and its version.
pub type ReleaseId = (ProviderAddr, Version);

/// A bill of materials, before it has the form of any format.
#[derive(Clone, Debug, Default)]
pub struct Bill {
    /// The roots by name.
    pub roots: BTreeMap<String, BilledRoot>,
    pub releases: BTreeMap<ReleaseId, BilledRelease>,
    /// The names of roots whose lock files could not be read, so that the bill lacks them.
    pub left_out: BTreeSet<String>,
}

/// A root with the releases that it locks.
#[derive(Clone, Debug)]
pub struct BilledRoot {
    /// The path of its lock file, from the top of the repository.
    pub lock_file: String,
    pub releases: BTreeSet<ReleaseId>,
}

/// A locked release, with what facts say about its hashes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BilledRelease {
    /// The packages whose platform is known.
    pub packages: BTreeSet<BilledPackage>,
    /// The recorded hashes that belong to no known package, with their evidence.
    pub other_hashes: BTreeMap<Hash, Provenance>,
    /// The fingerprints of the keys that signed the release.
    pub signers: BTreeSet<String>,
}

/// A package of a release.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BilledPackage {
    pub platform: Platform,
    /// The SHA-256 of the zip.
    pub zh: (Hash, Provenance),
    /// The hash of the files in it, if it is known.
    pub h1: Option<(Hash, Provenance)>,
    /// The length of the zip in bytes, if it is known.
    pub size: Option<u64>,
    pub contents: BilledContents,
}

/// The program of a package, as far as anybody read it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BilledContents {
    /// Nobody read it, or no fact that counts says so.
    NotRead,
    /// The program was read, and it says nothing about itself.
    Silent,
    /// A program of Go.
    Go {
        main_module: Option<String>,
        commit: Option<String>,
        time: Option<String>,
        is_dirty: Option<bool>,
        modules: BTreeSet<BilledModule>,
    },
}

/// The facts about a release that count.
pub struct ReleaseEvidence<'a> {
    pub release: Option<&'a ReleaseFact>,
    /// Returns the fact about the zip of a `zh:`.
    pub fact: &'a dyn Fn(&Hash) -> Option<Fact>,
    /// Returns the contents of the program in the zip of a `zh:`.
    pub contents: &'a dyn Fn(&Hash) -> Option<Arc<ProgramContents>>,
}

impl Bill {
    /// Returns every module of every package.
    #[must_use]
    pub fn modules(&self) -> BTreeSet<BilledModule> {
        self.releases
            .values()
            .flat_map(|release| &release.packages)
            .flat_map(BilledPackage::modules)
            .cloned()
            .collect()
    }

    /// Counts the releases with a package whose contents nobody read, or without any known package.
    #[must_use]
    pub fn unread(&self) -> usize {
        self.releases
            .values()
            .filter(|release| !release.is_read())
            .count()
    }
}

impl BilledRelease {
    /// Sorts the recorded hashes of a release by the packages that facts attribute them to.
    #[must_use]
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
            // A signed list names platforms, too, so a package is known before anybody downloaded it.
            let listed = release.and_then(|release| release.packages.get(zh));
            let platform = match (&fact, listed) {
                (Some(fact), _) => &fact.id.platform,
                (None, Some(package)) => &package.platform,
                // It stays among the other hashes: the zip may be that of any platform.
                (None, None) => continue,
            };
            let zh_evidence = match (is_signed(zh), &fact) {
                (true, _) => Provenance::Signed,
                (false, Some(_)) => Provenance::Computed,
                (false, None) => Provenance::Kept,
            };
            // An `h1:` follows from the bytes of the zip, so it is as good as the hash of these.
            let h1_evidence = match zh_evidence {
                Provenance::Signed => Provenance::Proven,
                other => other,
            };
            let h1 = fact
                .as_ref()
                .map(|fact| &fact.h1)
                .or(listed.and_then(|package| package.h1.as_ref()));
            billed.packages.insert(BilledPackage {
                platform: platform.clone(),
                zh: (zh.clone(), zh_evidence),
                h1: h1.map(|h1| (h1.clone(), h1_evidence)),
                size: fact.as_ref().map(|fact| fact.size),
                contents: BilledContents::of((evidence.contents)(zh).as_deref()),
            });
        }
        for hash in hashes.iter() {
            if billed.explains(hash) {
                continue;
            }
            // No list has an `h1:`: that of a listed package whose zip the lock file does not name was computed.
            let evidence = match (is_signed(hash), hash.scheme()) {
                (true, Scheme::H1) => Provenance::Proven,
                (true, _) => Provenance::Signed,
                (false, _) => Provenance::Kept,
            };
            billed.other_hashes.insert(hash.clone(), evidence);
        }
        billed
    }

    /// Returns true if a hash is that of a known package.
    fn explains(&self, hash: &Hash) -> bool {
        self.packages
            .iter()
            .flat_map(|package| std::iter::once(&package.zh).chain(&package.h1))
            .any(|(known, _)| known == hash)
    }

    /// Returns true if there are packages, and the contents of all of them were read.
    #[must_use]
    pub fn is_read(&self) -> bool {
        let unread = |package: &BilledPackage| package.contents == BilledContents::NotRead;
        // Without the first condition, a release of which no package is known would count as read completely.
        !self.packages.is_empty() && !self.packages.iter().any(unread)
    }

    /// Returns true if nothing is known of the contents of any package.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        let is_known =
            |package: &BilledPackage| matches!(package.contents, BilledContents::Go { .. });
        !self.packages.iter().any(is_known)
    }

    /// Lists what no field of a format has a place for, as pairs of a name and a value.
    #[must_use]
    pub fn properties(&self) -> Vec<Property> {
        // Where packages are listed, each says so itself; a release without any must say it here.
        let contents = self.is_unknown().then(|| property("contents", UNKNOWN));
        let signers = self.signers.iter().map(|key| property("signed-by", key));
        let hashes = self
            .other_hashes
            .iter()
            .map(|(hash, evidence)| property(&format!("hash:{}", word(*evidence)), hash));
        contents.into_iter().chain(signers).chain(hashes).collect()
    }
}

impl BilledPackage {
    /// Iterates over the modules of its program; there are none if its contents are unknown.
    pub fn modules(&self) -> impl Iterator<Item = &BilledModule> {
        let modules = match &self.contents {
            BilledContents::Go { modules, .. } => Some(modules),
            BilledContents::NotRead | BilledContents::Silent => None,
        };
        modules.into_iter().flatten()
    }

    /// Returns the name of the package: that of the zip, as releases have it.
    #[must_use]
    pub fn file_name(&self, (provider, version): &ReleaseId) -> String {
        let (name, platform) = (provider.type_name(), &self.platform);
        format!("terraform-provider-{name}_{version}_{platform}.zip")
    }

    /// Lists what no field of a format has a place for, as pairs of a name and a value.
    #[must_use]
    pub fn properties(&self) -> Vec<Property> {
        let mut properties = vec![
            property("platform", &self.platform),
            property(&format!("hash:{}", word(self.zh.1)), &self.zh.0),
        ];
        if let Some((h1, evidence)) = &self.h1 {
            properties.push(property(&format!("hash:{}", word(*evidence)), h1));
        }
        if let Some(size) = self.size {
            properties.push(property("size", size));
        }
        properties.extend(self.contents.properties());
        properties
    }
}

impl BilledContents {
    fn of(contents: Option<&ProgramContents>) -> Self {
        let Some(contents) = contents else {
            return Self::NotRead;
        };
        let Some(info) = contents.build_info() else {
            return Self::Silent;
        };
        let main_module = info.main.as_ref();
        Self::Go {
            main_module: main_module.map(|main| format!("{}@{}", main.path, main.version)),
            commit: info.commit().map(str::to_owned),
            time: info.time().map(str::to_owned),
            is_dirty: info.is_dirty(),
            modules: BilledModule::all_of(info),
        }
    }

    fn properties(&self) -> Vec<Property> {
        let Self::Go {
            main_module,
            commit,
            time,
            is_dirty,
            ..
        } = self
        else {
            return vec![property("contents", UNKNOWN)];
        };
        let dirty = is_dirty.map(|is_dirty| is_dirty.to_string());
        let stated = [
            ("go:main-module", main_module),
            ("go:vcs-revision", commit),
            ("go:vcs-time", time),
            ("go:vcs-modified", &dirty),
        ];
        std::iter::once(property("contents", "go"))
            .chain(
                stated
                    .into_iter()
                    .filter_map(|(name, value)| Some(property(name, value.as_ref()?))),
            )
            .collect()
    }
}

fn property(name: &str, value: impl std::fmt::Display) -> Property {
    (name.to_owned(), value.to_string())
}

/// Returns the word for a kind of evidence, as all output of the program has it.
fn word(evidence: Provenance) -> &'static str {
    match evidence {
        Provenance::Signed => "signed",
        Provenance::Proven => "proven",
        Provenance::Computed => "computed",
        Provenance::Claimed => "claimed",
        Provenance::Kept => "kept",
    }
}
