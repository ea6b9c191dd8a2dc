//! `tree` and `why` show how computed sources and versions got their values.

use super::*;

/// A root whose modules are in directories that values name, through two calls.
fn lab() -> Lab {
    let lab = Lab::new();
    lab.write(
        "main.tf",
        r#"variable "env" {
  default = "dev"
}

variable "token" {
  default   = "hush"
  sensitive = true
}

variable "major" {
  type = number
}

locals {
  environment = lower(var.env)
  secrets     = { token = var.token, base = "envs" }
}

module "app" {
  source = "./app"
  env    = local.environment
  base   = local.secrets.base
}

module "vpc" {
  source  = "acme/vpc/x"
  version = "~> ${var.major}.0"
}
"#,
    );
    lab.write(
        "app/main.tf",
        r#"variable "env" {
  nullable = false
  default  = "none"
}

variable "base" {}

module "deep" {
  source = "./../${var.base}/${
    var.env
  }"
}
"#,
    );
    for (env, version) in [("dev", ">= 1"), ("prod", "< 2"), ("none", "= 3")] {
        lab.write(
            &format!("envs/{env}/main.tf"),
            super::tree::required("x", version),
        );
    }
    lab
}

fn run(lab: &Lab, args: &[&str]) -> Outcome {
    let common = ["--flavor", "opentofu", "--no-state", "--var", "major=3"];
    lab.run(&[args, &common].concat())
}

