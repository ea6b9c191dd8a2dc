//! One case in a directory of its own, with lockctl run there as a program.
//!
//! It is a program of its own because git takes its settings from the environment of the process.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use lockctl::world::clean;
use serde_json::{Value, json};

use crate::module_lab::ModuleLab;
use crate::module_lab::git::{self, CommitIds};

/// A case that was set up.
pub(super) struct Case<'a> {
    lab: &'a ModuleLab,
    pub(super) input: Value,
    dir: tempfile::TempDir,
    symbols: Vec<(String, String)>,
    ids: CommitIds,
    flavor: &'static str,
}

/// What lockctl found.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) code: i32,
    /// The titles of all errors, with their rules.
    pub(super) errors: Vec<(String, String)>,
    /// The modules by their keys, root left out: directory and version.
    pub(super) modules: BTreeMap<String, (String, Option<String>)>,
    /// The calls that cannot be seen, with the title of why.
    pub(super) unseen: Vec<(String, String)>,
    /// The requests that carried credentials.
    pub(super) with_credentials: Vec<String>,
    /// Everything that was asked, as recorded outcomes write it.
    pub(super) requests: Vec<String>,
    /// The URLs that git was given, where the case has a program in its place.
    pub(super) cloned: Option<BTreeSet<String>>,
    pub(super) stderr: String,
}

impl Found {
    /// Returns whether every module was found, without an error.
    pub(super) fn succeeds(&self) -> bool {
        self.code == 0 && self.unseen.is_empty()
    }

    /// Returns the titles of all errors, and of what is not visible.
    pub(super) fn titles(&self) -> BTreeSet<String> {
        let titles = self.errors.iter().chain(&self.unseen);
        titles.map(|(title, _)| title.clone()).collect()
    }
}

impl<'a> Case<'a> {
    pub(super) fn new(lab: &'a ModuleLab, input: &Value, host: &str, flavor: &'static str) -> Self {
        let dir = crate::temp::dir();
        let dir_text = fs::canonicalize(dir.path()).unwrap().display().to_string();
        let mut symbols: Vec<(String, String)> = lab
            .symbols()
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect();
        for name in ["ROOT", "HOME", "REPOS", "ELSEWHERE", "TMP"] {
            let below = match name {
                "ROOT" => "work".to_owned(),
                other => other.to_lowercase(),
            };
            symbols.push((format!("<{name}>"), format!("{dir_text}/{below}")));
        }
        symbols.push(("<DIR>".to_owned(), dir_text));
        symbols.push(("<HOST>".to_owned(), host.to_owned()));
        let mut case = Self {
            lab,
            input: input.clone(),
            dir,
            symbols,
            ids: CommitIds::new(),
            flavor,
        };
        case.prepare();
        case
    }

