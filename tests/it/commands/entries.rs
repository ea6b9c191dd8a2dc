//! `verify` on entries that are left over, locked from several hosts, or without the signed list.

use super::*;

/// Returns `RULE SEVERITY PROVIDER` of each finding that has one of these rules.
fn found(lab: &Lab, rules: &[&str], args: &[&str]) -> Vec<String> {
    let line = [&["verify", "--format", "json"], args].concat();
    let outcome = lab.run(&line);
    let document = outcome.json();
    let findings = document["roots"][0]["findings"].as_array().unwrap();
    let text = |finding: &Value, name: &str| finding[name].as_str().unwrap_or("-").to_owned();
    let found = findings.iter().filter_map(|finding| {
        let fields = ["rule", "severity", "provider"].map(|name| text(finding, name));
        rules.contains(&&*fields[0]).then(|| fields.join(" "))
    });
    found.collect()
}

const NOT_REQUIRED: &[&str] = &["provider-not-required"];

/// Entries with these hashes and nothing else.
fn entries(named: &[(&str, &[&str])]) -> String {
    let mut text = String::new();
    for (provider, hashes) in named {
        let lines: String = hashes
            .iter()
            .map(|hash| format!("    {hash:?},\n"))
            .collect();
        let hashes = match lines.is_empty() {
            true => String::new(),
            false => format!("  hashes = [\n{lines}  ]\n"),
        };
        text += &format!("\nprovider {provider:?} {{\n  version = \"1.0.0\"\n{hashes}}}\n");
    }
    text
}

/// A configuration that requires these providers.
fn requiring(providers: &[&str]) -> String {
    let names = providers.iter().enumerate();
    let lines: String = names
        .map(|(at, source)| format!("    p{at} = {{ source = {source:?} }}\n"))
        .collect();
    format!("terraform {{\n  required_providers {{\n{lines}  }}\n}}\n")
}

/// A root with a locked provider that is required, and one that is not.
fn with_left_over() -> Lab {
    let lab = simple();
    assert_exit(&lock(&lab, BOTH), 0);
    let left_over = entries(&[("example.com/t/y", &[])]);
    lab.write(LOCK, lab.read(LOCK) + &left_over);
    lab
}

#[test]
fn an_entry_that_nothing_requires_is_a_warning_until_it_is_dropped() {
    let lab = with_left_over();
    let expected = ["provider-not-required warning example.com/t/y"];
    assert_eq!(found(&lab, NOT_REQUIRED, BOTH), expected);
    let verify = [&["verify", "--only", "configuration"], BOTH].concat();
    assert_exit(&lab.run(&verify), 1);
    assert_exit(&lock(&lab, BOTH), 0);
    assert_exit(&lab.run(&[&["verify"], BOTH].concat()), 0);
}

#[test]
fn an_entry_is_not_judged_while_something_cannot_be_seen() {
    let lab = with_left_over();
    lab.write("more.tf", "module \"m\" {\n  source = \"a/b/c\"\n}\n");
    assert!(found(&lab, NOT_REQUIRED, BOTH).is_empty());
    lab.write("more.tf", "terraform {\n  backend \"s3\" {}\n}\n");
    assert!(found(&lab, NOT_REQUIRED, BOTH).is_empty());
    let no_state = lab.run(&["verify", "--no-state", "--only", "configuration"]);
    no_state.stdout_has("and the state was left out");
}

#[test]
fn an_entry_that_only_the_state_requires_is_required() {
    let lab = with_left_over();
    let resource = "{ \"provider\": \"provider[\\\"example.com/t/y\\\"]\", \"instances\": [] }";
    let state = format!("{{ \"version\": 4, \"resources\": [{resource}] }}");
    lab.write("terraform.tfstate", state);
    assert!(found(&lab, NOT_REQUIRED, BOTH).is_empty());
    assert_eq!(found(&lab, NOT_REQUIRED, &["--no-state"]).len(), 1);
}

#[test]
fn an_entry_that_would_be_selected_anew_can_be_converted() {
    let keeps = "`, which keeps the version for ";
    let check = |flavor: &str, locked: &[&str], wanted: Option<&str>| {
        let lab = Lab::new();
        lab.write("main.tf", requiring(&["acme/x"]));
        let none: &[&str] = &[];
        let locked: Vec<_> = locked.iter().map(|addr| (*addr, none)).collect();
        lab.write(LOCK, entries(&locked));
        let verify = ["verify", "--only", "configuration", "--flavor", flavor];
        let outcome = lab.run(&verify);
        let found = outcome.stdout.split(keeps).nth(1);
        let found = found.and_then(|rest| rest.split(';').next());
        assert_eq!(found, wanted, "{outcome:#?}");
    };
    let [old, new] = [
        "registry.terraform.io/acme/x",
        "registry.opentofu.org/acme/x",
    ];
    check("opentofu", &[old], Some(new));
    check("terraform", &[new], Some(old));
    check("opentofu", &[old, new], None);
    check("opentofu", &["registry.terraform.io/acme/y"], None);
}

