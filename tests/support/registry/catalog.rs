//! The packages that a registry offers.

use std::collections::BTreeMap;

use hyper::body::Bytes;
use lockctl::archive::Limits;
use lockctl::archive::zip::hash_zip;

use super::sums::sha256_hex;

/// All providers, by `namespace/type` in lower case.
#[derive(Debug, Default)]
pub(crate) struct Catalog {
    providers: BTreeMap<String, Provider>,
}

/// A provider: its versions in the order of their publication.
#[derive(Debug, Default)]
pub(crate) struct Provider {
    pub(crate) releases: Vec<Release>,
}

/// One version of a provider.
#[derive(Debug)]
pub(crate) struct Release {
    pub(crate) version: String,
    pub(crate) protocols: Vec<String>,
    /// By platform, in the order of their publication.
    pub(crate) packages: Vec<(String, Package)>,
    sums: Option<Vec<u8>>,
    /// What is served as it is, whatever the knobs say.
    pub(crate) evidence: Option<Evidence>,
    pub(crate) dates: Dates,
}

/// What is said of the date of a version.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dates {
    /// How many hours ago it was signed, rather than one hour ago; below 0 for the future.
    pub(crate) signed_hours_ago: Option<i64>,
    /// `Last-Modified` of its SHA256SUMS.
    pub(crate) sums_changed: Option<String>,
    /// `Last-Modified` of its packages.
    pub(crate) package_changed: Option<String>,
    /// `published_at` of the document of the version; without it there is no such document.
    pub(crate) published_at: Option<String>,
}

/// What speaks for the packages of a version.
#[derive(Clone, Debug)]
pub(crate) struct Evidence {
    /// The SHA256SUMS document.
    pub(crate) sums: Vec<u8>,
    pub(crate) signature: Vec<u8>,
    /// The armored keys, in the order of their announcement.
    pub(crate) keys: Vec<String>,
}

/// One zip.
#[derive(Clone, Debug)]
pub(crate) struct Package {
    pub(crate) bytes: Bytes,
    pub(crate) sha256: String,
}

impl Catalog {
    /// Publishes a zip.
    pub(crate) fn add_zip(&mut self, source: &str, version: &str, platform: &str, bytes: &[u8]) {
        let release = self.release_mut(source, version);
        release.packages.retain(|(known, _)| known != platform);
        let package = Package {
            bytes: Bytes::copy_from_slice(bytes),
            sha256: sha256_hex(bytes),
        };
        release.packages.push((platform.to_owned(), package));
    }

    /// States the protocols of a version.
    pub(crate) fn set_protocols(&mut self, source: &str, version: &str, protocols: &[&str]) {
        let protocols = protocols.iter().map(|text| (*text).to_owned());
        self.release_mut(source, version).protocols = protocols.collect();
    }

    /// Serves this document in place of the one made of the packages; it is signed like that one.
    pub(crate) fn replace_sums(&mut self, source: &str, version: &str, sums: &[u8]) {
        self.release_mut(source, version).sums = Some(sums.to_vec());
    }

    /// Serves this evidence in place of the document, signature and keys of the knobs.
    pub(crate) fn replace_evidence(&mut self, source: &str, version: &str, evidence: Evidence) {
        self.release_mut(source, version).evidence = Some(evidence);
    }

    /// States dates of a version.
    pub(crate) fn set_dates(&mut self, source: &str, version: &str, dates: Dates) {
        self.release_mut(source, version).dates = dates;
    }

    pub(crate) fn provider(&self, source: &str) -> Option<&Provider> {
        self.providers.get(source)
    }

    pub(crate) fn release(&self, source: &str, version: &str) -> Option<&Release> {
        let releases = &self.providers.get(source)?.releases;
        releases.iter().find(|release| release.version == version)
    }

    fn release_mut(&mut self, source: &str, version: &str) -> &mut Release {
        let provider = self.providers.entry(source.to_lowercase()).or_default();
        let known = |release: &Release| release.version == version;
        let at = provider.releases.iter().position(known).unwrap_or_else(|| {
            provider.releases.push(Release {
                version: version.to_owned(),
                protocols: vec!["5.0".to_owned()],
                packages: Vec::new(),
                sums: None,
                evidence: None,
                dates: Dates::default(),
            });
            provider.releases.len() - 1
        });
        &mut provider.releases[at]
    }
}

impl Release {
    pub(crate) fn package(&self, platform: &str) -> Option<&Package> {
        let mut packages = self.packages.iter();
        packages.find_map(|(known, package)| (known == platform).then_some(package))
    }

    /// The SHA256SUMS document, sorted by file name.
    pub(crate) fn sums(&self, type_name: &str) -> Vec<u8> {
        if let Some(sums) = &self.sums {
            return sums.clone();
        }
        let mut lines: Vec<(String, &str)> = self
            .packages
            .iter()
            .map(|(platform, package)| {
                let name = zip_name(type_name, &self.version, platform);
                (name, package.sha256.as_str())
            })
            .collect();
        lines.sort();
        let spell = |(name, hash)| format!("{hash}  {name}\n");
        lines.into_iter().map(spell).collect::<String>().into()
    }
}

impl Package {
    pub(crate) fn zh(&self) -> String {
        format!("zh:{}", self.sha256)
    }

    pub(crate) fn h1(&self) -> String {
        let reader = std::io::Cursor::new(&self.bytes);
        hash_zip(reader, &Limits::PACKAGE).unwrap().h1.to_string()
    }
}

/// The file name of a package.
pub(crate) fn zip_name(type_name: &str, version: &str, platform: &str) -> String {
    format!("terraform-provider-{type_name}_{version}_{platform}.zip")
}
