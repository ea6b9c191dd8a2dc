//! Many units below one top: shared files are read and parsed once.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::texts::Text as _;
use lockctl::diag::Texts;
use lockctl::os::RealDisk;
use lockctl::terragrunt::{Documents, EvaluatedUnit, UnitSurroundings, evaluate};
use lockctl::world::{Files, Layer};

/// The disk, with how often each file was read.
#[derive(Default)]
struct Counting {
    reads: Mutex<BTreeMap<PathBuf, usize>>,
}

impl Layer for Counting {
    fn base(&self) -> &dyn Files {
        &RealDisk
    }

    fn bytes(&self, path: &Path, limit: u64) -> std::io::Result<Vec<u8>> {
        *self
            .reads
            .lock()
            .unwrap()
            .entry(path.to_owned())
            .or_default() += 1;
        RealDisk.read(path, limit)
    }
}

/// How many threads evaluate units.
const THREADS: usize = 2;

const ROOT: &str = "locals {
  account = read_terragrunt_config(find_in_parent_folders(\"account.hcl\"))
}
generate \"provider\" {
  path      = \"provider.tf\"
  if_exists = \"overwrite_terragrunt\"
  contents  = \"# ${local.account.locals.name}\"
}
remote_state {
  backend  = \"s3\"
  generate = { path = \"backend.tf\", if_exists = \"overwrite\" }
  config   = { key = path_relative_to_include() }
}
";

const UNIT: &str = "include \"root\" {
  path = find_in_parent_folders(\"root.hcl\")
}
terraform {
  source = \"git::https://git.lab.test/m.git//vpc?ref=v1\"
}
";

#[test]
fn files_that_units_share_are_read_once() {
    let dir = crate::temp::dir();
    let top = fs::canonicalize(dir.path()).unwrap();
    fs::write(top.join("root.hcl"), ROOT).unwrap();
    let mut dirs = Vec::new();
    for account in 0..5 {
        let above = top.join(format!("a{account}"));
        fs::create_dir_all(&above).unwrap();
        let text = format!("locals {{\n  name = \"n{account}\"\n}}\n");
        fs::write(above.join("account.hcl"), text).unwrap();
        for unit in 0..40 {
            let unit = above.join(format!("u{unit}"));
            fs::create_dir_all(&unit).unwrap();
            fs::write(unit.join("terragrunt.hcl"), UNIT).unwrap();
            dirs.push(unit);
        }
    }
    let files = Counting::default();
    let units = evaluate_all(&files, &top, &dirs);
    assert_eq!(units.len(), 200);
    for (unit, notes) in &units {
        assert!(notes.is_empty(), "{notes:?}");
        let account = unit
            .dir
            .parent()
            .unwrap()
            .file_name()
            .unwrap()
            .to_str()
            .unwrap();
        let name = account.replace('a', "n");
        let provider = String::from_utf8(unit.generated[0].contents.clone().unwrap()).unwrap();
        assert!(provider.ends_with(&format!("# {name}")), "{provider}");
        let backend = String::from_utf8(unit.generated[1].contents.clone().unwrap()).unwrap();
        let unit = unit.dir.file_name().unwrap().to_str().unwrap();
        backend.has(format!("key = \"{account}/{unit}\""));
    }
    let reads = files.reads.lock().unwrap();
    let counts = reads
        .iter()
        .filter(|(path, _)| !path.ends_with("terragrunt.values.hcl"));
    for (path, count) in counts.filter(|(path, _)| path.exists()) {
        // Threads that need a file at the same moment each read it; later units read it no more.
        assert!(*count <= THREADS, "{}: {count}", path.display());
    }
}

/// Evaluates all units on two threads; what was read for a unit is dropped after it.
fn evaluate_all(
    files: &dyn Files,
    top: &Path,
    dirs: &[PathBuf],
) -> Vec<(EvaluatedUnit, Vec<lockctl::diag::Diagnostic>)> {
    let documents = Documents::default();
    let around = UnitSurroundings {
        repository: Some(top.to_owned()),
        command: Some(vec!["init".to_owned()]),
        ..UnitSurroundings::new(&documents)
    };
    let half = dirs.len().div_ceil(THREADS);
    let around = &around;
    std::thread::scope(|scope| {
        let run = |units: &[PathBuf]| {
            let evaluated = units
                .iter()
                .map(|unit| evaluate(files, &mut Texts::default(), unit, around));
            evaluated.collect::<Vec<_>>()
        };
        let threads: Vec<_> = dirs
            .chunks(half)
            .map(|units| scope.spawn(move || run(units)))
            .collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap())
            .collect()
    })
}
