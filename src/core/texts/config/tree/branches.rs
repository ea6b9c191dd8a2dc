//! The module tree of one root with what each module requires by itself; also what test files and
//! the state require, as branches of their own.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use crate::addr::ProviderAddr;
use crate::config::computed::ComputedCall;
use crate::config::loaded::{FetchedModule, Loaded, ModuleNode};
use crate::diag::Texts;
use crate::requirement::{ModulePath, PathStep, RequirementOrigin, StateSeen};
use crate::version::{Constraint, Constraints};

/// The tree; the root is the first in the list.
#[derive(Clone, Debug)]
pub struct Branches {
    list: Vec<Branch>,
    /// For each branch the number of what it looks like: equal for two that differ in nothing but
    /// their names.
    classes: Vec<usize>,
}

/// One module, test file or state.
#[derive(Clone, Debug)]
pub struct Branch {
    /// The kind of module or document.
    pub kind: BranchKind,
    /// The path of calls from the root; empty for the root and for the state.
    pub path: ModulePath,
    /// Its source as written, or why there is none; the file of a state.
    pub source: Option<String>,
    /// The trace of a computed source and version, if they are computed.
    pub computed: Option<Arc<ComputedCall>>,
    /// The package that was fetched for it, because it is not installed.
    pub fetched: Option<FetchedModule>,
    /// Its directory from the root on; that of a fetched one is where installing would put it.
    pub dir: Option<PathBuf>,
    /// The reason why it is not visible, empty if there is no more to say; `None` if it is visible.
    pub unseen: Option<&'static str>,
    /// Its own requirements, without those of the modules that it calls.
    pub providers: BTreeMap<ProviderAddr, Constraints>,
    /// The indexes of the modules that it calls, in the order of display.
    below: Vec<usize>,
}

/// The kind of a branch in a tree of modules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", schemars(rename = "ModuleKind"))]
pub enum BranchKind {
    /// The root module of the configuration.
    Root,
    /// A module that a `module` block calls.
    Call,
    /// A test file of the root.
    Test,
    /// A module that a `run` block of a test file calls.
    Run,
    /// The state of the root.
    State,
}

impl BranchKind {
    /// Returns whether it is a module.
    #[must_use]
    pub fn is_module(self) -> bool {
        matches!(self, Self::Root | Self::Call | Self::Run)
    }
}

/// The treatment of branches that repeat others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeats {
    /// Every module is shown at each of its places.
    Full,
    /// Siblings that differ in their names only are one, and what was shown already is named.
    Folded,
}

/// Siblings that are shown as one, with what hangs below each of them.
#[derive(Clone, Debug)]
pub struct BranchGroup {
    /// Numbers of branches; at least one.
    pub members: Vec<usize>,
    /// The branches below each branch of the group.
    pub below: BelowGroup,
}

/// The branches below each branch of a group.
#[derive(Clone, Debug)]
pub enum BelowGroup {
    /// The groups of what it calls.
    Groups(Vec<BranchGroup>),
    /// The same as below this branch, which comes earlier.
    As(usize),
}

impl Branches {
    /// Puts together what was read.
    #[must_use]
    pub fn of(loaded: &Loaded, texts: &Texts, state_wanted: bool) -> Self {
        let mut list: Vec<Branch> = loaded.modules.iter().map(module).collect();
        let tests = add_tests(&mut list, loaded);
        for at in 1..loaded.modules.len() {
            let above = match list[at].path.steps() {
                [PathStep::Test(name), PathStep::Run(_)] => tests.get(name).copied(),
                _ => loaded.modules[at].caller,
            };
            list[above.unwrap_or(0)].below.push(at);
        }
        // A branch for the state, if it requires something or cannot be seen.
        let mut state = empty(BranchKind::State, ModulePath::default());
        for (provider, places) in &loaded.requirements.providers {
            if let Some(place) = places
                .iter()
                .find(|place| place.origin == RequirementOrigin::State)
            {
                state.source = Some(texts.name(place.file).to_owned());
                state.providers.insert(provider.clone(), Default::default());
            }
        }
        if state_wanted && loaded.requirements.state == StateSeen::No {
            state.unseen = Some("");
        }
        let mut state_at = None;
        if !state.providers.is_empty() || state.unseen.is_some() {
            let at = list.len();
            list.push(state);
            list[0].below.push(at);
            state_at = Some(at);
        }
        let required = required(loaded);
        for (at, branch) in list.iter_mut().enumerate() {
            if Some(at) != state_at {
                let own = required.get(&branch.path).cloned();
                branch.providers = own.unwrap_or_default();
            }
        }
        for at in 0..list.len() {
            let mut below = std::mem::take(&mut list[at].below);
            // The programs have no order of siblings (rules 7.6); this one is the same in every run.
            below.sort_by_key(|at| (list[*at].kind, &list[*at].path));
            list[at].below = below;
        }
        let classes = classes(&list);
        Self { list, classes }
    }

