//! Runs: the source, the files of the cache, the lock file that goes in and out, and what Terraform requires.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use lockctl::config::{self, Settings};
use lockctl::diag::Texts;
use lockctl::flavor::Flavor;
use lockctl::os::RealDisk;
use lockctl::terragrunt::{
    AssembleError, Assembled, Documents, EvaluatedUnit, FetchedPackage, LockOrigin, UnitPackage,
    assemble, evaluate,
};
use lockctl::world::mem::MemFiles;
use lockctl::world::{FileKind, Files, Layer};
use serde_json::Value;

use super::lab::{Lab, SERVER, texts, units_below};
use super::steps::Step;

pub(super) fn compare(
    group: &str,
    lab: &Lab,
    step: &Step,
    outcome: &Value,
    at: usize,
    fault: &mut dyn FnMut(String),
) {
    if step.is_all {
        return all(lab, step, outcome, fault);
    }
    // Where Terragrunt stops, there are no files to compare.
    if stops(outcome) {
        return;
    }
    let replayed = replay(lab, step, &step.dir, |unit, assembled, has_notes| {
        if has_notes && outcome["exit"] == 0 {
            fault("there are problems, but Terragrunt has none".to_owned());
        }
        source(lab, step, unit, outcome, fault);
        let Some(assembled) = assembled else {
            return;
        };
        if has_hook(&step.dir) {
            return;
        }
        files(lab, assembled, outcome, at, fault);
        contents(lab, assembled, outcome, fault);
        if group == "lock" && at == 0 {
            lock(step, unit, assembled, outcome, fault);
        }
    });
    if let Err(error) = replayed
        && !is_fetching(outcome)
    {
        fault(format!("{error:?}"));
    }
}

/// Returns whether a unit has hooks: what they write is not known.
fn has_hook(unit: &Path) -> bool {
    let text = std::fs::read_to_string(unit.join("terragrunt.hcl"));
    text.is_ok_and(|text| text.contains("_hook "))
}

/// Returns whether Terragrunt itself stops; what Terraform says is another matter.
fn stops(outcome: &Value) -> bool {
    let mut errors = texts(&outcome["error"]);
    outcome["exit"] != 0
        && !errors
            .any(|error| error.contains("Failed to execute \"") && !error.contains("git exited"))
        && !is_fetching(outcome)
}

/// Returns whether only the fetching failed, because nothing is there to be fetched.
fn is_fetching(outcome: &Value) -> bool {
    let mut errors = texts(&outcome["error"]);
    let source = outcome["source"].as_str().unwrap_or_default();
    (source.contains("::") || source.contains("://"))
        && errors.any(|error| error.contains("downloading source url"))
}

