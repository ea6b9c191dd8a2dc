//! Git repositories as cases describe them, served by `git http-backend`.
//!
//! Names and dates of commits are fixed, so that their ids are the same on every machine.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use super::site::plain;
use super::{Asked, Reply};

const WHO: &str = "Lab <lab@lab.test>";
const EPOCH: usize = 1_700_000_000;

/// The ids of the commits of each repository.
pub(crate) type CommitIds = BTreeMap<String, Vec<String>>;

/// Returns the path of git in the directories of a `PATH`.
///
/// For a name and another `PATH` the standard library forks, which copies the page tables of this process. With all
/// tests in it, that took longer than git.
pub(crate) fn program(path: impl AsRef<OsStr>) -> PathBuf {
    std::env::split_paths(&path)
        .map(|dir| dir.join("git"))
        .find(|place| place.is_file())
        .unwrap_or_else(|| "git".into())
}

/// Starts git with nothing of the user's settings.
fn git() -> Command {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut git = Command::new(program(&path));
    git.env_clear()
        .env("PATH", path)
        .env("HOME", "/nonexistent")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("LC_ALL", "C");
    git
}

/// Returns settings of git that trust the certificates of a lab, and read no others, which takes long.
pub(crate) fn settings(ca_file: &Path, empty_dir: &Path) -> String {
    let (ca_file, empty_dir) = (ca_file.display(), empty_dir.display());
    format!("[http]\n\tsslCAInfo = {ca_file}\n\tsslCAPath = {empty_dir}\n")
}

/// Makes the bare repositories `NAME.git` of a case in a directory; a submodule names one that was made
/// before.
pub(crate) fn make_repos(dir: &Path, described: &Value) -> CommitIds {
    let mut ids = CommitIds::new();
    for (name, one) in described.as_object().into_iter().flatten() {
        let made = make_repo(&dir.join(format!("{name}.git")), one, &ids);
        ids.insert(name.clone(), made);
    }
    ids
}

/// Makes a work tree of a repository of [`make_repos`], at a ref if one is given.
pub(crate) fn check_out(repo: &Path, reference: Option<&str>, dir: &Path) {
    let clone = ["clone", "-q", "--template="];
    run(git().args(clone).arg(repo).arg(dir));
    if let Some(reference) = reference {
        run(git().arg("-C").arg(dir).args(["checkout", "-q", reference]));
    }
}

/// A repository as it was made: git needs three processes for it, and most cases are run several times.
struct MadeRepo {
    ids: Vec<String>,
    directories: Vec<PathBuf>,
    files: Vec<(PathBuf, Vec<u8>)>,
}

/// Makes a repository, or the copy of one that was made of the same description; returns the ids of its
/// commits.
fn make_repo(path: &Path, described: &Value, others: &CommitIds) -> Vec<String> {
    static MADE: Mutex<BTreeMap<String, MadeRepo>> = Mutex::new(BTreeMap::new());
    let known = || MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let key = format!("{described} {others:?}");
    if let Some(made) = known().get(&key) {
        for below in &made.directories {
            fs::create_dir_all(path.join(below)).unwrap();
        }
        for (below, content) in &made.files {
            fs::write(path.join(below), content).unwrap();
        }
        return made.ids.clone();
    }
    let mut made = MadeRepo {
        ids: make_anew(path, described, others),
        directories: vec![PathBuf::new()],
        files: Vec::new(),
    };
    let mut read = 0;
    while let Some(below) = made.directories.get(read).cloned() {
        read += 1;
        for entry in fs::read_dir(path.join(&below)).unwrap() {
            let entry = entry.unwrap();
            let below = below.join(entry.file_name());
            if entry.file_type().unwrap().is_dir() {
                made.directories.push(below);
            } else {
                made.files.push((below, fs::read(entry.path()).unwrap()));
            }
        }
    }
    let ids = made.ids.clone();
    known().insert(key, made);
    ids
}

