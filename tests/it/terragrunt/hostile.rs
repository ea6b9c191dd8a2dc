//! Units that are made to exhaust or to mislead: each ends soon, and what is not computed is unknown.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::texts::Text as _;
use lockctl::diag::{Diagnostic, Texts};
use lockctl::os::RealDisk;
use lockctl::terragrunt::{
    Documents, EvaluatedUnit, MAX_FILES, UnitSurroundings, assemble, evaluate,
};
use lockctl::world::mem::MemFiles;
use lockctl::world::{DirEntry, FileKind, Files, ReadSeek};

fn run(files: &dyn Files, dir: &str) -> (EvaluatedUnit, Vec<Diagnostic>) {
    let documents = Documents::default();
    let around = UnitSurroundings::new(&documents);
    evaluate(files, &mut Texts::default(), Path::new(dir), &around)
}

/// Evaluates one unit file; returns why the source is unknown.
#[track_caller]
fn reason(text: &str) -> String {
    let files = MemFiles::with(&[("/r/u/terragrunt.hcl", text)]);
    match run(&files, "/r/u").0.source {
        Err(unknown) => unknown.reason,
        Ok(source) => panic!("{source:?}"),
    }
}

fn source(expression: &str) -> String {
    format!("terraform {{\n  source = {expression}\n}}\n")
}

#[test]
fn a_file_that_reads_itself_is_unknown() {
    let text = format!(
        "locals {{\n  a = read_terragrunt_config(\"terragrunt.hcl\")\n}}\n{}",
        source("local.a.locals.a")
    );
    assert!(reason(&text).contains("reads itself"), "{}", reason(&text));
}

#[test]
fn files_that_read_each_other_under_ever_new_names_are_unknown() {
    let dir = crate::temp::dir();
    let top = fs::canonicalize(dir.path()).unwrap();
    symlink(".", top.join("d")).unwrap();
    let text = "locals {\n  a = read_terragrunt_config(\"d/terragrunt.hcl\").locals.a\n}\n";
    let text = format!("{text}{}", source("local.a"));
    fs::write(top.join("terragrunt.hcl"), text).unwrap();
    let (unit, _) = run(&RealDisk, top.to_str().unwrap());
    let unknown = unit.unseen().expect("unknown");
    unknown.reason.has("too deep");
}

/// A disk on which every file exists, and reads two more.
struct Endless {
    reads: Mutex<usize>,
}

