//! Requirements in the form in which `terraform providers` shows them.

use std::collections::BTreeMap;

use lockctl::requirement::{RequirementOrigin, Requirements};
use lockctl::version::Constraints;

/// Each module with the constraint text of each address: `""` is the root, `module.a.module.b` a
/// call below it, `test.X.run.Y` a run of a test file, `state` the state.
pub(crate) type Modules = BTreeMap<String, BTreeMap<String, String>>;

/// Returns what each module requires.
pub(crate) fn by_module(requirements: &Requirements) -> Modules {
    let mut modules: BTreeMap<String, BTreeMap<String, Constraints>> = BTreeMap::new();
    for (addr, places) in &requirements.providers {
        for place in places {
            let name = match place.origin {
                RequirementOrigin::State => "state".to_owned(),
                _ => place.module.to_string(),
            };
            let here = modules.entry(name);
            let all = here.or_default().entry(addr.to_string()).or_default();
            *all = std::mem::take(all).union((*place.constraints).clone());
        }
    }
    let texts = |here: BTreeMap<String, Constraints>| {
        let here = here.into_iter();
        here.map(|(addr, all)| (addr, all.to_string())).collect()
    };
    let modules = modules.into_iter();
    modules.map(|(name, here)| (name, texts(here))).collect()
}
