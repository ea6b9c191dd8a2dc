//! `config`: modules as the programs see them.

use std::fs;
use std::path::PathBuf;

use super::*;
use crate::configs::sections;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/effective");
/// Modules with `dynamic` blocks.
const EXPANDED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/expanded");

/// A module with the output that belongs to it, which was read by hand and compared with the plans of both programs.
struct EffectiveCase {
    path: PathBuf,
    files: Vec<(String, String)>,
    want: String,
}

fn cases(dir: &str) -> Vec<EffectiveCase> {
    let mut cases = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let (mut files, mut want) = (Vec::new(), String::new());
        for (name, content) in sections(&text) {
            if name == "want" {
                want = content.to_owned();
            } else {
                files.push((name.to_owned(), content.to_owned()));
            }
        }
        cases.push(EffectiveCase { path, files, want });
    }
    assert!(cases.len() > 5);
    cases
}

const CONFIG: [&str; 3] = ["config", "--flavor", "terraform@1.11"];

#[test]
fn modules_are_printed_as_the_program_sees_them() {
    check_cases(FIXTURES, &[]);
}

#[test]
fn dynamic_blocks_are_printed_as_what_they_generate() {
    check_cases(EXPANDED, &["--expand"]);
}

fn check_cases(dir: &str, options: &[&str]) {
    let config = [&CONFIG[..], options].concat();
    for case in cases(dir) {
        let name = case.path.display();
        let lab = Lab::new();
        for (name, content) in &case.files {
            lab.write(name, content);
        }
        let outcome = lab.run(&config).exits(0);
        if std::env::var("SNAPSHOTS").is_ok_and(|action| action == "overwrite") {
            let text = fs::read_to_string(&case.path).unwrap();
            let (before, _) = text.split_once("-- want --\n").unwrap_or((&text, ""));
            fs::write(
                &case.path,
                [before, "-- want --\n", &outcome.stdout].concat(),
            )
            .unwrap();
        } else {
            assert_eq!(outcome.stdout, case.want, "{name}");
        }
        let bare = |lab: &Lab, format: &[&str]| {
            let args = [&config[..], &["--no-places"], format].concat();
            lab.run(&args).exits(0).stdout
        };
        // What is printed is the whole module, so that printing it once more changes nothing.
        let printed = bare(&lab, &[]);
        let again = Lab::new();
        for (name, content) in &case.files {
            if name.contains('/') {
                again.write(name, content);
            }
        }
        again.write("main.tf", &printed);
        assert_eq!(bare(&again, &[]), printed, "{name}");
        // JSON syntax says the same, but leaves the layout open.
        let json = bare(&lab, &["--format", "tf-json"]);
        fs::remove_file(again.path("main.tf")).unwrap();
        again.write("main.tf.json", &json);
        assert_eq!(bare(&again, &["--format", "tf-json"]), json, "{name}");
    }
}

fn overridden() -> Lab {
    let lab = Lab::new();
    lab.write(
        "main.tf",
        "variable \"a\" {\n  default = 1\n}\nmodule \"m\" {\n  source = \"./m\"\n}\n",
    );
    lab.write("a_override.tf", "variable \"a\" {\n  default = 2\n}\n");
    lab.write("m/main.tf", "locals {\n  x = 1\n}\n");
    lab
}

