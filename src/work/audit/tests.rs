use super::*;
use crate::addr::ProviderAddr;
use crate::contents::BuildInfo;
use crate::flavor::{Flavor, Program};
use crate::version::Version;

const ADVISORIES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/advisories");

#[allow(clippy::disallowed_methods, reason = "fixtures lie in files")]
fn texts() -> Vec<Vec<u8>> {
    let mut paths: Vec<_> = std::fs::read_dir(ADVISORIES)
        .expect("a directory")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    paths
        .iter()
        .map(|path| std::fs::read(path).expect("a file"))
        .collect()
}

fn database() -> AdvisoryDatabase {
    let texts = texts();
    assert!(texts.len() >= 40, "the advisories were found");
    AdvisoryDatabase::new(
        texts
            .iter()
            .map(|text| Advisory::parse(text).expect("an advisory")),
    )
}

/// Reads build information from lines as `go version -m` prints them, without their tabs.
fn build(go: &str, lines: &str) -> BuildInfo {
    let text: String = lines
        .split(';')
        .filter(|line| !line.is_empty())
        .map(|line| format!("{}\n", line.replace(' ', "\t")))
        .collect();
    BuildInfo::parse(go, &text).expect("sound")
}

/// Checks the matches of a release, as in `GO-1999-0001 provider affected <1.4.2`.
#[track_caller]
fn check(database: &AdvisoryDatabase, release: &str, builds: &[BuildInfo], expected: &[&str]) {
    let (provider, version) = release.split_once(' ').expect("address and version");
    let flavor = Flavor::newest(Program::Terraform);
    let provider = ProviderAddr::parse(provider, flavor).expect("an address");
    let version: Version = version.parse().expect("a version");
    let builds: Vec<&BuildInfo> = builds.iter().collect();
    let audited = AuditedRelease {
        provider: &provider,
        version: &version,
        builds: &builds,
    };
    let found: Vec<String> = audit(audited, database)
        .into_iter()
        .map(|found| {
            let verdict = match found.verdict {
                MatchVerdict::Affected => "affected".to_owned(),
                MatchVerdict::Unknown(why) => format!("unknown {why:?}"),
            };
            let fixed = found.fixed.map(|fixed| format!(" <{fixed}"));
            let level = found.level.name();
            format!(
                "{} {level} {verdict}{}",
                found.advisory.id,
                fixed.unwrap_or_default()
            )
        })
        .collect();
    assert_eq!(found, expected, "{release}");
    // Every match is about a module of the selection.
    let mut selection = ModuleSelection::default();
    audited.select(&mut selection);
    for found in audit(audited, database) {
        assert!(selection.has_any_of(&found.advisory), "{release}");
    }
}

/// Reads matches with commas between them.
fn matches(text: &str) -> Vec<&str> {
    let parts = text.split(',').map(str::trim);
    parts.filter(|part| !part.is_empty()).collect()
}

