//! The files of one module, put together: what it requires (rules 3.14, 4.6, 4.7).
//!
//! Local names are a matter of one module: nothing is inherited from the caller.

use crate::module_config::file::ModuleFile;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::addr::ProviderAddr;
use crate::diag::{Diagnostic, rules};
use crate::flavor::Flavor;
use crate::module_config::decode::contents::{Contents, ProviderBlock, Resource, Stated, Written};
use crate::module_config::decode::sources;
use crate::module_config::file::SourcePlace;
use crate::module_config::flood;
use crate::module_config::syntax::names::{self, ProviderReference};
use crate::requirement::{ModulePath, Refusal, Requirement, RequirementOrigin};
use crate::version::Constraints;

/// The requirements and declarations of one directory, independent of the calls that lead there.
pub(in crate::texts::config) struct Module {
    pub needs: Needs,
    pub files: Arc<[ModuleFile]>,
    pub contents: Arc<Contents>,
    /// The faults in its names.
    pub found: Vec<Diagnostic>,
}

/// The requirements of one module, before they are attributed to a call.
pub(in crate::texts::config) type Needs = Vec<(ProviderAddr, Requirement)>;

/// Resolves every name that a module uses; what is wrong is added to `found`.
pub(in crate::texts::config) fn resolve(
    contents: &Contents,
    flavor: Flavor,
    found: &mut Vec<Diagnostic>,
) -> Needs {
    let mut resolver = Resolver::new(contents, flavor, found);
    // Every entry requires its provider, used or not (rules 4.1). Entries come first: a name that they
    // declare never means a provider of HashiCorp.
    for entry in &contents.required {
        let origin = RequirementOrigin::RequiredProviders;
        let source = entry.source.as_ref();
        resolver.require(
            &entry.local_name,
            &entry.addr,
            source,
            &entry.stated,
            origin,
        );
    }
    resolver.require_blocks(&contents.provider_blocks);
    for resource in &contents.resources {
        let Resource {
            type_name, place, ..
        } = resource;
        resolver.require_implied(resource.provider.as_ref(), type_name, *place);
    }
    let resources: BTreeSet<_> = contents.resources.iter().map(Resource::key).collect();
    for import in &contents.imports {
        // OpenTofu adds what the import implies even where a resource block says otherwise (rules 4.9).
        let target = &import.target;
        if flavor.is_opentofu() || !target.in_module && !resources.contains(&target.key()) {
            resolver.require_implied(import.provider.as_ref(), &target.type_name, import.place);
        }
    }
    resolver.needs
}

/// Resolves the `provider` blocks of a test file with the local names of the root.
pub(in crate::texts::config) fn of_test(
    root: &Contents,
    blocks: &[ProviderBlock],
    flavor: Flavor,
    found: &mut Vec<Diagnostic>,
) -> Needs {
    let mut resolver = Resolver::new(root, flavor, found);
    resolver.require_blocks(blocks);
    resolver.needs
}

/// The local names of one module, and what they were found to require.
struct Resolver<'a> {
    flavor: Flavor,
    mapped: BTreeMap<&'a str, &'a ProviderAddr>,
    /// The local name that reached each address first.
    reached_by: BTreeMap<ProviderAddr, String>,
    /// Beginnings of types that were resolved before; there are few of them.
    implied: BTreeSet<String>,
    needs: Needs,
    found: &'a mut Vec<Diagnostic>,
}

impl<'a> Resolver<'a> {
    fn new(contents: &'a Contents, flavor: Flavor, found: &'a mut Vec<Diagnostic>) -> Self {
        Self {
            flavor,
            mapped: contents
                .required
                .iter()
                .map(|entry| (&*entry.local_name, &entry.addr))
                .collect(),
            reached_by: BTreeMap::new(),
            implied: BTreeSet::new(),
            needs: Vec::new(),
            found,
        }
    }

    fn require_blocks(&mut self, blocks: &[ProviderBlock]) {
        for block in blocks {
            // The deprecated `version` of a block counts beside the entry's (rules 4.8).
            let unconstrained = Stated {
                constraints: Constraints::default(),
                place: block.place,
            };
            let stated = block.version.as_ref().unwrap_or(&unconstrained);
            self.require_name(&block.local_name, stated, RequirementOrigin::ProviderBlock);
        }
    }

