//! Trees for people, drawn with lines.

use super::style::aligned;

/// A line and what hangs below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineTree {
    /// The text of the line.
    pub line: String,
    /// Its fault, shown behind it in brackets.
    pub warning: Option<String>,
    /// Its explanation: rows of cells, in columns, below the line.
    pub details: Vec<Vec<String>>,
    /// The branches below it, from top to bottom.
    pub branches: Vec<Self>,
}

impl LineTree {
    /// Makes a tree of one line.
    #[must_use]
    pub fn leaf(line: String) -> Self {
        Self {
            line,
            ..Self::default()
        }
    }
}

/// One line of a drawn tree, behind the marks before it.
pub(super) enum TreeLine<'a> {
    /// The line of a branch.
    Branch(&'a LineTree),
    /// One that explains the branch above it, made harmless.
    Detail(String),
}

/// Returns the lines of a tree with the marks before them, which none of its texts is part of.
pub(super) fn lines(tree: &LineTree) -> Vec<(String, TreeLine<'_>)> {
    let mut lines = Vec::new();
    draw(tree, "", "", &mut lines);
    lines
}

fn draw<'a>(tree: &'a LineTree, own: &str, below: &str, lines: &mut Vec<(String, TreeLine<'a>)>) {
    lines.push((own.to_owned(), TreeLine::Branch(tree)));
    let margin = if tree.branches.is_empty() {
        "   "
    } else {
        "│  "
    };
    for detail in aligned(&tree.details) {
        lines.push((format!("{below}{margin}"), TreeLine::Detail(detail)));
    }
    for (at, branch) in tree.branches.iter().enumerate() {
        let (mark, margin) = if at + 1 == tree.branches.len() {
            ("└─ ", "   ")
        } else {
            ("├─ ", "│  ")
        };
        let (own, below) = (format!("{below}{mark}"), format!("{below}{margin}"));
        draw(branch, &own, &below, lines);
    }
}
