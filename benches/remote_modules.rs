//! How long it takes to find the modules of a root that calls many of a registry, and what it costs.
//!
//! `cargo bench --bench remote_modules` prints wall time, requests and bytes of `lock` without and with a
//! cache, and of `terraform init` where `terraform` is on the PATH. Registry and repositories are servers of
//! this process, which answer at once; an argument is a time in milliseconds by which they delay their answers.
#![allow(clippy::unwrap_used, reason = "a bench may stop at the first surprise")]
#![allow(clippy::print_stdout, reason = "figures are what it is for")]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "benches touch the real world"
)]

#[path = "../tests/support/module_lab/mod.rs"]
mod module_lab;
#[path = "../tests/support/registry/mod.rs"]
mod registry;
#[path = "../tests/support/seed.rs"]
mod seed;
#[path = "../tests/support/servers.rs"]
mod servers;
#[path = "../tests/support/temp.rs"]
mod temp;
#[path = "../tests/support/zips.rs"]
mod zips;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use module_lab::ModuleLab;
use module_lab::git;
use serde_json::{Map, Value, json};

const REPOSITORIES: usize = 5;
/// How many modules of the registry are directories of one repository.
const MODULES_EACH: usize = 6;
/// How many commits a repository has, each with a tag.
const COMMITS: usize = 20;
const VERSION: &str = "1.19.0";
/// How often each run is made; the fastest counts.
const TIMES: usize = 5;

/// What is in the middle of the real ones: some settings, variables, a few resources, an output.
const MODULE: &str = r#"terraform {
  required_version = ">= 1.0"
  required_providers {
    alpha = {
      source  = "acme/alpha"
      version = ">= 1.0, < 3.0"
    }
    beta = {
      source  = "acme/beta"
      version = "~> 1.1"
    }
  }
}

resource "alpha_machine" "main" {
  count   = 2
  name    = format("%s-%d", var.name, count.index)
  network = var.network
}
"#;

/// A root, the programs that lock it, and where its modules come from.
struct Setting {
    servers: ModuleLab,
    dir: tempfile::TempDir,
}

/// What a run came to.
struct Cost {
    wall: Duration,
    requests: usize,
    bytes: usize,
}

fn main() {
    let delay = std::env::args().skip(1).find_map(|arg| arg.parse().ok());
    let setting = Setting::new(delay.unwrap_or(0));
    println!(
        "{} modules of a registry, {REPOSITORIES} repositories",
        REPOSITORIES * MODULES_EACH
    );
    println!("run                            wall  requests      bytes");
    let lockctl = Path::new(env!("CARGO_BIN_EXE_lockctl"));
    let mirror = setting.path("mirror").display().to_string();
    let lock = [
        "lock",
        "--flavor",
        "terraform@1.11",
        "--platform",
        "linux_amd64",
        "--fs-mirror",
        &mirror,
    ];
    let cold = setting.fastest(&["cache"], || setting.command(lockctl, &lock));
    cold.print("lockctl lock, cold");
    let warm = setting.fastest(&[], || setting.command(lockctl, &lock));
    warm.print("lockctl lock, warm");
    assert_eq!(warm.requests, 0, "exact versions are not asked for again");
    let tree = ["tree", "--flavor", "terraform@1.11", "--modules", "fetch"];
    let tree = setting.fastest(&[], || setting.command(lockctl, &tree));
    tree.print("lockctl tree, warm");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut terraform = std::env::split_paths(&path).map(|dir| dir.join("terraform"));
    let Some(terraform) = terraform.find(|program| program.is_file()) else {
        println!("skipped: terraform is not on PATH");
        return;
    };
    let init = ["init", "-backend=false", "-input=false"];
    let init = setting.fastest(&[], || setting.command(&terraform, &init));
    init.print("terraform init -backend=false");
}

