//! `lock` from registries: what is said, what is asked, and of whom.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicUsize;

use super::files::Busy;
use super::*;
use crate::disk::Changed;
use crate::registry::{Origin, Registry};
use crate::scenarios::Packages;

pub(super) const DEMO: &str = "\
terraform {
  required_providers {
    demo = {
      source  = \"acme/demo\"
      version = \"~> 1.0.0\"
    }
  }
}
";

pub(super) const TWO: &[&str] = &["--platform", "linux_amd64,darwin_arm64"];

/// A root that requires a provider of the default registry, which the double stands in for.
pub(super) fn with_registry(config: &str) -> (Registry, Lab) {
    let registry = Registry::start();
    Packages::recorded().publish(&registry);
    let mut lab = Lab::new();
    point_at(&mut lab, &registry);
    lab.write("main.tf", config);
    (registry, lab)
}

pub(super) fn point_at(lab: &mut Lab, registry: &Registry) {
    let url = registry.url(Origin::Lab);
    let hosts = ["registry.terraform.io", "registry.opentofu.org"].map(|host| {
        let service = format!("{{ \"providers.v1\" = \"{url}/v1/providers/\" }}");
        format!("host \"{host}\" {{\n  services = {service}\n}}\n")
    });
    lab.write("rc", hosts.concat());
    for (name, value) in [
        ("SSL_CERT_FILE", registry.ca_file()),
        ("SSL_CERT_DIR", "/nonexistent".into()),
        ("TF_CLI_CONFIG_FILE", lab.path("rc")),
        ("HOME", lab.path("home")),
        // Where the system does not say another place, as Windows and macOS do.
        ("XDG_CACHE_HOME", lab.path("home/.cache")),
    ] {
        lab.set(name, value);
    }
}

/// Locks without the store of facts: what is asked and downloaded does not depend on earlier runs.
pub(super) fn lock(lab: &Lab, more: &[&str]) -> Outcome {
    lab.run(&[&["lock", "--no-cache", "--flavor", "terraform@1.11"], more].concat())
}

/// Makes a text the same on every run: ports and key ids.
pub(super) fn steady(registry: &Registry, text: &str) -> String {
    let port = |origin| format!("127.0.0.1:{}", registry.port(origin));
    let key = crate::registry::TestKey::Main.id();
    text.replace(&port(Origin::Lab), "REGISTRY")
        .replace(&port(Origin::Files), "FILES")
        .replace(
            &format!("localhost:{}", registry.port(Origin::Lab)),
            "LOCALHOST",
        )
        .replace(&key, "KEYID")
}

