//! The manifests of a provider, and what of them counts (rules 14.5 to 14.7).

use serde::Deserialize;

use super::media::{MANIFEST, SHA256, TARGET, ZIP};
use crate::hash::{Digest, digest_of_hex, sha256};
use crate::platform::Platform;
use crate::sources::cut;

/// A manifest of either kind. A field that is missing or `null` is empty.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OciManifest {
    media_type: Option<String>,
    artifact_type: Option<String>,
    manifests: Option<Vec<Descriptor>>,
    /// Of an image manifest.
    layers: Option<Vec<Descriptor>>,
}

/// A reference to an object in a registry.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Descriptor {
    media_type: Option<String>,
    artifact_type: Option<String>,
    pub(super) digest: Option<String>,
    pub(super) size: Option<u64>,
    platform: Option<StatedPlatform>,
}

/// The platform of a manifest.
#[derive(Debug, Deserialize)]
struct StatedPlatform {
    os: Option<String>,
    architecture: Option<String>,
    #[serde(rename = "os.version")]
    os_version: Option<String>,
}

/// The value of a sound manifest, or in words how it differs from that of a provider.
type Checked<T> = Result<T, String>;

/// Checks that something has the value of a manifest of a provider.
pub(super) fn check(what: &str, found: &str, expected: &str) -> Checked<()> {
    if found == expected {
        return Ok(());
    }
    let found = cut(found);
    Err(format!("{what} {found:?}, not {expected}"))
}

/// Checks that a document has the digest that names it.
pub(super) fn check_content(body: &[u8], stated: &str) -> Checked<()> {
    if digest(stated)? == sha256(body) {
        return Ok(());
    }
    let stated = cut(stated);
    Err(format!("its content does not have the digest {stated}"))
}

/// Reads the digest that names something.
pub(super) fn digest(stated: &str) -> Checked<Digest> {
    // The digits of a digest are in lower case, else it is another name.
    stated
        .strip_prefix(SHA256)
        .filter(|digits| !digits.contains(|c: char| c.is_ascii_uppercase()))
        .and_then(digest_of_hex)
        .ok_or_else(|| {
            let digest = cut(stated);
            format!("it names something by {digest:?}, which is no SHA-256 digest")
        })
}

impl OciManifest {
    /// Checks that the document is of these types.
    pub(super) fn check(&self, media_type: &str, artifact_type: &str) -> Checked<()> {
        check("its mediaType is", text(&self.media_type), media_type)?;
        check(
            "its artifactType is",
            text(&self.artifact_type),
            artifact_type,
        )
    }

    /// Finds the manifest for a platform; `None` if there are only some for others.
    pub(super) fn entry(&self, platform: &Platform) -> Checked<Option<&Descriptor>> {
        let mut matching = Vec::new();
        let mut for_others = 0;
        // An index may hold other artifacts, such as signatures, beside the packages (rules 14.6).
        let is_package = |entry: &&Descriptor| text(&entry.artifact_type) == TARGET;
        for entry in self.manifests.iter().flatten().filter(is_package) {
            let what = "it lists a package with the mediaType";
            check(what, text(&entry.media_type), MANIFEST)?;
            let target = entry
                .platform
                .as_ref()
                .ok_or("it lists a package without its platform")?;
            if target.is_any_version() && target.is(platform) {
                matching.push(entry);
            } else {
                for_others += 1;
            }
        }
        match *matching {
            [] if for_others > 0 => Ok(None),
            [] => Err("it lists no package of a provider; it may be a container image".to_owned()),
            [only] => Ok(Some(only)),
            _ => Err(format!(
                "it lists {} packages for {platform}",
                matching.len()
            )),
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
        let zips: Vec<&Descriptor> = self
            .layers
            .iter()
            .flatten()
            .filter(|layer| layer.media_type.as_deref() == Some(ZIP))
            .collect();
        // Exactly one layer must be a zip; layers of other types are ignored (rules 14.7).
        let [only] = *zips else {
            let count = zips.len();
            return Err(format!(
                "it has {count} layers of the type archive/zip, not one"
            ));
        };
        match &only.platform {
            Some(target) if !target.is(platform) => {
                let found = cut(&target.name());
                Err(format!("its zip is for {found}, not for {platform}"))
            }
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
        format!("{}_{}", text(&self.os), text(&self.architecture))
    }
}

fn text(field: &Option<String>) -> &str {
    field.as_deref().unwrap_or_default()
}
