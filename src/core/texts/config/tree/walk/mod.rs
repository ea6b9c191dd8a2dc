//! The module tree: from the root along every call (rules 5 and 6).

mod computed;
mod fetched;
mod inside;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io::ErrorKind;
use std::iter;
use std::mem;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::config::ConfigSources;
use crate::config::computed::ComputedCall;
use crate::config::limits::{MAX_PATH_STEPS, MAX_STEPS};
use crate::config::loaded::{
    DEFAULT_DATA_DIR, FetchedModule, Loaded, ModuleNode, RemoteCall, Settings,
};
use crate::config::tree::files::ModuleFiles;
use crate::config::tree::kept::ReadDirectory;
use crate::config::tree::manifest::{self, ModuleManifest};
use crate::config::tree::packages::Packages;
use crate::config::tree::reader::Reader;
use crate::config::tree::resolve::{self, Module, Needs};
use crate::config::tree::state;
use crate::config::tree::unseen::{IN_UNSEEN, NOT_CHECKED_OUT, UnseenModules};
use crate::config::tree::values::{Entry, Stop, Values};
use crate::config::tree::way::{CallSite, Sourcing};
use crate::diag::{self, Diagnostic, Label, Texts, rules};
use crate::module_config::decode::contents::{Backend, Call, Contents, Source};
use crate::module_config::decode::runs;
use crate::module_config::file::SourcePlace;
use crate::module_config::flood;
use crate::remote_module::{RemoteModules, is_leaving};
use crate::requirement::{
    CoreVersion, ModulePath, PathStep, Refusal, Requirement, RequirementOrigin, Requirements,
    StateSeen,
};
use crate::world::lexical;
use fetched::MountedPackage;

/// The directory beside the root's files that also holds test files, unless another one is named.
const TEST_DIRECTORY: &str = "tests";

/// The title of a tree that is not read to its end.
const TOO_LARGE: &str = "Module tree too large";

pub(in crate::texts::config) fn load(
    outside: ConfigSources<'_>,
    texts: &mut Texts,
    root: &Path,
    settings: &Settings,
) -> Loaded {
    let files = Packages::new(outside.files);
    let mut reader = Reader::new(&files, texts, root, settings.flavor);
    reader.keeps_merged = settings.keeps_merged;
    let mut tree = TreeWalk::new(reader, outside.modules, settings);
    let found = tree.root();
    let mut diagnostics = mem::take(&mut tree.reader.found);
    let mut value_errors = mem::take(&mut tree.reader.value_errors);
    let (unseen, mut requirements) = (tree.unseen, tree.requirements);
    diagnostics.extend(unseen.notes);
    if settings.keeps_legacy {
        // The requirement is there all the same, so that its places can be replaced.
        diagnostics.retain(|fault| {
            fault.code != rules::ADDRESS_MALFORMED || fault.title != Refusal::Legacy.title()
        });
    }
    let missing_values = tree
        .values
        .into_missing(&mut diagnostics, &mut value_errors);
    // In the order of the files as a reader knows them, not as the walk came to them.
    let texts = tree.reader.texts();
    flood::in_order_of(&mut diagnostics, |file| texts.order(file));
    flood::in_order_of(&mut value_errors.errors, |file| texts.order(file));
    requirements.unseen_calls = unseen.calls;
    requirements.faulty = diag::has_errors(&diagnostics);
    Loaded {
        requirements,
        modules: tree.nodes,
        remote_calls: tree.remote_calls,
        diagnostics,
        missing_values,
        value_errors,
        found,
        core_versions: tree.core_versions,
    }
}

struct Reached<'s> {
    /// The source, to be shown.
    source: &'s str,
    /// The directory of the module, from the root on.
    dir: PathBuf,
    fetched: Option<FetchedModule>,
}

impl<'s> Reached<'s> {
    fn on_disk(source: &'s str, dir: PathBuf) -> Self {
        Self {
            source,
            dir,
            fetched: None,
        }
    }
}

