//! `lock --oci-mirror`, and `oci_mirror` in the CLI configuration: what is recorded, what is refused, who is
//! sent what.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use snapbox::str;

use super::matrix::{all_rows, is_here};
use super::registry::DEMO;
use super::{LOCK, assert_exit};
use crate::lab::{Lab, Outcome};
use crate::oci::{FORMS, OciRegistry};
use crate::scenarios::{self, Engine, Packages, Symbols};
use crate::texts::Text as _;

const PLATFORMS: [&str; 2] = ["linux_amd64", "linux_arm64"];

/// A root that requires a provider, and a registry of OCI artifacts that nothing was published in.
fn lab() -> (OciRegistry, Lab) {
    let registry = OciRegistry::start();
    let mut lab = Lab::new();
    lab.write("main.tf", DEMO);
    for (name, value) in [
        ("SSL_CERT_FILE", registry.ca_file()),
        ("SSL_CERT_DIR", "/nonexistent".into()),
        ("HOME", lab.path("home")),
        ("XDG_CACHE_HOME", lab.path("home/.cache")),
    ] {
        lab.set(name, value);
    }
    (registry, lab)
}

fn publish(registry: &OciRegistry, form: &str) {
    let packages = PLATFORMS.map(|platform| {
        let key = format!("demo/1.0.0/{platform}");
        (platform, Packages::recorded().zip(&key))
    });
    registry.publish("acme/demo", "1.0.0", &packages, form);
}

fn template(registry: &OciRegistry) -> String {
    format!("{}/${{namespace}}/${{type}}", registry.domain())
}

fn lock(registry: &OciRegistry, lab: &Lab, more: &[&str]) -> Outcome {
    let template = template(registry);
    let first = ["lock", "--no-cache", "--flavor", "opentofu", "--oci-mirror"];
    let platform = ["--platform", "linux_amd64"];
    lab.run(&[&first[..], &[&template], &platform, more].concat())
}

fn configure(lab: &mut Lab, text: &str) {
    lab.write("rc", text);
    let rc = lab.path("rc").into();
    lab.env.vars.insert("TF_CLI_CONFIG_FILE".to_owned(), rc);
}

fn steady(registry: &OciRegistry, text: &str) -> String {
    let named = format!("localhost:{}", registry.port());
    text.replace(registry.domain(), "REGISTRY")
        .replace(&named, "OTHER")
}

fn hash(symbol: &str) -> String {
    Packages::recorded().hashes[symbol].clone()
}

/// What OpenTofu did with each form: whether it locked, and its error.
fn recorded() -> BTreeMap<String, (bool, String)> {
    let with = scenarios::scenarios("oci");
    let registry = crate::registry::Registry::start();
    let symbols = Symbols::of(&registry, None, Engine::OpenTofu12, "dir".as_ref());
    let of_form = |form: &&str| {
        let id = format!("oci-{}", form.replace('_', "-"));
        let scenario = with.iter().find(|one| one.id == id).unwrap();
        let expected = scenario.expect(Engine::OpenTofu12, &symbols).unwrap();
        let mut errors = expected
            .diagnostics
            .iter()
            .filter(|one| one.severity == "error");
        let error = errors.next().map_or("", |one| one.detail.as_str());
        ((*form).to_owned(), (expected.success(), error.to_owned()))
    };
    FORMS.iter().map(of_form).collect()
}

