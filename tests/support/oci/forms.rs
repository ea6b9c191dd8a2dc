//! What is published, and which mistakes there can be in it.

use serde_json::{Value, json};

use super::Repository;
use crate::registry::sha256_hex;

const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const DOCKER_LIST: &str = "application/vnd.docker.distribution.manifest.list.v2+json";
const PROVIDER: &str = "application/vnd.opentofu.provider";
const TARGET: &str = "application/vnd.opentofu.provider-target";
const OTHER: &str = "application/vnd.example.thing";

/// All forms: as it should be, and one deliberate mistake each.
pub(crate) const FORMS: [&str; 38] = [
    "ok",
    "tag_is_manifest",
    "tag_is_plain_manifest",
    "tag_is_module",
    "docker_list",
    "index_no_type",
    "index_other_type",
    "index_no_media_type",
    "entries_no_type",
    "entries_other_type",
    "entry_no_platform",
    "entry_os_version",
    "entry_variant",
    "entry_twice",
    "entry_extra_foreign",
    "entry_wrong_media",
    "entry_is_index",
    "manifest_no_type",
    "manifest_other_type",
    "manifest_flip",
    "manifest_gone",
    "index_flip",
    "index_big",
    "index_4m",
    "no_layers",
    "layer_other_media",
    "layer_extra_other",
    "layer_twice",
    "layer_sha512",
    "layer_platform",
    "layer_url",
    "blob_flip",
    "blob_short",
    "blob_long",
    "blob_gone",
    "blob_size_small",
    "zip_other_platform",
    "not_zip",
];

/// The platform whose package has the mistake.
const WANTED: &str = "linux_amd64";

/// Publishes packages under a tag.
pub(super) fn publish(
    repository: &mut Repository,
    tag: &str,
    packages: &[(&str, Vec<u8>)],
    form: &str,
) {
    assert!(FORMS.contains(&form), "{form}");
    let mut entries = Vec::new();
    for (platform, zip) in packages {
        let own_form = if *platform == WANTED { form } else { "ok" };
        let mut zip = zip.clone();
        match own_form {
            "not_zip" => zip = b"no zip at all".to_vec(),
            "zip_other_platform" => {
                let mut others = packages.iter().filter(|(other, _)| *other != WANTED);
                zip = others.next().unwrap().1.clone();
            }
            _ => {}
        }
        let layers = layers(repository, zip, own_form);
        let (digest, length) = put_image(repository, layers, own_form);
        if ["tag_is_manifest", "tag_is_plain_manifest", "tag_is_module"].contains(&own_form) {
            repository.tags.insert(tag.to_owned(), digest);
            return;
        }
        entries.extend(entries_of(platform, &digest, length, own_form));
    }
    for entry in &mut entries {
        match form {
            "entries_no_type" => remove(entry, "artifactType"),
            "entries_other_type" => entry["artifactType"] = OTHER.into(),
            _ => {}
        }
    }
    let digest = put_index(repository, entries, form);
    repository.tags.insert(tag.to_owned(), digest);
}

/// Puts a zip; returns the layers of its image manifest.
fn layers(repository: &mut Repository, zip: Vec<u8>, form: &str) -> Value {
    let mut size = zip.len();
    let digest = match form {
        "layer_sha512" => format!("sha512:{0}{0}", sha256_hex(&zip)),
        _ => digest(&zip),
    };
    let mut body = zip;
    match form {
        "blob_flip" => body[40] ^= 0xff,
        "blob_short" => body.truncate(size - 7),
        "blob_long" => body.extend(b"trailing"),
        "blob_size_small" => size -= 5,
        _ => {}
    }
    let body = Some(body).filter(|_| form != "blob_gone");
    repository.blobs.insert(digest.clone(), body);
    let mut layer = json!({ "mediaType": "archive/zip", "digest": digest, "size": size });
    match form {
        "layer_platform" => {
            layer["platform"] = json!({ "os": "plan9", "architecture": "mips" });
        }
        "layer_url" => layer["urls"] = json!(["https://elsewhere.test/x.zip"]),
        _ => {}
    }
    let tar = json!({
        "mediaType": "application/vnd.oci.image.layer.v1.tar+gzip",
        "digest": self::digest(b"tar"),
        "size": 3,
    });
    match form {
        "no_layers" => json!([]),
        "layer_other_media" => json!([tar]),
        "layer_extra_other" => json!([tar, layer]),
        "layer_twice" => json!([layer, layer]),
        _ => json!([layer]),
    }
}

