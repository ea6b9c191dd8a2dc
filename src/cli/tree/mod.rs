//! `lockctl tree`: the modules of a root, and what each of them requires by itself.

mod graph;

use std::path::Path;

use crate::addr::ProviderAddr;
use crate::cli::World;
use crate::cli::args::{self, Common};
use crate::cli::output::{Output, RootOutput, counted};
use crate::cli::root::Root;
use crate::cli::roots;
use crate::cli::tree::graph::Drawing;
use crate::cli::unseen::{self, Names, Unseen};
use crate::config::{BelowGroup, Branch, BranchGroup, Branches, Repeats};
use crate::diag::Texts;
use crate::flavor::Flavor;
use crate::report::json::{Module, Provider, RequiredProvider};
use crate::report::{Block, Tone, Tree};
use crate::version::Constraints;
use crate::world::Replaced;

/// How many lines a tree may have before what repeats itself is folded.
const MAX_FULL_LINES: usize = 100;

pub(in crate::cli) fn run(common: &Common, args: &args::Tree, world: World<'_>) -> Output {
    let mut drawing = Drawing::default();
    let mut first = true;
    let ran = roots::each(common, &args.roots, world, |root, texts, output| {
        let configuration = &args.configuration;
        let loaded = unseen::load(root, configuration, (common, world), (texts, output))?;
        let Some(loaded) = loaded else {
            return Ok(Replaced::Done);
        };
        let unseen = Unseen::new(&loaded, root, configuration, common);
        if !std::mem::take(&mut first) {
            let line = Block::Lines(vec![String::new()]);
            output.report.results.push(line);
        }
        let seen = Seen {
            common,
            root,
            unseen,
        };
        seen.tell(texts, output, &mut drawing);
        Ok(Replaced::Done)
    });
    let mut output = Output::of_roots("tree", ran);
    output.report.graph = drawing.finish();
    output
}

/// A root that was read.
struct Seen<'a> {
    common: &'a Common,
    root: &'a Root,
    unseen: Unseen<'a>,
}

impl Seen<'_> {
    fn tell(&self, texts: &Texts, output: &mut RootOutput, drawing: &mut Drawing) {
        let Unseen {
            loaded,
            state_wanted,
            ..
        } = self.unseen;
        let branches = Branches::of(loaded, texts, state_wanted);
        let too_long = branches.lines() > MAX_FULL_LINES;
        let repeats = match too_long && !self.common.verbose {
            true => Repeats::Folded,
            false => Repeats::Full,
        };
        let shown = branches.shown(repeats);
        let dir = self.root.dir.display().to_string();
        drawing.add(dir.clone(), self.root.flavor, &branches, &shown);
        let shape = Shape {
            branches: &branches,
            flavor: self.root.flavor,
        };
        let tree = Tree {
            line: dir,
            ..shape.tree(&shown)
        };
        output.report.results.push(Block::Tree(tree));
        let verdict = Block::Verdict(Tone::Good, self.verdict(&branches));
        output.report.results.push(verdict);
        if shown.is_folded() {
            output.remark("what repeats itself is folded; -v shows all of it");
        }
        let consequence = "so the tree may lack providers";
        if let Some(remark) = self.unseen.remark(Names::Known, consequence) {
            output.remark(remark);
        }
        let modules = branches.in_order().map(module);
        output.json.modules = Some(modules.collect());
        let requirements = &loaded.requirements;
        let providers = requirements.providers.keys();
        let providers = providers.map(|addr| required(addr, &requirements.constraints(addr)));
        output.json.providers = providers.map(Provider::Required).collect();
    }

    /// Counts modules and providers.
    fn verdict(&self, branches: &Branches) -> String {
        let modules = || branches.in_order().filter(|branch| branch.kind.is_module());
        let unseen = modules().filter(|module| module.unseen.is_some()).count();
        let unseen = match unseen {
            0 => String::new(),
            n => format!(" ({n} not visible)"),
        };
        format!(
            "{}{unseen}, {}",
            counted(modules().count(), "module"),
            counted(self.unseen.loaded.requirements.providers.len(), "provider"),
        )
    }
}

/// What the lines of a tree are made of.
struct Shape<'a> {
    branches: &'a Branches,
    flavor: Flavor,
}

impl Shape<'_> {
    fn tree(&self, group: &BranchGroup) -> Tree {
        let branch = self.branches.get(group.members[0]);
        let mut line = unseen::some_of(self.branches.names(group)).join(", ");
        if let Some(source) = &branch.source {
            line += &format!("  {source}");
        }
        match &group.below {
            BelowGroup::As(earlier) => {
                let earlier = self.branches.get(*earlier).address();
                Tree::leaf(format!("{line}  (as {earlier})"))
            }
            BelowGroup::Groups(groups) => Tree {
                line,
                warning: branch.unseen.map(not_visible),
                branches: self
                    .providers(branch)
                    .chain(groups.iter().map(|group| self.tree(group)))
                    .collect(),
            },
        }
    }

    fn providers(&self, branch: &Branch) -> impl Iterator<Item = Tree> {
        branch.providers.iter().map(|(provider, constraints)| {
            let conditions = match () {
                () if provider.is_builtin(self.flavor) => "built in".to_owned(),
                () if constraints.is_empty() => "any version".to_owned(),
                () => constraints.to_string(),
            };
            let name = provider.short(self.flavor);
            Tree::leaf(format!("{name}  {conditions}"))
        })
    }
}

/// Says that a branch cannot be seen, and why, where a program has a title for that.
pub(in crate::cli) fn not_visible(why: &str) -> String {
    match why {
        "" => "not visible".to_owned(),
        why => format!("not visible: {why}"),
    }
}

fn module(branch: &Branch) -> Module {
    let providers = branch.providers.iter();
    let reason = branch.unseen.filter(|why| !why.is_empty());
    Module {
        kind: branch.kind.into(),
        path: branch.address(),
        module: branch.address(),
        source: branch.source.clone(),
        dir: branch.dir.as_deref().map(named),
        seen: branch.unseen.is_none(),
        providers: providers.map(|(addr, own)| required(addr, own)).collect(),
        reason: reason.map(str::to_owned),
    }
}

/// Names a directory from the root on.
fn named(dir: &Path) -> String {
    match dir.as_os_str().is_empty() {
        true => ".".to_owned(),
        false => dir.display().to_string(),
    }
}

fn required(addr: &ProviderAddr, constraints: &Constraints) -> RequiredProvider {
    RequiredProvider {
        provider: addr.to_string(),
        constraints: constraints.to_string(),
    }
}
