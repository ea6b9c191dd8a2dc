//! `changes` and `diff --changes`, with the documents of both public registries and of GitHub.
//!
//! The documents are made by their public description; no real one was recorded.

use std::sync::Mutex;

use lockctl::cli::{self, Io, World};
use lockctl::os::{RealDisk, RealRun};
use lockctl::world::mem::MemHttp;
use lockctl::world::{HttpError, HttpResponse};

use super::*;

const TERRAFORM: &[(&str, &str)] = &[
    (
        "https://registry.terraform.io/v1/providers/acme/demo/versions",
        r#"{"versions": [
            {"version": "1.0.0", "protocols": ["5.0"], "platforms": [{"os": "linux", "arch": "amd64"}]},
            {"version": "2.0.0", "protocols": ["6.0"],
             "platforms": [{"os": "linux", "arch": "amd64"}, {"os": "linux", "arch": "arm64"}]},
            {"version": "3.0.0-beta1", "protocols": ["6.0"]}]}"#,
    ),
    (
        "https://registry.terraform.io/v2/providers/acme/demo?include=provider-versions",
        r#"{"data": {"type": "providers", "id": "7", "attributes":
             {"source": "https://github.com/acme/terraform-provider-demo"}},
            "included": [{"type": "provider-versions", "id": "11", "attributes": {"version": "1.0.0"}},
                         {"type": "provider-versions", "id": "12", "attributes": {"version": "2.0.0"}}]}"#,
    ),
    (
        "https://registry.terraform.io/v2/provider-versions/11?include=provider-docs",
        r#"{"data": {"type": "provider-versions", "id": "11"}, "included": [
            {"type": "provider-docs", "id": "1", "attributes": {"category": "resources", "slug": "old", "title": "old", "language": "hcl", "subcategory": null}},
            {"type": "provider-docs", "id": "2", "attributes": {"category": "resources", "slug": "kept", "title": "kept", "language": "hcl"}},
            {"type": "provider-docs", "id": "3", "attributes": {"category": "guides", "slug": "start", "title": "Start", "language": "hcl"}}]}"#,
    ),
    (
        "https://registry.terraform.io/v2/provider-versions/12?include=provider-docs",
        r#"{"data": {"type": "provider-versions", "id": "12"}, "included": [
            {"type": "provider-docs", "id": "4", "attributes": {"category": "resources", "slug": "kept", "title": "kept (Deprecated)", "language": "hcl"}},
            {"type": "provider-docs", "id": "5", "attributes": {"category": "resources", "slug": "new", "title": "new", "language": "hcl"}},
            {"type": "provider-docs", "id": "6", "attributes": {"category": "resources", "slug": "python", "title": "new", "language": "python"}},
            {"type": "provider-docs", "id": "7", "attributes": {"category": "functions", "slug": "parse", "title": "parse", "language": "hcl"}},
            {"type": "provider-docs", "id": "8", "attributes": {"category": "data-sources", "slug": "evil\u001b[2J", "title": "x", "language": "hcl"}}]}"#,
    ),
];

const GITHUB: &[(&str, &str)] = &[
    (
        "https://api.github.com/repos/acme/terraform-provider-demo/license?ref=v1.0.0",
        r#"{"license": {"spdx_id": "MPL-2.0"}}"#,
    ),
    (
        "https://api.github.com/repos/acme/terraform-provider-demo/license?ref=v2.0.0",
        r#"{"license": {"spdx_id": "BUSL-1.1"}}"#,
    ),
    (
        "https://api.github.com/repos/acme/terraform-provider-demo/releases/tags/v2.0.0",
        "{\"body\": \"BREAKING: `old` is gone.\\r\\nSee \\u001b[31mthe guide.\"}",
    ),
];

