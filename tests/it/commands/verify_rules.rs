//! `verify`: rules on hashes and versions, one by one.

use super::*;

/// `init` changes such lists, and no other finding says so.
#[test]
fn a_list_of_hashes_that_init_changes_is_reported() {
    let lab = simple();
    assert_exit(&lock(&lab, &["--platform", "linux_amd64"]), 0);
    let sorted = lab.read(LOCK);
    let h1 = sorted.split('"').find(|text| text.starts_with("h1:"));
    let own = format!("    \"{}\",\n", h1.unwrap());
    let verify = |hashes: &str| {
        lab.write(LOCK, sorted.replace(&own, hashes));
        lab.run(&["verify", "-v", "--only", "file"])
    };
    assert!(verify(&own).stdout.contains("ok; 1 provider\n"));
    let outcome = verify(&format!("{own}    \"h2:x\",\n")).exits(0);
    outcome.stdout_eq(str![[r#"
note[init-rewrites]: The next `terraform init` changes the list of hashes of example.com/t/x, and drops those of the unknown scheme h2
 --> .terraform.lock.hcl:9:5
  |
9 |     "h2:x",
  |     ^^^^^^ unknown scheme h2: `terraform init` drops it when it installs the package
  |
  = help: delete the hashes of the unknown scheme h2: they match no package

.terraform.lock.hcl: ok; 1 provider; 1 note

"#]]);
    // Formats that show one place of a finding name the scheme, too, where another fault comes first.
    lab.write(
        LOCK,
        sorted.replace(&own, &format!("{own}{own}    \"h2:x\",\n")),
    );
    for format in ["json", "sarif", "junit", "github", "markdown"] {
        let outcome = lab.run(&["verify", "--only", "file", "--format", format]);
        let scheme = ", and drops those of the unknown scheme h2";
        assert!(
            outcome.stdout.contains(scheme),
            "{format}: {}",
            outcome.stdout
        );
    }
    verify(&format!("    \"zh:{}\",\n{own}{own}", "0".repeat(64))).stdout_eq(str![[r#"
note[init-rewrites]: The next `terraform init` changes the list of hashes of example.com/t/x
  --> .terraform.lock.hcl:9:5
   |
 9 |     "h1:NnL+qI4e2PY7BWBHHIZlJ0CEMhmgX29u+TcOT8Bq5xY=",
   |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ this hash belongs before the one above
10 |     "h1:NnL+qI4e2PY7BWBHHIZlJ0CEMhmgX29u+TcOT8Bq5xY=",
   |     ------------------------------------------------- this hash is listed above already
   |
   = help: run `lockctl fmt .` to sort the hashes as `terraform init` does

note[file-not-canonical]: The lock file is not in canonical form
 --> .terraform.lock.hcl:8:1
  |
8 |     "zh:0000000000000000000000000000000000000000000000000000000000000000",
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ the first difference is in this line
  |
  = help: run `lockctl fmt .` to rewrite it

.terraform.lock.hcl: ok; 1 provider; 2 notes

"#]]);
    lab.write(
        ".lockctl.hcl",
        "rule \"init-rewrites\" {\n  level = \"error\"\n}\n",
    );
    assert_exit(&lab.run(&["verify", "--only", "file"]), 1);
}

#[test]
fn a_byte_order_mark_is_named() {
    let lab = simple();
    lock(&lab, BOTH).exits(0);
    let text = lab.read(LOCK);
    lab.write(LOCK, format!("\u{feff}{text}"));
    let outcome = lab.run(&["verify", "-v", "--only", "file"]).exits(0);
    outcome.stdout_has("the file begins with a byte order mark\n");
    lab.run(&["fmt"]).exits(0);
    assert_eq!(lab.read(LOCK), text);
}

/// A hash that can match no package covers no platform.
#[test]
fn a_hash_of_the_wrong_form_covers_no_platform() {
    let lab = simple();
    assert_exit(&lock(&lab, BOTH), 0);
    let enough = |lab: &Lab| {
        let outcome = lab.run(&[&["verify", "--only", "platforms"], BOTH].concat());
        !outcome.stdout.contains("platforms-incomplete")
    };
    assert!(enough(&lab));
    let text = lab.read(LOCK);
    let h1 = text
        .split('"')
        .find(|text| text.starts_with("h1:"))
        .unwrap();
    lab.write(LOCK, text.replace(h1, &h1.replace('=', "")));
    assert!(!enough(&lab));
}

/// A `required_version` counts where the version of the program is stated, by the program's own rule.
#[test]
fn a_required_version_is_compared_with_the_stated_one() {
    let lab = simple();
    assert_exit(&lock(&lab, BOTH), 0);
    let required = |text: &str| format!("terraform {{\n  required_version = \"{text}\"\n}}\n");
    let warns = |flavor: &str| {
        let args = ["verify", "--only", "configuration", "--flavor", flavor];
        lab.run(&args)
            .stdout
            .contains("warning[core-version-unmet]")
    };
    lab.write("h/main.tf", required(">= 1.12"));
    lab.write("m.tf", "module \"h\" {\n  source = \"./h\"\n}\n");
    assert!(!warns("terraform"));
    assert!(warns("terraform@1.11") && !warns("terraform@1.15"));
    // Any patch of a version without one will do.
    lab.write("h/main.tf", required("> 1.11.3, < 1.11.5, != 1.11.9"));
    assert!(!warns("terraform@1.11") && !warns("terraform@1.11.4"));
    assert!(warns("terraform@1.11.3") && warns("terraform@1.11.9"));
    // OpenTofu reads it in files of its own, and its own block everywhere.
    lab.write("h/main.tf", required("~> 1.5.0"));
    assert!(!warns("opentofu@1.12"));
    let own = "language {\n  compatible_with {\n    opentofu = \">= 1.13\"\n  }\n}\n";
    lab.write("h/main.tf", own);
    assert!(warns("opentofu@1.12.6"));
    lab.write("h/main.tf", "");
    lab.write("h/main.tofu", required("~> 1.5.0"));
    assert!(warns("opentofu@1.12"));
    let outcome = lab.run(&words("verify --only configuration --flavor opentofu@1.12"));
    assert_exit(&outcome, 1);
    outcome.stdout_eq(str![[r#"
warning[core-version-unmet]: OpenTofu 1.12 does not meet a version constraint of a module
 --> h/main.tofu:2:22
  |
2 |   required_version = "~> 1.5.0"
  |                      ^^^^^^^^^^ `tofu init` fails: Incompatible module
  |
  = help: change the constraint, or state the version that you run with --flavor or as `flavor` in .lockctl.hcl

.terraform.lock.hcl: 1 warning

"#]]);
}

#[test]
fn a_locked_prerelease_needs_a_constraint_that_names_it() {
    let lab = simple();
    assert_exit(&lock(&lab, BOTH), 0);
    let text = lab.read(LOCK).replace("1.1.0", "1.1.0-beta1");
    lab.write(LOCK, text.replace("  constraints = \"~> 1.0\"\n", ""));
    lab.write(
        "main.tf",
        ONE_PROVIDER.replace("      version = \"~> 1.0\"\n", ""),
    );
    let outcome = lab.run(&["verify", "--only", "configuration"]).exits(1);
    let title = "error[version-outside-constraint]: example.com/t/x is locked at the pre-release \
                 1.1.0-beta1, which no constraint names\n";
    outcome.stdout_has(title);
    let locked = lock(&lab, BOTH).exits(2);
    let said = "error: the locked version 1.1.0-beta1 of example.com/t/x is a pre-release, and no \
                constraint names it exactly\n";
    locked.stderr_has(said);
}
