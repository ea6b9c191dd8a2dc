//! `lockctl config`: the configuration of a module as the program sees it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use clap::Args;

use crate::config::{Loaded, ModuleNode, PlannedValues};
use crate::diag::{Texts, counted, did_you_mean};
use crate::driver;
use crate::effective::{self, EffectiveModule, Places};
use crate::flavor::{Flavor, Program};
use crate::module_config::{MergedModule, ModuleFile};
use crate::report::json::{ConfiguredModuleRow, RootStatus, shown_dir};
use crate::report::{CommandResult, Failure, RootDetail, RootResult};
use crate::run::command::Command;
use crate::run::formats::Format;
use crate::run::options::{Configuration, Options, RootArgs, examples};
use crate::run::session::Session;
use crate::run::unseen::{CallNames, UnseenParts};
use crate::run::user::modules::{AutoModules, UserModules};

/// Maximum number of warnings about what the text of a module leaves open.
const MAX_DOUBTS: usize = 20;

/// Show the configuration as the program sees it
///
/// Prints one module after the choice of files and after override files, as a configuration of the same meaning:
/// native syntax in the layout of `fmt`, with the place of every block. See `lockctl explain config`.
#[derive(Clone, Debug, Args)]
#[command(before_help = examples(&[
    ("lockctl config", "the module in this directory, with the place of every block"),
    ("lockctl config --overridden", "only what override files change"),
    ("lockctl config --check", "fail if override files change anything"),
    ("lockctl config --expand", "with the blocks that dynamic blocks generate"),
    ("lockctl config -r live/prod", "the root and all modules that it calls"),
    ("lockctl config module.network", "a module that the root in this directory calls"),
    ("lockctl config --no-places > all.tf", "a file in place of all others"),
]))]
pub(crate) struct ConfigArgs {
    /// Directory of a root or of any module, or the address of a call, as in module.a.module.b [default: the working
    /// directory]
    #[arg(value_name = "MODULE")]
    module: Option<PathBuf>,
    /// Also print every module that it calls
    ///
    /// Local modules are read where they are, others where they are installed or fetched.
    #[arg(short, long)]
    recursive: bool,
    /// Replace dynamic blocks by the blocks that they generate
    ///
    /// What depends on state, resources, data or variables without value stays, with the reason. A module that is
    /// called with different values is printed for each of them.
    #[arg(long, conflicts_with_all = ["overridden", "check"])]
    expand: bool,
    /// Print only what override files change, with both places
    #[arg(long)]
    overridden: bool,
    /// As --overridden; exit with code 1 if override files change anything
    #[arg(long)]
    check: bool,
    /// Print no places and remarks
    #[arg(long)]
    no_places: bool,
    #[command(flatten)]
    configuration: Configuration,
}

impl Command for ConfigArgs {
    fn run(&self, session: &Rc<Session<'_>>) -> CommandResult {
        let called = self.called(session);
        let roots = RootArgs {
            roots: match called {
                Some(_) => Vec::new(),
                None => self.module.iter().cloned().collect(),
            },
            is_single: true,
            ..RootArgs::default()
        };
        let user_modules = UserModules::new(session, &self.configuration, AutoModules::Cached);
        let mut document = String::new();
        let all = driver::each_loaded(
            session,
            &self.configuration,
            &roots,
            true,
            |root, loaded, texts, result| {
                let calls = self.modules(loaded, called);
                if calls.is_empty() {
                    return Err(not_printed(called, loaded));
                }
                // Modules borrow their texts, while values of a plan add the files that give them.
                let (read, flavor) = (texts.clone(), root.flavor);
                let merged: Vec<Arc<MergedModule>> = calls
                    .iter()
                    .map(|nodes| nodes[0].1.merged(&read, flavor))
                    .collect();
                let mut modules = Vec::new();
                for (nodes, merged) in calls.into_iter().zip(&merged) {
                    let files = &nodes[0].1.files;
                    let module = effective::effective(files, merged, &read, flavor);
                    modules.push(PrintedModule { nodes, module });
                }
                if self.expand {
                    let reading = user_modules.reading();
                    let nodes = &loaded.modules;
                    modules = root
                        .with_planned(&reading, texts, nodes, |values| expanded(modules, values));
                }
                let format = session.options.format;
                let (printed, rows) = self.print(&modules, &read, flavor, format, result);
                document = printed;
                result.detail = RootDetail::Configuration(rows);
                if self.recursive {
                    let unseen = UnseenParts::new(loaded, &self.configuration, session.options);
                    let consequence = "so the output is incomplete";
                    if let Some(remark) = unseen.remark(CallNames::Listed, consequence) {
                        result.remark(remark);
                    }
                }
                Ok::<(), Failure>(())
            },
        );
        let mut result = all.into_result("config");
        result.document = Some(document);
        result
    }

