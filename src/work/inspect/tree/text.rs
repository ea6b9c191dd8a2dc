//! The text of `lockctl tree`, and its drawing.

use std::collections::BTreeSet;

use crate::addr::ProviderAddr;
use crate::config::{BelowGroup, Branch, BranchGroup, Branches, FetchedModule};
use crate::diag::{counted, rules};
use crate::flavor::Flavor;
use crate::report::graph::Graph;
use crate::report::json::{Provider, RequiredProviderRow};
use crate::report::{
    self, Column, CommandResult, Look, RootDetail, RootResult, Row, Table, TextBlock, Tone,
};
use crate::run::unseen::some_of;
use crate::run::{computed, provider};
use crate::version::Constraints;

use super::graph::Drawing;
use super::{not_visible, shown};

/// Number of digits that are shown of the id of a commit.
const COMMIT_DIGITS: usize = 12;

/// The columns about several roots.
const COLUMNS: &[Column] = &[Column::Key("PROVIDER"), Column::Key("CONSTRAINTS")];

/// Shows the tree of a root, or what several roots require unless everything is wanted, and counts what is in it.
pub(super) fn of_all(roots: &[RootResult], look: Look) -> Vec<TextBlock> {
    let trees: Vec<(&RootResult, &Branches, Flavor)> = roots
        .iter()
        .filter_map(|root| match (&root.detail, root.flavor) {
            (RootDetail::Modules(branches), Some(flavor)) => Some((root, branches, flavor)),
            _ => None,
        })
        .collect();
    if trees.is_empty() {
        return Vec::new();
    }
    let mut blocks = Vec::new();
    // Many trees fill many screens; a table of requirements is what is compared over roots.
    if roots.len() == 1 || look.verbose {
        blocks.extend(trees.iter().map(|(root, branches, flavor)| {
            let (branches, flavor) = (*branches, *flavor);
            TextBlock::Tree(report::LineTree {
                line: root.path.clone(),
                ..TreeText { branches, flavor }.tree(&shown(branches, look.verbose))
            })
        }));
    } else {
        let name = provider::naming(roots);
        let rows = trees.iter().flat_map(|(root, _, flavor)| {
            required_by(root).map(|row| {
                let conditions = conditions(row.provider.is_builtin(*flavor), &row.constraints);
                let cells = [name(&row.provider).into(), conditions.clone().into()];
                ((&row.provider, conditions), Row::new(&root.path, cells))
            })
        });
        blocks.push(TextBlock::Table(Table::sorted(COLUMNS, rows)));
    }
    let modules = trees
        .iter()
        .flat_map(|(_, branches, _)| branches.in_order())
        .filter(|branch| branch.kind.is_module());
    let providers: BTreeSet<&ProviderAddr> = roots
        .iter()
        .flat_map(required_by)
        .map(|row| &row.provider)
        .collect();
    let verdict = verdict(modules, unseen_calls(roots), providers.len());
    blocks.push(TextBlock::Verdict(Tone::Good, verdict));
    blocks
}

fn required_by(root: &RootResult) -> impl Iterator<Item = &RequiredProviderRow> {
    root.providers.iter().filter_map(|row| match row {
        Provider::Required(row) => Some(row),
        _ => None,
    })
}

/// Counts the calls of modules that are not visible, as a note does; each may be made several times.
fn unseen_calls(roots: &[RootResult]) -> usize {
    roots
        .iter()
        .flat_map(RootResult::findings)
        .filter(|finding| finding.diagnostic.code == rules::MODULE_NOT_VISIBLE)
        .count()
}

/// Counts modules and providers.
fn verdict<'a>(
    modules: impl Iterator<Item = &'a Branch>,
    unseen_calls: usize,
    providers: usize,
) -> String {
    let (mut count, mut unseen) = (0, 0);
    for module in modules {
        count += 1;
        unseen += usize::from(module.unseen.is_some());
    }
    let unseen = match unseen {
        0 => String::new(),
        n if unseen_calls > 0 && n != unseen_calls => {
            format!(" ({n} not visible, of {})", counted(unseen_calls, "call"))
        }
        n => format!(" ({n} not visible)"),
    };
    let modules = counted(count, "module");
    format!("{modules}{unseen}, {}", counted(providers, "provider"))
}

/// The values for the lines of a tree.
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
            let conditions = conditions(provider.is_builtin(self.flavor), constraints);
            let name = provider.short(self.flavor);
            report::LineTree::leaf(format!("{name}  {conditions}"))
        })
    }
}

fn conditions(is_builtin: bool, constraints: &Constraints) -> String {
    if is_builtin {
        "built in".to_owned()
    } else if constraints.is_empty() {
        "any version".to_owned()
    } else {
        constraints.to_string()
    }
}

pub(super) fn graph(result: &CommandResult, look: Look) -> Graph {
    let roots = result.roots().iter().filter_map(|root| match &root.detail {
        RootDetail::Modules(branches) => Some((root.path.clone(), root.flavor?, branches)),
        _ => None,
    });
    drawn(roots, look.verbose)
}

/// Draws the modules of roots, each with its name; in a long tree, what repeats itself is folded.
pub(crate) fn drawn<'b>(
    roots: impl Iterator<Item = (String, Flavor, &'b Branches)>,
    verbose: bool,
) -> Graph {
    let mut drawing = Drawing::default();
    for (name, flavor, branches) in roots {
        let shown = shown(branches, verbose);
        drawing.add(name, flavor, branches, &shown);
    }
    drawing.finish()
}
