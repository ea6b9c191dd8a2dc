//! What nothing visible requires: dropped, or kept where not everything can be seen.

use super::*;

/// An entry of another provider, as it may be left over.
const LEFT_OVER: &str = "\
# This file is maintained automatically by \"terraform init\".
# Manual edits may be lost in future updates.

provider \"example.com/t/old\" {
  version     = \"1.0.0\"
  constraints = \"~> 1.0\"
}
";

/// A state that names one provider.
const STATE: &str = r#"{
  "version": 4,
  "resources": [
    {
      "type": "old_thing",
      "provider": "module.m[\"a.b\"].provider[\"example.com/t/old\"].west",
      "instances": [{ "attributes": { "password": "do-not-show" } }]
    }
  ]
}
"#;

/// A simple root whose lock file also holds [`LEFT_OVER`]; the mirror has packages of both.
fn with_left_over() -> Lab {
    let lab = simple();
    for platform in ["linux_amd64", "darwin_arm64"] {
        lab.unpacked(
            "mirror",
            &format!("example.com/t/old/1.0.0/{platform}"),
            platform,
        );
    }
    lab.write(LOCK, LEFT_OVER);
    lab
}

fn holds_old(lab: &Lab) -> bool {
    lab.read(LOCK).contains("example.com/t/old")
}

