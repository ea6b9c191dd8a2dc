//! The least age of releases: what `lock` passes over, what `verify --upstream` finds, and what `show
//! --upstream` and `outdated` show.

use std::time::{Duration, SystemTime};

use lockctl::package::calendar::{day, timestamp};
use snapbox::str;

use super::registry::{DEMO, steady, with_registry};
use super::*;
use crate::registry::{Dates, Origin, Registry};

const DAY: i64 = 24;
const WEEK: &str = "policy {\n  min_age = \"7d\"\n}\n";
const REFUSE: &str = "policy {\n  min_age = \"7d\"\n  undated = \"refuse\"\n}\n";
const LINUX: [&str; 2] = ["--platform", "linux_amd64"];

/// A root that allows 1.2.0, signed three days ago, 1.1.0 and 1.0.0, both signed two months ago.
fn three_releases(policy: &str) -> (Registry, Lab) {
    let (registry, lab) = with_registry(&DEMO.replace("~> 1.0.0", "~> 1.0"));
    for (version, days) in [("1.2.0", 3), ("1.1.0", 60), ("1.0.0", 61)] {
        registry.set_dates("acme/demo", version, signed(days * DAY));
    }
    lab.write(".lockctl.hcl", policy);
    (registry, lab)
}

/// A root that wants a week, with releases that are three, five and six days old.
pub(super) fn young_releases() -> (Registry, Lab) {
    let (registry, lab) = three_releases(WEEK);
    registry.set_dates("acme/demo", "1.1.0", signed(5 * DAY));
    registry.set_dates("acme/demo", "1.0.0", signed(6 * DAY));
    (registry, lab)
}

pub(super) fn signed(hours_ago: i64) -> Dates {
    Dates {
        signed_hours_ago: Some(hours_ago),
        ..Dates::default()
    }
}

fn lock(lab: &Lab, more: &[&str]) -> Outcome {
    lab.run(&[&["lock", "--flavor", "terraform@1.11"], &LINUX[..], more].concat())
}

fn verify(lab: &Lab, more: &[&str]) -> Outcome {
    let args = ["verify", "--flavor", "terraform@1.11", "--only", "upstream"];
    lab.run(&[&args, more].concat())
}

/// The locked version of `acme/demo`.
fn locked(lab: &Lab) -> String {
    let text = lab.read(LOCK);
    let (_, rest) = text.split_once("version     = \"").unwrap();
    rest.split('"').next().unwrap().to_owned()
}

/// The moment so many hours ago, or ahead.
///
/// It is a minute earlier, as that of signatures: the clock of the lab does not advance, and an age is cut
/// down to whole units.
fn hours_ago(hours: i64) -> SystemTime {
    let span = Duration::from_secs(hours.unsigned_abs() * 3600);
    let now = SystemTime::now() - Duration::from_secs(60);
    match hours {
        0.. => now - span,
        _ => now + span,
    }
}

/// A date as HTTP spells it.
fn http_date(hours: i64) -> String {
    let moment = chrono::DateTime::<chrono::Utc>::from(hours_ago(hours));
    moment.format("%a, %d %b %Y %H:%M:%S GMT").to_string()
}

/// Makes days that are so many hours ago the same on every run, by a letter for each.
fn undated(text: &str, hours: &[i64]) -> String {
    let letters = ["DAY-A", "DAY-B", "DAY-C", "DAY-D"];
    let pairs = hours.iter().zip(letters);
    pairs.fold(text.to_owned(), |text, (hours, letter)| {
        text.replace(&day(hours_ago(*hours)), letter)
    })
}

