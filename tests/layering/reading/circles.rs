//! Circles of imports between files; edges between a module and its own parent are left out.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;

use super::source::SourceFile;

/// A path of modules, as in `cli::lock::run`.
type ModulePath = Vec<String>;

/// Every module by its path, and what it names.
struct Modules {
    code: BTreeMap<String, String>,
    /// Names that a module exports again, with what they stand for.
    exported: BTreeMap<(String, String), ModulePath>,
}

/// Returns the circles, the largest first.
pub(super) fn circles(files: &[SourceFile]) -> Vec<Vec<String>> {
    let mut modules = Modules {
        code: files
            .iter()
            .map(|file| (module_of(&file.path), file.code.clone()))
            .filter(|(module, _)| module != "lib" && module != "main")
            .collect(),
        exported: BTreeMap::new(),
    };
    let uses: BTreeMap<String, Vec<(bool, ModulePath)>> = modules
        .code
        .iter()
        .map(|(module, code)| (module.clone(), modules.uses(module, code)))
        .collect();
    for (module, paths) in &uses {
        for (is_public, path) in paths {
            if let (true, Some(name)) = (is_public, path.last()) {
                modules
                    .exported
                    .insert((module.clone(), name.clone()), path.clone());
            }
        }
    }
    let mut graph: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (module, paths) in &uses {
        let edges = graph.entry(module).or_default();
        for (_, path) in paths {
            let Some(other) = modules.resolve(path, 0) else {
                continue;
            };
            let is_family = other == *module
                || other.starts_with(&format!("{module}::"))
                || module.starts_with(&format!("{other}::"));
            if !is_family {
                edges.insert(other);
            }
        }
    }
    let mut found = strongly_connected(&graph);
    found.sort_by_key(|circle| (std::cmp::Reverse(circle.len()), circle.clone()));
    found
}

fn module_of(path: &str) -> String {
    let module = path.trim_end_matches(".rs").replace('/', "::");
    module.strip_suffix("::mod").unwrap_or(&module).to_owned()
}

impl Modules {
    /// Lists the paths of the crate that a file names, and whether it exports them.
    fn uses(&self, module: &str, code: &str) -> Vec<(bool, ModulePath)> {
        static STATEMENT: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(r"(pub(?:\([^)]*\))?\s+)?use\s+([^;]+);").expect("valid"));
        static PATH: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(r"(?:^|[^\w:])([a-z_]\w*(?:::\w+)+)").expect("valid"));
        let mut paths = Vec::new();
        for statement in STATEMENT.captures_iter(code) {
            for path in expand(&statement[2]) {
                let path: String = path.chars().filter(|c| !c.is_whitespace()).collect();
                let path = self.absolute(module, &path);
                paths.extend(path.map(|path| (statement.get(1).is_some(), path)));
            }
        }
        let rest = STATEMENT.replace_all(code, "");
        for path in PATH.captures_iter(&rest) {
            paths.extend(self.absolute(module, &path[1]).map(|path| (false, path)));
        }
        paths
    }

    fn absolute(&self, module: &str, path: &str) -> Option<ModulePath> {
        let parts: ModulePath = path.split("::").map(str::to_owned).collect();
        let mut base: ModulePath = module.split("::").map(str::to_owned).collect();
        match parts[0].as_str() {
            "crate" => Some(parts[1..].to_vec()),
            "self" => Some([base, parts[1..].to_vec()].concat()),
            "super" => {
                let ups = parts.iter().take_while(|part| *part == "super").count();
                base.truncate(base.len().saturating_sub(ups));
                Some([base, parts[ups..].to_vec()].concat())
            }
            first => self
                .code
                .contains_key(&format!("{module}::{first}"))
                .then(|| [base, parts].concat()),
        }
    }

    /// Finds the module that a path leads to, through what others export again.
    fn resolve(&self, path: &[String], depth: usize) -> Option<String> {
        // Two modules may export each other's names; six steps are more than any chain here has.
        const MAX_STEPS: usize = 6;
        for end in (1..=path.len()).rev() {
            let module = path[..end].join("::");
            if !self.code.contains_key(&module) {
                continue;
            }
            let target = path
                .get(end)
                .and_then(|name| self.exported.get(&(module.clone(), name.clone())))
                .filter(|target| *target != path && depth < MAX_STEPS);
            return match target {
                Some(target) => {
                    let further = [target.clone(), path[end + 1..].to_vec()].concat();
                    self.resolve(&further, depth + 1)
                }
                None => Some(module),
            };
        }
        None
    }
}

/// Writes the groups of a `use` out as single paths.
fn expand(tree: &str) -> Vec<String> {
    let tree = tree.trim();
    let Some((prefix, group)) = tree.split_once('{') else {
        let path = tree.split(" as ").next().expect("a first part");
        return vec![path.to_owned()];
    };
    let group = group.strip_suffix('}').unwrap_or(group);
    let mut paths = Vec::new();
    let mut depth = 0;
    let mut item = String::new();
    for c in group.chars().chain([',']) {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if c == ',' && depth == 0 {
            let item = std::mem::take(&mut item);
            if !item.trim().is_empty() {
                paths.extend(
                    expand(&item)
                        .into_iter()
                        .map(|path| format!("{prefix}{path}")),
                );
            }
        } else {
            item.push(c);
        }
    }
    paths
}

/// Returns the groups of several modules of which each leads to each (Tarjan).
fn strongly_connected(graph: &BTreeMap<&str, BTreeSet<String>>) -> Vec<Vec<String>> {
    struct Search<'a> {
        graph: &'a BTreeMap<&'a str, BTreeSet<String>>,
        index: BTreeMap<&'a str, usize>,
        low: BTreeMap<&'a str, usize>,
        stack: Vec<&'a str>,
        groups: Vec<Vec<String>>,
    }
    impl<'a> Search<'a> {
        fn visit(&mut self, node: &'a str) {
            let number = self.index.len();
            self.index.insert(node, number);
            self.low.insert(node, number);
            self.stack.push(node);
            for next in self.graph.get(node).into_iter().flatten() {
                if !self.index.contains_key(next.as_str()) {
                    self.visit(next);
                    let low = self.low[node].min(self.low[next.as_str()]);
                    self.low.insert(node, low);
                } else if self.stack.contains(&next.as_str()) {
                    let low = self.low[node].min(self.index[next.as_str()]);
                    self.low.insert(node, low);
                }
            }
            if self.low[node] == self.index[node] {
                let start = self.stack.iter().position(|on| *on == node);
                let group = self.stack.split_off(start.expect("it was pushed"));
                if group.len() > 1 {
                    let mut group: Vec<String> = group.into_iter().map(str::to_owned).collect();
                    group.sort();
                    self.groups.push(group);
                }
            }
        }
    }
    let mut search = Search {
        graph,
        index: BTreeMap::new(),
        low: BTreeMap::new(),
        stack: Vec::new(),
        groups: Vec::new(),
    };
    for node in graph.keys() {
        if !search.index.contains_key(node) {
            search.visit(node);
        }
    }
    search.groups
}
