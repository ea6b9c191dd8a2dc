use std::sync::Arc;

use super::*;
use crate::diag::Span;
use crate::requirement::{ModulePath, Requirement, RequirementOrigin};

#[track_caller]
fn check(constraints: &str, locked: Option<&str>, wanted: &str) {
    let query = ProviderQuery {
        provider: ProviderAddr::parse("a/x", Flavor::Terraform1_16).expect("an address"),
        constraints: Constraints::parse_lock(constraints).expect("constraints"),
        locked: locked.map(|version| version.parse().expect("a version")),
        goal: Goal::Keep,
    };
    let error = select(&query, &[]).expect_err("nothing is offered");
    let wanted = wanted.replace("X", "registry.terraform.io/a/x");
    assert_eq!(error.to_string(), wanted);
}

#[test]
fn an_error_names_what_keeps_a_version_out() {
    check(
        "",
        Some("1.0.0-beta1"),
        "the locked version 1.0.0-beta1 of X is a pre-release, and no constraint names it exactly",
    );
    check(
        ">= 0.9.0",
        Some("1.0.0-beta1"),
        "the locked version 1.0.0-beta1 of X is a pre-release, and no constraint names it exactly",
    );
    check(
        "> 1.0.0",
        Some("1.0.0"),
        "the locked version 1.0.0 of X does not meet the constraints \"> 1.0.0\"",
    );
    check(
        "",
        None,
        "no offered version of X is a release, and no constraint names a pre-release exactly",
    );
    check(
        "> 1.0.0",
        None,
        "no offered version of X meets the constraints \"> 1.0.0\"",
    );
}

/// Returns the candidates as text, or the error.
fn found(goal: Goal, locked: &str, constraints: &str, offered: &str) -> String {
    let version = |text: &str| text.parse().expect("a version");
    let query = ProviderQuery {
        provider: ProviderAddr::parse("a/x", Flavor::Terraform1_16).expect("an address"),
        constraints: Constraints::parse_lock(constraints).expect("constraints"),
        locked: (!locked.is_empty()).then(|| version(locked)),
        goal,
    };
    let offered: Vec<Version> = offered.split_whitespace().map(version).collect();
    match candidates(&query, &offered) {
        Ok(found) => {
            let found: Vec<String> = found.iter().map(ToString::to_string).collect();
            found.join(" ")
        }
        Err(error) => error.to_string().replace("registry.terraform.io/a/x", "X"),
    }
}

const OFFERED: &str = "1.1.0 1.2.0 1.2.3 1.3.0 2.0.0-beta1 2.1.0";

#[track_caller]
fn check_newest(reach: Reach, locked: &str, constraints: &str, wanted: &str) {
    let found = found(Goal::Newest(reach), locked, constraints, OFFERED);
    assert_eq!(
        found, wanted,
        "{reach:?} from {locked:?} by {constraints:?}"
    );
}

#[test]
fn the_newest_version_is_within_reach() {
    use Reach::{Any, SameMajor, SameMinor};
    check_newest(Any, "1.2.0", "", "2.1.0 1.3.0 1.2.3 1.2.0 1.1.0");
    check_newest(SameMajor, "1.2.0", "", "1.3.0 1.2.3 1.2.0");
    check_newest(SameMinor, "1.2.0", "", "1.2.3 1.2.0");
    check_newest(SameMinor, "1.2.0", "< 1.2.3", "1.2.0");
    // Without a lock nothing is far.
    check_newest(SameMinor, "", "~> 1.1", "1.3.0 1.2.3 1.2.0 1.1.0");
    // Only constraints lead down.
    check_newest(Any, "3.0.0", "", "2.1.0 1.3.0 1.2.3 1.2.0 1.1.0");
    check_newest(SameMajor, "1.3.0", "< 1.3.0", "1.2.3 1.2.0 1.1.0");
    check_newest(SameMinor, "1.2.3", "< 1.2.3", "1.2.0");
    check_newest(
        SameMajor,
        "1.4.0",
        "",
        "no offered version 1.x of X is 1.4.0 or newer",
    );
    check_newest(
        SameMinor,
        "1.2.3",
        ">= 1.3.0",
        "no offered version 1.2.x of X meets the constraints \">= 1.3.0\"",
    );
    check_newest(
        SameMinor,
        "1.2.3",
        "> 3.0.0",
        "no offered version of X meets the constraints \"> 3.0.0\"",
    );
}

#[track_caller]
fn check_exactly(version: &str, constraints: &str, wanted: &str) {
    let goal = Goal::Exactly(version.parse().expect("a version"));
    let found = found(goal, "1.3.0", constraints, OFFERED);
    assert_eq!(found, wanted, "{version} by {constraints:?}");
}

#[test]
fn a_named_version_must_be_allowed_and_offered() {
    check_exactly("1.2.0", "", "1.2.0");
    check_exactly("2.0.0-beta1", "2.0.0-beta1", "2.0.0-beta1");
    check_exactly(
        "2.0.0-beta1",
        ">= 1.0.0",
        "X 2.0.0-beta1 is a pre-release, and no constraint names it exactly",
    );
    check_exactly(
        "2.1.0",
        "~> 1.0",
        "X 2.1.0 does not meet the constraints \"~> 1.0\"",
    );
    check_exactly("1.9.0", "~> 1.0", "X 1.9.0 is not offered");
}

