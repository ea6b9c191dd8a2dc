//! Graphs: boxes and arrows as plain values, written in the languages that draw them.
//!
//! Nodes are named by their number, so that foreign text is never outside of quotes; inside
//! of them everything is escaped that means something in the language or in HTML, which labels of
//! both may hold.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::html;
use super::style::harmless;

/// Nodes with arrows between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    nodes: Vec<GraphNode>,
    edges: Vec<Edge>,
}

/// One node of a [`Graph`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphNode {
    /// Its text, line by line.
    pub lines: Vec<String>,
    /// The shape of its outline.
    pub shape: NodeShape,
}

/// The outline of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeShape {
    /// A box with a solid line.
    Box,
    /// A box with a broken line: something that is only known to be there.
    Dashed,
    /// Something round, without corners.
    Round,
    /// The sign of stored data.
    Cylinder,
}

/// One arrow of a [`Graph`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The node at its tail.
    pub from: NodeId,
    /// The node at its head.
    pub to: NodeId,
    /// The text beside it; may be empty.
    pub label: String,
    /// The line it is drawn with.
    pub stroke: Stroke,
}

impl Edge {
    /// Returns the indexes of the nodes at its tail and its head.
    #[must_use]
    pub fn ends(&self) -> (usize, usize) {
        (self.from.0, self.to.0)
    }
}

/// The line of an arrow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stroke {
    /// A solid line, for what is direct.
    Solid,
    /// A broken line, for what is indirect.
    Dashed,
}

/// A node of the graph that gave this out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeId(usize);

/// A language that graphs are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GraphLanguage {
    /// Mermaid, which code hosts draw in pull requests.
    Mermaid,
    /// The language of Graphviz.
    Dot,
    /// A picture that every browser shows.
    Svg,
}

/// Maximum number of arrows that Mermaid draws unless its settings say otherwise.
const MERMAID_EDGES: usize = 500;

/// Maximum number of characters that Mermaid reads unless its settings say otherwise.
const MERMAID_CHARS: usize = 50_000;

/// Maximum number of arrows of a picture: more cannot be followed.
const SVG_EDGES: usize = 400;

impl Graph {
    /// Adds a node and returns its handle.
    pub fn node(&mut self, shape: NodeShape, lines: Vec<String>) -> NodeId {
        self.nodes.push(GraphNode { lines, shape });
        NodeId(self.nodes.len() - 1)
    }

    /// Adds an arrow between two nodes of this graph.
    pub fn edge(&mut self, edge: Edge) {
        self.edges.push(edge);
    }

    /// Returns the nodes, in the order of their addition.
    #[must_use]
    pub fn nodes(&self) -> &[GraphNode] {
        &self.nodes
    }

    /// Returns the arrows between boxes.
    #[must_use]
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// Returns whether there is nothing to draw.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Says why the graph is not drawn in a language, or not by a program with its default settings.
    #[must_use]
    pub fn too_large(&self, language: GraphLanguage) -> Option<String> {
        let count = self.edges.len();
        match language {
            GraphLanguage::Svg if count > SVG_EDGES => Some(format!(
                "a picture has at most {SVG_EDGES} arrows; these are {count}"
            )),
            GraphLanguage::Mermaid if count > MERMAID_EDGES => Some(format!(
                "Mermaid draws {MERMAID_EDGES} arrows unless it is configured otherwise; these are {count}"
            )),
            GraphLanguage::Mermaid => {
                // Counted as it is written: what is escaped is longer than it looks.
                let chars = mermaid(self).chars().count();
                (chars > MERMAID_CHARS).then(|| {
                    format!(
                        "Mermaid reads {MERMAID_CHARS} characters unless it is configured otherwise; these are {chars}"
                    )
                })
            }
            GraphLanguage::Dot | GraphLanguage::Svg => None,
        }
    }
}

/// Writes a graph; nothing, if there is nothing in it or too much for a picture.
///
/// # Errors
/// What the writer says.
pub fn render(out: &mut dyn Write, graph: &Graph, language: GraphLanguage) -> io::Result<()> {
    if graph.is_empty() {
        return Ok(());
    }
    let text = match language {
        GraphLanguage::Mermaid => mermaid(graph),
        GraphLanguage::Dot => dot(graph),
        GraphLanguage::Svg if graph.too_large(language).is_some() => return Ok(()),
        GraphLanguage::Svg => html::graph_svg(graph),
    };
    out.write_all(text.as_bytes())
}