const TOFU: &[(&str, &str)] = &[
    (
        "https://registry.opentofu.org/v1/providers/acme/demo/versions",
        r#"{"versions": [{"version": "1.0.0"}, {"version": "2.0.0"}]}"#,
    ),
    (
        "https://api.opentofu.org/registry/docs/providers/acme/demo/v1.0.0/index.json",
        r#"{"id": "v1.0.0", "published": "2024-05-01T00:00:00Z",
            "docs": {"index": {"name": "index", "edit_link": "", "title": "", "subcategory": "", "description": ""},
                     "resources": [{"name": "old", "edit_link": "", "title": "old", "subcategory": "", "description": ""}],
                     "datasources": null, "functions": null, "guides": null},
            "cdktf_docs": {"python": {"resources": [{"name": "other", "title": "other"}]}},
            "license": [{"spdx": "MPL-2.0", "confidence": 0.98, "is_compatible": true, "file": "LICENSE", "link": "https://github.com/"},
                        {"spdx": "Apache-2.0", "confidence": 0.91, "is_compatible": true, "file": "vendor/LICENSE"}],
            "incompatible_license": false, "link": "https://github.com/acme/terraform-provider-demo/tree/v1.0.0"}"#,
    ),
    (
        "https://api.opentofu.org/registry/docs/providers/acme/demo/v2.0.0/index.json",
        r#"{"id": "v2.0.0", "docs": {"resources": [{"name": "old", "description": "Deprecated: use new."}],
            "datasources": [{"name": "new"}], "actions": [{"name": "run"}], "listresources": [{"name": "old"}]}, "license": null,
            "link": "https://github.com/acme/terraform-provider-demo/tree/v2.0.0"}"#,
    ),
];

const DISCOVERY: &[(&str, &str)] = &[
    (
        "https://registry.terraform.io/.well-known/terraform.json",
        r#"{"providers.v1": "/v1/providers/"}"#,
    ),
    (
        "https://registry.opentofu.org/.well-known/terraform.json",
        r#"{"providers.v1": "/v1/providers/"}"#,
    ),
];

/// A network of documents, and what was asked.
struct Network {
    documents: Vec<(String, String)>,
    asked: Mutex<Vec<String>>,
}

impl Network {
    fn of(documents: &[&[(&str, &str)]]) -> Self {
        let owned = |(url, text): &(&str, &str)| ((*url).to_owned(), (*text).to_owned());
        Self {
            documents: documents
                .iter()
                .copied()
                .flatten()
                .chain(DISCOVERY)
                .map(owned)
                .collect(),
            asked: Mutex::default(),
        }
    }

    fn run(&self, lab: &Lab, args: &[&str]) -> Outcome {
        let http = MemHttp::new(|request| {
            let url = request.url.secret_text().to_owned();
            let token = request.credentials.map_or("", |_| " with a token");
            self.asked.lock().unwrap().push(format!("{url}{token}"));
            match self.documents.iter().find(|(known, _)| *known == url) {
                Some((_, text)) if text == "reset" => Err(HttpError::Broken {
                    reason: "reset".to_owned(),
                }),
                Some((_, text)) => {
                    let json = [("content-type", "application/json")];
                    Ok(HttpResponse::of(200, &json, text.as_str()))
                }
                None => Ok(HttpResponse::of(404, &[], "")),
            }
        });
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let mut io = Io {
            stdout: &mut stdout,
            stderr: &mut stderr,
        };
        let world = World {
            disk: &RealDisk,
            env: &lab.env,
            http: &http,
            clock: &lab.clock,
            run: &RealRun,
            project_files: None,
        };
        let mut line = vec!["lockctl".into(), "-C".into(), lab.path("").into_os_string()];
        line.extend(args.iter().map(std::ffi::OsString::from));
        let code = cli::run(line, world, &mut io);
        crate::schema::check(&stdout, args);
        Outcome {
            code,
            stdout: String::from_utf8(stdout).unwrap(),
            stderr: String::from_utf8(stderr).unwrap(),
        }
    }

    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }
}

fn lab() -> Lab {
    let mut lab = Lab::new();
    let cache = lab.path("cache");
    lab.set("LOCKCTL_CACHE_DIR", cache);
    lab
}

const RANGE: [&str; 3] = ["changes", "registry.terraform.io/acme/demo", "1.0.0..2.0.0"];

