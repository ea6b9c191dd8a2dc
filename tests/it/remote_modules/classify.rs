//! Sources of calls and their normal forms: group `classify`.

use lockctl::addr::module::{ModuleSource, RegistryModule};
use lockctl::flavor::Flavor;
use lockctl::version::CoreConstraints;

use crate::remote_modules::recorded;

/// OpenTofu asks a host about these when it reads them, and no answer was recorded (`addr` rules 5.6).
const ASKED: [&str; 3] = ["c052", "c096", "c097"];

/// Reads a call as `get` does, with the title of the error.
fn read(source: &str, version: Option<&str>, flavor: Flavor) -> Result<String, String> {
    let Some(version) = version else {
        let source = ModuleSource::parse(source, flavor);
        return source
            .map(|source| source.to_string())
            .map_err(|error| error.title().to_owned());
    };
    CoreConstraints::parse(version).map_err(|_| "Invalid version constraint".to_owned())?;
    let module = RegistryModule::parse(source, flavor);
    module
        .map(|module| module.to_string())
        .map_err(|error| error.title().to_owned())
}

#[test]
fn sources_are_read_as_the_programs_do() {
    let mut replayed = 0;
    for case in recorded::load("classify") {
        let id = case["id"].as_str().unwrap();
        let input = &case["input"];
        let source = input["source"].as_str().unwrap();
        for (program, flavor) in recorded::PROGRAMS {
            if flavor.is_opentofu() && ASKED.contains(&id) {
                continue;
            }
            let Some(outcome) = recorded::outcome(&case, program) else {
                continue;
            };
            let found = read(source, input["version"].as_str(), flavor);
            let found = found.map(|source| recorded::as_terraform(&source));
            let wanted = match &outcome["source"] {
                serde_json::Value::String(source) => Ok(recorded::as_terraform(source)),
                _ => Err(outcome["error"].as_str().expect("an error").to_owned()),
            };
            assert_eq!(found, wanted, "{id} ({source:?}) for {program}");
            replayed += 1;
        }
    }
    println!("classify: {replayed} rows replayed");
    assert!(replayed > 370, "{replayed}");
}

#[test]
fn a_normal_form_is_its_own_normal_form() {
    for case in recorded::load("classify") {
        let source = case["input"]["source"].as_str().unwrap();
        let Ok(first) = ModuleSource::parse(source, Flavor::Terraform1_11) else {
            continue;
        };
        let again = ModuleSource::parse(&first.to_string(), Flavor::Terraform1_11);
        assert_eq!(again.as_ref().ok(), Some(&first), "of {source:?}");
    }
}
