//! How `lockctl tree` reads, and what it draws.

use crate::cli::Look;
use crate::cli::session::computed;
use crate::config::{BelowGroup, Branch, BranchGroup, Branches, FetchedModule};
use crate::diag::counted;
use crate::flavor::Flavor;
use crate::report::graph::Graph;
use crate::report::{self, Block, CommandResult, RootResult, Tone};
use crate::run::unseen::some_of;

use super::graph::Drawing;
use super::{not_visible, shown};

/// How many digits of the id of a commit are shown.
const COMMIT_DIGITS: usize = 12;

/// Shows the tree of a root, and counts what is in it.
pub(super) fn of_root(root: &RootResult, look: Look) -> Vec<Block> {
    let (Some(branches), Some(flavor)) = (&root.branches, root.flavor) else {
        return Vec::new();
    };
    let shape = Shape { branches, flavor };
    let tree = report::Tree {
        line: root.path.clone(),
        ..shape.tree(&shown(branches, look.verbose))
    };
    let verdict = verdict(branches, root.providers.len());
    vec![Block::Tree(tree), Block::Verdict(Tone::Good, verdict)]
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
        if let Some(fetched) = branch.fetched.as_ref().and_then(fixed) {
            line += &format!("  {fetched}");
        }
        match &group.below {
            BelowGroup::As(earlier) => {
                let earlier = self.branches.get(*earlier).address();
                report::Tree::leaf(format!("{line}  (as {earlier})"))
            }
            BelowGroup::Groups(groups) => report::Tree {
                line,
                warning: branch.unseen.map(not_visible),
                details: branch
                    .computed
                    .as_deref()
                    .map(computed::rows)
                    .unwrap_or_default(),
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

/// Says what a fetched module is fixed to: a version or a commit.
fn fixed(fetched: &FetchedModule) -> Option<String> {
    let version = fetched.version.as_ref().map(ToString::to_string);
    version.or_else(|| {
        let digits = fetched.commit.as_ref()?.get(..COMMIT_DIGITS)?;
        Some(format!("commit {digits}"))
    })
}

/// Draws all roots.
pub(super) fn graph(result: &CommandResult, look: Look) -> Graph {
    let mut drawing = Drawing::default();
    for root in result.roots() {
        if let (Some(branches), Some(flavor)) = (&root.branches, root.flavor) {
            let shown = shown(branches, look.verbose);
            drawing.add(root.path.clone(), flavor, branches, &shown);
        }
    }
    drawing.finish()
}
