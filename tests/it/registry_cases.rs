//! The recorded cases of the group `registry`: what a signed registry makes of a lock file.
//!
//! The cases name their outcomes by symbols; the states that they start from are set up here, one by
//! one.

use std::collections::{BTreeMap, BTreeSet};

use lockctl::archive::Limits;
use lockctl::archive::zip::hash_zip;
use lockctl::flavor::Flavor;
use serde_json::{Value, json};

use crate::cases;
use crate::lab::{Lab, zip_of};
use crate::registry::{Origin, Registry, sha256_hex};
use crate::scenarios::lock_hashes;

const PLATFORMS: [&str; 3] = ["darwin_arm64", "linux_amd64", "windows_386"];

/// What lockctl does otherwise, and the sentence of the page on differences that says why.
const DIFFERENCES: &[(&str, u8, &str)] = &[
    (
        "registry/signed_init_foreign_h1_only",
        0,
        "An entry that has only hashes of other platforms is completed",
    ),
    (
        "registry/signed_stale_extra",
        1,
        "A recorded `zh:` that the signed list of the release does not have is an alarm",
    ),
    (
        "registry/sums_odd_line",
        2,
        "Any other line that is no checksum is an error",
    ),
    (
        "registry/sums_blank_line",
        0,
        "In a checksum list blank lines",
    ),
    (
        "registry/sums_star",
        0,
        "and the `*` of binary mode before a name",
    ),
];

/// The packages of the cases, and the symbols of their hashes.
struct Packages {
    zips: BTreeMap<&'static str, Vec<u8>>,
    hashes: BTreeMap<String, String>,
}

impl Packages {
    fn new() -> Self {
        let zip = |platform| zip_of(&[("terraform-provider-x", &format!("reg {platform}"))]);
        let zips: BTreeMap<_, _> = PLATFORMS.map(|platform| (platform, zip(platform))).into();
        let mut hashes = BTreeMap::new();
        for (platform, zip) in &zips {
            let hashed = hash_zip(std::io::Cursor::new(zip), &Limits::PACKAGE).unwrap();
            hashes.insert(format!("h1({platform})"), hashed.h1.to_string());
            hashes.insert(format!("zh({platform})"), hashed.zh.to_string());
        }
        let manifest = format!("zh:{}", sha256_hex(b"{}"));
        hashes.insert("zh(manifest.json)".to_owned(), manifest);
        Self { zips, hashes }
    }

    /// The checksum document; `separator` stands before each name.
    fn sums(&self, separator: &str) -> String {
        let mut text = String::new();
        for (platform, zip) in &self.zips {
            let name = format!("terraform-provider-x_1.0.0_{platform}.zip");
            text += &format!("{}{separator}{name}\n", sha256_hex(zip));
        }
        let name = "terraform-provider-x_1.0.0_manifest.json";
        text + &format!("{}{separator}{name}\n", sha256_hex(b"{}"))
    }

    /// The document of a case, and the knobs of its registry.
    fn state(&self, id: &str) -> (String, Value) {
        let good = self.sums("  ");
        let versions = |texts: &[&str]| {
            let versions: Vec<Value> = texts.iter().map(|v| json!({ "version": v })).collect();
            json!({"rules": [{
                "kind": "versions", "action": "patch", "times": -1, "set": {"versions": versions},
            }]})
        };
        let upper = |line: &str| match line.split_once(' ') {
            Some((hex, rest)) => format!("{} {rest}\n", hex.to_uppercase()),
            None => format!("{line}\n"),
        };
        match id.trim_start_matches("registry/") {
            "sums_odd_line" => (good + "not-a-hash-line file\n", json!({})),
            "sums_upper_case" => (good.lines().map(upper).collect(), json!({})),
            "sums_blank_line" => (good + "\n", json!({})),
            "sums_star" => (self.sums(" *"), json!({})),
            "no_keys" => (good, json!({"no_keys": true})),
            "odd_version_word" => (good, versions(&["latest", "1.0.0"])),
            "odd_version_v" => (good, versions(&["v2.0.0", "1.0.0"])),
            "odd_version_four_parts" => (good, versions(&["3.0.0.0", "1.0.0"])),
            "odd_version_short" => (good, versions(&["1.0"])),
            id if id.starts_with("netmirror_") => (good, self.mirror(id)),
            _ => (good, json!({})),
        }
    }

    /// What the network mirror of a case does otherwise.
    fn mirror(&self, id: &str) -> Value {
        let patch = |kind: &str, set: Value| json!({"rules": [{"kind": kind, "action": "patch", "times": -1, "set": set}]});
        let hashes = |hashes: &[&str]| {
            patch(
                "mirror_version",
                json!({"archives/linux_amd64/hashes": hashes}),
            )
        };
        let wrong = format!("zh:{}", "0".repeat(64));
        match id {
            "netmirror_one_bad" => hashes(&[&wrong, &self.hashes["h1(linux_amd64)"]]),
            "netmirror_all_bad" => hashes(&[&wrong]),
            "netmirror_unknown" => hashes(&["h9:abc"]),
            "netmirror_none" => json!({"mirror_hashes": []}),
            "netmirror_odd_versions" => {
                let odd = json!({"versions/latest": {}, "versions/v2.0.0": {}});
                let mut knobs = patch("mirror_index", odd);
                knobs["mirror_hashes"] = json!(["h1"]);
                knobs
            }
            _ => json!({}),
        }
    }

