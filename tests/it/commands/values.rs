//! Values of variables that sources of modules depend on: where they come from, and what follows.

use super::*;

/// A root whose module is in the directory that a variable names.
fn lab() -> Lab {
    let lab = Lab::new();
    lab.write(
        "main.tf",
        "variable \"dir\" {\n  default = \"one\"\n}\n\nmodule \"m\" {\n  source = \"./${var.dir}\"\n}\n",
    );
    for dir in ["one", "two", "three"] {
        let text = format!("resource \"{dir}_x\" \"y\" {{}}\n");
        lab.write(&format!("{dir}/main.tf"), &text);
    }
    lab.write("three.tfvars", "dir = \"three\"\n");
    lab
}

fn why(lab: &Lab, provider: &str, values: &[&str]) -> Outcome {
    let args = ["why", provider, "--flavor", "opentofu"];
    lab.run(&[&args, values].concat())
}

#[test]
fn the_last_value_decides_which_module_counts() {
    let lab = lab();
    for (provider, values) in [
        ("one", &[][..]),
        ("two", &["--var", "dir=two"]),
        ("three", &["--var-file", "three.tfvars"]),
        ("two", &["--var-file=three.tfvars", "--var=dir=two"]),
        ("three", &["--var=dir=two", "--var-file=three.tfvars"]),
    ] {
        let outcome = why(&lab, provider, values).exits(0);
        let place = format!("{provider}/main.tf:1:1");
        assert!(
            outcome.stdout.starts_with(&place),
            "{values:?}: {outcome:#?}"
        );
    }
    lab.write("x.auto.tfvars", "dir = \"two\"\n");
    assert_exit(&why(&lab, "two", &[]), 0);
}

#[test]
fn an_argument_without_a_name_is_refused() {
    let outcome = why(&lab(), "one", &["--var", "dir"]).exits(2);
    outcome.stderr_eq(str![[r#"
error: --var needs NAME=VALUE, not "dir"

"#]]);
}

#[test]
fn a_module_without_the_value_that_it_needs_is_not_visible() {
    let lab = lab();
    lab.write(
        "main.tf",
        "variable \"dir\" {}\n\nmodule \"m\" {\n  source = \"./${var.dir}\"\n}\n",
    );
    let outcome = why(&lab, "one", &["-v"]);
    outcome.stdout_eq(str![[r#"
nothing that can be seen of the configuration requires hashicorp/one

"#]]);
    outcome.stderr_eq(str![[r#"
note[module-not-visible]: Module call is computed
 --> main.tf:4:12
  |
1 | variable "dir" {}
  | -------------- var.dir has no value
...
4 |   source = "./${var.dir}"
  |            ^^^^^^^^^^^^^^ what module.m requires is unknown
  |
  = help: give it with --var dir=VALUE or --var-file FILE

note: 1 module call (module.m) cannot be seen, and may require it, too

"#]]);
}

#[test]
fn a_secret_of_the_command_line_is_not_shown() {
    let lab = lab();
    lab.write(
        "main.tf",
        "variable \"dir\" {\n  type      = number\n  sensitive = true\n}\n\nmodule \"m\" {\n  source = \"./${var.dir}\"\n}\n",
    );
    let outcome = why(&lab, "one", &["--var", "dir=hush"]).exits(2);
    let all = outcome.stdout + &outcome.stderr;
    all.has("Invalid value for input variable");
    all.lacks("hush");
}

#[test]
fn what_cannot_be_computed_is_named() {
    let lab = lab();
    lab.write(
        "main.tf",
        "locals {\n  dir = uuid()\n}\n\nmodule \"m\" {\n  source = \"./${local.dir}\"\n}\n",
    );
    lab.run(&["verify", "--flavor", "opentofu", "-v"]).stdout_eq(str![[r#"
note[module-not-visible]: Module call is computed
 --> main.tf:6:12
  |
2 |   dir = uuid()
  |         ------ uuid() gives something else in each run
...
6 |   source = "./${local.dir}"
  |            ^^^^^^^^^^^^^^^^ what module.m requires is unknown

warning[lock-missing]: There is no .terraform.lock.hcl, and 1 module call cannot be seen: module.m
 --> main.tf:6:12
  |
6 |   source = "./${local.dir}"
  |            ^^^^^^^^^^^^^^^^ this module may require providers
  |
  = help: give the values that the source needs with --var, or install the module with `tofu get`; without any provider there is no lock file to create

.terraform.lock.hcl: 1 warning; 1 module not seen; 1 note

"#]]);
}
