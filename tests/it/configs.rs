//! Configuration to requirements, against recorded runs of the real programs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use lockctl::config::{self, Loaded};
use lockctl::diag::{Severity, Texts};
use lockctl::flavor::Flavor;
use lockctl::requirement::{Origin, Requirements};
use lockctl::version::Constraints;
use lockctl::world::{DirEntry, FileKind, Files, ReadSeek};
use serde_json::Value;

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/corpus/configs");
const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/spec/config-cases");

/// The real file system.
struct RealFiles;

fn kind_of(kind: fs::FileType) -> FileKind {
    match kind {
        _ if kind.is_symlink() => FileKind::Symlink,
        _ if kind.is_dir() => FileKind::Directory,
        _ if kind.is_file() => FileKind::File,
        _ => FileKind::Other,
    }
}

impl Files for RealFiles {
    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        if !fs::metadata(path)?.is_file() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let bytes = fs::read(path)?;
        if bytes.len() as u64 > limit {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(bytes)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn ReadSeek>> {
        Ok(Box::new(fs::File::open(path)?))
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<DirEntry>> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(dir)? {
            let entry = entry?;
            entries.push(DirEntry {
                name: entry.file_name(),
                kind: kind_of(entry.file_type()?),
            });
        }
        entries.sort();
        Ok(entries)
    }

    fn kind(&self, path: &Path) -> io::Result<FileKind> {
        Ok(kind_of(fs::metadata(path)?.file_type()))
    }
}

/// What lockctl says about a root, ready to be compared.
struct Said {
    loaded: Loaded,
    texts: Texts,
    flavor: Flavor,
}

fn load(root: &Path, flavor: Flavor) -> Said {
    let mut texts = Texts::default();
    let loaded = config::load(&RealFiles, &mut texts, root, &config::Settings::new(flavor));
    Said {
        loaded,
        texts,
        flavor,
    }
}

impl Said {
    fn errors(&self) -> Vec<&str> {
        let errors = self.loaded.diagnostics.iter();
        let errors = errors.filter(|diagnostic| diagnostic.severity == Severity::Error);
        errors.map(|diagnostic| diagnostic.title.as_str()).collect()
    }

    /// Returns the file and line of the first error, as `main.tf:3`.
    fn at(&self, root: &Path) -> Option<String> {
        let mut errors = self.loaded.diagnostics.iter();
        let first = errors.find(|diagnostic| diagnostic.severity == Severity::Error)?;
        let label = first.primary.as_ref()?;
        let line = self.texts.position(label.file, label.span.start).line;
        let name = Path::new(self.texts.name(label.file));
        let name = name.strip_prefix(root).unwrap_or(name);
        Some(format!("{}:{line}", name.display()))
    }

    /// Says whether a file was met that this part of the room does not read.
    fn unread(&self) -> bool {
        let mut all = self.loaded.diagnostics.iter();
        all.any(|diagnostic| diagnostic.code == "configuration-unread")
    }

    /// Returns each required address with its constraint text.
    fn requirements(
        &self,
        address: fn(&lockctl::addr::ProviderAddr, Flavor) -> String,
    ) -> BTreeMap<String, String> {
        let requirements = &self.loaded.requirements;
        let providers = requirements.providers.keys();
        providers
            .map(|addr| {
                (
                    address(addr, self.flavor),
                    requirements.constraints(addr).to_string(),
                )
            })
            .collect()
    }