    /// Returns a branch by its number.
    ///
    /// # Panics
    /// If no branch has the number.
    #[must_use]
    pub fn get(&self, at: usize) -> &Branch {
        &self.list[at]
    }

    /// Walks over all branches, each before those below it, siblings in the order to show.
    pub fn in_order(&self) -> impl Iterator<Item = &Branch> {
        let mut stack = vec![0];
        std::iter::from_fn(move || {
            let branch = &self.list[stack.pop()?];
            stack.extend(branch.below.iter().rev());
            Some(branch)
        })
    }

    /// Counts the lines of the full tree.
    #[must_use]
    pub fn lines(&self) -> usize {
        let lines = self.list.iter().map(|branch| {
            let computed = branch.computed.as_ref().map_or(0, |call| call.lines());
            1 + computed + branch.providers.len()
        });
        lines.sum()
    }

    /// Returns what is to be shown, from the root on.
    #[must_use]
    pub fn shown(&self, repeats: Repeats) -> BranchGroup {
        self.group(vec![0], repeats, &mut BTreeMap::new())
    }

    fn group(
        &self,
        members: Vec<usize>,
        repeats: Repeats,
        known: &mut BTreeMap<usize, usize>,
    ) -> BranchGroup {
        let first = members[0];
        let branch = &self.list[first];
        // A branch of one line is not folded: the reference to an equal one would be as long.
        if repeats == Repeats::Folded && branch.providers.len() + branch.below.len() > 1 {
            if let Some(earlier) = known.get(&self.classes[first]) {
                let below = BelowGroup::As(*earlier);
                return BranchGroup { members, below };
            }
            known.insert(self.classes[first], first);
        }
        let mut siblings: Vec<Vec<usize>> = Vec::new();
        let mut places = BTreeMap::new();
        for at in &branch.below {
            let new = siblings.len();
            let place = match repeats {
                Repeats::Full => new,
                Repeats::Folded => *places.entry(self.classes[*at]).or_insert(new),
            };
            if place == new {
                siblings.push(Vec::new());
            }
            siblings[place].push(*at);
        }
        let groups = siblings
            .into_iter()
            .map(|members| self.group(members, repeats, known))
            .collect();
        BranchGroup {
            members,
            below: BelowGroup::Groups(groups),
        }
    }

    /// Names the members of a group.
    pub fn names(&self, group: &BranchGroup) -> impl ExactSizeIterator<Item = String> {
        group.members.iter().map(|at| self.list[*at].name())
    }
}

impl BranchGroup {
    /// Returns whether anything in it is more than one branch.
    #[must_use]
    pub fn is_folded(&self) -> bool {
        let below = match &self.below {
            BelowGroup::Groups(groups) => groups.iter().any(Self::is_folded),
            BelowGroup::As(_) => true,
        };
        below || self.members.len() > 1
    }
}

impl Branch {
    /// Names it among its siblings.
    #[must_use]
    pub fn name(&self) -> String {
        match (self.kind, self.path.steps().last()) {
            (BranchKind::State, _) => "state".to_owned(),
            (_, None) => "root module".to_owned(),
            (_, Some(PathStep::Call(name))) => format!("module.{name}"),
            (_, Some(PathStep::Test(name))) => format!("test {name}"),
            (_, Some(PathStep::Run(name))) => format!("run {name}"),
        }
    }

    /// Names it among all branches of the root, as the programs address a module.
    #[must_use]
    pub fn address(&self) -> String {
        match self.kind {
            BranchKind::State => "state".to_owned(),
            _ => self.path.to_string(),
        }
    }
}