/// Writes a conflict over one requirement for each condition: its kind, then each place with what it
/// allows by itself and what there would be without it.
#[track_caller]
fn check_conflict(written: &[&str], offered: &str, wanted: &str) {
    let provider = ProviderAddr::parse("a/x", Flavor::Terraform1_16).expect("an address");
    let file = crate::diag::Texts::default().add("main.tf", Vec::new());
    let place = |(at, text): (usize, &&str)| Requirement {
        constraints: Arc::new(Constraints::parse_lock(text).expect("constraints")),
        module: ModulePath::default(),
        origin: RequirementOrigin::RequiredProviders,
        file,
        span: Span {
            start: at,
            end: at + 1,
        },
    };
    let places = written.iter().enumerate().map(place).collect();
    let requirements = Requirements {
        providers: [(provider.clone(), places)].into(),
        ..Requirements::default()
    };
    let offered = offered.split_whitespace();
    let offered = offered.map(|text| text.parse().expect("a version"));
    let offered: Vec<Version> = offered.collect();
    let conflict = ConstraintConflict::of(&requirements, &provider, &offered);
    let text = conflict.map_or_else(String::new, |conflict| {
        let version = |version: &Option<Version>| match version {
            Some(version) => version.to_string(),
            None => "-".to_owned(),
        };
        let mut text = format!("{:?}", conflict.kind);
        for one in &conflict.places {
            let (allows, without) = (version(&one.allows), version(&one.without));
            let constraints = &one.place.constraints;
            text += &format!("; {constraints} +{}: {allows}, {without}", one.others);
        }
        if conflict.unnamed.is_some() {
            text += &format!("; unnamed {}", version(&conflict.unnamed));
        }
        text
    });
    assert_eq!(text, wanted, "of {written:?} over {offered:?}");
}

#[test]
fn a_conflict_says_what_each_place_allows_and_what_its_change_would_bring() {
    let offered = "1.0.0 1.4.0 2.0.0 2.1.0";
    check_conflict(&["", "< 2", ">= 1.4"], offered, "");
    check_conflict(
        &[">= 2", "", "< 2.0.0"],
        offered,
        "Contradiction; >= 2.0.0 +0: 2.1.0, 1.4.0; < 2.0.0 +0: 1.4.0, 2.1.0",
    );
    check_conflict(
        &["> 1.4.0", "< 2", "< 2"],
        offered,
        "NotOffered; > 1.4.0 +0: 2.1.0, 1.4.0; < 2.0.0 +1: 1.4.0, 2.1.0",
    );
    check_conflict(
        &["> 3", "< 2"],
        "1.0.0",
        "Contradiction; > 3.0.0 +0: -, 1.0.0; < 2.0.0 +0: 1.0.0, -",
    );
    check_conflict(&["> 3"], offered, "NotOffered; > 3.0.0 +0: -, 2.1.0");
    // No single change helps where two places exclude everything.
    check_conflict(&["> 3", "> 4"], offered, "NotOffered; > 4.0.0 +0: -, -");
    check_conflict(&[""], "1.0.0-rc1", "NoPlace; unnamed 1.0.0-rc1");
    check_conflict(
        &["> 1.0.0"],
        "1.0.0 1.1.0-rc1",
        "NotOffered; > 1.0.0 +0: -, 1.0.0; unnamed 1.1.0-rc1",
    );
    check_conflict(&["> 1.0.0"], "", "NoPlace");
}

#[test]
fn an_outlook_names_the_newest_that_counts() {
    let version = |text: &str| text.parse::<Version>().expect("a version");
    let outlook = |constraints: &str, locked: &str, offered: &str| {
        let query = ProviderQuery {
            provider: ProviderAddr::parse("a/x", Flavor::Terraform1_16).expect("an address"),
            constraints: Constraints::parse_lock(constraints).expect("constraints"),
            locked: Some(version(locked)),
            goal: Goal::Newest(Reach::Any),
        };
        let offered: Vec<Version> = offered.split_whitespace().map(version).collect();
        let outlook = Outlook::of(&query, &offered);
        let text = |version: Option<&Version>| version.map_or("-".to_owned(), ToString::to_string);
        let (newest, allowed) = (outlook.newest.as_ref(), outlook.allowed.as_ref().ok());
        (text(newest), text(allowed), outlook.offers_locked)
    };
    let row = |newest: &str, allowed: &str, offers| (newest.to_owned(), allowed.to_owned(), offers);
    let offered = "0.0.0 1.0.0 1.1.0 2.0.0 3.0.0-rc1";
    assert_eq!(
        outlook("~> 1.0", "1.0.0", offered),
        row("2.0.0", "1.1.0", true)
    );
    assert_eq!(outlook("", "1.5.0", offered), row("2.0.0", "2.0.0", false));
    assert_eq!(
        outlook("3.0.0-rc1", "1.0.0", offered),
        row("3.0.0-rc1", "3.0.0-rc1", true)
    );
    assert_eq!(
        outlook("> 2.0.0", "1.0.0", offered),
        row("2.0.0", "-", true)
    );
    assert_eq!(outlook("", "1.0.0", "1.0.0-rc1"), row("-", "-", false));
}