    /// Returns the same for each module, named as `terraform providers` does.
    fn by_module(&self) -> BTreeMap<String, BTreeMap<String, String>> {
        let mut modules: BTreeMap<String, BTreeMap<String, Constraints>> = BTreeMap::new();
        for (addr, places) in &self.loaded.requirements.providers {
            for place in places {
                let name = match place.origin {
                    Origin::State => "state".to_owned(),
                    _ => place.module.to_string(),
                };
                let here = modules.entry(name);
                let all = here.or_default().entry(addr.to_string()).or_default();
                *all = std::mem::take(all).union((*place.constraints).clone());
            }
        }
        let texts = |here: BTreeMap<String, Constraints>| {
            let here = here.into_iter();
            here.map(|(addr, all)| (addr, all.to_string())).collect()
        };
        let modules = modules.into_iter();
        modules.map(|(name, here)| (name, texts(here))).collect()
    }
}

/// Roots of the corpus that this part of the room cannot answer for, with the reason.
const CORPUS_LATER: &[(&str, &str)] = &[
    ("045_", "files in JSON syntax"),
    ("049_", "override files in JSON syntax"),
];

/// Roots that were not tried for their remote modules, but that Terraform refuses anyway.
const CORPUS_REFUSED: &[(&str, &str)] = &[
    (
        "055_",
        "an URL as source of a provider, versions of modules that are no registry's",
    ),
    ("056_", "versions of modules that are no registry's"),
];

#[test]
#[allow(clippy::print_stdout, reason = "a replay says what it ran")]
fn real_configurations_require_what_terraform_says() {
    let Ok(table) = fs::read_to_string(format!("{CORPUS}/expected_requirements.tsv")) else {
        println!("skipped: no corpus of configurations");
        return;
    };
    let expected = corpus_roots(&table);
    let mut counts: BTreeMap<Fate, usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    for (dir, root) in &expected {
        match fate(dir, root) {
            Ok(fate) => *counts.entry(fate).or_default() += 1,
            Err(surprise) => wrong.push(format!("{dir}: {surprise}")),
        }
    }
    println!("corpus: {counts:?} of {} roots", expected.len());
    assert!(wrong.is_empty(), "{wrong:#?}");
    let counted = |fate| counts.get(&fate).copied().unwrap_or_default();
    let all = counted(Fate::Right) + counted(Fate::Refused) + counted(Fate::Later);
    assert_eq!(all + counted(Fate::Unseen), expected.len());
    assert!(
        counted(Fate::Right) > 20,
        "a table without roots proves nothing"
    );
}

/// What the table says of one root.
struct Root<'t> {
    status: &'t str,
    requirements: BTreeMap<String, String>,
}

