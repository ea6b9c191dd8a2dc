//! Checks of the whole module tree: what calls hand over, against what their modules take
//! (rules 5.6 to 5.8, 11.5).
//!
//! They come after the walk and change no requirement. The programs get to them only with files
//! that are right on their own, and so do we: after an error, what a file seems to declare may be
//! half of it.

use std::collections::{BTreeMap, BTreeSet};
use std::ptr;
use std::sync::Arc;

use crate::addr::ProviderAddr;
use crate::config::loaded::ModuleNode;
use crate::config::tree::resolve::Module;
use crate::diag::{self, Diagnostic, MAX_PROBLEMS, rules};
use crate::flavor::Flavor;
use crate::module_config::decode::contents::{Call, Contents, RequiredProvider};
use crate::module_config::decode::handover::Passed;
use crate::module_config::decode::variables::{Given, Variable};
use crate::module_config::file::SourcePlace;
use crate::module_config::flood;
use crate::module_config::syntax::names::Reference;
use crate::requirement::PathStep;

/// The remark on a name that only looks like that of a provider.
const UNDEFINED: &str = "Reference to undefined provider";

/// The title for a configuration of another provider than the module takes.
const MISMATCH: &str = "Provider type mismatch";

/// The title for a configuration that a module needs and does not get.
const NOT_PASSED: &str = "Missing required provider configuration";

/// Checks all modules that were read; `nodes` lists callers before the modules they call.
pub(in crate::texts::config) fn check(
    nodes: &[ModuleNode],
    instances: &[Option<Arc<Module>>],
    flavor: Flavor,
    found: &mut Vec<Diagnostic>,
) {
    // The programs get here only with files that are right on their own.
    if diag::has_errors(found) {
        return;
    }
    let mut checks = PassingChecks {
        flavor,
        found,
        errors: 0,
    };
    let modules = checks.modules(instances);
    let declared = |at: usize| modules.get(&Arc::as_ptr(instances.get(at)?.as_ref()?));
    // What keeps each module, and those below, from configuring providers.
    let mut bans: Vec<Option<SourcePlace>> = Vec::with_capacity(nodes.len());
    let (mut met, mut compared) = (BTreeSet::new(), BTreeSet::new());
    let callees = callees(nodes);
    for (at, node) in nodes.iter().enumerate() {
        let callee = declared(at);
        if let (Some(module), Some(_)) = (callee, node.caller)
            && met.insert(ptr::from_ref(module))
        {
            checks.ignored_settings(module);
        }
        // A module that a run calls is a root of its own.
        let step = node.path.steps().last();
        let (Some(PathStep::Call(name)), Some(caller)) = (step, node.caller) else {
            bans.push(None);
            continue;
        };
        let parent = declared(caller);
        let call = parent.and_then(|parent| parent.calls.get(&**name));
        // A ban reaches all the way down. Callers come first in the list, so theirs is known.
        let ban = call
            .and_then(|call| call.handover.repetition.place())
            .or(bans[caller]);
        bans.push(ban);
        if let (Some(child), Some(parent), Some(call)) = (callee, parent, call) {
            // Where a ban comes from depends on the way, so it is checked for each of them.
            checks.banned(child, ban);
            // What many ways lead to is the same each time.
            if compared.insert((ptr::from_ref::<Call>(call), ptr::from_ref(child))) {
                let mut passed = call.handover.providers.iter();
                let is_complete = passed.all(|passed| child.declares(&passed.child));
                let callees = (!is_complete).then(|| callees.get(&caller)).flatten();
                let callees = callees.into_iter().flatten();
                let beside = local_names(callees.filter_map(|at| declared(*at)), flavor);
                checks.child(child, parent, call, &beside);
            }
        }
        flood::relieve(checks.found);
        if checks.errors > MAX_PROBLEMS {
            break;
        }
    }
}