impl Files for Endless {
    fn read(&self, path: &Path, _limit: u64) -> std::io::Result<Vec<u8>> {
        let name = path.file_name().unwrap().to_str().unwrap();
        if name.ends_with(".values.hcl") || name.ends_with(".json") || name.contains("autoinclude")
        {
            return Err(std::io::ErrorKind::NotFound.into());
        }
        *self.reads.lock().unwrap() += 1;
        let text = "locals {
  a = try(read_terragrunt_config(\"${get_terragrunt_dir()}/a/x.hcl\"), 1)
  b = try(read_terragrunt_config(\"${get_terragrunt_dir()}/b/x.hcl\"), 1)
}
terraform {
  source = \"${length(local.a)}${length(local.b)}\"
}
";
        Ok(text.as_bytes().to_vec())
    }

    fn open(&self, _path: &Path) -> std::io::Result<Box<dyn ReadSeek>> {
        Err(std::io::ErrorKind::NotFound.into())
    }

    fn list(&self, _dir: &Path) -> std::io::Result<Vec<DirEntry>> {
        Err(std::io::ErrorKind::NotFound.into())
    }

    fn kind(&self, path: &Path) -> std::io::Result<FileKind> {
        match path.extension().is_some_and(|extension| extension == "hcl") {
            true => Ok(FileKind::File),
            false => Err(std::io::ErrorKind::NotFound.into()),
        }
    }

    fn resolve(&self, path: &Path) -> std::io::Result<PathBuf> {
        Ok(path.to_owned())
    }
}

#[test]
fn how_many_files_one_unit_reads_is_limited() {
    let files = Endless {
        reads: Mutex::new(0),
    };
    let (unit, _) = run(&files, "/r/u");
    assert!(unit.unseen().is_some());
    assert!(*files.reads.lock().unwrap() <= MAX_FILES);
}

#[test]
fn long_chains_of_locals_are_unknown() {
    let mut text = String::from("locals {\n  a0 = \"../m\"\n");
    for at in 1..5_000 {
        text.push_str(&format!("  a{at} = local.a{}\n", at - 1));
    }
    text.push_str("}\n");
    let long = format!("{text}{}", source("local.a4999"));
    reason(&long).has("too many locals");
    // Those that are short enough have a value.
    let files = MemFiles::with(&[(
        "/r/u/terragrunt.hcl",
        &format!("{text}{}", source("local.a150")),
    )]);
    assert!(run(&files, "/r/u").0.unseen().is_none());
}

#[test]
fn values_that_grow_without_end_are_unknown() {
    let mut text = String::from("locals {\n  a0 = \"0123456789\"\n");
    for at in 1..60 {
        let before = at - 1;
        text.push_str(&format!(
            "  a{at} = \"${{local.a{before}}}${{local.a{before}}}\"\n"
        ));
    }
    text.push_str("}\n");
    text.push_str(&source("local.a59"));
    assert!(reason(&text).contains("too much"), "{}", reason(&text));
}

#[test]
fn many_includes_are_unknown() {
    let mut text = String::new();
    for at in 0..200 {
        text.push_str(&format!(
            "include \"i{at}\" {{\n  path = \"../p.hcl\"\n}}\n"
        ));
    }
    let files = MemFiles::with(&[("/r/u/terragrunt.hcl", &text), ("/r/p.hcl", "")]);
    let (unit, found) = run(&files, "/r/u");
    assert!(
        unit.unseen()
            .is_some_and(|unknown| unknown.reason.contains("too many files"))
    );
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn nothing_is_run_and_secrets_are_not_read() {
    for (expression, expected) in [
        ("run_cmd(\"touch\", \"/tmp/never\")", "runs a program"),
        ("sops_decrypt_file(\"x.yaml\")", "needs keys"),
        ("get_aws_account_id()", "AWS"),
        ("get_env(\"SOURCE\")", "SOURCE is not set"),
        ("get_working_dir()", "depends on the machine"),
        ("try(run_cmd(\"false\"), \"../m\")", "runs a program"),
        (
            "get_terraform_command() == \"init\" ? \"a\" : \"b\"",
            "depends on the command",
        ),
        ("timestamp()", "in each run"),
    ] {
        let found = reason(&source(expression));
        assert!(found.contains(expected), "{expression}: {found}");
    }
}

#[test]
fn a_large_file_is_not_read() {
    let text = format!("{}\n# {}", source("\"../m\""), "x".repeat(5 << 20));
    assert!(reason(&text).contains("too much would be read"));
}

#[test]
fn directories_that_link_to_themselves_are_entered_once() {
    let dir = crate::temp::dir();
    let top = fs::canonicalize(dir.path()).unwrap();
    fs::create_dir(top.join("u")).unwrap();
    fs::write(top.join("u/terragrunt.hcl"), "").unwrap();
    symlink("..", top.join("u/up")).unwrap();
    // A copy would follow the link without end; here it ends, and nothing of Terraform is found.
    let (unit, _) = run(&RealDisk, top.join("u").to_str().unwrap());
    let assembled = assemble(&RealDisk, &unit, None);
    let ends = match assembled {
        Ok(_) => true,
        Err(error) => error.reason.contains("no file of Terraform"),
    };
    assert!(ends);
}

#[test]
fn paths_of_generated_files_leave_the_cache_without_harm() {
    let text = "generate \"g\" {
  path      = \"../../../../../../etc/x.tf\"
  if_exists = \"overwrite\"
  contents  = \"x\"
}
generate \"h\" {
  path      = \"/etc/y.tf\"
  if_exists = \"overwrite\"
  contents  = \"y\"
}
";
    let files = MemFiles::with(&[("/r/u/terragrunt.hcl", text), ("/r/u/main.tf", "")]);
    let (unit, _) = run(&files, "/r/u");
    assert_eq!(unit.generated.len(), 2);
    let assembled = assemble(&files, &unit, None).ok().unwrap();
    let names = assembled.list(assembled.module_dir()).unwrap();
    let names: Vec<&str> = names
        .iter()
        .map(|entry| entry.name.to_str().unwrap())
        .collect();
    assert_eq!(names, ["main.tf", "terragrunt.hcl"]);
    assert!(assembled.read(Path::new("/etc/y.tf"), 10).is_err());
}

#[test]
fn deep_nesting_in_files_that_read_each_other_does_not_overflow() {
    let open = "[".repeat(60);
    let close = "]".repeat(60);
    let mut files = vec![(
        "/r/u/terragrunt.hcl".to_owned(),
        format!(
            "locals {{\n  a = {open}read_terragrunt_config(\"f0.hcl\"){close}\n}}\n{}",
            source("\"${length(local.a)}\"")
        ),
    )];
    for at in 0..20 {
        let next = at + 1;
        let text =
            format!("locals {{\n  a = {open}read_terragrunt_config(\"f{next}.hcl\"){close}\n}}\n");
        files.push((format!("/r/u/f{at}.hcl"), text));
    }
    let (unit, _) = run(&MemFiles::from_iter(files), "/r/u");
    assert!(unit.unseen().is_some());
}

#[test]
fn chains_in_files_that_read_each_other_do_not_overflow() {
    let mut files = Vec::new();
    for at in 0..20 {
        let next = at + 1;
        let mut text = String::from("locals {\n");
        for step in 0..40 {
            let further = step + 1;
            text.push_str(&format!("  a{step} = [[[local.a{further}]]]\n"));
        }
        text.push_str(&format!(
            "  a40 = [read_terragrunt_config(\"f{next}.hcl\")]\n}}\n"
        ));
        if at == 0 {
            text.push_str(&source("\"${length(local.a0)}\""));
        }
        let name = if at == 0 {
            "terragrunt".to_owned()
        } else {
            format!("f{at}")
        };
        files.push((format!("/r/u/{name}.hcl"), text));
    }
    let (unit, _) = run(&MemFiles::from_iter(files), "/r/u");
    assert!(unit.unseen().is_some());
}

#[test]
fn a_failure_that_would_be_caught_makes_the_value_unknown() {
    let unit = source("try(read_terragrunt_config(\"../e.hcl\").locals.m, \"../n\")");
    let plain = source("read_terragrunt_config(\"../e.hcl\").locals.m");
    let check = |unit: &str, shared: &str, is_known: bool| {
        let files = MemFiles::with(&[("/r/u/terragrunt.hcl", unit), ("/r/e.hcl", shared)]);
        let found = run(&files, "/r/u").0.unseen().is_none();
        assert_eq!(found, is_known, "{unit} {shared}");
    };
    let with_secret = "locals {\n  m = \"../m\"\n  s = get_env(\"SECRET\")\n}\n";
    check(&unit, with_secret, false);
    check(&plain, with_secret, true);
    check(&unit, "locals {\n  m = \"../m\"\n}\n", true);
    check(&unit, "locals {\n  s = file(\"nope\")\n}\n", true);
}
