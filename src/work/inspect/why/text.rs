//! The text of `lockctl why`.

use std::collections::{BTreeMap, BTreeSet};

use crate::addr::ProviderAddr;
use crate::diag::counted;
use crate::flavor::Flavor;
use crate::report::json::{
    ComputedModule, ExplainedProvider, FilePosition, Overridden, PlaceKind, Provider,
    RequiringPlace,
};
use crate::report::{
    self, Column, Look, RootNames, RootResult, Row, Sentence, Table, TextBlock, Tone, reading,
};
use crate::run::{computed, provider};

/// Maximum number of modules with a computed source that are explained unless all are wanted.
const MAX_COMPUTED: usize = 5;

/// Maximum number of places that several roots share.
const MAX_PLACES: usize = 10;

/// The columns about the conditions of several roots.
const CONDITIONS: &[Column] = &[
    Column::Key("PROVIDER"),
    Column::Key("CONSTRAINTS"),
    Column::Key("LOCKED"),
];

const PLACES: &[Column] = &[
    Column::Long("PLACE"),
    Column::Key("CONSTRAINTS"),
    Column::Joined("MODULE"),
    Column::Key("KIND"),
];

/// A root with the provider that was asked for.
struct ExplainedRoot<'r> {
    path: &'r str,
    flavor: Flavor,
    explained: &'r ExplainedProvider,
}