fn module(node: &ModuleNode) -> Branch {
    Branch {
        source: node.source.clone(),
        computed: node.computed.clone(),
        fetched: node.fetched.clone(),
        dir: node.dir.clone(),
        unseen: node.unseen,
        ..empty(
            match node.path.steps().last() {
                None => BranchKind::Root,
                Some(PathStep::Run(_)) => BranchKind::Run,
                Some(_) => BranchKind::Call,
            },
            node.path.clone(),
        )
    }
}

fn empty(kind: BranchKind, path: ModulePath) -> Branch {
    Branch {
        kind,
        path,
        source: None,
        computed: None,
        fetched: None,
        dir: None,
        unseen: None,
        providers: BTreeMap::new(),
        below: Vec::new(),
    }
}

/// Adds a branch for every test file that requires something or calls a module.
fn add_tests(list: &mut Vec<Branch>, loaded: &Loaded) -> BTreeMap<String, usize> {
    let requiring = loaded
        .requirements
        .providers
        .values()
        .flatten()
        .map(|requirement| &requirement.module);
    let names: BTreeSet<&String> = loaded
        .modules
        .iter()
        .map(|node| &node.path)
        .chain(requiring)
        .filter_map(|path| match path.steps().first() {
            Some(PathStep::Test(name)) => Some(name),
            _ => None,
        })
        .collect();
    let mut indexes = BTreeMap::new();
    for name in names {
        let path = ModulePath::default().join(PathStep::Test(name.clone()));
        let index = list.len();
        indexes.insert(name.clone(), index);
        // The first branch is the root, which runs the tests.
        list[0].below.push(index);
        list.push(empty(BranchKind::Test, path));
    }
    indexes
}

/// Sorts by module what the configuration requires.
fn required(loaded: &Loaded) -> BTreeMap<&ModulePath, BTreeMap<ProviderAddr, Constraints>> {
    let mut all: BTreeMap<&ModulePath, BTreeMap<ProviderAddr, Constraints>> = BTreeMap::new();
    for (provider, places) in &loaded.requirements.providers {
        let mut terms: BTreeMap<&ModulePath, Vec<Constraint>> = BTreeMap::new();
        for place in places
            .iter()
            .filter(|place| place.origin != RequirementOrigin::State)
        {
            let of_module = terms.entry(&place.module).or_default();
            of_module.extend(place.constraints.iter().cloned());
        }
        // Sorted once: a module may name a provider in thousands of blocks.
        for (module, terms) in terms {
            let providers = all.entry(module).or_default();
            providers.insert(provider.clone(), terms.into_iter().collect());
        }
    }
    all
}

/// Everything that a branch shows except its name: kind, source and its trace, the reason why it is not
/// visible, providers, and the names and classes below.
type Look<'a> = (
    BranchKind,
    Option<&'a str>,
    Vec<&'a str>,
    Option<&'a FetchedModule>,
    Option<&'static str>,
    Vec<(&'a ProviderAddr, String)>,
    Vec<(String, usize)>,
);

fn classes(list: &[Branch]) -> Vec<usize> {
    let mut classes = vec![0; list.len()];
    let mut looks: BTreeMap<Look<'_>, usize> = BTreeMap::new();
    // Children come first: a branch is like another if its children are, which their classes show
    // without a walk through both.
    let mut order = Vec::new();
    let mut stack = vec![0];
    while let Some(at) = stack.pop() {
        order.push(at);
        stack.extend(&list[at].below);
    }
    for at in order.into_iter().rev() {
        let branch = &list[at];
        let look = (
            branch.kind,
            branch.source.as_deref(),
            branch
                .computed
                .as_deref()
                .map_or_else(Vec::new, ComputedCall::texts),
            branch.fetched.as_ref(),
            branch.unseen,
            branch
                .providers
                .iter()
                .map(|(provider, constraints)| (provider, constraints.to_string()))
                .collect(),
            branch
                .below
                .iter()
                .map(|child| (list[*child].name(), classes[*child]))
                .collect(),
        );
        let next = looks.len();
        classes[at] = *looks.entry(look).or_insert(next);
    }
    classes
}