/// The special cases of the database, with a version on either side of each limit.
const RELEASES: &str = "\
acme/simple 1.4.1: GO-1999-0001 provider affected <1.4.2
acme/simple 1.4.2:
ACME/simple 1.4.2:
acme/all 0.0.1: GO-1999-0002 provider affected
acme/all 99.0.0: GO-1999-0002 provider affected
acme/custom 5.4.9: GO-1999-0003 provider affected <5.5.0
acme/custom 5.5.0:
acme/custom 0.1.0: GO-1999-0003 provider affected <5.5.0
acme/pseudo 1.2.2: GO-1999-0004 provider affected <1.2.3-0.20260316182343-b3364f3f32e7
acme/pseudo 1.2.3:
acme/pseudo 7.14.0: GO-1999-0004 provider unknown Version
acme/majors 0.9.0: GO-1999-0005 provider affected
acme/majors 1.9.0: GO-1999-0005 provider affected
acme/majors 2.9.0: GO-1999-0005 provider affected
acme/majors 3.8.9: GO-1999-0005 provider affected <3.9.0
acme/majors 3.9.0:
acme/majors 4.0.0:
acme/shout 1.9.9: GO-1999-0007 provider affected <2.0.0
Acme/Shout 1.9.9: GO-1999-0007 provider affected <2.0.0
acme/shout 2.0.0:
acme/last 0.9.9:
acme/last 1.0.0: GO-1999-0008 provider affected
acme/last 1.3.0: GO-1999-0008 provider affected
acme/last 1.3.1:
acme/windows 0.9.0:
acme/windows 1.0.0: GO-1999-0009 provider affected <1.2.0
acme/windows 1.2.0:
acme/windows 1.5.0: GO-1999-0009 provider affected <1.6.0
acme/windows 1.6.0:
acme/order 1.1.0: GO-1999-0010 provider affected <1.2.0
acme/order 1.3.0:
acme/order 1.5.1: GO-1999-0010 provider affected <1.6.0
acme/listed 1.0.0: GO-1999-0011 provider affected
acme/listed 1.0.1:
acme/listed 1.0.5: GO-1999-0011 provider affected
acme/bare 3.0.0: GO-1999-0012 provider affected
acme/commits 1.0.0: GO-1999-0013 provider unknown Version
acme/pre 2.0.0-beta.1: GO-1999-0015 provider affected <2.0.0-beta.2
acme/pre 2.0.0-beta.10:
acme/pre 2.0.0:
acme/plus 1.9.0:
acme/plus 2.2.9: GO-1999-0016 provider affected <2.3.0
acme/plus 2.3.0:
acme/suffix 1.0.0:
acme/suffix 2.4.0: GO-1999-0017 provider affected <2.5.0
acme/suffix 2.5.0:
acme/suffix 3.0.0:
acme/ranges 1.0.9: GO-1999-0018 provider affected <1.1.0
acme/ranges 1.5.0:
acme/ranges 2.1.0: GO-1999-0018 provider affected <2.2.0
acme/forked 1.8.0: GO-1999-0020 provider affected <1.9.0
private.example.com/team/inhouse 2.9.0: GO-1999-0021 provider unknown Module <3.0.0
private.example.com/team/inhouse 3.0.0:
acme/beside 3.6.0: GO-1999-0022 provider affected <3.6.1
acme/beside 3.6.1:
acme/both 1.3.9: GO-1999-0023 provider affected <1.4.0
acme/both 1.4.0:
acme/odd 0.5.0: GO-1999-0024 provider unknown Version
acme/twice 1.0.0: GO-1999-0033 provider affected <1.1.0
acme/circle 1.1.5: GO-1999-0035 provider affected <1.2.0
acme/circle 1.0.0: GO-1999-0034 provider affected <1.2.0
acme/joined 1.0.0: GO-1999-0036 provider affected <1.2.0
acme/simple-more 1.0.0: GO-1999-0039 provider affected
acme/open 1.9.9:
acme/open 2.0.0: GO-1999-0041 provider affected
acme/pair 1.8.0: GO-1999-0042 provider affected <1.9.0
acme/pair 1.9.0:
acme/pair 2.0.9: GO-1999-0042 provider affected <2.1.0
acme/pair 2.1.0:
acme/empty 1.0.0: GO-1999-0043 provider unknown Version
acme/other 1.0.0:
";

#[test]
fn verdicts_on_releases() {
    let database = database();
    for row in RELEASES.lines() {
        let (release, expected) = row.split_once(':').expect("a release and its matches");
        check(&database, release, &[], &matches(expected));
    }
}

/// Releases with the version of Go and further lines of their build, and the matches.
const BUILDS: &str = "\
acme/simple 1.4.2 | go1.22.4 | |
acme/simple 1.4.2 | go1.22.3 | | GO-1999-0025 stdlib affected <1.22.4
acme/simple 1.4.2 | go1.21.11 | |
acme/simple 1.4.2 | go1.20 X:boringcrypto | | GO-1999-0025 stdlib affected <1.21.11
acme/simple 1.4.2 | go1.23rc1 | | GO-1999-0026 stdlib affected <1.23.0-rc.2
acme/simple 1.4.2 | go1.23rc2 | |
acme/simple 1.4.2 | devel go1.99-abcdef | | GO-1999-0025 stdlib unknown Version, GO-1999-0026 stdlib unknown Version
acme/simple 1.4.2 | go1.24 | dep golang.org/x/net v0.32.0 | GO-1999-0028 dependency affected <0.33.0
acme/simple 1.4.2 | go1.24 | dep golang.org/x/net v0.33.0 |
acme/simple 1.2.0 | go1.24 | dep golang.org/x/net v0.29.0 | GO-1999-0001 provider affected <1.4.2, GO-1999-0032 provider affected <1.3.0, GO-1999-0028 dependency affected <0.33.0
acme/simple 1.4.2 | go1.24 | dep github.com/golang-jwt/jwt/v5 v5.2.1 | GO-1999-0029 dependency affected <5.2.2
acme/simple 1.4.2 | go1.24 | dep github.com/golang-jwt/jwt/v4 v4.5.2 |
acme/simple 1.4.2 | go1.24 | dep github.com/golang-jwt/jwt v3.2.2+incompatible |
acme/simple 1.4.2 | go1.24 | dep golang.org/x/crypto v0.0.0-20220314234658-1111111111ff | GO-1999-0030 dependency affected <0.0.0-20220314234659-1baeb1ce4c0b
acme/simple 1.4.2 | go1.24 | dep github.com/docker/docker v25.0.5+incompatible | GO-1999-0031 dependency affected <25.0.6
acme/simple 1.4.2 | go1.24 | dep example.com/replaced v0.9.0;=> example.com/instead v1.9.0 | GO-1999-0038 dependency affected <2.0.0
acme/simple 1.4.2 | go1.24 | dep example.com/replaced v0.9.0;=> ./local (devel) | GO-1999-0037 dependency unknown Version
";

