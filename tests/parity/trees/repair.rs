//! Takes out of a random tree what Terraform would refuse.

use super::strategy::{Entry, Extra, Fault, Module, Override, ProviderBlock, Repeats, Style, Tree};

/// Takes out what Terraform refuses; out of a wild tree, only what means nothing.
pub(super) fn repaired(mut tree: Tree) -> Tree {
    let count = tree.modules.len();
    for (at, module) in tree.modules.iter_mut().enumerate() {
        module.inside = if at == 0 { 0 } else { module.inside % at };
        aim(module, at, count);
        if !tree.wild {
            repair_names(module, at == 0);
        }
    }
    for test in &mut tree.tests {
        for target in &mut test.runs {
            // A run may call a module, but not the root.
            *target = target
                .filter(|_| count > 1)
                .map(|n| 1 + n % (count - 1).max(1));
        }
    }
    repair_aliases(&mut tree);
    if tree.wild {
        // It has faults enough.
        tree.fault = None;
        return tree;
    }
    break_something(&mut tree);
    for at in (0..count).rev() {
        for call in 0..tree.modules[at].calls.len() {
            if tree.targets(at, call).any(|target| tree.configures(target)) {
                tree.modules[at].calls[call].repeats = Repeats::Once;
            }
        }
    }
    tree
}

/// Puts the fault into its module, if it belongs there.
fn break_something(tree: &mut Tree) {
    let Some((at, fault)) = &tree.fault else {
        return;
    };
    let module = &mut tree.modules[*at];
    let entry = |source, version| Entry {
        name: "zeta",
        source,
        version,
        style: Style::OneLine,
        short: false,
        alias: false,
    };
    match fault {
        Fault::Source(text) => module.entries.push(entry(Some(text), None)),
        Fault::Constraint(text) => module.entries.push(entry(None, Some(text))),
        Fault::Version(text) => module.providers.push(ProviderBlock {
            name: "zeta",
            alias: false,
            version: Some(text),
        }),
        Fault::Text(_) | Fault::Json(_) | Fault::Test(_) | Fault::State(_) => {}
    }
}

/// Makes calls and overrides lead to something: calls to later modules only.
fn aim(module: &mut Module, at: usize, count: usize) {
    let later = count - at - 1;
    if later == 0 {
        module.calls.clear();
    }
    for call in &mut module.calls {
        call.target = at + 1 + call.target % later;
    }
    let (resources, calls) = (module.resources.len(), module.calls.len());
    module.overrides.retain_mut(|one| match one {
        Override::Entry(_) | Override::Provider(_) => true,
        Override::Resource(place, _) | Override::Lifecycle(place) => *place < resources,
        Override::Call(place, target) => {
            *target = at + 1 + *target % later.max(1);
            *place < calls
        }
    });
}

/// Takes out what stands twice, or has no base, or stands in the wrong module.
fn repair_names(module: &mut Module, is_root: bool) {
    let mut names = Vec::new();
    let entries = &mut module.entries;
    entries.retain(|entry| is_new(&mut names, entry.name));
    let mut names = Vec::new();
    let blocks = &mut module.providers;
    blocks.retain(|block| is_new(&mut names, (block.name, block.alias)));
    let blocks = module.providers.clone();
    module.overrides.retain_mut(|one| match one {
        Override::Entry(entry) => {
            // Of a callee's aliases and the caller's answers nothing else may change.
            entry.alias = false;
            true
        }
        Override::Provider(block) => {
            !block.alias || blocks.iter().any(|b| b.alias && b.name == block.name)
        }
        _ => true,
    });
    let mut kinds = Vec::new();
    module.extras.retain(|extra| match extra {
        Extra::Import(..) | Extra::Backend => {
            is_root && is_new(&mut kinds, std::mem::discriminant(extra))
        }
        _ => is_new(&mut kinds, std::mem::discriminant(extra)),
    });
}

