//! `lockctl why`: which places require a provider, and whether any version can satisfy them all.

pub(crate) mod graph;
mod text;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use clap::Args;

use crate::addr::ProviderAddr;
use crate::config::{Loaded, OverriddenPlaces};
use crate::diag::Texts;
use crate::driver;
use crate::module_config::SourcePlace;
use crate::report::graph::Graph;
use crate::report::json::{
    ComputedModule, ExplainedProvider, FilePosition, Overridden, Provider, RequiringPlace,
    RootStatus,
};
use crate::report::{CommandResult, Look, RootResult, Sentence, TextBlock};
use crate::requirement::{PathStep, Requirement, RequirementOrigin};
use crate::run::command::Command;
use crate::run::options::{Configuration, RootArgs, examples};
use crate::run::provider::{self, naming};
use crate::run::root::Root;
use crate::run::session::Session;
use crate::run::typed_addr::TypedAddr;
use crate::run::unseen::{CallNames, UnseenParts};

/// Show every place that requires a provider
#[derive(Clone, Debug, Args)]
#[command(before_help = examples(&[
    ("lockctl why hashicorp/aws", "which modules require it, with their constraints"),
    ("lockctl why aws live/prod", "a type is enough if only one provider has it"),
    ("lockctl why aws -r --format mermaid", "a graph that GitHub draws"),
]))]
pub(crate) struct WhyArgs {
    /// The provider, as in hashicorp/aws, or its type if only one provider has it
    #[arg(value_name = "ADDR")]
    pub(crate) provider: TypedAddr,
    #[command(flatten)]
    pub(crate) roots: RootArgs,
    #[command(flatten)]
    pub(crate) configuration: Configuration,
}

impl Command for WhyArgs {
    fn run(&self, session: &Rc<Session<'_>>) -> CommandResult {
        let configuration = &self.configuration;
        // What else may be meant matters only where no root requires the provider.
        let mut meant = BTreeMap::new();
        let mut required = BTreeSet::new();
        let mut flavor = None;
        let mut all = driver::each_loaded(
            session,
            configuration,
            &self.roots,
            false,
            |root, loaded, texts, result| {
                let provider = self
                    .provider
                    .among(loaded.requirements.providers.keys(), root.flavor)?;
                let explained = explain(&provider, loaded, root, texts);
                if !explained.is_met() || explained.places.is_empty() {
                    result.status = RootStatus::Findings;
                }
                if explained.places.is_empty() {
                    let own = loaded.requirements.providers.keys().cloned().collect();
                    let other = provider::did_you_mean(&provider, &own, root.flavor);
                    meant.extend(other.map(|remark| (result.path.clone(), remark)));
                    required.extend(own);
                    flavor = Some(root.flavor);
                }
                result.providers.push(Provider::Explained(explained));
                let unseen = UnseenParts::new(loaded, configuration, session.options);
                let consequence = "and may require it, too";
                if let Some(remark) = unseen.remark(CallNames::Listed, consequence) {
                    result.detail(remark);
                }
                Ok(())
            },
        );
        let is_required = all.results.iter().any(requires);
        for result in &mut all.results {
            if is_required && !requires(result) && result.status == RootStatus::Findings {
                // That a root does not require what another one does is no fault of it.
                result.status = RootStatus::Clean;
            }
            if let Some(remark) = meant.get(&result.path).filter(|_| !is_required) {
                result.remark(remark.clone());
            }
        }
        let names = flavor.and_then(|flavor| provider::names(&required, flavor));
        let names = names.filter(|_| !is_required && meant.is_empty());
        if let ([result], Some(names)) = (&mut *all.results, &names) {
            result.remark(format!("it requires {names}"));
        }
        let has_several = all.results.len() > 1;
        let mut result = all.into_result("why");
        // The providers of each of many roots would hide that none of them requires this one.
        if let Some(names) = names.filter(|_| has_several) {
            let text = format!("the roots require {names}");
            result.remarks.push(Sentence::note(text));
        }
        result
    }

    fn configuration(&self) -> Option<&Configuration> {
        Some(&self.configuration)
    }

    fn graph(&self, result: &CommandResult, _: Look) -> Graph {
        let rows = result.roots().iter().flat_map(|root| {
            root.providers
                .iter()
                .filter_map(|row| match row {
                    Provider::Explained(row) => Some(row),
                    _ => None,
                })
                .map(move |row| (root, row))
        });
        let name = naming(result.roots());
        graph::of(rows, &name, &|_, path| path.to_owned())
    }

    fn text(&self, result: &CommandResult, look: Look) -> Vec<TextBlock> {
        text::of_all(result.roots(), look)
    }
}

/// Returns whether a root requires the provider.
fn requires(root: &RootResult) -> bool {
    root.providers
        .iter()
        .any(|row| matches!(row, Provider::Explained(row) if !row.places.is_empty()))
}

/// Collects everything that requires a provider.
pub(crate) fn explain(
    provider: &ProviderAddr,
    loaded: &Loaded,
    root: &Root,
    texts: &Texts,
) -> ExplainedProvider {
    let requirements = &loaded.requirements;
    let document = root.document().readable();
    let entry = document.lock.providers.get(provider);
    let mut places: Vec<&Requirement> = requirements
        .providers
        .get(provider)
        .into_iter()
        .flatten()
        .collect();
    places.sort_by_key(|place| (place.origin == RequirementOrigin::State, &place.module));
    let overridden = OverriddenPlaces::of(&places, loaded, texts, root.flavor);
    let clash = requirements.clash(provider);
    let row = |place: &&Requirement| {
        let at = FilePosition::new(place.file, place.span, texts);
        // Of a state no byte is shown: it may hold secrets.
        let is_shown = place.origin != RequirementOrigin::State;
        let replaced = overridden.by(place).iter().map(|replaced| {
            let SourcePlace { file, span } = replaced.place;
            Overridden {
                place: FilePosition::new(file, span, texts),
                constraints: replaced.constraints.clone(),
            }
        });
        RequiringPlace {
            file: at.file,
            line: is_shown.then_some(at.line),
            column: is_shown.then_some(at.column),
            constraints: place.constraints.to_string(),
            module: if is_shown {
                place.module.to_string()
            } else {
                "state".to_owned()
            },
            by: place.origin,
            overrides: replaced.collect(),
            is_in_test: matches!(place.module.steps().first(), Some(PathStep::Test(_))),
        }
    };
    ExplainedProvider {
        provider: provider.clone(),
        constraints: requirements.constraints(provider),
        satisfiable: clash.is_empty(),
        version: entry.map(|entry| entry.version.clone()),
        locked: entry.map(|entry| entry.version.clone()),
        complete: requirements.is_complete(),
        places: places.iter().map(row).collect(),
        clash: clash.iter().map(row).collect(),
        computed_modules: computed_modules(&places, loaded),
        are_calls_seen: requirements.unseen_calls.is_empty(),
    }
}

/// Lists the modules on the ways to places whose calls are computed.
fn computed_modules(places: &[&Requirement], loaded: &Loaded) -> Vec<ComputedModule> {
    let on_a_way: BTreeSet<&[PathStep]> = places
        .iter()
        .map(|place| place.module.steps())
        .flat_map(|way| (1..=way.len()).map(|steps| &way[..steps]))
        .collect();
    let computed = loaded
        .modules
        .iter()
        .filter(|node| on_a_way.contains(node.path.steps()));
    computed
        .filter_map(|node| {
            Some(ComputedModule {
                module: node.path.to_string(),
                source: node.source.clone()?,
                computed: Arc::clone(node.computed.as_ref()?),
            })
        })
        .collect()
}