    fn configuration(&self) -> Option<&Configuration> {
        Some(&self.configuration)
    }

    fn check(&self, options: &Options) -> Result<(), String> {
        if options.format == Format::TfJson && (self.recursive || self.overridden || self.check) {
            return Err("--format tf-json prints one module, and all of it".to_owned());
        }
        Ok(())
    }
}

impl ConfigArgs {
    /// Returns the address of a call, if one was typed: a directory may have the same name.
    fn called(&self, session: &Session<'_>) -> Option<&str> {
        let typed = self.module.as_deref()?;
        let call = typed.to_str().filter(|text| text.starts_with("module."))?;
        let dir = session.options.below(typed);
        session.world.disk.list(&dir).is_err().then_some(call)
    }

    /// Prints the modules of a root, and describes them for JSON.
    fn print(
        &self,
        modules: &[PrintedModule<'_, '_>],
        texts: &Texts,
        flavor: Flavor,
        format: Format,
        result: &mut RootResult,
    ) -> (String, Vec<ConfiguredModuleRow>) {
        let (mut printed, mut rows, mut changed) = (String::new(), Vec::new(), 0);
        let places = if self.no_places {
            Places::Hidden
        } else {
            Places::Shown
        };
        for PrintedModule { nodes, module } in modules {
            let (_, node) = nodes[0];
            // JSON leaves open what JSON left open.
            let doubts = if format == Format::TfJson {
                &[]
            } else {
                &*module.doubts
            };
            for doubt in doubts.iter().take(MAX_DOUBTS) {
                result.warn(doubt.clone());
            }
            if doubts.len() > MAX_DOUBTS {
                let more = counted(doubts.len() - MAX_DOUBTS, "more name");
                result.warn(format!("{more} of {} are in doubt", dir_text(node)));
            }
            let end = printed.len();
            if self.recursive {
                printed.push_str(if printed.is_empty() { "" } else { "\n" });
                printed.push_str(&heading(nodes, texts));
            }
            let start = printed.len();
            if self.overridden || self.check {
                let comparison = effective::compare(&node.files, module, texts, flavor);
                changed += usize::from(!comparison.is_empty());
                printed.push_str(&comparison);
            } else if format == Format::TfJson {
                printed += &effective::tf_json(module, places, texts, flavor);
            } else if format != Format::Json {
                printed.push_str(file_name(&node.files, module, flavor));
                effective::native(&mut printed, module, places, texts);
            }
            if printed.len() == start {
                printed.truncate(end);
            }
            // The places of all arguments of a large module take as long as its text.
            if format == Format::Json {
                let (path, dir) = (node.path.to_string(), dir_text(node));
                rows.push(ConfiguredModuleRow::of(path, dir, module, texts));
            }
        }
        if self.check && changed > 0 {
            result.status = RootStatus::Findings;
            let modules = counted(changed, "module");
            result.warn(format!("override files change {modules}"));
        }
        (printed, rows)
    }