#[test]
fn what_is_signed_and_proven_is_reported() {
    let (registry, lab) = with_registry(DEMO);
    let outcome = lock(&lab, TWO).exits(0);
    steady(&registry, &outcome.stdout).reads(str![[r#"
acme/demo  1.0.0  ~> 1.0.0  selected  2 platforms  6 hashes added  self-signed, key ID KEYID
6 hashes added: 4 signed, 2 proven
created .terraform.lock.hcl

"#]]);
    outcome.stderr_eq(str![[r#"
note: acme/demo 1.2.0 is available, a minor upgrade from 1.0.0

"#]]);

    let before = lab.read(LOCK);
    let outcome = lock(&lab, &["--platform", "windows_amd64", "-v"]).exits(0);
    outcome.stdout_has("1 hash added, 2 kept");
    let provenances = |word: &str| outcome.stdout.matches(&format!("  {word}")).count();
    assert_eq!([provenances("signed"), provenances("proven")], [4, 1]);
    for hash in before.lines().filter(|line| line.contains(':')) {
        assert!(lab.read(LOCK).contains(hash), "nothing is lost");
    }
}

#[test]
fn all_platforms_are_those_that_have_a_package_whatever_the_list_of_versions_states() {
    let (registry, lab) = with_registry(DEMO);
    let locked = || {
        std::fs::remove_file(lab.path(LOCK)).ok();
        let outcome = lock(&lab, &["--platform", "all"]).exits(0);
        outcome.stderr_lacks("skipped");
        lab.read(LOCK)
    };
    let all = locked();
    assert!(all.matches("h1:").count() >= 3, "{all}");
    let listed = |platforms: Value| {
        let version = json!({"version": "1.0.0", "protocols": ["5.0"], "platforms": platforms});
        json!({"rules": [
            {"kind": "versions", "action": "patch", "times": -1, "set": {"versions": [version]}},
        ]})
    };
    for platforms in [
        json!(null),
        json!([]),
        json!([{"os": "linux", "arch": "amd64"}]),
    ] {
        registry.reset(&listed(platforms.clone()));
        assert_eq!(locked(), all, "{platforms}");
    }
}

#[test]
fn json_of_lock_names_keys_and_provenances() {
    let (registry, lab) = with_registry(DEMO);
    let outcome = lock(&lab, &["--platform", "linux_amd64", "--format", "json"]).exits(0);
    let said: Value = serde_json::from_str(&steady(&registry, &outcome.stdout)).unwrap();
    let provider = &said["roots"][0]["providers"][0];
    assert_eq!(
        provider["signers"],
        json!([{"class": "self-signed", "key_id": "KEYID"}])
    );
    let hashes = provider["hashes"].as_array().unwrap().iter();
    let words: Vec<&str> = hashes.map(|h| h["provenance"].as_str().unwrap()).collect();
    assert_eq!(words, ["proven", "signed", "signed", "signed", "signed"]);
    // Every hash has its evidence: the line of the signed list, the key, and the package if it was read.
    let zip = "terraform-provider-demo_1.0.0_linux_amd64.zip";
    let package = format!("https://FILES/files/acme/demo/1.0.0/{zip}");
    let of_package = json!({"file": zip, "key_id": "KEYID", "package": package});
    let hashes = || provider["hashes"].as_array().unwrap().iter();
    let (looked_at, others): (Vec<&Value>, Vec<&Value>) =
        hashes().partition(|hash| hash["evidence"].get("package").is_some());
    let schemes = looked_at
        .iter()
        .map(|hash| &hash["hash"].as_str().unwrap()[..3]);
    assert_eq!(schemes.collect::<Vec<_>>(), ["h1:", "zh:"]);
    assert!(looked_at.iter().all(|hash| hash["evidence"] == of_package));
    let mut files: Vec<&str> = others
        .iter()
        .map(|hash| hash["evidence"]["file"].as_str().unwrap())
        .collect();
    files.sort_unstable();
    assert_eq!(
        files,
        [
            "terraform-provider-demo_1.0.0_darwin_arm64.zip",
            "terraform-provider-demo_1.0.0_linux_arm64.zip",
            "terraform-provider-demo_1.0.0_windows_amd64.zip",
        ]
    );
    assert!(outcome.stderr.is_empty());
}

#[test]
fn requests_are_shown_on_demand_only() {
    let (registry, lab) = with_registry(DEMO);
    let one = ["--platform", "linux_amd64"];
    lock(&lab, &one).stderr_lacks("GET");
    let outcome = lock(&lab, &[&one as &[&str], &["-v"]].concat());
    let mut lines: Vec<String> = steady(&registry, &outcome.stderr)
        .lines()
        .filter(|line| line.starts_with("GET"))
        .map(|line| line.split(':').take(2).collect::<Vec<_>>().join(":"))
        .collect();
    lines.sort();
    lines.join("\n").reads(str![[r#"
GET https://FILES/files/acme/demo/1.0.0/terraform-provider-demo_1.0.0_SHA256SUMS
GET https://FILES/files/acme/demo/1.0.0/terraform-provider-demo_1.0.0_SHA256SUMS.sig
GET https://FILES/files/acme/demo/1.0.0/terraform-provider-demo_1.0.0_linux_amd64.zip
GET https://REGISTRY/v1/providers/acme/demo/1.0.0/download/linux/amd64
GET https://REGISTRY/v1/providers/acme/demo/versions
"#]]);
}

/// Locks with a fault and returns what is said on standard error.
#[track_caller]
pub(super) fn failing(config: &str, knobs: &Value) -> String {
    let (registry, lab) = with_registry(config);
    registry.reset(knobs);
    let outcome = lock(&lab, &["--platform", "linux_amd64"]).exits(2);
    assert!(!lab.path(LOCK).exists(), "nothing is written");
    steady(&registry, &outcome.stderr)
}

pub(super) fn rule(kind: &str, action: &str) -> Value {
    json!({"rules": [{"kind": kind, "action": action, "times": -1}]})
}

#[test]
fn a_registry_that_fails_is_named_with_what_it_said() {
    failing(DEMO, &rule("versions", "503")).reads(str![[r#"
error: the versions of registry.terraform.io/acme/demo could not be fetched
  cause: https://REGISTRY/v1/providers/acme/demo/versions answered 503 Service Unavailable after 2 attempts: as told
  help: try again later

"#]]);
    failing(DEMO, &rule("download", "html")).reads(str![[r#"
error: the package of registry.terraform.io/acme/demo 1.0.0 for linux_amd64 could not be fetched
  cause: https://REGISTRY/v1/providers/acme/demo/1.0.0/download/linux/amd64 is not what a registry answers: it is a web page, not a JSON document
  help: check whether a proxy or a login page answers instead; else report it to the operator of the registry

"#]]);
    failing(DEMO, &rule("versions", "401")).reads(str![[r#"
error: the versions of registry.terraform.io/acme/demo could not be fetched
  cause: registry.terraform.io requires credentials: https://REGISTRY/v1/providers/acme/demo/versions answered 401: as told
  help: give a token for registry.terraform.io: in TF_TOKEN_registry_terraform_io, or by `terraform login registry.terraform.io`

"#]]);
    failing(DEMO, &rule("shasums", "404")).reads(str![[r#"
error: the package of registry.terraform.io/acme/demo 1.0.0 for linux_amd64 could not be fetched
  cause: https://FILES/files/acme/demo/1.0.0/terraform-provider-demo_1.0.0_SHA256SUMS answered 404 Not Found: as told
  help: report it to the operator of the registry

"#]]);
}

#[test]
fn what_does_not_exist_is_named() {
    let config = |source: &str| DEMO.replace("acme/demo", source);
    failing(&config("acme/gone"), &json!({})).reads(str![[r#"
error: the registry of registry.terraform.io has no provider registry.terraform.io/acme/gone
  cause: required in main.tf:5 ("~> 1.0.0")
  help: check the source address; a provider without one in required_providers is taken for one of the namespace hashicorp

"#]]);
    let mix = config("acme/protomix").replace("~> 1.0.0", ">= 1.0.0");
    failing(&mix, &json!({})).reads(str![[r#"
error: registry.terraform.io/acme/protomix 2.0.0 for linux_amd64 supports plugin protocol 99.0 only; the programs support 5 and 6
  help: the newest version that does is 1.0.0: require that one

"#]]);
}

#[test]
fn what_goes_for_all_platforms_is_reported_once() {
    let (registry, lab) = with_registry(DEMO);
    registry.reset(&rule("download", "wrong_platform"));
    let outcome = lock(&lab, &["--platform", "linux_amd64,darwin_arm64"]).exits(2);
    steady(&registry, &outcome.stderr).reads(str![[r#"
error: the package of registry.terraform.io/acme/demo 1.0.0 for darwin_arm64 could not be fetched
  cause: https://REGISTRY/v1/providers/acme/demo/1.0.0/download/darwin/arm64 answers for darwin_mips, not for darwin_arm64
  cause: the same applies to linux_amd64
  help: report it to the operator of the registry

"#]]);
}

#[test]
fn a_provider_that_moved_is_named_by_its_new_address() {
    let legacy = json!({"id": "-/gone", "moved_to": "acme/demo"}).to_string();
    let knobs = json!({"rules": [
        {"kind": "versions", "action": "404", "path": "hashicorp/gone"},
        {"kind": "versions", "action": "answer", "path": "/-/gone", "text": legacy},
    ]});
    failing("resource \"gone_thing\" \"x\" {}\n", &knobs).reads(str![[r#"
error: the registry of registry.terraform.io has no provider registry.terraform.io/hashicorp/gone
  cause: required in main.tf:1
  help: the registry publishes it as acme/demo: write source = "acme/demo" in required_providers

"#]]);
}

#[test]
fn two_unknown_providers_are_not_named_for_each_other() {
    let requiring = |sources: [&str; 2]| {
        let [first, second] = sources;
        format!(
            "terraform {{\n  required_providers {{\n    a = {{ source = \"{first}\" }}\n    b = {{ source = \"{second}\" }}\n  }}\n}}\n"
        )
    };
    let said = failing(&requiring(["acme/gone", "other/gone"]), &json!({}));
    said.lacks("did you mean");
    said.has("other/gone\n");
    let said = failing(&requiring(["acme/demo", "hashicorp/demo"]), &json!({}));
    said.has("did you mean acme/demo, required in main.tf:3? write source = \"acme/demo\"");
}

#[test]
fn other_ways_of_serving_give_the_same_lock() {
    let (registry, lab) = with_registry(DEMO);
    assert_exit(&lock(&lab, TWO), 0);
    let wanted = lab.read(LOCK);
    let protocols: Vec<String> = registry.entries().into_iter().map(|e| e.protocol).collect();
    assert!(
        protocols.iter().all(|protocol| protocol == "HTTP/2.0"),
        "{protocols:?}"
    );

    let registry = Registry::start_with(&crate::registry::Options {
        names: Vec::new(),
        http1_only: true,
    });
    Packages::recorded().publish(&registry);
    let mut lab = Lab::new();
    point_at(&mut lab, &registry);
    lab.write("main.tf", DEMO);
    for knobs in [
        json!({}),
        json!({"gzip": true}),
        json!({"redirects": 9}),
        json!({"relative_urls": true}),
        json!({"rules": [{"kind": "package", "action": "truncate"}]}),
        json!({"ranges": false, "rules": [{"kind": "package", "action": "reset_mid"}]}),
    ] {
        registry.reset(&knobs);
        let _ = std::fs::remove_file(lab.path(LOCK));
        assert_exit(&lock(&lab, TWO), 0);
        assert_eq!(lab.read(LOCK), wanted, "{knobs}");
    }
    assert!(
        registry
            .entries()
            .iter()
            .all(|entry| entry.protocol == "HTTP/1.1")
    );
    registry.reset(&json!({"redirects": 10}));
    lock(&lab, TWO).stderr_has("redirected more than 9 times");
}

#[test]
fn packages_are_fetched_side_by_side_and_not_all_at_once() {
    let (registry, lab) = with_registry(DEMO);
    let all = [
        "--platform",
        "linux_amd64,linux_arm64,darwin_arm64,windows_amd64",
    ];
    let stalled = json!({"rules": [
        {"kind": "package", "action": "stall", "seconds": 0.5, "times": -1},
    ]});
    registry.reset(&stalled);
    assert_exit(&lock(&lab, &all), 0);
    assert!((2..=4).contains(&registry.most_in_flight(Origin::Files)));
    std::fs::remove_file(lab.path(LOCK)).unwrap();
    registry.reset(&stalled);
    lock(&lab, &[&all as &[&str], &["--jobs", "1"]].concat()).exits(0);
    // The checksum list and its signature may be asked for together.
    assert!(registry.most_in_flight(Origin::Files) <= 2);
}

/// Returns how often each path was asked for.
pub(super) fn requests(registry: &Registry) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for entry in registry.entries() {
        *counts.entry(entry.target).or_default() += 1;
    }
    counts
}

#[test]
fn roots_of_one_run_ask_and_download_once() {
    let (registry, lab) = with_registry(DEMO);
    let both = "platforms = [\"linux_amd64\", \"darwin_arm64\"]\n";
    lab.write("a/main.tf", DEMO)
        .write("b/main.tf", DEMO)
        .write("c/main.tf", DEMO)
        .write(".lockctl.hcl", "platforms = [\"linux_amd64\"]\n")
        .write("c/.lockctl.hcl", both);
    assert_exit(&lock(&lab, &["c"]), 0);
    let alone = (lab.read("c/.terraform.lock.hcl"), requests(&registry));
    std::fs::remove_file(lab.path("c/.terraform.lock.hcl")).unwrap();
    registry.reset(&json!({}));

    // Together they need what the one with most platforms needs alone.
    assert_exit(&lock(&lab, &["a", "b", "c"]), 0);
    assert_eq!(
        lab.read("a/.terraform.lock.hcl"),
        lab.read("b/.terraform.lock.hcl")
    );
    let together = (lab.read("c/.terraform.lock.hcl"), requests(&registry));
    assert_eq!(together, alone);
    assert!(together.1.values().all(|count| *count == 1), "{together:?}");
}

#[test]
fn a_root_that_fails_stops_no_other_and_costs_nothing() {
    let (registry, lab) = with_registry(DEMO);
    let gone = DEMO.replace("acme/demo", "acme/gone");
    let refused = DEMO.replace("~> 1.0.0", "> 9");
    lab.write("a/main.tf", gone)
        .write("b/main.tf", DEMO)
        .write("c/main.tf", refused);
    let outcome = lock(&lab, &["a", "b", "c", "--platform", "linux_amd64"]).exits(2);
    steady(&registry, &outcome.stderr).reads(str![[r#"
error: a: the registry of registry.terraform.io has no provider registry.terraform.io/acme/gone
  cause: required in a/main.tf:5 ("~> 1.0.0")
  help: check the source address; a provider without one in required_providers is taken for one of the namespace hashicorp
error: c: no offered version of registry.terraform.io/acme/demo meets the constraints "> 9.0.0"
  cause: "> 9.0.0" at c/main.tf:5 does not allow any of the 4 offered versions
  help: to select 1.2.0, change "> 9.0.0" at c/main.tf:5

"#]]);
    let locked = ["a", "b", "c"].map(|root| lab.path(root).join(LOCK).exists());
    assert_eq!(locked, [false, true, false]);
    let zips = requests(&registry);
    let zips = zips.keys().filter(|path| path.ends_with(".zip"));
    assert_eq!(zips.count(), 1);
}

#[test]
fn only_the_root_whose_lock_file_changed_starts_over() {
    let (registry, lab) = with_registry(DEMO);
    lab.write("a/main.tf", DEMO).write("b/main.tf", DEMO);
    // When the first root is written, somebody else writes the second one.
    let busy = Changed(Busy {
        path: lab.path("b").join(LOCK),
        left: AtomicUsize::new(1),
    });
    let args = ["lock", "--flavor", "terraform@1.11", "a", "b"];
    let outcome = lab.run_on(&busy, &[&args, &["--platform", "linux_amd64"][..]].concat());
    assert_exit(&outcome, 0);
    assert_eq!(
        lab.read("a/.terraform.lock.hcl"),
        lab.read("b/.terraform.lock.hcl")
    );
    let note = "note: b: a rewrite drops 1 comment";
    assert_eq!(outcome.stderr.matches(note).count(), 1, "{outcome:?}");
    let zips = requests(&registry);
    let mut zips = zips.iter().filter(|(path, _)| path.ends_with(".zip"));
    assert_eq!(zips.next().map(|(_, count)| *count), Some(1));
    assert_eq!(
        zips.next(),
        None,
        "the package is known when the root starts over"
    );
}

#[test]
fn what_is_announced_and_not_there_is_reported() {
    let (registry, lab) = with_registry(DEMO);
    let gone = |path: &str| json!({"rules": [{"kind": "download", "action": "404", "times": -1, "path": path}]});
    registry.reset(&gone("darwin/arm64"));
    lock(&lab, &["-q"]).exits(0).stderr_eq(str![[r#"
warning: acme/demo 1.0.0 is listed for darwin_arm64, but there is no package

"#]]);
    registry.reset(&gone("download"));
    lock(&lab, &[]).exits(2).stderr_eq(str![[r#"
error: registry.terraform.io/acme/demo 1.0.0 has no package for any wanted platform, although its registry lists some
  help: try again later, or report it to the operator of the registry

"#]]);
}

#[test]
fn the_publisher_of_a_well_known_type_is_suggested() {
    for (name, namespace) in [("github", "integrations"), ("cloudflare", "cloudflare")] {
        let (source, meant) = (format!("hashicorp/{name}"), format!("{namespace}/{name}"));
        let (_registry, lab) = with_registry(&DEMO.replace("acme/demo", &source));
        let outcome = lock(&lab, TWO).exits(2);
        let wanted = format!("help: did you mean {meant}? write source = \"{meant}\"");
        outcome.stderr_has(&wanted);
    }
}

#[test]
fn a_package_that_a_caching_proxy_holds_back_for_35_s_is_waited_for() {
    let (registry, mut lab) = with_registry(DEMO);
    lab.hurry = 100;
    registry.reset(&json!({"rules": [
        {"kind": "package", "action": "stall", "seconds": 0.35, "times": 1},
    ]}));
    lock(&lab, &["--platform", "linux_amd64"]).exits(0);
    let zips = registry.entries().into_iter();
    let zips = zips.filter(|entry| entry.target.ends_with(".zip"));
    assert_eq!(zips.count(), 1, "it was asked for once");
}

#[test]
fn a_broken_package_goes_on_where_it_broke_off() {
    let (registry, lab) = with_registry(DEMO);
    registry.reset(&json!({"rules": [{"kind": "package", "action": "truncate"}]}));
    assert_exit(&lock(&lab, &["--platform", "linux_amd64"]), 0);
    let entries = registry.entries();
    let zips = entries
        .iter()
        .filter(|entry| entry.target.ends_with(".zip"));
    let statuses: Vec<Option<u16>> = zips.clone().map(|entry| entry.status).collect();
    assert_eq!(statuses, [Some(200), Some(206)]);
    let ranges: Vec<bool> = zips.map(|entry| entry.header("range").is_some()).collect();
    assert_eq!(ranges, [false, true]);
}

#[test]
fn a_server_is_left_alone_as_long_as_it_asks() {
    let (registry, lab) = with_registry(DEMO);
    registry.reset(&json!({"rules": [
        {"kind": "versions", "action": "429", "retry_after": 7},
        {"kind": "package", "action": "503", "retry_after": 9, "method": "GET"},
    ]}));
    assert_exit(&lock(&lab, &["--platform", "linux_amd64"]), 0);
    let slept: Vec<u64> = lab
        .clock
        .slept()
        .iter()
        .map(|wait| wait.as_secs())
        .collect();
    assert_eq!(slept, [7, 9]);
}
