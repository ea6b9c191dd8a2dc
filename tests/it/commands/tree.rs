//! `tree`: the modules and what each of them requires.

use super::*;
use snapbox::{assert_data_eq, file, str};

/// A root with local modules below one another, an installed one, one that is not, a test and a state.
pub(super) fn grove() -> Lab {
    let lab = Lab::new();
    lab.write(
        "main.tf",
        r#"
terraform {
  required_providers {
    x = {
      source  = "acme/x"
      version = "~> 1.2"
    }
  }
}

provider "x" {
  version = "!= 1.4"
}

module "net" {
  source  = "acme/net/x"
  version = "~> 2.0"
}

module "far" {
  source = "acme/far/x"
}

module "app" {
  source = "./app"
}
"#,
    );
    lab.write(
        "app/main.tf",
        "module \"deep\" {\n  source = \"./deep\"\n}\n",
    );
    lab.write("app/deep/main.tf", required("x", ">= 1.3"));
    lab.write(".terraform/modules/net/main.tf", required("y", "< 3"));
    lab.write(
        ".terraform/modules/modules.json",
        r#"{"Modules": [
            {"Key": "", "Source": "", "Dir": "."},
            {"Key": "net", "Source": "registry.terraform.io/acme/net/x", "Version": "2.1.0", "Dir": ".terraform/modules/net"}
        ]}"#,
    );
    lab.write(
        "tests/main.tftest.hcl",
        "run \"setup\" {\n  module {\n    source = \"./tests/setup\"\n  }\n}\n",
    );
    lab.write(
        "tests/setup/main.tf",
        "resource \"terraform_data\" \"a\" {}\nresource \"random_id\" \"a\" {}\n",
    );
    lab.write(
        "terraform.tfstate",
        r#"{"version": 4, "resources": [{"mode": "managed", "type": "null_resource", "name": "a",
            "provider": "provider[\"registry.terraform.io/hashicorp/null\"]", "instances": []}]}"#,
    );
    lab
}

pub(super) fn required(name: &str, constraints: &str) -> String {
    format!(
        "terraform {{\n  required_providers {{\n    {name} = {{ source = \"acme/{name}\", version = \"{constraints}\" }}\n  }}\n}}\n"
    )
}