/// Returns the nodes of the modules that each module calls.
fn callees(nodes: &[ModuleNode]) -> BTreeMap<usize, Vec<usize>> {
    let mut callees: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (at, node) in nodes.iter().enumerate() {
        if let (Some(PathStep::Call(_)), Some(caller)) = (node.path.steps().last(), node.caller) {
            callees.entry(caller).or_default().push(at);
        }
    }
    callees
}

/// The addresses that several modules mean by each local name.
type LocalNames<'a> = BTreeMap<&'a str, BTreeSet<ProviderAddr>>;

fn local_names<'a>(
    modules: impl Iterator<Item = &'a Declared<'a>>,
    flavor: Flavor,
) -> LocalNames<'a> {
    let mut names = LocalNames::new();
    let mut met = BTreeSet::new();
    for module in modules.filter(|module| met.insert(ptr::from_ref(*module))) {
        let configured = module
            .configured
            .iter()
            .chain(module.empty.keys())
            .map(|(local_name, _)| *local_name);
        for local_name in module.required.keys().copied().chain(configured) {
            let addr = module.addr(local_name, flavor);
            names.entry(local_name).or_default().extend(addr);
        }
    }
    names
}

/// A provider configuration as a module names it: local name and alias.
type Name<'a> = (&'a str, Option<&'a str>);

fn name_of(reference: &Reference) -> Name<'_> {
    (&reference.local_name, reference.alias.as_deref())
}

fn shown((local_name, alias): Name<'_>) -> String {
    match alias {
        Some(alias) => format!("{local_name}.{alias}"),
        None => local_name.to_owned(),
    }
}

struct Declared<'a> {
    contents: &'a Contents,
    calls: BTreeMap<&'a str, &'a Call>,
    required: BTreeMap<&'a str, &'a RequiredProvider>,
    variables: BTreeSet<&'a str>,
    /// The variables that a call must set for anything to be installed.
    needed: Vec<&'a Variable>,
    /// The local names that its own calls hand over further.
    handed_on: BTreeSet<&'a str>,
    /// The names that callers must hand over: `configuration_aliases`.
    aliases: BTreeSet<Name<'a>>,
    /// The names of its own `provider` blocks.
    configured: BTreeSet<Name<'a>>,
    /// Blocks without content: the old form of a configuration that the caller passes.
    empty: BTreeMap<Name<'a>, SourcePlace>,
    /// Blocks with `for_each`, each with several configurations.
    keyed: BTreeSet<Name<'a>>,
}

impl<'a> Declared<'a> {
    fn of(contents: &'a Contents) -> Self {
        let mut declared = Self {
            contents,
            calls: BTreeMap::new(),
            aliases: BTreeSet::new(),
            required: BTreeMap::new(),
            needed: Vec::new(),
            variables: BTreeSet::new(),
            handed_on: BTreeSet::new(),
            configured: BTreeSet::new(),
            empty: BTreeMap::new(),
            keyed: BTreeSet::new(),
        };
        for entry in &contents.required {
            declared.required.insert(&entry.local_name, entry);
            for alias in &entry.aliases {
                declared.aliases.insert((&entry.local_name, Some(alias)));
            }
        }
        for call in &contents.calls {
            declared.calls.insert(&call.name, call);
            for Passed { parent, .. } in &call.handover.providers {
                if parent.alias.is_none() {
                    declared.handed_on.insert(&parent.local_name);
                }
            }
        }
        for variable in &contents.variables {
            declared.variables.insert(&variable.name);
            if variable.default.is_none() && Given::says(variable.constant.as_ref(), true) {
                declared.needed.push(variable);
            }
        }
        for block in &contents.provider_blocks {
            let name = (&*block.local_name, block.alias.as_deref());
            // In a child such a block means the configuration that the caller passes, and configures nothing
            // (rules 5.6).
            if block.is_empty && block.version.is_none() {
                declared.empty.insert(name, block.place);
            } else {
                declared.configured.insert(name);
            }
            if block.has_keys {
                declared.keyed.insert(name);
            }
        }
        declared
    }

