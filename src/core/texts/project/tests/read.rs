//! What project files say, and what is wrong with them.

use crate::addr::ProviderAddr;
use crate::diag::{Level, Severity, Texts, has_errors};
use crate::flavor::{Flavor, FlavorChoice, Program};
use crate::package::{H1Trust, Undated, calendar};
use crate::platform::Platform;
use crate::project::values::MAX_ITEMS;
use crate::project::{PackageSource, PlatformName, Project, parse};

const TERRAFORM: Flavor = Flavor::Terraform1_11;

/// Reads a text; each problem is `LINE TITLE: HELP`.
fn read(text: &str) -> (Project, Vec<String>) {
    let mut texts = Texts::default();
    let file = texts.add(".lockctl.hcl", text.as_bytes().to_vec());
    let (project, problems) = parse(file, text.as_bytes());
    let reported = problems.into_iter().map(|problem| {
        let at = problem.primary.map(|label| label.span.start);
        let line = at.map_or(0, |at| texts.position(file, at).line);
        let help = problem.help.map(|help| format!(": {help}"));
        format!("{line} {}{}", problem.title, help.unwrap_or_default())
    });
    (project, reported.collect())
}

#[track_caller]
fn check(text: &str, problems: &[&str]) {
    assert_eq!(read(text).1, problems, "of {text}");
}

fn addr(text: &str) -> ProviderAddr {
    ProviderAddr::parse(text, TERRAFORM).unwrap()
}

#[test]
fn everything_that_may_be_stated_is_read() {
    let (project, problems) = read(
        r#"
platforms = ["linux_amd64", "common"]
flavor    = "terraform@1.11"
roots     = ["live/**"]
provider "acme/tool" { platforms = ["linux_amd64"] }
rule "platforms-incomplete" {
  level  = "off"
  reason = "runners are linux only"
}
rule "platforms-incomplete" {
  level    = "error"
  provider = "hashicorp/aws"
}
trust {
  h1                = "claimed"
  h1_from           = ["registry.opentofu.org"]
  require_signature = true
  imported_facts    = true
  fact_keys = ["sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8"]
}
store {
  url       = "s3://bucket/lockctl"
  read_only = true
}
policy {
  allow = ["hashicorp/*", "example.com/*/*", "*/*/*"]
  min_age = "7d"
  undated = "refuse"
  provider "hashicorp/aws" { key_id = "3436 5d94 72d7 468f" }
}
"#,
    );
    assert_eq!(problems, [""; 0]);
    let linux: Platform = "linux_amd64".parse().unwrap();
    assert_eq!(
        project.platforms,
        [PlatformName::Named(linux.clone()), PlatformName::Common]
    );
    assert!(matches!(project.flavor, FlavorChoice::Stated(stated)
        if stated.flavor.program() == Program::Terraform));
    assert!(project.roots.contain("live/a/b".as_ref()));
    assert_eq!(
        project.platforms_of(&addr("acme/tool"), TERRAFORM),
        [PlatformName::Named(linux)]
    );
    let level = |provider: &str| {
        let own = project.rule("platforms-incomplete", Some(&addr(provider)), TERRAFORM);
        own.map(|own| own.level)
    };
    assert_eq!(level("acme/tool"), Some(Level::Off));
    assert_eq!(level("hashicorp/aws"), Some(Level::As(Severity::Error)));
    assert_eq!(project.rule("lock-missing", None, TERRAFORM), None);
    assert_eq!(project.trust.h1, Some(H1Trust::Claimed));
    assert_eq!(project.trust.h1_from.len(), 1);
    assert!(project.trust.require_signature.is_some() && project.trust.imported_facts);
    assert_eq!(project.trust.fact_keys[0].name(), "sum.golang.org");
    let store = project.store.unwrap();
    assert!(store.url.to_string() == "s3://bucket/lockctl" && store.read_only);
    let policy = project.policy.unwrap();
    let age = policy.age(&addr("a/b"), TERRAFORM).unwrap();
    assert_eq!(age.min_age.to_string(), "7 days");
    assert_eq!(age.undated, Undated::Refuse);
    assert_eq!(policy.allow.unwrap().entries.len(), 3);
    assert_eq!(policy.keys[0].key.as_str(), "34365D9472D7468F");
}