/// Each form with what lockctl says; nothing where it locks.
const TABLE: [(&str, &str); 38] = [
    ("ok", ""),
    (
        "tag_is_manifest",
        "its content type is \"application/vnd.oci.image.manifest.v1+json\"",
    ),
    (
        "tag_is_plain_manifest",
        "its content type is \"application/vnd.oci.image.manifest.v1+json\"",
    ),
    (
        "tag_is_module",
        "its content type is \"application/vnd.oci.image.manifest.v1+json\"",
    ),
    (
        "docker_list",
        "its content type is \"application/vnd.docker.distribution.manifest.list.v2+json\"",
    ),
    ("index_no_type", "its artifactType is \"\""),
    (
        "index_other_type",
        "its artifactType is \"application/vnd.example.thing\"",
    ),
    ("index_no_media_type", "its mediaType is \"\""),
    (
        "entries_no_type",
        "it lists no package of a provider; it may be a container image",
    ),
    (
        "entries_other_type",
        "it lists no package of a provider; it may be a container image",
    ),
    (
        "entry_no_platform",
        "it lists a package without its platform",
    ),
    (
        "entry_os_version",
        "has no package of registry.opentofu.org/acme/demo 1.0.0 for linux_amd64",
    ),
    ("entry_variant", ""),
    ("entry_twice", "it lists 2 packages for linux_amd64"),
    ("entry_extra_foreign", ""),
    (
        "entry_wrong_media",
        "it lists a package with the mediaType \"application/vnd.oci.image.index.v1+json\"",
    ),
    (
        "entry_is_index",
        "its content type is \"application/vnd.oci.image.index.v1+json\"",
    ),
    ("manifest_no_type", "its artifactType is \"\""),
    (
        "manifest_other_type",
        "its artifactType is \"application/vnd.example.thing\"",
    ),
    (
        "manifest_flip",
        "its content does not have the digest sha256:",
    ),
    ("manifest_gone", "answered 404 Not Found"),
    ("index_flip", "its content does not have the digest sha256:"),
    ("index_big", "sends more than 5242879 bytes"),
    ("index_4m", ""),
    (
        "no_layers",
        "it has 0 layers of the type archive/zip, not one",
    ),
    (
        "layer_other_media",
        "it has 0 layers of the type archive/zip, not one",
    ),
    ("layer_extra_other", ""),
    (
        "layer_twice",
        "it has 2 layers of the type archive/zip, not one",
    ),
    ("layer_sha512", "which is no SHA-256 digest"),
    (
        "layer_platform",
        "its zip is for plan9_mips, not for linux_amd64",
    ),
    ("layer_url", ""),
    (
        "blob_flip",
        "does not match the hash that its registry states",
    ),
    ("blob_short", "are stated for it"),
    ("blob_long", "are stated for it"),
    ("blob_gone", "answered 404 Not Found"),
    ("blob_size_small", "are stated for it"),
    ("zip_other_platform", ""),
    ("not_zip", "zip"),
];