#[test]
fn every_module_stands_below_the_one_that_calls_it() {
    let outcome = grove().run(&["tree"]).exits(0);
    outcome.stdout_eq(str![[r#"
.
├─ acme/x  ~> 1.2, != 1.4.0
├─ module.app  ./app
│  └─ module.deep  ./deep
│     └─ acme/x  >= 1.3.0
├─ module.far  acme/far/x  (not visible: Module not installed)
├─ module.net  acme/net/x
│  └─ acme/y  < 3.0.0
├─ test tests.main
│  └─ run setup  ./tests/setup
│     ├─ hashicorp/random  any version
│     └─ terraform.io/builtin/terraform  built in
└─ state  terraform.tfstate
   └─ hashicorp/null  any version
6 modules (1 not visible), 5 providers

"#]]);
    outcome.stderr_eq(str![[r#"
note: 1 note on the configuration (-v shows it)
note: 1 module call cannot be seen, so the tree may lack providers (`--modules fetch` fetches modules, -v shows why)

"#]]);
}

#[test]
fn json_lists_every_module() {
    let outcome = grove().run(&["tree", "--format", "json"]).exits(0);
    assert_data_eq!(outcome.stdout, file!["tree.json"].raw());
    assert!(outcome.stderr.is_empty());
}

/// A thousand calls of one module, which another module calls, too.
pub(super) fn thousand() -> Lab {
    let lab = Lab::new();
    let calls: String = (0..1000)
        .map(|n| format!("module \"svc{n:03}\" {{\n  source = \"./svc\"\n}}\n"))
        .collect();
    lab.write(
        "main.tf",
        calls + "module \"other\" {\n  source = \"./other\"\n}\n",
    );
    lab.write("svc/main.tf", required("x", "~> 1.0"));
    lab.write(
        "svc/more.tf",
        "module \"deep\" {\n  source = \"./deep\"\n}\n",
    );
    lab.write("svc/deep/main.tf", required("x", ">= 1.1"));
    // The same modules again, but not as siblings.
    lab.write(
        "other/main.tf",
        "module \"own\" {\n  source = \"./svc\"\n}\n",
    );
    lab.write("other/svc/main.tf", lab.read("svc/main.tf"));
    lab.write("other/svc/more.tf", lab.read("svc/more.tf"));
    lab.write("other/svc/deep/main.tf", lab.read("svc/deep/main.tf"));
    lab
}

#[test]
fn a_thousand_equal_calls_are_one_line() {
    let lab = thousand();
    let outcome = lab.run(&["tree"]).exits(0);
    outcome.stdout_eq(str![[r#"
.
├─ module.other  ./other
│  └─ module.own  ./svc
│     ├─ acme/x  ~> 1.0
│     └─ module.deep  ./deep
│        └─ acme/x  >= 1.1.0
└─ module.svc000, module.svc001, module.svc002 and 997 more  ./svc  (as module.other.module.own)
2004 modules, 1 provider

"#]]);
    outcome.stderr_eq(str![[r#"
note: what repeats itself is folded; -v shows all of it

"#]]);
    let all = lab.run(&["tree", "-v"]);
    assert_eq!(all.stdout.lines().count(), 1 + 1000 * 4 + 5 + 1);
    let outcome = lab.run(&["tree", "--format", "json"]);
    let said = outcome.json();
    assert_eq!(said["roots"][0]["modules"].as_array().unwrap().len(), 2004);
}

#[test]
fn a_broken_configuration_gives_no_tree() {
    let lab = grove();
    lab.write("app/deep/bad.tf", "module {\n");
    let outcome = lab.run(&["tree"]).exits(2);
    assert!(outcome.stdout.is_empty());
    let outcome = lab.run(&["tree", "--format", "dot"]).exits(2);
    assert!(outcome.stdout.is_empty());
    // What cannot be seen is an error only if that is wanted.
    let lab = grove();
    assert_exit(&lab.run(&["tree", "--strict-modules"]), 2);
    let outcome = lab.run(&["tree", "--no-state", "--format", "json"]);
    let said: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let modules = said["roots"][0]["modules"].as_array().unwrap();
    assert!(
        modules
            .iter()
            .all(|module| module["kind"] != json!("state"))
    );
}

#[test]
fn a_directory_that_is_no_root_is_named() {
    let lab = grove();
    lab.write("empty/readme.txt", "");
    for (root, title) in [
        ("empty", "error: no configuration in empty"),
        ("main.tf", "error: main.tf is not a directory"),
        ("nowhere", "error: nowhere cannot be read"),
    ] {
        for format in ["human", "mermaid", "dot"] {
            let outcome = lab.run(&["tree", root, "--format", format]).exits(2);
            assert!(outcome.stdout.is_empty());
            assert_eq!(outcome.stderr.lines().next(), Some(title));
        }
    }
}

#[test]
fn colors_mark_what_cannot_be_seen() {
    let lab = grove();
    let plain = lab.run(&["tree"]).stdout;
    assert!(!plain.contains('\u{1b}'));
    let colored = lab.run(&["tree", "--color", "always"]).stdout;
    let marked = "\u{1b}[1m\u{1b}[33m(not visible: Module not installed)\u{1b}[0m\n";
    assert_eq!(colored.matches(marked).count(), 1);
}

#[test]
fn calls_that_are_not_visible_are_counted_as_in_the_note() {
    let lab = Lab::new();
    lab.write(
        "m/main.tf",
        "module \"far\" {\n  source = \"acme/far/x\"\n}\n",
    );
    let call = |name: &str| format!("module \"{name}\" {{\n  source = \"../m\"\n}}\n");
    for root in ["a", "b"] {
        lab.write(
            &format!("{root}/main.tf"),
            [call("one"), call("two")].concat(),
        );
    }
    let outcome = lab.run(&["tree", "a"]);
    outcome.stdout_has("5 modules (2 not visible, of 1 call)");
}
