//! The recorded cases as they stand in `fixtures/config-cases`; the form is told there.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use lockctl::config::{GivenValues, Settings, VALUE_PREFIX, ValueArgument};
use lockctl::flavor::Flavor;
use lockctl::os::RealDisk;
use lockctl::world::mem::MemFiles;
use lockctl::world::{Disk as _, Files};
use serde_json::Value;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/config-cases");

/// The folder that the tree of a case is in, in memory.
const TREE: &str = "tree";

/// One recorded case.
pub(super) struct Case {
    pub(super) name: String,
    /// How it was run: `case.json`.
    settings: Value,
    pub(super) files: Vec<(String, Vec<u8>)>,
    /// Each symbolic link with where it leads.
    links: Vec<(String, String)>,
    /// What was recorded, by the name of the file.
    expected: BTreeMap<String, Value>,
}

/// Where the tree of a case is while it is read.
pub(super) struct Place {
    pub(super) files: Box<dyn Files>,
    pub(super) root: PathBuf,
    /// Removed with the place, if it is on disk.
    _dir: Option<tempfile::TempDir>,
}

/// Returns every case, sorted by name.
pub(super) fn cases() -> Vec<Case> {
    let entries = fs::read_dir(FIXTURES).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let cases: Vec<Case> = paths.iter().filter_map(|path| read(path)).collect();
    assert!(!cases.is_empty());
    cases
}

fn read(path: &Path) -> Option<Case> {
    let (text, loose) = if path.is_dir() {
        (path.join("case.txtar"), loose(&path.join("tree")))
    } else if path
        .extension()
        .is_some_and(|extension| extension == "txtar")
    {
        (path.to_owned(), Vec::new())
    } else {
        let name = path.file_name().unwrap();
        assert!(
            name == "README.md" || name == "differences.json",
            "{name:?} is no case"
        );
        return None;
    };
    let mut case = Case {
        name: path.file_stem().unwrap().to_str().unwrap().to_owned(),
        settings: Value::Null,
        files: loose,
        links: Vec::new(),
        expected: BTreeMap::new(),
    };
    for (name, content) in sections(&fs::read_to_string(text).unwrap()) {
        let json = || serde_json::from_str(content).unwrap();
        if name == "case.json" {
            case.settings = json();
        } else if name.starts_with("expected") {
            case.expected.insert(name.to_owned(), json());
        } else if let Some((link, target)) = name.split_once(" -> ") {
            case.links.push((link.to_owned(), target.to_owned()));
        } else {
            case.files
                .push((name.to_owned(), content.as_bytes().to_vec()));
        }
    }
    Some(case)
}

/// Returns each section with its name; what stands before the first one is a remark.
pub(crate) fn sections(text: &str) -> Vec<(&str, &str)> {
    let mut found: Vec<(&str, usize, usize)> = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        let name = line
            .strip_prefix("-- ")
            .and_then(|rest| rest.strip_suffix(" --\n"));
        match (name, found.last_mut()) {
            (Some(name), _) => found.push((name, end, end)),
            (None, Some(last)) => last.2 = end,
            (None, None) => {}
        }
        start = end;
    }
    let found = found.into_iter();
    found
        .map(|(name, start, end)| (name, &text[start..end]))
        .collect()
}

/// Returns the files below a folder, each with its path from there.
fn loose(top: &Path) -> Vec<(String, Vec<u8>)> {
    let (mut found, mut dirs) = (Vec::new(), vec![top.to_owned()]);
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                dirs.push(path);
                continue;
            }
            let below = path.strip_prefix(top).unwrap().to_str().unwrap();
            found.push((below.to_owned(), fs::read(&path).unwrap()));
        }
    }
    found
}

impl Case {
    /// Returns what was recorded with a program, if it ran the case (`record.py` of the recordings,
    /// `slot`): where it has nothing of its own it did as the first program, but for the host.
    pub(super) fn expected(&self, flavor: Flavor) -> Option<Value> {
        let for_opentofu = self.settings["engine"] == "opentofu";
        let since = match self.settings["since"].as_str().unwrap_or("1.11") {
            "1.15" => Flavor::Terraform1_15,
            "1.16" => Flavor::Terraform1_16,
            _ => Flavor::Terraform1_11,
        };
        if !flavor.is_opentofu() && (for_opentofu || flavor < since) {
            return None;
        }
        let own = match flavor {
            Flavor::Terraform1_11 => "expected.json",
            Flavor::Terraform1_15 => "expected.terraform-1.15.json",
            Flavor::Terraform1_16 => "expected.terraform-1.16.json",
            Flavor::OpenTofu1_12 => "expected.opentofu.json",
            other => panic!("no recorded answers of {other}"),
        };
        if let Some(own) = self.expected.get(own) {
            return Some(own.clone());
        }
        let first = &self.expected["expected.json"];
        let moves = flavor.is_opentofu() && !for_opentofu;
        Some(if moves { moved(first) } else { first.clone() })
    }

