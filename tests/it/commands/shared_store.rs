//! Facts that machines share in a store: who signs them, what they replace, and what false ones do.

use std::path::PathBuf;

use super::facts::{downloads, lock, timeless};
use super::registry::{DEMO, TWO, with_registry};
use super::*;
use crate::registry::Registry;

/// Makes a key; returns the private and the public one.
pub(super) fn key(lab: &Lab, name: &str) -> (String, String) {
    let made = lab.run(&["cache", "keygen", name, "--format", "json"]);
    let key = made.exits(0).json()["store"]["key"].take();
    let text = |name: &str| key[name].as_str().unwrap().to_owned();
    (text("private"), text("public"))
}

/// A registry and a root whose project file names a store, which a machine with a key has filled.
struct Shared {
    registry: Registry,
    lab: Lab,
    private: String,
    public: String,
}

fn project(lab: &Lab, keys: &[&str]) {
    let dir = lab.path("shared");
    std::fs::create_dir_all(&dir).unwrap();
    let url = format!("file://{}", dir.display().to_string().replace('\\', "/"));
    project_at(lab, &url, keys);
}

/// Writes a project file with a store and the keys that count.
pub(super) fn project_at(lab: &Lab, url: &str, keys: &[&str]) {
    let text = format!("store {{\n  url = {url:?}\n}}\ntrust {{\n  fact_keys = {keys:?}\n}}\n");
    lab.write(".lockctl.hcl", text);
}

/// Makes the lab another machine, without a store of its own and without a key.
pub(super) fn move_to(lab: &mut Lab, dir: &str) {
    let dir = lab.path(dir);
    lab.set("LOCKCTL_CACHE_DIR", dir);
    lab.env.vars.remove("LOCKCTL_FACT_KEY");
}

fn shared() -> Shared {
    let (registry, mut lab) = with_registry(DEMO);
    move_to(&mut lab, "first");
    let (private, public) = key(&lab, "ci.example");
    project(&lab, &[&public]);
    lab.set("LOCKCTL_FACT_KEY", private.clone());
    let outcome = lock(&lab, TWO).exits(0);
    assert!(!outcome.stderr.contains("file://"), "{}", outcome.stderr);
    std::fs::rename(lab.path(LOCK), lab.path("first.hcl")).unwrap();
    move_to(&mut lab, "second");
    Shared {
        registry,
        lab,
        private,
        public,
    }
}

/// The only object of the store.
fn object(lab: &Lab) -> PathBuf {
    let mut path = lab.path("shared");
    while path.is_dir() {
        let mut entries = std::fs::read_dir(&path).unwrap();
        path = entries.next().unwrap().unwrap().path();
    }
    path
}

/// A root whose lock file is that of a machine, with a store in which another key states something else.
pub(super) fn contradicted() -> (Registry, Lab) {
    let Shared {
        registry,
        mut lab,
        public,
        ..
    } = shared();
    let (private, other) = key(&lab, "other.example");
    let first = std::fs::read_to_string(object(&lab)).unwrap();
    // The other machine does not look at what it contradicts.
    project(&lab, &[&other]);
    lab.set("LOCKCTL_FACT_KEY", private);
    lab.write(
        "export.txt",
        super::cache_import::falsified(first.split("\n\n").next().unwrap()),
    );
    assert_exit(&lab.run(&["cache", "import", "export.txt"]), 0);
    assert_exit(
        &lab.run(&["cache", "export", "signed.txt", "--imported", "--signed"]),
        0,
    );
    let both = first + &lab.read("signed.txt");
    std::fs::write(object(&lab), both).unwrap();
    project(&lab, &[&public, &other]);
    std::fs::rename(lab.path("first.hcl"), lab.path(LOCK)).unwrap();
    move_to(&mut lab, "third");
    (registry, lab)
}

#[test]
fn signed_facts_replace_downloads_on_another_machine() {
    let Shared { registry, lab, .. } = shared();
    let before = downloads(&registry);
    let outcome = lock(&lab, TWO).exits(0);
    assert_eq!(downloads(&registry), before, "no package was downloaded");
    assert_eq!(lab.read(LOCK), lab.read("first.hcl"));
    assert!(
        outcome
            .stdout
            .contains("6 hashes added: 4 signed, 2 attested"),
        "{}",
        outcome.stdout
    );
    assert!(
        outcome
            .stderr
            .contains("note: 2 h1: are attested by ci.example+"),
        "{}",
        outcome.stderr
    );
    let prove = lock(&lab, &[&["--prove"], TWO].concat()).exits(0);
    assert_eq!(downloads(&registry), before + 2);
    assert!(!prove.stderr.contains("attested"), "{}", prove.stderr);
}