#[test]
fn a_setting_counts_until_its_day_begins() {
    let text = "rule \"lock-missing\" {\n  level = \"note\"\n}\n\
                rule \"lock-missing\" {\n  level = \"off\"\n  reason = \"r\"\n  \
                provider = \"acme/tool\"\n  until = \"2027-03-01\"\n}\n";
    let at = |now: &str| {
        let (mut project, problems) = read(text);
        assert_eq!(problems, [""; 0]);
        let notes = project.end_settings(calendar::read_timestamp(now).unwrap());
        let level = project.rule("lock-missing", Some(&addr("acme/tool")), TERRAFORM);
        let notes = notes.into_iter().map(|note| {
            let label = note.primary.unwrap();
            format!("{}: {}", note.title, label.note)
        });
        (level.unwrap().level, notes.collect::<Vec<_>>().join("; "))
    };
    assert_eq!(at("2027-01-29T23:59:59Z"), (Level::Off, String::new()));
    let soon = "Rule setting ends soon: lock-missing is \"off\" until 2027-03-01 (UTC), in";
    assert_eq!(
        at("2027-01-30T00:00:00Z"),
        (Level::Off, format!("{soon} 30 days"))
    );
    assert_eq!(
        at("2027-02-28T23:59:59Z"),
        (Level::Off, format!("{soon} 0 minutes"))
    );
    // An hour ahead of UTC the day has begun; in UTC it has not.
    assert_eq!(
        at("2027-03-01T00:30:00+01:00"),
        (Level::Off, format!("{soon} 30 minutes"))
    );
    // The level for all providers counts again.
    let ended = "Rule setting has ended: lock-missing was \"off\" until 2027-03-01 (UTC), just now";
    assert_eq!(
        at("2027-03-01T00:00:00Z"),
        (Level::As(Severity::Note), ended.to_owned())
    );
}

#[test]
fn nothing_stated_is_the_default() {
    for text in ["", "# nothing\n", "flavor = null\nroots = []\n"] {
        let (project, problems) = read(text);
        assert!(problems.is_empty() && project.platforms.is_empty());
        assert_eq!(project.flavor, FlavorChoice::Auto);
        assert!(project.policy.is_none());
    }
}

#[test]
fn an_age_of_nothing_is_no_condition() {
    for text in ["min_age = \"0d\"", "undated = \"refuse\"", "min_age = null"] {
        let (project, problems) = read(&format!("policy {{\n  {text}\n}}\n"));
        assert!(problems.is_empty(), "{problems:?}");
        assert_eq!(
            project.policy.unwrap().age(&addr("a/b"), TERRAFORM),
            None,
            "{text}"
        );
    }
}

