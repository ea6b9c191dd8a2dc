//! Installs what a program was recorded to have installed.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::run::Case;
use crate::module_lab::git;

impl Case<'_> {
    /// The directory of the manifest and of the packages.
    fn modules_dir(&self) -> PathBuf {
        let data_dir = self.input["data_dir"].as_str().unwrap_or(".terraform");
        self.path("work").join(data_dir).join("modules")
    }

    /// Removes everything that is installed or kept.
    pub(super) fn uninstall(&self) {
        for dir in [self.modules_dir(), self.path("cache")] {
            let _ = fs::remove_dir_all(dir);
        }
    }

    /// Returns whether the root has a call of the first name in a key.
    pub(super) fn calls(&self, key: &str) -> bool {
        let name = key.split('.').next().unwrap_or_default();
        let call = format!("module \"{name}\"");
        let files = fs::read_dir(self.path("work")).unwrap();
        let mut texts = files.filter_map(|file| fs::read_to_string(file.unwrap().path()).ok());
        name == "test" || texts.any(|text| text.contains(&call))
    }

    /// Brings the data directory to what it was after a recorded step that installs.
    pub(super) fn install(&self, recorded: &Value) {
        let dir = self.modules_dir();
        let files = recorded["files"].as_array().into_iter().flatten();
        let files: Vec<&str> = files.map(|file| file.as_str().unwrap()).collect();
        // Directories that the step removed.
        for entry in fs::read_dir(&dir).into_iter().flatten() {
            let entry = entry.unwrap();
            let name = format!("{}/", entry.file_name().display());
            if entry.file_type().unwrap().is_dir()
                && !files.iter().any(|file| file.starts_with(&name))
            {
                fs::remove_dir_all(entry.path()).unwrap();
            }
        }
        let records = recorded["modules"].as_array();
        let Some(records) = records.filter(|all| all.iter().all(Value::is_object)) else {
            return;
        };
        let manifest = dir.join("modules.json");
        let before = fs::read(&manifest).unwrap_or_default();
        let before: Value = serde_json::from_slice(&before).unwrap_or_default();
        let mut after = vec![json!({"Key": "", "Source": "", "Dir": "."})];
        for record in records {
            let record: Value = serde_json::from_str(&self.fill(&record.to_string())).unwrap();
            let old = before["Modules"].as_array().into_iter().flatten();
            let mut old = old.filter(|old| old["Key"] == record["Key"]);
            let place = dir.join(record["Key"].as_str().unwrap());
            let path = self.path("work").join(record["Dir"].as_str().unwrap());
            let name = format!("{}/", record["Key"].as_str().unwrap());
            let is_there = files.iter().any(|file| file.starts_with(&name));
            if is_there && (old.next() != Some(&record) || !path.is_dir()) {
                let _ = fs::remove_dir_all(&place);
                self.put_package(record["Source"].as_str().unwrap(), &place);
                assert!(path.is_dir(), "{record}");
            }
            after.push(record);
        }
        fs::create_dir_all(&dir).unwrap();
        let text = json!({ "Modules": after }).to_string();
        fs::write(manifest, text).unwrap();
    }

    /// Puts the package of a source into a directory: a repository of the case, or its one archive.
    fn put_package(&self, source: &str, dir: &Path) {
        fs::create_dir_all(dir).unwrap();
        if let Some(url) = source.strip_prefix("git::") {
            let (url, query) = url.split_once('?').unwrap_or((url, ""));
            let name = url.rsplit('/').find(|part| part.ends_with(".git")).unwrap();
            let repo = match self.input["git"] == "stub" {
                true => self.path("stub/r.git"),
                false => self.path("repos").join(name),
            };
            git::check_out(&repo, query.strip_prefix("ref="), dir);
            return;
        }
        let archives = self.input["archives"].as_object().unwrap();
        let (_, archive) = archives.iter().next().unwrap();
        for entry in archive["entries"].as_array().unwrap() {
            let path = dir.join(entry["name"].as_str().unwrap());
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, entry["text"].as_str().unwrap()).unwrap();
        }
    }
}
