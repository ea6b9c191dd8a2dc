//! `why`: places that require a provider.

use super::*;

/// A root with a child module; both require one provider, each in its own way.
fn nested() -> Lab {
    let lab = Lab::new();
    lab.write(
        "main.tf",
        "terraform {\n  required_providers {\n    x = {\n      source  = \"acme/x\"\n      version = \"~> 1.2\"\n    }\n  }\n}\n\n\
         module \"child\" {\n  source = \"./child\"\n}\n\nresource \"x_thing\" \"a\" {}\n",
    );
    lab.write(
        "child/main.tf",
        "terraform {\n  required_providers {\n    mine = { source = \"acme/x\", version = \">= 1.3\" }\n    y = { source = \"acme/y\" }\n  }\n}\n",
    );
    lab
}

#[test]
fn every_place_is_named_with_its_condition() {
    let lab = nested();
    let outcome = lab.run(&["why", "acme/x"]).exits(0);
    outcome.stdout.clone().reads(str![[r#"
main.tf:5:17        ~> 1.2    root module   required_providers
child/main.tf:3:43  >= 1.3.0  module.child  required_providers
acme/x must meet "~> 1.2, >= 1.3.0"; not locked

"#]]);
    assert!(outcome.stderr.is_empty());
    // The type alone will do.
    assert_eq!(lab.run(&["why", "x"]).stdout, outcome.stdout);
}

#[test]
fn the_locked_version_is_judged() {
    let lab = nested();
    let locked = |version: &str| {
        let text = format!(
            "provider \"registry.terraform.io/acme/x\" {{\n  version = \"{version}\"\n}}\n"
        );
        lab.write(LOCK, text);
        let outcome = lab.run(&["why", "x"]);
        let verdict = outcome.stdout.lines().last().unwrap_or_default().to_owned();
        (outcome.code, verdict)
    };
    assert_eq!(
        locked("1.4.0"),
        (
            0,
            "acme/x must meet \"~> 1.2, >= 1.3.0\"; locked at 1.4.0".to_owned()
        )
    );
    assert_eq!(
        locked("2.0.0"),
        (
            1,
            "acme/x must meet \"~> 1.2, >= 1.3.0\"; locked at 2.0.0, which does not".to_owned()
        )
    );
}

#[test]
fn places_that_clash_are_named_in_one_sentence() {
    let lab = nested();
    let child = lab.read("child/main.tf").replace(">= 1.3", ">= 2.0");
    lab.write("child/main.tf", child);
    lab.run(&["why", "acme/x"]).exits(1).stdout_eq(str![[r#"
main.tf:5:17        ~> 1.2    root module   required_providers
child/main.tf:3:43  >= 2.0.0  module.child  required_providers
no version of acme/x can meet "~> 1.2" in main.tf:5:17 and ">= 2.0.0" in child/main.tf:3:43: change one of these constraints

"#]]);
    let outcome = lab.run(&["why", "acme/x", "--format", "json"]).exits(1);
    let said = outcome.json();
    let provider = &said["roots"][0]["providers"][0];
    assert_eq!(provider["satisfiable"], false);
    let clash = provider["clash"].as_array().unwrap();
    let clash: Vec<&Value> = clash.iter().map(|place| &place["module"]).collect();
    assert_eq!(clash, ["", "module.child"]);
}

/// Locks one version of the provider that [`nested`] requires.
fn lock_x(lab: &Lab, version: &str) {
    let text =
        format!("provider \"registry.terraform.io/acme/x\" {{\n  version = \"{version}\"\n}}\n");
    lab.write(LOCK, text);
}

#[test]
fn no_update_is_advised_where_constraints_exclude_each_other() {
    const CHANGE: &str = "change one of the constraints, which exclude each other: \"~> 1.2\" in the root \
                          module and \">= 2.0.0\" in module.child";
    let lab = nested();
    let child = lab.read("child/main.tf").replace(">= 1.3", ">= 2.0");
    lab.write("child/main.tf", child);
    lock_x(&lab, "2.0.0");
    let verify = ["verify", "--only", "configuration"];
    let outcome = lab.run(&verify).exits(1);
    let text = &outcome.stdout;
    text.has(format!("= help: {CHANGE}\n"));
    text.has("------- >= 2.0.0 is required here");
    text.lacks("lockctl update");
    // A version that neither allows, and none at all.
    lock_x(&lab, "1.0.0");
    let outcome = lab.run(&verify);
    outcome.stdout_has(CHANGE);
    outcome.stdout_lacks("lockctl update");
    lab.write(LOCK, "");
    lab.run(&verify).stdout_has(CHANGE);
    // A constraint may exclude every version by itself.
    let own = lab.read("main.tf").replace("~> 1.2", "> 2.0, < 1.0");
    lab.write("main.tf", own);
    let outcome = lab.run(&verify);
    let help =
        "change the constraint \"< 1.0.0, > 2.0.0\" in the root module: it excludes every version";
    outcome.stdout_has(help);
    let outcome = lab.run(&["why", "acme/x"]);
    let verdict = "in main.tf:5:17: change that constraint\n";
    assert!(outcome.stdout.ends_with(verdict), "{outcome:?}");
}

#[test]
fn what_nothing_requires_is_told() {
    let lab = nested();
    lab.write(
        LOCK,
        "provider \"registry.terraform.io/acme/z\" {\n  version = \"1.0.0\"\n}\n",
    );
    let outcome = lab.run(&["why", "acme/z"]).exits(1);
    outcome.stdout_eq(str![[r#"
nothing in the configuration requires acme/z; the lock file holds 1.0.0

"#]]);
    outcome.stderr_eq(str![[r#"
note: it requires acme/x, acme/y

"#]]);
    lab.run(&["why", "a/b/c/d"]).exits(2).stderr_eq(str![[r#"
error: invalid value 'a/b/c/d' for '<ADDR>': "a/b/c/d" is no provider address: write one, two or three parts, as in hostname/namespace/type; write NAMESPACE/TYPE or HOST/NAMESPACE/TYPE

For more information, try '--help'.

"#]]);
    assert_exit(&lab.run(&["why", "acme/z", "child", "nowhere"]), 2);
}

#[test]
fn what_is_almost_required_is_asked_back() {
    let lab = nested();
    lab.write(
        "main.tf",
        "resource \"random_id\" \"a\" {}\nresource \"aws_x\" \"a\" {}\n\n\
         module \"child\" {\n  source = \"./child\"\n}\n",
    );
    let stderr = |typed: &str| {
        let outcome = lab.run(&["why", typed]).exits(1);
        outcome.stderr
    };
    // The namespace is wrong, then some letters of the type are.
    assert_eq!(stderr("hashicorp/y"), "note: did you mean acme/y?\n");
    assert_eq!(stderr("radnom"), "note: did you mean hashicorp/random?\n");
    // Three letters of which two differ are another word.
    assert_eq!(
        stderr("tls"),
        "note: it requires acme/x, acme/y, hashicorp/aws, hashicorp/random\n"
    );
}

#[test]
fn a_look_alike_is_no_suggestion() {
    let lab = Lab::new();
    lab.write(
        "main.tf",
        "terraform {\n  required_providers {\n    aws = { source = \"hashlcorp/aws\" }\n  }\n}\n",
    );
    let note = "hashlcorp/aws is required instead, and hashlcorp is one typing error away from hashicorp: compare its \
                `source` with the documentation\n";
    let why = lab.run(&["why", "hashicorp/aws"]).exits(1);
    assert_eq!(why.stderr, format!("note: {note}"));
    let lock = lab.run(&["lock", "--provider", "hashicorp/aws"]).exits(2);
    assert!(lock.stderr.contains(note), "{}", lock.stderr);
}

#[test]
fn a_built_in_provider_is_never_locked() {
    let lab = Lab::new();
    lab.write("main.tf", "resource \"terraform_data\" \"a\" {}\n");
    let outcome = lab.run(&["why", "terraform"]).exits(0);
    assert!(
        outcome.stdout.ends_with("is built in and never locked\n"),
        "{}",
        outcome.stdout
    );
}

#[test]
fn unseen_modules_are_told() {
    let lab = nested();
    lab.write(
        "more.tf",
        "module \"far\" {\n  source = \"acme/far/x\"\n}\n",
    );
    lab.run(&["why", "acme/x"]).exits(0).stderr_eq(str![[r#"
note: 1 module call (module.far) cannot be seen, and may require it, too (`--modules fetch` fetches modules, -v shows why)

"#]]);
    let outcome = lab.run(&["why", "acme/x", "-v"]);
    outcome.stderr_has("what module.far requires is unknown");
    // Nobody knows whether it is required; the answer says so.
    let outcome = lab.run(&["why", "acme/z"]).exits(1);
    outcome.stdout_eq(str![[r#"
nothing that can be seen of the configuration requires acme/z

"#]]);
    outcome.stderr_has("(module.far) cannot be seen");
    let said = json_of(&lab, &["why", "acme/z"]);
    assert_eq!(
        said["roots"][0]["providers"],
        json!([{
            "provider": "registry.terraform.io/acme/z", "constraints": "", "satisfiable": true,
            "version": null, "locked": null, "complete": false, "places": [], "clash": [],
        }])
    );
    assert_eq!(
        said["roots"][0]["findings"][0]["rule"],
        "module-not-visible"
    );
}

fn json_of(lab: &Lab, args: &[&str]) -> Value {
    let outcome = lab.run(&[args, &["--format", "json"]].concat());
    serde_json::from_str(&outcome.stdout).unwrap()
}

#[test]
fn what_only_state_or_tests_need_is_told() {
    let lab = nested();
    lab.write(
        "terraform.tfstate",
        r#"{"version": 4, "resources": [{"mode": "managed", "type": "s_thing", "name": "a",
            "provider": "provider[\"registry.terraform.io/acme/s\"]", "instances": []}]}"#,
    );
    lab.write(
        "tests/main.tftest.hcl",
        "run \"setup\" {\n  module {\n    source = \"./tests/setup\"\n  }\n}\n",
    );
    lab.write(
        "tests/setup/main.tf",
        "module \"deep\" {\n  source = \"./deep\"\n}\n",
    );
    lab.write(
        "tests/setup/deep/main.tf",
        "terraform {\n  required_providers {\n    t = { source = \"acme/t\" }\n  }\n}\n",
    );
    lab.run(&["why", "acme/s"]).exits(0).stdout_eq(str![[r#"
terraform.tfstate  any version  state  resource of the state
acme/s: any version is allowed; not locked; only the state needs it

"#]]);
    lab.run(&["why", "acme/t"]).exits(0).stdout_eq(str![[r#"
tests/setup/deep/main.tf:3:5  any version  test.tests.main.run.setup.module.deep  required_providers
acme/t: any version is allowed; not locked; only test runs need it

"#]]);
    let said = json_of(&lab, &["why", "acme/s"]);
    let place = &said["roots"][0]["providers"][0]["places"][0];
    assert_eq!(
        *place,
        json!({
            "file": "terraform.tfstate", "line": null, "column": null,
            "constraints": "", "module": "state", "by": "state", "overrides": [],
        })
    );
    let said = json_of(&lab, &["why", "acme/t"]);
    let place = &said["roots"][0]["providers"][0]["places"][0];
    assert_eq!(place["module"], "test.tests.main.run.setup.module.deep");
    assert_eq!(place["by"], "required-providers");
}

#[test]
fn one_place_that_many_calls_share_is_one_row() {
    let lab = nested();
    let calls: String = (0..20)
        .map(|n| format!("module \"again{n:02}\" {{\n  source = \"./child\"\n}}\n"))
        .collect();
    lab.write("more.tf", calls);
    lab.run(&["why", "acme/y"]).stdout_eq(str![[r#"
child/main.tf:4:5  any version  module.again00, module.again01, module.again02 and 18 more  required_providers
acme/y: any version is allowed; not locked

"#]]);
    let all = lab.run(&["why", "acme/y", "-v"]);
    assert_eq!(all.stdout.matches("module.again").count(), 20);
    let said = json_of(&lab, &["why", "acme/y"]);
    let places = &said["roots"][0]["providers"][0]["places"];
    assert_eq!(places.as_array().unwrap().len(), 21);
}

#[test]
fn what_an_override_file_says_is_told_with_what_it_overrides() {
    let lab = nested();
    lab.write(
        "a_override.tf",
        "terraform {\n  required_providers {\n    x = { source = \"acme/x\", version = \"~> 2.0\" }\n  }\n}\n\nresource \"x_thing\" \"a\" {\n  provider = x\n}\n",
    );
    lab.write(
        "b_override.tf.json",
        "{\"terraform\": {\"required_providers\": {\n  \"x\": {\"source\": \"acme/x\"}\n}}}\n",
    );
    lab.write("child/p.tf", "provider \"mine\" {}\n");
    lab.write(
        "child/override.tf",
        "provider \"mine\" {\n  version = \"1.4\"\n}\n",
    );
    lab.run(&["why", "acme/x"]).exits(0).stdout_eq(str![[r#"
b_override.tf.json:2:3  any version  root module   required_providers, in place of ~> 1.2 at main.tf:3:5 and ~> 2.0 at a_override.tf:3:5
child/main.tf:3:43      >= 1.3.0     module.child  required_providers
child/override.tf:2:13  1.4.0        module.child  provider block, in place of child/p.tf:1:1
acme/x must meet ">= 1.3.0, 1.4.0"; not locked

"#]]);
    let outcome = lab.run(&["why", "acme/x", "--format", "json"]);
    let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let places = &report["roots"][0]["providers"][0]["places"];
    assert_eq!(
        places[0]["overrides"],
        serde_json::json!([
            { "file": "main.tf", "line": 3, "column": 5, "constraints": "~> 1.2" },
            { "file": "a_override.tf", "line": 3, "column": 5, "constraints": "~> 2.0" },
        ])
    );
    assert_eq!(places[1]["overrides"], serde_json::json!([]));
}