#[test]
fn an_entry_that_nothing_requires_is_dropped() {
    let lab = with_left_over();
    lock(&lab, &[BOTH, &["--dry-run"]].concat()).stdout_has("- provider = example.com/t/old\n");
    assert!(holds_old(&lab));
    lock(&lab, BOTH).exits(0).stderr_eq(str![[r#"
note: example.com/t/x 2.0.0 is available, a major upgrade from 1.1.0
note: removed, since neither configuration nor state requires it: example.com/t/old

"#]]);
    assert!(!holds_old(&lab) && lab.read(LOCK).contains("example.com/t/x"));
}

#[test]
fn a_root_without_providers_keeps_an_empty_lock_file_and_asks_nobody() {
    let lab = Lab::new();
    lab.write("main.tf", "resource \"terraform_data\" \"a\" {}\n");
    lab.write(LOCK, LEFT_OVER);
    lab.run(&["--offline", "lock"]).exits(0);
    let header = LEFT_OVER.split_inclusive('\n').take(2).collect::<String>();
    assert_eq!(lab.read(LOCK), header);
    let again = lab.run(&["--offline", "lock"]).exits(0);
    again.stdout_has("up to date");
}

#[test]
fn a_provider_of_the_state_stays_and_is_locked_without_constraints() {
    for path in [
        "terraform.tfstate",
        "terraform.tfstate.d/dev/terraform.tfstate",
    ] {
        let lab = with_left_over();
        lab.write(path, STATE);
        if path.contains("dev") {
            lab.write(".terraform/environment", "dev");
        }
        let outcome = lock(&lab, BOTH).exits(0);
        assert!(!format!("{outcome:?}").contains("do-not-show"));
        outcome.stdout_eq(str![[r#"
example.com/t/old  1.0.0  any version  kept      2 platforms  2 hashes added
example.com/t/x    1.1.0  ~> 1.0       selected  2 platforms  2 hashes added
4 hashes added: 4 computed and not covered by a signature
updated .terraform.lock.hcl

"#]]);
        assert!(holds_old(&lab), "{path}");
        lock(&lab, &[BOTH, &["--no-state"]].concat()).exits(0);
        assert!(!holds_old(&lab), "{path}");
    }
}

#[test]
fn a_state_that_cannot_be_read_stops_the_lock_and_shows_no_line_of_it() {
    let lab = with_left_over();
    lab.write(
        "terraform.tfstate",
        STATE.replace("\"instances\"", "do-not-show"),
    );
    lock(&lab, BOTH).exits(2).stderr_eq(str![[r#"
error[state-unreadable]: Error refreshing state
--> terraform.tfstate:1:1
 = note: it is no state: line 7, column 7
 = help: fix the state, or ignore it with --no-state


"#]]);
    assert!(holds_old(&lab));
}

#[test]
fn a_remote_state_cannot_be_seen_so_nothing_is_dropped() {
    let lab = with_left_over();
    lab.write("backend.tf", "terraform {\n  backend \"s3\" {}\n}\n");
    lock(&lab, BOTH).exits(0).stderr_eq(str![[r#"
note[state-not-visible]: State not visible
 --> backend.tf:2:3
  |
2 |   backend "s3" {}
  |   ^^^^^^^^^^^^ the state is kept by the backend "s3"; which providers only the state needs is unknown

warning: the lock file has no hash to compare with the package of example.com/t/old 1.0.0 for darwin_arm64, linux_amd64
note: example.com/t/x 2.0.0 is available, a major upgrade from 1.1.0
note: kept, because what cannot be seen may require it: example.com/t/old

"#]]);
    assert!(holds_old(&lab));
    assert_exit(&lock(&lab, &[BOTH, &["--no-state"]].concat()), 0);
    assert!(!holds_old(&lab));
    // Now it makes no difference, and only -v and JSON say so.
    let told = |more: &[&str]| format!("{:?}", lock(&lab, &[BOTH, more].concat()));
    assert!(!told(&[]).contains("state-not-visible"));
    assert!(told(&["-v"]).contains("state-not-visible"));
    assert!(told(&["--format", "json"]).contains("state-not-visible"));
}

#[test]
fn a_module_that_is_not_installed_removes_nothing() {
    let lab = with_left_over();
    let call = "module \"net\" {\n  source  = \"acme/net/aws\"\n  version = \"~> 1.0\"\n}\n";
    lab.write("main.tf", format!("{ONE_PROVIDER}{call}"));
    for (how, title) in [
        ("installed", "Module not installed"),
        ("auto", "Error accessing remote module registry"),
    ] {
        let outcome = lock(&lab, &[BOTH, &["--modules", how]].concat()).exits(0);
        outcome.stderr_has(title);
    }
    lock(&lab, &[BOTH, &["--modules", "fetch"]].concat()).exits(2);
    assert!(holds_old(&lab));
    lock(&lab, &[BOTH, &["--strict-modules"]].concat()).exits(2);

    // What `terraform get` leaves.
    lab.write(
        ".terraform/modules/modules.json",
        r#"{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"net","Source":"registry.terraform.io/acme/net/aws","Version":"1.4.0","Dir":".terraform/modules/net"}]}"#,
    );
    lab.write(
        ".terraform/modules/net/main.tf",
        "terraform {\n  required_providers {\n    old = {\n      source  = \"example.com/t/old\"\n      version = \">= 1.0\"\n    }\n  }\n}\n",
    );
    lock(&lab, &[BOTH, &["--strict-modules"]].concat()).exits(0);
    lab.read(LOCK).has("constraints = \">= 1.0.0\"");
}

/// The condition that names it is in the module that cannot be seen.
#[test]
fn a_locked_pre_release_stays_while_a_module_is_unseen() {
    let lab = simple();
    for platform in ["linux_amd64", "darwin_arm64"] {
        lab.unpacked(
            "mirror",
            &format!("example.com/t/x/3.0.0-rc1/{platform}"),
            platform,
        );
    }
    let unseen = "module \"far\" {\n  source = \"example.com/far/module/x\"\n}\n";
    lab.write("main.tf", ONE_PROVIDER.replace("~> 1.0", ">= 1.0") + unseen);
    let lock_file = |constraints: &str| {
        format!(
            "provider \"example.com/t/x\" {{\n  version     = \"3.0.0-rc1\"\n  \
             constraints = \"{constraints}\"\n}}\n"
        )
    };
    lab.write(LOCK, lock_file("3.0.0-rc1"));
    assert_exit(&lock(&lab, BOTH), 0);
    let text = lab.read(LOCK);
    text.has("\"3.0.0-rc1\"");
    text.has("h1:");
    text.has("constraints = \">= 1.0.0, 3.0.0-rc1\"");
    assert_exit(&lab.run(&[&["verify"], BOTH].concat()), 0);
    // Nothing visible requires it at all.
    lab.write("main.tf", unseen);
    lab.write(LOCK, lock_file("3.0.0-rc1"));
    assert_exit(&lock(&lab, BOTH), 0);
    assert!(lab.read(LOCK).contains("h1:"), "{}", lab.read(LOCK));
    // Nothing known names it.
    lab.write(LOCK, lock_file(">= 2.0.0"));
    assert_exit(&lock(&lab, BOTH), 2);
}

#[test]
fn verify_notes_an_unseen_module_and_judges_the_rest() {
    let lab = with_left_over();
    lab.write(
        "call.tf",
        "module \"net\" {\n  source = \"acme/net/aws\"\n}\n",
    );
    assert_exit(&lock(&lab, BOTH), 0);
    let verify = |more: &[&str]| {
        lab.run(&[&["verify", "--only", "file,configuration"], BOTH, more].concat())
    };
    let outcome = verify(&[]).exits(0);
    // What was not seen is part of the verdict, which is not "ok".
    outcome.stdout_eq(str![[r#"
.terraform.lock.hcl: no problem found; 2 providers; 1 module not seen (`--modules fetch`)

"#]]);
    let markdown = verify(&["--format", "markdown"]);
    markdown.stdout_has("no problem found; 1 module not seen (`--modules fetch`)");
    let json = verify(&["--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    let not_seen = serde_json::json!({"modules": 1, "generated_files": 0, "state": false});
    assert_eq!(json["roots"][0]["not_seen"], not_seen);
    let strict = verify(&["--strict-modules"]).exits(1);
    strict.stdout_has("error[module-not-visible]: Module not installed");
    lab.run(&["lock", "--strict-modules", "--fs-mirror", "mirror"])
        .exits(2);
}

#[test]
fn verify_says_what_becomes_of_an_entry_that_nothing_requires() {
    let lab = with_left_over();
    let help = |lab: &Lab| {
        let outcome = lab.run(&["verify", "-v", "--platform", "linux_amd64"]);
        let lines = outcome.stdout.lines().chain(outcome.stderr.lines());
        lines
            .filter(|line| line.contains("requires the provider"))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert!(
        help(&lab)[0].contains("drops the entry"),
        "{:?}",
        help(&lab)
    );
    lab.write("backend.tf", "terraform {\n  backend \"s3\" {}\n}\n");
    assert!(
        help(&lab)[0].contains("keeps the entry"),
        "{:?}",
        help(&lab)
    );
    lab.write("backend.tf", "")
        .write("terraform.tfstate", STATE);
    assert!(help(&lab).is_empty(), "{:?}", help(&lab));
}

const UNSEEN_CALLS: &str = "\
module \"net\" {
  source = \"acme/net/aws\"
}

module \"dns\" {
  source = \"acme/dns/aws\"
}
";

#[test]
fn lock_says_what_it_could_not_see_where_nothing_visible_requires_a_provider() {
    let lab = Lab::new();
    lab.write("main.tf", UNSEEN_CALLS)
        .write("mirror/README", "");
    lock(&lab, &[]).exits(0).stdout_eq(str![[r#"
.: no visible module requires a provider, so nothing was locked; 2 module calls (module.dns, module.net) cannot be seen, and may require providers (-v shows why)

"#]]);
    assert!(!lab.path(LOCK).exists());
}

#[test]
fn the_hashes_of_every_entry_are_completed_while_a_module_is_unseen() {
    let lab = with_left_over();
    assert_exit(&lock(&lab, &["--no-state", "--platform", "linux_amd64"]), 0);
    lab.write("main.tf", format!("{ONE_PROVIDER}{UNSEEN_CALLS}"));
    lab.write(LOCK, LEFT_OVER);
    assert_exit(&lock(&lab, &["--platform", "linux_amd64"]), 0);
    let one = lab.read(LOCK);
    assert_exit(&lock(&lab, &[BOTH, &["--check"]].concat()), 1);
    assert_exit(&lock(&lab, BOTH), 0);
    let both = lab.read(LOCK);
    assert_eq!(
        (one.matches("h1:").count(), both.matches("h1:").count()),
        (2, 4),
        "{both}"
    );
    both.has("constraints = \"~> 1.0\"\n  hashes");
    let verified = lab.run(&[&["verify", "--only", "platforms"], BOTH].concat());
    assert_exit(&verified, 0);

    // Nothing but the entry is left that could be locked.
    lab.write("main.tf", UNSEEN_CALLS);
    lab.write(LOCK, LEFT_OVER);
    assert_exit(&lock(&lab, BOTH), 0);
    assert_eq!(lab.read(LOCK).matches("h1:").count(), 2);
}

#[test]
fn an_entry_of_an_unseen_module_that_the_source_lacks_stays_as_it_is() {
    let lab = with_left_over();
    lab.write("call.tf", UNSEEN_CALLS);
    for (from, to) in [("1.0.0", "0.9.0"), ("t/old", "t/other")] {
        let entry = LEFT_OVER.replace(from, to).replace("~> 1.0", ">= 0.1.0");
        lab.write(LOCK, &entry);
        let outcome = lock(&lab, BOTH).exits(0);
        let kept = entry.split_once("provider").expect("an entry").1;
        assert!(lab.read(LOCK).contains(kept), "{}", lab.read(LOCK));
        outcome.stderr_has("warning: the entry was kept as it is: ");
    }
}

/// A forgotten lock file: all providers are required by modules that nobody installed.
#[test]
fn a_missing_lock_file_is_reported_where_only_unseen_modules_may_need_one() {
    let lab = Lab::new();
    lab.write(
        "main.tf",
        "module \"a\" {\n  source = \"example.com/acme/a/x\"\n}\n\nmodule \"b\" {\n  source = \"./${uuid()}\"\n}\n",
    );
    lab.run(&["verify", "--flavor", "opentofu"]).exits(1).stdout_eq(str![[r#"
warning[lock-missing]: There is no .terraform.lock.hcl, and 2 module calls cannot be seen: module.a, module.b
 --> main.tf:2:12
  |
2 |   source = "example.com/acme/a/x"
  |            ^^^^^^^^^^^^^^^^^^^^^^ this module may require providers
...
6 |   source = "./${uuid()}"
  |            ------------- and this one
  |
  = help: run `lockctl lock . --flavor opentofu@1.12`, which fetches modules, or install them with `tofu get`; without any provider there is no lock file to create

.terraform.lock.hcl: 1 warning; 2 modules not seen (`--modules fetch`); 2 notes (-v shows them)

"#]]);
    let matrix = lab.run(&["verify", "--matrix", "--only", "configuration"]);
    matrix.stdout_has("no provider is known to be required");
    // With everything visible there is nothing to lock, and so nothing to miss.
    lab.write("main.tf", "output \"a\" {\n  value = 1\n}\n");
    lab.run(&["verify"]).exits(0);
    // A provider that is known to be required makes it an error, as ever.
    lab.write("main.tf", ONE_PROVIDER);
    lab.write(
        "m.tf",
        "module \"a\" {\n  source = \"example.com/acme/a/x\"\n}\n",
    );
    let outcome = lab.run(&["verify"]).exits(1);
    outcome.stdout_has("error[lock-missing]");
}

#[test]
fn many_unseen_calls_are_counted_in_the_title() {
    let lab = Lab::new();
    let call = |n| format!("module \"m{n}\" {{\n  source = \"example.com/acme/a/x\"\n}}\n");
    lab.write("main.tf", (0..5).map(call).collect::<String>());
    let outcome = lab.run(&["verify"]).exits(1);
    let title = "and 5 module calls cannot be seen: module.m0, module.m1, module.m2, 2 more\n";
    outcome.stdout_has(title);
}

/// Fetching is advised only where it was not tried: the second call cannot be computed, so there is nothing to
/// fetch.
#[test]
fn fetching_is_advised_only_where_it_was_not_tried() {
    let lab = Lab::new();
    lab.write("main.tf", UNSEEN_CALLS)
        .write("mirror/README", "");
    let advice = "`--modules fetch` fetches modules";
    for command in ["tree", "outdated"] {
        let outcome = lab.run(&[command]);
        assert!(
            outcome.stderr.contains(advice),
            "{command}: {}",
            outcome.stderr
        );
        let outcome = lab.run(&[command, "--modules", "fetch"]);
        assert!(
            !outcome.stderr.contains(advice),
            "{command}: {}",
            outcome.stderr
        );
    }
    // `lock` fetches by itself, and fails here.
    let outcome = lock(&lab, &[]);
    let text = format!("{}{}", outcome.stdout, outcome.stderr);
    text.has("cannot be seen");
    text.lacks(advice);
    // Of many roots neither.
    let computed = "variable \"a\" {}\n\nmodule \"m\" {\n  source = \"./${var.a}\"\n}\n";
    for root in 0..7 {
        lab.write(&format!("live/{root}/main.tf"), computed);
        lab.write(&format!("live/{root}/{LOCK}"), "");
    }
    let outcome = lab.run(&["tree", "-r", "live", "--flavor", "opentofu"]);
    outcome.stderr_has("Module call is computed: all 7 roots");
    outcome.stderr_lacks(advice);
}

#[test]
fn the_sum_over_many_roots_says_what_was_not_seen() {
    let lab = crate::lab::Lab::new();
    for number in 0..12 {
        lab.write(&format!("r{number:02}/{LOCK}"), "");
        let source = if number < 3 { "acme/net/aws" } else { "../m" };
        let call = format!("module \"m\" {{\n  source = \"{source}\"\n}}\n");
        lab.write(&format!("r{number:02}/main.tf"), call);
    }
    lab.write("m/main.tf", "");
    lab.write("r00/backend.tf", "terraform {\n  backend \"s3\" {}\n}\n");
    let sum = "12 roots: 12 clean; 3 modules of 3 roots not seen (`--modules fetch`), state of 1 root not seen";
    for format in ["human", "markdown"] {
        let args = [
            "verify",
            "-r",
            "--only",
            "configuration",
            "--format",
            format,
        ];
        lab.run(&args).exits(0).stdout_has(sum);
    }
}
