//! Bills as CycloneDX 1.6, in JSON.
//!
//! Roots are applications that depend on releases, a release on its packages, and a package on the modules in its
//! program. Packages are components below their release.

use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

use serde_json::{Value, json};

use super::bill::{self, Property};
use super::{
    Bill, BilledModule, BilledRelease, ReleaseId, TOOL, TOOL_URL, TOOL_VERSION, identity, modules,
    purl, stated,
};
use crate::package::calendar;
use crate::remote_module::ModulePin;

/// The name of the component that depends on all roots, if there is more than one.
const ALL_ROOTS: &str = "roots";

/// Prefix of the names of properties, which the format asks for.
const PROPERTY_PREFIX: &str = "lockctl:";

/// The dependencies of each component of a bill.
#[derive(Default)]
struct BomGraph {
    edges: BTreeMap<String, BTreeSet<String>>,
    /// The components with unknown dependencies.
    unknown: BTreeSet<String>,
}

/// Writes a bill; the same bill of the same time gives the same bytes.
pub fn document(bill: &Bill, created: Option<SystemTime>) -> String {
    let all_modules = bill.modules();
    let module_names = modules::names(&all_modules);
    let mut graph = BomGraph::default();
    let (subject, mut components) = graph.roots(bill);
    for (id, release) in &bill.releases {
        components.push(graph.release(id, release, &module_names));
    }
    for pin in bill.pinned() {
        graph.edges.insert(pin_ref(pin), BTreeSet::new());
        // A directory is read for its hash, and not for the modules that it calls.
        graph.unknown.insert(pin_ref(pin));
        components.push(stated(json!({
            "type": "library",
            "bom-ref": pin_ref(pin),
            "name": pin.source,
            "version": bill::pinned_version(pin),
            "properties": properties(&bill::pinned_properties(pin)),
        })));
    }
    // Modules are components beside the releases and not below them, because several programs hold the same module.
    for (module, name) in &module_names {
        // Build information lists the modules of a program, but not which module requires which.
        graph.edges.insert(name.clone(), BTreeSet::new());
        components.push(stated(json!({
            "type": "library",
            "bom-ref": name,
            "name": module.path,
            "version": module.version,
            "purl": module.purl(),
            "properties": properties(&module.properties()),
        })));
    }
    let tool = json!({
        "type": "application",
        "name": TOOL,
        "version": TOOL_VERSION,
        "externalReferences": [{"type": "website", "url": TOOL_URL}],
    });
    let dependencies: Vec<Value> = graph
        .edges
        .iter()
        .map(|(of, depends_on)| json!({"ref": of, "dependsOn": depends_on}))
        .collect();
    let mut document = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": null,
        "version": 1,
        "metadata": stated(json!({
            "timestamp": created.map(calendar::timestamp),
            "tools": {"components": [tool]},
            "component": subject,
        })),
        "components": components,
        "dependencies": dependencies,
    });
    let compositions = graph.compositions(bill);
    if !compositions.is_empty() {
        document["compositions"] = compositions.into();
    }
    // The serial number is computed from the document without it.
    document["serialNumber"] = format!("urn:uuid:{}", identity::uuid(&document)).into();
    super::printed(&document)
}

impl BomGraph {
    /// Makes the subject of the document, and the components of all roots that are not the subject.
    fn roots(&mut self, bill: &Bill) -> (Value, Vec<Value>) {
        let mut components = Vec::new();
        for (name, root) in &bill.roots {
            self.edges.insert(
                root_ref(name),
                root.releases
                    .iter()
                    .map(release_ref)
                    .chain(root.modules.iter().map(pin_ref))
                    .collect(),
            );
            components.push(json!({
                "type": "application",
                "bom-ref": root_ref(name),
                "name": name,
                "properties": [property("lock-file", &root.lock_file)],
            }));
        }
        // A document is about a single component: the only root, or one for all roots. If other roots were left out,
        // the only readable root must not look like the whole.
        if bill.left_out.is_empty()
            && components.len() == 1
            && let Some(only) = components.pop()
        {
            return (only, components);
        }
        self.edges.insert(
            ALL_ROOTS.to_owned(),
            bill.roots.keys().map(|name| root_ref(name)).collect(),
        );
        let left_out = bill.left_out.iter().map(|name| property("left-out", name));
        let subject = stated(json!({
            "type": "application",
            "bom-ref": ALL_ROOTS,
            "name": "root modules",
            "properties": left_out.collect::<Vec<_>>(),
        }));
        (subject, components)
    }

    /// Makes the component of a release, with its packages below.
    fn release(
        &mut self,
        id: &ReleaseId,
        release: &BilledRelease,
        module_names: &BTreeMap<&BilledModule, String>,
    ) -> Value {
        let (provider, version) = id;
        let purl = release_ref(id);
        let mut packages = BTreeSet::new();
        let mut below = Vec::new();
        for package in &release.packages {
            // A platform may have several zips, so the zip is part of the name.
            let zip = package.zh.0.value();
            let package_ref = format!("{purl}#{}-{zip}", package.platform);
            let held = package
                .modules
                .iter()
                .filter_map(|module| module_names.get(module));
            self.edges
                .insert(package_ref.clone(), held.cloned().collect());
            if package.build_info().is_none() {
                self.unknown.insert(package_ref.clone());
            }
            below.push(json!({
                "type": "file",
                "bom-ref": package_ref,
                "name": package.file_name(id),
                // `hashes` are those of the component itself, so the hash of a zip is not a hash of the release, which
                // has several zips.
                "hashes": [{"alg": "SHA-256", "content": zip}],
                "properties": properties(&package.properties()),
            }));
            packages.insert(package_ref);
        }
        // Without facts no package is known, so no component below the release shows that modules are missing.
        if packages.is_empty() {
            self.unknown.insert(purl.clone());
        }
        self.edges.insert(purl.clone(), packages);
        stated(json!({
            "type": "library",
            "bom-ref": purl,
            "group": provider.namespace(),
            "name": provider.type_name(),
            "version": version.to_string(),
            "purl": purl,
            "components": below,
            "properties": properties(&release.properties()),
        }))
    }

    /// Lists the components whose dependencies are incomplete or unknown.
    fn compositions(&self, bill: &Bill) -> Vec<Value> {
        let mut compositions = Vec::new();
        if !bill.left_out.is_empty() {
            compositions.push(json!({"aggregate": "incomplete", "dependencies": [ALL_ROOTS]}));
        }
        // Without this, an empty list of dependencies would look complete.
        if !self.unknown.is_empty() {
            compositions.push(json!({"aggregate": "unknown", "dependencies": self.unknown}));
        }
        compositions
    }
}

fn root_ref(name: &str) -> String {
    format!("root:{name}")
}

fn release_ref((provider, version): &ReleaseId) -> String {
    purl::of_provider(provider, version)
}

fn pin_ref(pin: &ModulePin) -> String {
    format!("module:{}#{}", pin.source, pin.hash)
}

fn property(name: &str, value: &str) -> Value {
    json!({"name": format!("{PROPERTY_PREFIX}{name}"), "value": value})
}

fn properties(properties: &[Property]) -> Vec<Value> {
    properties
        .iter()
        .map(|(name, value)| property(name, value))
        .collect()
}