#[test]
fn a_policy_refuses_providers_and_versions() {
    let text = r#"
policy {
  allow       = ["hashicorp/*", "acme/tool >= 2", "acme/tool 1.5.0", "a.example/*/*"]
  deny        = ["HashiCorp/aws < 5.30", "*/*-alpha"]
  hosts       = ["registry.terraform.io"]
  prereleases = "refuse"
  min_age     = "7d"
  provider "hashicorp/aws" { min_age = "30d" }
  exempt "version-not-allowed" {
    provider = "acme/tool"
    reason   = "because"
    until    = "2099-01-01"
  }
  exempt "release-too-young" {
    provider = "acme/tool"
    reason   = "because"
  }
}
"#;
    let (project, problems) = read(text);
    let end = "14 Exemption without an end: write until = \"YEAR-MONTH-DAY\"";
    assert_eq!(problems, [end]);
    let policy = project.policy.unwrap();
    for (provider, version, wanted) in [
        ("hashicorp/aws", "5.30.0", ""),
        ("hashicorp/aws", "5.29.9", "VersionDenied"),
        ("hashicorp/aws", "5.30.0-beta1", "VersionDenied"),
        ("hashicorp/aws", "5.31.0-beta1", "Prerelease"),
        ("hashicorp/aws-alpha", "1.0.0", "Denied"),
        ("acme/tool", "2.0.0", ""),
        ("acme/tool", "1.5.0", ""),
        ("acme/tool", "1.5.1", "VersionNotAllowed"),
        ("acme/other", "1.5.1", "NotAllowed"),
        ("a.example/a/b", "1.0.0", "Host"),
    ] {
        let version = version.parse().unwrap();
        let refusal = policy.refusal(&addr(provider), Some(&version), TERRAFORM);
        let name = refusal.map_or_else(String::new, |refusal| format!("{refusal:?}"));
        let name = name.split('(').next().unwrap();
        assert_eq!(name, wanted, "{provider} {version}");
        // Whether a provider is allowed at all is decided before versions are known.
        let is_selected = !matches!(wanted, "VersionDenied" | "Prerelease");
        let admits = policy.admits(&addr(provider), &version, TERRAFORM);
        assert_eq!(admits, is_selected, "{provider} {version}");
    }
    let age = |provider| {
        let age = policy.age(&addr(provider), TERRAFORM);
        age.map_or_else(String::new, |age| age.min_age.to_string())
    };
    assert_eq!(
        ["a/b", "hashicorp/aws", "acme/tool"].map(age),
        ["7 days", "30 days", ""]
    );
    check(
        "policy {\n  exempt \"lock-missing\" {\n    until = \"2099-01-01\"\n  }\n}\n",
        &[
            "2 Missing reason: say why, as in reason = \"…\"",
            "2 Missing provider: write provider = \"hashicorp/aws\"",
            "2 Unknown rule: it can be key-changed, key-not-allowed, key-not-compared, origin-changed, \
             policy-unused, provenance-invalid, provenance-lost, provider-not-allowed, release-too-old, \
             release-too-young, signature-lost, version-not-allowed, versions-differ, zh-lost",
        ],
    );
}

#[test]
fn an_address_means_what_the_flavor_of_the_root_makes_of_it() {
    let (project, _) = read("provider \"aws\" {\n  platforms = [\"linux_arm64\"]\n}\n");
    for flavor in Flavor::ALL {
        let own = ProviderAddr::parse("hashicorp/aws", flavor).unwrap();
        assert_eq!(project.platforms_of(&own, flavor).len(), 1, "{flavor}");
        let other = ProviderAddr::parse("example.com/hashicorp/aws", flavor).unwrap();
        assert_eq!(project.platforms_of(&other, flavor).len(), 0, "{flavor}");
    }
}

#[test]
fn the_end_of_a_setting_is_a_day() {
    for day in [
        "2027-3-1",
        "2027-02-30",
        "01.03.2027",
        "2027-03-01T00:00:00Z",
        "",
    ] {
        check(
            &format!("rule \"lock-missing\" {{\n  level = \"note\"\n  until = {day:?}\n}}\n"),
            &[
                "3 Invalid day: write a day as YEAR-MONTH-DAY, as in 2027-03-01; it begins at 00:00 UTC",
            ],
        );
    }
}

#[test]
fn unknown_names_are_errors() {
    const TOP: &str = "platforms, flavor, roots, provider, rule, packages, store, trust, policy, audit and modules";
    check(
        "\nplatfroms = []\n",
        &["2 Unsupported argument: did you mean platforms?"],
    );
    check(
        "zzz {}\n",
        &[&format!(
            "1 Unsupported block type: delete it: a project file takes {TOP}"
        )],
    );
    check(
        "trust = true\nplatforms {}\n",
        &[
            "1 Unsupported argument: write trust { … }",
            "2 Unsupported block type: write platforms = …",
        ],
    );
    check(
        "rule \"lock-missing\" {\n  level = \"note\"\n  reasons = \"\"\n}\n",
        &["3 Unsupported argument: did you mean reason?"],
    );
    check(
        "provider \"a/b\" {\n  key_id = \"1\"\n}\n",
        &["2 Unsupported argument: write it in a provider block in policy"],
    );
    check(
        "store {\n  url = \"s3://b\"\n  fact_keys = []\n}\n",
        &["3 Unsupported argument: write it in a trust block"],
    );
    check(
        "trust {\n  signature = true\n}\n",
        &[
            "2 Unsupported argument: delete it: a trust block takes h1, h1_from, \
           require_signature, imported_facts, fact_keys, attestation_roots and provider",
        ],
    );
}