#[test]
fn each_value_stands_below_what_needs_it() {
    let lab = lab();
    lab.write("terraform.tfvars", "\n\nenv = \"PROD\"\n");
    run(&lab, &["tree"]).exits(0).stdout_eq(str![[r#"
.
├─ module.app  ./app
│  └─ module.deep  ./../envs/prod
│     │  source = "./../${var.base}/${ var.env }"  app/main.tf:9
│     │    var.base = "envs"                       main.tf:22, argument of module.app
│     │      local.secrets.base = "envs"           main.tf:16
│     │        var.token = (sensitive value)       main.tf:6, default
│     │    var.env = "prod"                        main.tf:21, argument of module.app
│     │      local.environment = "prod"            main.tf:15
│     │        var.env = "PROD"                    terraform.tfvars:3
│     └─ acme/x  < 2.0.0
└─ module.vpc  acme/vpc/x  (not visible: Module not installed)
      version = "~> ${var.major}.0"  main.tf:27, which is "~> 3.0"
        var.major = 3                --var major
4 modules (1 not visible), 1 provider

"#]]);
    run(&lab, &["why", "x"]).exits(0).stdout_eq(str![[r#"
envs/prod/main.tf:3:40  < 2.0.0  module.app.module.deep  required_providers
module.app.module.deep  ./../envs/prod
   source = "./../${var.base}/${ var.env }"  app/main.tf:9
     var.base = "envs"                       main.tf:22, argument of module.app
       local.secrets.base = "envs"           main.tf:16
         var.token = (sensitive value)       main.tf:6, default
     var.env = "prod"                        main.tf:21, argument of module.app
       local.environment = "prod"            main.tf:15
         var.env = "PROD"                    terraform.tfvars:3
acme/x must meet "< 2.0.0"; not locked

"#]]);
}

#[test]
fn every_origin_is_named() {
    let origins = |lab: &Lab, more: &[&str]| {
        let outcome = run(lab, &[&["tree", "--format", "json"], more].concat());
        let said = outcome.json();
        let modules = said["roots"][0]["modules"].as_array().unwrap().clone();
        let deep = modules
            .into_iter()
            .find(|one| one["module"] == "module.app.module.deep")
            .unwrap();
        let values = deep["computed"]["values"].as_array().unwrap().clone();
        let last = values.last().unwrap();
        (
            last["name"].clone(),
            last["from"].clone(),
            last["value"].clone(),
            last["file"].clone(),
        )
    };
    let mut lab = lab();
    let of = |from: &str, value: &str, file: Value| {
        let shown = format!("{value:?}");
        (json!("var.env"), json!(from), json!(shown), file)
    };
    assert_eq!(origins(&lab, &[]), of("default", "dev", json!("main.tf")));
    lab.set("TF_VAR_env", "Dev");
    assert_eq!(origins(&lab, &[]), of("environment", "Dev", Value::Null));
    lab.write("x.auto.tfvars", "env = \"PROD\"\n");
    let file = json!("x.auto.tfvars");
    assert_eq!(origins(&lab, &[]), of("values-file", "PROD", file));
    let line = origins(&lab, &["--var", "env=dev"]);
    assert_eq!(line, of("command-line", "dev", Value::Null));
    let lab = lab_with_null();
    let null = origins(&lab, &[]);
    assert_eq!(null, of("default-for-null", "none", json!("app/main.tf")));
}

/// The same, but the child is given null.
fn lab_with_null() -> Lab {
    let lab = lab();
    let text = lab.read("main.tf").replace("= local.environment", "= null");
    lab.write("main.tf", text);
    lab
}

#[test]
fn nothing_of_a_secret_is_shown() {
    let lab = lab();
    let text = lab.read("main.tf");
    let text = text.replace("base = \"envs\"", "base = nonsensitive(var.token)");
    lab.write("main.tf", text);
    lab.write("terraform.tfvars", "token = \"envs\"\n");
    for args in [&["tree"][..], &["tree", "-v"], &["why", "x", "-v"]] {
        let outcome = run(&lab, args).exits(0);
        outcome.stdout_has("var.token = (sensitive value)");
        outcome.stdout_lacks("hush");
    }
    // An object with a secret in it shows the rest only.
    let text = lab.read("main.tf");
    let text = text.replace("local.secrets.base", "merge(local.secrets, { a = 1 }).base");
    lab.write("main.tf", text);
    let outcome = run(&lab, &["tree"]);
    outcome.stdout_has(r#"local.secrets = { "base" = "envs", "token" = (sensitive value) }"#);
}

#[test]
fn a_call_without_a_value_shows_what_is_missing() {
    let lab = Lab::new();
    lab.write(
        "main.tf",
        "variable \"env\" {\n  default = \"prod\"\n}\n\nlocals {\n  key = \"${uuid()}${var.env}\"\n  dir = \"x-${local.key}\"\n}\n\n\
         module \"m\" {\n  source = \"./${local.dir}/${var.env}\"\n}\n\nmodule \"n\" {\n  source = \"./${uuid()}/${terraform.workspace}\"\n}\n",
    );
    let outcome = lab.run(&["tree", "--flavor", "opentofu", "--no-state"]);
    assert_exit(&outcome, 0);
    outcome.stdout_eq(str![[r#"
.
├─ module.m  the source is computed  (not visible: Module call is computed)
│     source = "./${local.dir}/${var.env}"  main.tf:11
│       local.dir = (not computed)          main.tf:7
│         local.key = (not computed)        main.tf:6, not computed: uuid() gives something else in each run
│           var.env = "prod"                main.tf:2, default
└─ module.n  the source is computed  (not visible: Module call is computed)
      source = "./${uuid()}/${terraform.workspace}"  main.tf:15, not computed: uuid() gives something else in each run
        terraform.workspace = "default"              selected
3 modules (2 not visible), 0 providers

"#]]);
}

#[test]
fn what_terraform_does_not_know_is_named() {
    let lab = Lab::new();
    lab.write(
        "main.tf",
        "variable \"env\" {\n  const   = true\n  default = \"prod\"\n}\n\nvariable \"other\" {\n  default = 1\n}\n\n\
         locals {\n  all = { dir = var.env, other = var.other }\n}\n\nmodule \"m\" {\n  source = \"./${local.all.dir}\"\n}\n",
    );
    lab.write("prod/main.tf", "");
    let outcome = lab.run(&["tree", "--flavor", "terraform@1.15", "--no-state"]);
    assert_exit(&outcome, 0);
    outcome.stdout_eq(str![[r#"
.
└─ module.m  ./prod
      source = "./${local.all.dir}"                main.tf:15
        local.all.dir = "prod"                     main.tf:11
          var.env = "prod"                         main.tf:3, default
          var.other = (not known before the plan)  main.tf:7, default, but the variable is not const
2 modules, 0 providers

"#]]);
    // A program that computes nothing has nothing to show.
    let outcome = lab.run(&["tree", "--flavor", "terraform@1.11", "--no-state"]);
    assert_exit(&outcome, 2);
}

#[test]
fn long_chains_and_values_are_cut() {
    let lab = Lab::new();
    let long = "x".repeat(10_000);
    let locals: String = (1..100)
        .map(|n| format!("  l{n} = [local.l{}[0], \"{long}\"]\n", n - 1))
        .collect();
    lab.write(
        "main.tf",
        format!(
            "locals {{\n  l0 = [\"m\"]\n{locals}}}\n\nmodule \"m\" {{\n  source = \"./${{local.l99[0]}}{}\"\n}}\n",
            "${\"\"}".repeat(100)
        ),
    );
    lab.write("m/main.tf", "");
    let outcome = lab.run(&["tree", "--flavor", "opentofu", "--no-state"]);
    assert_exit(&outcome, 0);
    outcome.stdout_has("… and more values");
    let lines = outcome.stdout.lines();
    let widest = lines.map(|line| line.chars().count()).max();
    assert!(widest < Some(160), "{}", outcome.stdout);
    assert!(outcome.stdout.lines().count() < 40, "{}", outcome.stdout);
}

#[test]
fn a_graph_names_the_expression() {
    let lab = lab();
    let outcome = run(&lab, &["tree", "--format", "dot"]).exits(0);
    let wanted = r#"source = \"./../${var.base}/${ var.env }\""#;
    outcome.stdout_has(wanted);
}

#[test]
fn equal_computed_calls_are_one_line() {
    let lab = Lab::new();
    let calls: String = (0..200)
        .map(|n| format!("module \"svc{n:03}\" {{\n  source = \"./${{var.dir}}\"\n}}\n"))
        .collect();
    lab.write(
        "main.tf",
        format!("variable \"dir\" {{\n  default = \"svc\"\n}}\n{calls}"),
    );
    lab.write("svc/main.tf", super::tree::required("x", "~> 1.0"));
    let outcome = lab.run(&["tree", "--flavor", "opentofu", "--no-state"]);
    assert_exit(&outcome, 0);
    outcome.stdout_eq(str![[r#"
.
└─ module.svc000, module.svc001, module.svc002 and 197 more  ./svc
   │  source = "./${var.dir}"  main.tf:5
   │    var.dir = "svc"        main.tf:2, default
   └─ acme/x  ~> 1.0
201 modules, 1 provider

"#]]);
    let outcome = lab.run(&["why", "x", "--flavor", "opentofu", "--no-state"]);
    assert_exit(&outcome, 0);
    outcome.stdout_has("195 more modules with a computed source (-v shows all)");
}