/// Puts the image manifest of a package; returns its digest and length.
fn put_image(repository: &mut Repository, layers: Value, form: &str) -> (String, usize) {
    let mut manifest = json!({
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "artifactType": TARGET,
        "layers": layers,
    });
    let mut content_type = MANIFEST;
    match form {
        "manifest_no_type" | "tag_is_plain_manifest" => remove(&mut manifest, "artifactType"),
        "manifest_other_type" => manifest["artifactType"] = OTHER.into(),
        "tag_is_module" => manifest["artifactType"] = "application/vnd.opentofu.modulepkg".into(),
        "entry_is_index" => {
            content_type = INDEX;
            manifest["mediaType"] = INDEX.into();
            remove(&mut manifest, "layers");
            manifest["manifests"] = json!([]);
        }
        _ => {}
    }
    let body = manifest.to_string();
    let (digest, length) = (digest(body.as_bytes()), body.len());
    let body = match form {
        "manifest_flip" => body.replace("schemaVersion", "sChemaVersion"),
        _ => body,
    };
    if form != "manifest_gone" {
        let manifest = (content_type.to_owned(), body.into_bytes());
        repository.manifests.insert(digest.clone(), manifest);
    }
    (digest, length)
}

fn entries_of(platform: &str, digest: &str, size: usize, form: &str) -> Vec<Value> {
    let (os, architecture) = platform.split_once('_').unwrap();
    let mut entry = json!({
        "mediaType": MANIFEST,
        "digest": digest,
        "size": size,
        "artifactType": TARGET,
        "platform": { "os": os, "architecture": architecture },
    });
    match form {
        "entry_wrong_media" => entry["mediaType"] = INDEX.into(),
        "entry_no_platform" => remove(&mut entry, "platform"),
        "entry_os_version" => entry["platform"]["os.version"] = "6.1".into(),
        "entry_variant" => entry["platform"]["variant"] = "v8".into(),
        _ => {}
    }
    let mut second = entry.clone();
    match form {
        "entry_twice" => vec![entry, second],
        "entry_extra_foreign" => {
            second["artifactType"] = "application/vnd.example.sbom".into();
            vec![entry, second]
        }
        _ => vec![entry],
    }
}

/// Puts the index; returns its digest.
fn put_index(repository: &mut Repository, entries: Vec<Value>, form: &str) -> String {
    let mut index = json!({
        "schemaVersion": 2,
        "mediaType": INDEX,
        "artifactType": PROVIDER,
        "manifests": entries,
    });
    let mut content_type = INDEX;
    match form {
        "index_no_type" => remove(&mut index, "artifactType"),
        "index_other_type" => index["artifactType"] = OTHER.into(),
        "index_no_media_type" => remove(&mut index, "mediaType"),
        "docker_list" => {
            content_type = DOCKER_LIST;
            index["mediaType"] = DOCKER_LIST.into();
        }
        "index_big" => index["annotations"] = json!({ "fill": "x".repeat((5 << 20) + 100) }),
        "index_4m" => index["annotations"] = json!({ "fill": "x".repeat((4 << 20) + 100) }),
        _ => {}
    }
    let body = index.to_string();
    let digest = digest(body.as_bytes());
    let body = match form {
        "index_flip" => body.replace("schemaVersion", "sChemaVersion"),
        _ => body,
    };
    let manifest = (content_type.to_owned(), body.into_bytes());
    repository.manifests.insert(digest.clone(), manifest);
    digest
}

fn digest(bytes: &[u8]) -> String {
    format!("sha256:{}", sha256_hex(bytes))
}

fn remove(value: &mut Value, name: &str) {
    value.as_object_mut().unwrap().remove(name);
}
