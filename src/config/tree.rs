//! The module tree: from the root along every call (`config.md` 4).

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use crate::diag::{self, Diagnostic, Texts};
use crate::flavor::Flavor;
use crate::requirement::{Requirement, Requirements, UnseenCall};
use crate::world::Files;

use super::contents::{Call, Contents, Place, ProviderBlock, Role, Source};
use super::files::{ModuleFiles, SourceFile};
use super::reader::Reader;
use super::resolve::{self, Needs, Standing};
use super::{CoreVersion, Loaded, MAX_DEPTH, MAX_PATH_BYTES, MAX_STEPS, flood};

/// The directory beside the root's files that also holds test files.
const TEST_DIRECTORY: &str = "tests";

pub(super) fn load(files: &dyn Files, texts: &mut Texts, root: &Path, flavor: Flavor) -> Loaded {
    let mut tree = Tree {
        reader: Reader::new(files, texts, root, flavor),
        modules: BTreeMap::new(),
        names: Vec::new(),
        dirs: Vec::new(),
        steps_left: MAX_STEPS,
        unreadable: BTreeSet::new(),
        unseen: Unseen::default(),
        requirements: Requirements::default(),
        core_versions: Vec::new(),
    };
    let found = tree.root();
    let mut diagnostics = tree.reader.found;
    diagnostics.extend(tree.unseen.calls.iter().map(not_visible));
    flood::in_order(&mut diagnostics);
    let mut requirements = tree.requirements;
    requirements.unseen_calls = tree.unseen.calls;
    requirements.faulty = diag::has_errors(&diagnostics);
    Loaded {
        requirements,
        diagnostics,
        found,
        core_versions: tree.core_versions,
    }
}

struct Tree<'a> {
    reader: Reader<'a>,
    /// What was read already, or why it could not be, by directory from the root on. Only what
    /// does not depend on the call is kept.
    modules: BTreeMap<PathBuf, Result<Rc<Module>, String>>,
    /// The calls on the way from the root to the module at hand.
    names: Vec<String>,
    /// The directories on that way, both ends included.
    dirs: Vec<PathBuf>,
    /// How many more requirements and calls may be met.
    steps_left: usize,
    /// The calls that were reported already, with the title: many ways may lead to one.
    unreadable: BTreeSet<(Place, &'static str)>,
    unseen: Unseen,
    requirements: Requirements,
    core_versions: Vec<CoreVersion>,
}

/// What one directory requires and calls.
struct Module {
    needs: Needs,
    calls: Vec<Call>,
}

