//! How `lockctl tree` reads, and what it draws.

use std::cell::Cell;

use crate::cli::args::{Common, Configuration};
use crate::cli::session::unseen::some_of;
use crate::cli::{Command, Look, Stderr, World};
use crate::config::{BelowGroup, Branch, BranchGroup, Branches};
use crate::diag::counted;
use crate::flavor::Flavor;
use crate::report::graph::Graph;
use crate::report::reading::{self, Heading, RootsText, Total};
use crate::report::{self, Block, CommandResult, RootResult, Tone};

use super::Tree;
use super::graph::Drawing;
use super::{not_visible, shown};

impl Command for Tree {
    fn run(&self, common: &Common, world: World<'_>, _: &mut Stderr<'_>) -> CommandResult {
        super::run(common, self, world)
    }

    fn configuration(&self) -> Option<&Configuration> {
        Some(&self.configuration)
    }

    fn text(&self, result: &CommandResult, look: Look) -> Vec<Block> {
        let is_first = Cell::new(true);
        let of_root = |root: &RootResult| match (&root.branches, root.flavor) {
            (Some(branches), Some(flavor)) => {
                let mut blocks = Vec::new();
                if !is_first.replace(false) {
                    blocks.push(Block::Lines(vec![String::new()]));
                }
                blocks.extend(of_root(root, branches, flavor, look));
                blocks
            }
            _ => Vec::new(),
        };
        let text = RootsText {
            root: &of_root,
            heading: Heading::Own,
            total: Total::Note,
        };
        reading::roots(result, text, look.verbose)
    }

    fn graph(&self, result: &CommandResult, look: Look) -> Graph {
        let mut drawing = Drawing::default();
        for root in result.roots() {
            if let (Some(branches), Some(flavor)) = (&root.branches, root.flavor) {
                let shown = shown(branches, look.verbose);
                drawing.add(root.path.clone(), flavor, branches, &shown);
            }
        }
        drawing.finish()
    }
}

fn of_root(root: &RootResult, branches: &Branches, flavor: Flavor, look: Look) -> [Block; 2] {
    let shape = Shape { branches, flavor };
    let tree = report::Tree {
        line: root.path.clone(),
        ..shape.tree(&shown(branches, look.verbose))
    };
    let verdict = verdict(branches, root.providers.len());
    [Block::Tree(tree), Block::Verdict(Tone::Good, verdict)]
}

/// Counts modules and providers.
fn verdict(branches: &Branches, providers: usize) -> String {
    let modules = || branches.in_order().filter(|branch| branch.kind.is_module());
    let unseen = match modules().filter(|module| module.unseen.is_some()).count() {
        0 => String::new(),
        n => format!(" ({n} not visible)"),
    };
    let modules = counted(modules().count(), "module");
    format!("{modules}{unseen}, {}", counted(providers, "provider"))
}

/// What the lines of a tree are made of.
struct Shape<'a> {
    branches: &'a Branches,
    flavor: Flavor,
}

impl Shape<'_> {
    fn tree(&self, group: &BranchGroup) -> report::Tree {
        let branch = self.branches.get(group.members[0]);
        let mut line = some_of(self.branches.names(group)).join(", ");
        if let Some(source) = &branch.source {
            line += &format!("  {source}");
        }
        match &group.below {
            BelowGroup::As(earlier) => {
                let earlier = self.branches.get(*earlier).address();
                report::Tree::leaf(format!("{line}  (as {earlier})"))
            }
            BelowGroup::Groups(groups) => report::Tree {
                line,
                warning: branch.unseen.map(not_visible),
                branches: self
                    .providers(branch)
                    .chain(groups.iter().map(|group| self.tree(group)))
                    .collect(),
            },
        }
    }

    fn providers(&self, branch: &Branch) -> impl Iterator<Item = report::Tree> {
        branch.providers.iter().map(|(provider, constraints)| {
            let conditions = if provider.is_builtin(self.flavor) {
                "built in".to_owned()
            } else if constraints.is_empty() {
                "any version".to_owned()
            } else {
                constraints.to_string()
            };
            let name = provider.short(self.flavor);
            report::Tree::leaf(format!("{name}  {conditions}"))
        })
    }
}