    fn require_name(&mut self, local_name: &str, stated: &Stated, origin: RequirementOrigin) {
        let addr = match self.mapped.get(local_name) {
            Some(addr) => Some((*addr).clone()),
            // What is not declared is a provider of HashiCorp, and `terraform` the built-in one (rules
            // 4.6).
            None => names::implied(local_name, self.flavor),
        };
        // An invalid name was already reported at its place.
        if let Some(addr) = addr {
            self.require(local_name, &addr, None, stated, origin);
        }
    }

    /// Requires what a block's `provider` argument names, else what its type implies.
    fn require_implied(
        &mut self,
        provider: Option<&ProviderReference>,
        type_name: &str,
        place: SourcePlace,
    ) {
        let stated = Stated {
            constraints: Constraints::default(),
            place,
        };
        if let Some(reference) = provider {
            self.require_name(&reference.local_name, &stated, RequirementOrigin::Implied);
            return;
        }
        // `aws_instance` implies the local name `aws` (rules 4.7).
        let start = type_name
            .split_once('_')
            .map_or(type_name, |(start, _)| start);
        // A module may have thousands of resources of a few providers, and folding a name is a pass of
        // IDNA mapping.
        if self.implied.contains(start) {
            return;
        }
        match names::fold(start, self.flavor) {
            Some(local_name) => {
                self.implied.insert(start.to_owned());
                self.require_name(&local_name, &stated, RequirementOrigin::Implied);
            }
            None => flood::push(
                self.found,
                Diagnostic::error(rules::ADDRESS_MALFORMED, "Invalid provider local name").at(
                    place.file,
                    place.span,
                    "this type implies no provider",
                ),
            ),
        }
    }

    /// Adds one requirement; an implied one only where nothing else in the module requires it.
    ///
    /// `source` is what states the address, where the name does not imply it.
    fn require(
        &mut self,
        local_name: &str,
        addr: &ProviderAddr,
        source: Option<&Written>,
        stated: &Stated,
        origin: RequirementOrigin,
    ) {
        // Two local names of one address are allowed: the constraints of both count (rules 8.1).
        let known = self.reached_by.get(addr);
        if let Some(other) = known.filter(|other| *other != local_name) {
            let remark = format!("{} is also called {other:?} here", addr.short(self.flavor));
            flood::push(
                self.found,
                Diagnostic::note(rules::CONFIGURATION_ODD, "Duplicate required provider").at(
                    stated.place.file,
                    stated.place.span,
                    remark,
                ),
            );
        }
        // It would add a place, but no constraint.
        if known.is_some() && origin == RequirementOrigin::Implied {
            return;
        }
        let place = self.check(addr, source, stated);
        let first = self.reached_by.entry(addr.clone());
        first.or_insert_with(|| local_name.to_owned());
        let requirement = Requirement {
            constraints: Arc::new(stated.constraints.clone()),
            module: ModulePath::default(),
            origin,
            file: place.file,
            span: place.span,
        };
        self.needs.push((addr.clone(), requirement));
    }

    /// Refuses addresses that can be written but never installed; returns the place to show.
    fn check(
        &mut self,
        addr: &ProviderAddr,
        source: Option<&Written>,
        stated: &Stated,
    ) -> SourcePlace {
        let Some(refusal) = Refusal::of(addr, &stated.constraints, self.flavor) else {
            return stated.place;
        };
        // The version of a built-in provider is shown at the version; the others are faults of the
        // address.
        let source = source.filter(|_| refusal != Refusal::BuiltinVersion);
        let reason = match (refusal, source) {
            (Refusal::Unlockable(part), Some(source)) => {
                sources::reason(&source.text, part, self.flavor)
            }
            _ => None,
        };
        let (note, help) = match reason {
            Some(reason) => (reason.note, reason.help),
            None => (refusal.to_string(), None),
        };
        let place = source.map_or(stated.place, |source| source.place);
        flood::push(
            self.found,
            Diagnostic::error(rules::ADDRESS_MALFORMED, refusal.title())
                .at(place.file, place.span, note)
                .help(help.unwrap_or_else(|| refusal.help().to_owned())),
        );
        place
    }
}