    /// The hashes that a case starts from; none for no lock file.
    fn locked(&self, id: &str) -> Vec<String> {
        let stale = format!("zh:{}", "5".repeat(64));
        let symbols: &[&str] = match id.trim_start_matches("registry/") {
            "signed_init_zh_only_lock" => {
                &["zh(linux_amd64)", "zh(darwin_arm64)", "zh(windows_386)"]
            }
            "signed_init_foreign_h1_only" => &["h1(darwin_arm64)"],
            "signed_init_h1_only_adds_zh" => &["h1(linux_amd64)"],
            "signed_stale_extra" => return vec![self.hashes["zh(linux_amd64)"].clone(), stale],
            _ => &[],
        };
        symbols
            .iter()
            .map(|one| self.hashes[*one].clone())
            .collect()
    }
}

/// What a case came to.
struct Played {
    code: u8,
    said: String,
    hashes: Option<BTreeSet<String>>,
}

fn play(case: &Value, packages: &Packages, flavor: &str) -> Played {
    let id = case["id"].as_str().unwrap();
    let registry = Registry::start();
    for (platform, zip) in &packages.zips {
        registry.add_zip("t/x", "1.0.0", platform, zip);
    }
    let (sums, knobs) = packages.state(id);
    registry.replace_sums("t/x", "1.0.0", sums.as_bytes());
    registry.reset(&knobs);

    let mut lab = Lab::new();
    // As when they were recorded: the registry is asked over plain http.
    let service = format!("{}/v1/providers/", registry.url(Origin::Plain));
    lab.write(
        "rc",
        format!(
            "host \"reg.example\" {{\n  services = {{ \"providers.v1\" = \"{service}\" }}\n}}\n"
        ),
    );
    let ca = registry.ca_file().into();
    lab.env.vars.insert("SSL_CERT_FILE".to_owned(), ca);
    lab.write(
        "main.tf",
        "terraform {\n  required_providers {\n    x = {\n      source  = \"reg.example/t/x\"\n      \
         version = \"1.0.0\"\n    }\n  }\n}\n",
    );
    let locked = packages.locked(id);
    if !locked.is_empty() {
        let lines: String = locked
            .iter()
            .map(|hash| format!("    \"{hash}\",\n"))
            .collect();
        let text = "provider \"reg.example/t/x\" {\n  version     = \"1.0.0\"\n  constraints = \
                    \"1.0.0\"\n  hashes = [\n";
        lab.write(".terraform.lock.hcl", format!("{text}{lines}  ]\n}}\n"));
    }
    let command = case["command"].as_str().unwrap();
    let platforms: Vec<&str> = command
        .split_whitespace()
        .filter_map(|word| word.strip_prefix("-platform="))
        .collect();
    let platforms = if platforms.is_empty() {
        "linux_amd64".to_owned()
    } else {
        platforms.join(",")
    };
    let mut args = vec![
        "lock",
        "--flavor",
        flavor,
        "--platform",
        &platforms,
        "--cli-config",
        "rc",
    ];
    let mirror = format!("{}/mirror/", registry.url(Origin::Lab));
    if id.starts_with("registry/netmirror_") {
        args.extend(["--net-mirror", &mirror]);
    }
    let outcome = lab.run(&args);
    let text = std::fs::read_to_string(lab.path(".terraform.lock.hcl")).ok();
    Played {
        code: outcome.code,
        said: outcome.stdout + &outcome.stderr,
        hashes: text.map(|text| lock_hashes(&text).into_values().flatten().collect()),
    }
}

/// Returns what is wrong with an outcome, if anything is.
fn fault(case: &Value, packages: &Packages, flavor: Flavor) -> Option<String> {
    let id = case["id"].as_str().unwrap();
    let played = play(case, packages, &flavor.to_string());
    let ok = case["ok"].as_bool().unwrap();
    let said = &played.said;
    if let Some((_, code, _)) = DIFFERENCES.iter().find(|(known, ..)| *known == id) {
        let differs = (*code == 0) != ok || *code == 1;
        assert!(differs, "{id} is no difference");
        return (played.code != *code).then(|| format!("exit code {}:\n{said}", played.code));
    }
    if (played.code == 0) != ok {
        return Some(format!("exit code {}:\n{said}", played.code));
    }
    let symbols = case["lock_hashes"].as_array();
    let resolve = |symbol: &Value| {
        let symbol = symbol.as_str().unwrap();
        packages
            .hashes
            .get(symbol)
            .cloned()
            .unwrap_or_else(|| symbol.to_owned())
    };
    let wanted: Option<BTreeSet<String>> =
        symbols.map(|symbols| symbols.iter().map(resolve).collect());
    (played.hashes != wanted).then(|| format!("{:?}, not {wanted:?}:\n{said}", played.hashes))
}

#[test]
fn cases_of_signed_registries() {
    let packages = Packages::new();
    let mut faults = Vec::new();
    let mut agreed = 0;
    for case in cases::load("registry") {
        for flavor in Flavor::ALL {
            let case = case.for_program(flavor);
            let id = case["id"].as_str().unwrap();
            match fault(&case, &packages, flavor) {
                Some(fault) => faults.push(format!("{id} {flavor}: {fault}")),
                None => agreed += 1,
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
    assert!(agreed > 0);
    println!(
        "registry: {agreed} outcomes, {} cases differ as stated",
        DIFFERENCES.len()
    );
}

#[test]
fn every_difference_is_on_its_page() {
    let page = include_str!("../../src/front/guide/topics/differences.md");
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    for (id, _, sentence) in DIFFERENCES {
        assert!(page.contains(sentence), "{id}: {sentence}");
    }
}