    /// Returns the address that a local name means where one configuration is passed on.
    fn addr(&self, local_name: &str, flavor: Flavor) -> Option<ProviderAddr> {
        match self.required.get(local_name) {
            Some(entry) => Some(entry.addr.clone()),
            // Unlike elsewhere, not even `terraform` is special here.
            None => ProviderAddr::parse(local_name, flavor).ok(),
        }
    }

    /// Returns true if the module declares what a caller is to pass under a name.
    fn declares(&self, reference: &Reference) -> bool {
        match reference.alias {
            None => self.required.contains_key(&*reference.local_name),
            Some(_) => self.aliases.contains(&name_of(reference)),
        }
    }

    /// Returns the address of what a call passes on.
    ///
    /// The programs also look for the name of the other side, and then believe that.
    fn passed_addr(&self, passed: &Passed, flavor: Flavor) -> Option<ProviderAddr> {
        match (
            &passed.child.alias,
            self.required.get(&*passed.child.local_name),
        ) {
            (None, Some(entry)) => Some(entry.addr.clone()),
            _ => self.addr(&passed.parent.local_name, flavor),
        }
    }
}

struct PassingChecks<'f> {
    flavor: Flavor,
    found: &'f mut Vec<Diagnostic>,
    /// The number of errors; beyond [`MAX_PROBLEMS`] they are only counted.
    errors: usize,
}

