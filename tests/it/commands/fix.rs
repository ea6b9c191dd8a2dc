//! `verify --fix`: what is mended, what is left, and what is never lost.

use std::sync::atomic::AtomicUsize;

use super::files::Busy;
use super::*;
use crate::corpus;
use crate::disk::Changed;

const HEADER: &str = "\
# This file is maintained automatically by \"terraform init\".
# Manual edits may be lost in future updates.
";

const H1: &str = "h1:vSUZJPJlJhDOkbAT+iqt7AAQArew8uExp71bJtBUdMw=";
const OTHER_H1: &str = "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";

/// The checks that need no platforms.
const FORM: &[&str] = &["verify", "--only", "file,configuration"];

/// Prints the entry of a type of `example.com/t`, as the programs do.
fn entry(type_name: &str, version: &str, constraints: &str, hashes: &[&str]) -> String {
    let lines = match constraints {
        "" => format!("  version = \"{version}\"\n"),
        text => format!("  version     = \"{version}\"\n  constraints = \"{text}\"\n"),
    };
    let hashes: String = hashes.iter().map(|h| format!("    \"{h}\",\n")).collect();
    format!("\nprovider \"example.com/t/{type_name}\" {{\n{lines}  hashes = [\n{hashes}  ]\n}}\n")
}

fn lock_of(entries: &[String]) -> String {
    HEADER.to_owned() + &entries.concat()
}

/// A root that requires `example.com/t/x`, with this lock file.
fn root(lock: &str) -> Lab {
    let lab = Lab::new();
    lab.write("main.tf", ONE_PROVIDER);
    lab.write(LOCK, lock);
    lab
}

fn fix(lab: &Lab, more: &[&str]) -> crate::lab::Outcome {
    lab.run(&[FORM, &["--fix"], more].concat())
}

/// Holds that a lock file is mended to another one, and that a second run changes nothing.
#[track_caller]
fn mends(lab: &Lab, more: &[&str], wanted: &str) -> String {
    let outcome = fix(lab, more).exits(0);
    assert_eq!(lab.read(LOCK), wanted);
    fix(lab, more).exits(0).stdout_lacks("fixed");
    assert_eq!(lab.read(LOCK), wanted);
    outcome.stdout
}

fn good() -> String {
    lock_of(&[entry("x", "1.0.0", "~> 1.0", &[OTHER_H1, H1])])
}

