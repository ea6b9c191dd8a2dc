//! `eval`: one expression in a root.

use serde_json::{Value, json};
use snapbox::{assert_data_eq, str};

use super::assert_exit;
use crate::lab::{Lab, Outcome};

const OPENTOFU: &[&str] = &["--flavor", "opentofu"];

fn lab() -> Lab {
    let lab = Lab::new();
    lab.write(
        "main.tf",
        r#"variable "env" {
  default = "dev"
  const   = true
}

variable "token" {
  default   = "hush"
  sensitive = true
}

variable "zones" {
  type    = set(string)
  default = ["b", "a"]
}

locals {
  dirs = { prod = "p", dev = var.env }
  mine = [var.token, 1]
}
"#,
    );
    lab
}

fn eval(lab: &Lab, expression: &str, more: &[&str]) -> Outcome {
    lab.run(&[&["eval", expression], OPENTOFU, more].concat())
}

#[track_caller]
fn check(expression: &str, printed: &str) {
    let outcome = eval(&lab(), expression, &[]);
    assert_exit(&outcome, 0);
    assert_eq!(outcome.stdout, format!("{printed}\n"), "of {expression}");
    assert_eq!(outcome.stderr, "", "of {expression}");
}

#[test]
fn values_read_as_in_a_console() {
    check("var.env", "\"dev\"");
    check("upper(\"a${1 + 1}\")", "\"A2\"");
    check(
        "local.dirs",
        "{\n  \"dev\" = \"dev\"\n  \"prod\" = \"p\"\n}",
    );
    check("var.zones", "toset([\n  \"a\",\n  \"b\",\n])");
    check("\"a\\nb\"", "<<EOT\na\nb\nEOT");
    check(
        "{ a = \"x\\ny\" }",
        "{\n  \"a\" = <<-EOT\n  x\n  y\n  EOT\n}",
    );
    check("tostring(null)", "tostring(null)");
    check("[null]", "[\n  null,\n]");
    check("tomap({})", "tomap({})");
    check("plantimestamp()", "(known after apply)");
    check("1.50", "1.5");
    check("-1", "-1");
    check("path.module", "\".\"");
    check("terraform.workspace", "\"default\"");
    // A line may end anywhere, as in parentheses.
    check("1\n+\n1\n", "2");
    check("<<E\na\nE\n", "<<EOT\na\n\nEOT");
}

#[test]
fn nothing_of_a_secret_is_printed() {
    check("var.token", "(sensitive value)");
    check("local.mine", "[\n  (sensitive value),\n  1,\n]");
    let outcome = eval(&lab(), "local.mine", &["--format", "json"]);
    assert!(!outcome.stdout.contains("hush"), "{outcome:#?}");
    assert_eq!(evaluated(&outcome)["state"], "sensitive");
    assert_eq!(evaluated(&outcome).get("value"), None);
}

fn evaluated(outcome: &Outcome) -> Value {
    let said: Value = serde_json::from_str(&outcome.stdout).unwrap();
    said["roots"][0]["evaluated"].clone()
}

#[test]
fn json_has_value_and_type() {
    let of = |expression: &str| evaluated(&eval(&lab(), expression, &["--format", "json"]));
    assert_eq!(
        of("[var.zones, { n = 1.5, t = true }]"),
        json!({
            "type": "tuple([set(string),object({n=number,t=bool})])",
            "state": "known",
            "value": [["a", "b"], { "n": 1.5, "t": true }],
            "text": "[\n  toset([\n    \"a\",\n    \"b\",\n  ]),\n  {\n    \"n\" = 1.5\n    \"t\" = true\n  },\n]",
        })
    );
    assert_eq!(of("null")["value"], Value::Null);
    assert_eq!(of("null")["state"], "known");
    assert_eq!(
        of("9007199254740992")["value"],
        json!(9_007_199_254_740_992_i64)
    );
    // What a reader of JSON would round is text.
    assert_eq!(of("9007199254740993")["value"], "9007199254740993");
    assert_eq!(
        of("0.1000000000000000000001")["value"],
        "0.1000000000000000000001"
    );
}

#[test]
fn values_come_from_where_the_program_takes_them() {
    let mut lab = lab();
    lab.env.vars.insert("TF_VAR_env".into(), "1".into());
    let printed = |lab: &Lab, more: &[&str]| eval(lab, "var.env", more).stdout;
    assert_eq!(printed(&lab, &[]), "\"1\"\n");
    lab.write("x.auto.tfvars", "env = \"2\"\n");
    assert_eq!(printed(&lab, &[]), "\"2\"\n");
    lab.write("three.tfvars", "env = \"3\"\n");
    assert_eq!(printed(&lab, &["--var-file", "three.tfvars"]), "\"3\"\n");
    assert_eq!(printed(&lab, &["--var", "env=4"]), "\"4\"\n");
    let outcome = lab.run(&[&["eval", "path.cwd", "."], OPENTOFU].concat());
    assert_exit(&outcome, 0);
}

