//! Directories that the configuration of another tool lists: `projects[].dir` of an `atlantis.yaml`
//! (rules 1.3), and the program that it states for them (rules 3.3).

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::rc::Rc;

use saphyr_parser::{Event, Parser, ScanError, StrInput};

use crate::flavor::{Program, StatedFlavor};

use super::patterns::RootPatterns;

/// Maximum size of such a file, in bytes.
pub(super) const MAX_LIST_BYTES: u64 = 4 << 20;

/// Maximum nesting of its values.
const MAX_NESTING: usize = 32;

/// Maximum number of its nodes, counted where they are written.
const MAX_NODES: usize = 500_000;

/// A reason why a file gives no directories.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{reason}", line.map_or_else(String::new, |line| format!("line {line}: ")))]
pub(super) struct ListError {
    /// The line, counted from 1, if the reason is one line.
    line: Option<usize>,
    reason: String,
}

impl ListError {
    fn at(line: usize, reason: impl Into<String>) -> Self {
        Self {
            line: Some(line),
            reason: reason.into(),
        }
    }

    /// The file is deeper or longer than any real one.
    fn too_large() -> Self {
        let reason = format!(
            "it is nested deeper than {MAX_NESTING} levels, or has more than {MAX_NODES} nodes"
        );
        Self { line: None, reason }
    }
}

/// Reads the directories of all projects, from the directory of the file on; several workspaces of one
/// directory are one.
pub(super) fn directories(text: &str) -> Result<BTreeSet<PathBuf>, ListError> {
    let mut dirs = BTreeSet::new();
    for project in projects(text)? {
        let dir = project.member("dir");
        let Some((written, line)) = dir.as_ref().and_then(|dir| Some((dir.scalar()?, dir.line)))
        else {
            return Err(ListError::at(project.line, "this project has no dir"));
        };
        dirs.insert(RootPatterns::directory(written).map_err(|reason| {
            let reason = format!("{written:?} is no directory below the file: {reason}");
            ListError::at(line, reason)
        })?);
    }
    Ok(dirs)
}

/// Reads the program that projects state, by their directories; a project without `dir` is passed over.
pub(super) fn stated_programs(text: &str) -> Result<BTreeMap<PathBuf, StatedFlavor>, ListError> {
    let mut programs: BTreeMap<PathBuf, StatedFlavor> = BTreeMap::new();
    let mut contradicted = BTreeSet::new();
    for project in projects(text)? {
        let scalar = |name: &str| project.member(name)?.scalar().map(str::to_owned);
        let Some(Ok(dir)) = scalar("dir").map(|dir| RootPatterns::directory(&dir)) else {
            continue;
        };
        let version = scalar("terraform_version");
        let program = match scalar("terraform_distribution").as_deref() {
            Some("opentofu") => Program::OpenTofu,
            Some("terraform") => Program::Terraform,
            None if version.is_some() => Program::Terraform,
            _ => continue,
        };
        let stated = StatedFlavor::of_tool(program, &version.unwrap_or_default());
        let known = programs.entry(dir.clone()).or_insert(stated);
        // Workspaces of one directory are projects of their own.
        if *known != stated {
            if known.flavor.program() == program {
                *known = StatedFlavor::of_tool(program, "");
            } else {
                contradicted.insert(dir);
            }
        }
    }
    programs.retain(|dir, _| !contradicted.contains(dir));
    Ok(programs)
}

/// Reads the list of projects.
fn projects(text: &str) -> Result<Vec<Rc<YamlNode>>, ListError> {
    let mut reader = ListReader {
        events: Parser::new_from_str(text),
        anchored: BTreeMap::new(),
        nodes_left: MAX_NODES,
    };
    let document = reader.document()?;
    let projects = document.and_then(|node| node.member("projects"));
    match projects.as_deref().map(|node| &node.value) {
        Some(YamlValue::Sequence(projects)) => Ok(projects.clone()),
        _ => Err(ListError {
            line: None,
            reason: "it has no list of projects, each with a dir".to_owned(),
        }),
    }
}

