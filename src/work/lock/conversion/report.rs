//! The report on a root that was converted.

use crate::diag::Texts;
use crate::flavor::{FlavorChoice, Program};
use crate::lock::opened::OpenRoot;
use crate::locker::{Conversion, NotConverted};
use crate::report::RootResult;
use crate::report::json::{ConvertedProvider, Provider, RemovedProvider};
use crate::requirement::{Requirement, RequirementOrigin};
use crate::world::Files;

/// Reports what became of each entry, and what else keeps a root with the other program.
pub(crate) fn report(result: &mut RootResult, opened: &OpenRoot, texts: &Texts, files: &dyn Files) {
    if let Some(conversion) = &opened.conversion {
        entries(result, conversion, opened, texts);
    }
    let root = &opened.root;
    let program = root.flavor.program();
    if let FlavorChoice::Stated(stated) = root.project().flavor
        && stated.flavor.program() != program
    {
        result.warn(format!(
            "{} states flavor = \"{}\": change that, else the other commands read this root as before",
            root.project_name(),
            stated.flavor
        ));
    }
    // The way back is no problem: OpenTofu reads `.tf` files, too (`config` rules 1.4).
    if program == Program::Terraform && root.has_tofu_files(files) {
        result.warn("Terraform does not read the `.tofu` files beside the lock file");
    }
}

fn entries(result: &mut RootResult, conversion: &Conversion, opened: &OpenRoot, texts: &Texts) {
    let mut rows = Vec::new();
    for entry in &conversion.moved {
        rows.push(ConvertedProvider {
            provider: entry.from.clone(),
            version: entry.version.clone(),
            to: Some(entry.to.clone()),
            reason: None,
            places: Vec::new(),
        });
    }
    // An address that is written in full, and one on a third registry, means the same to both programs
    // (`locker` rules 5.1).
    for (addr, staying) in &conversion.staying {
        let Some(entry) = conversion.lock.providers.get(addr) else {
            continue;
        };
        let places = match staying {
            // No line of the configuration keeps it there.
            NotConverted::OtherHost => None,
            NotConverted::Named | NotConverted::State => {
                opened.loaded.requirements.providers.get(addr)
            }
        };
        rows.push(ConvertedProvider {
            provider: addr.clone(),
            version: entry.version.clone(),
            to: None,
            reason: Some(*staying),
            places: places
                .into_iter()
                .flatten()
                .map(|requirement| place(requirement, texts))
                .collect(),
        });
    }
    result.lock_mut().converted = Some(rows);
    // An entry on the program's own registry counts, even if the other one differs (`locker` rules 5.1).
    for entry in &conversion.superseded {
        result.providers.push(Provider::Removed(RemovedProvider {
            provider: entry.from.to_string(),
            removed: true,
        }));
        result.remark(format!(
            "the entry of {} {} is left out: the lock file has {} {} already",
            entry.from, entry.version, entry.to, entry.own
        ));
    }
}

/// Names the line that requires a provider, or the state.
pub(super) fn place(requirement: &Requirement, texts: &Texts) -> String {
    let name = texts.name(requirement.file);
    if requirement.origin == RequirementOrigin::State {
        return name.to_owned();
    }
    let position = texts.position(requirement.file, requirement.span.start);
    format!("{name}:{}", position.line)
}