/// Evaluates and assembles a unit, and hands both on.
fn replay(
    lab: &Lab,
    step: &Step,
    dir: &Path,
    check: impl FnOnce(&EvaluatedUnit, Option<&Assembled<'_>>, bool),
) -> Result<(), AssembleError> {
    let documents = Documents::default();
    let variable = |name: &str| step.variables.get(name).cloned();
    let around = step.surroundings(lab, &documents, &variable);
    let (unit, notes) = evaluate(&RealDisk, &mut Texts::default(), dir, &around);
    let package = unit
        .source
        .as_ref()
        .ok()
        .and_then(|source| fetched(&source.package));
    let given = package.as_ref().map(|package| FetchedPackage {
        files: &*package.0,
        dir: &package.1,
    });
    match assemble(&RealDisk, &unit, given) {
        Ok(assembled) => {
            check(&unit, Some(&assembled), !notes.is_empty());
            Ok(())
        }
        Err(error) => {
            check(&unit, None, !notes.is_empty());
            Err(error)
        }
    }
}

/// A package that stands for what would be fetched.
type Double = (Box<dyn Files>, PathBuf);

fn fetched(package: &UnitPackage) -> Option<Double> {
    match package {
        UnitPackage::Own | UnitPackage::Local(_) => None,
        UnitPackage::Remote(address) => {
            let path = address.strip_prefix("git::file://")?;
            let path = path.split('?').next().unwrap();
            let path = PathBuf::from(path);
            path.is_dir()
                .then(|| (Box::new(WithoutGit) as Box<dyn Files>, path))
        }
        UnitPackage::Registry(module) => {
            let version = module.version.as_deref().unwrap_or("1.2.0");
            let is_known = module.host == SERVER && ["1.0.0", "1.2.0"].contains(&version);
            let main = format!("# package {version}\n");
            let below = format!("# sub of {version}\n");
            let files = MemFiles::with(&[("/p/main.tf", &main), ("/p/sub/main.tf", &below)]);
            is_known.then(|| (Box::new(files) as Box<dyn Files>, PathBuf::from("/p")))
        }
    }
}

/// The disk, without the directories that stand for repositories.
struct WithoutGit;

impl Layer for WithoutGit {
    fn base(&self) -> &dyn Files {
        &RealDisk
    }

    fn entries(&self, dir: &Path) -> std::io::Result<Vec<lockctl::world::DirEntry>> {
        let mut names = RealDisk.list(dir)?;
        names.retain(|entry| entry.name != ".git");
        Ok(names)
    }
}

/// Compares the address that Terragrunt logged; local paths count from the working directory.
fn source(
    lab: &Lab,
    step: &Step,
    unit: &EvaluatedUnit,
    outcome: &Value,
    fault: &mut dyn FnMut(String),
) {
    let Some(expected) = outcome["source"].as_str() else {
        return;
    };
    let Ok(source) = &unit.source else {
        return fault("the source is unknown".to_owned());
    };
    let local = |text: &str| {
        let text = text.split('?').next().unwrap();
        lockctl::world::clean(&step.dir.join(lab.fill(text)))
    };
    let is_same = match &source.package {
        UnitPackage::Own => local(expected) == unit.dir,
        UnitPackage::Local(path) => local(expected) == *path,
        UnitPackage::Remote(address) => lab.fill(expected) == *address,
        UnitPackage::Registry(module) => {
            let expected = lab.fill(expected);
            let expected = expected.split('?').next().unwrap();
            module.text.split('?').next() == Some(expected)
        }
    };
    if !is_same {
        fault(format!(
            "the source is {expected}, but {:?}",
            source.package
        ));
    }
}

/// Returns the top of the package in the cache.
fn package_dir<'a>(assembled: &'a Assembled<'_>) -> &'a Path {
    let is_package = |dir: &&Path| {
        dir.ancestors()
            .nth(2)
            .is_some_and(|top| top.ends_with(".terragrunt-cache"))
    };
    let mut dirs = assembled.module_dir().ancestors();
    dirs.find(is_package).unwrap()
}

/// Compares the files of the cache.
fn files(
    lab: &Lab,
    assembled: &Assembled<'_>,
    outcome: &Value,
    at: usize,
    fault: &mut dyn FnMut(String),
) {
    let files = outcome["files"].as_array();
    let stopped_before = files.is_some_and(Vec::is_empty) && outcome["exit"] != 0;
    if files.is_none() || stopped_before {
        return;
    }
    let unit = package_dir(assembled).ancestors().nth(3).unwrap();
    let unit = unit.strip_prefix(&lab.root).unwrap().display().to_string();
    let caches = [
        format!("{unit}/.terragrunt-cache/W/S/"),
        "download/W/S/".to_owned(),
        "cache/W/S/".to_owned(),
        "dl/W/S/".to_owned(),
    ];
    let versions =
        texts(&outcome["files"]).filter(|file| file.ends_with("/.terragrunt-source-version"));
    // An earlier source has left its cache behind.
    let is_only = versions.count() <= 1;
    let below = |file: &str| {
        let file = file.trim_end_matches(" (read-only)");
        let inside = caches
            .iter()
            .find_map(|cache| file.strip_prefix(cache.as_str()));
        inside.map(str::to_owned)
    };
    let made = |file: &String| {
        let name = file.rsplit('/').next().unwrap();
        name.starts_with(".terragrunt-")
            || file.ends_with('/')
            || file.starts_with(".terraform/")
            || file.contains("/.terraform/")
    };
    let expected: BTreeSet<String> = texts(&outcome["files"])
        .filter_map(below)
        .filter(|file| !made(file))
        .collect();
    let mut found = BTreeSet::new();
    walk(assembled, package_dir(assembled), "", &mut found);
    // What Terraform makes itself, and what hooks write, is not ours to know; a second run has the
    // lock file of the first.
    let is_made = |file: &&String| file.ends_with(".terraform.lock.hcl");
    let has_calls = outcome["calls"].is_array();
    let missing: Vec<&String> = expected
        .difference(&found)
        .filter(|file| is_only && (has_calls && at == 0 || !is_made(file)))
        .collect();
    let further: Vec<&String> = found.difference(&expected).collect();
    if !missing.is_empty() || !further.is_empty() {
        fault(format!("missing {missing:?}, further {further:?}"));
    }
}

fn walk(files: &dyn Files, dir: &Path, below: &str, found: &mut BTreeSet<String>) {
    for entry in files.list(dir).unwrap_or_default() {
        let name = entry.name.to_str().unwrap();
        let path = match below {
            "" => name.to_owned(),
            below => format!("{below}/{name}"),
        };
        match entry.kind {
            FileKind::Directory => walk(files, &dir.join(name), &path, found),
            _ => drop(found.insert(path)),
        }
    }
}

/// Compares what files hold.
fn contents(lab: &Lab, assembled: &Assembled<'_>, outcome: &Value, fault: &mut dyn FnMut(String)) {
    for (name, expected) in outcome["cat"].as_object().into_iter().flatten() {
        let Some(below) = name.strip_prefix("S/") else {
            continue;
        };
        if expected.is_array()
            || below.ends_with(".terraform.lock.hcl") && outcome["calls"].is_null()
        {
            continue;
        }
        let found = assembled
            .read(&package_dir(assembled).join(below), 1 << 20)
            .ok();
        let found = found.map(|bytes| lab.plain(&String::from_utf8(bytes).unwrap()));
        if found.as_deref() != expected.as_str() {
            fault(format!("{name}: {expected:?}, but {found:?}"));
        }
    }
}

/// Compares which lock file Terraform worked with, whether it came back, and what was required.
fn lock(
    step: &Step,
    unit: &EvaluatedUnit,
    assembled: &Assembled<'_>,
    outcome: &Value,
    fault: &mut dyn FnMut(String),
) {
    let module = assembled
        .module_dir()
        .strip_prefix(package_dir(assembled))
        .unwrap();
    let path = Path::new("S").join(module).join(".terraform.lock.hcl");
    let cats = outcome["cat"].as_object().cloned().unwrap_or_default();
    let inside = cats.get(path.to_str().unwrap());
    let beside = cats.get("live/app/.terraform.lock.hcl");
    let given = match assembled.lock_file() {
        LockOrigin::None => String::new(),
        LockOrigin::Unit(path) | LockOrigin::Module(path) => std::fs::read_to_string(path).unwrap(),
        LockOrigin::Generated => return,
    };
    let is_upgrade = step.command.iter().any(|arg| arg == "-upgrade");
    let Some(rows) = inside.and_then(Value::as_array) else {
        return;
    };
    let mut locked = BTreeSet::new();
    for row in rows.iter().filter_map(Value::as_str) {
        let mut words = row.split(' ');
        let (address, version) = (words.next().unwrap(), words.next().unwrap());
        locked.insert(address.to_owned());
        let entry = format!("provider \"{address}\" {{\n  version = \"{version}\"");
        let has_entry = given.contains(&format!("provider \"{address}\""));
        if has_entry && !is_upgrade && !given.contains(&entry) {
            fault(format!(
                "Terraform had {version} of {address}, but this goes in: {given}"
            ));
        }
        // Without an entry the newest version is chosen, unless something is constrained.
        if !has_entry && version != "1.1.0" && row.split(' ').count() < 5 {
            fault(format!("{address} {version} comes from a lock file"));
        }
    }
    let is_copied = beside == inside;
    if unit.copies_lock_file != Ok(is_copied)
        && !step.command.is_empty()
        && outcome["exit"] == 0
        && step.flag("--no-auto-init").is_none()
    {
        fault(format!("the lock file is copied back: {is_copied}"));
    }
    requirements(assembled, &locked, step, fault);
}

/// Compares the providers that the configuration requires with those that `init` locked.
fn requirements(
    assembled: &Assembled<'_>,
    locked: &BTreeSet<String>,
    step: &Step,
    fault: &mut dyn FnMut(String),
) {
    if step.command.iter().any(|arg| arg.starts_with("-lockfile")) {
        return;
    }
    let settings = Settings::new(Flavor::Terraform1_11);
    let mut texts = Texts::default();
    let loaded = config::load(assembled, &mut texts, assembled.module_dir(), &settings);
    let found: BTreeSet<String> = loaded
        .requirements
        .providers
        .keys()
        .map(ToString::to_string)
        .collect();
    let found: BTreeSet<String> = found
        .into_iter()
        .filter(|address| !address.contains("terraform.io/builtin"))
        .collect();
    if found != *locked {
        fault(format!("{locked:?} are required, but {found:?}"));
    }
}

/// Compares runs of all units: each of them has a source.
fn all(lab: &Lab, step: &Step, outcome: &Value, fault: &mut dyn FnMut(String)) {
    let (units, ambiguous) = units_below(&step.dir);
    if !ambiguous.is_empty() {
        if outcome["exit"] == 0 {
            fault("a directory with both files is accepted".to_owned());
        }
        return;
    }
    let sources: Vec<&str> = match outcome["source"].as_str() {
        Some(only) => vec![only],
        None => texts(&outcome["source"]).collect(),
    };
    let excluded = excluded(&units);
    let mut packages = Vec::new();
    for dir in units.iter().filter(|dir| !excluded.contains(dir)) {
        let replayed = replay(lab, step, dir, |unit, _, _| {
            packages.extend(
                unit.source
                    .as_ref()
                    .ok()
                    .map(|source| match &source.package {
                        UnitPackage::Own => unit.dir.clone(),
                        UnitPackage::Local(path) => path.clone(),
                        UnitPackage::Remote(text) => PathBuf::from(text),
                        UnitPackage::Registry(module) => PathBuf::from(&module.text),
                    }),
            );
        });
        if let Err(error) = replayed {
            fault(format!("{}: {error:?}", dir.display()));
        }
    }
    packages.sort();
    let mut expected: Vec<PathBuf> = sources
        .into_iter()
        .map(|text| lockctl::world::clean(&step.dir.join(lab.fill(text))))
        .collect();
    expected.sort();
    if packages != expected {
        fault(format!("{expected:?} are run, but {packages:?}"));
    }
}

/// Units that a block `exclude` takes out of runs; to lockctl they are units like any other.
fn excluded(units: &[PathBuf]) -> Vec<PathBuf> {
    let text =
        |dir: &PathBuf| std::fs::read_to_string(dir.join("terragrunt.hcl")).unwrap_or_default();
    units
        .iter()
        .filter(|dir| text(dir).contains("exclude {"))
        .cloned()
        .collect()
}