#[test]
fn a_release_that_is_too_young_is_passed_over() {
    let (registry, lab) = three_releases(WEEK);
    let outcome = lock(&lab, &[]).exits(0);
    undated(&outcome.stderr, &[3 * DAY]).reads(str![[r#"
note: acme/demo 1.2.0 (signed DAY-A, 3 days ago) was passed over: a release must be at least 7 days old
note: acme/demo 1.2.0 is available, a minor upgrade from 1.1.0

"#]]);
    assert_eq!(locked(&lab), "1.1.0");
    // The newest release is asked about, then the next one, whose package is downloaded.
    let asked = registry.requests().into_iter();
    let documents =
        asked.filter(|line| line.contains("/download/") || line.contains("SHA256SUMS "));
    documents.collect::<Vec<_>>().join("\n").reads(str![[r#"
GET /v1/providers/acme/demo/1.2.0/download/darwin/arm64 200
GET files:/acme/demo/1.2.0/terraform-provider-demo_1.2.0_SHA256SUMS 200
GET /v1/providers/acme/demo/1.1.0/download/darwin/arm64 200
GET files:/acme/demo/1.1.0/terraform-provider-demo_1.1.0_SHA256SUMS 200
GET /v1/providers/acme/demo/1.1.0/download/linux/amd64 200
"#]]);
}

#[test]
fn a_false_date_in_the_past_makes_nothing_older() {
    let (registry, lab) = three_releases(WEEK);
    for (version, hours) in [
        ("1.2.0", 3 * DAY),
        ("1.1.0", 6 * DAY),
        ("1.0.0", 7 * DAY + 1),
    ] {
        let dates = Dates {
            sums_changed: Some(http_date(4000 * DAY)),
            package_changed: Some(http_date(4000 * DAY)),
            published_at: Some("2001-01-01T00:00:00Z".to_owned()),
            ..signed(hours)
        };
        registry.set_dates("acme/demo", version, dates);
    }
    assert_exit(&lock(&lab, &[]), 0);
    assert_eq!(locked(&lab), "1.0.0");
}

#[test]
fn any_source_makes_a_release_younger() {
    let recent = || Some(http_date(DAY));
    for dates in [
        Dates {
            sums_changed: recent(),
            ..signed(60 * DAY)
        },
        Dates {
            package_changed: recent(),
            ..signed(60 * DAY)
        },
        Dates {
            published_at: Some(timestamp(hours_ago(DAY))),
            ..signed(60 * DAY)
        },
        Dates {
            sums_changed: Some(http_date(-DAY)),
            ..signed(60 * DAY)
        },
        Dates {
            published_at: Some("2999-01-01T00:00:00Z".to_owned()),
            ..signed(60 * DAY)
        },
    ] {
        let (registry, lab) = three_releases(WEEK);
        registry.set_dates("acme/demo", "1.2.0", dates.clone());
        assert_exit(&lock(&lab, &[]), 0);
        assert_eq!(locked(&lab), "1.1.0", "{dates:?}");
    }
}

#[test]
fn what_cannot_be_read_as_a_date_is_none() {
    let (registry, lab) = three_releases(WEEK);
    let dates = Dates {
        sums_changed: Some("yesterday".to_owned()),
        package_changed: Some("0".to_owned()),
        published_at: Some("soon".to_owned()),
        ..signed(60 * DAY)
    };
    registry.set_dates("acme/demo", "1.2.0", dates);
    for action in ["404", "500", "reset", "html", "bad_json"] {
        registry.reset(&json!({"rules": [
            {"kind": "release", "action": action, "times": -1},
        ]}));
        std::fs::remove_file(lab.path(LOCK)).ok();
        assert_exit(&lock(&lab, &[]), 0);
        assert_eq!(locked(&lab), "1.2.0", "{action}");
        assert!(lab.clock.slept().is_empty(), "no date is worth a wait");
    }
}

#[test]
fn without_a_release_that_is_old_enough_nothing_is_locked() {
    let (_registry, lab) = young_releases();
    let outcome = lock(&lab, &[]).exits(2);
    let days = [3 * DAY, 5 * DAY, 6 * DAY];
    let text = undated(&outcome.stderr, &days);
    text.replace(&day(hours_ago(-DAY)), "TOMORROW")
            .replace(&day(hours_ago(-2 * DAY)), "IN-2-DAYS")
            .replace(&day(hours_ago(-4 * DAY)), "IN-4-DAYS").reads(str![[r#"
error: no version of registry.terraform.io/acme/demo that may be selected is at least 7 days old
  cause: 1.2.0: signed DAY-A, 3 days ago; old enough on IN-4-DAYS
  cause: 1.1.0: signed DAY-B, 5 days ago; old enough on IN-2-DAYS
  cause: 1.0.0: signed DAY-C, 6 days ago; old enough on TOMORROW
  cause: required in main.tf:5 ("~> 1.0")
  help: wait until TOMORROW, when 1.0.0 is old enough, or state a shorter least age; `lockctl update . --flavor terraform@1.11 acme/demo@1.2.0 --min-age 0d` accepts any age

"#]]);
    assert!(!lab.path(LOCK).exists());
    lab.write(".lockctl.hcl", "policy {\n  min_age = \"5d\"\n}\n");
    assert_exit(&lock(&lab, &[]), 0);
    assert_eq!(locked(&lab), "1.1.0");
}

fn update(lab: &Lab, more: &[&str]) -> Outcome {
    lab.run(&[&["update", "--flavor", "terraform@1.11"], &LINUX[..], more].concat())
}

#[test]
fn update_moves_to_what_is_old_enough() {
    let (_registry, lab) = three_releases("");
    assert_exit(&lock(&lab, &[]), 0);
    assert_exit(&update(&lab, &["acme/demo@1.0.0"]), 0);
    let start = lab.read(LOCK);
    for (policy, more, exit, wanted) in [
        (WEEK, &[][..], 0, "1.1.0"),
        ("", &["--min-age", "7d"], 0, "1.1.0"),
        (WEEK, &["acme/demo"], 0, "1.1.0"),
        (WEEK, &["--min-age", "0d"], 0, "1.2.0"),
        (WEEK, &["--min-age", "2d"], 0, "1.2.0"),
        // What is locked stays, though it is too young as well.
        (WEEK, &["--min-age", "90d"], 0, "1.0.0"),
        (WEEK, &["acme/demo@1.2.0"], 2, "1.0.0"),
        (WEEK, &["acme/demo@1.2.0", "--min-age", "0d"], 0, "1.2.0"),
        (WEEK, &["--min-age", "7"], 2, "1.0.0"),
    ] {
        lab.write(LOCK, &start).write(".lockctl.hcl", policy);
        assert_exit(&update(&lab, more), exit);
        assert_eq!(locked(&lab), wanted, "{policy:?} {more:?}");
    }
}

#[test]
fn what_is_locked_stays_and_costs_no_question() {
    let (registry, lab) = three_releases("");
    assert_exit(&lock(&lab, &[]), 0);
    assert_eq!(locked(&lab), "1.2.0");
    let requests = |policy: &str| {
        lab.write(".lockctl.hcl", policy);
        registry.reset(&json!({}));
        assert_exit(&lock(&lab, &[]), 0);
        assert_eq!(locked(&lab), "1.2.0");
        let mut requests = registry.requests();
        // The list and its signature are fetched side by side.
        requests.sort();
        requests
    };
    let without = requests("");
    assert_eq!(requests(WEEK), without);
    assert!(
        !without.iter().any(|line| line.contains("/demo/1.2.0 ")),
        "{without:?}"
    );
}

#[test]
fn a_release_that_cannot_be_asked_about_is_not_taken_for_an_old_one() {
    let (registry, lab) = three_releases(WEEK);
    for rule in [
        json!({"kind": "signature", "action": "503", "path": "1.2.0", "times": -1}),
        json!({"kind": "signature", "action": "bad_signature", "path": "1.2.0", "times": -1}),
        json!({"kind": "download", "action": "no_keys", "path": "1.2.0", "times": -1}),
    ] {
        registry.reset(&json!({ "rules": [rule] }));
        lock(&lab, &[]).exits(2);
        assert!(!lab.path(LOCK).exists(), "{rule}");
    }
}

/// Locks from the network mirror, with the registry beside it for what it says of dates.
fn lock_from_mirror(registry: &Registry, lab: &Lab) -> Outcome {
    let url = format!("{}/mirror/", registry.url(Origin::Lab));
    let methods = format!(
        "provider_installation {{\n  network_mirror {{\n    url = \"{url}\"\n  }}\n  direct {{}}\n}}\n"
    );
    lab.write("mirrored", lab.read("rc") + &methods);
    std::fs::remove_file(lab.path(LOCK)).ok();
    let args = ["--installation", "cli", "--cli-config"];
    let path = lab.path("mirrored").display().to_string();
    lock(lab, &[&args[..], &[&path]].concat())
}

#[test]
fn a_release_of_unknown_date_passes_unless_it_is_refused() {
    let (registry, lab) = three_releases(WEEK);
    assert_exit(&lock_from_mirror(&registry, &lab), 0);
    assert_eq!(locked(&lab), "1.2.0");
    lab.write(".lockctl.hcl", REFUSE);
    lock_from_mirror(&registry, &lab).exits(2).stderr_eq(str![[r#"
error: no version of registry.terraform.io/acme/demo that may be selected is at least 7 days old
  cause: 1.2.0: of unknown date
  cause: 1.1.0: of unknown date
  cause: 1.0.0: of unknown date
  cause: required in main.tf:5 ("~> 1.0")
  help: nothing states a date of these releases: to accept them, leave out `undated = "refuse"` in the policy of the project file

"#]]);
}

#[test]
fn the_date_of_the_registry_alone_is_enough() {
    let (registry, lab) = three_releases(REFUSE);
    for (version, days) in [("1.2.0", 3), ("1.1.0", 60)] {
        let dates = Dates {
            published_at: Some(timestamp(hours_ago(days * DAY))),
            ..Dates::default()
        };
        registry.set_dates("acme/demo", version, dates);
    }
    let outcome = lock_from_mirror(&registry, &lab).exits(0);
    assert_eq!(locked(&lab), "1.1.0");
    outcome.stderr_has("1.2.0 (published ");
}

#[test]
fn a_mirror_on_this_machine_states_no_date() {
    let lab = Lab::new();
    lab.write("main.tf", DEMO);
    lab.packed(
        "mirror",
        "registry.terraform.io/acme/demo/1.0.0/linux_amd64",
        "x",
    );
    for (policy, exit) in [(WEEK, 0), (REFUSE, 2)] {
        lab.write(".lockctl.hcl", policy);
        std::fs::remove_file(lab.path(LOCK)).ok();
        lock(&lab, &["--fs-mirror", "mirror", "--offline"]).exits(exit);
    }
}

#[test]
fn verify_finds_what_is_locked_and_too_young() {
    let (registry, lab) = three_releases("");
    assert_exit(&lock(&lab, &[]), 0);
    assert_exit(&verify(&lab, &[]), 0);
    lab.write(".lockctl.hcl", WEEK);
    let outcome = verify(&lab, &[]).exits(1);
    undated(&outcome.stdout, &[3 * DAY, -4 * DAY]).reads(str![[r#"
error[release-too-young]: registry.terraform.io/acme/demo 1.2.0 is younger than 7 days, the least age that .lockctl.hcl allows
 --> .terraform.lock.hcl:5:17
  |
5 |   version     = "1.2.0"
  |                 ^^^^^^^ signed DAY-A, 3 days ago
  |
  = help: wait until DAY-B, when .lockctl.hcl allows it; `lockctl update . --flavor terraform@1.11 acme/demo@VERSION` moves to an older version: write it for VERSION

.terraform.lock.hcl: 1 error

"#]]);
    // A false date does not help.
    let dates = Dates {
        sums_changed: Some(http_date(4000 * DAY)),
        ..signed(3 * DAY)
    };
    registry.set_dates("acme/demo", "1.2.0", dates);
    assert_exit(&verify(&lab, &[]), 1);
    registry.set_dates("acme/demo", "1.2.0", signed(8 * DAY));
    assert_exit(&verify(&lab, &[]), 0);
    let dates = Dates {
        published_at: Some(timestamp(hours_ago(DAY))),
        ..signed(8 * DAY)
    };
    registry.set_dates("acme/demo", "1.2.0", dates);
    assert_exit(&verify(&lab, &[]), 1);
    let without = verify(&lab, &["--format", "json"]);
    let said = without.json();
    assert_eq!(said["roots"][0]["findings"][0]["rule"], "release-too-young");
    // Who leaves out the policy asks no more than without one.
    registry.reset(&json!({}));
    let args = ["verify", "--upstream", "--skip", "policy,platforms"];
    assert_exit(&lab.run(&args), 0);
    assert!(
        !registry
            .requests()
            .iter()
            .any(|line| line.contains("/demo/1.2.0 "))
    );
    let off = "rule \"release-too-young\" {\n  level = \"off\"\n  reason = \"a fix\"\n}\n";
    lab.write(".lockctl.hcl", format!("{WEEK}{off}"));
    assert_exit(&verify(&lab, &[]), 0);
}

#[test]
fn show_lists_dates() {
    let (registry, lab) = three_releases("");
    assert_exit(&lock(&lab, &[]), 0);
    registry.reset(&json!({}));
    let outcome = lab.run(&["show"]).exits(0);
    assert!(registry.entries().is_empty());
    outcome.stdout_lacks("DATE");
    let dates = Dates {
        sums_changed: Some(http_date(2 * DAY)),
        ..signed(3 * DAY)
    };
    registry.set_dates("acme/demo", "1.2.0", dates);
    let outcome = lab.run(&["show", "--upstream", "-v"]).exits(0);
    let text = undated(&outcome.stdout, &[3 * DAY, 2 * DAY]);
    text.lines().take(5).collect::<Vec<_>>().join("\n").reads(str![[r#"
PROVIDER   VERSION  CONSTRAINTS  h1  zh  other  KNOWN PLATFORMS  LATEST DATE
acme/demo  1.2.0    ~> 1.0       1   4   0      linux_amd64      checksum list changed DAY-B, 2 days ago
    signed DAY-A, 3 days ago
    checksum list changed DAY-B, 2 days ago
    h1:FVZEYTCDF2drCMv0X4Zi9BG46/YRX1Qyaem1T0XFAhI=  linux_amd64
"#]]);
    let outcome = lab.run(&["show", "--upstream", "--format", "json"]);
    let said: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let dates = &said["roots"][0]["providers"][0]["dates"];
    let sources = [&dates[0]["source"], &dates[1]["source"]];
    assert_eq!(sources, ["signature", "checksum-list"]);
    lab.run(&["show", "--upstream", "--offline"]).exits(2);
    registry.reset(&json!({"rules": [
        {"kind": "versions", "action": "404", "times": -1},
    ]}));
    let outcome = lab.run(&["show", "--upstream"]).exits(2);
    steady(&registry, &outcome.stdout).reads(str![[r#"
PROVIDER   VERSION  CONSTRAINTS  h1  zh  other  KNOWN PLATFORMS  LATEST DATE
acme/demo  1.2.0    ~> 1.0       1   4   0      linux_amd64      -

"#]]);
    steady(&registry, &outcome.stderr).reads(str![[r#"
error: the registry of registry.terraform.io has no provider registry.terraform.io/acme/demo
  help: check the source address; a provider without one in required_providers is taken for one of the namespace hashicorp

"#]]);
}

#[test]
fn outdated_shows_dates_and_what_is_too_young() {
    let (registry, lab) = three_releases(WEEK);
    lab.write("main.tf", DEMO.replace("~> 1.0.0", "1.0.0"));
    assert_exit(&lock(&lab, &[]), 0);
    lab.write("main.tf", DEMO.replace("~> 1.0.0", ">= 1.0.0, < 1.2.0"));
    let outdated = |more: &[&str]| {
        let args = ["outdated", "--flavor", "terraform@1.11"];
        lab.run(&[&args, more].concat())
    };
    let outcome = outdated(&[]).exits(0);
    outcome.stdout_eq(str![[r#"
PROVIDER   LOCKED  ALLOWED                      NEWEST                     STATE           EXCLUDED BY
acme/demo  1.0.0   1.1.0 (minor, 2 months ago)  1.2.0 (minor, 3 days ago)  can be updated  ">= 1.0.0, < 1.2.0" at main.tf:5
.terraform.lock.hcl: 1 provider: 1 can be updated

"#]]);
    outcome.stderr_eq(str![[r#"
note: `lockctl update . --flavor terraform@1.11` moves what can be updated

"#]]);
    // An allowed release that is too young is named, beside the older one that `update` takes.
    lab.write("main.tf", DEMO.replace("~> 1.0.0", "~> 1.0"));
    let outcome = outdated(&[]);
    outcome.stdout_eq(str![[r#"
PROVIDER   LOCKED  ALLOWED                      NEWEST                     STATE
acme/demo  1.0.0   1.1.0 (minor, 2 months ago)  1.2.0 (minor, 3 days ago)  can be updated
.terraform.lock.hcl: 1 provider: 1 can be updated

"#]]);
    undated(&outcome.stderr, &[3 * DAY]).reads(str![[r#"
note: acme/demo 1.2.0 (signed DAY-A, 3 days ago) is younger than 7 days, so `update` passes over it and takes 1.1.0
note: `lockctl update . --flavor terraform@1.11` moves what can be updated

"#]]);
    let object: Value = serde_json::from_str(&outdated(&["--format", "json"]).stdout).unwrap();
    let row = &object["roots"][0]["providers"][0];
    assert_eq!(
        (&row["state"], &row["old_enough"]),
        (&json!("behind"), &json!("1.1.0"))
    );
    let sources = |dates: &Value| {
        let dates = dates.as_array().unwrap().iter();
        dates.map(|date| date["source"].clone()).collect::<Value>()
    };
    assert_eq!(sources(&row["dates"]), json!(["signature"]));
    assert_eq!(row["dates"], row["allowed_dates"]);
    // Where no other one is newer and old enough, the newest that is allowed stands there.
    lab.write(LOCK, lab.read(LOCK).replace("\"1.0.0\"", "\"1.1.0\""));
    let object: Value = serde_json::from_str(&outdated(&["--format", "json"]).stdout).unwrap();
    let row = &object["roots"][0]["providers"][0];
    assert_eq!(
        (&row["state"], &row["old_enough"]),
        (&json!("too-young"), &json!(null))
    );
    // Without its evidence a release has no date, and is compared all the same.
    registry.reset(&json!({"rules": [
        {"kind": "download", "action": "404", "times": -1},
    ]}));
    let object: Value = serde_json::from_str(&outdated(&["--format", "json"]).stdout).unwrap();
    let row = &object["roots"][0]["providers"][0];
    assert_eq!(
        (&row["newest"], &row["dates"]),
        (&json!("1.2.0"), &json!([]))
    );
}

#[test]
fn programs_read_every_date_with_its_source() {
    let (registry, lab) = three_releases(WEEK);
    let published_at = timestamp(hours_ago(2 * DAY));
    let dates = Dates {
        sums_changed: Some(http_date(400 * DAY)),
        published_at: Some(published_at.clone()),
        ..signed(3 * DAY)
    };
    registry.set_dates("acme/demo", "1.2.0", dates);
    let outcome = lock(&lab, &["--format", "json"]).exits(0);
    let said = outcome.json();
    let provider = &said["roots"][0]["providers"][0];
    assert_eq!(provider["version"], "1.1.0");
    let sources = |dates: &Value| -> Vec<String> {
        let dates = dates.as_array().unwrap().iter();
        let sources = dates.map(|date| date["source"].as_str().unwrap().to_owned());
        sources.collect()
    };
    assert_eq!(sources(&provider["dates"]), ["signature"]);
    let passed_over = &provider["passed_over"][0];
    assert_eq!(passed_over["version"], "1.2.0");
    let all = ["signature", "registry", "checksum-list"];
    assert_eq!(sources(&passed_over["dates"]), all);
    assert_eq!(passed_over["dates"][1]["time"], published_at);
    let old_enough = passed_over["old_enough_at"].as_str().unwrap();
    assert_eq!(old_enough[..10], day(hours_ago(-5 * DAY)));
}