fn mermaid(graph: &Graph) -> String {
    let mut text = "flowchart LR\n".to_owned();
    for (at, node) in graph.nodes.iter().enumerate() {
        // A class name behind the closing bracket draws the node with a broken line.
        let (open, close) = match node.shape {
            NodeShape::Box => ("[", "]"),
            NodeShape::Dashed => ("[", "]:::dashed"),
            NodeShape::Round => ("([", "])"),
            NodeShape::Cylinder => ("[(", ")]"),
        };
        // Mermaid takes a label in quotes for HTML, so a line ends with a tag.
        let label = node
            .lines
            .iter()
            .map(|line| mermaid_text(line))
            .collect::<Vec<_>>()
            .join("<br/>");
        put(&mut text, format_args!("n{at}{open}\"{label}\"{close}"));
    }
    for edge in &graph.edges {
        let arrow = match edge.stroke {
            Stroke::Solid => "-->",
            Stroke::Dashed => "-.->",
        };
        let label = match edge.label.as_str() {
            "" => String::new(),
            label => format!("|\"{}\"|", mermaid_text(label)),
        };
        let (from, to) = (edge.from.0, edge.to.0);
        put(&mut text, format_args!("n{from} {arrow}{label} n{to}"));
    }
    if graph
        .nodes
        .iter()
        .any(|node| node.shape == NodeShape::Dashed)
    {
        put(
            &mut text,
            format_args!("classDef dashed stroke-dasharray: 4 4"),
        );
    }
    text
}

fn dot(graph: &Graph) -> String {
    let mut text = "digraph lockctl {\n".to_owned();
    put(&mut text, format_args!("rankdir=LR"));
    // Without it Graphviz draws ellipses, which mean providers here.
    put(&mut text, format_args!("node [shape=box]"));
    for (at, node) in graph.nodes.iter().enumerate() {
        let shape = match node.shape {
            NodeShape::Box => "",
            NodeShape::Dashed => ", style=dashed",
            NodeShape::Round => ", shape=ellipse",
            NodeShape::Cylinder => ", shape=cylinder",
        };
        // In a quoted label Graphviz takes `\n` for the end of a line (its type escString).
        let label = node
            .lines
            .iter()
            .map(|line| dot_text(line))
            .collect::<Vec<_>>()
            .join("\\n");
        put(&mut text, format_args!("n{at} [label=\"{label}\"{shape}]"));
    }
    let round: Vec<String> = (0..graph.nodes.len())
        .filter(|at| graph.nodes[*at].shape == NodeShape::Round)
        .map(|at| format!("n{at}"))
        .collect();
    if !round.is_empty() {
        // Everything leads to them, so they are in one column behind all others.
        put(
            &mut text,
            format_args!("{{rank=sink; {}}}", round.join("; ")),
        );
    }
    for edge in &graph.edges {
        let mut attributes = Vec::new();
        if !edge.label.is_empty() {
            attributes.push(format!("label=\"{}\"", dot_text(&edge.label)));
        }
        if edge.stroke == Stroke::Dashed {
            attributes.push("style=dashed".to_owned());
        }
        let attributes = if attributes.is_empty() {
            String::new()
        } else {
            format!(" [{}]", attributes.join(", "))
        };
        let (from, to) = (edge.from.0, edge.to.0);
        put(&mut text, format_args!("n{from} -> n{to}{attributes}"));
    }
    text + "}\n"
}

/// Appends an indented line of DOT.
fn put(text: &mut String, line: std::fmt::Arguments<'_>) {
    writeln!(text, "  {line}").expect("a string takes everything");
}

/// Writes a text as Mermaid reads it inside of quotes.
fn mermaid_text(text: &str) -> String {
    let mut out = String::new();
    for c in harmless(text).chars() {
        // Formulas (`$$…$$`) and icons (`fa:fa-…`) are found even after the numbers are decoded: a mark without
        // width breaks them up.
        if (c == 'f' && out.ends_with(':')) || (c == '$' && out.ends_with("#36;")) {
            out.push_str("#8288;");
        }
        match c {
            '"' => out.push_str("#quot;"),
            '&' => out.push_str("#amp;"),
            '<' => out.push_str("#lt;"),
            '>' => out.push_str("#gt;"),
            // A directive (`%%{…}`) or a Markdown text (in backticks) is found even inside quotes, so every
            // character that is not known to be harmless is written as its number.
            c if c.is_alphanumeric() || " .,:;/=-_~!?@+()\u{fffd}".contains(c) => out.push(c),
            c => write!(out, "#{};", u32::from(c)).expect("a string takes everything"),
        }
    }
    out
}

/// Writes a text as Graphviz reads it inside of quotes, where also HTML entities count.
fn dot_text(text: &str) -> String {
    let mut out = String::new();
    for c in harmless(text).chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '&' => out.push_str("&amp;"),
            c => out.push(c),
        }
    }
    out
}
