//! The manifests of a provider, and what of them counts (rules 14.5 to 14.7).

use serde::Deserialize;

use super::error::ArtifactFault;
use crate::hash::{Digest, Sha256Stream, digest_of_hex};
use crate::platform::Platform;
use crate::sources::cut;

/// The media type of a list of manifests.
pub(super) const INDEX: &str = "application/vnd.oci.image.index.v1+json";

/// The media type of the manifest of one package.
pub(super) const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";

/// The artifact type of the packages of a version.
const PROVIDER: &str = "application/vnd.opentofu.provider";

/// The artifact type of one package.
const TARGET: &str = "application/vnd.opentofu.provider-target";

/// The media type of a zip.
const ZIP: &str = "archive/zip";

/// Prefix of the digests that can be compared with a `zh:`.
const SHA256: &str = "sha256:";

/// A manifest of either kind. A field that is missing or `null` is empty.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Manifest {
    media_type: Option<String>,
    artifact_type: Option<String>,
    /// The manifests of an index.
    manifests: Option<Vec<Descriptor>>,
    /// Of an image manifest.
    layers: Option<Vec<Descriptor>>,
}

/// A reference to an object in a registry.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Descriptor {
    media_type: Option<String>,
    artifact_type: Option<String>,
    pub(super) digest: Option<String>,
    pub(super) size: Option<u64>,
    platform: Option<Target>,
}

/// The platform of a manifest.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Target {
    os: Option<String>,
    architecture: Option<String>,
    #[serde(rename = "os.version")]
    os_version: Option<String>,
}

type Checked<T> = Result<T, ArtifactFault>;

/// Checks what a tag leads to, by its content type.
pub(super) fn check_tagged(content_type: &str) -> Checked<()> {
    match content_type {
        INDEX => Ok(()),
        MANIFEST => Err(ArtifactFault::ImageManifest),
        other => Err(ArtifactFault::ContentType {
            found: cut(other),
            expected: INDEX,
        }),
    }
}

/// Checks the content type of an image manifest.
pub(super) fn check_image(content_type: &str) -> Checked<()> {
    match content_type {
        MANIFEST => Ok(()),
        other => Err(ArtifactFault::ContentType {
            found: cut(other),
            expected: MANIFEST,
        }),
    }
}

/// Checks that a document has the digest that names it.
pub(super) fn check_content(body: &[u8], stated: &str) -> Checked<()> {
    let mut stream = Sha256Stream::default();
    stream.update(body);
    if digest(stated)? == stream.finish() {
        return Ok(());
    }
    Err(ArtifactFault::OtherContent {
        stated: cut(stated),
    })
}

/// Reads the digest that names something.
pub(super) fn digest(stated: &str) -> Checked<Digest> {
    // The digits of a digest are in lower case, else it is another name.
    let digits = stated.strip_prefix(SHA256);
    let digits = digits.filter(|digits| !digits.contains(|c: char| c.is_ascii_uppercase()));
    let digest = digits.and_then(digest_of_hex);
    digest.ok_or_else(|| ArtifactFault::DigestAlgorithm {
        digest: cut(stated),
    })
}

impl Manifest {
    /// Checks that it is the index of the packages of a version.
    pub(super) fn check_index(&self) -> Checked<()> {
        self.check(INDEX, PROVIDER)
    }

    /// Checks that it is the manifest of one package.
    pub(super) fn check_target(&self) -> Checked<()> {
        self.check(MANIFEST, TARGET)
    }

    fn check(&self, media_type: &'static str, artifact_type: &'static str) -> Checked<()> {
        if self.media_type.as_deref() != Some(media_type) {
            return Err(ArtifactFault::MediaType {
                found: shown(self.media_type.as_deref()),
                expected: media_type,
            });
        }
        if self.artifact_type.as_deref() != Some(artifact_type) {
            return Err(ArtifactFault::ArtifactType {
                found: shown(self.artifact_type.as_deref()),
                expected: artifact_type,
            });
        }
        Ok(())
    }

    /// Finds the manifest for a platform; `None` if there are only some for others.
    pub(super) fn entry(&self, platform: &Platform) -> Checked<Option<&Descriptor>> {
        let mut found = Vec::new();
        let mut for_others = 0;
        let mut foreign = None;
        for entry in self.manifests.iter().flatten() {
            let artifact_type = entry.artifact_type.as_deref().unwrap_or_default();
            if artifact_type != TARGET {
                foreign = Some(artifact_type)
                    .filter(|one| !one.is_empty())
                    .or(foreign);
                continue;
            }
            if entry.media_type.as_deref() != Some(MANIFEST) {
                return Err(ArtifactFault::EntryMediaType {
                    found: shown(entry.media_type.as_deref()),
                    expected: MANIFEST,
                });
            }
            let target = entry.platform.as_ref().ok_or(ArtifactFault::NoPlatform)?;
            match target.is_any_version() && target.is(platform) {
                true => found.push(entry),
                false => for_others += 1,
            }
        }
        match *found {
            [] if for_others > 0 => Ok(None),
            [] => Err(ArtifactFault::NoPackages {
                found: foreign.map(cut),
            }),
            [only] => Ok(Some(only)),
            _ => Err(ArtifactFault::Ambiguous {
                count: found.len(),
                platform: platform.clone(),
            }),
        }
    }

    /// Lists the platforms that there are manifests for, sorted, at most so many.
    pub(super) fn platforms(&self, limit: usize) -> Vec<Platform> {
        let entries = self.manifests.iter().flatten();
        let targets = entries
            .filter(|entry| entry.artifact_type.as_deref() == Some(TARGET))
            .filter_map(|entry| entry.platform.as_ref())
            .filter(|target| target.is_any_version());
        let platforms = targets.filter_map(|target| target.name().parse().ok());
        let mut platforms: Vec<Platform> = platforms.take(limit).collect();
        platforms.sort();
        platforms.dedup();
        platforms
    }

    /// Finds the only zip, which must not be for another platform.
    pub(super) fn zip(&self, platform: &Platform) -> Checked<&Descriptor> {
        let layers = self.layers.as_deref().unwrap_or_default();
        let is_zip = |layer: &&Descriptor| layer.media_type.as_deref() == Some(ZIP);
        let zips: Vec<&Descriptor> = layers.iter().filter(is_zip).collect();
        let only = match *zips {
            [only] => only,
            [] => {
                return Err(ArtifactFault::NoZip {
                    has_others: !layers.is_empty(),
                });
            }
            _ => return Err(ArtifactFault::SeveralZips { count: zips.len() }),
        };
        match &only.platform {
            Some(target) if !target.is(platform) => Err(ArtifactFault::OtherPlatform {
                found: cut(&target.name()),
                wanted: platform.clone(),
            }),
            _ => Ok(only),
        }
    }
}

impl Target {
    fn is(&self, platform: &Platform) -> bool {
        self.name() == platform.to_string()
    }

    /// Returns whether it is for every version of its system; the others are passed over.
    fn is_any_version(&self) -> bool {
        self.os_version.as_deref().is_none_or(str::is_empty)
    }

    fn name(&self) -> String {
        let part = |part: &Option<String>| part.clone().unwrap_or_default();
        format!("{}_{}", part(&self.os), part(&self.architecture))
    }
}

/// Returns what a message repeats of a field.
fn shown(field: Option<&str>) -> String {
    cut(field.unwrap_or_default())
}
