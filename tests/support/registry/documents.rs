//! The JSON documents of a registry, true and altered.

use serde_json::{Map, Value, json};

use super::catalog::{Catalog, Package, Provider, Release, zip_name};
use super::keys::TestKey;
use super::knobs::{Fault, Knobs};
use super::shop::Origins;
use super::sums::{false_hash, sha256_hex};

/// Where the providers are.
pub(crate) fn discovery() -> Value {
    json!({ "providers.v1": "/v1/providers/" })
}

/// The list of versions.
pub(crate) fn versions(source: &str, provider: &Provider) -> Value {
    let version = |release: &Release| {
        let platform = |(platform, _): &(String, _)| {
            let (os, arch) = platform.split_once('_').unwrap();
            json!({ "os": os, "arch": arch })
        };
        json!({
            "version": release.version,
            "protocols": release.protocols,
            "platforms": release.packages.iter().map(platform).collect::<Vec<_>>(),
        })
    };
    let versions: Vec<Value> = provider.releases.iter().map(version).collect();
    json!({ "id": source, "versions": versions, "warnings": null })
}

/// Which package a download document is about.
pub(crate) struct Wanted<'a> {
    pub(crate) source: &'a str,
    pub(crate) version: &'a str,
    pub(crate) platform: &'a str,
}

/// The download document; `None` if there is no such package.
pub(crate) fn download(
    catalog: &Catalog,
    wanted: &Wanted<'_>,
    (knobs, fault): (&Knobs, Option<&Fault>),
    origins: &Origins,
) -> Option<Value> {
    let (source, version) = (wanted.source, wanted.version);
    let release = catalog.release(source, version)?;
    let package = release.package(wanted.platform)?;
    let action = fault.map_or("", |fault| &fault.action);
    let type_name = source.split('/').nth(1)?;
    let (os, arch) = wanted.platform.split_once('_')?;
    let file = zip_name(type_name, version, wanted.platform);
    let base = if knobs.relative_urls {
        ""
    } else {
        &origins.files
    };
    let place = match knobs.redirects {
        0 => "files".to_owned(),
        hops => format!("hop/{hops}"),
    };
    let sums = format!(
        "{base}/files/{source}/{version}/terraform-provider-{type_name}_{version}_SHA256SUMS"
    );
    let shasum = match action {
        "wrong_checksum" => sha256_hex(&package.sha256),
        _ => package.sha256.clone(),
    };
    let mut document = json!({
        "protocols": release.protocols,
        "os": os,
        "arch": if action == "wrong_platform" { "mips" } else { arch },
        "filename": file,
        "download_url": format!("{base}/{place}/{source}/{version}/{file}"),
        "shasums_url": sums,
        "shasums_signature_url": format!("{sums}.sig"),
        "shasum": shasum,
        "signing_keys": { "gpg_public_keys": announced_keys(release, knobs, action) },
    });
    if knobs.packages {
        document["packages"] = packages(release, wanted.platform, fault);
    }
    if action == "missing_signature" {
        set(&mut document, "shasums_signature_url", &Value::Null);
    }
    Some(document)
}

fn announced_keys(release: &Release, knobs: &Knobs, action: &str) -> Vec<Value> {
    if let Some(evidence) = &release.evidence {
        let announced = |armor: &String| json!({ "ascii_armor": armor, "trust_signature": "" });
        return evidence.keys.iter().map(announced).collect();
    }
    let announced = |key: &TestKey| {
        json!({
            "ascii_armor": key.public(),
            "key_id": key.id(),
            "trust_signature": knobs.trust_signature,
            "source": "Lab",
            "source_url": "https://lab.test/",
        })
    };
    match knobs.no_keys || action == "no_keys" {
        true => Vec::new(),
        false => knobs.keys.iter().map(announced).collect(),
    }
}

/// OpenTofu's map of all platforms' hashes and sizes.
fn packages(release: &Release, wanted: &str, fault: Option<&Fault>) -> Value {
    let action = fault.map_or("", |fault| &fault.action);
    let only = fault.map_or("", |fault| fault.text("only"));
    let mut map = Map::new();
    for (platform, package) in &release.packages {
        let told = |hash: String| {
            let lie = action == "wrong_packages" && format!("{platform} {hash}").contains(only);
            if lie { false_hash(&hash) } else { hash }
        };
        let surplus = usize::from(action == "wrong_size" && platform == wanted);
        let entry = json!({
            "hashes": [told(package.zh()), told(package.h1())],
            "package_size": package.bytes.len() + surplus,
        });
        if action != "missing_package" || platform != wanted {
            map.insert(platform.clone(), entry);
        }
    }
    Value::Object(map)
}

/// What a registry says of a version beside its protocol, if it says anything.
pub(crate) fn release(release: &Release) -> Option<Value> {
    let published_at = release.dates.published_at.as_ref()?;
    Some(json!({ "version": release.version, "published_at": published_at }))
}

/// The versions of a provider, as a network mirror lists them.
pub(crate) fn mirror_index(provider: &Provider) -> Value {
    let versions = provider.releases.iter();
    let versions = versions.map(|release| (release.version.clone(), json!({})));
    json!({ "versions": versions.collect::<Map<_, _>>() })
}

/// The packages of a version, as a network mirror lists them, with hashes of these schemes.
pub(crate) fn mirror_archives(type_name: &str, release: &Release, schemes: &[String]) -> Value {
    let archive = |(platform, package): &(String, Package)| {
        let hash = |scheme: &String| match scheme.as_str() {
            "zh" => package.zh(),
            "h1" => package.h1(),
            other => panic!("unknown scheme {other}"),
        };
        let hashes: Vec<String> = schemes.iter().map(hash).collect();
        let url = zip_name(type_name, &release.version, platform);
        (platform.clone(), json!({ "url": url, "hashes": hashes }))
    };
    let archives = release.packages.iter().map(archive);
    json!({ "archives": archives.collect::<Map<_, _>>() })
}

/// Sets one place of a document, given as `a/b/0`; null removes it, `+` appends to a list.
pub(crate) fn set(document: &mut Value, path: &str, value: &Value) {
    let Some((first, rest)) = path.split_once('/') else {
        return set_here(document, path, value);
    };
    match document {
        Value::Array(list) => set(&mut list[first.parse::<usize>().unwrap()], rest, value),
        Value::Object(map) => set(map.entry(first).or_insert_with(|| json!({})), rest, value),
        other => panic!("nothing lies below {other}"),
    }
}

fn set_here(document: &mut Value, name: &str, value: &Value) {
    match document {
        Value::Array(list) if value.is_null() => drop(list.remove(name.parse().unwrap())),
        Value::Array(list) if name == "+" => list.push(value.clone()),
        Value::Array(list) => list[name.parse::<usize>().unwrap()] = value.clone(),
        Value::Object(map) if value.is_null() => drop(map.shift_remove(name)),
        Value::Object(map) => drop(map.insert(name.to_owned(), value.clone())),
        other => panic!("nothing lies below {other}"),
    }
}
