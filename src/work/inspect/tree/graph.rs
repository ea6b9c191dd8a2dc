//! The module tree as a graph: a node for each module and for each provider.

use std::collections::{BTreeMap, BTreeSet};

use super::not_visible;
use crate::addr::ProviderAddr;
use crate::config::{BelowGroup, BranchGroup, BranchKind, Branches};
use crate::flavor::Flavor;
use crate::report::graph::{Edge, Graph, NodeId, NodeShape, Stroke};
use crate::run::unseen::some_of;

/// The graph of all roots, which share the nodes of providers.
#[derive(Default)]
pub(super) struct Drawing {
    graph: Graph,
    /// The requirements of each root: the provider, the node that requires it, the conditions.
    required: Vec<(ProviderAddr, NodeId, String)>,
    flavors: Vec<Flavor>,
}

/// One root on its way into the graph.
struct RootDrawing<'a> {
    branches: &'a Branches,
    dir: String,
    graph: &'a mut Graph,
    required: &'a mut Vec<(ProviderAddr, NodeId, String)>,
    /// The nodes of branches.
    nodes: BTreeMap<usize, NodeId>,
}

impl Drawing {
    /// Adds the modules of a root.
    pub(super) fn add(
        &mut self,
        dir: String,
        flavor: Flavor,
        branches: &Branches,
        shown: &BranchGroup,
    ) {
        self.flavors.push(flavor);
        let mut drawing = RootDrawing {
            branches,
            dir,
            graph: &mut self.graph,
            required: &mut self.required,
            nodes: BTreeMap::new(),
        };
        drawing.add(shown, None);
    }

    /// Adds the providers, and returns the whole.
    pub(super) fn finish(mut self) -> Graph {
        // A short address means something else for the other program (`addr` rules 1.2).
        let mut hosts = self
            .flavors
            .iter()
            .map(|flavor| flavor.default_host())
            .collect::<Vec<_>>();
        hosts.dedup();
        let flavor = (hosts.len() == 1).then(|| self.flavors[0]);
        let nodes: BTreeMap<&ProviderAddr, NodeId> = self
            .required
            .iter()
            .map(|(provider, ..)| provider)
            .collect::<BTreeSet<_>>()
            .into_iter()
            .map(|provider| {
                let name = match flavor {
                    Some(flavor) => provider.short(flavor),
                    None => provider.to_string(),
                };
                (provider, self.graph.node(NodeShape::Round, vec![name]))
            })
            .collect();
        for (provider, from, label) in &self.required {
            self.graph.edge(Edge {
                from: *from,
                to: nodes[provider],
                label: label.clone(),
                stroke: Stroke::Solid,
            });
        }
        self.graph
    }
}

impl RootDrawing<'_> {
    fn add(&mut self, group: &BranchGroup, above: Option<NodeId>) {
        let first = group.members[0];
        let branch = self.branches.get(first);
        let shape = match (branch.unseen, branch.kind) {
            (Some(_), _) => NodeShape::Dashed,
            (None, BranchKind::State) => NodeShape::Cylinder,
            (None, _) => NodeShape::Box,
        };
        let mut lines = match branch.kind {
            BranchKind::Root => vec![self.dir.clone()],
            _ => some_of(self.branches.names(group)),
        };
        lines.extend(branch.source.clone());
        lines.extend(branch.computed.iter().flat_map(|call| {
            call.arguments()
                .map(|(name, argument)| format!("{name} = {}", argument.expression))
        }));
        lines.extend(branch.unseen.map(not_visible));
        let node = self.graph.node(shape, lines);
        self.nodes.insert(first, node);
        if let Some(above) = above {
            self.edge(above, node, "", Stroke::Solid);
        }
        match &group.below {
            // Modules with the same below them are drawn once; the others point to the first.
            BelowGroup::As(earlier) => {
                self.edge(node, self.nodes[earlier], "the same", Stroke::Dashed)
            }
            BelowGroup::Groups(groups) => {
                for (provider, constraints) in &branch.providers {
                    let label = constraints.to_string();
                    // The node of a provider is made when all roots are known, which share it.
                    self.required.push((provider.clone(), node, label));
                }
                for group in groups {
                    self.add(group, Some(node));
                }
            }
        }
    }

    fn edge(&mut self, from: NodeId, to: NodeId, label: &str, stroke: Stroke) {
        self.graph.edge(Edge {
            from,
            to,
            label: label.to_owned(),
            stroke,
        });
    }
}