#[test]
fn verdicts_on_builds() {
    const MAIN: &str = "path x.example/x;mod github.com/acme/terraform-provider-simple v1.4.2 ;";
    let database = database();
    for row in BUILDS.lines() {
        let parts: Vec<&str> = row.split('|').map(str::trim).collect();
        let [release, go, lines, expected] = parts[..] else {
            panic!("{row}")
        };
        // A module ends with its checksum, which none of these has.
        let sum = if lines.is_empty() { "" } else { " " };
        let built = build(go, &format!("{MAIN}{lines}{sum}"));
        check(&database, release, &[built], &matches(expected));
    }
}

#[test]
fn the_build_shows_the_module() {
    const FORK: &str = "path x.example/x;mod github.com/other/terraform-provider-forked v1.4.0 ;";
    let database = database();
    // Advisories about the fork affect it; those about the original have an unknown verdict.
    check(
        &database,
        "acme/forked 1.4.0",
        &[build("go1.24", FORK)],
        &[
            "GO-1999-0019 provider affected <1.5.0",
            "GO-1999-0020 provider unknown OtherModule <1.9.0",
        ],
    );
    let inhouse = "path x.example/x;mod github.com/Acme/terraform-provider-inhouse (devel) ;";
    check(
        &database,
        "private.example.com/team/inhouse 2.9.0",
        &[build("go1.24", inhouse)],
        &["GO-1999-0021 provider affected <3.0.0"],
    );
    let suffixed = "path x.example/x;mod github.com/acme/terraform-provider-majors v4.0.0 ;";
    // The advisory lists suffixes, but this program is built from the path without one.
    check(
        &database,
        "acme/majors 4.0.0",
        &[build("go1.24", suffixed)],
        &["GO-1999-0005 provider affected"],
    );
    let pseudo = |version: &str, settings: &str| {
        let lines = format!(
            "path x.example/x;mod github.com/acme/terraform-provider-pseudo {version} ;{settings}"
        );
        build("go1.24", &lines)
    };
    let affected = &["GO-1999-0004 provider affected <1.2.3-0.20260316182343-b3364f3f32e7"][..];
    for (version, settings, expected) in [
        ("v1.2.3-0.20260301000000-0123456789ab", "", affected),
        ("v1.2.3-0.20260316182343-b3364f3f32e7", "", &[]),
        ("(devel)", "build vcs.time=2026-03-01T00:00:00Z", affected),
        ("(devel)", "build vcs.time=2026-03-20T00:00:00Z", &[]),
        (
            "(devel)",
            "build vcs.revision=b3364f3f32e70f1563c5f3162d370db704430294",
            &[],
        ),
        ("(devel)", "", &["GO-1999-0004 provider unknown Version"]),
    ] {
        let built = pseudo(version, settings);
        check(&database, "acme/pseudo 7.14.0", &[built], expected);
    }
    // A release is affected if any of its builds is.
    let builds = [
        pseudo("(devel)", "build vcs.time=2026-03-20T00:00:00Z"),
        pseudo("(devel)", "build vcs.time=2026-03-01T00:00:00Z"),
    ];
    check(&database, "acme/pseudo 7.14.0", &builds, affected);
}

#[test]
fn aliases_are_listed_once() {
    let database = database();
    let flavor = Flavor::newest(Program::Terraform);
    let provider = ProviderAddr::parse("acme/joined", flavor).expect("an address");
    let found = audit(
        AuditedRelease {
            provider: &provider,
            version: &Version::release(1, 0, 0),
            builds: &[],
        },
        &database,
    );
    let aliases: Vec<&[String]> = found.iter().map(|found| &*found.aliases).collect();
    assert_eq!(aliases, [["CVE-1999-0036", "CVE-1999-0136"]]);
}