/// Lets an alias stand only where every caller can pass it, and lets callers pass it.
fn repair_aliases(tree: &mut Tree) {
    for at in 0..tree.modules.len() {
        let calls = tree.calls_of(at);
        let is_run = tree.tests.iter().any(|test| test.runs.contains(&Some(at)));
        let fits = |entry: &Entry| {
            let mut callers = calls.iter();
            let pass = callers.all(|(caller, call)| {
                // A call that an override redirects could pass too much or too little.
                tree.targets(*caller, *call).count() == 1 && tree.agree(*caller, at, entry.name)
            });
            pass && !is_run && !tree.modules[at].is_overridden(entry.name)
        };
        let fitting: Vec<bool> = tree.modules[at].entries.iter().map(fits).collect();
        let wild = tree.wild;
        let mut passed = Vec::new();
        for (entry, fits) in tree.modules[at].entries.iter_mut().zip(fitting) {
            entry.alias &= fits || wild;
            passed.extend(entry.alias.then_some(entry.name));
        }
        for (caller, call) in calls {
            let single = tree.targets(caller, call).count() == 1;
            if single && !wild {
                tree.modules[caller].calls[call].passes.clone_from(&passed);
            }
            let callee = &tree.modules[at];
            let from = &tree.modules[caller];
            let fits = |name: &&str| {
                single
                    && callee.entries.iter().any(|entry| entry.name == *name)
                    && tree.agree(caller, at, name)
                    && !callee.providers.iter().any(|block| block.name == *name)
                    && !callee
                        .overrides
                        .iter()
                        .any(|one| matches!(one, Override::Provider(block) if block.name == *name))
            };
            let mut known = Vec::new();
            let defaults = from.calls[call].defaults.iter().copied();
            let defaults: Vec<&str> = defaults
                .filter(fits)
                .filter(|name| is_new(&mut known, *name))
                .collect();
            tree.modules[caller].calls[call].defaults = defaults;
        }
    }
}

fn is_new<T: PartialEq>(known: &mut Vec<T>, one: T) -> bool {
    let new = !known.contains(&one);
    known.push(one);
    new
}

impl Tree {
    /// Returns the modules that a call leads to, by its own file or an override.
    fn targets(&self, module: usize, call: usize) -> impl Iterator<Item = usize> {
        let module = &self.modules[module];
        let redirected = module.overrides.iter().filter_map(move |one| match one {
            Override::Call(place, target) if *place == call => Some(*target),
            _ => None,
        });
        let own = module.calls.get(call).map(|call| call.target);
        own.into_iter().chain(redirected)
    }

    /// Returns every call that may lead to a module: the caller, and which of its calls.
    fn calls_of(&self, target: usize) -> Vec<(usize, usize)> {
        let modules = self.modules.iter().enumerate();
        let calls = modules.flat_map(|(at, module)| (0..module.calls.len()).map(move |n| (at, n)));
        calls
            .filter(|(at, call)| self.targets(*at, *call).any(|one| one == target))
            .collect()
    }

    /// Tells whether all modules that a caller calls mean the same by a name as one of them, and as
    /// the caller.
    ///
    /// Else, Terraform may take for that one's what any other of them means, now and then.
    fn agree(&self, caller: usize, callee: usize, name: &str) -> bool {
        let calls = 0..self.modules[caller].calls.len();
        let mut called = calls.flat_map(|call| self.targets(caller, call));
        let addr = self.modules[callee].address(name);
        self.modules[caller].address(name) == addr
            && called.all(|one| self.modules[one].address(name) == addr)
    }

    /// Tells whether a module, or one below it, has a provider block.
    fn configures(&self, at: usize) -> bool {
        let module = &self.modules[at];
        let mut overrides = module.overrides.iter();
        let own = !module.providers.is_empty()
            || overrides.any(|one| matches!(one, Override::Provider(_)));
        own || (0..module.calls.len())
            .any(|call| self.targets(at, call).any(|target| self.configures(target)))
    }
}

impl Module {
    /// Returns the address behind a local name, in some spelling that can be compared.
    fn address(&self, name: &str) -> String {
        let overriding = self.overrides.iter().rev().find_map(|one| match one {
            Override::Entry(entry) if entry.name == name => Some(entry),
            _ => None,
        });
        let entry = overriding.or_else(|| self.entries.iter().find(|entry| entry.name == name));
        let source = entry.and_then(|entry| entry.source).unwrap_or(name);
        let source = source.to_lowercase().replace(":443/", "/");
        match source.split('/').count() {
            1 => format!("registry.terraform.io/hashicorp/{source}"),
            2 => format!("registry.terraform.io/{source}"),
            _ => source,
        }
    }

    fn is_overridden(&self, name: &str) -> bool {
        let mut overrides = self.overrides.iter();
        overrides.any(|one| matches!(one, Override::Entry(entry) if entry.name == name))
    }
}