#[test]
fn every_form_ends_as_with_opentofu() {
    let (registry, lab) = lab();
    let recorded = recorded();
    assert_eq!(TABLE.map(|(form, _)| form), FORMS);
    let mut faults = Vec::new();
    for (form, ours) in TABLE {
        registry.reset(&Value::Null);
        publish(&registry, form);
        let outcome = lock(&registry, &lab, &[]);
        let (locks, theirs) = &recorded[form];
        let is_locked = lab.path(LOCK).exists();
        let ends = (outcome.code == 0) == *locks && is_locked == *locks;
        let said = format!("{}{}", outcome.stdout, outcome.stderr);
        if !ends || !said.contains(ours) || ours.is_empty() != *locks {
            faults.push(format!(
                "{form}: exit {}, theirs {theirs:?}\n{said}",
                outcome.code
            ));
        }
        if is_locked {
            std::fs::remove_file(lab.path(LOCK)).unwrap();
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_digest_and_the_computed_hash_are_recorded() {
    let (registry, lab) = lab();
    publish(&registry, "ok");
    let outcome = lock(&registry, &lab, &["-v"]).exits(0);
    steady(&registry, &outcome.stdout).reads(str![[r#"
acme/demo  1.0.0  ~> 1.0.0  selected  1 platform  2 hashes added
    h1:AzthgEmn5NwxdRL0khdiFc6UynfM+QgLCiAzqwrkoUY=  computed, linux_amd64
    zh:d03d04fa877a789654ce1d7c24e5c71e1a997e7a97ca4a419f7f09f37ed081a5  computed
2 hashes added: 2 computed and not covered by a signature
created .terraform.lock.hcl

"#]]);
    // One request less than OpenTofu: what the tag leads to is fetched at once.
    assert_eq!(registry.lines().len(), 5);
    // Terraform has no such mirrors, but takes the packages; its lock files have no such `zh:`.
    std::fs::remove_file(lab.path(LOCK)).unwrap();
    let domain = registry.domain();
    let uri = format!("{domain}/{{namespace}}/{{type}}");
    let terraform = [
        "lock",
        "--flavor",
        "terraform",
        "--oci-mirror",
        &uri,
        "--platform",
        "linux_amd64",
    ];
    assert_exit(&lab.run(&terraform), 0);
    let text = lab.read(LOCK);
    assert!(text.contains("h1:") && !text.contains("zh:"), "{text}");
}

/// OpenTofu writes such a lock file silently.
#[test]
fn one_zip_for_two_platforms_is_pointed_out() {
    let (registry, lab) = lab();
    publish(&registry, "zip_other_platform");
    let outcome = lock(&registry, &lab, &["--platform", "linux_arm64"]).exits(0);
    let said = format!("{}{}", outcome.stdout, outcome.stderr);
    said.has("acme/demo 1.0.0 has 1 package for 2 platforms");
}

#[test]
fn failures_say_what_to_do() {
    let (registry, lab) = lab();
    let outcome = lock(&registry, &lab, &[]).exits(2);
    steady(&registry, &outcome.stderr).reads(str![[r#"
error: the repository REGISTRY/acme/demo has no package of registry.opentofu.org/acme/demo
  cause: required in main.tf:5 ("~> 1.0.0")
  help: check the template of the mirror, or push the provider to that repository

"#]]);
    registry.reset(&json!({ "auth": "basic" }));
    publish(&registry, "ok");
    let outcome = lock(&registry, &lab, &[]).exits(2);
    steady(&registry, &outcome.stderr).reads(str![[r#"
error: the versions of registry.opentofu.org/acme/demo could not be fetched
  cause: REGISTRY requires credentials: https://REGISTRY/v2/acme/demo/tags/list answered 401: no
  help: give a password for REGISTRY: in an oci_credentials block for REGISTRY in the CLI configuration, or a login of Docker

"#]]);
    let outcome = lock(&registry, &lab, &["--offline"]).exits(2);
    outcome.stderr_eq(str![[r#"
error: an OCI mirror cannot be asked
  cause: --offline forbids network requests
  help: leave out --offline, or name a mirror with --fs-mirror DIR

"#]]);
    let outcome = lab.run(&["lock", "--oci-mirror", "https://r.example/{type}"]);
    assert_exit(&outcome, 2);
    outcome.stderr_eq(str![[r#"
error: invalid value 'https://r.example/{type}' for '--oci-mirror <TEMPLATE>': "https://r.example/example-type" is no OCI repository: write DOMAIN/NAME, as in ghcr.io/acme/demo, without scheme, tag or digest, and the name in lower case

For more information, try '--help'.

"#]]);
    lock(&registry, &lab, &["--net-mirror", "https://m.example/"]).exits(2);
}

/// Locks with credentials in the CLI configuration; returns what the registry was sent, by request.
fn sent(knobs: &Value) -> (u8, Vec<(String, Option<String>)>) {
    let (registry, mut lab) = lab();
    let knobs = knobs
        .to_string()
        .replace("PORT", &registry.port().to_string());
    registry.reset(&serde_json::from_str(&knobs).unwrap());
    publish(&registry, "ok");
    let domain = registry.domain();
    configure(
        &mut lab,
        &format!(
            "oci_credentials \"{domain}/acme\" {{\n  username = \"user\"\n  password = \"secret\"\n}}\n"
        ),
    );
    let outcome = lock(&registry, &lab, &[]);
    let shown = format!("{}{}", outcome.stdout, outcome.stderr);
    assert!(
        !shown.contains("secret") && !shown.contains("lab-token"),
        "{shown}"
    );
    let sent = registry.requests().into_iter().map(|request| {
        let line = request.line.split_once(':').unwrap().1;
        let path = line.split([' ', '?']).next().unwrap().to_owned();
        (path, request.authorization)
    });
    (outcome.code, sent.collect())
}

#[test]
fn a_password_is_sent_to_its_registry_once_it_asks() {
    let basic = Some("Basic dXNlcjpzZWNyZXQ=".to_owned());
    let (code, requests) = sent(&json!({ "auth": "basic" }));
    assert_eq!(code, 0, "{requests:?}");
    let ([(ping, None), rest @ ..], 5) = (&*requests, requests.len()) else {
        panic!("{requests:?}");
    };
    assert_eq!(ping, "/v2/");
    assert!(rest.iter().all(|(_, sent)| *sent == basic), "{rest:?}");
    // Behind a redirect to another name of the same machine it is not sent.
    let elsewhere = "https://localhost:PORT{path}?moved=1";
    let (code, requests) = sent(&json!({ "auth": "basic", "blob_redirect": elsewhere }));
    assert_eq!(code, 0, "{requests:?}");
    let (path, last) = requests.last().unwrap();
    assert!(path.contains("/blobs/") && last.is_none(), "{requests:?}");
    let (code, requests) = sent(&json!({}));
    assert_eq!(code, 0);
    assert!(
        requests.iter().all(|(_, sent)| sent.is_none()),
        "{requests:?}"
    );
}

#[test]
fn a_password_buys_a_token_at_places_of_its_registry_only() {
    let token = Some("Bearer lab-token".to_owned());
    let basic = Some("Basic dXNlcjpzZWNyZXQ=".to_owned());
    let of_token = |requests: &[(String, Option<String>)]| {
        let mut requests = requests.iter().filter(|(path, _)| path == "/token");
        requests.next().map(|(_, sent)| sent.clone())
    };
    let (code, requests) = sent(&json!({ "auth": "bearer" }));
    assert_eq!(
        (code, of_token(&requests)),
        (0, Some(basic)),
        "{requests:?}"
    );
    assert_eq!(requests.last().unwrap().1, token);
    // OpenTofu sends the password there.
    let elsewhere = "https://localhost:PORT/token";
    let (code, requests) = sent(&json!({ "auth": "bearer", "realm": elsewhere }));
    assert_eq!((code, of_token(&requests)), (0, Some(None)), "{requests:?}");
    let plain = "http://127.0.0.1:PORT/token";
    let (code, requests) = sent(&json!({ "auth": "bearer", "realm": plain }));
    assert_eq!((code, of_token(&requests)), (2, None), "{requests:?}");
}

/// OpenTofu's OCI mirrors refuse an entry without the `zh:` of the package, and lockctl adds that.
#[test]
fn an_entry_that_the_mirror_refuses_is_predicted_and_completed() {
    let (registry, mut lab) = lab();
    publish(&registry, "ok");
    let entry = |hashes: &str| {
        format!(
            "# This file is maintained automatically by \"tofu init\".\n# Manual edits may be lost in future \
             updates.\n\nprovider \"registry.opentofu.org/acme/demo\" {{\n  version     = \"1.0.0\"\n  \
             constraints = \"~> 1.0.0\"\n  hashes = [\n{hashes}  ]\n}}\n"
        )
    };
    let (h1, zh) = (
        hash("h1(demo/1.0.0/linux_amd64)"),
        hash("zh(demo/1.0.0/linux_amd64)"),
    );
    lab.write(LOCK, entry(&format!("    \"{h1}\",\n")));
    let template = template(&registry);
    let method = format!("repository_template = \"{template}\"\n    include = [\"*/*\"]");
    configure(
        &mut lab,
        &format!("provider_installation {{\n  oci_mirror {{\n    {method}\n  }}\n}}\n"),
    );
    lab.write(
        "demo_1.0.0.zip",
        Packages::recorded().zip("demo/1.0.0/linux_amd64"),
    );
    let here = |lab: &Lab| {
        let rows = all_rows(lab, &["--flavor", "opentofu", "--platform", "linux_amd64"]);
        let mut rows = rows
            .into_iter()
            .filter(|row| is_here(row) && row["route"] == "here");
        let row = rows
            .find(|row| row["provider"] == "registry.opentofu.org/acme/demo")
            .unwrap();
        (row["outcome"].clone(), row["title"].clone())
    };
    if lockctl::platform::Platform::current().to_string() == "linux_amd64" {
        assert_eq!(
            here(&lab),
            (json!("fails"), json!("Failed to install provider"))
        );
    }
    let outcome = lab.run(&[
        "lock",
        "--no-cache",
        "--flavor",
        "opentofu",
        "--installation",
        "cli",
        "--platform",
        "linux_amd64",
    ]);
    assert_exit(&outcome, 0);
    assert_eq!(
        lab.read(LOCK),
        entry(&format!("    \"{h1}\",\n    \"{zh}\",\n"))
    );
    if lockctl::platform::Platform::current().to_string() == "linux_amd64" {
        assert_eq!(here(&lab).0, json!("passes"));
    }
}

#[test]
fn a_broken_template_stops_the_run() {
    let (registry, mut lab) = lab();
    publish(&registry, "ok");
    let template = format!("{}/UP/${{namespace}}/${{type}}", registry.domain());
    configure(
        &mut lab,
        &format!(
            "provider_installation {{\n  oci_mirror {{\n    repository_template = \"{template}\"\n    include \
             = [\"*/*\"]\n  }}\n}}\n"
        ),
    );
    let outcome = lab.run(&["lock", "--flavor", "opentofu", "--installation", "cli"]);
    assert_exit(&outcome, 2);
    outcome.stderr_has("Invalid oci_mirror repository template");
    assert!(registry.lines().is_empty());
}