#[test]
fn words_outside_of_their_table_are_errors() {
    check(
        "platforms = [\n  \"linux-amd64\",\n  \"current\",\n]\n",
        &[
            "2 Invalid platform: write OS_ARCH with exactly one underscore, as in linux_amd64, or \
             common",
            "3 Invalid platform: name the platforms",
        ],
    );
    check("platforms = [\"plan9_mips\"]\n", &["1 Rare platform"]);
    check(
        "flavor = \"terrafrom\"\n",
        &[
            "1 Invalid flavor: write terraform, opentofu, one of them with a version, as in \
           terraform@1.11, or auto",
        ],
    );
    check(
        "rule \"lock-mising\" {\n  level = \"warn\"\n}\n",
        &[
            "1 Unknown rule: did you mean lock-missing?",
            "2 Invalid level: it can be off, note, warning, error",
        ],
    );
    check(
        "flavor = \"terraform\"\ntrust {\n  h1 = \"as-tofu\"\n  h1_from = [\"https://x\"]\n}\n",
        &[
            "3 Invalid trust: write \"proven\", or state the flavor opentofu",
            "4 Invalid hostname: write the name as a browser shows it, without scheme or path",
        ],
    );
    const AGE: &str = "write a number of hours, days or weeks, as in 12h, 7d or 2w";
    check(
        "policy {\n  min_age = \"7\"\n  undated = \"deny\"\n}\n",
        &[
            &format!("2 Invalid age: {AGE}"),
            "3 Invalid choice: it can be accept, refuse",
        ],
    );
    check(
        "policy {\n  min_age = 7\n  min_ages = \"7d\"\n}\n",
        &[
            "2 Unsuitable value for min_age",
            "3 Unsupported argument: did you mean min_age?",
        ],
    );
    const PATTERN: &str = "write a pattern as in hashicorp/aws, hashicorp/* and example.com/*/*";
    check(
        "policy {\n  allow = [\"*\",\n \"/aws\"]\n  provider \"a/b\" {}\n}\n",
        &[
            &format!("2 Invalid pattern: {PATTERN}"),
            &format!("3 Invalid pattern: {PATTERN}"),
            "4 Missing argument: write key_id = \"…\", as `lockctl lock -v` prints it, or min_age = \"…\"",
        ],
    );
    check(
        "policy {\n  deny = [\"a/b 5 0\"]\n  hosts = [\"https://x\"]\n  one_version = \"a/b\"\n}\n",
        &[
            "2 Invalid versions: write versions behind the pattern as in \"hashicorp/aws >= 5.30, < 6\"",
            "3 Invalid hostname: write the name as a browser shows it, without scheme or path",
            "4 Unsuitable value for one_version",
        ],
    );
}

#[test]
fn what_is_missing_or_of_another_type_is_an_error() {
    check(
        "rule \"lock-missing\" {}\nrule \"h1-malformed\" {\n  level = \"off\"\n}\n",
        &[
            "1 Missing level: write level = \"off\", \"note\", \"warning\" or \"error\"",
            "2 Missing reason: say why, as in reason = \"…\"",
            "2 Unknown rule: write a name as findings show it in brackets",
        ],
    );
    check(
        "rule {\n  level = \"note\"\n}\nprovider \"a/b\" \"c\" {}\ntrust \"x\" {}\n",
        &[
            "1 Missing label for rule: write rule \"platforms-incomplete\" { … }",
            "4 Extraneous label for provider",
            "5 Extraneous label for trust",
        ],
    );
    check(
        "platforms = \"linux_amd64\"\nroots = [1]\nflavor = []\ntrust {\n  require_signature = 1\n}\n",
        &[
            "1 Unsuitable value for platforms",
            "2 Unsuitable value for roots",
            "3 Unsuitable value for flavor",
            "5 Unsuitable value for require_signature",
        ],
    );
    check(
        "platforms = []\n",
        &["1 Empty list: add one, or delete platforms"],
    );
    let (_, problems) = read("flavor = var.x\n");
    assert_eq!(problems.len(), 1, "{problems:?}");
}