    /// Chooses the modules to print: the root, or a call of it. Calls that share a module are one element, each with
    /// its index among the modules of the root.
    fn modules<'l>(
        &self,
        loaded: &'l Loaded,
        called: Option<&str>,
    ) -> Vec<Vec<(usize, &'l ModuleNode)>> {
        let mut modules: Vec<Vec<(usize, &ModuleNode)>> = Vec::new();
        let mut by_dir = BTreeMap::new();
        let start = called.unwrap_or_default();
        for (at, node) in loaded.modules.iter().enumerate() {
            let path = node.path.to_string();
            let below = path.strip_prefix(start);
            let is_wanted = below.is_some_and(|below| match below {
                "" => true,
                _ => self.recursive && (start.is_empty() || below.starts_with('.')),
            });
            if !is_wanted || node.path.is_in_test() || node.unseen.is_some() {
                continue;
            }
            let new = modules.len();
            let index = *by_dir.entry(node.dir.as_deref()).or_insert(new);
            if index == new {
                modules.push(Vec::new());
            }
            modules[index].push((at, node));
        }
        modules
    }
}

/// Says why a call, or the module of a Terragrunt unit, cannot be printed.
fn not_printed(called: Option<&str>, loaded: &Loaded) -> Failure {
    let Some(call) = called else {
        return Failure::new("the module of this Terragrunt unit is not visible").help(
            "`lockctl config -v` shows why; `--modules fetch` fetches what is not installed",
        );
    };
    let paths: BTreeSet<String> = loaded
        .modules
        .iter()
        .map(|node| node.path.to_string())
        .collect();
    if paths.contains(call) {
        return Failure::new(format!("{call} is not visible"))
            .help("`--modules fetch` fetches modules that are not installed");
    }
    let known: Vec<&str> = paths.iter().map(String::as_str).collect();
    let help = did_you_mean(call, &known);
    Failure::new(format!("no module of this root is called as {call}"))
        .help(help.unwrap_or_else(|| "`lockctl tree` lists the calls".to_owned()))
}

/// A module to print.
struct PrintedModule<'l, 'm> {
    /// The calls of it, with their indexes among the modules of the root.
    nodes: Vec<(usize, &'l ModuleNode)>,
    module: EffectiveModule<'m>,
}

/// Expands modules by the values of each call. Calls by which a module becomes the same stay one element.
fn expanded<'l, 'm>(
    modules: Vec<PrintedModule<'l, 'm>>,
    values: &mut PlannedValues<'_>,
) -> Vec<PrintedModule<'l, 'm>> {
    let mut all = Vec::new();
    for PrintedModule { nodes, module } in modules {
        let mut different: Vec<PrintedModule<'_, '_>> = Vec::new();
        for (index, node) in nodes {
            values.enter(index);
            let module = effective::expand(module.clone(), values);
            match different.iter_mut().find(|known| known.module == module) {
                Some(known) => known.nodes.push((index, node)),
                None => different.push(PrintedModule {
                    nodes: vec![(index, node)],
                    module,
                }),
            }
        }
        all.append(&mut different);
    }
    all
}

/// Says how the file must be named where its name decides what it means: OpenTofu reads `required_version` only in
/// files of its own.
fn file_name(files: &[ModuleFile], module: &EffectiveModule<'_>, flavor: Flavor) -> &'static str {
    let has_version = module
        .blocks
        .iter()
        .any(|block| block.kind == "terraform" && block.attribute("required_version").is_some());
    if flavor.program() == Program::OpenTofu && has_version && !files.is_empty() {
        "# Save this as main.tofu: OpenTofu reads required_version in .tofu files only.\n\n"
    } else {
        ""
    }
}

/// Names the calls of a module, and its directory as the places in it do.
fn heading(nodes: &[(usize, &ModuleNode)], texts: &Texts) -> String {
    let names: BTreeSet<String> = nodes
        .iter()
        .map(|(_, node)| {
            if node.path.is_root() {
                "root module".to_owned()
            } else {
                node.path.to_string()
            }
        })
        .collect();
    let names = names.into_iter().collect::<Vec<String>>().join(", ");
    let node = nodes[0].1;
    let dir = node
        .files
        .first()
        .and_then(|file| Path::new(texts.name(file.id)).parent())
        .map(|dir| dir.display().to_string().replace(char::is_control, "?"))
        .filter(|dir| !dir.is_empty());
    let dir = dir.unwrap_or_else(|| dir_text(node));
    format!("# ---- {names}: {dir}\n\n")
}

fn dir_text(node: &ModuleNode) -> String {
    node.dir.as_deref().map(shown_dir).unwrap_or_default()
}