fn make_anew(path: &Path, described: &Value, others: &CommitIds) -> Vec<String> {
    let init = ["init", "-q", "--bare", "-b", "main", "--template="];
    run(git().args(init).arg(path));
    let commits = described["commits"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    let mut out = Vec::new();
    let mut tips: BTreeMap<&str, usize> = BTreeMap::new();
    let mut tags = Vec::new();
    for (at, commit) in commits.iter().enumerate() {
        let (number, branch) = (at + 1, commit["on"].as_str().unwrap_or("main"));
        let time = EPOCH + at;
        let message = format!("commit {at}");
        let message = commit["message"].as_str().unwrap_or(&message);
        write!(
            out,
            "commit refs/heads/{branch}\nmark :{number}\nauthor {WHO} {time} +0000\ncommitter {WHO} {time} \
             +0000\ndata {}\n{message}\n",
            message.len()
        )
        .unwrap();
        let from = commit["from"].as_u64();
        let from = from.map(|from| usize::try_from(from).unwrap() + 1);
        if let Some(parent) = from.or_else(|| tips.get(branch).copied()) {
            writeln!(out, "from :{parent}").unwrap();
        }
        write_files(&mut out, commit, others);
        writeln!(out).unwrap();
        tips.insert(branch, number);
        for (kind, annotated) in [("tags", false), ("annotated", true)] {
            let names = commit[kind].as_array().into_iter().flatten();
            tags.extend(names.map(|name| (name.as_str().unwrap(), number, annotated)));
        }
    }
    for (tag, number, annotated) in tags {
        let text = match annotated {
            true => format!(
                "tag {tag}\nfrom :{number}\ntagger {WHO} {EPOCH} +0000\ndata {}\n{tag}\n",
                tag.len()
            ),
            false => format!("reset refs/tags/{tag}\nfrom :{number}\n\n"),
        };
        out.extend(text.into_bytes());
    }
    for (name, number) in described["refs"].as_object().into_iter().flatten() {
        writeln!(
            out,
            "reset {name}\nfrom :{}\n",
            number.as_u64().unwrap() + 1
        )
        .unwrap();
    }
    let ids = import(path, &out, commits.len());
    let head = match described.get("head") {
        None => Some("main"),
        Some(head) => head.as_str(),
    };
    if let Some(head) = head {
        let head = format!("refs/heads/{head}");
        run(git()
            .arg("-C")
            .arg(path)
            .args(["symbolic-ref", "HEAD", &head]));
    }
    ids
}

/// Writes the changes of a commit, files in order of their names, then submodules.
fn write_files(out: &mut Vec<u8>, commit: &Value, others: &CommitIds) {
    let mut files: BTreeMap<String, Value> = commit["files"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, file)| (name.clone(), file.clone()))
        .collect();
    let modules = commit["submodules"].as_object();
    if let Some(modules) = modules {
        let mut text = String::new();
        for (path, module) in modules {
            let url = module["url"].as_str().unwrap();
            write!(
                text,
                "[submodule \"{path}\"]\n\tpath = {path}\n\turl = {url}\n"
            )
            .unwrap();
        }
        files.insert(".gitmodules".to_owned(), Value::String(text));
    }
    for (name, file) in files {
        let (mode, text) = match &file {
            Value::Null => {
                writeln!(out, "D {name}").unwrap();
                continue;
            }
            Value::String(text) => ("100644", &**text),
            link if link.get("link").is_some() => ("120000", link["link"].as_str().unwrap()),
            other => ("100755", other["exec"].as_str().unwrap()),
        };
        writeln!(out, "M {mode} inline {name}\ndata {}\n{text}", text.len()).unwrap();
    }
    for (path, module) in modules.into_iter().flatten() {
        let ids = &others[module["repo"].as_str().unwrap()];
        let at = module["commit"].as_u64().unwrap_or_default();
        let id = &ids[usize::try_from(at).unwrap()];
        writeln!(out, "M 160000 {id} {path}").unwrap();
    }
}

/// Imports commits; returns their ids.
fn import(path: &Path, stream: &[u8], commits: usize) -> Vec<String> {
    let marks = path.join("lab.marks");
    let mut import = git();
    import.arg("-C").arg(path).args(["fast-import", "--quiet"]);
    import.arg(format!("--export-marks={}", marks.display()));
    let ended = with_input(&mut import, stream);
    assert!(ended.status.success(), "{ended:?}");
    let text = fs::read_to_string(&marks).unwrap_or_default();
    let _ = fs::remove_file(&marks);
    let ids: BTreeMap<&str, &str> = text
        .lines()
        .filter_map(|line| line.split_once(' '))
        .collect();
    let id = |number: usize| ids[&*format!(":{number}")].to_owned();
    (1..=commits).map(id).collect()
}

/// Answers a request below `/git`.
pub(super) fn respond(asked: &Asked, inside: &str, repos: &Path) -> Reply {
    let query = asked.target.split_once('?').map_or("", |(_, query)| query);
    let field = |name: &str| asked.headers.get(name).map_or("", |value| &**value);
    let mut backend = git();
    backend
        .arg("http-backend")
        .env("GIT_PROJECT_ROOT", repos)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("PATH_INFO", inside)
        .env("QUERY_STRING", query)
        .env("REQUEST_METHOD", &asked.method)
        .env("CONTENT_TYPE", field("content-type"))
        .env("CONTENT_LENGTH", asked.body.len().to_string())
        .env("GIT_PROTOCOL", field("git-protocol"))
        .env("HTTP_CONTENT_ENCODING", field("content-encoding"))
        .env("REMOTE_ADDR", "127.0.0.1");
    let ended = with_input(&mut backend, &asked.body);
    let separator = b"\r\n\r\n";
    let end = ended.stdout.windows(4).position(|four| four == separator);
    let Some(end) = end else {
        return plain(500, "the program git gave no answer");
    };
    let mut reply = plain(200, "");
    reply.headers.clear();
    for line in String::from_utf8_lossy(&ended.stdout[..end]).lines() {
        match line.split_once(": ") {
            Some(("Status", status)) => {
                let digits = status.split(' ').next().unwrap();
                reply.status = digits.parse().unwrap();
            }
            Some((name, value)) => reply.headers.push((name.to_owned(), value.to_owned())),
            None => {}
        }
    }
    reply.body = ended.stdout[end + separator.len()..].to_vec();
    reply
}

/// Runs a program that reads what it is given.
fn with_input(command: &mut Command, input: &[u8]) -> std::process::Output {
    let command = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn().expect("git is on the PATH");
    let mut stdin = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        // It may print before it has read everything.
        scope.spawn(move || {
            let _ = stdin.write_all(input);
        });
        child.wait_with_output().unwrap()
    })
}

fn run(command: &mut Command) {
    let status = command.status().expect("git is on the PATH");
    assert!(status.success(), "{command:?}");
}
