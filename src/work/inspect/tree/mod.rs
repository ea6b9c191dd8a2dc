//! `lockctl tree`: the modules of a root, and what each of them requires by itself.

mod graph;
pub(crate) mod text;

use std::rc::Rc;

use clap::Args;

use crate::config::{BranchGroup, Branches, OverriddenPlaces, Repeats};
use crate::driver;
use crate::report::graph::Graph;
use crate::report::json::{Provider, RequiredProviderRow};
use crate::report::{CommandResult, Look, RootDetail, TextBlock};
use crate::run::command::Command;
use crate::run::options::{Configuration, RootArgs, examples};
use crate::run::session::Session;
use crate::run::unseen::{CallNames, UnseenParts};

/// Maximum number of lines of a tree before its repeated parts are folded.
const MAX_FULL_LINES: usize = 100;

/// Show the modules and what each requires
#[derive(Clone, Debug, Args)]
#[command(before_help = examples(&[
    ("lockctl tree", "the modules of the root in this directory"),
    ("lockctl tree --format svg > tree.svg", "draw them"),
    ("lockctl tree --format dot | dot -Tpdf", "draw them with Graphviz"),
]))]
pub(crate) struct TreeArgs {
    #[command(flatten)]
    pub(crate) roots: RootArgs,
    #[command(flatten)]
    pub(crate) configuration: Configuration,
}

impl Command for TreeArgs {
    fn run(&self, session: &Rc<Session<'_>>) -> CommandResult {
        let (configuration, options) = (&self.configuration, session.options);
        let all = driver::each_loaded(
            session,
            configuration,
            &self.roots,
            false,
            |root, loaded, texts, result| {
                let unseen = UnseenParts::new(loaded, configuration, options);
                let branches = Branches::of(loaded, texts, unseen.state_wanted);
                if shown(&branches, options.verbose).is_folded() {
                    result.remark("what repeats itself is folded; -v shows all of it");
                }
                let consequence = "so the tree may lack providers";
                if let Some(remark) = unseen.remark(CallNames::Counted, consequence) {
                    result.detail(remark);
                }
                result.detail = RootDetail::Modules(branches);
                let requirements = &loaded.requirements;
                let overridden = OverriddenPlaces::of_all(loaded, texts, root.flavor);
                for (provider, places) in &requirements.providers {
                    for place in places {
                        if let Some(replaced) = overridden.describe(place, texts) {
                            let line = texts.position(place.file, place.span.start).line;
                            result.detail(format!(
                                "{} must meet \"{}\" from {}:{line}, in place of {replaced}",
                                provider.short(root.flavor),
                                place.constraints,
                                texts.name(place.file),
                            ));
                        }
                    }
                }
                result.providers = requirements
                    .providers
                    .keys()
                    .map(|addr| {
                        Provider::Required(RequiredProviderRow {
                            provider: addr.clone(),
                            constraints: requirements.constraints(addr),
                        })
                    })
                    .collect();
                Ok(())
            },
        );
        all.into_result("tree")
    }

    fn configuration(&self) -> Option<&Configuration> {
        Some(&self.configuration)
    }

    fn graph(&self, result: &CommandResult, look: Look) -> Graph {
        text::graph(result, look)
    }

    fn text(&self, result: &CommandResult, look: Look) -> Vec<TextBlock> {
        text::of_all(result.roots(), look)
    }
}

/// Decides what is shown of a tree: in a long one, what repeats itself is folded.
fn shown(branches: &Branches, verbose: bool) -> BranchGroup {
    let is_long = branches.lines() > MAX_FULL_LINES;
    branches.shown(if is_long && !verbose {
        Repeats::Folded
    } else {
        Repeats::Full
    })
}

/// Says that a branch cannot be seen, and why, where a program has a title for that.
fn not_visible(why: &str) -> String {
    match why {
        "" => "not visible".to_owned(),
        why => format!("not visible: {why}"),
    }
}
