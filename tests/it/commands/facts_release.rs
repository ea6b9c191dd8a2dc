//! What the store knows of a release: which hashes are none of it, who signed it, and when.

use std::io;
use std::path::Path;
use std::sync::Mutex;

use lockctl::os::RealDisk;
use lockctl::world::{Disk as _, ObjectSize, Objects};

use super::facts::{STORE, lock, locked, objects};
use super::registry::{DEMO, TWO, with_registry};
use super::*;
use crate::disk::{Changed, Changes};
use crate::registry::{Dates, Registry, TestKey};

const ALL: &[&str] = &["--platform", "all"];

/// Verifies without any request.
fn verify(lab: &Lab, more: &[&str]) -> Outcome {
    let args = ["verify", "--flavor", "terraform@1.11", "--platform"];
    lab.run(&[&args[..], &["linux_amd64,darwin_arm64"], more].concat())
}

/// Makes the text of a key the same on every run.
fn steady(outcome: &Outcome) -> String {
    outcome.stdout.replace(&TestKey::Main.id(), "KEYID")
}

/// Replaces the first letter behind each scheme that is named, so that no such hash is what it was.
fn altered(text: &str, schemes: &[&str]) -> String {
    text.lines()
        .map(|line| {
            let at = schemes
                .iter()
                .find_map(|scheme| Some(line.find(&format!("\"{scheme}:"))? + scheme.len() + 2));
            match at {
                Some(at) => {
                    // A digit of `zh:` stays one, a letter of `h1:` too.
                    let other = if line.as_bytes()[at] == b'a' {
                        "b"
                    } else {
                        "a"
                    };
                    format!("{}{other}{}\n", &line[..at], &line[at + 1..])
                }
                None => format!("{line}\n"),
            }
        })
        .collect()
}

/// The text without the hashes of a scheme.
fn without(text: &str, scheme: &str) -> String {
    text.lines()
        .filter(|line| !line.contains(&format!("\"{scheme}:")))
        .map(|line| format!("{line}\n"))
        .collect()
}

