//! The files of a revision, read as those of a directory.

use std::io::ErrorKind;
use std::path::Path;
use std::time::SystemTime;

use lockctl::config::{self, ConfigSources, Settings};
use lockctl::diag::Texts;
use lockctl::flavor::{Flavor, FlavorChoice, Program};
use lockctl::git::{Repository, Tree};
use lockctl::os::{RealDisk, RealRun};
use lockctl::remote_module::InstalledOnly;
use lockctl::workspace::{Reading, Workspace};
use lockctl::world::mem::MemEnv;
use lockctl::world::{Env, FileKind, Files};

use crate::repo::Repo;
use crate::texts::Text as _;

fn tree(repo: &Repo, text: &str) -> Tree<'static> {
    let repository = Repository::find(&RealRun, repo.path()).unwrap();
    Tree::new(&repository, &repository.revision(text).unwrap())
}

/// Says everything that is known of a configuration, wherever it was read.
fn said(files: &dyn Files, top: &Path, root: &str) -> String {
    let mut texts = Texts::default();
    let settings = Settings::new(Flavor::newest(Program::Terraform));
    let loaded = config::load(files, &mut texts, &top.join(root), &settings);
    let said = format!("{loaded:#?}");
    let said = match top.to_str().unwrap() {
        "" => said,
        top => said.replace(&format!("{top}/"), ""),
    };
    said.has("acme");
    said
}

fn required(name: &str) -> String {
    format!(
        "terraform {{\n  required_providers {{\n    {name} = {{ source = \"acme/{name}\", version = \">= 1\" }}\n  }}\n}}\n"
    )
}

/// Roots with modules beside them, links, tests and faults.
fn configured() -> Option<Repo> {
    let repo = Repo::new()?;
    let call =
        |name: &str, source: &str| format!("module \"{name}\" {{\n  source = \"{source}\"\n}}\n");
    repo.write(
        "live/main.tf",
        required("x") + &call("a", "../modules/a") + &call("far", "acme/far/x"),
    );
    repo.write(
        "live/more.tf.json",
        r#"{"resource": {"null_resource": {"a": {}}}}"#,
    );
    repo.write(
        "live/b_override.tf",
        "terraform {\n  required_version = \">= 1.5\"\n}\n",
    );
    repo.write("live/terraform.tfvars", "x = 1\n");
    repo.write(
        "live/tests/a.tftest.hcl",
        "run \"x\" {\n  module {\n    source = \"./tests/setup\"\n  }\n}\n",
    );
    repo.write("live/tests/setup/main.tf", required("y"));
    repo.write(
        "modules/a/main.tf",
        call("deep", "./deep") + "resource \"random_id\" \"a\" {}\n",
    );
    repo.write("modules/a/deep/main.tf", required("z"));
    repo.write("broken/main.tf", required("x") + "module {\n");
    #[cfg(unix)]
    {
        let link = |target: &str, name: &str| {
            std::os::unix::fs::symlink(target, repo.lab.path(name)).unwrap()
        };
        link("live", "linked");
        link("../modules/a/main.tf", "live/shared.tf");
        link("nowhere", "live/dangling");
        link("/etc/passwd", "live/outside");
        link("../../../etc", "live/above");
        link("round", "live/round");
    }
    repo.commit("all");
    Some(repo)
}

#[test]
fn a_configuration_is_the_same_as_in_the_checkout() {
    let Some(repo) = configured() else { return };
    let tree = tree(&repo, "HEAD");
    for root in ["live", "modules/a/deep", "broken"] {
        let checkout = said(&RealDisk, repo.path(), root);
        assert_eq!(said(&tree, Path::new(""), root), checkout, "{root}");
    }
    // What is on disk only is not there.
    let before = said(&tree, Path::new(""), "live");
    repo.write("live/new.tf", required("new"));
    let again = self::tree(&repo, "HEAD");
    assert_eq!(said(&again, Path::new(""), "live"), before);
    assert_ne!(said(&RealDisk, repo.path(), "live"), before);
}