impl Setting {
    fn new(delay: u64) -> Self {
        let setting = Self {
            servers: ModuleLab::start(),
            dir: tempfile::tempdir().unwrap(),
        };
        let symbols = setting.servers.symbols();
        let (_, host) = symbols.iter().find(|(name, _)| *name == "<LAB>").unwrap();
        let ca = setting.servers.ca_file();
        setting.write(
            "home/.gitconfig",
            &format!("[http]\n\tsslCAInfo = {}\n", ca.display()),
        );
        let mirror = setting.path("mirror");
        let cli = format!(
            "provider_installation {{\n  filesystem_mirror {{\n    path = {mirror:?}\n  }}\n}}\n"
        );
        setting.write("cli.tfrc", &cli);
        for name in ["alpha", "beta"] {
            let dir = format!("mirror/registry.terraform.io/acme/{name}/1.2.3/linux_amd64");
            setting.write(&format!("{dir}/terraform-provider-{name}_v1.2.3"), name);
        }
        let delay = Duration::from_millis(delay).as_secs_f64();
        let answer = |mut route: Value| {
            if delay > 0.0 {
                route["delay"] = json!(delay);
            }
            route
        };
        let discovery = json!({"json": {"modules.v1": "/mods/"}});
        let mut routes = Map::new();
        routes.insert("/.well-known/terraform.json".to_owned(), answer(discovery));
        let mut main = String::new();
        let mut repos = Map::new();
        for repository in 0..REPOSITORIES {
            let name = format!("repo{repository}");
            repos.insert(name.clone(), json!({ "commits": commits() }));
            for at in 0..MODULES_EACH {
                let base = format!("/mods/acme/{name}-m{at}/lab");
                let versions: Vec<Value> =
                    versions().map(|one| json!({ "version": one })).collect();
                let list = json!({"json": {"modules": [{ "versions": versions }]}});
                routes.insert(format!("{base}/versions"), answer(list));
                let place =
                    format!("git::https://{host}/git/{name}.git//modules/m{at}?ref=v{VERSION}");
                let place = json!({"status": 204, "headers": {"X-Terraform-Get": place}});
                routes.insert(format!("{base}/{VERSION}/download"), answer(place));
                writeln!(
                    main,
                    "module \"{name}-m{at}\" {{\n  source  = \"{host}/acme/{name}-m{at}/lab\"\n  version = {VERSION:?}\n}}\n"
                )
                .unwrap();
            }
        }
        setting.write("main.tf", &main);
        let repos_dir = setting.path("repos");
        fs::create_dir(&repos_dir).unwrap();
        git::make_repos(&repos_dir, &Value::Object(repos));
        setting
            .servers
            .serve(&json!({ "routes": routes }), &repos_dir);
        setting
    }

    fn path(&self, below: &str) -> PathBuf {
        self.dir.path().join(below)
    }

    fn write(&self, below: &str, text: &str) {
        let path = self.path(below);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn command(&self, program: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(args)
            .current_dir(self.path("root"))
            .stdin(Stdio::null())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.path("home"))
            .env("LOCKCTL_CACHE_DIR", self.path("cache"))
            .env("TF_CLI_CONFIG_FILE", self.path("cli.tfrc"))
            .env("SSL_CERT_FILE", self.servers.ca_file())
            .env("SSL_CERT_DIR", "/nonexistent")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("CHECKPOINT_DISABLE", "1");
        command
    }

    /// Runs a command several times in a fresh root, without some directories; returns the cost of the
    /// fastest run.
    fn fastest(&self, without: &[&str], command: impl Fn() -> Command) -> Cost {
        let runs = (0..TIMES).map(|_| {
            for dir in without.iter().chain(&["root"]) {
                let _ = fs::remove_dir_all(self.path(dir));
            }
            fs::create_dir(self.path("root")).unwrap();
            fs::copy(self.path("main.tf"), self.path("root/main.tf")).unwrap();
            self.servers.forget();
            let mut command = command();
            let start = Instant::now();
            let ended = command.output().unwrap();
            let wall = start.elapsed();
            let said = String::from_utf8_lossy(&ended.stderr);
            assert!(ended.status.success(), "{command:?}\n{said}");
            let requests = self.servers.requests();
            Cost {
                wall,
                requests: requests.len(),
                bytes: requests.iter().map(|one| one.bytes).sum(),
            }
        });
        runs.min_by_key(|cost| cost.wall).unwrap()
    }
}

impl Cost {
    fn print(&self, run: &str) {
        let Self {
            wall,
            requests,
            bytes,
        } = self;
        let wall = wall.as_secs_f64() * 1000.0;
        println!("{run:30} {wall:7.1} ms {requests:7} {bytes:10}");
    }
}

fn versions() -> impl Iterator<Item = String> {
    (0..COMMITS).map(|minor| format!("1.{minor}.0"))
}

/// Makes the commits of a repository: modules, each with documentation and an example.
fn commits() -> Vec<Value> {
    let commits = versions().enumerate().map(|(commit, version)| {
        let mut files = Map::new();
        for at in 0..MODULES_EACH {
            let mut variables = String::new();
            let mut table = format!("# Module {at}, version {version}\n\n| Name | Meaning |\n|---|---|\n");
            for n in 0..60 {
                let name = match n {
                    0 => "name".to_owned(),
                    1 => "network".to_owned(),
                    n => format!("setting_{n}_{}", commit / 4),
                };
                writeln!(
                    variables,
                    "variable \"{name}\" {{\n  type        = string\n  description = \"What setting {n} of module {at} is\"\n  default     = null\n}}\n"
                )
                .unwrap();
                writeln!(table, "| {name} | What setting {n} of module {at} is |").unwrap();
            }
            let dir = format!("modules/m{at}");
            files.insert(format!("{dir}/main.tf"), json!(MODULE));
            files.insert(format!("{dir}/variables.tf"), json!(variables));
            files.insert(format!("{dir}/README.md"), json!(table));
            let example = format!("module \"example\" {{\n  source = \"../../modules/m{at}\"\n}}\n");
            files.insert(format!("examples/m{at}/main.tf"), json!(example));
        }
        json!({ "files": files, "tags": [format!("v{version}")] })
    });
    commits.collect()
}