#[test]
fn a_comparison_has_only_what_override_files_change() {
    let lab = overridden();
    let outcome = lab.run(&["config", "--overridden"]).exits(0);
    outcome.stdout.reads(str![[r#"
  variable "a" { # main.tf:1
-   default = 1 # main.tf:2
+   default = 2 # a_override.tf:2
  }

"#]]);
    lab.run(&["config", "--check"]).exits(1);
    let outcome = lab.run(&["config", "--check", "m"]).exits(0);
    assert_eq!(outcome.stdout, "");
    fs::remove_file(lab.path("a_override.tf")).unwrap();
    let outcome = lab.run(&["config", "--overridden", "--check"]).exits(0);
    assert_eq!(outcome.stdout, "");
}

#[test]
fn called_modules_are_printed_on_demand() {
    let lab = overridden();
    let outcome = lab.run(&["config", "-r", "--no-places"]).exits(0);
    outcome.stdout.reads(str![[r##"
# ---- root module: .

variable "a" {
  default = 2
}

module "m" {
  source = "./m"
}

# ---- module.m: m

locals {
  x = 1
}

"##]]);
    // From elsewhere, headings name directories as the places of blocks do.
    lab.write(
        "live/net/main.tf",
        "module \"m\" {\n  source = \"../m\"\n}\n",
    );
    lab.write("live/m/main.tf", "locals {\n  x = 1\n}\n");
    let elsewhere = lab.run(&["config", "-r", "live/net"]).exits(0).stdout;
    assert!(
        elsewhere.starts_with("# ---- root module: live/net\n\n# live/net/main.tf:1\n"),
        "{elsewhere}"
    );
    assert!(
        elsewhere.contains("\n# ---- module.m: live/m\n"),
        "{elsewhere}"
    );
    let refused = lab.run(&["config", "-r", "--format", "tf-json"]).exits(2);
    refused.stderr_has("--format tf-json prints one module");
}

#[test]
fn a_call_is_named_by_its_address() {
    let lab = Lab::new();
    lab.write(
        "main.tf",
        "module \"net\" {\n  source = \"./net\"\n}\nmodule \"far\" {\n  source = \"acme/far/any\"\n}\n",
    );
    lab.write(
        "net/main.tf",
        "module \"sub\" {\n  source = \"./sub\"\n}\nlocals {\n  a = 1\n}\n",
    );
    lab.write("net/a_override.tf", "locals {\n  a = 2\n}\n");
    lab.write("net/sub/main.tf", "locals {\n  b = 3\n}\n");
    let run = |module: &str, more: &[&str]| {
        let args = [&["config", module, "--no-places"], more].concat();
        lab.run(&args)
    };
    let net = run("module.net", &[]).exits(0).stdout;
    assert!(net.ends_with("locals {\n  a = 2\n}\n"), "{net}");
    assert!(net.starts_with("module \"sub\" {\n"), "{net}");
    let below = run("module.net", &["-r"]).exits(0).stdout;
    assert!(
        below.contains("# ---- module.net.module.sub: net/sub\n"),
        "{below}"
    );
    assert!(!below.contains("root module"), "{below}");
    let sub = run("module.net.module.sub", &[]).exits(0).stdout;
    assert_eq!(sub, "locals {\n  b = 3\n}\n");
    run("module.nte", &[])
        .exits(2)
        .stderr_has("did you mean module.net?");
    run("module.far", &[])
        .exits(2)
        .stderr_has("module.far is not visible");
    // A directory of that name is one.
    lab.write("module.net/main.tf", "locals {\n  c = 4\n}\n");
    let directory = run("module.net", &[]).exits(0).stdout;
    assert_eq!(directory, "locals {\n  c = 4\n}\n");
}

#[test]
fn a_unit_whose_module_is_not_visible_is_no_empty_module() {
    let lab = Lab::new();
    lab.write("provider.tf", "provider \"aws\" {}\n");
    lab.write(
        "terragrunt.hcl",
        "terraform {\n  source = \"git::https://example.com/m.git\"\n}\n",
    );
    lab.run(&CONFIG)
        .exits(2)
        .stderr_has("the module of this Terragrunt unit is not visible");
}

#[test]
fn a_module_with_a_fault_is_not_printed() {
    let lab = overridden();
    lab.write("b_override.tf", "variable \"b\" {}\n");
    let outcome = lab.run(&["config"]).exits(2);
    assert_eq!(outcome.stdout, "");
    outcome.stderr_has("Missing base variable declaration to override");
    lab.run(&["config", "nowhere"]).exits(2);
}

#[test]
fn line_ends_of_a_heredoc_belong_to_its_value() {
    let lab = Lab::new();
    lab.write(
        "main.tf",
        "locals {\r\n  a = <<EOT\r\none\r\nEOT\r\n  b = [ # c\r\n1]\r\n}\r\n",
    );
    let outcome = lab.run(&["config", "--no-places"]).exits(0);
    assert_eq!(
        outcome.stdout,
        "locals {\n  a = <<EOT\r\none\r\nEOT\n  b = [ # c\n  1]\n}\n"
    );
}

#[test]
fn json_has_the_place_of_every_argument() {
    let lab = overridden();
    let outcome = lab.run(&["config", "--format", "json"]).exits(0);
    let document: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    let block = &document["roots"][0]["configuration"][0]["blocks"][0];
    assert_eq!(block["type"], "variable");
    assert_eq!(block["arguments"][0]["value"], "2");
    assert_eq!(block["arguments"][0]["file"], "a_override.tf");
    assert_eq!(block["arguments"][0]["overrides"][0]["line"], 2);
}

#[test]
fn the_name_of_the_file_is_said_where_it_matters() {
    let lab = Lab::new();
    lab.write(
        "main.tofu",
        "terraform {\n  required_version = \"~> 1.8\"\n}\n",
    );
    lab.write("main.tf", "nonsense {}\n");
    let outcome = lab.run(&["config", "--no-places"]).exits(0);
    outcome.stdout.reads(str![[r#"
# Save this as main.tofu: OpenTofu reads required_version in .tofu files only.

terraform {
  required_version = "~> 1.8"
}

"#]]);
}

#[test]
fn a_module_is_expanded_by_the_values_of_each_call() {
    let lab = Lab::new();
    let child = r#"variable "names" {
  type    = list(string)
  default = []
}

resource "x_y" "z" {
  dynamic "b" {
    for_each = var.names
    content {
      name = b.value
    }
  }
}
"#;
    let call = |name: &str, names: &str| {
        format!("module \"{name}\" {{\n  source = \"./m\"\n  names = {names}\n}}\n")
    };
    let calls = [
        call("a", "[\"p\"]"),
        call("b", "[\"q\", \"r\"]"),
        call("c", "[\"p\"]"),
    ];
    lab.write("m/main.tf", child);
    lab.write("main.tf", calls.concat());
    let args = [&CONFIG[..], &["-r", "--expand"]].concat();
    let printed = lab.run(&args).exits(0).stdout;
    let count = |text: &str| printed.matches(text).count();
    assert_eq!(count("# ---- module.a, module.c: m\n"), 1, "{printed}");
    assert_eq!(count("# ---- module.b: m\n"), 1, "{printed}");
    assert_eq!(count("  b {\n"), 3, "{printed}");
    assert_eq!(count("dynamic"), 0, "{printed}");
    // By itself it has the values of the command line.
    let args = [
        &CONFIG[..],
        &["--expand", "m", "--var", "names=[\"typed\"]"],
    ]
    .concat();
    let printed = lab.run(&args).exits(0).stdout;
    assert!(printed.contains("name = \"typed\""), "{printed}");
    let args = [&CONFIG[..], &["--expand", "--overridden", "m"]].concat();
    lab.run(&args).exits(2);
}

#[test]
fn the_constraint_that_an_override_file_replaces_is_named() {
    let lab = Lab::new();
    lab.write(
        "main.tf",
        "terraform {\n  required_providers {\n    x = { source = \"acme/x\", version = \"~> 4.0\" }\n  }\n}\n",
    );
    lab.write(
        "a_override.tf",
        "terraform {\n  required_providers {\n    x = { source = \"acme/x\", version = \">= 5\" }\n  }\n}\n",
    );
    let replaced = "from a_override.tf:3, in place of ~> 4.0 at main.tf:3";
    lab.run(&["tree"]).exits(0).stderr_has(replaced);
    let why = lab.run(&["why", "x"]).exits(0);
    assert!(why.stdout.contains("in place of ~> 4.0 at main.tf:3:5"));
    let entry = |version: &str| {
        format!(
            "provider \"registry.terraform.io/acme/x\" {{\n  version = \"{version}\"\n  constraints = \">= {version}\"\n}}\n"
        )
    };
    lab.write("old/.terraform.lock.hcl", entry("4.0.0"));
    lab.write(LOCK, entry("5.0.0"));
    let diff = lab.run(&["diff", "old/.terraform.lock.hcl", LOCK]);
    assert!(
        diff.stdout
            .contains("a_override.tf:3, in place of ~> 4.0 at main.tf:3"),
        "{}",
        diff.stdout
    );
}
