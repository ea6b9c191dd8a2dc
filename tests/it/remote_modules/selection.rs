//! Which version of a module is selected: group `selection`.

use lockctl::sources::modules::{ModuleVersions, NoSelection};
use lockctl::version::CoreConstraints;
use serde_json::Value;

use crate::remote_modules::recorded;

/// A version with four numbers is none to lockctl (`version` rules 6.7).
const FOUR_NUMBERS: &str = "s037";

#[test]
fn versions_are_selected_as_the_programs_do() {
    let mut replayed = 0;
    for case in recorded::load("selection") {
        let id = case["id"].as_str().unwrap();
        let listed = case["input"]["versions"].as_array().unwrap();
        let versions = ModuleVersions::read(listed.iter().map(|one| one.as_str().unwrap()));
        if id == FOUR_NUMBERS {
            assert_eq!(versions.unreadable, ["1.2.3.4"]);
            continue;
        }
        for (program, flavor) in recorded::PROGRAMS {
            let outcome = recorded::outcome(&case, program).unwrap();
            let context = format!("{id} for {program}: {}", case["input"]);
            let warned = outcome["warning"].is_string();
            assert_eq!(!versions.unreadable.is_empty(), warned, "{context}");
            let wanted = case["input"]["version"].as_str();
            let Ok(wanted) = wanted.map(CoreConstraints::parse).transpose() else {
                assert_eq!(outcome["error"], "Invalid version constraint", "{context}");
                continue;
            };
            let found = match versions.select(wanted.as_ref(), flavor) {
                Ok(version) => Ok(version.to_string()),
                Err(NoSelection::NoVersions) => Err("Module has no versions".to_owned()),
                Err(NoSelection::Unmet { newest }) => {
                    let text = outcome["text"].as_str().unwrap();
                    let says = format!("The newest available version is {newest}.");
                    assert!(text.ends_with(&says), "{context}: {newest}");
                    Err("Unresolvable module version constraint".to_owned())
                }
            };
            let wanted = match &outcome["version"] {
                Value::String(version) => Ok(version.clone()),
                _ => Err(outcome["error"].as_str().unwrap().to_owned()),
            };
            assert_eq!(found, wanted, "{context}");
            replayed += 1;
        }
    }
    println!("selection: {replayed} rows replayed");
    assert!(replayed > 80, "{replayed}");
}
