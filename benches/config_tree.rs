//! How long it takes to read large module trees from the disk.
//!
//! `cargo bench --bench config_tree` prints the time of the processor for each tree. With a folder
//! as its argument it leaves the trees there, so that other programs can be run on them.
#![allow(clippy::unwrap_used, reason = "a bench may stop at the first surprise")]
#![allow(clippy::print_stdout, reason = "figures are what it is for")]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "benches touch the real world"
)]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use lockctl::config::{self, Loaded, MAX_DEPTH, Settings};
use lockctl::diag::{Severity, Texts};
use lockctl::flavor::Flavor;
use lockctl::os::RealDisk;
use lockctl::world::CachedDisk;

const MODULES: usize = 2000;
/// How many calls have computed sources, each of a module with one more.
const COMPUTED: usize = 500;
/// How often a tree is read; the fastest counts.
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
      version = "~> 2.1"
    }
  }
}

variable "name" {
  type        = string
  description = "What everything here is called"
  default     = "x"
}

locals {
  tags = { for key in ["a", "b"] : key => "${var.name}-${key}" }
}

resource "alpha_network" "main" {
  name = var.name
  tags = local.tags
  lifecycle {
    ignore_changes = [tags]
  }
}

resource "alpha_machine" "main" {
  count   = 2
  name    = format("%s-%d", var.name, count.index)
  network = alpha_network.main.id
  dynamic "disk" {
    for_each = toset(["a", "b"])
    content {
      name = disk.value
    }
  }
}

data "beta_image" "main" {
  filter = jsonencode({ name = var.name, tags = local.tags })
}

output "machines" {
  value = alpha_machine.main[*].id
}
"#;

fn main() {
    let kept = std::env::args().skip(1).find(|arg| !arg.starts_with('-'));
    let dir = tempfile::tempdir().unwrap();
    let dir = kept.as_ref().map_or(dir.path(), Path::new);
    println!("tree        modules  requirements       CPU  per module");
    for (name, make) in [
        ("one", one as fn(&Path)),
        ("wide", wide),
        ("deep", deep),
        ("same", same),
        ("installed", installed),
        ("layers", layers),
        ("computed", computed),
    ] {
        let root = dir.join(name);
        if !root.exists() {
            make(&root);
        }
        measure(name, &root);
    }
    for (roots, modules, bytes) in [(112, 1, 2 << 20), (172, 12, 200 << 10)] {
        let dir = dir.join(format!("shared-{roots}"));
        if !dir.exists() {
            shared(&dir, roots, modules, bytes);
        }
        measure_shared(&dir, roots, modules);
    }
}

/// Many roots that call the same modules: the time of all beside that of reading each directory once.
fn measure_shared(dir: &Path, roots: usize, modules: usize) {
    let root = |number: usize| dir.join(format!("live/{number}"));
    let distinct: Vec<_> = (0..modules)
        .map(|number| dir.join(format!("modules/{number}")))
        .chain((0..roots).map(root))
        .collect();
    let (mut once, mut all) = (Duration::MAX, Duration::MAX);
    for _ in 0..TIMES {
        let before = cpu();
        for dir in &distinct {
            config::glance(&RealDisk, dir, Flavor::Terraform1_11).unwrap();
        }
        once = once.min(cpu().saturating_sub(before));
        let before = cpu();
        let disk = CachedDisk::new(&RealDisk, dir.canonicalize().unwrap());
        // The search for roots looks at each directory first.
        for dir in &distinct {
            config::glance(&disk, dir, Flavor::Terraform1_11).unwrap();
        }
        for number in 0..roots {
            let settings = Settings::new(Flavor::Terraform1_11);
            let loaded = config::load(&disk, &mut Texts::default(), &root(number), &settings);
            assert_eq!(loaded.modules.len(), modules + 1);
        }
        all = all.min(cpu().saturating_sub(before));
    }
    let ratio = all.as_secs_f64() / once.as_secs_f64();
    println!(
        "{roots} roots, {modules} modules: {all:.1?}, {ratio:.2} x reading each directory once"
    );
}

/// Roots that call all modules, each of about so many bytes.
fn shared(dir: &Path, roots: usize, modules: usize, bytes: usize) {
    let mut calls = String::new();
    for number in 0..modules {
        call(
            &mut calls,
            &format!("m{number}"),
            &format!("../../modules/{number}"),
        );
        let mut text = MODULE.to_owned();
        for resource in 0.. {
            if text.len() >= bytes {
                break;
            }
            write!(text, "resource \"alpha_machine\" \"m{resource}\" {{\n  name = \"${{var.name}}-{resource}\"\n  tags = local.tags\n}}\n").unwrap();
        }
        write(dir, &format!("modules/{number}/main.tf"), &text);
    }
    for number in 0..roots {
        write(dir, &format!("live/{number}/main.tf"), &calls);
    }
}

fn measure(name: &str, root: &Path) {
    let (mut fastest, mut last) = (Duration::MAX, None);
    for _ in 0..TIMES {
        let before = cpu();
        let loaded = load(root);
        fastest = fastest.min(cpu().saturating_sub(before));
        last = Some(loaded);
    }
    let loaded = last.unwrap();
    let problems = loaded.diagnostics.iter();
    let errors = problems.filter(|one| one.severity == Severity::Error);
    assert_eq!(errors.count(), 0, "{name}: {:?}", loaded.diagnostics);
    let modules = loaded.modules.len();
    let requirements: usize = loaded.requirements.providers.values().map(Vec::len).sum();
    let each = fastest / u32::try_from(modules).unwrap();
    println!("{name:10} {modules:8} {requirements:13} {fastest:9.1?} {each:11.1?}");
}