#[test]
fn paths_are_walked_as_the_system_does() {
    let Some(repo) = configured() else { return };
    let tree = tree(&repo, "HEAD^{tree}");
    let kind = |path: &str| tree.kind(Path::new(path)).map_err(|error| error.kind());
    for (path, expected) in [
        ("", Ok(FileKind::Directory)),
        (".", Ok(FileKind::Directory)),
        ("live/", Ok(FileKind::Directory)),
        ("./live/../live/main.tf", Ok(FileKind::File)),
        ("live/main.tf/x", Err(ErrorKind::NotADirectory)),
        ("live/nothing", Err(ErrorKind::NotFound)),
        ("..", Err(ErrorKind::NotFound)),
        ("/etc/passwd", Err(ErrorKind::NotFound)),
    ] {
        assert_eq!(kind(path), expected, "{path}");
    }
    #[cfg(unix)]
    for (path, expected) in [
        ("linked", Ok(FileKind::Directory)),
        ("linked/tests/..", Ok(FileKind::Directory)),
        ("linked/shared.tf", Ok(FileKind::File)),
        ("live/dangling", Err(ErrorKind::NotFound)),
        ("live/outside", Err(ErrorKind::NotFound)),
        ("live/above", Err(ErrorKind::NotFound)),
        ("live/round", Err(ErrorKind::Other)),
    ] {
        assert_eq!(kind(path), expected, "{path}");
    }
    let read = |path: &str, limit| {
        tree.read(Path::new(path), limit)
            .map_err(|error| error.kind())
    };
    assert_eq!(read("live/main.tf", 3), Err(ErrorKind::FileTooLarge));
    let whole = std::fs::read(repo.lab.path("live/main.tf")).unwrap();
    assert_eq!(read("live/main.tf", 1 << 20), Ok(whole.clone()));
    assert_eq!(read("live/main.tf", 3), Err(ErrorKind::FileTooLarge));
    assert_eq!(read("live", 3), Err(ErrorKind::IsADirectory));
    let mut opened = Vec::new();
    tree.open(Path::new("live/main.tf"))
        .unwrap()
        .read_to_end(&mut opened)
        .unwrap();
    assert_eq!(opened, whole);
    let names = |files: &dyn Files, dir: &Path| {
        let entries = files.list(dir).unwrap().into_iter();
        entries
            .map(|entry| (entry.name, entry.kind))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        names(&tree, Path::new("live")),
        names(&RealDisk, &repo.lab.path("live"))
    );
}

/// Opens a root and says everything that its configuration requires.
fn opened(files: &dyn Files, env: &dyn Env, dir: &str) -> String {
    let mut texts = Texts::default();
    let flavor = FlavorChoice::Auto;
    let mut workspace =
        Workspace::new(files, env, flavor, None, SystemTime::UNIX_EPOCH, &mut texts).unwrap();
    let dir = Path::new(dir);
    let project = workspace.project(dir, &mut texts).unwrap();
    let root = workspace.open(dir, project, &mut texts).unwrap().unwrap();
    let outside = ConfigSources {
        files,
        modules: &InstalledOnly,
    };
    let loaded = root.load(&Reading::new(outside, env), &mut texts);
    format!(
        "{:?} {:?} {loaded:#?}",
        root.flavor,
        root.special == Some(lockctl::workspace::SpecialDirectory::MissingSubmodule)
    )
}

#[test]
fn roots_are_opened_as_on_disk() {
    let Some(repo) = configured() else { return };
    repo.write(
        "units/root.hcl",
        "generate \"p\" {\n  path = \"p.tf\"\n  if_exists = \"overwrite\"\n  contents = <<EOF\n"
            .to_owned()
            + &required("generated")
            + "EOF\n}\n",
    );
    repo.write(
        "units/u/terragrunt.hcl",
        "include \"root\" {\n  path = find_in_parent_folders(\"root.hcl\")\n}\n\
         terraform {\n  source = \"${get_repo_root()}/modules/a\"\n}\n",
    );
    repo.write(".lockctl.hcl", "flavor = \"opentofu\"\n");
    repo.write(
        ".gitmodules",
        "[submodule \"sub\"]\n\tpath = sub\n\turl = ../sub\n",
    );
    std::fs::create_dir(repo.lab.path("sub")).unwrap();
    let commit = repo.commit("first");
    repo.git(&[
        "update-index",
        "--add",
        "--cacheinfo",
        &format!("160000,{commit},sub"),
    ]);
    repo.git(&["commit", "--quiet", "-m", "submodule"]);
    let top = repo.path().canonicalize().unwrap();
    let env = MemEnv {
        current_dir: top.clone(),
        ..MemEnv::default()
    };
    let tree = tree(&repo, "HEAD").placed_at(top);
    for dir in ["live", "units/u", "sub"] {
        // Paths on the disk are absolute, because this process was started elsewhere.
        let here = env.current_dir.join(dir);
        let on_disk = opened(&RealDisk, &env, here.to_str().unwrap());
        let shown = format!("{}/", env.current_dir.display());
        let committed = opened(&tree, &env, here.to_str().unwrap());
        assert_eq!(committed, on_disk, "{dir}");
        let relative = opened(&tree, &env, dir);
        assert_eq!(
            relative.replace(&shown, ""),
            committed.replace(&shown, ""),
            "{dir}"
        );
        assert!(committed.starts_with("OpenTofu"), "{committed}");
        assert_eq!(
            committed.contains("generated"),
            dir == "units/u",
            "{committed}"
        );
    }
}