struct TreeWalk<'a> {
    reader: Reader<'a>,
    remote: &'a dyn RemoteModules,
    /// The packages that were fetched, in the order of their calls.
    packages: Vec<MountedPackage>,
    settings: &'a Settings,
    manifest: ModuleManifest,
    /// The directories that hold installed packages, from the root on.
    package_dirs: [PathBuf; 2],
    /// The modules that were read, or the reasons why they could not be, by directory from the root on. Nothing in
    /// them depends on the call.
    modules: BTreeMap<OsString, Result<Arc<Module>, String>>,
    nodes: Vec<ModuleNode>,
    root_module: Option<Arc<Module>>,
    /// The nodes of calls that are installed as packages, by the names of their directories.
    package_nodes: BTreeMap<String, usize>,
    /// The nodes that what is above them does not lead back to without end: modules that a test
    /// run calls, and those of computed calls.
    starts: BTreeSet<usize>,
    /// The number of further requirements and calls that may be met.
    steps_left: usize,
    /// The number of further calls that the paths of modules may have together.
    path_steps_left: usize,
    /// The calls that were reported already, with the title: many ways may lead to one.
    reported: BTreeSet<(SourcePlace, &'static str)>,
    values: Values,
    unseen: UnseenModules,
    requirements: Requirements,
    core_versions: Vec<CoreVersion>,
    remote_calls: Vec<RemoteCall>,
}

impl<'a> TreeWalk<'a> {
    fn new(reader: Reader<'a>, remote: &'a dyn RemoteModules, settings: &'a Settings) -> Self {
        Self {
            reader,
            remote,
            packages: Vec::new(),
            settings,
            manifest: ModuleManifest::default(),
            // A source is written for the name that the pipeline uses, which `TF_DATA_DIR` may not state here.
            package_dirs: [&settings.data_dir, Path::new(DEFAULT_DATA_DIR)]
                .map(|data_dir| join(data_dir, "modules")),
            modules: BTreeMap::new(),
            nodes: Vec::new(),
            root_module: None,
            package_nodes: BTreeMap::new(),
            starts: BTreeSet::new(),
            steps_left: MAX_STEPS,
            path_steps_left: MAX_PATH_STEPS,
            reported: BTreeSet::new(),
            values: Values::none(settings),
            unseen: UnseenModules::default(),
            requirements: Requirements::default(),
            core_versions: Vec::new(),
            remote_calls: Vec::new(),
        }
    }
}

