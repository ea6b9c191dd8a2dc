//! Packages of the recorded cases, read by the functions that make them: the same files as on the disk of
//! the programs.
#![cfg_attr(
    not(unix),
    allow(dead_code, reason = "the cases of git need shells and links")
)]

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::io::{self, Cursor};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use lockctl::addr::module::{ModuleSource, RemoteModule};
use lockctl::flavor::Flavor;
use lockctl::modules::archive::{NamedArchive, read_archive};
use lockctl::modules::git::{
    AddressOrigin, GitFiles, GitLimits, GitRequest, GitWorld, fetch_package,
};
use lockctl::modules::package::{PackageTree, SubdirectoryPattern};
use lockctl::os::{RealDisk, RealRun};
use lockctl::world::mem::{MemEnv, slashed};
use lockctl::world::{Ended, Env, Executable, FileKind, Files, Invocation, Run};
use serde_json::Value;

use super::recorded::{PROGRAMS, load, outcome};
use crate::module_lab::{ModuleLab, archive, git};

/// Cases of which lockctl makes something else, or that are not about the files of a package.
const EXCEPTIONS: [(&str, &str); 13] = [
    ("git-subdir-up", "the directory above a package is refused"),
    (
        "git-link-subdir-up",
        "a link that leads out of a package is refused",
    ),
    (
        "git-git-dir-env",
        "variables that name other repositories are taken away",
    ),
    (
        "git-link-directory-tf",
        "the configuration is in error, not the package",
    ),
    (
        "git-link-dangling-tf",
        "the configuration is in error, not the package",
    ),
    (
        "git-archive-argument",
        "the arguments of archives are looked at elsewhere",
    ),
    (
        "git-checksum",
        "the arguments of archives are looked at elsewhere",
    ),
    (
        "arch-zip-link",
        "the configuration is in error, not the package",
    ),
    ("arch-subdir-up", "the directory above a package is refused"),
    ("git-ref-head-parent", "steps back from a name are not read"),
    ("git-ref-parent", "steps back from a name are not read"),
    ("git-no-git", "every run here finds git"),
    (
        "git-proxy",
        "the name of the host means nothing without a proxy",
    ),
];

/// git with the settings of a case instead of those of this machine.
#[derive(Default)]
pub(super) struct CaseRun {
    pub(super) vars: BTreeMap<String, String>,
    /// Where it was started.
    dirs: Mutex<BTreeSet<PathBuf>>,
}

impl CaseRun {
    /// Checks that nothing is left of the directories in which git worked; returns how many there were.
    #[track_caller]
    pub(super) fn check_nothing_is_left(&self) -> usize {
        let dirs = self.dirs.lock().expect("no test failed");
        assert!(!dirs.iter().any(|dir| dir.exists()), "{dirs:?}");
        dirs.len()
    }
}

impl Run for CaseRun {
    fn run(&self, invocation: &Invocation<'_>) -> io::Result<Ended> {
        let mut dirs = self.dirs.lock().expect("no test failed");
        dirs.insert(invocation.dir.to_owned());
        drop(dirs);
        let own = self.vars.iter().map(|(name, value)| (&**name, &**value));
        // What lockctl takes away stays away.
        let own = own.filter(|(name, _)| !invocation.without.contains(name));
        let vars: Vec<(&str, &str)> = own.chain(invocation.vars.iter().copied()).collect();
        // Nothing of this machine counts.
        let ambient = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
        let ambient: Vec<String> = ambient
            .filter(|name| {
                ["GIT_", "SSL_", "CURL_"]
                    .iter()
                    .any(|start| name.starts_with(start))
            })
            .collect();
        let without = ambient.iter().map(String::as_str);
        let without: Vec<&str> = without.chain(invocation.without.iter().copied()).collect();
        let git = git::program(&self.vars["PATH"]);
        let program = match invocation.program {
            Executable::Git => Executable::File(&git),
            file => file,
        };
        RealRun.run(&Invocation {
            program,
            vars: &vars,
            without: &without,
            ..*invocation
        })
    }
}

/// A case with its servers, repositories and settings.
pub(super) struct PackageCase {
    dir: tempfile::TempDir,
    symbols: Vec<(String, String)>,
    ids: git::CommitIds,
    pub(super) run: CaseRun,
    pub(super) env: MemEnv,
}