#[test]
fn facts_of_a_key_that_is_not_named_do_not_count() {
    let Shared { registry, lab, .. } = shared();
    let (_, other) = key(&lab, "ci.example");
    project(&lab, &[&other]);
    let before = downloads(&registry);
    let outcome = lock(&lab, TWO).exits(0);
    assert_eq!(downloads(&registry), before + 2);
    assert!(
        outcome
            .stderr
            .contains("2 facts were ignored: no key of trust.fact_keys signed them")
    );
}

#[test]
fn verify_knows_whose_hashes_are_recorded() {
    let Shared {
        registry: _registry,
        mut lab,
        private,
        ..
    } = shared();
    // A forged `h1:` is one of no package only where those of all packages are known.
    lab.set("LOCKCTL_FACT_KEY", private);
    lab.write("all/main.tf", DEMO);
    assert_exit(&lock(&lab, &["all", "--platform", "all"]), 0);
    move_to(&mut lab, "third");
    std::fs::rename(lab.path("first.hcl"), lab.path(LOCK)).unwrap();
    let platforms = ["--platform", "linux_amd64,darwin_arm64"];
    let verify = |more: &[&str]| lab.run(&[&["verify"], &platforms[..], more].concat());
    assert!(verify(&["--offline"]).stdout.contains("complete by count"));
    let outcome = verify(&[]).exits(0);
    assert!(outcome.stdout.contains(": ok; "), "{}", outcome.stdout);
    assert!(
        outcome.stderr.contains("2 h1: are attested by ci.example+"),
        "{}",
        outcome.stderr
    );
    let page = lab.run(&["report", "--out", "-"]).exits(0).stdout.clone();
    assert!(page.contains("<td class=d0>1.0.0 ◐ ◈"), "{page}");
    let text = lab.read(LOCK);
    let at = text.find("h1:").unwrap() + 3;
    lab.write(
        LOCK,
        format!("{}{}={}", &text[..at], "A".repeat(43), &text[at + 44..]),
    );
    let outcome = verify(&[]).exits(1);
    assert!(
        outcome.stdout.contains("hash-not-of-release"),
        "{}",
        outcome.stdout
    );
}

#[test]
fn a_contradiction_is_an_alarm_with_both_keys() {
    let (_registry, lab) = contradicted();
    let before = lab.read(LOCK);
    for command in [&["lock"][..], &["verify"], &["lock", "--prove"]] {
        let outcome = lab
            .run(&[command, &["--flavor", "terraform@1.11"]].concat())
            .exits(1);
        let text = outcome.stdout + &outcome.stderr;
        assert!(
            text.contains("key ci.example+") && text.contains("key other.example+"),
            "{text}"
        );
        assert!(text.contains("delete the object releases-1/"), "{text}");
    }
    assert_eq!(lab.read(LOCK), before, "nothing was written");
}

#[test]
fn prove_uses_no_signed_fact_and_finds_a_false_one() {
    let Shared {
        registry,
        mut lab,
        private,
        ..
    } = shared();
    // A writer with a trusted key states another hash.
    let text = std::fs::read_to_string(object(&lab)).unwrap();
    let text = super::cache_import::falsified(text.split("\n\n").next().unwrap());
    lab.write("export.txt", text);
    assert_exit(&lab.run(&["cache", "import", "export.txt"]), 0);
    lab.set("LOCKCTL_FACT_KEY", private);
    let signed = ["cache", "export", "signed.txt", "--imported", "--signed"];
    assert_exit(&lab.run(&signed), 0);
    std::fs::write(object(&lab), lab.read("signed.txt")).unwrap();
    move_to(&mut lab, "third");
    let before = downloads(&registry);
    let outcome = lock(&lab, &[&["--prove"], TWO].concat()).exits(1);
    assert_eq!(downloads(&registry), before + 2);
    let said = outcome.stdout + &outcome.stderr;
    for side in ["this machine computed", "key ci.example+"] {
        assert!(said.contains(side), "{said}");
    }
    assert!(!lab.path(LOCK).exists(), "nothing was written");
    // What this machine computed contradicts the fact from now on.
    let said = lock(&lab, TWO).exits(1).stderr;
    assert!(said.contains("this machine computed"), "{said}");
    assert!(!lab.path(LOCK).exists());
}

