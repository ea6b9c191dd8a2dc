//! The manifest of installed modules, `modules/modules.json` in the data directory (rules 5.2, 5.3).
//!
//! It is read for modules that only installing brings; local ones are found without it, so that a
//! fresh checkout works.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::addr::module::ModuleSource;
use crate::config::tree::reader::Reader;
use crate::diag::{Diagnostic, rules};
use crate::flavor::Flavor;
use crate::json::{self, JsonValue, ValueKind};
use crate::module_config::decode::contents::{Call, CallVersion, Source};
use crate::version::Version;

/// The title of a call without a record.
pub(in crate::texts::config) const NOT_INSTALLED: &str = "Module not installed";
/// The title of a call whose record is of another module.
pub(in crate::texts::config) const SOURCE_CHANGED: &str = "Module source has changed";
/// The title of a call whose record has a version outside of its constraint.
const VERSION_CHANGED: &str = "Module version requirements have changed";

/// The installed modules of a root.
#[derive(Debug, Default)]
pub(in crate::texts::config) struct ModuleManifest {
    records: BTreeMap<String, Record>,
}

/// One record of the manifest, an installed module.
#[derive(Clone, Debug)]
pub(in crate::texts::config) struct Installed {
    /// Its directory, from the root on.
    pub dir: PathBuf,
    /// The address it was installed from, in normal form.
    pub source: String,
}

#[derive(Debug)]
struct Record {
    key: String,
    source: String,
    version: String,
    dir: String,
}

/// Reads the manifest, if there is one; a broken one is reported, for the programs then read nothing.
pub(in crate::texts::config) fn read(reader: &mut Reader<'_>, data_dir: &Path) -> ModuleManifest {
    let path = data_dir.join("modules").join("modules.json");
    let bytes = match reader.bytes(&path) {
        Ok(bytes) => bytes,
        Err(error) => {
            // A missing manifest is one without records (rules 5.3).
            let absent = [ErrorKind::NotFound, ErrorKind::NotADirectory];
            if !absent.contains(&error.kind()) {
                broken(reader, &path, &error.to_string());
            }
            return ModuleManifest::default();
        }
    };
    parse(&bytes, reader.flavor).unwrap_or_else(|reason| {
        broken(reader, &path, &reason);
        ModuleManifest::default()
    })
}

fn broken(reader: &mut Reader<'_>, path: &Path, reason: &str) {
    let diagnostic = Diagnostic::error(rules::MODULE_UNREADABLE, "Failed to read module manifest")
        .help("delete it and install the modules again");
    reader.report(path, diagnostic, reason);
}

fn parse(bytes: &[u8], flavor: Flavor) -> Result<ModuleManifest, String> {
    // An empty manifest is one without records (rules 5.3).
    if bytes.is_empty() {
        return Ok(ModuleManifest::default());
    }
    let document = json::parse(bytes).map_err(|faults| {
        faults
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join("; ")
    })?;
    let mut records = BTreeMap::new();
    let listed: &[JsonValue] = match (&document.kind, member(&document, "Modules")) {
        (ValueKind::Object(_), None) => &[],
        (_, Some(modules)) => match &modules.kind {
            ValueKind::Array(records) => records,
            _ => return Err("Modules is no list".to_owned()),
        },
        (_, None) => return Err("it is no object".to_owned()),
    };
    for record in listed {
        let record = Record {
            key: text(record, "Key")?,
            source: normal(text(record, "Source")?, flavor),
            version: text(record, "Version")?,
            dir: text(record, "Dir")?,
        };
        // One bad record makes the whole manifest unreadable (rules 5.3).
        if !record.version.is_empty() && record.version.parse::<Version>().is_err() {
            return Err(format!("the record of {:?} has a bad version", record.key));
        }
        let key = record.key.clone();
        // Neither program decides between two records of one key (rules 5.3).
        if records.insert(key.clone(), record).is_some() {
            return Err(format!("it holds two records for {key:?}"));
        }
    }
    Ok(ModuleManifest { records })
}

/// Brings a recorded source to normal form; one that is none stays as it is (rules 5.4).
fn normal(source: String, flavor: Flavor) -> String {
    match ModuleSource::parse(&source, flavor) {
        Ok(normal) => normal.to_string(),
        Err(_) => source,
    }
}

/// Returns the member of an object that has a name, without regard to case; of several the last.
fn member<'a>(object: &'a JsonValue, name: &str) -> Option<&'a JsonValue> {
    let ValueKind::Object(members) = &object.kind else {
        return None;
    };
    // Go's decoder ignores the case of keys, and the last of several counts.
    let member = members
        .iter()
        .rfind(|member| member.name.eq_ignore_ascii_case(name))?;
    Some(&member.value)
}

/// Reads a member of a record that is a text, or not there.
fn text(record: &JsonValue, name: &str) -> Result<String, String> {
    let kind = member(record, name).map(|value| &value.kind);
    match (&record.kind, kind) {
        (ValueKind::Object(_), None) => Ok(String::new()),
        (_, Some(ValueKind::String(text))) => Ok(text.clone()),
        (_, Some(_)) => Err(format!("{name} of a record is no text")),
        (_, None) => Err("a record is no object".to_owned()),
    }
}

impl ModuleManifest {
    /// Returns the record of a call; one whose directory is missing does not count.
    fn record(&self, key: &str, reader: &Reader<'_>) -> Option<&Record> {
        let record = self.records.get(key)?;
        reader
            .is_directory(Path::new(&record.dir))
            .then_some(record)
    }

    /// Returns the recorded source of a call, if it is installed at all.
    pub(in crate::texts::config) fn source(&self, key: &str, reader: &Reader<'_>) -> Option<&str> {
        Some(&self.record(key, reader)?.source)
    }

    /// Finds what is installed for a call; a source that is computed is believed.
    ///
    /// # Errors
    /// With the program's title, if the call has no record or one that does not fit it.
    pub(in crate::texts::config) fn find(
        &self,
        key: &str,
        call: &Call,
        reader: &Reader<'_>,
    ) -> Result<Installed, &'static str> {
        let record = self.record(key, reader).ok_or(NOT_INSTALLED)?;
        // A source that is computed has no normal form here: what is installed under the key is taken
        // for it (rules 5.2).
        let normal = call.source.as_ref().and_then(Source::normal);
        if normal.is_some_and(|normal| normal.to_string() != record.source) {
            return Err(SOURCE_CHANGED);
        }
        if let CallVersion::Stated(wanted) = &call.version {
            let version = record.version.parse::<Version>().ok();
            if !version.is_some_and(|version| wanted.allows(&version)) {
                return Err(VERSION_CHANGED);
            }
        }
        Ok(Installed {
            dir: PathBuf::from(&record.dir).components().collect(),
            source: record.source.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(bytes: &[u8]) -> Result<ModuleManifest, String> {
        super::parse(bytes, Flavor::Terraform1_11)
    }

    #[test]
    fn records_are_read_in_any_case_and_normalised() {
        let text = r#"{"modules":[{"key":"m","SOURCE":"github.com/o/r?ref=v1","dir":"x"},
            {"Key":"n","Source":"no address"}]}"#;
        let manifest = parse(text.as_bytes()).unwrap();
        assert_eq!(
            manifest.records["m"].source,
            "git::https://github.com/o/r.git?ref=v1"
        );
        assert_eq!(manifest.records["m"].dir, "x");
        assert_eq!(manifest.records["n"].source, "no address");
    }

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