impl PackageCase {
    pub(super) fn new(lab: &ModuleLab, input: &Value) -> Self {
        let dir = crate::temp::dir();
        let top = fs::canonicalize(dir.path()).expect("there");
        let mut symbols: Vec<(String, String)> = Vec::new();
        for (name, value) in lab.symbols() {
            symbols.push((name.to_owned(), value));
        }
        for name in ["ROOT", "HOME", "REPOS", "ELSEWHERE"] {
            let below = top.join(name.to_lowercase());
            fs::create_dir(&below).expect("made");
            symbols.push((format!("<{name}>"), below.display().to_string()));
        }
        let mut case = Self {
            dir,
            symbols,
            ids: git::CommitIds::new(),
            run: CaseRun::default(),
            env: MemEnv::default(),
        };
        let filled: Value = serde_json::from_str(&case.fill(&input.to_string())).expect("JSON");
        case.ids = git::make_repos(&case.path("repos"), &filled["repos"]);
        let filled: Value = serde_json::from_str(&case.fill(&input.to_string())).expect("JSON");
        lab.serve(&filled, &case.path("repos"));
        case.settle(lab, &filled);
        case
    }

    fn settle(&mut self, lab: &ModuleLab, input: &Value) {
        fs::create_dir(self.path("empty")).expect("made");
        let usual = git::settings(&lab.ca_file(), &self.path("empty"));
        let settings = input["gitconfig"].as_str().unwrap_or(&usual);
        fs::write(self.path("home/.gitconfig"), settings).expect("written");
        for (name, text) in input["home"].as_object().into_iter().flatten() {
            fs::write(self.path("home").join(name), text.as_str().expect("text")).expect("written");
        }
        let bin = self.path("bin");
        fs::create_dir(&bin).expect("made");
        for (name, text) in input["bin"].as_object().into_iter().flatten() {
            write_program(&bin.join(name), text.as_str().expect("text"));
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        let paths = std::iter::once(bin).chain(std::env::split_paths(&path));
        let path = std::env::join_paths(paths).expect("plain paths");
        let mut vars = BTreeMap::from([
            ("PATH".to_owned(), path.into_string().expect("text")),
            ("HOME".to_owned(), self.path("home").display().to_string()),
            ("GIT_CONFIG_NOSYSTEM".to_owned(), "1".to_owned()),
        ]);
        for (name, value) in input["env"].as_object().into_iter().flatten() {
            if let Some(value) = value.as_str() {
                vars.insert(name.clone(), value.to_owned());
            }
        }
        let given = vars
            .iter()
            .map(|(name, value)| (name.clone(), OsString::from(value)));
        self.env.vars = given.collect();
        self.run.vars = vars;
    }

    pub(super) fn path(&self, below: &str) -> PathBuf {
        fs::canonicalize(self.dir.path())
            .expect("there")
            .join(below)
    }

    /// Replaces all symbols of a text.
    pub(super) fn fill(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (name, value) in &self.symbols {
            text = text.replace(name, value);
        }
        for (name, ids) in &self.ids {
            for (at, id) in ids.iter().enumerate() {
                text = text.replace(&format!("<{name}#{at}>"), id);
                text = text.replace(&format!("<{name}#{at}:7>"), &id[..7]);
            }
        }
        text
    }

    pub(super) fn world(&self) -> GitWorld<'_> {
        GitWorld {
            run: &self.run,
            disk: &RealDisk,
            env: &self.env as &dyn Env,
        }
    }
}

#[cfg(unix)]
pub(super) fn write_program(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::write(path, text).expect("written");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("set");
}

#[cfg(not(unix))]
pub(super) fn write_program(path: &Path, text: &str) {
    fs::write(path, text).expect("written");
}

/// Returns the source of the only call of a case, if it can be told.
fn source_of(case: &Value) -> Option<String> {
    let text = case["input"]["root"]["main.tf"].as_str()?;
    let source = text.split("source = \"").nth(1)?.split('"').next()?;
    (text.matches("module \"").count() == 1).then(|| source.to_owned())
}

/// Lists the files as the recorder did, links with their targets.
pub(super) fn listed(tree: &PackageTree) -> Vec<String> {
    let mut all = Vec::new();
    list_below(tree, Path::new(""), &mut all);
    all.sort();
    all
}

