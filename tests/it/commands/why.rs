//! `why`: places that require a provider.

use serde_json::Value;
use snapbox::{assert_data_eq, str};

use super::{LOCK, assert_exit};
use crate::lab::Lab;

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
    let outcome = lab.run(&["why", "acme/x"]);
    assert_exit(&outcome, 0);
    assert_data_eq!(
        outcome.stdout.clone(),
        str![[r#"
main.tf:5:17        ~> 1.2    root module   required_providers
child/main.tf:3:43  >= 1.3.0  module.child  required_providers
acme/x: "~> 1.2, >= 1.3.0" must hold; not locked

"#]]
    );
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
            "acme/x: \"~> 1.2, >= 1.3.0\" must hold; locked at 1.4.0".to_owned()
        )
    );
    assert_eq!(
        locked("2.0.0"),
        (
            1,
            "acme/x: \"~> 1.2, >= 1.3.0\" must hold; locked at 2.0.0, which does not".to_owned()
        )
    );
}

#[test]
fn places_that_clash_are_named_in_one_sentence() {
    let lab = nested();
    let child = lab.read("child/main.tf").replace(">= 1.3", ">= 2.0");
    lab.write("child/main.tf", child);
    let outcome = lab.run(&["why", "acme/x"]);
    assert_exit(&outcome, 1);
    assert_data_eq!(
        outcome.stdout,
        str![[r#"
main.tf:5:17        ~> 1.2    root module   required_providers
child/main.tf:3:43  >= 2.0.0  module.child  required_providers
no version of acme/x can meet "~> 1.2" in main.tf:5:17 and ">= 2.0.0" in child/main.tf:3:43

"#]]
    );
    let outcome = lab.run(&["why", "acme/x", "--format", "json"]);
    assert_exit(&outcome, 1);
    let said: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let provider = &said["roots"][0]["providers"][0];
    assert_eq!(provider["satisfiable"], false);
    let clash = provider["clash"].as_array().unwrap();
    let clash: Vec<&Value> = clash.iter().map(|place| &place["module"]).collect();
    assert_eq!(clash, ["", "module.child"]);
}

#[test]
fn what_nothing_requires_is_told() {
    let lab = nested();
    lab.write(
        LOCK,
        "provider \"registry.terraform.io/acme/z\" {\n  version = \"1.0.0\"\n}\n",
    );
    let outcome = lab.run(&["why", "acme/z"]);
    assert_exit(&outcome, 1);
    assert_data_eq!(
        outcome.stdout,
        str![[r#"
nothing in the configuration requires acme/z; the lock file holds 1.0.0

"#]]
    );
    assert_data_eq!(
        outcome.stderr,
        str![[r#"
note: it requires acme/x, acme/y

"#]]
    );
    let outcome = lab.run(&["why", "a/b/c/d"]);
    assert_exit(&outcome, 2);
    assert_data_eq!(
        outcome.stderr,
        str![[r#"
error: "a/b/c/d" is no provider address: write one, two or three parts, as in hostname/namespace/type
  help: write NAMESPACE/TYPE or HOST/NAMESPACE/TYPE

"#]]
    );
    assert_exit(&lab.run(&["why", "acme/z", "child", "nowhere"]), 2);
}

#[test]
fn a_built_in_provider_is_never_locked() {
    let lab = Lab::new();
    lab.write("main.tf", "resource \"terraform_data\" \"a\" {}\n");
    let outcome = lab.run(&["why", "terraform"]);
    assert_exit(&outcome, 0);
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
    let outcome = lab.run(&["why", "acme/x"]);
    assert_exit(&outcome, 0);
    assert!(
        outcome
            .stderr
            .contains("what module.far requires is unknown"),
        "{}",
        outcome.stderr
    );
}