fn corpus_roots(table: &str) -> BTreeMap<&str, Root<'_>> {
    let mut roots: BTreeMap<&str, Root<'_>> = BTreeMap::new();
    for line in table.lines().skip(1) {
        let mut fields = line.split('\t');
        let mut field = || fields.next().unwrap_or("");
        let (dir, status, provider, constraints) = (field(), field(), field(), field());
        let requirements = BTreeMap::new();
        let root = roots.entry(dir).or_insert(Root {
            status,
            requirements,
        });
        if !provider.is_empty() {
            let constraints = constraints.to_owned();
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
    /// We say that there is something we cannot read yet.
    Later,
    /// Nothing is known about it but that there is something that cannot be seen.
    Unseen,
}

fn fate(dir: &str, root: &Root<'_>) -> Result<Fate, String> {
    let said = load(&corpus_root(dir), Flavor::Terraform1_11);
    let Requirements {
        faulty,
        unseen_calls,
        ..
    } = &said.loaded.requirements;
    let errors = said.errors();
    let listed = |list: &[(&str, &str)]| list.iter().any(|(name, _)| dir.starts_with(name));
    match root.status {
        "ok" | "ok-no-providers" if listed(CORPUS_LATER) => match faulty {
            true => Ok(Fate::Later),
            false => Err("silently wrong".to_owned()),
        },
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
        "skipped-remote-modules" if listed(CORPUS_REFUSED) => match errors.is_empty() {
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

fn corpus_root(dir: &str) -> PathBuf {
    let folder = Path::new(CORPUS).join(dir);
    let source = fs::read_to_string(folder.join("SOURCE")).unwrap();
    let mut lines = source.lines();
    let root = lines.find_map(|line| line.strip_prefix("root module in this folder: "));
    folder.join(root.unwrap_or("."))
}

/// One recorded outcome: a case, for one flavor.
struct Recorded {
    name: String,
    flavor: Flavor,
    root: PathBuf,
    expected: Value,
}

#[allow(clippy::print_stdout, reason = "a replay says what it leaves out")]
fn recorded_cases() -> Vec<Recorded> {
    let mut all = Vec::new();
    let Ok(folders) = fs::read_dir(CASES) else {
        return all;
    };
    let folders = folders.map(|entry| entry.unwrap().path());
    let mut folders: Vec<PathBuf> = folders.filter(|path| path.is_dir()).collect();
    folders.sort();
    // Links may be lost where the cases were copied; they have a test of their own below.
    let has_links = |folder: &PathBuf| folder.to_string_lossy().contains("symlink");
    let (linked, folders): (Vec<_>, Vec<_>) = folders.into_iter().partition(has_links);
    println!("{} cases with symbolic links are left out", linked.len());
    for folder in folders {
        let case: Value =
            serde_json::from_str(&fs::read_to_string(folder.join("case.json")).unwrap()).unwrap();
        for flavor in Flavor::ALL {
            all.extend(recorded(&folder, &case, flavor));
        }
    }
    all
}

fn recorded(folder: &Path, case: &Value, flavor: Flavor) -> Option<Recorded> {
    let for_opentofu = case["engine"] == "opentofu";
    let since = case["since"].as_str().unwrap_or("1.11");
    let (variant, version) = match flavor {
        Flavor::Terraform1_11 => ("expected.json", "1.11"),
        Flavor::Terraform1_15 => ("expected.terraform-1.15.json", "1.15"),
        Flavor::Terraform1_16 => ("expected.terraform-1.16.json", "1.16"),
        Flavor::OpenTofu1_12 => ("expected.opentofu.json", ""),
    };
    if !flavor.is_opentofu() && (for_opentofu || since > version) {
        return None;
    }
    let text = fs::read_to_string(folder.join(variant)).unwrap_or_else(|_| {
        let text = fs::read_to_string(folder.join("expected.json")).unwrap();
        match flavor.is_opentofu() && !for_opentofu {
            true => text.replace("registry.terraform.io", "registry.opentofu.org"),
            false => text,
        }
    });
    Some(Recorded {
        name: folder.file_name().unwrap().to_str().unwrap().to_owned(),
        flavor,
        root: folder.join(case["root"].as_str().unwrap_or(".")),
        expected: serde_json::from_str(&text).unwrap(),
    })
}

/// How our answer compares to a recorded one.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Verdict {
    /// The same requirements, or the same first error at the same place.
    Right,
    /// We say that we did not see everything, or there is no answer to compare with.
    Open,
    /// The program refuses it, with another title or at another place.
    OtherError(String),
    /// The program refuses it, in a check or a step that this part does not have.
    Missed(String),
    /// Another answer.
    Wrong(String),
}

/// Errors of steps after reading the configuration: the requirements are recorded all the same.
const AFTERWARDS: &[&str] = &[
    "Failed to query available provider packages",
    "Failed to resolve provider packages",
];

fn judge(case: &Recorded) -> Verdict {
    let said = load(&case.root, case.flavor);
    let expected = &case.expected;
    let title = expected["error"].as_str();
    let afterwards = title.is_some_and(|title| AFTERWARDS.contains(&title));
    let nothing_recorded = expected["by_module"].as_object().unwrap().is_empty();
    let unseen = said.unread() || !said.loaded.requirements.unseen_calls.is_empty();
    if unseen || (afterwards && nothing_recorded) {
        return Verdict::Open;
    }
    let errors = said.errors();
    match (title.filter(|_| !afterwards), errors.first()) {
        (None, None) => compare(&said, expected),
        (None, Some(_)) => Verdict::Wrong(format!("{errors:?}")),
        (Some("No configuration files"), None) if !said.loaded.found => Verdict::Right,
        (Some(title), None) => Verdict::Missed(title.to_owned()),
        (Some(title), Some(first)) if title != *first => {
            Verdict::OtherError(format!("{errors:?}, not {title:?}"))
        }
        (Some(_), Some(_)) => {
            let (at, ours) = (expected["at"].as_str(), said.at(&case.root));
            match at.is_none() || at == ours.as_deref() {
                true => Verdict::Right,
                false => Verdict::OtherError(format!("at {ours:?}, not {at:?}")),
            }
        }
    }
}

fn compare(said: &Said, expected: &Value) -> Verdict {
    let found = said.requirements(|addr, _| addr.to_string());
    let mut wanted: BTreeMap<String, String> = BTreeMap::new();
    for (addr, texts) in expected["requirements"].as_object().unwrap() {
        let mut all = Constraints::default();
        for text in texts.as_array().unwrap() {
            all = all.union(Constraints::parse_config(text.as_str().unwrap()).unwrap());
        }
        wanted.insert(addr.clone(), all.to_string());
    }
    let modules = modules_of(expected);
    let ours = said.by_module();
    match found == wanted && ours == modules {
        true => Verdict::Right,
        false => Verdict::Wrong(format!("{ours:?}, not {modules:?}")),
    }
}

/// Returns the recorded modules, but for those that require nothing.
fn modules_of(expected: &Value) -> BTreeMap<String, BTreeMap<String, String>> {
    let mut recorded: BTreeMap<String, BTreeMap<String, String>> =
        serde_json::from_value(expected["by_module"].clone()).unwrap();
    recorded.retain(|_, here| !here.is_empty());
    recorded
}

/// Beginnings of the cases that need nothing of the later parts of the room.
const OURS: &[&str] = &[
    "constraint-",
    "dup-",
    "dynamic-",
    "escape-",
    "files-",
    "implied-",
    "import-",
    "module-local",
    "moved-",
    "nested-",
    "newer-import-",
    "newer-underscore-",
    "override-",
    "provider-block",
    "req-",
    "source-",
    "tofu-ext-",
    "tofu-import-",
    "tofu-override-",
];

const JSON: &str = "files in JSON syntax are not read yet, which is said";
const TEST_RUN: &str = "modules of test runs are not read yet, which is said";
const COMPUTED: &str = "sources are not computed yet, which is said";
const WHOLE_TREE: &str = "a check of the whole tree, which changes no requirement";
const TYPES: &str = "types and defaults of variables are not checked yet";
const DELIBERATE: &str = "no lock file could hold it: a deliberate difference";
const OLD_PROGRAM: &str = "an unmet `required_version` stops no command of ours";

/// Cases of our groups with another verdict than right, and every case that looks wrong.
const LISTED: &[(&str, &str)] = &[
    ("files-bom-json", JSON),
    ("files-ignored-names", JSON),
    ("implied-provider-arg-index", WHOLE_TREE),
    ("override-module-providers", WHOLE_TREE),
    ("override-names", JSON),
    ("override-order", JSON),
    ("override-required-version-last-file", OLD_PROGRAM),
    ("override-variable-default-bad", TYPES),
    ("override-variable-null-default", TYPES),
    ("override-variable-type-bad", TYPES),
    ("req-config-aliases-missing", WHOLE_TREE),
    ("req-required-version-unmet", OLD_PROGRAM),
    ("source-ok-prefix-name-only", DELIBERATE),
    ("tofu-ext-basic", JSON),
    ("tofu-ext-override-order", JSON),
    ("tofu-ext-override-order-tf-tofu", JSON),
    ("tofu-ext-precedence-json", JSON),
    ("tofu-ext-test", TEST_RUN),
    ("tofu-ext-test-json", JSON),
    ("tofu-ext-test-manifest-keys", TEST_RUN),
    ("tofu-ext-test-only-dir", TEST_RUN),
    ("tofu-override-module-source", COMPUTED),
    ("tofu-source-opentofu-name-only", DELIBERATE),
];

/// The verdicts on the cases of other groups, in the order of [`Verdict`].
const OTHERS: [usize; 5] = [535, 534, 15, 380, 1];

#[test]
#[allow(clippy::print_stdout, reason = "a replay says what it ran")]
fn recorded_cases_give_what_the_programs_gave() {
    let cases = recorded_cases();
    if cases.is_empty() {
        println!("skipped: no recorded cases");
        return;
    }
    if let Ok(wanted) = std::env::var("LOCKCTL_CASES") {
        let wanted: Vec<&str> = wanted.split(',').collect();
        for case in &cases {
            if wanted.iter().any(|start| case.name.starts_with(start)) {
                println!("{} {}: {:?}", case.name, case.flavor, judge(case));
            }
        }
        return;
    }
    let (mut ours, mut rest) = ([0; 5], [0; 5]);
    let mut surprises = Vec::new();
    let mut listed: BTreeSet<&str> = LISTED.iter().map(|(name, _)| *name).collect();
    for case in &cases {
        let verdict = judge(case);
        let of_ours = OURS.iter().any(|start| case.name.starts_with(start));
        let counts = if of_ours { &mut ours } else { &mut rest };
        let (kind, fine) = match verdict {
            Verdict::Right => (0, true),
            Verdict::Open => (1, !of_ours),
            Verdict::OtherError(_) => (2, !of_ours),
            Verdict::Missed(_) => (3, !of_ours),
            Verdict::Wrong(_) => (4, false),
        };
        counts[kind] += 1;
        let known = LISTED.iter().any(|(name, _)| *name == case.name);
        if !fine && !known {
            surprises.push(format!("{} {}: {verdict:?}", case.name, case.flavor));
        }
        if !fine {
            listed.remove(&*case.name);
        }
    }
    println!("right, open, other error, missed, wrong: {ours:?} of our groups, {rest:?} of others");
    assert!(surprises.is_empty(), "{surprises:#?}");
    assert!(listed.is_empty(), "listed, but right: {listed:?}");
    assert_eq!(rest, OTHERS, "of other groups; if better, write it down");
}

#[test]
#[cfg(unix)]
fn links_are_files_to_the_programs() {
    use std::os::unix::fs::symlink;

    let dir = tempfile::tempdir().unwrap();
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
