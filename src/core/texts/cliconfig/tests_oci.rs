//! Mirrors in registries of OCI artifacts, and credentials for them.

use super::tests::{Run, TERRAFORM, one, run};
use super::*;

const TOFU: Flavor = Flavor::OpenTofu1_12;

/// Reads a file by the rules of OpenTofu; returns its problems as `title: note`.
#[track_caller]
fn check(text: &str, want: &[&str]) -> Run {
    let run = one(TOFU, text);
    let problems = run.found.iter().map(|problem| {
        assert_eq!(problem.code, "cli-configuration-invalid");
        let label = problem.primary.as_ref().expect("a place");
        format!("{}: {}", problem.title, label.note)
    });
    assert_eq!(problems.collect::<Vec<_>>(), want, "{text}");
    run
}

#[test]
fn templates_of_methods_are_checked() {
    let method = |arguments: &str| {
        format!("provider_installation {{\n  oci_mirror {{\n    {arguments}\n  }}\n}}\n")
    };
    let title = "Invalid oci_mirror repository template";
    let sound = method(
        "repository_template = \"r.example/${namespace}/${type}\"\n include = [\"example.com/*/*\"]",
    );
    let run = check(&sound, &[]);
    let methods = &run.config.installations[0].methods;
    let [
        Method {
            kind: MethodKind::OciMirror { template },
            ..
        },
    ] = &**methods
    else {
        panic!("{methods:?}");
    };
    assert_eq!(template.to_string(), "r.example/${namespace}/${type}");
    let json = "{\"provider_installation\": [{\"oci_mirror\": [{\"repository_template\": \
                \"r.example/${hostname}/${namespace}/${type}\"}]}]}";
    check(json, &[]);
    let dropped = check(
        &method("repository_template = \"r.example/${namespace}/${banana}\""),
        &[&format!(
            "{title}: it uses \"banana\": only hostname, namespace and type have a value"
        )],
    );
    assert!(dropped.config.installations[0].methods.is_empty());
    // The pattern is reported, and nothing that follows from it.
    let text = method("repository_template = \"r.example/x\"\n include = [\"*/a\"]");
    assert_eq!(one(TOFU, &text).found.len(), 1);
    let text = method("repository_template = \"\"");
    check(
        &text,
        &[
            "Invalid oci_mirror method block: repository_template is required: the program drops this method",
        ],
    );
}

#[test]
fn blocks_with_credentials_are_checked() {
    let block = |arguments: &str| format!("oci_credentials \"r.example\" {{\n  {arguments}\n}}\n");
    let title = "Invalid oci_credentials block";
    for sound in [
        "username = \"u\"\n  password = \"\"",
        "access_token = \"a\"\n  refresh_token = \"b\"",
        "docker_credentials_helper = \"vault\"",
    ] {
        check(&block(sound), &[]);
    }
    let one_of = format!(
        "{title}: one of these is needed, and only one: username with password, access_token with \
         refresh_token, docker_credentials_helper"
    );
    for arguments in [
        "",
        "username = \"u\"\n password = \"p\"\n docker_credentials_helper = \"h\"",
        "username = \"u\"",
        "access_token = \"u\"",
    ] {
        check(&block(arguments), &[&one_of]);
    }
    let helper = |label: &str| {
        format!("oci_credentials {label} {{\n  docker_credentials_helper = \"x\"\n}}\n")
    };
    for (text, note) in [
        (block("username = [\"u\"]"), "text in quotes must follow"),
        (
            block("docker_credentials_helper = \"../x\""),
            "the name of the credential helper is no part of the name of a program",
        ),
        (
            helper("\"r.example/acme\""),
            "credential helpers answer for whole domains: leave the path out of the label",
        ),
        (
            helper("\"https://r.example\""),
            "the label is neither the domain of a registry nor the beginning of a repository address \
             in it",
        ),
        (
            helper(""),
            "one label with the domain of a registry is needed",
        ),
    ] {
        check(&text, &[&format!("{title}: {note}")]);
    }
    let twice = [
        block("docker_credentials_helper = \"x\""),
        block("docker_credentials_helper = \"y\""),
    ];
    check(
        &twice.concat(),
        &["No more than one oci_credentials block for \"r.example\": this is another one"],
    );
}

#[test]
fn defaults_for_credentials_are_checked() {
    let title = "Invalid oci_default_credentials block";
    let block = |arguments: &str| format!("oci_default_credentials {{\n  {arguments}\n}}\n");
    check(&block(""), &[]);
    check(&block("docker_style_config_files = [\"/a\", \"b\"]"), &[]);
    for (arguments, note) in [
        (
            "discover_ambient_credentials = \"no\"",
            "`true` or `false` must follow",
        ),
        (
            "docker_style_config_files = \"a\"",
            "a list of paths must follow",
        ),
        (
            "docker_style_config_files = [1]",
            "paths in quotes must follow",
        ),
        (
            "docker_credentials_helper = 1",
            "text in quotes must follow",
        ),
        (
            "docker_credentials_helper = \"a/b\"",
            "the name of the credential helper is no part of the name of a program",
        ),
        (
            "discover_ambient_credentials = false\n docker_style_config_files = []",
            "docker_style_config_files has no meaning where discover_ambient_credentials is false",
        ),
    ] {
        check(&block(arguments), &[&format!("{title}: {note}")]);
    }
    check(
        "oci_default_credentials = true\n",
        &[&format!("{title}: braces must follow")],
    );
    check(
        &block("").repeat(2),
        &["No more than one oci_default_credentials block may be specified: this is another one"],
    );
}

#[test]
fn nothing_of_the_credentials_is_shown() {
    let text = "oci_credentials \"r.example\" {\n  username = \"name\"\n  password = \"hidden\"\n}\n\
                oci_default_credentials {\n  docker_style_config_files = [\"a\"]\n}\n";
    for flavor in [TOFU, TERRAFORM] {
        let run = run(flavor, &[("TF_CLI_CONFIG_FILE", "rc")], &[("rc", text)]);
        let shown = super::secrecy_tests::everything_shown(&run);
        assert!(!shown.contains("hidden"), "{shown}");
    }
    let shown = String::from_utf8(tree::parse(text.as_bytes()).shown).expect("text");
    assert_eq!(
        shown,
        "oci_credentials \"r.example\" {\n  username = \"****\"\n  password = \"******\"\n}\n\
         oci_default_credentials {\n  docker_style_config_files = [\"*\"]\n}\n"
    );
}