#[test]
fn a_root_may_be_named_and_there_may_be_several() {
    let lab = Lab::new();
    for (root, env) in [("a", "one"), ("b", "two")] {
        lab.write(
            &format!("{root}/main.tf"),
            format!("locals {{\n  env = \"{env}\"\n}}\n"),
        );
    }
    let outcome = lab.run(&[&["eval", "local.env", "a", "b"], OPENTOFU].concat());
    assert_exit(&outcome, 0);
    assert_data_eq!(
        outcome.stdout,
        str![[r#"
a
"one"
b
"two"

"#]]
    );
}

#[test]
fn an_empty_directory_will_do() {
    let lab = Lab::new();
    for flavor in ["auto", "opentofu", "terraform@1.11", "terraform@1.15"] {
        let outcome = lab.run(&["eval", "join(\"-\", [1, 2])", "--flavor", flavor]);
        assert_exit(&outcome, 0);
        assert_eq!(outcome.stdout, "\"1-2\"\n", "{flavor}");
    }
    assert_exit(&lab.run(&["eval", "1", "nowhere"]), 2);
}

#[test]
fn each_flavor_has_its_own_rules() {
    let lab = lab();
    let outcome = |expression: &str, flavor: &str| {
        let outcome = lab.run(&["eval", expression, "--flavor", flavor]);
        let first = outcome.stdout.lines().chain(outcome.stderr.lines()).next();
        (outcome.code, first.unwrap_or_default().to_owned())
    };
    let unknown = (0, "(known after apply)".to_owned());
    assert_eq!(outcome("var.zones", "terraform@1.15"), unknown);
    assert_eq!(outcome("x_y.z.id", "terraform@1.15"), unknown);
    assert_eq!(
        outcome("var.env", "terraform@1.15"),
        (0, "\"dev\"".to_owned())
    );
    let (code, text) = outcome("x_y.z.id", "opentofu");
    assert_eq!(
        (code, &*text),
        (
            2,
            "error[configuration-invalid]: Dynamic value in static context"
        )
    );
}

#[test]
fn names_are_refused_where_nothing_is_computed() {
    let lab = Lab::new();
    lab.write("main.tf", "locals {\n  a = 1\n}\n");
    let outcome = lab.run(&["eval", "1 + local.a", "--flavor", "terraform@1.11"]);
    assert_exit(&outcome, 2);
    assert_data_eq!(outcome.stdout, str![]);
    assert_data_eq!(
        outcome.stderr,
        str![[r#"
error[not-constant]: Variables not allowed
 --> <expression>:1:5
  |
1 | 1 + local.a
  |     ^^^^^


"#]]
    );
}

#[test]
fn a_fault_is_shown_in_the_expression() {
    for (expression, shown) in [
        (
            "1 +",
            str![[r#"
error[syntax-error]: Invalid expression
 --> <expression>:1:4
  |
1 | 1 +
  |    ^


"#]],
        ),
        (
            "",
            str![[r#"
error[syntax-error]: Invalid expression
--> <expression>:1:1


"#]],
        ),
        (
            "1) + (2",
            str![[r#"
error[syntax-error]: Extra characters after expression
 --> <expression>:1:1
  |
1 | 1) + (2
  | ^^^^^^^ one expression is needed here


"#]],
        ),
        (
            "a = 1",
            str![[r#"
error[syntax-error]: Unbalanced parentheses
 --> <expression>:1:3
  |
1 | a = 1
  |   ^


"#]],
        ),
        (
            "1)\nb = (2",
            str![[r#"
error[syntax-error]: Extra characters after expression
 --> <expression>:1:1
  |
1 | 1)
  | ^^ one expression is needed here


"#]],
        ),
        (
            "[1, nope(2)]",
            str![[r#"
error[not-constant]: Call to unknown function
 --> <expression>:1:5
  |
1 | [1, nope(2)]
  |     ^^^^ there is no function "nope"


"#]],
        ),
        (
            "\"a\" + 1",
            str![[r#"
error[wrong-type]: Invalid operand
 --> <expression>:1:1
  |
1 | "a" + 1
  | ^^^


"#]],
        ),
        (
            "var.nope",
            str![[r#"
error[configuration-invalid]: Undefined variable
 --> <expression>:1:1
  |
1 | var.nope
  | ^^^^^^^^ this module has no variable "nope"


"#]],
        ),
        (
            "uuid()",
            str![[r#"
error[not-constant]: Expression cannot be evaluated here
 --> <expression>:1:1
  |
1 | uuid()
  | ^^^^^^ uuid() gives something else in each run
  |
  = help: write the value itself


"#]],
        ),
    ] {
        let outcome = eval(&lab(), expression, &[]);
        assert_exit(&outcome, 2);
        assert_eq!(outcome.stdout, "", "of {expression}");
        assert_data_eq!(outcome.stderr, shown);
    }
}

#[test]
fn standard_input_has_a_limit() {
    let mut lab = lab();
    lab.env.input = b"{\n  a = var.env\n}\n".to_vec();
    let outcome = eval(&lab, "-", &[]);
    assert_exit(&outcome, 0);
    assert_eq!(outcome.stdout, "{\n  \"a\" = \"dev\"\n}\n");
    lab.env.input = b"\"\xff\"".to_vec();
    assert_exit(&eval(&lab, "-", &[]), 2);
    lab.env.input = vec![b' '; 1024 * 1024 + 1];
    let outcome = eval(&lab, "-", &[]);
    assert_exit(&outcome, 2);
    assert_data_eq!(
        outcome.stderr,
        str![[r#"
error: the expression could not be read from standard input
  cause: it has more than 1048576 bytes

"#]]
    );
    lab.env.input = "[".repeat(500_000).into_bytes();
    assert_exit(&eval(&lab, "-", &[]), 2);
}

#[test]
fn a_broken_root_has_no_values() {
    let lab = lab();
    lab.write("bad.tf", "locals {\n");
    let outcome = eval(&lab, "1", &[]);
    assert_exit(&outcome, 2);
    assert_eq!(outcome.stdout, "");
    assert!(outcome.stderr.contains("bad.tf:1"), "{outcome:#?}");
}

/// It is for those who look for it.
#[test]
fn the_command_is_hidden() {
    let lab = Lab::new();
    let help = lab.run(&["--help"]).stdout;
    assert!(help.contains("\n  why "), "{help}");
    assert!(!help.contains("\n  eval "), "{help}");
    assert_exit(&lab.run(&["eval", "--help"]), 0);
}