fn load(root: &Path) -> Loaded {
    // What other versions compute, this one refuses.
    let flavor = match root.ends_with("computed") {
        true => Flavor::OpenTofu1_12,
        false => Flavor::Terraform1_11,
    };
    let settings = Settings::new(flavor);
    config::load(&RealDisk, &mut Texts::default(), root, &settings)
}

/// Returns the time that the processor spent on this thread, where the system says so; else what a
/// clock says.
fn cpu() -> Duration {
    let said = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = said.split_whitespace().next().and_then(|n| n.parse().ok());
    thread_local!(static START: Instant = Instant::now());
    nanos.map_or_else(|| START.with(Instant::elapsed), Duration::from_nanos)
}

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn call(text: &mut String, name: &str, source: &str) {
    writeln!(text, "module {name:?} {{\n  source = {source:?}\n}}").unwrap();
}

/// A root alone.
fn one(root: &Path) {
    write(root, "main.tf", MODULE);
}

/// A call of each of many directories.
fn wide(root: &Path) {
    let mut calls = String::new();
    for n in 0..MODULES {
        call(&mut calls, &format!("c{n}"), &format!("./modules/m{n}"));
        write(root, &format!("modules/m{n}/main.tf"), MODULE);
    }
    write(root, "main.tf", &calls);
}

/// Modules in each other, as deep as they may be.
fn deep(root: &Path) {
    for depth in 0..=MAX_DEPTH {
        let mut text = MODULE.to_owned();
        if depth < MAX_DEPTH {
            call(&mut text, "c", &format!("../m{}", depth + 1));
        }
        let path = match depth {
            0 => "main.tf".to_owned(),
            _ => format!("m{depth}/main.tf"),
        };
        write(root, &path, &text.replace("../m1\"", "./m1\""));
    }
}

/// Many calls of one directory.
fn same(root: &Path) {
    let mut calls = String::new();
    for n in 0..MODULES {
        call(&mut calls, &format!("c{n}"), "./module");
    }
    write(root, "module/main.tf", MODULE);
    write(root, "main.tf", &calls);
}

/// Many modules that the manifest knows.
fn installed(root: &Path) {
    let (mut calls, mut records) = (
        String::new(),
        vec![r#"{"Key":"","Source":"","Dir":"."}"#.into()],
    );
    for n in 0..MODULES {
        let text = format!("acme/m{n}/alpha");
        writeln!(
            calls,
            "module \"c{n}\" {{\n  source  = {text:?}\n  version = \"~> 1.0\"\n}}"
        )
        .unwrap();
        let dir = format!(".terraform/modules/c{n}");
        records.push(format!(
            r#"{{"Key":"c{n}","Source":"registry.terraform.io/{text}","Version":"1.2.3","Dir":{dir:?}}}"#
        ));
        write(root, &format!("{dir}/main.tf"), MODULE);
    }
    let manifest = format!("{{\"Modules\":[{}]}}", records.join(","));
    write(root, ".terraform/modules/modules.json", &manifest);
    write(root, "main.tf", &calls);
}

/// Four layers of calls, six to each of them: many ways lead to few directories.
fn layers(root: &Path) {
    for layer in 0..=4 {
        let mut text = MODULE.to_owned();
        if layer < 4 {
            for n in 0..6 {
                call(&mut text, &format!("c{n}"), &format!("../l{}", layer + 1));
            }
        }
        let path = match layer {
            0 => "main.tf".to_owned(),
            _ => format!("l{layer}/main.tf"),
        };
        write(root, &path, &text.replace("../l1\"", "./l1\""));
    }
}

/// Many calls whose sources follow from a file of values, through local values and arguments.
fn computed(root: &Path) {
    let mut main = r#"variable "teams" {
  type = map(object({ dir = string, size = optional(string, "small") }))
}

variable "stage" {
  type    = string
  default = "prod"
}

locals {
  dirs = { for name, team in var.teams : name => "${lower(team.dir)}-${var.stage}" }
}
"#
    .to_owned();
    let mut values = String::from("teams = {\n");
    for n in 0..COMPUTED {
        writeln!(values, "  t{n} = {{ dir = \"M{n}\" }}").unwrap();
        writeln!(
            main,
            "module \"c{n}\" {{\n  source = \"./modules/${{local.dirs[\"t{n}\"]}}\"\n  teams  = var.teams\n  team   = \"t{n}\"\n}}"
        )
        .unwrap();
        let text = format!(
            "{MODULE}variable \"teams\" {{\n  type = map(object({{ dir = string, size = string }}))\n}}\n\
             variable \"team\" {{}}\nmodule \"size\" {{\n  source = \"../../sizes/${{var.teams[var.team].size}}\"\n}}\n"
        );
        write(root, &format!("modules/m{n}-prod/main.tf"), &text);
    }
    values.push_str("}\n");
    write(root, "terraform.tfvars", &values);
    write(root, "sizes/small/main.tf", MODULE);
    write(root, "main.tf", &main);
}