#[test]
fn what_stands_twice_is_an_error() {
    const BLOCK: &str = "delete one of the two blocks";
    check(
        "provider \"aws\" {}\nprovider \"hashicorp/aws\" {}\ntrust {}\ntrust {}\n",
        &[
            &format!("2 Duplicate provider block: {BLOCK}"),
            &format!("4 Duplicate trust block: {BLOCK}"),
        ],
    );
    let rule = "rule \"lock-missing\" { level = \"note\" }\n";
    let narrow = "rule \"lock-missing\" {\n  level = \"note\"\n  provider = \"aws\"\n}\n";
    check(
        &[rule, narrow, rule, narrow].concat(),
        &[
            &format!("6 Duplicate rule block: {BLOCK}"),
            &format!("7 Duplicate rule block: {BLOCK}"),
        ],
    );
}

#[test]
fn floods_are_cut_off() {
    let blocks: String = (0..=MAX_ITEMS)
        .map(|n| format!("provider \"a/b{n}\" {{}}\n"))
        .collect();
    let (project, problems) = read(&blocks);
    assert_eq!(problems.len(), 1);
    assert!(problems[0].starts_with("1001 Too many provider blocks"));
    assert_eq!(project.providers.len(), MAX_ITEMS);
    let roots: String = (0..=MAX_ITEMS).map(|n| format!("\"a{n}\",")).collect();
    let (_, problems) = read(&format!("roots = [{roots}]\n"));
    assert_eq!(problems.len(), 1);
    assert!(problems[0].starts_with("1 Too many elements of roots"));
}

#[test]
fn what_is_broken_costs_its_item_only() {
    let text = "platforms = [\nflavor = \"opentofu\"\n";
    let mut texts = Texts::default();
    let file = texts.add(".lockctl.hcl", text.as_bytes().to_vec());
    let (_, problems) = parse(file, text.as_bytes());
    assert!(has_errors(&problems));
    let (project, problems) = read("platforms = \nroots = [\"a\"]\n");
    assert_eq!(problems.len(), 1);
    assert!(project.roots.contain("a".as_ref()));
}

#[test]
fn packages_come_from_one_place() {
    let source = |argument: &str| {
        let (project, problems) = read(&format!("packages {{ {argument} }}\n"));
        assert_eq!(problems, [""; 0], "{argument}");
        project.packages.expect("it is stated").source
    };
    assert_eq!(
        source("fs_mirror = \"vendor/mirror\""),
        PackageSource::FilesystemMirror("vendor/mirror".into())
    );
    assert!(matches!(
        source("net_mirror = \"https://mirror.example/\""),
        PackageSource::NetworkMirror(url) if url.host().ascii() == "mirror.example"
    ));
    assert!(matches!(
        source("oci_mirror = \"ghcr.io/acme/{namespace}/{type}\""),
        PackageSource::OciMirror(_)
    ));
    assert_eq!(
        source("installation = \"cli\""),
        PackageSource::CliConfiguration
    );
    assert_eq!(
        source("installation = \"registry\""),
        PackageSource::Registry
    );
    assert_eq!(read("packages {}\n").0.packages, None);
    for (text, problem) in [
        (
            "packages {}\n",
            "1 Missing argument: write fs_mirror = \"DIR\", net_mirror = \"URL\", oci_mirror = \
             \"TEMPLATE\" or installation = \"cli\"",
        ),
        (
            "packages {\n  fs_mirror = \"a\"\n  installation = \"cli\"\n}\n",
            "3 Two places of packages: packages come from one place: delete the other arguments",
        ),
        (
            "packages { fs_mirror = \"\" }\n",
            "1 Invalid path: write the top directory of a filesystem mirror, from the directory of this \
             file on",
        ),
        (
            "packages { net_mirror = \"http://mirror.example/\" }\n",
            "1 Invalid URL: write a URL as in https://mirror.example/providers/",
        ),
        (
            "packages { oci_mirror = \"ghcr.io/{name}\" }\n",
            "1 Invalid template: write a template as in ghcr.io/acme/{namespace}/{type}",
        ),
        (
            "packages { oci_mirror = \"ghcr.io/${namespace}\" }\n",
            "1 Variables not allowed: write {namespace} and {type}, without a dollar sign",
        ),
        (
            "packages { installation = \"clii\" }\n",
            "1 Invalid installation: did you mean cli?",
        ),
        (
            "packages { fs_miror = \"a\" }\n",
            "1 Unsupported argument: did you mean fs_mirror?",
        ),
    ] {
        check(text, &[problem]);
    }
}