/// Shows the places that require a provider, of several roots also under which constraints, and how it came out.
pub(super) fn of_all(roots: &[RootResult], look: Look) -> Vec<TextBlock> {
    let all: Vec<ExplainedRoot<'_>> = roots
        .iter()
        .filter_map(|root| match (root.flavor, root.providers.first()) {
            (Some(flavor), Some(Provider::Explained(explained))) => Some(ExplainedRoot {
                path: &root.path,
                flavor,
                explained,
            }),
            _ => None,
        })
        .collect();
    let (requiring, others): (Vec<&ExplainedRoot<'_>>, Vec<_>) = all
        .iter()
        .partition(|root| !root.explained.places.is_empty());
    if requiring.is_empty() {
        let verdicts = others.iter().map(|root| {
            let text = not_required(root.explained, root.flavor);
            (root.path.to_owned(), Sentence::warning(text))
        });
        return vec![TextBlock::Verdicts(RootNames::Columns, verdicts.collect())];
    }
    let are_many = roots.len() > 1;
    let name = provider::naming(roots);
    let mut blocks = Vec::new();
    if are_many {
        blocks.push(conditions(&requiring, &name));
    }
    blocks.push(places(&requiring, are_many, look));
    if !are_many || look.verbose {
        blocks.extend(
            requiring
                .iter()
                .flat_map(|root| computed_modules(&root.explained.computed_modules, look)),
        );
    }
    let verdicts = requiring
        .iter()
        .filter(|root| !are_many || !root.explained.is_met())
        .map(|root| (root.path.to_owned(), verdict(root.explained, root.flavor)));
    blocks.push(TextBlock::Verdicts(RootNames::Columns, verdicts.collect()));
    if are_many {
        let mut counts: BTreeMap<&ProviderAddr, usize> = BTreeMap::new();
        for root in &requiring {
            *counts.entry(&root.explained.provider).or_default() += 1;
        }
        let is_met = requiring.iter().all(|root| root.explained.is_met());
        let tone = if is_met { Tone::Good } else { Tone::Bad };
        blocks.extend(counts.into_iter().map(|(provider, count)| {
            let text = format!(
                "{} is required in {count} of {} roots",
                name(provider),
                roots.len()
            );
            TextBlock::Verdict(tone, text)
        }));
    }
    blocks
}

/// Shows all conditions together, and the locked version.
fn conditions(
    requiring: &[&ExplainedRoot<'_>],
    name: &dyn Fn(&ProviderAddr) -> String,
) -> TextBlock {
    let rows = requiring.iter().map(|root| {
        let ExplainedProvider {
            provider,
            constraints,
            locked,
            ..
        } = root.explained;
        let mut version = match locked {
            None if provider.is_builtin(root.flavor) => "built in".to_owned(),
            None => "-".to_owned(),
            Some(version) => version.to_string(),
        };
        if !root.explained.satisfiable {
            version += " (no version can meet them)";
        } else if !root.explained.is_met() {
            version += " (does not meet them)";
        }
        let constraints = stated(&constraints.to_string());
        let cells = [
            name(provider).into(),
            constraints.clone().into(),
            version.clone().into(),
        ];
        ((provider, constraints, version), Row::new(root.path, cells))
    });
    TextBlock::Table(Table::sorted(CONDITIONS, rows).at_most(2 * MAX_PLACES))
}

/// Shows each place; of several roots those that they share, as one in a module that all of them call.
fn places(requiring: &[&ExplainedRoot<'_>], are_many: bool, look: Look) -> TextBlock {
    let all = || {
        requiring.iter().flat_map(|root| {
            root.explained.places.iter().map(|place| {
                // Roots come to a module of the repository by other ways: `a/../m` and `b/../m` are one.
                let file = reading::cleaned(&place.file);
                (
                    root.path,
                    named(&RequiringPlace {
                        file,
                        ..place.clone()
                    }),
                    place,
                )
            })
        })
    };
    let mut roots: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for (root, place, _) in all() {
        roots.entry(place).or_default().insert(root);
    }
    let rows = all()
        .filter(|(_, place, _)| !are_many || look.verbose || roots[place].len() > 1)
        .map(|(root, name, place)| {
            let module = match &*place.module {
                "" => "root module",
                module => module,
            };
            let cells = [
                name.into(),
                stated(&place.constraints).into(),
                module.into(),
                kind(place).into(),
            ];
            Row::new(root, cells)
        });
    // Roots that share a place may call its module by different names.
    let columns = if are_many && !look.verbose {
        &PLACES[..2]
    } else {
        PLACES
    };
    let table = Table::new(columns, rows).at_most(MAX_PLACES);
    TextBlock::Table(if are_many {
        table
    } else {
        table.without_head()
    })
}

fn stated(constraints: &str) -> String {
    match constraints {
        "" => "any version".to_owned(),
        constraints => constraints.to_owned(),
    }
}

/// Says that nothing requires the provider.
fn not_required(explained: &ExplainedProvider, flavor: Flavor) -> String {
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
fn verdict(explained: &ExplainedProvider, flavor: Flavor) -> Sentence {
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
        return Sentence {
            tone: Tone::Bad,
            text,
        };
    }
    // Behind the conflict: a built-in provider may have constraints that exclude each other, too.
    if explained.provider.is_builtin(flavor) {
        return Sentence {
            tone: Tone::Good,
            text: format!("{name} is built in and never locked"),
        };
    }
    let wanted = if explained.constraints.is_empty() {
        format!("{name}: any version is allowed")
    } else {
        format!("{name} must meet \"{}\"", explained.constraints)
    };
    let only = only(explained);
    let tone = if explained.is_met() {
        Tone::Good
    } else {
        Tone::Bad
    };
    let text = match &explained.locked {
        None => format!("{wanted}; not locked{only}"),
        Some(version) if explained.is_met() => format!("{wanted}; locked at {version}{only}"),
        Some(version) => format!("{wanted}; locked at {version}, which does not{only}"),
    };
    Sentence { tone, text }
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
fn named(place: &RequiringPlace) -> String {
    match (place.line, place.column) {
        (Some(line), Some(column)) => format!("{}:{line}:{column}", place.file),
        _ => place.file.clone(),
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
    let at = |replaced: &Overridden| {
        let FilePosition { file, line, column } = &replaced.place;
        let at = format!("{file}:{line}:{column}");
        match &replaced.constraints {
            Some(constraints) => format!("{constraints} at {at}"),
            None => at,
        }
    };
    if place.overrides.is_empty() {
        kind.to_owned()
    } else {
        format!(
            "{kind}, in place of {}",
            place
                .overrides
                .iter()
                .map(at)
                .collect::<Vec<_>>()
                .join(" and ")
        )
    }
}