#[test]
fn everything_at_once_is_mended_and_told() {
    let stale = entry("x", "1.0.0", "~> 0.9, ~> 1.0", &[H1, OTHER_H1]);
    let lab = root(&(entry("old", "2.0.0", "", &[H1]) + &stale).replace('\n', "\r\n"));
    mends(&lab, &[], &good()).reads(str![[r#"
fixed: the constraints of example.com/t/x are "~> 1.0", not "~> 0.9, ~> 1.0"
fixed: example.com/t/old 2.0.0 is dropped: nothing requires it
fixed: the file is written as `terraform` writes it
.terraform.lock.hcl: ok; 1 provider

"#]]);
}

#[test]
fn programs_are_told_row_by_row() {
    let lab = root(&lock_of(&[entry("x", "1.0.0", "", &[H1])]));
    let json = |lab: &Lab| -> serde_json::Value {
        let outcome = fix(lab, &["--format", "json"]);
        serde_json::from_str(&outcome.stdout).unwrap()
    };
    let first = json(&lab);
    let row = serde_json::json!([{
        "rule": "constraints-stale",
        "provider": "example.com/t/x",
        "text": "the constraints of example.com/t/x are \"~> 1.0\", not none",
    }]);
    assert_eq!(first["roots"][0]["fixed"], row);
    assert_eq!(first["roots"][0]["changed"], true);
    assert_eq!(first["roots"][0]["findings"], serde_json::json!([]));
    let second = json(&lab);
    assert_eq!(second["roots"][0]["fixed"], serde_json::json!([]));
    assert_eq!(second["roots"][0]["changed"], false);
    // Without the option nothing is said of it.
    let plain = lab.run(&[FORM, &["--format", "json"]].concat());
    assert!(!plain.stdout.contains("changed") && !plain.stdout.contains("fixed"));
}

#[test]
fn what_is_left_decides_about_the_exit_code() {
    // The stale text is not taken over from a condition that the version does not meet.
    let lock = lock_of(&[
        entry("old", "2.0.0", "", &[H1]),
        entry("x", "2.0.0", "~> 2.0", &[H1]),
    ]);
    let lab = root(&lock);
    let outcome = fix(&lab, &[]).exits(1);
    let kept = lock_of(&[entry("x", "2.0.0", "~> 2.0", &[H1])]);
    assert_eq!(lab.read(LOCK), kept);
    outcome.stdout_has("error[version-outside-constraint]");
    outcome.stdout_has(".terraform.lock.hcl:5:17");
    outcome.stdout_lacks("provider-not-required");
    outcome.stderr_eq(str![[r#"
warning: not fixed: the constraints of example.com/t/x stay as recorded, since the locked version 2.0.0 does not meet those of the configuration
note: `lockctl explain version-outside-constraint` says what this means and how to fix it

"#]]);
}

#[test]
fn blocks_of_one_version_are_joined() {
    let one = entry("x", "1.0.0", "~> 1.0", &[H1]);
    let lab = root(&lock_of(&[one.clone(), one.clone(), one.clone()]));
    let told = mends(&lab, &[], &lock_of(std::slice::from_ref(&one)));
    assert!(told.starts_with("fixed: 3 blocks of example.com/t/x 1.0.0 became one\n"));

    // As a merge joins them: each side locked its own platform. What is stale then is mended, too.
    let other = entry("x", "1.0.0", "> 0.1.0", &[OTHER_H1]);
    let lab = root(&lock_of(&[one, other]));
    mends(&lab, &[], &good()).has("are \"~> 1.0\", not \"> 0.1.0, ~> 1.0\"");
}

/// Help for faults of the file names the command that ends them, with its root.
#[test]
fn help_for_a_broken_file_is_typed() {
    let lab = simple();
    assert_exit(&lock(&lab, BOTH), 0);
    let whole = lab.read(LOCK);
    let block = whole.split_once("\n\n").unwrap().1;
    lab.write(LOCK, format!("{whole}\n{block}"));
    let outcome = lab.run(FORM).exits(1);
    outcome.stdout_has("= help: run `lockctl verify . --fix`, which joins blocks of one version");
    assert_exit(&lab.run(&["verify", ".", "--fix", "--only", "file"]), 0);
    assert_eq!(lab.read(LOCK), whole);

    let (above, _) = whole.split_once("  hashes = [").unwrap();
    lab.write(LOCK, format!("{above}  hashes = [\n  ]\n  more = 1\n}}\n"));
    let outcome = lab.run(FORM).exits(1);
    outcome.stdout_has("= help: delete the argument hashes, then run `lockctl lock .`");
    outcome.stdout_has("= help: delete it\n");
    lab.write(LOCK, format!("{above}}}\n"));
    assert_exit(&lock(&lab, BOTH), 0);
    assert_eq!(lab.read(LOCK), whole);
}

#[test]
fn blocks_that_contradict_each_other_are_for_a_person() {
    let zh = |digit: &str| format!("zh:{}", digit.repeat(64));
    let (a, b, c) = (zh("a"), zh("b"), zh("c"));
    let one = entry("x", "1.0.0", "~> 1.0", &[&a, &b]);
    let moved = entry("x", "1.1.0", "~> 1.0", &[&a, &b]);
    let republished = entry("x", "1.0.0", "~> 1.0", &[&a, &c]);
    let twin = entry("y", "1.0.0", "", &[H1]);
    for (other, why) in [
        (&moved, "is locked at 1.0.0 and at 1.1.0"),
        (&republished, "with two lists of zh:"),
    ] {
        // Nor is anything else written then.
        let lock = lock_of(&[one.clone(), other.clone(), twin.clone(), twin.clone()]);
        let lab = root(&lock);
        for how in ["--fix", "--fix=all"] {
            let outcome = lab.run(&[FORM, &[how]].concat()).exits(1);
            assert_eq!(lab.read(LOCK), lock);
            assert!(outcome.stdout.starts_with("error[duplicate-provider]"));
            outcome.stderr_has(why);
        }
    }
}

#[test]
fn a_file_that_cannot_be_read_is_left_alone() {
    let sound = entry("x", "1.0.0", "~> 1.0", &[H1]);
    for broken in [
        sound.clone() + "provider \"example.com/t/z\" {\n  version = \"x\"\n}\n",
        sound.clone() + &sound.replace("1.0.0", "x"),
        sound.clone() + &sound + "oops\n",
        format!("<<<<<<< a\n{sound}=======\n>>>>>>> b\n"),
    ] {
        let lab = root(&broken);
        let outcome = lab.run(&[FORM, &["--fix=all"]].concat()).exits(1);
        assert_eq!(lab.read(LOCK), broken);
        assert!(
            outcome.stderr.starts_with(
                "warning: the lock file was not fixed: the file cannot be read as it is\n"
            ),
            "{}",
            outcome.stderr
        );
    }
}

#[test]
fn comments_are_dropped_only_on_demand() {
    let commented = good().replace("  hashes", "  # mine\n  hashes") + "# mine, too\n";
    let lab = root(&commented);
    let outcome = fix(&lab, &[]).exits(0);
    assert_eq!(lab.read(LOCK), commented);
    outcome.stderr_eq(str![[r#"
warning: the lock file was not fixed: that would drop 2 comments; --fix=all does it anyway

"#]]);
    let outcome = lab.run(&[FORM, &["--fix=all"]].concat()).exits(0);
    assert_eq!(lab.read(LOCK), good());
    outcome.stderr_eq(str![[r#"
note: a rewrite drops 2 comments, as Terraform and OpenTofu do

"#]]);
    // A block that the programs drop is somebody's, too.
    let locked = good() + "\nmodule \"m\" {\n}\n";
    lab.write(LOCK, &locked);
    let outcome = fix(&lab, &[]);
    assert_eq!(lab.read(LOCK), locked);
    outcome.stderr_has("drop the blocks of modules");
    lab.run(&[FORM, &["--fix=all"]].concat());
    assert_eq!(lab.read(LOCK), good());
}

#[test]
fn what_cannot_be_seen_is_kept() {
    let lock = lock_of(&[
        entry("old", "2.0.0", "", &[H1]),
        entry("x", "1.0.0", "< 3.0.0", &[H1]),
    ]);
    let call = "module \"m\" {\n  source = \"a/b/c\"\n}\n";
    let lab = root(&lock);
    lab.write("main.tf", format!("{ONE_PROVIDER}{call}"));
    let wanted = lock_of(&[
        entry("old", "2.0.0", "", &[H1]),
        entry("x", "1.0.0", "~> 1.0, < 3.0.0", &[H1]),
    ]);
    mends(&lab, &[], &wanted);

    // While the state is elsewhere, it may need the entry.
    let lab = root(&lock);
    let backend = "terraform {\n  backend \"s3\" {}\n}\n";
    lab.write("main.tf", format!("{ONE_PROVIDER}{backend}"));
    let wanted = wanted.replace("~> 1.0, < 3.0.0", "~> 1.0");
    mends(&lab, &[], &wanted);
    let told = mends(
        &lab,
        &["--no-state"],
        &lock_of(&[entry("x", "1.0.0", "~> 1.0", &[H1])]),
    );
    assert!(told.contains("example.com/t/old 2.0.0 is dropped"));
}

#[test]
fn an_entry_whose_version_counts_for_another_provider_stays() {
    let lab = Lab::new();
    // `convert` keeps the version; of `hashicorp`, OpenTofu's `init` does so, too.
    let (terraform, opentofu) = ("registry.terraform.io", "registry.opentofu.org");
    for (source, flavor, registry, twin_registry) in [
        ("hashicorp/null", "opentofu", terraform, opentofu),
        ("acme/null", "opentofu", terraform, opentofu),
        ("hashicorp/null", "terraform", opentofu, terraform),
    ] {
        let required = format!("n = {{ source = \"{source}\" }}");
        lab.write(
            "main.tf",
            format!("terraform {{\n  required_providers {{\n    {required}\n  }}\n}}\n"),
        );
        let old = entry("x", "3.2.1", "", &[H1]);
        let old = old.replace("example.com/t/x", &format!("{registry}/{source}"));
        lab.write(LOCK, lock_of(std::slice::from_ref(&old)));
        let outcome = fix(&lab, &["--flavor", flavor]).exits(1);
        outcome.stderr_has(format!(
            "{registry}/{source} is not dropped before {twin_registry}/{source} is locked"
        ));
        outcome.stdout_has("run `lockctl convert . --to");
        lab.read(LOCK)
            .has(format!("provider \"{registry}/{source}\""));
    }
}

#[test]
fn only_what_is_wanted_is_mended() {
    let lock = lock_of(&[
        entry("old", "2.0.0", "", &[H1]),
        entry("x", "1.0.0", "> 0.1.0", &[H1]),
    ]);
    let off =
        |rule: &str| format!("rule \"{rule}\" {{\n  level = \"off\"\n  reason = \"ours\"\n}}\n");
    let lab = root(&lock);
    lab.write(".lockctl.hcl", off("provider-not-required"));
    let kept = lock.replace("> 0.1.0", "~> 1.0");
    mends(&lab, &[], &kept);

    let lab = root(&lock);
    let rules = [off("provider-not-required"), off("constraints-stale")];
    lab.write(".lockctl.hcl", rules.concat());
    mends(&lab, &[], &lock);

    let lab = root(&lock);
    lab.run(&["verify", "--fix", "--only", "file"]).exits(0);
    assert_eq!(lab.read(LOCK), lock);

    // The form alone is none of anybody's business here, until something else is mended.
    let loose = lock.replace("  version ", " version ");
    let lab = root(&loose);
    lab.write(".lockctl.hcl", off("file-not-canonical"));
    lab.run(&["verify", "--fix", "--only", "file"]).exits(0);
    assert_eq!(lab.read(LOCK), loose);
    let wanted = lock_of(&[entry("x", "1.0.0", "~> 1.0", &[H1])]);
    let told = mends(&lab, &[], &wanted);
    assert!(told.contains("fixed: the file is written as `terraform` writes it"));
}

#[test]
fn roots_that_fail_are_left_alone() {
    let lock = lock_of(&[entry("old", "2.0.0", "", &[H1])]);
    let lab = root(&lock);
    lab.write("broken.tf", "terraform {\n");
    let outcome = fix(&lab, &[]).exits(2);
    assert_eq!(lab.read(LOCK), lock);
    outcome.stderr_has("the lock file was not fixed: the configuration cannot be read");
    // Without a lock file there is nothing to mend.
    let lab = Lab::new();
    lab.write("main.tf", ONE_PROVIDER);
    assert_exit(&fix(&lab, &[]), 1);
    assert!(!lab.path(LOCK).exists());
}

#[test]
fn a_file_that_changes_under_the_run_is_read_again_once() {
    let lock = lock_of(&[entry("old", "2.0.0", "", &[H1])]);
    let busy = |lab: &Lab, left| {
        Changed(Busy {
            path: lab.path(LOCK),
            left: AtomicUsize::new(left),
        })
    };
    let args = [FORM, &["--fix=all"]].concat();
    let lab = root(&lock);
    let outcome = lab.run_on(&busy(&lab, 1), &args);
    // What somebody else wrote holds a comment and no entry.
    assert_exit(&outcome, 1);
    assert_eq!(lab.read(LOCK), HEADER);
    assert_eq!(outcome.stdout.matches("fixed: ").count(), 1, "{outcome:?}");

    let lab = root(&lock);
    let outcome = lab.run_on(&busy(&lab, 9), &args).exits(2);
    assert!(lab.read(LOCK).contains("written by somebody else"));
    outcome.stderr_has("keeps changing");
}

/// Real files come out as `fmt` writes them.
#[test]
fn real_lock_files_come_out_as_fmt_writes_them() {
    let (mut valid, mut changed) = (0, 0);
    let lab = Lab::new();
    for part in corpus::parts("locks", "index.tsv") {
        for row in &part.rows {
            let path = part.dir.join(row.get("file"));
            let bytes = std::fs::read(&path).unwrap();
            lab.write(LOCK, &bytes);
            if lab.run(&["fmt"]).code != 0 {
                continue;
            }
            let wanted = std::fs::read(lab.path(LOCK)).unwrap();
            lab.write(LOCK, &bytes);
            let outcome = lab.run(&["verify", "--only", "file", "--fix=all"]);
            let shown = path.display();
            assert!(outcome.code < 2, "{shown}: {outcome:?}");
            let written = std::fs::read(lab.path(LOCK)).unwrap();
            assert!(written == wanted, "{shown}");
            assert_eq!(
                outcome.stdout.contains("fixed: "),
                written != bytes,
                "{shown}"
            );
            valid += 1;
            changed += usize::from(written != bytes);
        }
    }
    println!("{valid} files are valid, {changed} of them were rewritten");
    assert!(valid > changed && changed > 0, "{valid}, {changed}");
}
