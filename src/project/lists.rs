//! Directories that the configuration of another tool lists: `projects[].dir` of an `atlantis.yaml`
//! (rules 1.3).

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::rc::Rc;

use saphyr_parser::{Event, Parser, ScanError, StrInput};

use super::patterns::{PatternError, RootPatterns};

/// How large such a file may be, in bytes.
pub(super) const MAX_LIST_BYTES: u64 = 4 << 20;

/// How deep it may be nested.
const MAX_NESTING: usize = 32;

/// How many nodes it may have, counted where they are written.
const MAX_NODES: usize = 500_000;

/// Why a file gives no directories.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ListError {
    /// It is no YAML.
    #[error("line {line}: this is no YAML: {reason}")]
    Syntax {
        /// Counted from 1.
        line: usize,
        /// What the parser says.
        reason: String,
    },
    /// It is deeper or longer than any real file.
    #[error("it is nested deeper than {MAX_NESTING} levels, or has more than {MAX_NODES} nodes")]
    TooLarge,
    /// It has no list of projects.
    #[error("it has no list of projects, each with a dir")]
    NoProjects,
    /// A project has no directory.
    #[error("line {line}: this project has no dir")]
    NoDir {
        /// Counted from 1.
        line: usize,
    },
    /// A directory is not below the file.
    #[error("line {line}: {dir:?} is no directory below the file: {reason}")]
    Dir {
        /// Counted from 1.
        line: usize,
        /// As it is written.
        dir: String,
        /// What is wrong with it.
        reason: PatternError,
    },
}

/// Reads the directories of all projects, from the directory of the file on; several workspaces of one
/// directory are one.
pub(super) fn directories(text: &str) -> Result<BTreeSet<PathBuf>, ListError> {
    let mut reader = Reader {
        events: Parser::new_from_str(text),
        anchored: BTreeMap::new(),
        nodes_left: MAX_NODES,
    };
    let document = reader.document()?;
    let projects = document.and_then(|node| node.member("projects"));
    let Some(NodeKind::Sequence(projects)) = projects.as_deref().map(|node| &node.kind) else {
        return Err(ListError::NoProjects);
    };
    let mut dirs = BTreeSet::new();
    for project in projects {
        let line = project.line;
        let Some(dir) = project.member("dir") else {
            return Err(ListError::NoDir { line });
        };
        let (NodeKind::Scalar(written), line) = (&dir.kind, dir.line) else {
            return Err(ListError::NoDir { line });
        };
        let dir = RootPatterns::directory(written).map_err(|reason| ListError::Dir {
            line,
            dir: written.clone(),
            reason,
        })?;
        dirs.insert(dir);
    }
    Ok(dirs)
}

/// A part of a document.
struct Node {
    line: usize,
    kind: NodeKind,
}

enum NodeKind {
    Scalar(String),
    Sequence(Vec<Rc<Node>>),
    /// Keys that are texts, in the order of the document.
    Mapping(Vec<(String, Rc<Node>)>),
}

impl Node {
    /// Returns the value of a key, where several stand that of the last one; what `<<` merges counts less.
    fn member(&self, name: &str) -> Option<Rc<Self>> {
        let NodeKind::Mapping(members) = &self.kind else {
            return None;
        };
        let all = || members.iter().rev();
        let own = all().find(|(key, _)| key == name);
        if let Some((_, node)) = own {
            return Some(Rc::clone(node));
        }
        let mut merged = all().filter(|(key, _)| key == "<<");
        merged.find_map(|(_, node)| match &node.kind {
            NodeKind::Sequence(nodes) => nodes.iter().find_map(|node| node.member(name)),
            _ => node.member(name),
        })
    }
}

struct Reader<'t> {
    events: Parser<'t, StrInput<'t>>,
    anchored: BTreeMap<usize, Rc<Node>>,
    nodes_left: usize,
}

impl<'t> Reader<'t> {
    /// Reads the first document; nothing if there is none.
    fn document(&mut self) -> Result<Option<Rc<Node>>, ListError> {
        loop {
            match self.next()? {
                (Event::StreamStart | Event::DocumentStart(_) | Event::Nothing, _) => {}
                (Event::StreamEnd, _) => return Ok(None),
                (first, line) => return self.node(first, line, 0).map(Some),
            }
        }
    }

