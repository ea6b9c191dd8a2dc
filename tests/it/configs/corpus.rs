//! The roots of the corpus, and symbolic links.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use lockctl::config::Settings;
use lockctl::flavor::Flavor;
use lockctl::os::RealDisk;
use lockctl::requirement::Requirements;

use super::judge::{self, Said};
use crate::corpus::{self, Row};

fn load(root: &Path, flavor: Flavor) -> Said {
    judge::load(&RealDisk, root, Settings::new(flavor))
}

/// Roots that were not tried for their remote modules, but that Terraform refuses anyway.
const CORPUS_REFUSED: &[(&str, &str)] = &[
    ("037_", "sources of modules with values of locals"),
    (
        "055_",
        "an URL as source of a provider, versions of modules that are no registry's",
    ),
    ("056_", "versions of modules that are no registry's"),
];

#[test]
fn real_configurations_require_what_terraform_says() {
    let mut counts: BTreeMap<Fate, usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    for part in &corpus::parts("configs", "expected_requirements.tsv") {
        for (dir, root) in &corpus_roots(&part.rows) {
            match fate(&part.dir.join(dir), root) {
                Ok(fate) => *counts.entry(fate).or_default() += 1,
                Err(surprise) => wrong.push(format!("{dir}: {surprise}")),
            }
        }
    }
    println!("corpus: {counts:?}");
    assert!(wrong.is_empty(), "{wrong:#?}");
    let fates = [Fate::Right, Fate::Refused, Fate::Unseen];
    assert!(counts.keys().eq(&fates), "at least one of each: {counts:?}");
}

/// What the table says of one root.
struct Root<'t> {
    status: &'t str,
    requirements: BTreeMap<String, String>,
}

fn corpus_roots(table: &[Row]) -> BTreeMap<&str, Root<'_>> {
    let mut roots: BTreeMap<&str, Root<'_>> = BTreeMap::new();
    for row in table {
        let requirements = BTreeMap::new();
        let root = roots.entry(row.get("dir")).or_insert(Root {
            status: row.get("status"),
            requirements,
        });
        let provider = row.get("provider");
        if !provider.is_empty() {
            let constraints = row.get("constraints").to_owned();
            root.requirements.insert(provider.to_owned(), constraints);
        }
    }
    roots
}

/// How a root of the corpus came out, where that is as it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fate {
    /// The same requirements.
    Right,
    /// Terraform refuses it, and so do we.
    Refused,
    /// Nothing is known about it but that there is something that cannot be seen.
    Unseen,
}

fn fate(dir: &Path, root: &Root<'_>) -> Result<Fate, String> {
    let said = load(&corpus_root(dir), Flavor::Terraform1_11);
    let Requirements {
        faulty,
        unseen_calls,
        ..
    } = &said.loaded.requirements;
    let errors = said.errors();
    let name = dir.file_name().unwrap().to_str().unwrap();
    let is_refused = CORPUS_REFUSED
        .iter()
        .any(|(known, _)| name.starts_with(known));
    match root.status {
        "ok" | "ok-no-providers" => {
            let mut found = said.requirements(|addr, flavor| addr.short(flavor));
            // The table was taken from lock files, which hold no built-in provider.
            found.remove("terraform.io/builtin/terraform");
            let complete = errors.is_empty() && unseen_calls.is_empty();
            match complete && found == root.requirements {
                true => Ok(Fate::Right),
                false => Err(format!("{found:?} {errors:?}")),
            }
        }
        "error" if errors.is_empty() => Err("no error".to_owned()),
        "error" => Ok(Fate::Refused),
        "skipped-remote-modules" if is_refused => match errors.is_empty() {
            true => Err("Terraform refuses this".to_owned()),
            false => Ok(Fate::Refused),
        },
        "skipped-remote-modules" if unseen_calls.is_empty() && !faulty => {
            Err("nothing unseen".to_owned())
        }
        "skipped-remote-modules" if errors.iter().any(|title| !title.ends_with("not read")) => {
            Err(format!("{errors:?}"))
        }
        "skipped-remote-modules" => Ok(Fate::Unseen),
        other => Err(format!("unknown status {other}")),
    }
}

/// Returns the directory of the root module in a folder of the corpus.
pub(crate) fn corpus_root(folder: &Path) -> PathBuf {
    let source = fs::read_to_string(folder.join("SOURCE")).unwrap_or_default();
    let mut lines = source.lines();
    let root = lines.find_map(|line| line.strip_prefix("root module in this folder: "));
    folder.join(root.unwrap_or("."))
}

#[test]
#[cfg(unix)]
fn links_are_files_to_the_programs() {
    use std::os::unix::fs::symlink;

    let dir = crate::temp::dir();
    let root = dir.path().join("root");
    fs::create_dir_all(root.join("real")).unwrap();
    fs::write(root.join("real/x.txt"), "resource \"alpha_x\" \"x\" {}\n").unwrap();
    fs::write(root.join("real/main.tf"), "resource \"beta_x\" \"x\" {}\n").unwrap();
    symlink("real/x.txt", root.join("main.tf")).unwrap();
    fs::write(
        root.join("call.tf"),
        "module \"m\" {\n  source = \"./link\"\n}\n",
    )
    .unwrap();
    symlink("real", root.join("link")).unwrap();
    let required = |said: &Said| -> Vec<String> {
        let providers = said.loaded.requirements.providers.keys();
        providers.map(|addr| addr.type_name().to_owned()).collect()
    };
    let said = load(&root, Flavor::Terraform1_11);
    assert_eq!(
        (required(&said).join(" "), said.errors()),
        ("alpha beta".to_owned(), vec![])
    );

    // A root behind a link: `..` means the directory above where the link leads.
    fs::create_dir(dir.path().join("above")).unwrap();
    fs::create_dir_all(dir.path().join("above/root")).unwrap();
    fs::create_dir_all(dir.path().join("above/m")).unwrap();
    fs::write(
        dir.path().join("above/m/m.tf"),
        "resource \"gamma_x\" \"x\" {}\n",
    )
    .unwrap();
    fs::write(
        dir.path().join("above/root/a.tf"),
        "module \"m\" {\n  source = \"../m\"\n}\n",
    )
    .unwrap();
    symlink("above/root", dir.path().join("linked")).unwrap();
    let said = load(&dir.path().join("linked"), Flavor::Terraform1_11);
    assert_eq!(
        (required(&said).join(" "), said.errors()),
        ("gamma".to_owned(), vec![])
    );

    for target in ["real", "nowhere"] {
        let link = root.join(format!("{target}.tf"));
        symlink(target, &link).unwrap();
        assert_eq!(
            load(&root, Flavor::Terraform1_11).errors(),
            ["Failed to read file"]
        );
        fs::remove_file(link).unwrap();
    }
}