/// A part of a document.
struct YamlNode {
    line: usize,
    value: YamlValue,
}

enum YamlValue {
    Scalar(String),
    Sequence(Vec<Rc<YamlNode>>),
    /// Keys that are texts, in the order of the document.
    Mapping(Vec<(String, Rc<YamlNode>)>),
}

impl YamlNode {
    fn scalar(&self) -> Option<&str> {
        match &self.value {
            YamlValue::Scalar(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the value of a key. The last of several counts, and what `<<` merges counts less.
    fn member(&self, name: &str) -> Option<Rc<Self>> {
        let YamlValue::Mapping(members) = &self.value else {
            return None;
        };
        // `saphyr_parser` gives every key as it is written, repeated ones too.
        if let Some((_, node)) = members.iter().rev().find(|(key, _)| key == name) {
            return Some(Rc::clone(node));
        }
        members
            .iter()
            .rev()
            .filter(|(key, _)| key == "<<")
            .find_map(|(_, node)| match &node.value {
                YamlValue::Sequence(nodes) => nodes.iter().find_map(|node| node.member(name)),
                _ => node.member(name),
            })
    }
}

struct ListReader<'t> {
    events: Parser<'t, StrInput<'t>>,
    anchored: BTreeMap<usize, Rc<YamlNode>>,
    nodes_left: usize,
}

impl<'t> ListReader<'t> {
    /// Reads the first document; nothing if there is none.
    fn document(&mut self) -> Result<Option<Rc<YamlNode>>, ListError> {
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
        let syntax = |error: ScanError| {
            let reason = format!("this is no YAML: {}", error.info());
            ListError::at(error.marker().line(), reason)
        };
        match self.events.next_event() {
            Some(next) => next
                .map(|(event, span)| (event, span.start.line()))
                .map_err(syntax),
            None => Ok((Event::StreamEnd, 0)),
        }
    }

    fn node(
        &mut self,
        event: Event<'_>,
        line: usize,
        depth: usize,
    ) -> Result<Rc<YamlNode>, ListError> {
        // Aliases of aliases may mean billions of nodes in a few lines. They are shared here, so only nodes
        // that are written count.
        self.nodes_left = self
            .nodes_left
            .checked_sub(1)
            .ok_or_else(ListError::too_large)?;
        if depth >= MAX_NESTING {
            return Err(ListError::too_large());
        }
        let (anchor, value) = match event {
            Event::Alias(anchor) => {
                // An anchor inside of its own value is no value yet.
                let node = self.anchored.get(&anchor).map(Rc::clone);
                let reason = "this is no YAML: an alias stands inside of its own anchor";
                return node.ok_or_else(|| ListError::at(line, reason));
            }
            Event::Scalar(text, _, anchor, _) => (anchor, YamlValue::Scalar(text.into_owned())),
            Event::SequenceStart(anchor, _) => {
                let mut items = Vec::new();
                loop {
                    match self.next()? {
                        (Event::SequenceEnd | Event::StreamEnd, _) => break,
                        (item, line) => items.push(self.node(item, line, depth + 1)?),
                    }
                }
                (anchor, YamlValue::Sequence(items))
            }
            Event::MappingStart(anchor, _) => {
                let mut members = Vec::new();
                loop {
                    let (key, line) = self.next()?;
                    if matches!(key, Event::MappingEnd | Event::StreamEnd) {
                        break;
                    }
                    let key = self.node(key, line, depth + 1)?;
                    let (value, line) = self.next()?;
                    let value = self.node(value, line, depth + 1)?;
                    // Other keys than texts mean nothing here.
                    if let YamlValue::Scalar(name) = &key.value {
                        members.push((name.clone(), value));
                    }
                }
                (anchor, YamlValue::Mapping(members))
            }
            _ => (0, YamlValue::Scalar(String::new())),
        };
        let node = Rc::new(YamlNode { line, value });
        if anchor != 0 {
            self.anchored.insert(anchor, Rc::clone(&node));
        }
        Ok(node)
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