#[test]
fn one_screen_says_what_an_upgrade_brings() {
    let (lab, network) = (lab(), Network::of(&[TERRAFORM, GITHUB]));
    let outcome = network.run(&lab, &RANGE);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    outcome.stdout.reads(str![[r#"
registry.terraform.io/acme/demo 1.0.0 → 2.0.0
1 resource removed     old
1 resource deprecated  kept
1 resource added       new
1 function added       parse
licence                BUSL-1.1 instead of MPL-2.0
protocols              6.0 instead of 5.0
1 platform added       linux_arm64
compare                https://github.com/acme/terraform-provider-demo/compare/v1.0.0...v2.0.0
BREAKING: `old` is gone.
See [31mthe guide.

"#]]);
    assert!(!outcome.stdout.contains('\u{1b}') && !outcome.stdout.contains("evil"));
    // What is complete is kept: nothing is asked again, and nothing needs the network.
    assert!(!network.asked().is_empty());
    let again = network.run(&lab, &RANGE);
    assert_eq!(
        (&again.stdout, network.asked()),
        (&outcome.stdout, Vec::new())
    );
    let offline = Network::of(&[]).run(&lab, &[&RANGE[..], &["--offline"]].concat());
    assert_eq!(offline.stdout, outcome.stdout);
    let other = [
        "changes",
        "registry.terraform.io/acme/demo",
        "1.0.0..3.0.0",
        "--offline",
    ];
    let refused = network.run(&lab, &other);
    assert_eq!(
        (refused.code, network.asked()),
        (2, Vec::new()),
        "{refused:?}"
    );
    assert!(
        refused.stderr.contains("is not kept on this machine"),
        "{refused:?}"
    );
}

#[test]
fn the_locked_version_is_compared_with_the_newest_release() {
    let (mut lab, network) = (lab(), Network::of(&[TERRAFORM, GITHUB]));
    lab.set("GITHUB_TOKEN", "word");
    lab.write(
        LOCK,
        "provider \"registry.terraform.io/acme/demo\" {\n  version = \"1.0.0\"\n}\n",
    );
    let outcome = network.run(&lab, &["changes", "--format", "json"]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    let json: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    let release = &json["releases"][0];
    assert_eq!(
        (&release["old"], &release["new"]),
        (&"1.0.0".into(), &"2.0.0".into())
    );
    assert_eq!(
        release["licence"],
        serde_json::json!(["MPL-2.0", "BUSL-1.1"])
    );
    // The token goes to GitHub alone.
    for asked in network.asked() {
        let is_github = asked.starts_with("https://api.github.com/");
        assert_eq!(asked.ends_with(" with a token"), is_github, "{asked}");
    }
    lab.write(
        LOCK,
        "provider \"registry.terraform.io/acme/demo\" {\n  version = \"2.0.0\"\n}\n",
    );
    let outcome = network.run(&lab, &["changes"]);
    assert!(
        outcome
            .stderr
            .contains("every provider is at its newest release"),
        "{outcome:?}"
    );
    lab.set("GITHUB_API_URL", "no address");
    let outcome = network.run(&lab, &["changes"]);
    assert_eq!(outcome.code, 2);
    assert!(outcome.stderr.contains("GITHUB_API_URL"), "{outcome:?}");
}

#[test]
fn the_registry_of_opentofu_states_licences_too() {
    let (lab, network) = (lab(), Network::of(&[TOFU, GITHUB]));
    let args = [
        "changes",
        "registry.opentofu.org/acme/demo",
        "1.0.0..2.0.0",
        "--format",
        "markdown",
    ];
    let outcome = network.run(&lab, &args);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    outcome.stdout.reads(str![[r#"
#### `registry.opentofu.org/acme/demo 1.0.0 → 2.0.0`

| WHAT | CHANGE |
|---|---|
| **1 resource deprecated** | old |
| 1 data source added | new |
| 1 action added | run |
| 1 list resource added | old |
| licence | BUSL-1.1 instead of MPL-2.0 |
| compare | https&#58;//github.com/acme/terraform-provider-demo/compare/v1.0.0...v2.0.0 |

```
BREAKING: `old` is gone.
See [31mthe guide.
```


"#]]);
}

#[test]
fn a_release_without_pages_has_lost_nothing() {
    let (lab, mut network) = (lab(), Network::of(&[TOFU, TERRAFORM, GITHUB]));
    let hidden = r#"{"id": "v2.0.0", "docs": {"index": {"name": "index"}, "resources": [], "datasources": []},
        "license": [{"spdx": "BUSL-1.1", "confidence": 0.99, "is_compatible": false}], "incompatible_license": true,
        "link": "https://github.com/acme/terraform-provider-demo/tree/v2.0.0"}"#;
    network.documents[2].1 = hidden.to_owned();
    let tofu = ["changes", "registry.opentofu.org/acme/demo", "1.0.0..2.0.0"];
    let outcome = network.run(&lab, &tofu);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    outcome.stdout.reads(str![[r#"
registry.opentofu.org/acme/demo 1.0.0 → 2.0.0
licence  BUSL-1.1 instead of MPL-2.0
compare  https://github.com/acme/terraform-provider-demo/compare/v1.0.0...v2.0.0
BREAKING: `old` is gone.
See [31mthe guide.
note: not known: the registry shows no page of 2.0.0

"#]]);
    // It is kept as any other answer.
    network.asked();
    assert_eq!(network.run(&lab, &tofu).stdout, outcome.stdout);
    assert!(network.asked().is_empty());
    let last = TOFU.len() + TERRAFORM.len() - 1;
    network.documents[last].1 = r#"{"data": {"type": "provider-versions", "id": "12"}}"#.to_owned();
    let outcome = network.run(&lab, &RANGE);
    assert!(
        outcome
            .stdout
            .contains("the registry shows no page of 2.0.0")
            && !outcome.stdout.contains("removed"),
        "{outcome:?}"
    );
}

#[test]
fn a_private_registry_is_asked_as_init_asks_it() {
    let versions = (
        "https://elsewhere.example/api/acme/demo/versions",
        r#"{"versions": [{"version": "1.0.0", "protocols": ["5.0"]}, {"version": "2.0.0", "protocols": ["6.0"]}]}"#,
    );
    let (mut lab, network) = (lab(), Network::of(&[&[versions]]));
    lab.write(
        "cli.tfrc",
        "host \"example.com\" {\n  services = { \"providers.v1\" = \"https://elsewhere.example/api/\" }\n}\n\
         credentials \"example.com\" {\n  token = \"word\"\n}\n",
    );
    let config = lab.path("cli.tfrc");
    lab.set("TF_CLI_CONFIG_FILE", config);
    let outcome = network.run(&lab, &["changes", "example.com/acme/demo", "1.0.0.."]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert!(outcome.stdout.contains("5.0"), "{outcome:?}");
    assert!(outcome.stdout.contains("6.0"), "{outcome:?}");
    assert_eq!(network.asked(), [format!("{} with a token", versions.0)]);
    let unknown = network.run(&lab, &["changes", "example.com/acme/other", "1.0.0.."]);
    assert_eq!(unknown.code, 2, "{unknown:?}");
    assert!(unknown.stderr.contains("example.com"), "{unknown:?}");
}

#[test]
fn without_a_lock_file_a_provider_must_be_named() {
    let outcome = lab().run(&["changes"]).exits(2);
    outcome.stderr.reads(str![[r#"
error: there is no .terraform.lock.hcl
  help: name a provider and two versions

"#]]);
}

#[test]
fn what_cannot_be_read_is_named_and_not_kept() {
    let (lab, mut network) = (lab(), Network::of(&[TERRAFORM, GITHUB]));
    let huge = "x".repeat((16 << 20) + 1);
    for bad in ["", "{", "<html>", "[]", "{\"included\": 1}", "reset", &huge] {
        network.documents[3].1 = bad.to_owned();
        let outcome = network.run(&lab, &RANGE);
        assert_eq!(outcome.code, 0, "{outcome:?}");
        assert!(
            outcome.stdout.contains("BUSL-1.1"),
            "the rest is shown: {outcome:?}"
        );
        assert!(outcome.stdout.contains("not known: "), "{outcome:?}");
        let outcome = network.run(&lab, &[&RANGE[..], &["--offline"]].concat());
        assert_eq!(outcome.code, 2, "{outcome:?}");
    }
    network.documents[0].1 = "{\"versions\": 1}".to_owned();
    let outcome = network.run(&lab, &RANGE);
    assert_eq!(outcome.code, 2, "{outcome:?}");
    let private = ["changes", "example.com/acme/demo", "1.0.0..2.0.0"];
    assert_eq!(network.run(&lab, &private).code, 2);
    for bad in ["1.0.0", "a..b", "1.0.0..x"] {
        assert_eq!(network.run(&lab, &["changes", "acme/demo", bad]).code, 2);
    }
}

#[test]
fn diff_shows_what_the_versions_that_moved_bring() {
    let (lab, network) = (lab(), Network::of(&[TERRAFORM, GITHUB]));
    for (name, version) in [("old.hcl", "1.0.0"), ("new.hcl", "2.0.0")] {
        let text = format!(
            "provider \"registry.terraform.io/acme/demo\" {{\n  version = \"{version}\"\n}}\n"
        );
        lab.write(name, text);
    }
    let diff = ["diff", "old.hcl", "new.hcl"];
    assert!(!network.run(&lab, &diff).stdout.contains("BUSL"));
    assert!(network.asked().is_empty());
    let outcome = network.run(&lab, &[&diff[..], &["--changes"]].concat());
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert!(
        outcome.stdout.contains("BUSL-1.1 instead of MPL-2.0"),
        "{outcome:?}"
    );
    let json = network.run(
        &lab,
        &[&diff[..], &["--changes", "--format", "json"]].concat(),
    );
    assert!(json.stdout.contains("\"releases\""), "{json:?}");
}

/// The versions of a provider with releases between, and the notes of all but one.
fn with_releases(count: usize) -> Vec<(String, String)> {
    let version = |number: usize| format!("1.{number}.0");
    let versions: Vec<String> = (0..=count)
        .map(|number| format!("{{\"version\": \"{}\"}}", version(number)))
        .collect();
    let docs: Vec<String> = (0..=count)
        .map(|number| {
            format!("{{\"type\": \"provider-versions\", \"id\": \"{number}\", \"attributes\": {{\"version\": \"{}\"}}}}", version(number))
        })
        .collect();
    let mut documents = vec![
        (
            "https://registry.terraform.io/v1/providers/acme/demo/versions".to_owned(),
            format!(
                "{{\"versions\": [{}, {{\"version\": \"1.1.0-rc1\"}}]}}",
                versions.join(",")
            ),
        ),
        (
            "https://registry.terraform.io/v2/providers/acme/demo?include=provider-versions"
                .to_owned(),
            format!(
                "{{\"data\": {{\"type\": \"providers\", \"id\": \"7\", \"attributes\": {{\"source\": \"https://github.com/acme/terraform-provider-demo\"}}}}, \"included\": [{}]}}",
                docs.join(",")
            ),
        ),
    ];
    for number in (1..=count).filter(|number| *number != 2) {
        documents.push((
            format!(
                "https://api.github.com/repos/acme/terraform-provider-demo/releases/tags/v{}",
                version(number)
            ),
            format!("{{\"body\": \"a {number}\\nb\\nc\\nd\"}}"),
        ));
    }
    documents
}

fn network(documents: &[(String, String)]) -> Network {
    let documents: Vec<(&str, &str)> = documents
        .iter()
        .map(|(url, text)| (url.as_str(), text.as_str()))
        .collect();
    Network::of(&[&documents])
}

#[test]
fn notes_of_all_releases_between_are_shown_within_a_screen() {
    let lab = lab();
    let releases = network(&with_releases(4));
    let range = ["changes", "registry.terraform.io/acme/demo", "1.0.0..1.4.0"];
    let outcome = releases.run(&lab, &range).exits(0);
    // 1.2.0 has no notes, and a pre-release is no step of the upgrade.
    outcome.stdout_has(
        "1.4.0:\na 4\nb\nc\nd\n1.3.0:\na 3\nb\nc\n… and 1 more (-v shows all)\n1.1.0:\na 1\n",
    );
    releases.asked();
    let again = releases.run(&lab, &[&range[..], &["--offline"]].concat());
    assert_eq!(
        (again.stdout, releases.asked()),
        (outcome.stdout, Vec::new())
    );

    let lab = self::lab();
    let releases = network(&with_releases(40));
    let range = [
        "changes",
        "registry.terraform.io/acme/demo",
        "1.0.0..1.40.0",
    ];
    let outcome = releases.run(&lab, &range).exits(0);
    outcome.stdout_has("… and 30 more (-v shows all)\n… and 29 releases between, whose");
    let asked = releases.asked();
    let tags = asked.iter().filter(|url| url.contains("/releases/tags/"));
    assert_eq!(tags.count(), 12, "{asked:?}");
    assert!(outcome.stdout.lines().count() <= 60, "{}", outcome.stdout);
    let all = releases.run(&lab, &[&range[..], &["-v"]].concat());
    all.stdout_has("1.30.0:\na 30\nb\nc\nd\n… and 29 releases between, whose notes are not read");
    let json = releases.run(&lab, &[&range[..], &["--format", "json"]].concat());
    let json: serde_json::Value = serde_json::from_str(&json.stdout).expect("JSON");
    let release = &json["releases"][0];
    assert_eq!(release["earlier_notes"][0]["version"], "1.39.0", "{json}");
    assert_eq!(release["more_releases"], 29);
}