fn list_below(tree: &PackageTree, dir: &Path, all: &mut Vec<String>) {
    for entry in tree.list(dir).expect("a directory") {
        let path = dir.join(&entry.name);
        let shown = format!("m/{}", slashed(&path));
        match entry.kind {
            FileKind::Directory if shown == "m/.git" => all.push("m/.git/".to_owned()),
            FileKind::Directory => list_below(tree, &path, all),
            FileKind::Symlink => {
                let target = tree.link(&path).expect("a link");
                all.push(format!("{shown} -> {}", slashed(target)));
            }
            FileKind::File | FileKind::Other => all.push(shown),
        }
    }
}

fn fetched(
    case: &PackageCase,
    source: &RemoteModule,
    input: &Value,
    flavor: Flavor,
) -> Result<Vec<String>, String> {
    let tree = if source.package.starts_with("git::") {
        let request = GitRequest {
            package: &source.package,
            origin: AddressOrigin::User,
            flavor,
            files: GitFiles::Small,
        };
        let package = fetch_package(case.world(), &request, GitLimits::MODULE);
        package.map_err(|error| error.to_string())?.tree
    } else {
        let name = source.package.rsplit('/').next().expect("a name");
        let Some(NamedArchive::Archive(kind)) = NamedArchive::of_path(name, flavor) else {
            return Err("no archive".to_owned());
        };
        let described = input["archives"].get(name).ok_or("no such archive")?;
        let file = Box::new(Cursor::new(archive(described)));
        read_archive(kind, file).map_err(|error| error.to_string())?
    };
    tree.expand(&source.sub, SubdirectoryPattern::Glob)
        .map_err(|error| error.to_string())?;
    Ok(listed(&tree))
}

/// How many cases are tried at once.
const THREADS: usize = 2;

#[track_caller]
fn check(group: &str, enough: usize) {
    let cases = load(group);
    let queue = Mutex::new(cases.iter());
    let results = Mutex::new((0, Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                let lab = ModuleLab::start();
                loop {
                    let Some(case) = queue.lock().unwrap().next() else {
                        return;
                    };
                    let outcomes = check_case(&lab, group, case);
                    let mut results = results.lock().unwrap();
                    results.0 += outcomes.len();
                    results.1.extend(outcomes.into_iter().flatten());
                }
            });
        }
    });
    let (checked, mut faults) = results.into_inner().unwrap();
    faults.sort();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(checked >= enough, "{checked} outcomes");
}

/// Returns for each program what is wrong, if something is; nothing for a case of another kind.
fn check_case(lab: &ModuleLab, group: &str, case: &Value) -> Vec<Option<String>> {
    let mut outcomes = Vec::new();
    let id = case["id"].as_str().expect("an id");
    let input = &case["input"];
    let is_excepted = EXCEPTIONS.iter().any(|(name, _)| *name == id);
    let has_steps = input["steps"]
        .as_array()
        .is_some_and(|steps| steps.len() > 1);
    let Some(source) = source_of(case) else {
        return outcomes;
    };
    if is_excepted || has_steps || input["git"] == "stub" {
        return outcomes;
    }
    let made = PackageCase::new(lab, input);
    for (program, flavor) in PROGRAMS {
        // Which commit a ref means is where the two differ, even if not in this case.
        let is_same = case["outcomes"][program].is_string() && !id.starts_with("git-ref");
        let Some(outcome) = outcome(case, program).filter(|_| !is_same) else {
            continue;
        };
        let Ok(ModuleSource::Remote(source)) = ModuleSource::parse(&made.fill(&source), flavor)
        else {
            continue;
        };
        if !source.package.starts_with("git::") && group == "git" {
            continue;
        }
        let outcome = &outcome[0];
        let found = fetched(&made, &source, input, flavor);
        let wanted: Vec<String> = outcome["files"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|file| made.fill(file.as_str().expect("text")))
            .collect();
        made.run.check_nothing_is_left();
        outcomes.push(match (&found, outcome["exit"].as_i64()) {
            (Ok(files), Some(0)) if *files == wanted => None,
            (Err(_), Some(1)) => None,
            _ => Some(format!("{id} {program}: {found:?} instead of {wanted:?}")),
        });
    }
    outcomes
}

#[test]
#[cfg_attr(windows, ignore = "the cases run programs of Unix and name its paths")]
fn archives_hold_what_the_programs_unpack() {
    check("archives", 25);
}

/// Windows has neither shells for the helpers of the cases nor links.
#[cfg(unix)]
#[test]
fn repositories_hold_what_the_programs_check_out() {
    check("git", 90);
}