impl PassingChecks<'_> {
    /// Checks each module by itself, and returns what it declares.
    fn modules<'m>(
        &mut self,
        instances: &'m [Option<Arc<Module>>],
    ) -> BTreeMap<*const Module, Declared<'m>> {
        // A module that many calls share is one value behind several `Rc`s; its address is its identity,
        // so that its own references are looked at once.
        let mut modules = BTreeMap::new();
        for module in instances.iter().flatten() {
            modules.entry(Arc::as_ptr(module)).or_insert_with(|| {
                let module = Declared::of(&module.contents);
                self.references(&module);
                module
            });
        }
        modules
    }

    fn error(&mut self, title: impl Into<String>, at: SourcePlace, remark: &str) {
        let error = Diagnostic::error(rules::CONFIGURATION_INVALID, title);
        self.push(error.at(at.file, at.span, remark));
    }

    fn push(&mut self, error: Diagnostic) {
        self.errors += 1;
        if self.errors <= MAX_PROBLEMS + 1 {
            self.found.push(error);
        }
    }

    fn odd(&mut self, title: &str, at: SourcePlace, remark: &str) {
        let note = Diagnostic::note(rules::CONFIGURATION_ODD, title);
        self.found.push(note.at(at.file, at.span, remark));
    }

    /// Checks the references to provider configurations within one module.
    fn references(&mut self, module: &Declared<'_>) {
        for resource in &module.contents.resources {
            if let Some(reference) = &resource.provider {
                self.key("resource", reference, module);
            }
        }
        for passed in module
            .contents
            .calls
            .iter()
            .flat_map(|call| &call.handover.providers)
        {
            if passed.child.has_key {
                let remark = "a module gets single configurations: its own name has no key";
                let title = "Invalid module provider configuration";
                self.error(title, passed.child.place, remark);
            }
            self.key("module", &passed.parent, module);
            let Reference {
                local_name,
                alias,
                place,
                ..
            } = &passed.parent;
            let is_declared = module.configured.contains(&(&**local_name, None))
                || module.required.contains_key(&**local_name);
            if alias.is_none() && !is_declared {
                let remark = format!("no required_providers block here has {local_name:?}");
                self.odd(UNDEFINED, *place, &remark);
            }
        }
    }

    /// Checks that a reference has a key exactly where the configuration has some
    /// (rules 10.2).
    fn key(&mut self, block: &str, reference: &Reference, module: &Declared<'_>) {
        let is_keyed = module.keyed.contains(&name_of(reference));
        let remark = match (reference.has_key, is_keyed) {
            (true, false) => "a key needs a provider block with this alias and for_each",
            (false, true) => "this provider block has for_each: write the key that is meant",
            _ => return,
        };
        let title = format!("Invalid {block} provider configuration");
        self.error(title, reference.place, remark);
    }

    /// Points out what has no effect, because the module is not the root.
    fn ignored_settings(&mut self, module: &Declared<'_>) {
        // Terraform from 1.15 on warns of `cloud` as well, the others of `backend` alone (rules 5.10).
        let knows_cloud = self.flavor.compares_module_arguments();
        for setting in &module.contents.declared {
            let title = match setting.kind {
                "backend" => "Backend configuration ignored",
                "cloud" if knows_cloud => "Cloud configuration ignored",
                _ => continue,
            };
            self.odd(title, setting.place, "only that of the root counts");
        }
    }

    /// Checks one call against its module; `beside` are the local names of all modules that the caller calls.
    fn child(
        &mut self,
        child: &Declared<'_>,
        parent: &Declared<'_>,
        call: &Call,
        beside: &LocalNames<'_>,
    ) {
        self.arguments(child, call);
        let passed: BTreeMap<Name<'_>, &Passed> = call
            .handover
            .providers
            .iter()
            .map(|passed| (name_of(&passed.child), passed))
            .collect();
        let is_there =
            |name: &Name<'_>| child.configured.contains(name) || passed.contains_key(name);
        // What a module lists in `configuration_aliases` must be passed (rules 5.7).
        for name in child.aliases.iter().filter(|name| !is_there(name)) {
            let remark = format!("the module needs {}", shown(*name));
            self.error(NOT_PASSED, call.header, &remark);
        }
        for name in &child.handed_on {
            if child.required.contains_key(name) && !is_there(&(name, None)) {
                let remark = format!("the module hands {name} on, but gets none");
                self.odd(NOT_PASSED, call.header, &remark);
            }
        }
        for (name, passed) in &passed {
            // A provider block with arguments in a child excludes what the caller passes (rules 5.6).
            if child.configured.contains(name) {
                let remark = "the module has a provider block of its own for this";
                let title = "Cannot override provider configuration";
                self.error(title, passed.child.place, remark);
            }
            self.passed(child, parent, passed, beside);
        }
        // Such a block means the configuration that the caller passes (rules 5.6).
        let mut reported = BTreeSet::new();
        for (name, place) in &child.empty {
            // One of them is enough for each provider.
            if reported.insert(name.0) {
                let remark = "list it in required_providers and remove this block";
                self.odd("Redundant empty provider block", *place, remark);
            }
        }
    }

    /// Checks the values for variables, as far as reading looks at them.
    fn arguments(&mut self, child: &Declared<'_>, call: &Call) {
        // Terraform 1.11 and OpenTofu compare arguments in `validate` only (rules 5.8).
        if !self.flavor.compares_module_arguments() {
            return;
        }
        let arguments = &call.handover.arguments;
        for argument in arguments {
            let title = if argument.is_block {
                "Unsupported block type"
            } else if child.variables.contains(&*argument.name) {
                continue;
            } else {
                "Unsupported argument"
            };
            let place = argument.place;
            let error = Diagnostic::error(rules::UNSUPPORTED_ITEM, title);
            let remark = "the module has no such variable";
            self.push(error.at(place.file, place.span, remark));
        }
        let set: BTreeSet<&str> = arguments
            .iter()
            .filter(|argument| !argument.is_block)
            .map(|argument| &*argument.name)
            .collect();
        for variable in &child.needed {
            if !set.contains(&*variable.name) {
                let remark = format!("{} is missing", variable.name);
                self.error("Missing required argument", call.header, &remark);
            }
        }
    }

    /// Checks that a module with providers of its own is called without conditions.
    fn banned(&mut self, child: &Declared<'_>, ban: Option<SourcePlace>) {
        if let Some(ban) = ban.filter(|_| !child.configured.is_empty()) {
            // A provider must outlive its resources, so a module that configures one cannot come and go
            // (rules 5.6).
            let title = if self.flavor.is_opentofu() {
                "Module is incompatible with count, for_each, enabled and depends_on"
            } else {
                "Module is incompatible with count, for_each, and depends_on"
            };
            let remark = "a module down from here has provider blocks of its own";
            self.error(title, ban, remark);
        }
    }

    /// Checks one entry of the map of providers.
    fn passed(
        &mut self,
        child: &Declared<'_>,
        parent: &Declared<'_>,
        passed: &Passed,
        beside: &LocalNames<'_>,
    ) {
        let Reference {
            local_name, place, ..
        } = &passed.child;
        let name = name_of(&passed.child);
        let own = child.addr(local_name, self.flavor);
        let given = parent.passed_addr(passed, self.flavor);
        let (Some(own), Some(given)) = (own, given) else {
            return;
        };
        let is_declared = child.declares(&passed.child);
        let is_undefined = !is_declared && !child.empty.contains_key(&name);
        // For a name that the module does not declare, the programs take the address of any module beside it
        // that knows the local name, in the random order of a Go map (rules 5.15).
        let meanings = beside.get(&**local_name).filter(|_| !is_declared);
        let is_accepted = |wanted: &&ProviderAddr| {
            **wanted == given && (!is_undefined || wanted.is_default(self.flavor))
        };
        let by_chance = meanings.and_then(|meanings| meanings.iter().find(is_accepted));
        let wanted = match (by_chance, meanings) {
            (Some(wanted), _) => wanted.clone(),
            (None, Some(meanings)) if !meanings.contains(&own) => {
                meanings.first().cloned().unwrap_or(own)
            }
            (None, _) => own,
        };
        if by_chance.is_some() && meanings.is_some_and(|meanings| meanings.len() > 1) {
            let remark = format!(
                "modules beside this one mean other providers by {local_name}: the programs accept this or refuse it by chance"
            );
            self.odd(MISMATCH, *place, &remark);
        }
        if is_undefined {
            let remark = format!("the module does not declare {}", shown(name));
            // Before `required_providers` existed, names of HashiCorp's providers needed no
            // declaration.
            if wanted.is_default(self.flavor) {
                self.odd(UNDEFINED, *place, &remark)
            } else {
                self.error(UNDEFINED, *place, &remark)
            }
        }
        if wanted == given {
            return;
        }
        // Writing addresses takes longer than comparing them, and so many are not read.
        if self.errors > MAX_PROBLEMS {
            self.errors += 1;
            return;
        }
        self.push(mismatch(child, passed, [&wanted, &given], self.flavor));
    }
}

/// Makes the error of a provider that is another one to the module; a provider that it knows by another
/// name is likely a slip on the left side.
fn mismatch(
    child: &Declared<'_>,
    passed: &Passed,
    [wanted, given]: [&ProviderAddr; 2],
    flavor: Flavor,
) -> Diagnostic {
    let error = Diagnostic::error(rules::CONFIGURATION_INVALID, MISMATCH);
    let mut required = child.contents.required.iter();
    let wanted = wanted.short(flavor);
    match required.find(|entry| entry.addr == *given) {
        Some(right) => {
            let SourcePlace { file, span } = passed.child.place;
            let remark = format!("this is {wanted} to the module");
            let help = format!("write {} on the left", right.local_name);
            error.at(file, span, remark).help(help)
        }
        None => {
            let SourcePlace { file, span } = passed.parent.place;
            let given = given.short(flavor);
            let remark = format!("this is {given}, but the module takes {wanted} here");
            error.at(file, span, remark)
        }
    }
}
