//! The manifest of installed modules, `modules/modules.json` in the data directory (`config.md` 4).
//!
//! It is read for modules that only installing brings; local ones are found without it, so that a
//! fresh checkout works.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::diag::Diagnostic;
use crate::version::Version;

use super::calls;
use super::contents::{Call, CallVersion};
use super::reader::Reader;

/// The title of a call without a record.
pub(super) const NOT_INSTALLED: &str = "Module not installed";
/// The title of a call whose record is of another module.
pub(super) const SOURCE_CHANGED: &str = "Module source has changed";
/// The title of a call whose record has a version that it does not want.
const VERSION_CHANGED: &str = "Module version requirements have changed";

/// What is installed.
#[derive(Debug, Default)]
pub(super) struct Manifest {
    records: BTreeMap<String, Record>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Document {
    #[serde(default)]
    modules: Vec<Record>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Record {
    #[serde(default)]
    key: String,
    #[serde(default)]
    source: String,
    #[serde(default)]
    version: String,
    #[serde(default)]
    dir: String,
}

/// Reads the manifest, if there is one; a broken one is reported, for the programs then read nothing.
pub(super) fn read(reader: &mut Reader<'_>, data_dir: &Path) -> Manifest {
    let path = data_dir.join("modules").join("modules.json");
    let bytes = match reader.bytes(&path) {
        Ok(bytes) => bytes,
        Err(error) => {
            let absent = [ErrorKind::NotFound, ErrorKind::NotADirectory];
            if !absent.contains(&error.kind()) {
                broken(reader, &path, &error.to_string());
            }
            return Manifest::default();
        }
    };
    parse(&bytes).unwrap_or_else(|reason| {
        broken(reader, &path, &reason);
        Manifest::default()
    })
}

fn broken(reader: &mut Reader<'_>, path: &Path, reason: &str) {
    let diagnostic = Diagnostic::error("module-unreadable", "Failed to read module manifest")
        .help("delete it and install the modules again");
    reader.report(path, diagnostic, reason);
}

fn parse(bytes: &[u8]) -> Result<Manifest, String> {
    if bytes.is_empty() {
        return Ok(Manifest::default());
    }
    let document: Document = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    let mut records = BTreeMap::new();
    for record in document.modules {
        if !record.version.is_empty() && record.version.parse::<Version>().is_err() {
            return Err(format!("the record of {:?} has a bad version", record.key));
        }
        let key = record.key.clone();
        if records.insert(key.clone(), record).is_some() {
            return Err(format!("it holds two records for {key:?}"));
        }
    }
    Ok(Manifest { records })
}

impl Manifest {
    /// Returns the record of a call; one whose directory is gone is none.
    fn record(&self, key: &str, reader: &Reader<'_>) -> Option<&Record> {
        let record = self.records.get(key)?;
        reader
            .is_directory(Path::new(&record.dir))
            .then_some(record)
    }

    /// Returns the recorded source of a call, if it is installed at all.
    pub(super) fn source(&self, key: &str, reader: &Reader<'_>) -> Option<&str> {
        Some(&self.record(key, reader)?.source)
    }

    /// Finds the directory in which the module of a call is installed, from the root on.
    ///
    /// # Errors
    /// With the program's title, if the call has no record or one that does not fit it.
    pub(super) fn find(
        &self,
        key: &str,
        source: &str,
        call: &Call,
        reader: &Reader<'_>,
    ) -> Result<PathBuf, &'static str> {
        let record = self.record(key, reader).ok_or(NOT_INSTALLED)?;
        // Where the normal form is not known for certain, any record is believed.
        let normal = calls::normal_source(source, reader.flavor);
        if normal.is_some_and(|normal| normal != record.source) {
            return Err(SOURCE_CHANGED);
        }
        if let CallVersion::Stated(wanted) = &call.version {
            let version = record.version.parse::<Version>().ok();
            if !version.is_some_and(|version| wanted.allows(&version)) {
                return Err(VERSION_CHANGED);
            }
        }
        Ok(PathBuf::from(&record.dir).components().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_manifest_says_why() {
        assert!(parse(b"").unwrap().records.is_empty());
        assert!(parse(b"{}").unwrap().records.is_empty());
        let two = r#"{"Modules":[{"Key":"a","Dir":"x"},{"Key":"a","Dir":"y"}]}"#;
        assert_eq!(
            parse(two.as_bytes()).unwrap_err(),
            "it holds two records for \"a\""
        );
        let bad = r#"{"Modules":[{"Key":"a","Version":"x"}]}"#;
        assert!(parse(bad.as_bytes()).unwrap_err().contains("bad version"));
        assert!(parse(b"[").is_err());
    }
}
