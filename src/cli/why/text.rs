//! How `lockctl why` reads.

use std::collections::BTreeMap;

use crate::cli::Look;
use crate::cli::session::computed;
use crate::diag::counted;
use crate::flavor::Flavor;
use crate::report::json::Status;
use crate::report::json::{
    ComputedModule, ExplainedProvider, Overridden, PlaceKind, Provider, RequiringPlace,
};
use crate::report::{self, Block, RootResult, Tone};
use crate::run::unseen::some_of;

/// How many modules with a computed source are explained unless all are wanted.
const MAX_COMPUTED: usize = 5;

pub(super) fn of_root(root: &RootResult, look: Look) -> Vec<Block> {
    let (Some(flavor), Some(Provider::Explained(one))) = (root.flavor, root.providers.first())
    else {
        return Vec::new();
    };
    if !one.places.is_empty() {
        let (tone, verdict) = verdict(one, flavor);
        let mut blocks = vec![Block::Table(rows(&one.places, look))];
        blocks.extend(computed_modules(&one.computed_modules, look));
        blocks.push(Block::Verdict(tone, verdict));
        return blocks;
    }
    // Another root requires it.
    if root.status == Status::Clean {
        return Vec::new();
    }
    vec![Block::Verdict(Tone::Warning, not_required(one, flavor))]
}

fn not_required(one: &ExplainedProvider, flavor: Flavor) -> String {
    let what = if one.are_calls_seen {
        "nothing in the configuration"
    } else {
        "nothing that can be seen of the configuration"
    };
    let mut text = format!("{what} requires {}", one.provider.short(flavor));
    if let Some(version) = &one.locked {
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
            let key = (&place.file, place.line, place.column, place.by);
            *known.entry(key).or_insert(new)
        };
        if row == new {
            rows.push(Vec::new());
        }
        rows[row].push(place);
    }
    let rows = rows.into_iter().map(|same| {
        vec![
            named(same[0]),
            any_or(&same[0].constraints),
            some_of(same.iter().map(|place| module(place))).join(", "),
            kind(same[0]),
        ]
    });
    rows.collect()
}

/// Shows how modules on the ways to the places got their sources; of many the first ones, unless all are
/// shown.
fn computed_modules(modules: &[ComputedModule], look: Look) -> Vec<Block> {
    let shown = if look.verbose {
        modules.len()
    } else {
        MAX_COMPUTED.min(modules.len())
    };
    let trees = modules[..shown].iter().map(|one| {
        Block::Tree(report::Tree {
            line: format!("{}  {}", one.module, one.source),
            details: computed::rows(&one.computed),
            ..report::Tree::default()
        })
    });
    let mut blocks: Vec<Block> = trees.collect();
    if shown < modules.len() {
        let more = counted(modules.len() - shown, "more module");
        blocks.push(Block::Lines(vec![format!(
            "{more} with a computed source (-v shows all)"
        )]));
    }
    blocks
}

/// Says in one sentence whether the conditions can be met, and what is locked.
fn verdict(one: &ExplainedProvider, flavor: Flavor) -> (Tone, String) {
    let name = one.provider.short(flavor);
    if !one.satisfiable {
        let clash = one.clash.iter();
        let clash: Vec<String> = clash
            .map(|place| format!("\"{}\" in {}", place.constraints, named(place)))
            .collect();
        let text = format!("no version of {name} can meet {}", clash.join(" and "));
        return (Tone::Bad, text);
    }
    if one.provider.is_builtin(flavor) {
        return (Tone::Good, format!("{name} is built in and never locked"));
    }
    let wanted = if one.constraints.is_empty() {
        format!("{name}: any version is allowed")
    } else {
        format!("{name} must meet \"{}\"", one.constraints)
    };
    let only = only(one);
    match &one.locked {
        None => (Tone::Good, format!("{wanted}; not locked{only}")),
        Some(version) if one.is_met() => {
            (Tone::Good, format!("{wanted}; locked at {version}{only}"))
        }
        Some(version) => (
            Tone::Bad,
            format!("{wanted}; locked at {version}, which does not{only}"),
        ),
    }
}

/// Says what alone requires the provider, where that is worth knowing.
fn only(one: &ExplainedProvider) -> &'static str {
    if one.places.iter().all(|place| place.by == PlaceKind::State) {
        "; only the state needs it"
    } else if one.places.iter().all(|place| place.is_in_test) {
        "; only test runs need it"
    } else {
        ""
    }
}

/// Names a place; of a state the file only.
fn named(place: &RequiringPlace) -> String {
    match (place.line, place.column) {
        (Some(line), Some(column)) => format!("{}:{line}:{column}", place.file),
        _ => place.file.clone(),
    }
}

fn any_or(constraints: &str) -> String {
    if constraints.is_empty() {
        "any version".to_owned()
    } else {
        constraints.to_owned()
    }
}

/// Names the module that a place stands in, as the programs address it.
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
