//! Replays what the programs did with versions and constraints: every recorded case of five
//! groups, for all four programs.

use lockctl::flavor::Flavor;
use lockctl::version::{Constraints, CoreConstraints, Operator, Version};
use serde_json::Value;

use crate::cases;

/// What the recorder wrote where a program panicked; we answer instead.
const CRASHED: &str = "terraform crashed (internal panic)";

/// The recorded crash in `selection`: a directory name with a number above 64 bits.
const CRASHED_SELECTION: &str = "selection/61";

/// Runs a check on every case of a group for every program.
#[track_caller]
#[allow(clippy::print_stdout, reason = "a replay says what it ran")]
fn replay(group: &str, check: impl Fn(&Value, Flavor)) {
    let cases = cases::load(group);
    for program in Flavor::ALL {
        for case in &cases {
            check(&case.for_program(program), program);
        }
        println!("{group}: {} cases replayed for {program}", cases.len());
    }
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().expect("the field holds a text")
}

fn texts<'a>(value: &'a Value, field: &str) -> Vec<&'a str> {
    let items = value[field].as_array().expect("the field holds a list");
    items.iter().map(|item| item.as_str().unwrap()).collect()
}

#[test]
fn versions() {
    replay("versions", |case, program| {
        let context = format!("{} for {program}", case["id"]);
        let input = text(case, "input");
        let parsed = input.parse::<Version>();
        assert_eq!(parsed.is_ok(), case["valid"] == true, "{context}");
        match parsed {
            Ok(version) => {
                assert_eq!(version.to_string(), text(case, "canonical"), "{context}");
                let is_canonical = version.to_string() == input;
                assert_eq!(is_canonical, case["canonical_in_lock"] == true, "{context}");
            }
            Err(error) => {
                let crashed = text(case, "error") == CRASHED;
                assert_eq!(is_too_large(&error), crashed, "{context}: {error}");
            }
        }
    });
}

/// The programs crash at such a number.
fn is_too_large(error: &impl std::error::Error) -> bool {
    error.to_string().ends_with("a number is too large")
}

#[test]
fn constraints() {
    replay("constraints", |case, program| {
        let context = format!("{} for {program}", case["id"]);
        let input = text(case, "input");

        let (lock, parsed) = (&case["lock"], Constraints::parse_lock(input));
        assert_eq!(parsed.is_ok(), lock["valid"] == true, "lock {context}");
        match parsed {
            Ok(constraints) => {
                let canonical = constraints.to_string();
                assert_eq!(canonical, text(lock, "canonical"), "lock {context}");
                let is_canonical = canonical == input;
                assert_eq!(is_canonical, lock["canonical_in_lock"] == true, "{context}");
            }
            Err(error) => {
                let crashed = text(lock, "error") == CRASHED;
                assert_eq!(is_too_large(&error), crashed, "{context}: {error}");
            }
        }

        let (config, parsed) = (&case["config"], Constraints::parse_config(input));
        assert_eq!(parsed.is_ok(), config["valid"] == true, "config {context}");
        match parsed {
            Ok(constraints) => {
                let canonical = constraints.to_string();
                assert_eq!(canonical, text(config, "canonical"), "config {context}");
            }
            Err(_) => {
                let title = "Invalid version constraint";
                assert_eq!(text(config, "error"), title, "config {context}");
                // The recorder found a reason only where the strict grammar gave it.
                let is_strict = config.get("why").is_some();
                assert_eq!(
                    CoreConstraints::parse(input).is_ok(),
                    is_strict,
                    "{context}"
                );
            }
        }
    });
}

/// Joins what the modules of a case state.
fn required(case: &Value) -> Result<Constraints, lockctl::version::ConstraintError> {
    let modules = case["module_constraints"].as_array().unwrap();
    let stated = modules.iter().filter_map(Value::as_str);
    stated
        .map(Constraints::parse_config)
        .try_fold(Constraints::default(), |all, one| Ok(all.union(one?)))
}

/// Reads directory names of a mirror, where those that are no version are skipped.
fn offered<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<Version> {
    names.into_iter().flat_map(str::parse).collect()
}

#[test]
fn merge() {
    replay("merge", |case, program| {
        let context = format!("{} for {program}", case["id"]);
        let required = required(case);
        assert_eq!(required.is_ok(), case["ok"] == true, "{context}");
        let Ok(required) = required else {
            let titles = texts(case, "errors");
            assert!(titles.contains(&"Invalid version constraint"), "{context}");
            return;
        };
        let line = (!required.is_empty()).then(|| required.to_string());
        assert_eq!(
            line.as_deref(),
            case["lock_constraints"].as_str(),
            "{context}"
        );
        let offered = offered(texts(case, "available"));
        let newest = required.newest(offered.iter()).map(Version::to_string);
        assert_eq!(
            newest.as_deref(),
            case["lock_version"].as_str(),
            "{context}"
        );
    });
}

/// Says in the recorder's words how a selection ends.
fn select(case: &Value, program: Flavor) -> Result<String, &'static str> {
    let required = required(case).expect("the constraints of this group are valid");
    let names = match case["available_by_platform"].as_object() {
        Some(by_platform) => by_platform.keys().map(String::as_str).collect(),
        None => texts(case, "available"),
    };
    if names.is_empty() {
        return Err("provider-not-found");
    }
    let demands_zero = required
        .iter()
        .any(|term| term.operator() == Operator::Exact && term.version().is_unspecified());
    if demands_zero && program.is_opentofu() {
        return Err("zero-version");
    }
    let offered = offered(names);
    let newest = required
        .newest(offered.iter())
        .ok_or("no-release-matches")?;
    if let Some(by_platform) = case["available_by_platform"].as_object() {
        let platforms = by_platform[&newest.to_string()].as_array().unwrap();
        if !platforms.contains(&case["platform"]) {
            assert_eq!(
                newest.to_string(),
                "2.0.0",
                "the newest, whatever its platforms"
            );
            return Err("platform-not-supported");
        }
    }
    Ok(newest.to_string())
}

#[test]
fn selection() {
    replay("selection", |case, program| {
        let context = format!("{} for {program}", case["id"]);
        let selected = select(case, program);
        if case["id"] == CRASHED_SELECTION {
            assert_eq!(texts(case, "errors"), [CRASHED], "{context}");
            assert_eq!(selected.as_deref(), Ok("1.0.0"), "{context}");
            return;
        }
        assert_eq!(selected.is_ok(), case["ok"] == true, "{context}");
        match selected {
            Ok(version) => assert_eq!(version, text(case, "selected"), "{context}"),
            Err(why) => {
                assert!(case["selected"].is_null(), "{context}");
                assert_eq!(why, text(case, "why"), "{context}");
            }
        }
    });
}

#[test]
fn core_version() {
    replay("core_version", |case, program| {
        let context = format!("{} for {program}", case["id"]);
        let core: Version = text(case, "core").parse().expect("valid");
        let (result, title) = match CoreConstraints::parse_required(text(case, "input")) {
            Ok(constraints) if constraints.allows(&core.without_suffixes()) => ("accepted", None),
            Ok(_) if program.is_opentofu() => ("refused", Some("Incompatible module")),
            Ok(_) => ("refused", Some("Unsupported Terraform Core version")),
            Err(error) if error.is_forbidden_prerelease() => {
                ("invalid", Some("Invalid required_version constraint"))
            }
            Err(_) => ("invalid", Some("Invalid version constraint")),
        };
        assert_eq!(result, text(case, "result"), "{context}");
        assert_eq!(
            title.into_iter().collect::<Vec<_>>(),
            texts(case, "errors"),
            "{context}"
        );
    });
}