#[test]
fn an_entry_with_no_hash_of_the_release_is_an_error() {
    let (registry, lab) = locked();
    let good = lab.read(LOCK);
    assert_exit(&verify(&lab, &[]), 0);
    lab.write(LOCK, altered(&good, &["zh", "h1"]));
    registry.reset(&serde_json::json!({}));
    let outcome = verify(&lab, &[]).exits(1);
    steady(&outcome).reads(str![[r#"
error[hash-not-of-release]: no hash of registry.terraform.io/acme/demo 1.0.0 is one of that release
 --> .terraform.lock.hcl:7:12
  |
5 |   version     = "1.0.0"
  |                 ------- the locked version
6 |   constraints = "~> 1.0.0"
7 |   hashes = [
  |            ^ none of these is in the list of 4 packages that key KEYID signed
  |
  = help: an earlier run fetched the signed list of this release; restore the entry from version control, or delete it and run `lockctl lock . --flavor terraform@1.11`

.terraform.lock.hcl: 1 error; 3 notes (-v shows them)

"#]]);
    assert!(registry.entries().is_empty());
    verify(&lab, &["--format", "sarif"]).stdout_has("\"ruleId\": \"hash-not-of-release\"");
    // Without facts nothing shows it.
    verify(&lab, &["--no-cache"]).exits(0);
    // What the message advises is of use.
    let text = good.lines().take(3).collect::<Vec<_>>().join("\n") + "\n";
    lab.write(LOCK, text);
    assert_exit(&lock(&lab, TWO), 0);
    assert_eq!(lab.read(LOCK), good);
}

/// Company registries often have packages for one platform.
#[test]
fn the_platform_of_a_release_that_has_one_can_be_stated() {
    let (registry, lab) = with_registry(&DEMO.replace("acme/demo", "acme/single"));
    let zip = zip_of(&[("terraform-provider-single_v1.0.0", "single")]);
    registry.add_zip("acme/single", "1.0.0", "linux_amd64", &zip);
    assert_exit(&lock(&lab, &[]), 0);
    let verify = ["verify", ".", "--flavor", "terraform@1.11"];
    let outcome = lab.run(&verify).exits(1);
    outcome.stdout_has("run `lockctl verify . --flavor terraform@1.11 --fix` to state");
    assert_exit(&lab.run(&[&verify[..], &["--fix"]].concat()), 0);
    lab.read(".lockctl.hcl").has("\"linux_amd64\"");
    assert_exit(&lab.run(&verify), 0);
}

#[test]
fn what_may_be_of_the_release_is_not_reported() {
    let (_registry, lab) = locked();
    let good = lab.read(LOCK);
    let reported = |text: String| {
        lab.write(LOCK, text);
        verify(&lab, &["--format", "json"])
            .stdout
            .contains("hash-not-of-release")
    };
    // One hash of the release shows that the entry is of it.
    assert!(!reported(altered(&good, &["h1"])));
    // Two of four packages are known here: both `h1:` may be those of the others.
    assert!(!reported(altered(&without(&good, "zh"), &["h1"])));
    assert!(reported(altered(&without(&good, "h1"), &["zh"])));
    // Once all packages are known, none is left that they could be of.
    lab.write(LOCK, good.clone());
    assert_exit(&lock(&lab, ALL), 0);
    let foreign = altered(&without(&good, "zh"), &["h1"]);
    assert!(reported(foreign));
    // A registry signs no `h1:`, so its answer takes nothing back.
    verify(&lab, &["--upstream", "--format", "json"]).stdout_has("hash-not-of-release");
}

/// A disk that notes what is asked of the store.
#[derive(Default)]
struct NotedStore(Mutex<Vec<String>>);

/// The store with the notes on what is asked of it.
struct NotedObjects<'a> {
    objects: Box<dyn Objects + 'a>,
    asked: &'a Mutex<Vec<String>>,
}

impl Changes for NotedStore {
    fn objects(&self, dir: &Path) -> Box<dyn Objects + '_> {
        Box::new(NotedObjects {
            objects: RealDisk.objects(dir),
            asked: &self.0,
        })
    }
}

impl Objects for NotedObjects<'_> {
    fn check(&self) -> io::Result<()> {
        self.objects.check()
    }

    fn get(&self, key: &str, limit: u64) -> io::Result<Option<Vec<u8>>> {
        self.asked.lock().unwrap().push(key.to_owned());
        self.objects.get(key, limit)
    }

    fn put(&self, key: &str, bytes: &[u8]) -> io::Result<()> {
        self.objects.put(key, bytes)
    }

    fn measure(&self, above: &str) -> io::Result<Vec<ObjectSize>> {
        self.asked.lock().unwrap().push(format!("list {above}"));
        self.objects.measure(above)
    }

    fn remove(&self, key: &str) -> io::Result<()> {
        self.objects.remove(key)
    }
}

#[test]
fn a_release_costs_one_read_of_the_store() {
    let (_registry, lab) = locked();
    // Whatever else the store has is not looked at.
    let reads = |lab: &Lab, args: &[&str]| -> Vec<String> {
        let disk = Changed::<NotedStore>::default();
        lab.run_on(&disk, args);
        let asked = disk.0.0.into_inner().unwrap();
        assert!(
            !asked.iter().any(|key| key.starts_with("list ")),
            "{asked:?}"
        );
        asked
            .into_iter()
            .filter(|key| key.starts_with("releases-"))
            .collect()
    };
    let args = ["verify", "--platform", "linux_amd64,darwin_arm64"];
    assert_eq!(reads(&lab, &args).len(), 1);
    let good = lab.read(LOCK);
    lab.write(LOCK, altered(&good, &["zh", "h1"]));
    assert_eq!(reads(&lab, &args).len(), 1);
    // A policy asks about the same release.
    lab.write(".lockctl.hcl", "policy {\n  min_age = \"7d\"\n}\n");
    assert_eq!(reads(&lab, &args).len(), 1);
    // Another entry is another read, and another root with the same entries is none.
    let other = good.replace("acme/demo", "acme/other");
    let (_, entry) = other.split_once("\n\n").unwrap();
    lab.write(LOCK, format!("{good}\n{entry}"));
    assert_eq!(reads(&lab, &args).len(), 2);
    lab.write("b/main.tf", DEMO);
    lab.write(&format!("b/{LOCK}"), &good);
    assert_eq!(reads(&lab, &["verify", "-r"]).len(), 2);
}

/// An entry from a mirror, or of a small file, has no `zh:`; the `h1:` of the packages that this machine hashed are
/// known by release.
#[test]
fn an_entry_without_zh_is_judged_by_the_h1_of_its_release() {
    let (registry, lab) = locked();
    let good = without(&lab.read(LOCK), "zh");
    registry.reset(&serde_json::json!({}));
    let check = |text: &str, code: u8, proof: &str, finding: Option<&str>| {
        lab.write(LOCK, text);
        let outcome = verify(&lab, &["--format", "json"]).exits(code);
        let json: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
        let root = &json["roots"][0];
        assert_eq!(root["proof"], proof, "{}", outcome.stdout);
        let titles: Vec<&str> = root["findings"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|finding| finding["title"].as_str())
            .filter(|title| title.contains("wanted platform"))
            .collect();
        assert_eq!(titles, Vec::from_iter(finding), "{}", outcome.stdout);
    };
    check(&good, 0, "proven", None);
    let lacking = "wanted platforms of registry.terraform.io/acme/demo lack an h1: hash";
    // Both may be of packages that nobody hashed, but they are not those that are wanted.
    let both = format!("2 of 2 {lacking}");
    check(&altered(&good, &["h1"]), 1, "none", Some(&both));
    let one = altered(&good, &["h1"]).lines().zip(good.lines()).fold(
        (String::new(), false),
        |(text, seen), (altered, line)| {
            let line = if seen { line } else { altered };
            (format!("{text}{line}\n"), seen || line.contains("h1:"))
        },
    );
    let title = format!("1 of 2 {}", lacking.replace(" lack ", " lacks "));
    check(&one.0, 1, "none", Some(&title));
    assert!(registry.entries().is_empty());
    // Without facts they are counted.
    let counted = verify(&lab, &["--no-cache"]).exits(0);
    counted.stdout_has("complete by count");
}

/// A root with a policy, locked for two platforms; the release was signed so many days ago.
fn with_policy(policy: &str, days_ago: i64) -> (Registry, Lab) {
    let (registry, lab) = with_registry(DEMO);
    let dates = Dates {
        signed_hours_ago: Some(days_ago * 24),
        ..Dates::default()
    };
    registry.set_dates("acme/demo", "1.0.0", dates);
    assert_exit(&lock(&lab, TWO), 0);
    lab.write(".lockctl.hcl", policy);
    (registry, lab)
}

#[test]
fn a_policy_is_checked_by_facts_or_said_to_be_unchecked() {
    let policy = format!(
        "policy {{\n  min_age = \"7d\"\n  provider \"acme/demo\" {{ key_id = \"{}\" }}\n}}\n\
         trust {{\n  require_signature = true\n}}\n",
        TestKey::Main.id()
    );
    let (registry, lab) = with_policy(&policy, 30);
    registry.reset(&serde_json::json!({}));
    verify(&lab, &[]).exits(0).stdout_lacks("policy");
    verify(&lab, &["--no-cache"]).exits(0).stdout_has(
        "; policy not checked: min_age, pinned keys, require_signature (needs --upstream)",
    );
    let json: serde_json::Value =
        serde_json::from_str(&verify(&lab, &["--no-cache", "--format", "json"]).stdout).unwrap();
    assert_eq!(
        json["roots"][0]["policy_not_checked"],
        serde_json::json!(["min_age", "pinned keys", "require_signature"])
    );
    assert!(registry.entries().is_empty());
    // Several roots: one sentence for all of them.
    lab.write("b/main.tf", DEMO);
    lab.write(&format!("b/{LOCK}"), lab.read(LOCK));
    let many = lab.run(&["verify", "--no-cache", "-r"]);
    let sentence = "note: policy not checked in 2 roots: min_age, pinned keys, require_signature (needs --upstream)";
    assert_eq!(many.stderr.matches(sentence).count(), 1, "{}", many.stderr);
    // Who leaves the policy out knows that it is not checked.
    verify(&lab, &["--no-cache", "--skip", "policy"]).stdout_lacks("policy");
}

#[test]
fn facts_refuse_a_young_release_and_another_key() {
    let (registry, lab) = with_policy("policy {\n  min_age = \"7d\"\n}\n", 3);
    registry.reset(&serde_json::json!({}));
    let young = verify(&lab, &[]).exits(1);
    young.stdout_has("error[release-too-young]");
    assert_exit(&verify(&lab, &["--no-cache"]), 0);
    let pin = "policy {\n  provider \"acme/demo\" { key_id = \"34365D9472D7468F\" }\n}\n";
    lab.write(".lockctl.hcl", pin);
    let other = verify(&lab, &[]).exits(1);
    steady(&other).has("is signed by key KEYID, which the policy does not pin");
    assert!(registry.entries().is_empty());
}

#[test]
fn an_export_carries_what_is_known_of_releases() {
    let (_registry, lab) = locked();
    let good = lab.read(LOCK);
    assert_exit(&lab.run(&["cache", "export", "facts.txt", "--for", "."]), 0);
    let export = lab.read("facts.txt");
    let signed = format!("signed {}", TestKey::Main.fingerprint());
    let name = "release registry.terraform.io/acme/demo 1.0.0";
    for statement in ["whole", &signed, "dated signature "] {
        export.has(format!("{name} {statement}"));
    }
    assert_exit(&lab.run(&["cache", "clean", "--all"]), 0);
    lab.write(LOCK, altered(&good, &["zh", "h1"]));
    assert_exit(&verify(&lab, &[]), 0);
    assert_exit(&lab.run(&["cache", "import", "facts.txt"]), 0);
    // The word of others counts where the project file says so.
    assert_exit(&verify(&lab, &[]), 0);
    lab.write(".lockctl.hcl", "trust {\n  imported_facts = true\n}\n");
    assert_exit(&verify(&lab, &[]), 1);
    assert_exit(&lab.run(&["cache", "export", "--imported", "again.txt"]), 0);
    assert_eq!(lab.read("again.txt"), export);
    lab.run(&["cache", "stats"]).stdout_has("releases   1\n");
}

/// The objects of releases in the store.
fn releases(lab: &Lab) -> Vec<String> {
    let of_release = |name: &String| name.contains("releases-");
    objects(lab).into_iter().filter(of_release).collect()
}

#[test]
fn a_store_of_an_earlier_version_is_read_as_before() {
    let (_registry, lab) = locked();
    let good = lab.read(LOCK);
    let [release] = &releases(&lab)[..] else {
        panic!("{:?}", objects(&lab));
    };
    assert_exit(&lab.run(&["cache", "export", "new.txt"]), 0);
    // Earlier versions kept facts about packages alone, and exported these lines alone.
    std::fs::remove_file(lab.path(STORE).join(release)).unwrap();
    assert_exit(&lab.run(&["cache", "export", "old.txt"]), 0);
    let packages: String = lab
        .read("new.txt")
        .lines()
        .filter(|line| !line.starts_with("release "))
        .map(|line| format!("{line}\n"))
        .collect();
    assert_eq!(lab.read("old.txt"), packages);
    let attributed = lab.run(&["show", "--format", "json"]);
    attributed.stdout_has("\"darwin_arm64\"");
    lab.write(LOCK, altered(&good, &["zh", "h1"]));
    assert_exit(&verify(&lab, &[]), 0);
    lab.write(LOCK, &good);
    assert_exit(&lab.run(&["cache", "clean", "--all"]), 0);
    assert_exit(&lab.run(&["cache", "import", "old.txt"]), 0);
    // The next run that reads a signed list keeps the release.
    assert_exit(&lock(&lab, &[TWO, &["--prove"]].concat()), 0);
    assert_eq!(releases(&lab), [release.as_str()]);
}

#[test]
fn a_damaged_release_is_ignored_with_a_warning_and_kept_anew() {
    let (_registry, lab) = locked();
    let good = lab.read(LOCK);
    let object = lab.path(STORE).join(&releases(&lab)[0]);
    let whole = std::fs::read(&object).unwrap();
    lab.write(LOCK, altered(&good, &["zh", "h1"]));
    for damaged in [&whole[..whole.len() / 2], b"garbage\n", b""] {
        std::fs::write(&object, damaged).unwrap();
        verify(&lab, &[]).exits(0).stderr_has("was ignored: ");
        lab.run(&["cache", "stats"]).stdout_lacks("releases   1");
    }
    lab.write(LOCK, &good);
    assert_exit(&lock(&lab, &[TWO, &["--prove"]].concat()), 0);
    lab.write(LOCK, altered(&good, &["zh", "h1"]));
    verify(&lab, &[]).exits(1).stderr_lacks("was ignored");
}