    pub(super) fn path(&self, below: &str) -> PathBuf {
        fs::canonicalize(self.dir.path()).unwrap().join(below)
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
                for digits in 4..=40 {
                    text = text.replace(&format!("<{name}#{at}:{digits}>"), &id[..digits]);
                }
            }
        }
        text
    }

    /// Puts symbols where their values are.
    pub(super) fn plain(&self, text: &str) -> String {
        let mut symbols: Vec<&(String, String)> = self.symbols.iter().collect();
        symbols.sort_by_key(|(_, value)| std::cmp::Reverse(value.len()));
        let mut text = text.to_owned();
        for (name, value) in symbols {
            if name != "<HOST>" {
                text = text.replace(value, name);
            }
        }
        for (name, ids) in &self.ids {
            for (at, id) in ids.iter().enumerate() {
                text = text.replace(id, &format!("<{name}#{at}>"));
            }
        }
        text
    }

    fn filled(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.fill(text)),
            Value::Array(items) => items.iter().map(|item| self.filled(item)).collect(),
            Value::Object(members) => {
                let members = members.iter();
                Value::Object(
                    members
                        .map(|(name, member)| (self.fill(name), self.filled(member)))
                        .collect(),
                )
            }
            other => other.clone(),
        }
    }

    fn prepare(&mut self) {
        for below in [
            "home",
            "tmp",
            "bin",
            "repos",
            "stub",
            "work",
            "elsewhere",
            "empty",
        ] {
            fs::create_dir(self.path(below)).unwrap();
        }
        let repos = self.filled(&self.input["repos"]);
        self.ids = git::make_repos(&self.path("repos"), &repos);
        let input = self.filled(&self.input);
        self.lab.serve(&input, &self.path("repos"));
        let usual = git::settings(&self.lab.ca_file(), &self.path("empty"));
        let gitconfig = input["gitconfig"].as_str().unwrap_or(&usual);
        fs::write(self.path("home/.gitconfig"), gitconfig).unwrap();
        self.put("home", &input["home"]);
        self.put("elsewhere", &input["elsewhere"]);
        self.put("work", &input["root"]);
        let cli = input["cli"].as_str().unwrap_or_default();
        fs::write(self.path("rc"), cli).unwrap();
        if input["git"] == "stub" {
            self.put_stub(&input["stub"]);
        }
        for (name, text) in input["bin"].as_object().into_iter().flatten() {
            self.put_program(name, text.as_str().unwrap());
        }
    }

    /// Puts a program in the place of git that serves the same files whatever URL it is given, and notes the URL.
    fn put_stub(&self, files: &Value) {
        let files = match files {
            Value::Null => json!({"main.tf": "output \"stub\" {\n  value = 1\n}\n"}),
            files => files.clone(),
        };
        let commits = json!([{"files": files, "tags": ["v1"]}]);
        git::make_repos(&self.path("stub"), &json!({"r": {"commits": commits}}));
        let script = format!(
            r#"#!/bin/sh
for word; do
    case $word in
    https://* | ssh://*)
        echo "$word" >>'{log}'
        word='file://{repo}'
        ;;
    esac
    set -- "$@" "$word"
    shift
done
PATH='{path}' GIT_ALLOW_PROTOCOL=file exec git "$@"
"#,
            log = self.path("stub/urls").display(),
            repo = self.path("stub/r.git").display(),
            path = std::env::var("PATH").unwrap(),
        );
        self.put_program("git", &script);
    }

    /// Returns the URLs that the program in the place of git was given.
    fn cloned(&self) -> Option<BTreeSet<String>> {
        let log = fs::read_to_string(self.path("stub/urls")).unwrap_or_default();
        let urls = log.lines().map(|url| self.plain(url)).collect();
        (self.input["git"] == "stub").then_some(urls)
    }

    fn put_program(&self, name: &str, text: &str) {
        let path = self.path("bin").join(name);
        fs::write(&path, text).unwrap();
        make_executable(&path);
    }

    /// Writes the files of a description below a directory of the case.
    pub(super) fn put(&self, below: &str, files: &Value) {
        for (name, file) in files.as_object().into_iter().flatten() {
            let path = self.path(below).join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            if path.symlink_metadata().is_ok_and(|kind| !kind.is_dir()) {
                fs::remove_file(&path).unwrap();
            }
            match file {
                Value::Null => {
                    let _ = fs::remove_dir_all(&path);
                }
                Value::String(text) => fs::write(&path, text).unwrap(),
                file if file["link"].is_string() => {
                    let target = file["link"].as_str().unwrap();
                    crate::disk::link(target, &path);
                }
                file if file["dir"] == true => fs::create_dir_all(&path).unwrap(),
                file if file["archive"].is_string() => {
                    let archive = &self.input["archives"][file["archive"].as_str().unwrap()];
                    let archive = self.filled(archive);
                    fs::write(&path, crate::module_lab::archive(&archive)).unwrap();
                }
                file => {
                    fs::write(&path, file["exec"].as_str().unwrap()).unwrap();
                    make_executable(&path);
                }
            }
        }
    }

    /// Makes the changes that come before a step.
    pub(super) fn change(&mut self, step: &Value) {
        for (name, repo) in step["repos"].as_object().into_iter().flatten() {
            let dir = self.path("repos").join(format!("{name}.git"));
            let _ = fs::remove_dir_all(dir);
            let repo = self.filled(&serde_json::json!({ name: repo }));
            self.ids.extend(git::make_repos(&self.path("repos"), &repo));
        }
        let step = self.filled(step);
        self.put("work", &step["set"]);
        self.put("home", &step["home"]);
        self.lab.add_routes(&step["routes"]);
        self.lab.forget();
    }

    /// Runs `lockctl tree`.
    pub(super) fn tree(&self, step: &Value, modules: &str) -> Found {
        let mut program = Command::new(env!("CARGO_BIN_EXE_lockctl"));
        program
            .current_dir(self.path("work"))
            .args(["tree", "--format", "json", "--flavor", self.flavor])
            .args(["--modules", modules])
            .stdin(Stdio::null())
            .env_clear();
        for (name, value) in self.environment(step) {
            program.env(name, value);
        }
        let ended = program.output().unwrap();
        let stderr = self.plain(&String::from_utf8_lossy(&ended.stderr));
        let document: Value = serde_json::from_slice(&ended.stdout)
            .unwrap_or_else(|error| panic!("{error}: {stderr}"));
        let mut found = Found {
            code: ended.status.code().unwrap(),
            errors: Vec::new(),
            modules: BTreeMap::new(),
            unseen: Vec::new(),
            with_credentials: Vec::new(),
            requests: Vec::new(),
            cloned: self.cloned(),
            stderr,
        };
        self.read(&document, &mut found);
        for request in self.lab.requests() {
            let status = request.status;
            let status = status.map_or_else(|| "late".to_owned(), |status| status.to_string());
            let line = format!("{} {} {}", request.method, request.host, request.target);
            let line = self.plain(&line);
            if let Some(auth) = request.auth {
                found.with_credentials.push(format!("{line} auth={auth}"));
            }
            found.requests.push(format!("{line} {status}"));
        }
        found
    }

    fn environment(&self, step: &Value) -> BTreeMap<String, String> {
        let text = |path: PathBuf| path.display().to_string();
        let own = text(self.path("bin"));
        let path = match self.input["git"] == "none" {
            true => own,
            false => format!("{own}:{}", std::env::var("PATH").unwrap()),
        };
        let ca = text(self.lab.ca_file());
        let proxy = format!("http://{}", self.fill("<PROXY>"));
        let mut env: BTreeMap<String, String> = [
            ("PATH", path),
            ("HOME", text(self.path("home"))),
            ("TMPDIR", text(self.path("tmp"))),
            ("TF_CLI_CONFIG_FILE", text(self.path("rc"))),
            ("SSL_CERT_FILE", ca),
            ("SSL_CERT_DIR", "/nonexistent".to_owned()),
            ("GIT_CONFIG_NOSYSTEM", "1".to_owned()),
            ("LC_ALL", "C".to_owned()),
            ("NO_PROXY", "127.0.0.1,localhost".to_owned()),
            ("LOCKCTL_CACHE_DIR", text(self.path("cache"))),
            ("HTTP_PROXY", proxy.clone()),
            ("HTTPS_PROXY", proxy.clone()),
            ("http_proxy", proxy.clone()),
            ("https_proxy", proxy),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into();
        for given in [&self.input["env"], &step["env"]] {
            for (name, value) in given.as_object().into_iter().flatten() {
                match value.as_str() {
                    Some(value) => env.insert(name.clone(), self.fill(value)),
                    None => env.remove(name),
                };
            }
        }
        env
    }

    /// Returns a directory from the root on as the programs write it: absolute where it is outside.
    fn placed(&self, dir: &str) -> String {
        let work = self.path("work");
        let absolute = clean(&work.join(dir));
        match absolute.strip_prefix(&work) {
            Ok(below) => below.display().to_string(),
            Err(_) => self.plain(&absolute.display().to_string()),
        }
    }

    fn read(&self, document: &Value, found: &mut Found) {
        for root in document["roots"].as_array().into_iter().flatten() {
            for one in root["findings"].as_array().into_iter().flatten() {
                let text = |name: &str| one[name].as_str().unwrap_or_default().to_owned();
                match one["severity"].as_str() {
                    Some("error") => found.errors.push((text("title"), text("rule"))),
                    _ if one["rule"] == "module-not-visible" => {
                        found.unseen.push((text("title"), text("help")));
                    }
                    _ => {}
                }
            }
            for module in root["modules"].as_array().into_iter().flatten() {
                let address = module["path"].as_str().unwrap();
                if !["call", "run"].contains(&module["kind"].as_str().unwrap()) {
                    continue;
                }
                // The key of a run of a test file has no word for what it is.
                let key = address.replace("module.", "").replace(".run.", ".");
                if module["seen"] == true {
                    let dir = self.placed(module["dir"].as_str().unwrap_or_default());
                    let version = module["fetched"]["version"].as_str();
                    let version = version.map(str::to_owned);
                    found.modules.insert(key, (dir, version));
                }
            }
        }
        if let Some(failure) = document["failures"].as_array() {
            for one in failure {
                let title = one["title"].as_str().unwrap_or_default().to_owned();
                found.errors.push((title, "failure".to_owned()));
            }
        }
    }
}

#[cfg(unix)]
fn make_executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// On Windows the name of a file says whether it is a program.
#[cfg(windows)]
fn make_executable(_: &Path) {}