    /// Returns the next event, and the line where it begins.
    fn next(&mut self) -> Result<(Event<'t>, usize), ListError> {
        let syntax = |error: ScanError| ListError::Syntax {
            line: error.marker().line(),
            reason: error.info().to_owned(),
        };
        match self.events.next_event() {
            Some(next) => next
                .map(|(event, span)| (event, span.start.line()))
                .map_err(syntax),
            None => Ok((Event::StreamEnd, 0)),
        }
    }

    fn node(&mut self, event: Event<'_>, line: usize, depth: usize) -> Result<Rc<Node>, ListError> {
        self.nodes_left = self.nodes_left.checked_sub(1).ok_or(ListError::TooLarge)?;
        if depth >= MAX_NESTING {
            return Err(ListError::TooLarge);
        }
        let (anchor, kind) = match event {
            Event::Alias(anchor) => {
                // An anchor inside of its own value is no value yet.
                let node = self.anchored.get(&anchor).map(Rc::clone);
                let syntax = || ListError::Syntax {
                    line,
                    reason: "an alias stands inside of its own anchor".to_owned(),
                };
                return node.ok_or_else(syntax);
            }
            Event::Scalar(text, _, anchor, _) => (anchor, NodeKind::Scalar(text.into_owned())),
            Event::SequenceStart(anchor, _) => (anchor, self.sequence(depth)?),
            Event::MappingStart(anchor, _) => (anchor, self.mapping(depth)?),
            _ => (0, NodeKind::Scalar(String::new())),
        };
        let node = Rc::new(Node { line, kind });
        if anchor != 0 {
            self.anchored.insert(anchor, Rc::clone(&node));
        }
        Ok(node)
    }

    fn sequence(&mut self, depth: usize) -> Result<NodeKind, ListError> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd | Event::StreamEnd, _) => return Ok(NodeKind::Sequence(items)),
                (item, line) => items.push(self.node(item, line, depth + 1)?),
            }
        }
    }

    fn mapping(&mut self, depth: usize) -> Result<NodeKind, ListError> {
        let mut members = Vec::new();
        loop {
            let (key, line) = self.next()?;
            if matches!(key, Event::MappingEnd | Event::StreamEnd) {
                return Ok(NodeKind::Mapping(members));
            }
            let key = self.node(key, line, depth + 1)?;
            let (value, line) = self.next()?;
            let value = self.node(value, line, depth + 1)?;
            // Other keys than texts mean nothing here.
            if let NodeKind::Scalar(name) = &key.kind {
                members.push((name.clone(), value));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let found = match directories(text) {
            Ok(dirs) => {
                let dirs = dirs.iter().map(|dir| dir.display().to_string());
                dirs.collect::<Vec<_>>().join(" ")
            }
            Err(error) => format!("error: {error}"),
        };
        assert_eq!(found.replace('\\', "/"), expected, "from {text}");
    }

    #[test]
    fn directories_of_projects_are_listed_once() {
        let text = "version: 3\nprojects:\n- name: a\n  dir: live/a\n  workspace: x\n\
                    - dir: live/a # again\n  workspace: y\n- {dir: \"./live/b/\"}\n- dir: .\n";
        check(text, " live/a live/b");
        check(
            "base: &b\n  dir: live/c\nprojects:\n- <<: *b\n  name: x\n",
            "live/c",
        );
    }

    #[test]
    fn what_is_wrong_is_shown_with_its_line() {
        check("", "error: it has no list of projects, each with a dir");
        check(
            "projects: 3\n",
            "error: it has no list of projects, each with a dir",
        );
        check(
            "projects:\n- dir: a\n- name: b\n",
            "error: line 3: this project has no dir",
        );
        check(
            "projects:\n- dir: ../b\n",
            "error: line 2: \"../b\" is no directory below the file: this leads out of the directory of \
             the file",
        );
        let deep = format!("projects: {}", "[".repeat(100));
        check(
            &deep,
            "error: it is nested deeper than 32 levels, or has more than 500000 nodes",
        );
    }
}