#[test]
fn a_lock_file_of_the_other_program_is_converted() {
    let lab = Lab::new();
    let help = |flavor: &str, options: &[&str]| -> Vec<String> {
        let outcome = lab.run(
            &[
                &["verify", "--only", "configuration", "--format", "json"][..],
                &["--flavor", flavor],
                options,
            ]
            .concat(),
        );
        let said: Value = serde_json::from_str(&outcome.stdout).unwrap();
        let findings = said["roots"][0]["findings"].as_array().unwrap();
        findings
            .iter()
            .map(|finding| {
                let help = finding["help"].as_str().unwrap();
                help.split('`').nth(1).unwrap_or_default().to_owned()
            })
            .collect()
    };
    for name in ["hashicorp/null", "acme/x"] {
        lab.write("main.tf", requiring(&[name]));
        lab.write(
            LOCK,
            entries(&[(&format!("registry.terraform.io/{name}"), &[])]),
        );
        let convert = ["lockctl convert . --to opentofu"; 2];
        assert_eq!(help("opentofu", &[]), convert);
        lab.write("p.hcl", "");
        let with_config = ["lockctl convert . --config p.hcl --to opentofu"; 2];
        assert_eq!(help("opentofu", &["--config", "p.hcl"]), with_config);
        lab.write(
            LOCK,
            entries(&[(&format!("registry.opentofu.org/{name}"), &[])]),
        );
        let convert = ["lockctl convert . --to terraform"; 2];
        assert_eq!(help("terraform", &[]), convert);
    }
    // A provider of another name, or on another host, is none of the other program.
    lab.write(LOCK, entries(&[("registry.terraform.io/acme/y", &[])]));
    let lock = ["lockctl lock . --flavor opentofu@1.12"; 2];
    assert_eq!(help("opentofu", &[]), lock);
    lab.write(LOCK, entries(&[("example.com/acme/x", &[])]));
    assert_eq!(help("opentofu", &[]), lock);
}

const MIXED: &[&str] = &["hosts-mixed", "provider-not-required"];

const ON_TERRAFORM: &str = "registry.terraform.io/hashicorp/null";
const ON_OPENTOFU: &str = "registry.opentofu.org/hashicorp/null";

#[test]
fn one_name_on_several_hosts_is_a_warning_where_both_are_required() {
    let lab = Lab::new();
    let both: [(&str, &[&str]); 2] = [(ON_OPENTOFU, &[]), (ON_TERRAFORM, &[])];
    lab.write(LOCK, entries(&both));
    lab.write("main.tf", requiring(&[ON_TERRAFORM, ON_OPENTOFU]));
    let warning = format!("hosts-mixed warning {ON_TERRAFORM}");
    assert_eq!(found(&lab, MIXED, &[]), [warning]);

    lab.write("main.tf", requiring(&["hashicorp/null"]));
    let note = format!("hosts-mixed note {ON_TERRAFORM}");
    let left_over = format!("provider-not-required warning {ON_OPENTOFU}");
    assert_eq!(found(&lab, MIXED, &[]), [left_over, note.clone()]);

    // What an unseen module requires may be either.
    let unseen = "module \"m\" {\n  source = \"a/b/c\"\n}\n";
    lab.write("main.tf", requiring(&["hashicorp/null"]) + unseen);
    assert_eq!(found(&lab, MIXED, &[]), [note]);

    // Another namespace or type is another name.
    let others: [(&str, &[&str]); 3] = [
        (ON_OPENTOFU, &[]),
        ("registry.terraform.io/acme/null", &[]),
        ("registry.terraform.io/hashicorp/random", &[]),
    ];
    lab.write(LOCK, entries(&others));
    assert!(found(&lab, &["hosts-mixed"], &[]).is_empty());
}

const H1: &str = "h1:vSUZJPJlJhDOkbAT+iqt7AAQArew8uExp71bJtBUdMw=";
const ZH: &str = "zh:1111111111111111111111111111111111111111111111111111111111111111";
const ZH_2: &str = "zh:2222222222222222222222222222222222222222222222222222222222222222";

#[test]
fn the_signed_list_is_missed_where_the_registry_signs_one() {
    let missing = |locked: &[(&str, &[&str])]| {
        let lab = Lab::new();
        lab.write(LOCK, entries(locked));
        let names: Vec<&str> = locked.iter().map(|(name, _)| *name).collect();
        lab.write("main.tf", requiring(&names));
        found(&lab, &["zh-missing"], &[])
    };
    let note = |provider: &str| [format!("zh-missing note {provider}")];
    assert_eq!(missing(&[(ON_TERRAFORM, &[H1])]), note(ON_TERRAFORM));
    assert_eq!(missing(&[(ON_OPENTOFU, &[H1])]), note(ON_OPENTOFU));
    for hashes in [&[][..], &[ZH], &[H1, ZH]] {
        assert!(missing(&[(ON_TERRAFORM, hashes)]).is_empty(), "{hashes:?}");
    }
    // Of another registry it is known only if some entry has its list.
    let (a, b) = ("example.com/t/a", "example.com/t/b");
    assert!(missing(&[(a, &[H1])]).is_empty());
    assert!(missing(&[(a, &[H1]), (b, &[H1, ZH])]).is_empty());
    assert_eq!(missing(&[(a, &[H1]), (b, &[H1, ZH, ZH_2])]), note(a));
}

#[test]
fn the_signed_list_of_an_entry_that_is_left_over_is_not_missed() {
    let lab = Lab::new();
    lab.write(LOCK, entries(&[(ON_TERRAFORM, &[H1])]));
    lab.write("main.tf", "terraform {}\n");
    assert!(found(&lab, &["zh-missing"], &[]).is_empty());
}

#[test]
fn an_entry_that_opentofu_takes_for_its_own_is_converted_too() {
    let lab = Lab::new();
    lab.write("main.tf", requiring(&["hashicorp/null"]));
    let old = "registry.terraform.io/hashicorp/null";
    lab.write(LOCK, entries(&[(old, &[])]));
    let verify = ["verify", "--only", "configuration", "--flavor", "opentofu"];
    let outcome = lab.run(&verify);
    let taken = "run `lockctl convert . --to opentofu`, which keeps the version for \
                 registry.opentofu.org/hashicorp/null;";
    outcome.stdout_has(taken);
}
