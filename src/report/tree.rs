//! Trees for people, drawn with lines.

/// A line and what hangs below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    /// The line.
    pub line: String,
    /// What is out of order with it, to be shown behind it in brackets.
    pub warning: Option<String>,
    /// What hangs below it, from top to bottom.
    pub branches: Vec<Self>,
}

impl Tree {
    /// Makes a tree of one line.
    #[must_use]
    pub fn leaf(line: String) -> Self {
        Self {
            line,
            ..Self::default()
        }
    }
}

/// Returns the lines of a tree with the marks before them, which none of its texts is part of.
pub(super) fn lines(tree: &Tree) -> Vec<(String, &Tree)> {
    let mut lines = vec![(String::new(), tree)];
    draw(&tree.branches, "", &mut lines);
    lines
}

fn draw<'a>(branches: &'a [Tree], before: &str, lines: &mut Vec<(String, &'a Tree)>) {
    for (at, branch) in branches.iter().enumerate() {
        let (own, below) = if at + 1 == branches.len() {
            ("└─ ", "   ")
        } else {
            ("├─ ", "│  ")
        };
        lines.push((format!("{before}{own}"), branch));
        draw(&branch.branches, &format!("{before}{below}"), lines);
    }
}
