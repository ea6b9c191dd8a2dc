//! The text of `lockctl why`.

use std::collections::BTreeMap;

use crate::cli::Look;
use crate::cli::session::computed;
use crate::diag::counted;
use crate::flavor::Flavor;
use crate::report::json::RootStatus;
use crate::report::json::{
    ComputedModule, ExplainedProvider, Overridden, PlaceKind, Provider, RequiringPlace,
};
use crate::report::{self, RootResult, TextBlock, Tone};
use crate::run::unseen::some_of;

/// Maximum number of modules with a computed source that are explained unless all are wanted.
const MAX_COMPUTED: usize = 5;

pub(super) fn of_root(root: &RootResult, look: Look) -> Vec<TextBlock> {
    let (Some(flavor), Some(Provider::Explained(explained))) =
        (root.flavor, root.providers.first())
    else {
        return Vec::new();
    };
    if !explained.places.is_empty() {
        let (tone, verdict) = verdict(explained, flavor);
        let mut blocks = vec![TextBlock::Table(rows(&explained.places, look))];
        blocks.extend(computed_modules(&explained.computed_modules, look));
        blocks.push(TextBlock::Verdict(tone, verdict));
        return blocks;
    }
    // Another root requires it.
    if root.status == RootStatus::Clean {
        return Vec::new();
    }
    vec![TextBlock::Verdict(
        Tone::Warning,
        not_required(explained, flavor),
    )]
}

/// Says that nothing requires the provider.
pub(super) fn not_required(explained: &ExplainedProvider, flavor: Flavor) -> String {
    let what = if explained.are_calls_seen {
        "nothing in the configuration"
    } else {
        "nothing that can be seen of the configuration"
    };
    let mut text = format!("{what} requires {}", explained.provider.short(flavor));
    if let Some(version) = &explained.locked {
        text += &format!("; the lock file holds {version}");
    }
    text
}

/// Makes a row for each place; ways that lead to the same one share it unless all are shown.
fn rows(places: &[RequiringPlace], look: Look) -> Vec<Vec<String>> {
    let mut rows: Vec<Vec<&RequiringPlace>> = Vec::new();
    let mut known = BTreeMap::new();
    for place in places {
        let new = rows.len();
        let row = if look.verbose {
            new
        } else {
            // A module that is called several times requires the provider from one place in several ways.
            let key = (&place.file, place.line, place.column, place.by);
            *known.entry(key).or_insert(new)
        };
        if row == new {
            rows.push(Vec::new());
        }
        rows[row].push(place);
    }
    rows.into_iter()
        .map(|same| {
            let constraints = match same[0].constraints.as_str() {
                "" => "any version",
                constraints => constraints,
            };
            vec![
                named(same[0]),
                constraints.to_owned(),
                some_of(same.iter().map(|place| module(place))).join(", "),
                kind(same[0]),
            ]
        })
        .collect()
}

/// Shows how modules on the ways to the places got their sources; of many the first ones, unless all are
/// shown.
fn computed_modules(modules: &[ComputedModule], look: Look) -> Vec<TextBlock> {
    let shown = if look.verbose {
        modules.len()
    } else {
        MAX_COMPUTED.min(modules.len())
    };
    let mut blocks: Vec<TextBlock> = modules[..shown]
        .iter()
        .map(|module| {
            TextBlock::Tree(report::LineTree {
                line: format!("{}  {}", module.module, module.source),
                details: computed::rows(&module.computed),
                ..report::LineTree::default()
            })
        })
        .collect();
    if shown < modules.len() {
        let more = counted(modules.len() - shown, "more module");
        blocks.push(TextBlock::Lines(vec![format!(
            "{more} with a computed source (-v shows all)"
        )]));
    }
    blocks
}

/// Says in one sentence whether the conditions can be met, and what is locked.
pub(super) fn verdict(explained: &ExplainedProvider, flavor: Flavor) -> (Tone, String) {
    let name = explained.provider.short(flavor);
    if !explained.satisfiable {
        let clash: Vec<String> = explained
            .clash
            .iter()
            .map(|place| format!("\"{}\" in {}", place.constraints, named(place)))
            .collect();
        let change = if clash.len() == 1 {
            "change that constraint"
        } else {
            "change one of these constraints"
        };
        let clash = clash.join(" and ");
        let text = format!("no version of {name} can meet {clash}: {change}");
        return (Tone::Bad, text);
    }
    if explained.provider.is_builtin(flavor) {
        return (Tone::Good, format!("{name} is built in and never locked"));
    }
    let wanted = if explained.constraints.is_empty() {
        format!("{name}: any version is allowed")
    } else {
        format!("{name} must meet \"{}\"", explained.constraints)
    };
    let only = only(explained);
    match &explained.locked {
        None => (Tone::Good, format!("{wanted}; not locked{only}")),
        Some(version) if explained.is_met() => {
            (Tone::Good, format!("{wanted}; locked at {version}{only}"))
        }
        Some(version) => (
            Tone::Bad,
            format!("{wanted}; locked at {version}, which does not{only}"),
        ),
    }
}

/// Says what alone requires the provider, where that is worth knowing.
fn only(explained: &ExplainedProvider) -> &'static str {
    if explained
        .places
        .iter()
        .all(|place| place.by == PlaceKind::State)
    {
        "; only the state needs it"
    } else if explained.places.iter().all(|place| place.is_in_test) {
        "; only test runs need it"
    } else {
        ""
    }
}

/// Names a place; of a state the file only.
pub(super) fn named(place: &RequiringPlace) -> String {
    match (place.line, place.column) {
        (Some(line), Some(column)) => format!("{}:{line}:{column}", place.file),
        _ => place.file.clone(),
    }
}

/// Returns the name of the module of a place, as the programs address it.
fn module(place: &RequiringPlace) -> String {
    if place.module.is_empty() {
        "root module".to_owned()
    } else {
        place.module.clone()
    }
}

/// Says what kind of place it is, and which other places no longer count because of it.
fn kind(place: &RequiringPlace) -> String {
    let kind = match place.by {
        PlaceKind::RequiredProviders => "required_providers",
        PlaceKind::ProviderBlock => "provider block",
        PlaceKind::Implied => "block of its type",
        PlaceKind::State => "resource of the state",
    };
    let at = |place: &Overridden| format!("{}:{}:{}", place.file, place.line, place.column);
    let replaced: Vec<String> = place.overrides.iter().map(at).collect();
    if replaced.is_empty() {
        kind.to_owned()
    } else {
        format!("{kind}, overrides {}", replaced.join(" and "))
    }
}
