//! The text of `lockctl tree`, and its drawing.

use crate::cli::Look;
use crate::cli::session::computed;
use crate::config::{BelowGroup, Branch, BranchGroup, Branches, FetchedModule};
use crate::diag::counted;
use crate::flavor::Flavor;
use crate::report::graph::Graph;
use crate::report::{self, CommandResult, RootDetail, RootResult, TextBlock, Tone};
use crate::run::unseen::some_of;

use super::graph::Drawing;
use super::{not_visible, shown};

/// Number of digits that are shown of the id of a commit.
const COMMIT_DIGITS: usize = 12;

/// Shows the tree of a root, and counts what is in it.
pub(super) fn of_root(root: &RootResult, look: Look) -> Vec<TextBlock> {
    let (RootDetail::Modules(branches), Some(flavor)) = (&root.detail, root.flavor) else {
        return Vec::new();
    };
    let shape = TreeText { branches, flavor };
    let tree = report::LineTree {
        line: root.path.clone(),
        ..shape.tree(&shown(branches, look.verbose))
    };
    let verdict = verdict(branches, root.providers.len());
    vec![
        TextBlock::Tree(tree),
        TextBlock::Verdict(Tone::Good, verdict),
    ]
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

/// The parts of which the lines of a tree are made.
struct TreeText<'a> {
    branches: &'a Branches,
    flavor: Flavor,
}

impl TreeText<'_> {
    fn tree(&self, group: &BranchGroup) -> report::LineTree {
        let branch = self.branches.get(group.members[0]);
        let mut line = some_of(self.branches.names(group)).join(", ");
        if let Some(source) = &branch.source {
            line += &format!("  {source}");
        }
        if let Some(FetchedModule {
            version, commit, ..
        }) = &branch.fetched
        {
            let digits = commit.as_ref().and_then(|id| id.get(..COMMIT_DIGITS));
            match (version, digits) {
                (Some(version), _) => line += &format!("  {version}"),
                (None, Some(digits)) => line += &format!("  commit {digits}"),
                (None, None) => {}
            }
        }
        match &group.below {
            BelowGroup::As(earlier) => {
                let earlier = self.branches.get(*earlier).address();
                report::LineTree::leaf(format!("{line}  (as {earlier})"))
            }
            BelowGroup::Groups(groups) => report::LineTree {
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

    fn providers(&self, branch: &Branch) -> impl Iterator<Item = report::LineTree> {
        branch.providers.iter().map(|(provider, constraints)| {
            let conditions = if provider.is_builtin(self.flavor) {
                "built in".to_owned()
            } else if constraints.is_empty() {
                "any version".to_owned()
            } else {
                constraints.to_string()
            };
            let name = provider.short(self.flavor);
            report::LineTree::leaf(format!("{name}  {conditions}"))
        })
    }
}

pub(super) fn graph(result: &CommandResult, look: Look) -> Graph {
    let mut drawing = Drawing::default();
    for root in result.roots() {
        if let (RootDetail::Modules(branches), Some(flavor)) = (&root.detail, root.flavor) {
            let shown = shown(branches, look.verbose);
            drawing.add(root.path.clone(), flavor, branches, &shown);
        }
    }
    drawing.finish()
}
