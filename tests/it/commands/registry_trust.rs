//! `lock` from registries: what is not believed, and who gets which credentials.

use super::registry::{DEMO, TWO, failing, lock, rule, steady, with_registry};
use super::*;
use crate::registry::{Origin, Registry};
use crate::scenarios::Packages;

/// Signs a new list for `acme/demo` 1.0.0: the recorded hashes, and another zip for linux_arm64.
fn sign_anew(registry: &Registry, locked: &str) {
    let old: String = locked.lines().filter_map(sums_line).collect();
    let evil = crate::lab::zip_of(&[("terraform-provider-demo_v1.0.0", "evil")]);
    let name = "terraform-provider-demo_1.0.0_linux_arm64.zip";
    let own = Packages::recorded().zip("demo/1.0.0/linux_amd64");
    let lines = [
        (&evil, name),
        (&own, "terraform-provider-demo_1.0.0_linux_amd64.zip"),
    ];
    let new = lines.map(|(zip, name)| format!("{}  {name}\n", crate::registry::sha256_hex(zip)));
    registry.add_zip("acme/demo", "1.0.0", "linux_arm64", &evil);
    registry.replace_sums("acme/demo", "1.0.0", (new.concat() + &old).as_bytes());
    registry.reset(&json!({}));
}

#[test]
fn a_list_that_was_signed_anew_does_not_let_another_zip_in() {
    let all = "linux_amd64,linux_arm64,darwin_arm64,windows_amd64";
    for (before, sums) in [
        ("linux_amd64", json!(["manifest"])),
        (all, json!([])),
        ("linux_amd64,linux_arm64", json!([])),
    ] {
        let (registry, lab) = with_registry(DEMO);
        registry.reset(&json!({"sums": sums}));
        assert_exit(&lock(&lab, &["--platform", before]), 0);
        let good = lab.read(LOCK);
        sign_anew(&registry, &good);
        for option in [&[][..], &["--repair"]] {
            let platforms = ["--platform", "linux_amd64,linux_arm64"];
            let outcome = lock(&lab, &[option, &platforms].concat()).exits(1);
            outcome.stderr_has("does not match the lock file");
        }
        assert_eq!(lab.read(LOCK), good);
    }
}

#[test]
fn an_h1_of_nothing_is_an_alarm_beside_a_manifest_line_too() {
    let (registry, lab) = with_registry(DEMO);
    registry.reset(&json!({"sums": ["manifest"]}));
    assert_exit(&lock(&lab, &["--platform", "all"]), 0);
    let slipped = format!("  hashes = [\n    \"h1:{}=\",", "A".repeat(43));
    lab.write(LOCK, lab.read(LOCK).replace("  hashes = [", &slipped));
    let outcome = lock(&lab, &["--platform", "all"]).exits(1);
    outcome.stderr_has("contradict a hash");
}

#[test]
fn a_list_of_its_own_for_each_platform_is_no_contradiction() {
    let (registry, lab) = with_registry(DEMO);
    for platform in ["linux_amd64", "darwin_arm64"] {
        let zip = Packages::recorded().zip(&format!("demo/1.0.0/{platform}"));
        let name = format!("terraform-provider-demo_1.0.0_{platform}.zip");
        let sums = format!("{}  {name}\n", crate::registry::sha256_hex(&zip));
        registry.replace_sums("acme/demo", "1.0.0", sums.as_bytes());
        assert_exit(&lock(&lab, &["--platform", platform]), 0);
    }
    assert_eq!(lab.read(LOCK).matches("\"zh:").count(), 2);
}

/// A line of a checksum document for a recorded `zh:`, under a name of no importance.
fn sums_line(line: &str) -> Option<String> {
    let hex = line.trim().strip_prefix("\"zh:")?.strip_suffix("\",")?;
    Some(format!("{hex}  old-{}.zip\n", &hex[..8]))
}

/// Returns the origins that were asked, each with whether any request had credentials.
fn credentials_sent(registry: &Registry) -> Vec<(Origin, bool)> {
    let mut sent: Vec<(Origin, bool)> = Vec::new();
    for entry in registry.entries() {
        let has = entry.header("authorization").is_some();
        match sent.iter_mut().find(|(origin, _)| *origin == entry.origin) {
            Some((_, any)) => *any |= has,
            None => sent.push((entry.origin, has)),
        }
    }
    sent.sort();
    sent
}