#[test]
fn roots_with_another_store_or_other_keys_are_named() {
    let Shared { registry, lab, .. } = shared();
    let (_, other) = key(&lab, "other.example");
    lab.write("b/main.tf", DEMO);
    let top = lab.read(".lockctl.hcl");
    lab.write(
        "b/.lockctl.hcl",
        format!("trust {{\n  fact_keys = [{other:?}]\n}}\n"),
    );
    lab.write("c/main.tf", DEMO);
    lab.write("c/.lockctl.hcl", top);
    let before = downloads(&registry);
    let said = lock(&lab, &[&[".", "b", "c"], TWO].concat())
        .exits(0)
        .stderr;
    let warned = "b states another store or other keys than the first root";
    assert_eq!(said.matches(warned).count(), 1, "{said}");
    assert_eq!(
        downloads(&registry),
        before + 2,
        "no signed fact counts for b"
    );
}

#[test]
fn a_store_that_is_not_there_stops_nothing() {
    let Shared { registry, lab, .. } = shared();
    std::fs::remove_dir_all(lab.path("shared")).unwrap();
    let before = downloads(&registry);
    let outcome = lock(&lab, TWO).exits(0);
    assert_eq!(downloads(&registry), before + 2);
    let told = outcome.stderr.matches("the run went on without it").count();
    assert_eq!(told, 1, "{}", outcome.stderr);
}

#[test]
fn a_signed_export_is_for_machines_without_a_network() {
    let Shared {
        registry,
        mut lab,
        private,
        public,
    } = shared();
    move_to(&mut lab, "first");
    assert_exit(&lab.run(&["cache", "export", "--signed"]), 2);
    lab.set("LOCKCTL_FACT_KEY", private);
    assert_exit(&lab.run(&["cache", "export", "facts.txt", "--signed"]), 0);
    move_to(&mut lab, "third");
    lab.write(
        ".lockctl.hcl",
        format!("trust {{\n  fact_keys = [{public:?}]\n}}\n"),
    );
    let (_, other) = key(&lab, "other");
    assert_exit(
        &lab.run(&["cache", "import", "facts.txt", "--key", &other]),
        2,
    );
    assert_exit(
        &lab.run(&["cache", "import", "facts.txt", "--key", &public]),
        0,
    );
    let before = downloads(&registry);
    let outcome = lock(&lab, &[&["-v"], TWO].concat()).exits(0);
    assert_eq!(downloads(&registry), before);
    let text = timeless(&registry, &outcome.stdout);
    assert!(
        text.contains("attested, linux_amd64, kept since TIME, signed by ci.example+"),
        "{text}"
    );
    // The key is not trusted any more.
    lab.write(
        ".lockctl.hcl",
        format!("trust {{\n  fact_keys = [{other:?}]\n}}\n"),
    );
    lab.write("other/main.tf", DEMO);
    assert_exit(&lock(&lab, &[&["other"], TWO].concat()), 0);
    assert_eq!(downloads(&registry), before + 2);
}

#[test]
fn a_key_needs_a_name_and_no_directory() {
    let lab = Lab::new();
    for name in ["a b", "a+b", ""] {
        let said = lab.run(&["cache", "keygen", name]).exits(2).stderr;
        assert_eq!(
            said,
            format!(
                "error: {name:?} cannot be the name of a key\n  help: write a word without spaces and plus signs, \
                 as in ci.example.com\n"
            )
        );
    }
    let made = lab.run(&["cache", "keygen", "ci.example"]).exits(0);
    assert!(made.stdout.starts_with("PRIVATE+KEY+ci.example+"));
    assert!(
        made.stderr.contains("fact_keys = [\"ci.example+"),
        "{}",
        made.stderr
    );
}

#[test]
fn old_objects_are_collected() {
    let Shared { lab, .. } = shared();
    let url = format!("file://{}", lab.path("shared").display());
    let collect = |age| {
        lab.run(&["cache", "gc", "--store", &url, "--older-than", age])
            .exits(0)
    };
    assert!(
        collect("1y")
            .stdout
            .ends_with(": removed 0 objects; 1 is left\n")
    );
    assert!(collect("1y").stderr.is_empty());
    let bytes = std::fs::read(object(&lab)).unwrap();
    let old = String::from_utf8(bytes)
        .unwrap()
        .replace("# signed 1", "# signed ");
    std::fs::write(object(&lab), old).unwrap();
    assert!(
        collect("1y")
            .stdout
            .ends_with(": removed 1 object; 0 are left\n")
    );
    // One that no reader accepts.
    let path = lab.path("shared/releases-1/aa/large");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, vec![b'x'; 300 << 10]).unwrap();
    let stdout = collect("1y").stdout;
    assert!(
        stdout.ends_with(": removed 1 object; 0 are left\n"),
        "{stdout}"
    );
    assert!(!path.exists());
    lab.run(&["cache", "gc", "--older-than", "1y"]).exits(2);
}
