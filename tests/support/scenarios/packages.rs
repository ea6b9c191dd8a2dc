//! The packages of the recorded scenarios, built anew, and the values of all recorded hashes.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;

use serde_json::Value;

use super::{read_json, text};
use crate::registry::Registry;
use crate::zips::{Entry, Zip};

/// All packages and hashes of `zips.json`.
#[derive(Clone, Debug)]
pub(crate) struct Packages {
    /// By `TYPE/VERSION/PLATFORM`.
    packages: BTreeMap<String, Package>,
    /// By symbol, e.g. `h1(demo/1.0.0/linux_amd64)` or `zh(falsesum …)`.
    pub(crate) hashes: BTreeMap<String, String>,
}

#[derive(Clone, Debug)]
struct Package {
    files: Vec<File>,
    protocols: Vec<String>,
}

#[derive(Clone, Debug)]
struct File {
    name: String,
    mode: u32,
    text: String,
}

impl Packages {
    /// The packages of `fixtures/source-cases/zips.json`, read once per process.
    pub(crate) fn recorded() -> &'static Self {
        static RECORDED: OnceLock<Packages> = OnceLock::new();
        RECORDED.get_or_init(Self::read)
    }

    fn read() -> Self {
        let file = read_json("zips");
        let hashes = file["hashes"].as_object().unwrap();
        let packages = file["packages"].as_object().unwrap();
        Self {
            packages: packages
                .iter()
                .map(|(key, given)| (key.clone(), Package::parse(given)))
                .collect(),
            hashes: hashes
                .iter()
                .map(|(symbol, value)| (symbol.clone(), text(value)))
                .collect(),
        }
    }

    /// Publishes all packages as the recorder did: below `acme`, and two below another namespace.
    pub(crate) fn publish(&self, registry: &Registry) {
        for (key, package) in &self.packages {
            let (type_name, version, platform) = split(key);
            let zip = package.zip();
            let protocols: Vec<&str> = package.protocols.iter().map(String::as_str).collect();
            let namespaces: &[&str] = match type_name {
                "null" => &["acme", "hashicorp"],
                "other" => &["acme", "my_org"],
                _ => &["acme"],
            };
            for namespace in namespaces {
                let source = format!("{namespace}/{type_name}");
                registry.add_zip(&source, version, platform, &zip);
                registry.set_protocols(&source, version, &protocols);
            }
        }
    }

    /// All keys, `TYPE/VERSION/PLATFORM`.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.packages.keys().map(String::as_str)
    }

    /// The bytes of a package: stored files of one fixed time, the same everywhere.
    pub(crate) fn zip(&self, key: &str) -> Vec<u8> {
        self.packages[key].zip()
    }

    /// Writes the files of a package below a directory.
    pub(crate) fn unpack(&self, key: &str, into: &Path) {
        for file in &self.packages[key].files {
            let path = into.join(&file.name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, &file.text).unwrap();
            set_mode(&path, file.mode);
        }
    }
}

impl Package {
    fn parse(given: &Value) -> Self {
        let file = |file: &Value| File {
            name: text(&file[0]),
            mode: parse_mode(&file[1]),
            text: text(&file[2]),
        };
        let protocols = given["protocols"].as_array().unwrap().iter().map(text);
        Self {
            files: given["files"]
                .as_array()
                .unwrap()
                .iter()
                .map(file)
                .collect(),
            protocols: protocols.collect(),
        }
    }

    fn zip(&self) -> Vec<u8> {
        let entry = |file: &File| {
            Entry::file(&file.name, &file.text)
                .with(|entry| entry.attributes = (0o100_000 | file.mode) << 16)
        };
        Zip::of(self.files.iter().map(entry)).bytes()
    }
}

/// Splits `TYPE/VERSION/PLATFORM`.
pub(crate) fn split(key: &str) -> (&str, &str, &str) {
    let mut parts = key.split('/');
    let mut next = || parts.next().unwrap();
    (next(), next(), next())
}

/// Reads an octal mode.
pub(crate) fn parse_mode(given: &Value) -> u32 {
    u32::from_str_radix(given.as_str().unwrap(), 8).unwrap()
}

/// Sets permissions, where there are any.
pub(crate) fn set_mode(path: &Path, mode: u32) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    #[cfg(not(unix))]
    let _ = (path, mode);
}