impl TreeWalk<'_> {
    /// Walks over everything; returns whether the root is a configuration at all.
    fn root(&mut self) -> bool {
        let dir = Path::new("");
        let read = self.reader.choose(dir).and_then(|chosen| {
            self.manifest = manifest::read(&mut self.reader, &self.settings.data_dir);
            Ok((chosen, self.reader.directory(dir)?))
        });
        let (chosen, directory) = match read {
            Ok(read) => read,
            Err(error) => {
                self.reader.unreadable_directory(dir, &error);
                return false;
            }
        };
        // The root is not kept among the modules: for a call it would be a child, and other rules apply to
        // children.
        let module = self.put_together(&directory);
        self.nodes.push(ModuleNode {
            path: ModulePath::default(),
            caller: None,
            source: None,
            computed: None,
            fetched: None,
            dir: Some(dir.to_owned()),
            unseen: None,
            files: Arc::clone(&module.files),
            merged: module.contents.merged.clone(),
        });
        self.root_module = Some(Arc::clone(&module));
        self.values = Values::of_root(self.settings, &mut self.reader);
        self.values
            .enter(0, &module, Entry::Root, dir, &mut self.reader);
        let backend = self.values.settings(&module.contents, &mut self.reader);
        // Where the walk stopped, it has said so.
        let _ = self.visit(0, &module);
        let _ = self.tests(&chosen, &module.contents);
        self.state(backend.as_ref());
        chosen.are_configuration(self.reader.flavor)
    }

    fn put_together(&mut self, directory: &ReadDirectory) -> Arc<Module> {
        let module = directory.module(self.reader.flavor);
        self.reader.found.extend(module.found.iter().cloned());
        flood::relieve(&mut self.reader.found);
        let core_versions = &directory.contents.core_versions;
        self.core_versions.extend(core_versions.iter().cloned());
        module
    }

    /// Walks over the test files of the root and of the test directory.
    fn tests(&mut self, chosen: &ModuleFiles, root: &Contents) -> ControlFlow<()> {
        let dir = match &self.settings.test_directory {
            Some(dir) => dir.clone(),
            None => PathBuf::from(TEST_DIRECTORY),
        };
        let separate = self
            .reader
            .choose_tests(&dir, self.settings.test_directory.is_some());
        // Test files of child modules are never read (rules 6.1).
        let beside_root = chosen.tests.iter().map(|file| (Path::new(""), file));
        let in_directory = separate.iter().map(|file| (&*dir, file));
        for (dir, file) in beside_root.chain(in_directory) {
            let contents = self.reader.test_file(dir, file);
            let step = PathStep::Test(runs::branch(&dir.join(&file.name)));
            let path = ModulePath::default().join(step);
            let Reader { flavor, found, .. } = &mut self.reader;
            let needs = resolve::of_test(root, &contents.provider_blocks, *flavor, found);
            self.require(&path, &needs)?;
            for call in &contents.calls {
                self.step(call.place, 0)?;
                self.call(CallSite {
                    call,
                    at: None,
                    caller: 0,
                    sourcing: Sourcing::Written,
                    path: path.join(PathStep::Run(call.name.clone())),
                })?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Adds what only the state needs.
    fn state(&mut self, backend: Option<&Backend>) {
        if !self.settings.reads_state {
            self.requirements.state = StateSeen::LeftOut;
            return;
        }
        let required = &self.requirements.providers;
        let Some(state) = state::read(&mut self.reader, self.settings, backend, required) else {
            return;
        };
        self.requirements.state = StateSeen::Yes;
        // Providers of the state have no constraint, so that they never exclude a version (rules 7.1).
        for (addr, place) in state.providers {
            let addr = state::moved(addr, self.settings, &self.requirements);
            let places = self.requirements.providers.entry(addr).or_default();
            places.push(Requirement {
                constraints: Default::default(),
                module: ModulePath::default(),
                origin: RequirementOrigin::State,
                file: place.file,
                span: place.span,
            });
        }
    }

    /// Adds what the module at a path requires; breaks off where the tree is too large.
    fn require(&mut self, path: &ModulePath, needs: &Needs) -> ControlFlow<()> {
        for (addr, requirement) in needs {
            let Requirement { file, span, .. } = *requirement;
            self.step(SourcePlace { file, span }, 0)?;
            let requirement = Requirement {
                module: path.clone(),
                ..requirement.clone()
            };
            // Not `entry`: it needs the address by value, and most addresses are there already.
            let providers = &mut self.requirements.providers;
            match providers.get_mut(addr) {
                Some(places) => places.push(requirement),
                None => {
                    providers.insert(addr.clone(), vec![requirement]);
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// Adds what the module of a node requires, then follows its calls.
    fn visit(&mut self, node: usize, module: &Module) -> ControlFlow<()> {
        let path = self.nodes[node].path.clone();
        self.require(&path, &module.needs)?;
        self.prepare(&path, &module.contents.calls);
        let calls = &module.contents.calls;
        // A call may name a directory in the package of another one, which then comes first (rules 5.15).
        let mut order: Vec<usize> = (0..calls.len()).collect();
        order.sort_by_cached_key(|at| self.is_in_package(node, &calls[*at]));
        for at in order {
            let call = &calls[at];
            self.step(call.place, path.steps().len() + 1)?;
            self.call(CallSite {
                call,
                at: Some(at),
                caller: node,
                sourcing: Sourcing::Written,
                path: path.join(PathStep::Call(call.name.clone())),
            })?;
        }
        ControlFlow::Continue(())
    }

    /// Counts one more requirement or call, and the calls in the path of its module.
    fn step(&mut self, place: SourcePlace, path_steps: usize) -> ControlFlow<()> {
        // A few modules that each call the next one twice have exponentially many paths.
        let steps_left = self.steps_left.checked_sub(1);
        let path_steps_left = self.path_steps_left.checked_sub(path_steps);
        let remark = match (steps_left, path_steps_left) {
            (Some(steps_left), Some(path_steps_left)) => {
                (self.steps_left, self.path_steps_left) = (steps_left, path_steps_left);
                return ControlFlow::Continue(());
            }
            (None, _) => format!("{MAX_STEPS} requirements and calls came before this one"),
            (_, None) => {
                format!("the modules before this one are reached by {MAX_PATH_STEPS} calls")
            }
        };
        self.unreadable(place, TOO_LARGE, &remark);
        ControlFlow::Break(())
    }

    /// Follows a call to its module, if that can be seen.
    fn call(&mut self, way: CallSite<'_>) -> ControlFlow<()> {
        let written = way.call.source.as_ref().and_then(Source::text);
        if let Some(place) = way.call.computed() {
            let resolved = match way.at {
                Some(_) => self.values.resolve(way.caller, way.call, &mut self.reader),
                // The source of a run is never computed (rules 6.3).
                None => return self.computed(way, written, place, None),
            };
            return match resolved {
                Ok((source, version)) => {
                    let call = Call {
                        source: Some(source),
                        version,
                        ..way.call.clone()
                    };
                    self.call(CallSite {
                        call: &call,
                        sourcing: Sourcing::Computed,
                        ..way
                    })
                }
                Err(Stop::Refused(_)) => ControlFlow::Continue(()),
                Err(Stop::Uncertain(reason)) => {
                    let key = way.path.manifest_key();
                    self.package_nodes.insert(key, self.nodes.len());
                    self.computed(way, written, place, Some(&reason))
                }
            };
        }
        // A call counts once, with any `count`, `for_each` or `enabled`: their values may be known only at the
        // plan (rules 5.1).
        match &way.call.source {
            Some(Source::Local { written, module }) => self.local_call(&way, written, &module.path),
            Some(Source::Remote { written, module }) => {
                let key = way.path.manifest_key();
                self.package_nodes.insert(key.clone(), self.nodes.len());
                let installed = self.installed(&key, way.call);
                self.remote_calls.push(RemoteCall {
                    key,
                    source: module.clone(),
                    version: fetched::allowed(way.call).cloned(),
                    file: way.call.place.file,
                    span: way.call.place.span,
                    installed: installed.as_ref().ok().map(|found| found.dir.clone()),
                    pin: None,
                });
                match installed {
                    Ok(installed) => self.follow(&way, Reached::on_disk(written, installed.dir)),
                    Err(title) => self.fetch(&way, written, title),
                }
            }
            // Only an override may leave the source out, and then the base has one.
            Some(Source::Computed(_) | Source::Unfit(_)) | None => ControlFlow::Continue(()),
        }
    }

    /// Follows a call to a directory beside the caller.
    fn local_call(&mut self, way: &CallSite<'_>, written: &str, source: &str) -> ControlFlow<()> {
        let place = way.call.place;
        let here = self.nodes[way.caller]
            .dir
            .as_deref()
            .unwrap_or(Path::new(""));
        let dir = join(here, source);
        // A local module is found without its record; a record of another directory shows that the
        // programs would not see the same files: they stop there, and ask for another `init`.
        let key = way.path.manifest_key();
        let recorded = self.manifest.source(&key, &self.reader);
        if recorded.is_none() && !way.path.is_in_test() {
            self.reader.value_errors.modules = Some(manifest::NOT_INSTALLED);
        }
        if let Some(recorded) = recorded
            && join(here, recorded) != dir
        {
            let remark = format!("it was installed from {recorded:?}");
            let note = Diagnostic::note(rules::CONFIGURATION_ODD, manifest::SOURCE_CHANGED)
                .at(place.file, place.span, remark)
                .help("install the modules again");
            flood::push(&mut self.reader.found, note);
        }
        if self.settings.submodules.hold(&dir) {
            return self.unseen(way, written, NOT_CHECKED_OUT, place);
        }
        if let Some((package, reason)) = self.unseen_package(&dir) {
            let unseen = self.unseen(way, written, IN_UNSEEN, place);
            let because = Label {
                file: place.file,
                span: place.span,
                note: format!("it is in {package}, which is not visible"),
            };
            self.unseen.explain(way.call, Some(because));
            self.unseen.set_reason(way.call, reason);
            return unseen;
        }
        let resolved = if self.leaves_package(way.caller, &dir) {
            None
        } else {
            match self.reader.without_links(&dir) {
                Ok(dir) => Some(dir),
                Err(error) if is_leaving(&error) => None,
                // Reading the directory fails as well, and reports the reason.
                Err(_) => Some(dir),
            }
        };
        match resolved {
            Some(dir) => self.follow(way, Reached::on_disk(written, dir)),
            // A package from outside must not name files of this machine.
            None => {
                let error = fetched::escaping(written, place);
                self.report_once(place, fetched::ESCAPES, error);
                ControlFlow::Continue(())
            }
        }
    }

    fn follow(&mut self, way: &CallSite<'_>, reached: Reached<'_>) -> ControlFlow<()> {
        let place = way.call.place;
        let dir = reached.dir;
        // A run starts anew, and the manifest has an end, as has a circle that leads through it.
        let is_run = matches!(way.path.steps().last(), Some(PathStep::Run(_)));
        let is_start = is_run || way.is_computed();
        let mut callers = iter::successors(Some(way.caller), |number| {
            let node = &self.nodes[*number];
            node.caller.filter(|_| !self.starts.contains(number))
        });
        // The programs do not notice a circle: installing fails when paths become too long (rules 5.9).
        if !is_start && callers.any(|number| self.nodes[number].dir.as_ref() == Some(&dir)) {
            let remark = "the chain of calls to this one already contains this directory";
            self.unreadable(place, "Module calls itself without end", remark);
        } else if let Some(remark) = way.too_deep() {
            self.unreadable(place, "Module tree too deep", &remark);
        } else if let Some(module) = self.module(way.call, &dir) {
            if is_start {
                self.starts.insert(self.nodes.len());
            }
            self.nodes.push(ModuleNode {
                path: way.path.clone(),
                caller: Some(way.caller),
                source: Some(reached.source.to_owned()),
                computed: self.trace(way),
                fetched: reached.fetched,
                dir: Some(dir),
                unseen: None,
                files: Arc::clone(&module.files),
                merged: module.contents.merged.clone(),
            });
            let node = self.nodes.len() - 1;
            let entry = match way.at {
                Some(at) => Entry::Call {
                    caller: way.caller,
                    at,
                },
                None => Entry::Run(way.call.arguments.clone()),
            };
            let dir = self.nodes[node].dir.clone().unwrap_or_default();
            self.values
                .enter(node, &module, entry, &dir, &mut self.reader);
            self.visit(node, &module)?;
            // Values belong to the call (rules 9.5): no later call may see those of this one.
            self.values.leave(node);
        }
        ControlFlow::Continue(())
    }

    /// Traces a computed source and version, if the settings ask for it.
    fn trace(&self, way: &CallSite<'_>) -> Option<Arc<ComputedCall>> {
        let result = way.result().filter(|_| self.settings.traces_values)?;
        let texts = self.reader.texts();
        self.values
            .trace(way.caller, way.at?, &result, &self.nodes, texts)
            .map(Arc::new)
    }

    fn unseen(
        &mut self,
        way: &CallSite<'_>,
        source: &str,
        title: &'static str,
        place: SourcePlace,
    ) -> ControlFlow<()> {
        self.nodes.push(ModuleNode {
            path: way.path.clone(),
            caller: Some(way.caller),
            source: Some(source.to_owned()),
            computed: self.trace(way),
            fetched: None,
            dir: None,
            unseen: Some(title),
            files: Arc::default(),
            merged: None,
        });
        self.unseen.add(way, source, title, place);
        ControlFlow::Continue(())
    }

    /// Reads the module of a directory, unless that was tried for another call.
    fn module(&mut self, call: &Call, dir: &Path) -> Option<Arc<Module>> {
        let module = match self.modules.get(dir.as_os_str()) {
            Some(known) => known.clone(),
            None => {
                // A failure is kept as well: each call reports it at its own place.
                let read = self.read(dir);
                self.modules.insert(dir.into(), read.clone());
                read
            }
        };
        let unreadable =
            |remark: String| self.unreadable(call.place, "Unreadable module directory", &remark);
        module.map_err(unreadable).ok()
    }

    fn read(&mut self, dir: &Path) -> Result<Arc<Module>, String> {
        // Only what does not depend on the call is kept: many calls may share the directory.
        let directory = self
            .reader
            .directory(dir)
            .map_err(|error| match error.kind() {
                ErrorKind::NotFound => format!("there is no directory {}", dir.display()),
                ErrorKind::NotADirectory => format!("{} is no directory", dir.display()),
                _ => error.to_string(),
            })?;
        Ok(self.put_together(&directory))
    }

    fn unreadable(&mut self, place: SourcePlace, title: &'static str, remark: &str) {
        let SourcePlace { file, span } = place;
        let error = Diagnostic::error(rules::MODULE_UNREADABLE, title);
        self.report_once(place, title, error.at(file, span, remark));
    }

    /// Reports something about a call, unless that was done on another way to it.
    fn report_once(&mut self, place: SourcePlace, title: &'static str, diagnostic: Diagnostic) {
        if self.reported.insert((place, title)) {
            flood::push(&mut self.reader.found, diagnostic);
        }
    }
}

/// Returns the place that the program shows under a title.
fn place_of(call: &Call, title: &str) -> SourcePlace {
    match title {
        manifest::NOT_INSTALLED => call.header,
        _ => call.place,
    }
}

/// Finds the directory of a local module, from the root on: by text alone. Links on the way are resolved after
/// that (rules 5.13). The directory of an installed module may be an absolute one.
fn join(dir: &Path, source: &str) -> PathBuf {
    lexical(&dir.join(source))
}