#[test]
fn a_token_never_leaves_its_origin() {
    let (home, mut lab) = with_registry("");
    let elsewhere = Registry::start();
    Packages::recorded().publish(&elsewhere);
    let host = format!("localhost:{}", home.port(Origin::Lab));
    lab.write(
        "main.tf",
        DEMO.replace("acme/demo", &format!("{host}/acme/demo")),
    );
    let token = format!("TF_TOKEN_{host}");
    lab.set(&token, "do-not-show");
    let away = |kind: &str| {
        let to = format!("{}{{path}}?away", elsewhere.url(Origin::Lab));
        json!({"token": "do-not-show", "rules": [{
            "kind": kind, "action": "answer", "status": 302, "headers": {"Location": to},
        }]})
    };
    for kind in ["versions", "download", "shasums", "signature", "package"] {
        home.reset(&away(kind));
        elsewhere.reset(&json!({}));
        let _ = std::fs::remove_file(lab.path(LOCK));
        let outcome = lock(&lab, &["--platform", "linux_amd64", "-v"]).exits(0);
        let sent_at_home = credentials_sent(&home).into_iter().filter(|(_, any)| *any);
        assert_eq!(
            sent_at_home.collect::<Vec<_>>(),
            [(Origin::Lab, true)],
            "{kind}"
        );
        assert!(!elsewhere.entries().is_empty(), "{kind}");
        assert!(
            credentials_sent(&elsewhere).iter().all(|(_, any)| !any),
            "{kind}"
        );
        let said = outcome.stdout + &outcome.stderr;
        said.lacks("do-not-show");
    }
    // From the host of the discovery document as well, which needs no token here.
    home.reset(&away("discovery"));
    elsewhere.reset(&json!({}));
    let _ = std::fs::remove_file(lab.path(LOCK));
    lock(&lab, &["--platform", "linux_amd64"]);
    let first = &elsewhere.entries()[0];
    assert_eq!(first.header("authorization"), None);
}

#[test]
fn a_token_is_not_sent_over_plain_http() {
    let (registry, mut lab) = with_registry(DEMO);
    let service = format!("{}/v1/providers/", registry.url(Origin::Plain));
    let config = format!(
        "host \"registry.terraform.io\" {{\n  services = {{ \"providers.v1\" = \"{service}\" }}\n}}\n"
    );
    lab.write("rc", config);
    lab.set("TF_TOKEN_registry_terraform_io", "do-not-show");
    assert_exit(&lock(&lab, &["--platform", "linux_amd64"]), 0);
    assert!(credentials_sent(&registry).iter().all(|(_, any)| !any));
}

#[test]
fn a_password_of_netrc_is_not_sent_over_plain_http() {
    let (registry, lab) = with_registry(DEMO);
    let host = format!("127.0.0.1:{}", registry.port(Origin::Plain));
    lab.write(
        "home/.netrc",
        format!("machine {host}\nlogin me\npassword word\n"),
    );
    registry.reset(&json!({"rules": [{
        "kind": "download", "action": "patch", "times": -1, "set": {"download_url": format!(
            "http://{host}/files/acme/demo/1.0.0/terraform-provider-demo_1.0.0_linux_amd64.zip"
        )},
    }]}));
    assert_exit(&lock(&lab, &["--platform", "linux_amd64"]), 0);
    assert!(credentials_sent(&registry).contains(&(Origin::Plain, false)));
}

#[test]
fn a_broken_cli_configuration_stops_without_showing_its_tokens() {
    let (_registry, lab) = with_registry(DEMO);
    lab.write(
        "rc",
        "credentials \"a.example\" {\n  token = \"do-not-show\n}\n",
    );
    let outcome = lock(&lab, &[]).exits(2);
    let said = outcome.stdout + &outcome.stderr;
    said.has("rc:2:");
    said.lacks("do-not-show");
    let outcome = lock(&lab, &["--cli-config", "missing"]).exits(2);
    outcome.stderr_has("missing");
}