    /// Returns how a program was run.
    pub(super) fn settings(&self, flavor: Flavor) -> Settings {
        let mut settings = Settings::new(flavor);
        for key in ["args", "init"] {
            let args = self.settings[key].as_array().into_iter().flatten();
            for arg in args.filter_map(Value::as_str) {
                if let Some(dir) = arg.strip_prefix("-test-directory=") {
                    settings.test_directory = Some(dir.into());
                }
            }
        }
        let var = |name: &str| self.settings["env"][name].as_str();
        if let Some(dir) = var("TF_DATA_DIR") {
            settings.data_dir = dir.into();
        }
        settings.workspace = var("TF_WORKSPACE").map(str::to_owned);
        settings.values = self.values();
        settings.absolute_root = Some("/work".into());
        let moves = var("OPENTOFU_STATEFILE_PROVIDER_ADDRESS_TRANSLATION");
        settings.moves_state_hosts = moves != Some("0");
        settings
    }

    /// Returns the values that the variables of the root were given.
    fn values(&self) -> GivenValues {
        let mut values = GivenValues::default();
        let env = self.settings["env"].as_object().into_iter().flatten();
        for (name, value) in env {
            if let (Some(name), Some(value)) = (name.strip_prefix(VALUE_PREFIX), value.as_str()) {
                values.environment.insert(name.to_owned(), value.to_owned());
            }
        }
        let args = self.settings["args"].as_array().into_iter().flatten();
        let mut args = args.filter_map(Value::as_str);
        while let Some(arg) = args.next() {
            if let Some(file) = arg.strip_prefix("-var-file=") {
                values.arguments.push(ValueArgument::File(file.into()));
            } else if arg == "-var" {
                let (name, text) = args.next().and_then(|arg| arg.split_once('=')).unwrap();
                values.arguments.push(ValueArgument::Value {
                    name: name.to_owned(),
                    text: text.to_owned(),
                });
            }
        }
        values
    }

    /// Tells whether there was a lock file already, whose texts may then be older.
    pub(super) fn had_lock(&self) -> bool {
        self.settings["lock"].is_object()
    }

    /// Lays the tree out: in memory, or on disk if it has links.
    pub(super) fn lay_out(&self) -> Option<Place> {
        let below = self.settings["root"].as_str();
        if self.links.is_empty() {
            let files = MemFiles::default();
            for (path, content) in &self.files {
                let path = Path::new(TREE).join(path);
                files.replace(&path, None, content).unwrap();
            }
            return Some(Place {
                files: Box::new(files),
                root: below.map_or(TREE.into(), |below| Path::new(TREE).join(below)),
                _dir: None,
            });
        }
        let dir = crate::temp::dir();
        for (path, content) in &self.files {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        let linked = self
            .links
            .iter()
            .all(|(link, target)| make_link(target, &dir.path().join(link)));
        linked.then(|| Place {
            files: Box::new(RealDisk),
            root: dir.path().to_owned(),
            _dir: Some(dir),
        })
    }
}

/// Makes a symbolic link, if this system has such links.
fn make_link(target: &str, link: &Path) -> bool {
    #[cfg(unix)]
    std::os::unix::fs::symlink(target, link).unwrap();
    #[cfg(not(unix))]
    println!("skipped: a link from {} to {target}", link.display());
    cfg!(unix)
}

/// Returns a value with the registry of OpenTofu in the place of that of Terraform.
fn moved(value: &Value) -> Value {
    let text = value.to_string();
    let text = text.replace("registry.terraform.io", "registry.opentofu.org");
    serde_json::from_str(&text).unwrap()
}

#[test]
fn sections_begin_at_their_lines() {
    let text = "a remark\n-- a/b.tf --\none\n-- c\n-- empty --\n-- d -> a --\n";
    let wanted = [("a/b.tf", "one\n-- c\n"), ("empty", ""), ("d -> a", "")];
    assert_eq!(sections(text), wanted);
}
