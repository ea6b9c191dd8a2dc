//! `verify`: every package on this machine.

use super::*;
use crate::zips::{Entry, Zip};

const INSTALLED: &str = ".terraform/providers/example.com/t/x/1.1.0/linux_amd64";

/// The root of [`simple`], locked for both platforms, with the right package installed.
fn installed() -> Lab {
    let lab = simple();
    assert_exit(&lock(&lab, BOTH), 0);
    lab.unpacked(
        ".terraform/providers",
        "example.com/t/x/1.1.0/linux_amd64",
        "1.1.0 linux_amd64",
    );
    lab
}

pub(super) fn verify(lab: &Lab, more: &[&str]) -> Outcome {
    lab.run(&[&["verify", "--only", "packages"], BOTH, more].concat())
}

/// Names a mirror in the CLI configuration.
fn configure(lab: &mut Lab, text: &str) {
    lab.write("rc", text);
    let path = lab.path("rc");
    lab.set("TF_CLI_CONFIG_FILE", path);
}

fn mirror_of(dir: &str) -> String {
    format!("provider_installation {{\n  filesystem_mirror {{\n    path = \"{dir}\"\n  }}\n}}\n")
}

#[test]
fn a_changed_file_is_named_where_a_mirror_has_the_package() {
    let mut lab = installed();
    configure(&mut lab, &mirror_of("mirror"));
    assert_exit(&verify(&lab, &[]), 0);
    lab.unpacked(
        ".terraform/providers",
        "example.com/t/x/1.1.0/linux_amd64",
        "tampered",
    );
    verify(&lab, &[]).exits(1).stdout_eq(str![[r#"
error[package-mismatch]: The installed package of example.com/t/x 1.1.0 for linux_amd64 does not match the lock file
 --> .terraform.lock.hcl:4:1
  |
4 | provider "example.com/t/x" {
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^ no recorded h1: matches .terraform/providers/example.com/t/x/1.1.0/linux_amd64
  |
  = help: it differs from mirror/example.com/t/x/1.1.0/linux_amd64, which is recorded:
            changed: terraform-provider-x_v1.1.0
          unless you know why, delete that directory and run `terraform init` again

.terraform.lock.hcl: 1 error

"#]]);
}

#[test]
fn a_stray_file_is_named_without_any_other_copy() {
    let lab = installed();
    lab.write(&format!("{INSTALLED}/.DS_Store"), "x");
    verify(&lab, &[]).exits(1).stdout_eq(str![[r#"
error[package-stray-file]: The installed package of example.com/t/x 1.1.0 for linux_amd64 has a stray file
 --> .terraform.lock.hcl:4:1
  |
4 | provider "example.com/t/x" {
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^ no recorded h1: matches .terraform/providers/example.com/t/x/1.1.0/linux_amd64
  |
  = help: without these files it is recorded:
            stray: .DS_Store
          delete that directory and run `terraform init` again; `terraform init` alone may keep what was added and record the h1: of the package with it

.terraform.lock.hcl: 1 error

"#]]);
}

#[test]
fn all_differences_from_a_zip_are_named() {
    let lab = Lab::new();
    lab.write("main.tf", super::ONE_PROVIDER);
    let files = [
        ("terraform-provider-x_v1.1.0", "x"),
        ("LICENSE", "text"),
        ("docs/a", "a"),
    ];
    let zip = "terraform-provider-x_1.1.0_linux_amd64.zip";
    lab.write(&format!("mirror/example.com/t/x/{zip}"), zip_of(&files));
    assert_exit(&lock(&lab, &["--platform", "linux_amd64"]), 0);
    lab.write(&format!("{INSTALLED}/terraform-provider-x_v1.1.0"), "y");
    lab.write(&format!("{INSTALLED}/LICENSE"), "text");
    lab.write(&format!("{INSTALLED}/more"), "more");
    lab.write(&format!("{INSTALLED}/docs/b"), "b");
    let zip = format!("mirror/example.com/t/x/{zip}");
    for option in [
        ["--fs-mirror", "mirror"],
        ["--package", "mirror"],
        ["--package", &zip],
    ] {
        let outcome = verify(&lab, &option).exits(1);
        outcome.stdout_has(format!(
            "it differs from {zip}, which is recorded:\n            \
                 changed: terraform-provider-x_v1.1.0\n            missing: docs/a\n            \
                 stray: docs/b, more\n"
        ));
    }
}

#[cfg(unix)]
#[test]
fn a_linked_package_is_judged_by_what_the_cache_holds() {
    let mut lab = simple();
    assert_exit(&lock(&lab, BOTH), 0);
    let cached = "cache/example.com/t/x/1.1.0/linux_amd64";
    lab.unpacked(
        "cache",
        "example.com/t/x/1.1.0/linux_amd64",
        "1.1.0 linux_amd64",
    );
    lab.write(".terraform/providers/example.com/t/x/1.1.0/README", "");
    std::os::unix::fs::symlink(lab.path(cached), lab.path(INSTALLED)).unwrap();
    let cache = lab.path("cache");
    lab.set("TF_PLUGIN_CACHE_DIR", cache);
    let outcome = verify(&lab, &[]).exits(0);
    // One package by two paths is one package.
    outcome.stdout_has("1 installed package verified");

    lab.write(&format!("{cached}/stray"), "");
    verify(&lab, &[]).exits(1).stdout_eq(str![[r#"
error[package-stray-file]: The installed package of example.com/t/x 1.1.0 for linux_amd64 has a stray file
 --> .terraform.lock.hcl:4:1
  |
4 | provider "example.com/t/x" {
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^ no recorded h1: matches .terraform/providers/example.com/t/x/1.1.0/linux_amd64
  |
  = help: without these files it is recorded:
            stray: stray
          delete cache/example.com/t/x/1.1.0/linux_amd64, to which it is a link, and run `terraform init` again; `terraform init` alone may keep what was added and record the h1: of the package with it

.terraform.lock.hcl: 1 error

"#]]);

    std::fs::remove_dir_all(lab.path("cache")).unwrap();
    verify(&lab, &[]).exits(1).stdout_eq(str![[r#"
error[package-unreadable]: The installed package of example.com/t/x 1.1.0 for linux_amd64 is a link that cannot be followed
 --> .terraform.lock.hcl:4:1
  |
4 | provider "example.com/t/x" {
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^ .terraform/providers/example.com/t/x/1.1.0/linux_amd64 cannot be followed: No such file or directory (os error 2)
  |
  = help: run `terraform init` again; until then `terraform plan` finds no package

.terraform.lock.hcl: 1 error

"#]]);
}

#[test]
fn a_cached_package_that_is_not_linked_is_checked_too() {
    let mut lab = simple();
    assert_exit(&lock(&lab, BOTH), 0);
    lab.unpacked("cache", "example.com/t/x/1.1.0/linux_amd64", "changed");
    lab.unpacked("cache", "example.com/t/x/1.0.0/linux_amd64", "of no matter");
    configure(&mut lab, "plugin_cache_dir = \"cache\"\n");
    for (flavor, advice) in [
        ("terraform", "would unpack over it"),
        ("opentofu", "stops at it"),
    ] {
        let outcome = verify(&lab, &["--flavor", flavor]).exits(1);
        outcome.stdout_has("error[package-mismatch]: The cached package of");
        outcome.stdout_has(advice);
    }
}

/// What a lock file lacks is told by another rule; a package that it need not hold is no fault.
#[test]
fn a_mirror_may_have_more_than_the_lock_file_holds() {
    let mut lab = simple();
    assert_exit(&lock(&lab, &["--platform", "linux_amd64"]), 0);
    configure(&mut lab, &mirror_of("mirror"));
    let only = ["verify", "--only", "packages", "-v", "--platform"];
    let unwanted = lab.run(&[&only[..], &["linux_amd64"]].concat()).exits(0);
    unwanted.stdout_has("note[package-unverifiable]: The lock file has no hash that can verify the mirrored package of \
         example.com/t/x 1.1.0 for darwin_arm64");
    let lacking = lab.run(&[&only[..], &["linux_amd64,darwin_arm64"]].concat());
    assert_exit(&lacking, 1);
    lacking.stdout_has("warning[package-unverifiable]");
    lacking.stdout_has(
        "run `lockctl lock . --platform darwin_arm64` to add its h1:; until then `terraform init` \
         from this mirror refuses it",
    );

    assert_exit(&lock(&lab, BOTH), 0);
    lab.unpacked("mirror", "example.com/t/x/1.1.0/darwin_arm64", "tampered");
    let outcome = verify(&lab, &[]).exits(1);
    outcome.stdout_has("error[package-mismatch]: The mirrored package of");
}

#[test]
fn mirrors_are_those_that_init_would_use() {
    let mut lab = simple();
    assert_exit(&lock(&lab, BOTH), 0);
    lab.unpacked("other", "example.com/t/x/1.1.0/linux_amd64", "changed");
    let rc = |first: &str, second: &str| {
        format!(
            "provider_installation {{\n  filesystem_mirror {{\n    path = \"{first}\"\n  }}\n  \
             filesystem_mirror {{\n    path = \"{second}\"\n    exclude = [\"example.com/u/*\"]\n  \
             }}\n}}\n"
        )
    };
    // The first that has a package hides what others have of it.
    configure(&mut lab, &rc("mirror", "other"));
    assert_exit(&verify(&lab, &[]), 0);
    configure(&mut lab, &rc("other", "mirror"));
    let outcome = verify(&lab, &[]).exits(1);
    // What is hidden tells all the same.
    outcome.stdout_has("it differs from mirror/example.com/t/x/1.1.0/linux_amd64");
    let excluded = rc("mirror", "other").replace("exclude = [\"example.com/u/*\"]", "include = []");
    configure(
        &mut lab,
        &excluded.replacen(
            "path = \"mirror\"",
            "path = \"mirror\"\n    exclude = [\"example.com/*/*\"]",
            1,
        ),
    );
    assert_exit(&verify(&lab, &[]), 1);

    // Without any block, there are the directories that the program looks for by itself.
    lab.env.vars.clear();
    std::fs::create_dir(lab.path("terraform.d")).unwrap();
    std::fs::rename(lab.path("other"), lab.path("terraform.d/plugins")).unwrap();
    let outcome = verify(&lab, &[]).exits(1);
    outcome.stdout_has("matches terraform.d/plugins/example.com/t/x/1.1.0/linux_amd64");
    configure(&mut lab, "provider_installation {\n  direct {}\n}\n");
    assert_exit(&verify(&lab, &[]), 0);
}

#[test]
fn a_mirror_that_is_not_there_is_named_in_its_place() {
    let mut lab = installed();
    configure(&mut lab, &mirror_of("nowhere"));
    verify(&lab, &[]).exits(1).stdout_eq(str![[r#"
error[mirror-missing]: There is no mirror in nowhere
 --> rc:2:3
  |
2 |   filesystem_mirror {
  |   ^^^^^^^^^^^^^^^^^ `terraform init` fails for every provider
  |
  = help: create the directory, or correct the path

.terraform.lock.hcl: 1 error

"#]]);
    configure(
        &mut lab,
        "provider_installation {\n  filesystem_mirror {}\n}\n",
    );
    let outcome = verify(&lab, &[]).exits(1);
    outcome.stdout_has("error[cli-configuration-invalid]");
    lab.env.vars.clear();
    let outcome = verify(&lab, &["--fs-mirror", "nowhere"]).exits(2);
    outcome.stderr_has("the packages in nowhere could not be read");
}

/// Locks a zip by its `zh:` alone, and puts another zip of other form in the mirror.
fn locked_by_zh(before: &Zip, now: &Zip) -> Lab {
    let lab = Lab::new();
    lab.write("main.tf", super::ONE_PROVIDER);
    lab.write("a.zip", before.bytes());
    let hashed = lab.run(&["hash", "a.zip"]);
    let zh = hashed.stdout.split_whitespace().next().unwrap();
    lab.write(
        LOCK,
        format!("provider \"example.com/t/x\" {{\n  version = \"1.1.0\"\n  hashes = [\n    \"{zh}\",\n  ]\n}}\n"),
    );
    lab.write(
        "mirror/example.com/t/x/terraform-provider-x_1.1.0_linux_amd64.zip",
        now.bytes(),
    );
    lab
}

#[test]
fn a_zip_with_the_same_content_is_told_from_other_content() {
    let program = || Entry::file("terraform-provider-x_v1.1.0", "x".repeat(100));
    let zip = Zip::of([program()]);
    let again = Zip::of([program().deflated()]);
    let lab = locked_by_zh(&zip, &again);
    let mirror = ["--fs-mirror", "mirror", "--package"];
    let twin = "terraform-provider-x_1.1.0_linux_amd64.zip";
    std::fs::rename(lab.path("a.zip"), lab.path(twin)).unwrap();
    verify(&lab, &[&mirror[..], &[twin]].concat()).exits(1).stdout_eq(str![[r#"
error[package-mismatch]: The mirrored package of example.com/t/x 1.1.0 for linux_amd64 does not match the lock file
 --> .terraform.lock.hcl:1:1
  |
1 | provider "example.com/t/x" {
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^ no recorded zh: or h1: matches mirror/example.com/t/x/terraform-provider-x_1.1.0_linux_amd64.zip
  |
  = help: it has the content of terraform-provider-x_1.1.0_linux_amd64.zip, which is recorded, but was zipped again; use that one, or run `lockctl lock . --platform linux_amd64` to record its h1:

.terraform.lock.hcl: 1 error

"#]]);

    // With its h1: recorded beside it, the program takes the other zip as well.
    let hashed = lab.run(&["hash", twin]);
    let h1 = hashed.stdout.lines().nth(1).unwrap();
    let h1 = h1.split_whitespace().next().unwrap();
    let text = lab
        .read(LOCK)
        .replacen("    \"zh:", &format!("    \"{h1}\",\n    \"zh:"), 1);
    lab.write(LOCK, text);
    verify(&lab, &["-v", "--fs-mirror", "mirror"]).exits(0).stdout_eq(str![[r#"
note[package-repacked]: The mirrored package of example.com/t/x 1.1.0 for linux_amd64 was zipped again
 --> .terraform.lock.hcl:1:1
  |
1 | provider "example.com/t/x" {
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^ an h1: matches mirror/example.com/t/x/terraform-provider-x_1.1.0_linux_amd64.zip, no zh: does
  |
  = help: nothing to do: its content is what was locked, and the program accepts it

.terraform.lock.hcl: ok; 1 provider, 1 mirrored package verified; 1 note

"#]]);
}

#[test]
fn a_directory_is_proven_by_a_zip_that_is_locked() {
    let zip = Zip::of([Entry::file("terraform-provider-x_v1.1.0", "x")]);
    let lab = locked_by_zh(&zip, &zip);
    lab.write(&format!("{INSTALLED}/terraform-provider-x_v1.1.0"), "x");
    let outcome = verify(&lab, &["--fs-mirror", "mirror"]).exits(1);
    outcome.stdout_has("warning[package-unverifiable]");
    outcome.stdout_has("its content is that of mirror/example.com/t/x/terraform-provider-x_1.1.0_linux_amd64.zip, whose zh: is recorded: run `lockctl lock . --platform linux_amd64` to add its h1:; until then `terraform plan` refuses it");
    lab.write(&format!("{INSTALLED}/terraform-provider-x_v1.1.0"), "y");
    let outcome = verify(&lab, &["--fs-mirror", "mirror"]).exits(1);
    outcome.stdout_has("error[package-mismatch]");
    outcome.stdout_has("changed: terraform-provider-x_v1.1.0");
}

#[test]
fn a_named_package_is_known_by_path_name_or_hash() {
    let lab = simple();
    lab.packed(
        "zips",
        "example.com/t/x/1.1.0/linux_amd64",
        "1.1.0 linux_amd64",
    );
    assert_exit(&lock(&lab, BOTH), 0);
    let zip = "zips/example.com/t/x/terraform-provider-x_1.1.0_linux_amd64.zip";
    let unpacked = "mirror/example.com/t/x/1.1.0/linux_amd64";
    lab.write("any.zip", std::fs::read(lab.path(zip)).unwrap());
    lab.write("any/terraform-provider-x_v1.1.0", "1.1.0 linux_amd64");
    for path in [
        zip,
        unpacked,
        "zips",
        "zips/example.com/t/x",
        "any.zip",
        "any",
    ] {
        let outcome = verify(&lab, &["--package", path]).exits(0);
        outcome.stdout_has("ok; 1 provider, 1 named package verified");
    }
    let outcome = verify(&lab, &["--package", "mirror"]);
    outcome.stdout_has("ok; 1 provider, 2 named packages verified");
}

#[test]
fn a_named_package_that_is_none_of_the_lock_file_is_told() {
    let lab = simple();
    assert_exit(&lock(&lab, BOTH), 0);
    lab.packed("zips", "example.com/t/x/3.0.0/linux_amd64", "3.0.0");
    lab.write("any/terraform-provider-x_v1.1.0", "changed");
    let newer = "zips/example.com/t/x/terraform-provider-x_3.0.0_linux_amd64.zip";
    let outcome = verify(
        &lab,
        &["--package", newer, "--package", "any", "--package", "zips"],
    );
    assert_exit(&outcome, 1);
    outcome.stdout_eq(str![[r#"
error[package-not-locked]: No entry is about zips
 --> .terraform.lock.hcl:1:1
  |
1 | # This file is maintained automatically by "terraform init".
  | ^ no entry here locks any package in it
  |
  = help: name a package of a locked version, or lock that version

error[package-not-locked]: No entry is about zips/example.com/t/x/terraform-provider-x_3.0.0_linux_amd64.zip
 --> .terraform.lock.hcl:1:1
  |
1 | # This file is maintained automatically by "terraform init".
  | ^ no entry here locks example.com/t/x 3.0.0 for linux_amd64
  |
  = help: name a package of a locked version, or lock that version

error[package-mismatch]: No entry records the package any
 --> .terraform.lock.hcl:1:1
  |
1 | # This file is maintained automatically by "terraform init".
  | ^ none of its hashes is recorded: h1:+1EkdKmJ0jGIHZDkCNCO9YZ7yRzf9EUYTM76fe/aOlU=
  |
  = help: unless you know why, do not use it; its path does not show which package it is: put it into the layout of a mirror to have it compared by name

.terraform.lock.hcl: 3 errors

"#]]);
    for (path, why) in [
        ("nowhere", "nowhere cannot be read"),
        (".terraform.lock.hcl", "cannot be hashed"),
        ("example.com", "there is no package in example.com"),
    ] {
        lab.write("example.com/t/README", "");
        let outcome = verify(&lab, &["--package", path]);
        assert_ne!(outcome.code, 0);
        let said = format!("{}{}", outcome.stdout, outcome.stderr);
        assert!(said.contains(why), "{outcome:#?}");
    }
}

#[test]
fn a_named_package_need_belong_to_one_of_several_roots_only() {
    let lab = simple();
    assert_exit(&lock(&lab, BOTH), 0);
    lab.write("b/main.tf", "");
    lab.write(&format!("b/{LOCK}"), "");
    let right = "mirror/example.com/t/x/1.1.0/linux_amd64";
    let wrong = "mirror/example.com/t/x/2.0.0/linux_amd64";
    assert_exit(&verify(&lab, &[".", "b", "--package", right]), 0);
    let outcome = verify(&lab, &[".", "b", "--package", right, "--package", wrong]).exits(2);
    let said = format!("no lock file records the package {wrong}");
    outcome.stderr_has(&said);
    outcome.stderr_lacks(format!("package {right}"));
}

#[test]
fn packages_of_mirrors_tell_whose_hashes_are_recorded() {
    let lab = simple();
    assert_exit(&lock(&lab, BOTH), 0);
    let verify = |more: &[&str]| lab.run(&[&["verify", "-v"], more].concat());
    let counted = verify(BOTH);
    counted.stdout_has("platforms-unattributed");
    let known = verify(&[BOTH, &["--fs-mirror", "mirror"]].concat()).exits(0);
    known.stdout_eq(str![[r#"
.terraform.lock.hcl: ok; 1 provider, h1: hashes for 2 platforms, 2 mirrored packages verified

"#]]);
    // Two hashes would be enough for two platforms, but they are those of others.
    let other = ["--platform", "linux_amd64,windows_amd64"];
    assert_exit(&verify(&other), 0);
    let known = verify(&[&other, &["--fs-mirror", "mirror"][..]].concat()).exits(1);
    known.stdout_has("2 h1: recorded, none for windows_amd64");
}

#[test]
fn a_zip_with_two_h1_is_odd_or_refused() {
    let odd = Zip::of([
        Entry::directory("docs/"),
        Entry::file("terraform-provider-x_v1.1.0", "x"),
    ]);
    let lab = locked_by_zh(&odd, &odd);
    let outcome = verify(&lab, &["-v", "--fs-mirror", "mirror"]).exits(0);
    outcome.stdout_has("note[package-odd]: The mirrored package of");
    // What init records of a mirror is what it refuses the next time.
    std::fs::remove_file(lab.path(LOCK)).unwrap();
    assert_exit(&lock(&lab, &["--platform", "linux_amd64"]), 0);
    let outcome = verify(&lab, &["--fs-mirror", "mirror"]).exits(1);
    outcome.stdout_has("error[package-odd]: `terraform init` refuses the mirrored package of");
}