#[test]
fn a_package_of_another_name_is_locked_with_a_warning() {
    let (registry, lab) = with_registry(DEMO);
    registry.reset(&json!({"rules": [{
        "kind": "download", "action": "patch", "times": -1, "set": {
            "filename": "terraform-provider-demo_1.0.0_linux_arm64.zip",
        },
    }]}));
    let outcome = lock(&lab, &["--platform", "linux_amd64"]);
    // The list states another hash under that name.
    assert_exit(&outcome, 2);
    let zip = Packages::recorded().zip("demo/1.0.0/linux_amd64");
    let line = format!("{}  demo.zip\n", crate::registry::sha256_hex(&zip));
    registry.replace_sums("acme/demo", "1.0.0", line.as_bytes());
    registry.reset(&json!({"rules": [{
        "kind": "download", "action": "patch", "times": -1, "set": {"filename": "demo.zip"},
    }]}));
    lock(&lab, &["--platform", "linux_amd64", "-q"]).exits(0).stderr_eq(str![[r#"
warning: the package of acme/demo 1.0.0 for linux_amd64 is signed under the name "demo.zip": only the registry states that it is this version and platform

"#]]);
}

#[test]
fn a_release_without_keys_is_refused_whatever_the_program_from_other_hosts() {
    let (registry, lab) = with_registry(DEMO);
    registry.reset(&json!({"no_keys": true}));
    let elsewhere = format!("localhost:{}/acme/demo", registry.port(Origin::Lab));
    for (flavor, source) in [
        ("opentofu", elsewhere.as_str()),
        ("opentofu", "registry.terraform.io/acme/demo"),
        ("terraform", "acme/demo"),
    ] {
        lab.write("main.tf", DEMO.replace("acme/demo", source));
        let outcome = lab.run(&["lock", "--flavor", flavor, "--platform", "linux_amd64"]);
        assert_exit(&outcome, 2);
        let said = &outcome.stderr;
        let help = "`init` refuses the package, too";
        said.has("names no signing key");
        said.has(help);
        assert!(!lab.path(LOCK).exists());
    }
}

#[test]
fn a_release_of_opentofu_s_registry_without_keys_is_shown_as_what_it_is() {
    let (registry, lab) = with_registry(DEMO);
    registry.reset(&json!({"no_keys": true}));
    let args = ["lock", "--flavor", "opentofu", "--platform", "linux_amd64"];
    let outcome = lab.run(&[&args[..], &["-v"]].concat()).exits(0);
    // Requests are made side by side.
    let said = format!("{}{}", outcome.stdout, outcome.stderr);
    let lines = said.lines().filter(|line| !line.starts_with("GET "));
    let said: String = lines.map(|line| format!("{line}\n")).collect();
    steady(&registry, &said).reads(str![[r#"
acme/demo  1.0.0  ~> 1.0.0  selected  1 platform  5 hashes added
    h1:AzthgEmn5NwxdRL0khdiFc6UynfM+QgLCiAzqwrkoUY=  computed, linux_amd64
    zh:275a11312187e269df2df09571579c85f44f0dea0ed4edb1b97e1bc1ea1e4b8e  claimed
    zh:305f2feec166f157a0df602b52d0b4dfba43f7bd1f4639061f420b3aa3dff8af  claimed
    zh:d03d04fa877a789654ce1d7c24e5c71e1a997e7a97ca4a419f7f09f37ed081a5  computed
    zh:dc98abd4c18a0b510a435d11b1ca0f756226b87d668898e8f22b9044483c2896  claimed
5 hashes added: 2 computed and not covered by a signature, 3 claimed
created .terraform.lock.hcl
terraform-provider-demo_1.0.0_linux_amd64.zip: complete, 305 bytes
warning: acme/demo 1.0.0 is not signed: registry.opentofu.org names no key, and OpenTofu accepts that
note: acme/demo 1.2.0 is available, a minor upgrade from 1.0.0
note: 3 hashes of 1 provider are claimed by registry.opentofu.org, and nothing proves them

"#]]);
    // Every recorded hash is compared with the list, whether that is signed or not.
    let lock = lab.read(LOCK);
    let other = format!("zh:{}", "0".repeat(64));
    lab.write(
        LOCK,
        lock.replacen("    \"zh:", &format!("    \"{other}\",\n    \"zh:"), 1),
    );
    let before = lab.read(LOCK);
    let outcome = lab.run(&args).exits(1);
    let said =
        "the checksums, which no key signs, of registry.opentofu.org/acme/demo 1.0.0 contradict";
    outcome.stderr_has(said);
    assert_eq!(lab.read(LOCK), before);
}

#[test]
fn unsigned_releases_can_be_refused() {
    let (registry, mut lab) = with_registry(DEMO);
    registry.reset(&json!({"no_keys": true}));
    let args = ["lock", "--flavor", "opentofu", "--platform", "linux_amd64"];
    lab.write(".lockctl.hcl", "trust {\n  require_signature = true\n}\n");
    lab.run(&args).exits(2).stderr_has("is not signed");
    lab.write(".lockctl.hcl", "");
    lab.set("OPENTOFU_ENFORCE_GPG_VALIDATION", "true");
    let outcome = lab.run(&args).exits(2);
    outcome.stderr_has("OPENTOFU_ENFORCE_GPG_VALIDATION");
    // Any other value is none to OpenTofu.
    lab.set("OPENTOFU_ENFORCE_GPG_VALIDATION", "1");
    assert_exit(&lab.run(&args), 0);
}

#[test]
fn evidence_that_does_not_hold_is_reported_before_any_download() {
    let (registry, lab) = with_registry(DEMO);
    registry.reset(&rule("signature", "other_key"));
    let outcome = lock(&lab, TWO).exits(2);
    let stranger = crate::registry::TestKey::Stranger.id();
    steady(&registry, &outcome.stderr).replace(&stranger, "STRANGER").reads(str![[r#"
error: the package of registry.terraform.io/acme/demo 1.0.0 for darwin_arm64, offered as https://FILES/files/acme/demo/1.0.0/terraform-provider-demo_1.0.0_darwin_arm64.zip, cannot be trusted
  cause: the document is signed by key STRANGER, but the registry names KEYID
  cause: the same applies to linux_amd64
  help: nothing was written or downloaded; report it to the publisher of the provider, and do not install it before the cause is known

"#]]);
    let zips = registry
        .entries()
        .into_iter()
        .filter(|e| e.target.ends_with(".zip"));
    assert_eq!(zips.count(), 0);
}

#[test]
fn a_package_that_was_changed_on_the_way_is_refused() {
    let said = failing(DEMO, &rule("package", "flip"));
    said.has("does not match the hash that its registry states");
    let hashes = said.matches(" zh:").count() + said.matches("not zh:").count();
    assert!(hashes >= 2, "both hashes are named: {said}");
}

#[test]
#[cfg_attr(windows, ignore = "the system words its errors otherwise")]
fn a_certificate_of_an_unknown_authority_is_reported_at_once() {
    let (registry, mut lab) = with_registry(DEMO);
    let other = rcgen::generate_simple_self_signed(["other.example".to_owned()]).unwrap();
    lab.write("other.pem", other.cert.pem());
    let path = lab.path("other.pem");
    lab.set("SSL_CERT_FILE", path);
    let outcome = lock(&lab, &[]).exits(2);
    steady(&registry, &outcome.stderr).reads(str![[r#"
error: the versions of registry.terraform.io/acme/demo could not be fetched
  cause: https://REGISTRY/v1/providers/acme/demo/versions could not be fetched
  cause: its certificate cannot be trusted: UnknownIssuer
  help: if the certificate is from an authority of your own, name that authority's certificate in SSL_CERT_FILE

"#]]);
    assert!(lab.clock.slept().is_empty());
}

/// A clock that is wrong is more likely than a publisher whose one is.
#[test]
fn a_signature_from_the_future_leads_to_the_clock() {
    let (registry, lab) = with_registry(DEMO);
    registry.reset(&json!({"sign_with": "sigfuture"}));
    let outcome = lock(&lab, &[]).exits(2);
    outcome.stderr_has("days in the future");
    outcome.stderr_has("check the clock of this machine");
}

#[test]
fn a_key_that_has_expired_counts_with_a_warning() {
    let (registry, mut lab) = with_registry(DEMO);
    registry.reset(&json!({"keys": ["expired"], "sign_with": "expired"}));
    let key = crate::registry::TestKey::Expired.id();
    let said =
        |outcome: &crate::lab::Outcome| steady(&registry, &outcome.stderr).replace(&key, "KEYID");
    let args = words("lock --no-cache --platform linux_amd64 --flavor");
    for flavor in ["opentofu", "terraform"] {
        let outcome = lab.run(&[&args[..], &[flavor]].concat()).exits(0);
        // OpenTofu prints a line that begins with `[WARN]`, in `-json` output too (`sig-key-expired`,
        // `sig-key-expired-json`); Terraform prints nothing.
        said(&outcome).reads(str![[r#"
warning: acme/demo 1.0.0 is signed by key KEYID: the key has expired
note: acme/demo 1.2.0 is available, a minor upgrade from 1.0.0

"#]]);
        std::fs::remove_file(lab.path(LOCK)).unwrap();
    }
    let json = lab.run(&[&args[..], &["opentofu", "--format", "json"]].concat());
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    let finding = &json["roots"][0]["findings"][0];
    assert_eq!(
        [&finding["rule"], &finding["severity"]],
        ["signature-odd", "warning"]
    );
    std::fs::remove_file(lab.path(LOCK)).unwrap();
    let name = "OPENTOFU_ENFORCE_GPG_EXPIRATION";
    lab.set(name, "true");
    let outcome = lab.run(&[&args[..], &["opentofu"]].concat());
    // `sig-key-expired-enforced`: refused by OpenTofu, too.
    assert_exit(&outcome, 2);
    said(&outcome).reads(str![[r#"
error: the package of registry.opentofu.org/acme/demo 1.0.0 for linux_amd64, offered as https://FILES/files/acme/demo/1.0.0/terraform-provider-demo_1.0.0_linux_amd64.zip, cannot be trusted
  cause: the signature by key KEYID is not valid now: the key has expired
  help: nothing was written or downloaded; report it to the publisher of the provider, and do not install it before the cause is known

"#]]);
    assert!(!lab.path(LOCK).exists());
}

#[test]
fn a_hash_that_the_signed_list_does_not_have_is_an_alarm() {
    let (registry, lab) = with_registry(DEMO);
    assert_exit(&lock(&lab, TWO), 0);
    let good = lab.read(LOCK);
    let slipped = format!("  hashes = [\n    \"zh:{}\",", "0".repeat(64));
    let bad = good.replace("  hashes = [", &slipped);
    lab.write(LOCK, &bad);
    lock(&lab, &["--platform", "linux_amd64"]).exits(1).stderr_eq(str![[r#"
error: the signed checksums of registry.terraform.io/acme/demo 1.0.0 contradict a hash of the lock file
  cause: zh:0000000000000000000000000000000000000000000000000000000000000000 is not in the checksums
  help: nothing was written: such a hash accepts a package that no signature covers; find out first where it came from; `lockctl lock . --flavor terraform@1.11 --repair` replaces what is wrong

"#]]);
    assert_eq!(lab.read(LOCK), bad);
    let json = lock(&lab, &["--platform", "linux_amd64", "--format", "json"]);
    let said = json.json();
    assert_eq!(
        said["roots"][0]["findings"][0]["rule"],
        "hashes-contradicted"
    );
    drop(registry);
}

#[test]
fn more_h1_than_the_signed_list_has_room_for_are_an_alarm() {
    let (_registry, lab) = with_registry(DEMO);
    let all = [
        "--platform",
        "linux_amd64,linux_arm64,darwin_arm64,windows_amd64",
    ];
    assert_exit(&lock(&lab, &["--platform", "linux_amd64"]), 0);
    let one = lab.read(LOCK);
    let slipped = format!("  hashes = [\n    \"h1:{}=\",", "A".repeat(43));
    lab.write(LOCK, one.replace("  hashes = [", &slipped));
    // It may be that of a platform that is not looked at.
    assert_exit(&lock(&lab, &["--platform", "linux_amd64"]), 0);
    lock(&lab, &all).exits(1).stderr_has("contradict a hash");
}
