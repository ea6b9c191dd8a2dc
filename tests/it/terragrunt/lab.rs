//! A case on the disk.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use lockctl::terragrunt::STACK_FILE;
use serde_json::{Map, Value};

/// The host that stands for the registry.
pub(super) const SERVER: &str = "127.0.0.1:44443";

pub(super) struct Lab {
    _dir: tempfile::TempDir,
    pub(super) root: PathBuf,
    /// The directories that are repositories.
    repositories: Vec<PathBuf>,
}

impl Lab {
    pub(super) fn lay_out(input: &Value) -> Self {
        let dir = crate::temp::dir();
        let top = fs::canonicalize(dir.path()).unwrap();
        let root = top.join("root");
        fs::create_dir_all(&root).unwrap();
        fs::create_dir_all(top.join("home")).unwrap();
        let lab = Self {
            _dir: dir,
            repositories: texts(&input["git"])
                .map(|below| lockctl::world::clean(&root.join(below)))
                .collect(),
            root,
        };
        if let Some(files) = input["files"].as_object() {
            lab.put(files);
        }
        for repository in &lab.repositories {
            fs::create_dir_all(repository.join(".git")).unwrap();
        }
        lab
    }

    /// Writes, links and removes files.
    pub(super) fn put(&self, files: &Map<String, Value>) {
        for (path, what) in files {
            let path = self.root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            if path.is_symlink() || path.is_file() {
                fs::remove_file(&path).unwrap();
            }
            match what {
                Value::Null => drop(fs::remove_dir_all(&path)),
                Value::String(text) => fs::write(&path, self.fill(text)).unwrap(),
                what if what["link"].is_string() => {
                    symlink(self.fill(what["link"].as_str().unwrap()), &path).unwrap();
                }
                what if what["exec"].is_string() => {
                    fs::write(&path, self.fill(what["exec"].as_str().unwrap())).unwrap();
                }
                _ => fs::create_dir_all(&path).unwrap(),
            }
        }
    }

    /// Replaces the symbols of a recording.
    pub(super) fn fill(&self, text: &str) -> String {
        let top = self.root.parent().unwrap();
        text.replace("<ROOT>", &self.root.display().to_string())
            .replace("<HOME>", &top.join("home").display().to_string())
            .replace("<DIR>", &top.display().to_string())
            .replace("<SERVER>", SERVER)
            .replace("<STUB>", "/lab/stub")
            .replace("<TERRAFORM>", "/lab/terraform")
    }

    /// Puts the symbols back.
    pub(super) fn plain(&self, text: &str) -> String {
        let top = self.root.parent().unwrap();
        text.replace(&self.root.display().to_string(), "<ROOT>")
            .replace(&top.join("home").display().to_string(), "<HOME>")
            .replace(&top.display().to_string(), "<DIR>")
            .replace(SERVER, "<SERVER>")
    }

    pub(super) fn repository(&self, dir: &Path) -> Option<PathBuf> {
        dir.ancestors()
            .find(|above| self.repositories.iter().any(|top| top == above))
            .map(Path::to_owned)
    }
}

/// Walks over the texts of an array.
pub(super) fn texts(value: &Value) -> impl Iterator<Item = &str> {
    value
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
}

/// The directories of units below a directory, sorted; the second list has those that are a stack as well.
pub(super) fn units_below(top: &Path) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let (mut units, mut ambiguous) = (Vec::new(), Vec::new());
    let mut waiting = vec![top.to_owned()];
    while let Some(dir) = waiting.pop() {
        let is_unit = dir.join("terragrunt.hcl").is_file();
        match (is_unit, dir.join(STACK_FILE).is_file()) {
            (true, true) => ambiguous.push(dir.clone()),
            (true, false) => units.push(dir.clone()),
            (false, _) => {}
        }
        for entry in fs::read_dir(&dir).unwrap() {
            let entry = entry.unwrap();
            let skipped = [".git", ".terraform", ".terragrunt-cache"];
            let is_skipped = skipped.iter().any(|name| entry.file_name() == *name);
            if entry.file_type().unwrap().is_dir() && !is_skipped {
                waiting.push(entry.path());
            }
        }
    }
    units.sort();
    (units, ambiguous)
}
