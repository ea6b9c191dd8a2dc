//! Variables without a value: no provider depends on them, or a module does.

use std::path::Path;

use super::registry::{DEMO, TWO, point_at, with_registry};
use super::*;
use crate::registry::Registry;
use crate::unset_values;

/// Blocks of OpenTofu that need a value early, and no variable of which has one.
const EARLY: &str = "\
variable \"bucket\" {}
variable \"key\" {}
variable \"places\" { type = set(string) }

terraform {
  backend \"gcs\" {
    bucket = var.bucket
  }
  encryption {
    key_provider \"pbkdf2\" \"k\" {
      passphrase = local.key
    }
  }
}

provider \"demo\" {
  alias    = \"by\"
  for_each = var.places
}

data \"demo_thing\" \"t\" {
  name = var.key
}

locals {
  key = \"${var.key}!\"
}
";

const OPENTOFU: &[&str] = &["--flavor", "opentofu@1.12"];

fn lock(lab: &Lab, more: &[&str]) -> Outcome {
    lab.run(&[&["lock", "--no-cache"], OPENTOFU, TWO, more].concat())
}

fn verify(lab: &Lab, more: &[&str]) -> Outcome {
    lab.run(&[&["verify", "--no-cache"], OPENTOFU, TWO, more].concat())
}

