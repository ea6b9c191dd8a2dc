//! The documents of an OCI image layout, with the manifests that OpenTofu expects (`sources` rules 14.5 to 14.7).
//!
//! They hold no time and no name of a machine, so the same packages always have the same documents.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::hash::{self, Hash};
use crate::platform::Platform;
use crate::sources::oci::media::{self, INDEX, MANIFEST, PROVIDER, SHA256, TARGET, ZIP};
use crate::version::Version;

/// The annotation that carries the tag of a manifest.
const TAG: &str = "org.opencontainers.image.ref.name";

/// The annotation with the file name of a layer; `oras pull` writes the file under that name.
const FILE_NAME: &str = "org.opencontainers.image.title";

/// The media type of an empty configuration.
const EMPTY: &str = "application/vnd.oci.empty.v1+json";

/// The content of the file `oci-layout`.
pub(super) const MARKER: &[u8] = br#"{"imageLayoutVersion":"1.0.0"}"#;

/// A document that is stored as a blob.
pub(super) struct LayoutDocument {
    /// The hash that names it, spelled as that of a zip.
    pub(super) name: Hash,
    pub(super) text: Vec<u8>,
}

/// A blob that a descriptor refers to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct BlobName {
    /// The hash that names it, spelled as that of a zip.
    pub(super) name: Hash,
    pub(super) bytes: u64,
}

impl LayoutDocument {
    fn of(text: Vec<u8>) -> Self {
        Self {
            name: hash::zh_of_digest(&hash::sha256(&text)),
            text,
        }
    }

    pub(super) fn blob(&self) -> BlobName {
        BlobName {
            name: self.name.clone(),
            bytes: self.text.len() as u64,
        }
    }
}

/// Makes the configuration that every manifest of an artifact refers to.
pub(super) fn configuration() -> LayoutDocument {
    LayoutDocument::of(b"{}".to_vec())
}

/// Makes the manifest of one package.
pub(super) fn package_manifest(zip: &BlobName, file_name: &str) -> LayoutDocument {
    let configuration = configuration();
    LayoutDocument::of(compact(&json!({
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "artifactType": TARGET,
        "config": {
            "mediaType": EMPTY,
            "digest": digest(&configuration.name),
            "size": configuration.text.len(),
        },
        "layers": [{
            "mediaType": ZIP,
            "digest": digest(&zip.name),
            "size": zip.bytes,
            "annotations": { FILE_NAME: file_name },
        }],
    })))
}

/// Makes the entry of a package in the index of its version.
pub(super) fn package_entry(manifest: &LayoutDocument, platform: &Platform) -> Value {
    json!({
        "mediaType": MANIFEST,
        "artifactType": TARGET,
        "digest": digest(&manifest.name),
        "size": manifest.text.len(),
        "platform": { "architecture": platform.arch(), "os": platform.os() },
    })
}

/// Makes the index of a version.
pub(super) fn version_index(entries: &[Value]) -> LayoutDocument {
    LayoutDocument::of(compact(&json!({
        "schemaVersion": 2,
        "mediaType": INDEX,
        "artifactType": PROVIDER,
        "manifests": entries,
    })))
}

/// The descriptors of an index.
#[derive(Debug)]
pub(super) struct Descriptors<K> {
    /// Those of packages by platform, or the tags of versions.
    pub(super) keyed: BTreeMap<K, Value>,
    /// All others, such as signatures, and tags that are no versions, in their order.
    pub(super) others: Vec<Value>,
}

impl<K: Ord> Descriptors<K> {
    /// Reads an index; text that is not an index has no descriptors.
    fn parse(text: &[u8], key: impl Fn(&Value) -> Option<K>) -> Self {
        let (mut keyed, mut others) = (BTreeMap::new(), Vec::new());
        let mut document: Value = serde_json::from_slice(text).unwrap_or_default();
        if let Some(Value::Array(manifests)) = document.get_mut("manifests").map(Value::take) {
            for descriptor in manifests {
                match key(&descriptor) {
                    Some(key) => drop(keyed.insert(key, descriptor)),
                    None => others.push(descriptor),
                }
            }
        }
        Self { keyed, others }
    }

    /// Returns all descriptors: others first, then the rest in the order of the keys.
    pub(super) fn all(&self) -> Vec<Value> {
        self.others
            .iter()
            .chain(self.keyed.values())
            .cloned()
            .collect()
    }
}

/// Reads the index of a version: its packages by platform.
pub(super) fn packages(text: &[u8]) -> Descriptors<Platform> {
    Descriptors::parse(text, platform)
}

/// Reads `index.json` of a layout: the index that the tag of each version leads to.
pub(super) fn tags(text: &[u8]) -> Descriptors<Version> {
    Descriptors::parse(text, |descriptor| {
        media::version(descriptor["annotations"][TAG].as_str()?)
    })
}

impl Descriptors<Version> {
    /// Points the tag of a version to an index.
    pub(super) fn set(&mut self, version: &Version, index: &LayoutDocument) {
        let descriptor = json!({
            "mediaType": INDEX,
            "artifactType": PROVIDER,
            "digest": digest(&index.name),
            "size": index.text.len(),
            "annotations": { TAG: media::tag(version) },
        });
        self.keyed.insert(version.clone(), descriptor);
    }

    pub(super) fn text(&self) -> Vec<u8> {
        compact(&json!({
            "schemaVersion": 2,
            "mediaType": INDEX,
            "manifests": self.all(),
        }))
    }
}

/// Returns every blob that a descriptor or a document refers to, at any depth.
pub(super) fn references(value: &Value) -> Vec<BlobName> {
    // `serde_json` refuses text with 128 levels and more, which bounds the recursion.
    // Documents of other tools may have unknown fields.
    let below: Vec<&Value> = match value {
        Value::Array(items) => items.iter().collect(),
        Value::Object(fields) => fields.values().collect(),
        _ => Vec::new(),
    };
    blob(value)
        .into_iter()
        .chain(below.into_iter().flat_map(references))
        .collect()
}

/// Returns the blob that a descriptor refers to; `None` for other values, or if the digest is not a SHA-256.
pub(super) fn blob(descriptor: &Value) -> Option<BlobName> {
    let digits = descriptor["digest"].as_str()?.strip_prefix(SHA256)?;
    let name = hash::zh_of_digest(&hash::digest_of_hex(digits)?);
    // Digits in upper case would be another file name, which no blob has.
    (name.value() == digits).then_some(BlobName {
        name,
        bytes: descriptor["size"].as_u64()?,
    })
}

/// Returns the platform of the entry of a package; `None` for other entries, which OpenTofu ignores.
fn platform(entry: &Value) -> Option<Platform> {
    let platform = &entry["platform"];
    if entry["artifactType"] != TARGET || !platform["os.version"].is_null() {
        return None;
    }
    let (os, arch) = (platform["os"].as_str()?, platform["architecture"].as_str()?);
    format!("{os}_{arch}").parse().ok()
}

fn digest(name: &Hash) -> String {
    format!("{SHA256}{}", name.value())
}

fn compact(document: &Value) -> Vec<u8> {
    serde_json::to_vec(document).expect("text, numbers and maps with keys of text")
}
