//! The manifests of a provider, and what of them counts (rules 14.5 to 14.7).

use serde::Deserialize;

use super::error::{ArtifactFault, no_provider};
use super::media::{INDEX, MANIFEST, PROVIDER, SHA256, TARGET, ZIP};
use crate::hash::{Digest, digest_of_hex, sha256};
use crate::platform::Platform;
use crate::sources::cut;

/// A manifest of either kind. A field that is missing or `null` is empty.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct OciManifest {
    media_type: Option<String>,
    artifact_type: Option<String>,
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
    platform: Option<StatedPlatform>,
}

/// The platform of a manifest.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct StatedPlatform {
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
        MANIFEST => Err(ArtifactFault::NoProvider(
            "the tag names an image manifest, not an index of the packages of all platforms"
                .to_owned(),
        )),
        other => Err(no_provider("its content type is", other, INDEX)),
    }
}

/// Checks the content type of an image manifest.
pub(super) fn check_image(content_type: &str) -> Checked<()> {
    match content_type {
        MANIFEST => Ok(()),
        other => Err(no_provider("its content type is", other, MANIFEST)),
    }
}

/// Checks that a document has the digest that names it.
pub(super) fn check_content(body: &[u8], stated: &str) -> Checked<()> {
    if digest(stated)? == sha256(body) {
        return Ok(());
    }
    Err(ArtifactFault::OtherContent {
        stated: cut(stated),
    })
}

/// Reads the digest that names something.
pub(super) fn digest(stated: &str) -> Checked<Digest> {
    // The digits of a digest are in lower case, else it is another name.
    stated
        .strip_prefix(SHA256)
        .filter(|digits| !digits.contains(|c: char| c.is_ascii_uppercase()))
        .and_then(digest_of_hex)
        .ok_or_else(|| ArtifactFault::DigestAlgorithm {
            digest: cut(stated),
        })
}

impl OciManifest {
    /// Checks that it is the index of the packages of a version.
    pub(super) fn check_index(&self) -> Checked<()> {
        self.check(INDEX, PROVIDER)
    }

    /// Checks that it is the manifest of one package.
    pub(super) fn check_target(&self) -> Checked<()> {
        self.check(MANIFEST, TARGET)
    }

    fn check(&self, media_type: &str, artifact_type: &str) -> Checked<()> {
        for (field, value, expected) in [
            ("mediaType", &self.media_type, media_type),
            ("artifactType", &self.artifact_type, artifact_type),
        ] {
            let value = value.as_deref().unwrap_or_default();
            if value != expected {
                return Err(no_provider(&format!("its {field} is"), value, expected));
            }
        }
        Ok(())
    }

    /// Finds the manifest for a platform; `None` if there are only some for others.
    pub(super) fn entry(&self, platform: &Platform) -> Checked<Option<&Descriptor>> {
        let mut matching = Vec::new();
        let mut for_others = 0;
        let mut foreign = None;
        for entry in self.manifests.iter().flatten() {
            let artifact_type = entry.artifact_type.as_deref().unwrap_or_default();
            // An index may hold other artifacts, such as signatures, beside the packages (rules 14.6).
            if artifact_type != TARGET {
                if !artifact_type.is_empty() {
                    foreign = Some(artifact_type);
                }
                continue;
            }
            let media_type = entry.media_type.as_deref().unwrap_or_default();
            if media_type != MANIFEST {
                let what = "it lists a package with the mediaType";
                return Err(no_provider(what, media_type, MANIFEST));
            }
            let target = entry.platform.as_ref().ok_or_else(|| {
                ArtifactFault::NoProvider("it lists a package without its platform".to_owned())
            })?;
            if target.is_any_version() && target.is(platform) {
                matching.push(entry);
            } else {
                for_others += 1;
            }
        }
        match *matching {
            [] if for_others > 0 => Ok(None),
            [] => Err(ArtifactFault::NoProvider(match foreign {
                Some(found) => format!(
                    "it lists no package of a provider, but one of the artifactType {:?}",
                    cut(found)
                ),
                None => "it lists no package of a provider; it may be a container image".to_owned(),
            })),
            [only] => Ok(Some(only)),
            _ => Err(ArtifactFault::Ambiguous {
                count: matching.len(),
                platform: platform.clone(),
            }),
        }
    }

    /// Returns the platforms with a manifest, sorted, at most `limit`.
    pub(super) fn platforms(&self, limit: usize) -> Vec<Platform> {
        let mut platforms: Vec<Platform> = self
            .manifests
            .iter()
            .flatten()
            .filter(|entry| entry.artifact_type.as_deref() == Some(TARGET))
            .filter_map(|entry| entry.platform.as_ref())
            .filter(|target| target.is_any_version())
            .filter_map(|target| target.name().parse().ok())
            .take(limit)
            .collect();
        platforms.sort();
        platforms.dedup();
        platforms
    }

    /// Finds the only zip, which must not be for another platform.
    pub(super) fn zip(&self, platform: &Platform) -> Checked<&Descriptor> {
        let layers = self.layers.as_deref().unwrap_or_default();
        let zips: Vec<&Descriptor> = layers
            .iter()
            .filter(|layer| layer.media_type.as_deref() == Some(ZIP))
            .collect();
        // Exactly one layer must be a zip; layers of other types are ignored (rules 14.7).
        let only = match *zips {
            [only] => only,
            [] => {
                let others = if layers.is_empty() {
                    ""
                } else {
                    ", but others"
                };
                return Err(ArtifactFault::NoProvider(format!(
                    "it has no layer of the type archive/zip{others}"
                )));
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

impl StatedPlatform {
    fn is(&self, platform: &Platform) -> bool {
        self.name() == platform.to_string()
    }

    /// Returns true if it is for every version of its system; the programs skip the others (rules 14.6).
    fn is_any_version(&self) -> bool {
        self.os_version.as_deref().is_none_or(str::is_empty)
    }

    fn name(&self) -> String {
        let part = |part: &Option<String>| part.clone().unwrap_or_default();
        format!("{}_{}", part(&self.os), part(&self.architecture))
    }
}