/// Versions, pseudo-versions included, sort as in Go's `semver`.
#[test]
fn versions_have_an_order() {
    const ORDER: &[&str] = &[
        "v0.0.0-20200101000000-ffffffffffff",
        "0.0.0-20200102000000-000000000000",
        "v0.0.0",
        "1.0.0-0",
        "1.0.0-1",
        "1.0.0-2",
        "1.0.0-10",
        "1.0.0-99999999999999999999999",
        "1.0.0-alpha",
        "1.0.0-alpha.1",
        "1.0.0-alpha.beta",
        "1.0.0-rc.1",
        "1.0.0-rc.2.0.20200102000000-000000000000",
        "v1",
        "1.0.1-0.20200102000000-000000000000",
        "1.0.1",
        "v1.2",
        "v2.0.0+incompatible",
        "10.0.0",
    ];
    let versions: Vec<GoVersion> = ORDER
        .iter()
        .map(|text| GoVersion::parse(text).expect("a version"))
        .collect();
    for (at, left) in versions.iter().enumerate() {
        for (other, right) in versions.iter().enumerate() {
            assert_eq!(left.cmp(right), at.cmp(&other), "{left} and {right}");
        }
    }
    let long = format!("1.{}", "9".repeat(300));
    for text in [
        "",
        "v",
        "1.",
        "1..2",
        "1.2.3.4",
        "+1.2.3",
        "1.2.3-",
        "1.2.3-a..b",
        "a.b",
        &long,
    ] {
        assert_eq!(GoVersion::parse(text), None, "{text:?}");
    }
    for (text, expected) in [
        ("go1.22", Some("1.22.0")),
        ("go1.22.3", Some("1.22.3")),
        ("go1.22rc1", Some("1.22.0-rc.1")),
        ("go1.9beta2", Some("1.9.0-beta.2")),
        ("go1.21.3-vendor", Some("1.21.3")),
        ("go1.22.3 X:loopvar", Some("1.22.3")),
        ("devel +abc", None),
        ("unknown", None),
    ] {
        let version = GoVersion::of_go(text).map(|version| version.to_string());
        assert_eq!(version.as_deref(), expected, "{text}");
    }
}

#[test]
fn hostile_advisories_are_refused_or_harmless() {
    let refused = |text: &str| Advisory::parse(text.as_bytes()).expect_err("refused");
    let nested = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for text in ["", "[]", "{}", "{\"id\": 3}", &nested] {
        assert!(
            matches!(refused(text), AdvisoryError::Syntax(_)),
            "{text:.20}"
        );
    }
    for id in ["", "../../etc/passwd", "GO 1", "GO-1\\n", &"a".repeat(65)] {
        let error = refused(&format!("{{\"id\": \"{id}\"}}"));
        assert!(matches!(error, AdvisoryError::Id { .. }), "{id}");
    }
    let module = "{\"package\": {\"name\": \"a\", \"ecosystem\": \"Go\"}},";
    let many = module.repeat(MAX_MODULES + 1);
    let text = format!(
        "{{\"id\": \"GO-1\", \"affected\": [{}]}}",
        many.trim_end_matches(',')
    );
    assert!(matches!(refused(&text), AdvisoryError::TooLarge));
    let events = "{\"introduced\": \"0\"},".repeat(MAX_EVENTS + 1);
    let text = format!(
        "{{\"id\": \"GO-1\", \"affected\": [{{\"package\": {{\"name\": \"a\", \"ecosystem\": \"Go\"}}, \
         \"ranges\": [{{\"type\": \"SEMVER\", \"events\": [{}]}}]}}]}}",
        events.trim_end_matches(',')
    );
    assert!(matches!(refused(&text), AdvisoryError::TooLarge));
    // Aliases are printed, so text that is not an identifier is left out.
    let text = "{\"id\": \"GO-1\", \"aliases\": [\"\\u001b[2J\", \"GO-1\", \"CVE-1\", \"CVE-1\"]}";
    let advisory = Advisory::parse(text.as_bytes()).expect("an advisory");
    assert_eq!(advisory.aliases, ["CVE-1"]);
}

#[test]
fn the_order_of_files_changes_nothing() {
    let advisories = || {
        texts()
            .into_iter()
            .map(|text| Advisory::parse(&text).expect("an advisory"))
    };
    let backwards: Vec<Advisory> = advisories().collect::<Vec<_>>().into_iter().rev().collect();
    let flavor = Flavor::newest(Program::Terraform);
    for name in ["acme/simple", "acme/twice", "acme/circle", "acme/joined"] {
        let provider = ProviderAddr::parse(name, flavor).expect("an address");
        let release = AuditedRelease {
            provider: &provider,
            version: &Version::release(1, 0, 0),
            builds: &[],
        };
        // Duplicates do not change the result either.
        let doubled = advisories().chain(advisories());
        assert_eq!(
            audit(release, &AdvisoryDatabase::new(doubled)),
            audit(release, &AdvisoryDatabase::new(backwards.clone())),
            "{name}"
        );
    }
}