#[test]
fn the_lock_file_is_that_of_a_root_without_such_blocks() {
    let (_registry, lab) = with_registry(DEMO);
    assert_exit(&lock(&lab, &[]), 0);
    let wanted = lab.read(LOCK);
    std::fs::remove_file(lab.path(LOCK)).unwrap();
    lab.write("early.tofu", EARLY);
    let outcome = lock(&lab, &[]).exits(0);
    assert_eq!(lab.read(LOCK), wanted);
    outcome.stderr_eq(str![[r#"
note: acme/demo 1.2.0 is available, a minor upgrade from 1.0.0
note: var.bucket, var.key have no value: not needed for providers (`--var NAME=VALUE` or `--var-file FILE` gives one)

"#]]);
    std::fs::remove_file(lab.path(LOCK)).unwrap();
    let values = [
        "--var",
        "bucket=b",
        "--var",
        "key=k",
        "--var",
        "places=[\"eu\"]",
    ];
    let outcome = lock(&lab, &values).exits(0);
    assert_eq!(lab.read(LOCK), wanted);
    outcome.stderr_eq(str![[r#"
note: acme/demo 1.2.0 is available, a minor upgrade from 1.0.0

"#]]);
}

/// What OpenTofu 1.12.6 wrote for such roots (`tests/parity` asks it again, where it is at hand).
#[test]
fn the_recorded_lock_files_of_opentofu_are_written() {
    let registry = Registry::start();
    unset_values::publish(&registry);
    let mut lab = Lab::new();
    point_at(&mut lab, &registry);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(unset_values::RECORDED);
    let recorded = std::fs::read_to_string(path).unwrap();
    for (name, block, _) in unset_values::BLOCKS {
        unset_values::write(&lab, name, block);
        let platforms = ["--platform", unset_values::PLATFORMS];
        let args = [&["lock", name, "--no-cache"], OPENTOFU, &platforms].concat();
        assert_exit(&lab.run(&args), 0);
        assert_eq!(lab.read(&format!("{name}/{LOCK}")), recorded, "{name}");
    }
}

#[test]
fn a_root_is_judged_as_any_other() {
    let (_registry, lab) = with_registry(DEMO);
    lab.write("early.tofu", EARLY);
    assert_exit(&lock(&lab, &[]), 0);
    let outcome = verify(&lab, &[]).exits(0);
    outcome.stdout_eq(str![[r#"
.terraform.lock.hcl: complete by count; 1 provider, h1: hashes for 2 platforms, no package installed; state not seen

"#]]);
    outcome.stderr_eq(str![[r#"
note: var.bucket, var.key have no value: not needed for providers (`--var NAME=VALUE` or `--var-file FILE` gives one)

"#]]);
    let outcome = verify(&lab, &["-v", "--only", "configuration"]).exits(0);
    outcome.stdout_eq(str![[r#"
note[variable-not-set]: Variable has no value
 --> early.tofu:1:1
  |
1 | variable "bucket" {}
  | ^^^^^^^^^^^^^^^^^ `tofu init` needs it, no provider does
  |
  = help: give it with --var bucket=VALUE or --var-file FILE

note[variable-not-set]: Variable has no value
 --> early.tofu:2:1
  |
2 | variable "key" {}
  | ^^^^^^^^^^^^^^ `tofu init` needs it, no provider does
  |
  = help: give it with --var key=VALUE or --var-file FILE

note[state-not-visible]: State not visible
 --> early.tofu:6:3
  |
6 |   backend "gcs" {
  |   ^^^^^^^^^^^^^ the state is kept by the backend "gcs"; which providers only the state needs is unknown

.terraform.lock.hcl: no problem found; 1 provider; state not seen; 3 notes

"#]]);
    // The other commands read the same configuration.
    for command in [
        &["tree"][..],
        &["why", "demo"],
        &["outdated", "--no-cache"],
        &[
            "update",
            "--no-cache",
            "--dry-run",
            "--platform",
            "linux_amd64",
        ],
        &["lock", "--no-cache", "--check", "--platform", "linux_amd64"],
        &["lock", "--no-cache", "--strict-modules", "--dry-run"],
    ] {
        let outcome = lab.run(&[command, OPENTOFU].concat()).exits(0);
        let mentions = outcome.stderr.matches("have no value").count();
        assert_eq!(mentions, 1, "{command:?}: {outcome:#?}");
        assert!(
            !outcome.stderr.contains("error"),
            "{command:?}: {outcome:#?}"
        );
    }
    assert_exit(&lab.run(&["show"]), 0);
    let convert = ["convert", "--no-cache", "--to", "opentofu", "--dry-run"];
    assert_exit(&lab.run(&convert), 0);
}

/// A file that git-crypt encrypted, as it is in a fork.
const ENCRYPTED: &[u8] = b"\0GITCRYPT\0\x90\xa5\x0b\n\xff\xfe{";

#[test]
fn values_that_git_crypt_encrypted_are_one_note() {
    for flavor in ["terraform@1.16", "opentofu@1.12"] {
        let flavor = ["--flavor", flavor];
        let lab = Lab::new();
        let names = [
            "a/terraform.tfvars",
            "b/x.auto.tfvars",
            "b/terraform.tfvars.json",
        ];
        for root in ["a", "b"] {
            lab.write(&format!("{root}/{LOCK}"), "");
            lab.write(
                &format!("{root}/main.tf"),
                "variable \"v\" {}\nlocals {\n  v = var.v\n}\nmodule \"m\" {\n  source = \"../m\"\n  v = var.v\n}\n",
            );
        }
        lab.write("m/main.tf", "variable \"v\" {}\n");
        for name in names {
            lab.write(name, ENCRYPTED);
        }
        let note = "note: a/terraform.tfvars, b/terraform.tfvars.json, b/x.auto.tfvars are encrypted by git-crypt: \
                    not needed for providers (`git-crypt unlock`)\n";
        for command in [
            &["verify", "-r", "--only", "configuration"][..],
            &["tree", "-r"],
            &["outdated", "-r", "--offline"],
            &["lock", "-r", "--offline", "--no-cache"],
            &["update", "-r", "--offline", "--no-cache", "--dry-run"],
        ] {
            let outcome = lab.run(&[command, &flavor].concat()).exits(0);
            assert_eq!(
                outcome.stderr.matches(note).count(),
                1,
                "{command:?}: {outcome:#?}"
            );
        }
        let off = "rule \"values-unreadable\" {\n  level  = \"off\"\n  reason = \"forks\"\n}\n";
        lab.write(".lockctl.hcl", off);
        let outcome =
            lab.run(&[&["verify", "-r", "--only", "configuration"][..], &flavor].concat());
        outcome.stderr_lacks("git-crypt");
        // A file that the user names must be readable.
        let named = lab.run(
            &[
                &["tree", "a", "--var-file", "terraform.tfvars"][..],
                &flavor,
            ]
            .concat(),
        );
        assert_exit(&named, 2);
        named.stderr_has("File is encrypted by git-crypt");
    }
}

#[test]
fn values_that_cannot_be_read_are_an_error_where_a_module_depends_on_them() {
    for flavor in ["terraform@1.16", "opentofu@1.12"] {
        let lab = with_module(flavor);
        let flavor = ["--flavor", flavor];
        for (text, title) in [
            (ENCRYPTED, "File is encrypted by git-crypt"),
            (&b"a =\n"[..], "Invalid expression"),
        ] {
            lab.write("terraform.tfvars", text);
            for command in [
                &["tree"][..],
                &["verify"],
                &["lock", "--offline", "--no-cache"],
            ] {
                let outcome = lab.run(&[command, &flavor].concat()).exits(2);
                let all = outcome.stdout.clone() + &outcome.stderr;
                assert!(all.contains(title), "{command:?}: {outcome:#?}");
            }
            // Values of the command line come after those of the file.
            let values = ["--var", "a=x", "--var", "b=y"];
            let outcome = lab.run(&[&["tree"][..], &flavor, &values].concat());
            outcome.stderr_lacks(title);
        }
    }
}

/// `tofu init -backend=false` accepts such a backend, and `tofu init` does not.
#[test]
fn a_fault_of_the_backend_is_a_warning_in_every_command() {
    let lab = Lab::new();
    lab.write(LOCK, "");
    let title = "Undefined variable";
    lab.write(
        "main.tf",
        "terraform {\n  backend \"gcs\" {\n    bucket = var.undeclared\n  }\n}\n",
    );
    for (command, exit) in [
        (&["verify", "--only", "configuration"][..], 1),
        (&["tree"], 0),
        (&["outdated", "--offline"], 0),
        (&["lock", "--offline", "--no-cache"], 0),
    ] {
        let outcome = lab.run(&[command, OPENTOFU].concat()).exits(exit);
        let all = outcome.stdout.clone() + &outcome.stderr;
        assert!(
            all.contains(&format!("warning[configuration-invalid]: {title}")),
            "{command:?}: {all}"
        );
    }
}

#[test]
fn a_project_file_decides_about_the_note() {
    let (_registry, lab) = with_registry(DEMO);
    lab.write("early.tofu", EARLY);
    assert_exit(&lock(&lab, &[]), 0);
    let rule = |level: &str| {
        format!("rule \"variable-not-set\" {{\n  level  = \"{level}\"\n  reason = \"CI\"\n}}\n")
    };
    lab.write(".lockctl.hcl", rule("off"));
    verify(&lab, &[]).exits(0).stderr_lacks("no value");
    lab.write(".lockctl.hcl", rule("error"));
    assert_exit(&verify(&lab, &[]), 1);
}

#[test]
fn the_matrix_predicts_that_init_fails() {
    let (_registry, lab) = with_registry(DEMO);
    lab.write(
        "early.tofu",
        "variable \"bucket\" {}\n\nterraform {\n  backend \"gcs\" {\n    bucket = var.bucket\n  }\n}\n",
    );
    assert_exit(&lock(&lab, &[]), 0);
    let matrix = |more: &[&str]| {
        let outcome = verify(&lab, &[&["--matrix", "--format", "json"], more].concat()).exits(0);
        let json = outcome.json();
        json["roots"][0]["matrix"].as_array().unwrap().clone()
    };
    let asks = "Failed to request input from user for variable var.bucket";
    let rows = matrix(&[]);
    assert!(rows.iter().any(|row| row["provider"].is_null()));
    for row in rows {
        let fails = row["outcome"] == "fails" && row["title"] == asks;
        assert_eq!(fails, row["route"] != "validate", "{row}");
    }
    for row in matrix(&["--var", "bucket=b"]) {
        assert_ne!(row["title"], asks, "{row}");
    }
    // A fault of the backend and a file that cannot be parsed stop it, too.
    let undeclared = "terraform {\n  backend \"gcs\" {\n    bucket = var.nowhere\n  }\n}\n";
    for (text, values, title) in [
        (undeclared, "", "Undefined variable"),
        ("", "a =\n", "Invalid expression"),
    ] {
        lab.write("early.tofu", text)
            .write("terraform.tfvars", values);
        let outcome = verify(&lab, &["--matrix", "--format", "json"]);
        let json: Value = serde_json::from_str(&outcome.stdout).unwrap();
        for row in json["roots"][0]["matrix"].as_array().unwrap() {
            let is_stopped = row["route"] != "validate" || !values.is_empty();
            let fails = row["outcome"] == "fails" && row["title"] == title;
            assert_eq!(fails, is_stopped, "{row}");
        }
    }
    // A checkout with the key has the file in plain text.
    lab.write("early.tofu", "")
        .write("terraform.tfvars", ENCRYPTED);
    for row in matrix(&[]) {
        let fails = row["title"] == "Invalid character";
        let is_here = row["route"].as_str().unwrap().contains("here");
        assert_eq!(fails, is_here, "{row}");
    }
    lab.write("terraform.tfvars", "");
    // Without the value of a key, or of a constant, no command reads the configuration.
    lab.write("early.tofu", "variable \"c\" {\n  const = true\n}\n");
    for row in matrix(&[]) {
        assert_eq!(row["outcome"], "fails", "{row}");
    }
}

/// A root with a module whose source needs a variable, and with a lock file.
fn with_module(flavor: &str) -> Lab {
    let lab = Lab::new();
    let constant = if flavor.starts_with("terraform") {
        "  const = true\n"
    } else {
        ""
    };
    lab.write(
        "main.tf",
        format!(
            "variable \"a\" {{\n{constant}}}\nvariable \"b\" {{\n{constant}}}\n\nmodule \"m\" {{\n  source = \"./${{var.a}}/${{var.b}}\"\n}}\n"
        ),
    );
    lab.write(
        LOCK,
        "provider \"registry.opentofu.org/acme/demo\" {\n  version = \"1.0.0\"\n}\n",
    );
    lab.write(
        "one/two/main.tf",
        "terraform {\n  required_providers {\n    demo = { source = \"acme/demo\" }\n  }\n}\n",
    );
    lab
}

#[test]
fn a_module_that_depends_on_a_value_is_not_visible() {
    for flavor in ["opentofu@1.12", "terraform@1.15", "terraform@1.16"] {
        let lab = with_module(flavor);
        let verify = |more: &[&str]| {
            let args = [
                "verify",
                "--flavor",
                flavor,
                "--only",
                "configuration",
                "-v",
            ];
            lab.run(&[&args[..], more].concat())
        };
        let outcome = verify(&[]).exits(0);
        outcome.stdout_has("what module.m requires is unknown");
        outcome.stdout_lacks("error");
        outcome.stderr_lacks("not needed");
        if flavor == "opentofu@1.12" {
            outcome.stdout_eq(str![[r#"
note[module-not-visible]: Module call is computed
 --> main.tf:7:12
  |
1 | variable "a" {
  | ------------ var.a has no value
2 | }
3 | variable "b" {
  | ------------ var.b has no value
...
7 |   source = "./${var.a}/${var.b}"
  |            ^^^^^^^^^^^^^^^^^^^^^ what module.m requires is unknown
  |
  = help: give values with --var NAME=VALUE or --var-file FILE

.terraform.lock.hcl: no problem found; 1 provider; 1 module not seen; 1 note

"#]]);
        }
        let outcome = verify(&["--strict-modules"]).exits(1);
        outcome.stdout_has("error[module-not-visible]");
        let values = ["--var", "a=one", "--var", "b=two"];
        verify(&values).stdout_lacks("not-visible");
    }
}

#[test]
fn what_is_installed_counts_for_such_a_module() {
    let lab = with_module("opentofu@1.12");
    lab.write(
        ".terraform/modules/modules.json",
        "{\"Modules\": [{\"Key\": \"\", \"Source\": \"\", \"Dir\": \".\"}, {\"Key\": \"m\", \"Source\": \"./one/two\", \"Dir\": \"one/two\"}]}",
    );
    let outcome = lab.run(&[&["tree"], OPENTOFU].concat()).exits(0);
    outcome.stdout_eq(str![[r#"
.
└─ module.m  ./one/two
   │  source = "./${var.a}/${var.b}"  main.tf:7
   │    var.a = (not computed)        main.tf:1, no value
   │    var.b = (not computed)        main.tf:3, no value
   └─ acme/demo  any version
2 modules, 1 provider

"#]]);
    outcome.stderr_eq(str![[r#"
note: 1 note on the configuration (-v shows it)

"#]]);
}