impl Tree<'_> {
    /// Walks over everything; returns whether the root is a configuration at all.
    fn root(&mut self) -> bool {
        let dir = Path::new("");
        let chosen = match self.reader.choose(dir) {
            Ok(chosen) => chosen,
            Err(error) => {
                self.reader.unreadable_directory(dir, &error);
                return false;
            }
        };
        let mut contents = self.reader.module(dir, &chosen);
        contents.provider_blocks.extend(self.tests(dir, &chosen));
        let module = self.put_together(contents, Standing::Root);
        self.dirs.push(dir.to_owned());
        // Where the walk stopped, it has said so.
        let _ = self.visit(&module);
        let by_tests = self.reader.flavor.counts_tests_as_configuration();
        !chosen.primary.is_empty()
            || !chosen.overrides.is_empty()
            || (by_tests && !chosen.tests.is_empty())
    }

    fn put_together(&mut self, mut contents: Contents, standing: Standing) -> Module {
        let Reader { flavor, found, .. } = &mut self.reader;
        let needs = resolve::resolve(&contents, standing, *flavor, found);
        self.core_versions.append(&mut contents.core_versions);
        Module {
            needs,
            calls: contents.calls,
        }
    }

    /// Looks through all test files; returns the `provider` blocks that count.
    fn tests(&mut self, dir: &Path, chosen: &ModuleFiles) -> Vec<ProviderBlock> {
        let mut blocks = self.tests_of(dir, &chosen.tests);
        let tests = join(dir, TEST_DIRECTORY);
        let chosen = self.reader.choose_tests(&tests);
        blocks.extend(self.tests_of(&tests, &chosen));
        blocks
    }

    fn tests_of(&mut self, dir: &Path, files: &[SourceFile]) -> Vec<ProviderBlock> {
        let mut blocks = Vec::new();
        for file in files {
            let contents = self.reader.decode(dir, file, Role::Test);
            let name = dir.join(&file.name).display().to_string();
            for call in &contents.calls {
                if let Some(Source::Local(source) | Source::Unseen(source)) = &call.source {
                    self.unseen.add(call, source, std::slice::from_ref(&name));
                }
            }
            blocks.extend(contents.provider_blocks);
        }
        blocks
    }

    /// Adds what a module requires, then follows its calls; breaks off where the tree is too large.
    fn visit(&mut self, module: &Module) -> ControlFlow<()> {
        let path: Arc<[String]> = Arc::from(&*self.names);
        for (addr, requirement) in &module.needs {
            let Requirement { file, span, .. } = *requirement;
            self.step(Place { file, span })?;
            let requirement = Requirement {
                module: Arc::clone(&path),
                ..requirement.clone()
            };
            let providers = &mut self.requirements.providers;
            match providers.get_mut(addr) {
                Some(places) => places.push(requirement),
                None => {
                    providers.insert(addr.clone(), vec![requirement]);
                }
            }
        }
        for call in &module.calls {
            self.step(call.place)?;
            match &call.source {
                Some(Source::Local(source)) => self.follow(call, source)?,
                Some(Source::Unseen(source)) => self.unseen.add(call, source, &self.names),
                // Only an override may leave the source out, and then the base has one.
                None => {}
            }
        }
        ControlFlow::Continue(())
    }

    /// Counts one more requirement or call.
    fn step(&mut self, place: Place) -> ControlFlow<()> {
        match self.steps_left.checked_sub(1) {
            Some(left) => {
                self.steps_left = left;
                ControlFlow::Continue(())
            }
            None => {
                let remark = format!("{MAX_STEPS} requirements and calls came before this one");
                self.unreadable(place, "Module tree too large", &remark);
                ControlFlow::Break(())
            }
        }
    }

    fn follow(&mut self, call: &Call, source: &str) -> ControlFlow<()> {
        let here = self.dirs.last().map_or(Path::new(""), PathBuf::as_path);
        let dir = join(here, source);
        if self.dirs.contains(&dir) {
            let remark = "this directory is on the way to this very call";
            self.unreadable(call.place, "Module calls itself without end", remark);
        } else if let Some(remark) = self.too_deep(call) {
            self.unreadable(call.place, "Module tree too deep", &remark);
        } else if let Some(module) = self.module(call, &dir) {
            self.names.push(call.name.clone());
            self.dirs.push(dir);
            self.visit(&module)?;
            self.dirs.pop();
            self.names.pop();
        }
        ControlFlow::Continue(())
    }

    /// Says why a call lies too deep, if it does.
    fn too_deep(&self, call: &Call) -> Option<String> {
        let names = self.names.iter().chain([&call.name]);
        if self.names.len() >= MAX_DEPTH {
            Some(format!(
                "{MAX_DEPTH} calls lie between the root and this one"
            ))
        } else if names.map(|name| name.len() + 1).sum::<usize>() > MAX_PATH_BYTES {
            Some(format!(
                "the names of the calls down to here have more than {MAX_PATH_BYTES} bytes"
            ))
        } else {
            None
        }
    }

    /// Reads the module of a directory, unless that was tried for another call.
    fn module(&mut self, call: &Call, dir: &Path) -> Option<Rc<Module>> {
        if !self.modules.contains_key(dir) {
            let module = self.read(dir);
            self.modules.insert(dir.to_owned(), module);
        }
        match self.modules.get(dir)?.clone() {
            Ok(module) => Some(module),
            Err(remark) => {
                self.unreadable(call.place, "Unreadable module directory", &remark);
                None
            }
        }
    }

    fn read(&mut self, dir: &Path) -> Result<Rc<Module>, String> {
        let chosen = self.reader.choose(dir).map_err(|error| error.to_string())?;
        let contents = self.reader.module(dir, &chosen);
        Ok(Rc::new(self.put_together(contents, Standing::Child)))
    }

    fn unreadable(&mut self, place: Place, title: &'static str, remark: &str) {
        if self.unreadable.insert((place, title)) {
            let Place { file, span } = place;
            let error = Diagnostic::error("module-unreadable", title);
            self.reader.found.push(error.at(file, span, remark));
        }
    }
}

/// The calls whose modules cannot be seen, each as it is written.
#[derive(Default)]
struct Unseen {
    calls: Vec<UnseenCall>,
    /// Where in that list the call of each place is.
    known: BTreeMap<Place, usize>,
}

impl Unseen {
    /// Notes a call that is met behind the calls of `names`.
    fn add(&mut self, call: &Call, source: &str, names: &[String]) {
        if let Some(at) = self.known.get(&call.place) {
            self.calls[*at].ways += 1;
            return;
        }
        self.known.insert(call.place, self.calls.len());
        let Place { file, span } = call.place;
        self.calls.push(UnseenCall {
            module: [names, std::slice::from_ref(&call.name)].concat(),
            ways: 1,
            source: source.to_owned(),
            file,
            span,
        });
    }
}

/// Says that a call is not visible, with its path if there is only one.
fn not_visible(call: &UnseenCall) -> Diagnostic {
    let remark = "what it requires is unknown";
    let (name, remark) = match &*call.module {
        [.., name] if call.ways > 1 => {
            let remark = format!("{remark}; {} ways lead to this call", call.ways);
            (name.clone(), remark)
        }
        path => (path.join("."), remark.to_owned()),
    };
    let title = format!("Module {name} is not visible");
    Diagnostic::note("module-not-visible", title).at(call.file, call.span, remark)
}

/// Finds the directory of a local module, from the root on: by text alone, as the programs do,
/// whether links lie on the way or not.
fn join(dir: &Path, source: &str) -> PathBuf {
    let mut out = PathBuf::new();
    for part in dir.join(source).components() {
        match part {
            Component::Normal(_) => out.push(part),
            Component::ParentDir if out.file_name().is_some() => {
                out.pop();
            }
            Component::ParentDir => out.push(part),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    out
}
