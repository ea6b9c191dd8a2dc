//! Bills as CycloneDX 1.6, in JSON.
//!
//! Roots are applications that depend on releases, a release on its packages, and a package on the modules in its
//! program. Packages are components below their release.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::bill::{self, Property};
use super::{
    Bill, BilledContents, BilledModule, BilledRelease, Circumstances, ReleaseId, TOOL, TOOL_URL,
    identity, modules, purl,
};
use crate::package::calendar;
use crate::remote_module::ModulePin;

/// The name of the component that depends on all roots, if there is more than one.
const ALL_ROOTS: &str = "roots";

/// Prefix of the names of properties, which the format asks for.
const PROPERTY_PREFIX: &str = "lockctl:";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct BomDocument {
    bom_format: &'static str,
    spec_version: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    serial_number: Option<String>,
    version: u32,
    metadata: BomMetadata,
    components: Vec<BomComponent>,
    dependencies: Vec<BomDependency>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    compositions: Vec<BomComposition>,
}

#[derive(Serialize)]
struct BomMetadata {
    #[serde(skip_serializing_if = "Option::is_none")]
    timestamp: Option<String>,
    tools: BomTools,
    component: BomComponent,
}

#[derive(Serialize)]
struct BomTools {
    components: [BomComponent; 1],
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct BomComponent {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(rename = "bom-ref", skip_serializing_if = "Option::is_none")]
    bom_ref: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<String>,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    hashes: Vec<BomHash>,
    #[serde(skip_serializing_if = "Option::is_none")]
    purl: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    external_references: Vec<BomReference>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    components: Vec<Self>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    properties: Vec<BomProperty>,
}

#[derive(Serialize)]
struct BomHash {
    alg: &'static str,
    content: String,
}

#[derive(Serialize)]
struct BomReference {
    #[serde(rename = "type")]
    kind: &'static str,
    url: &'static str,
}

#[derive(Serialize)]
struct BomProperty {
    name: String,
    value: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct BomDependency {
    #[serde(rename = "ref")]
    of: String,
    depends_on: BTreeSet<String>,
}

/// A statement on the completeness of the dependencies of some components.
#[derive(Serialize)]
struct BomComposition {
    aggregate: &'static str,
    dependencies: Vec<String>,
}

/// The dependencies of each component of a bill.
#[derive(Default)]
struct BomGraph {
    edges: BTreeMap<String, BTreeSet<String>>,
    /// The components with unknown dependencies.
    unknown: BTreeSet<String>,
}

/// Writes a bill; the same bill in the same circumstances gives the same bytes.
#[must_use]
pub fn document(bill: &Bill, circumstances: Circumstances) -> String {
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
        components.push(BomComponent {
            kind: "library",
            bom_ref: Some(pin_ref(pin)),
            name: pin.source.clone(),
            version: bill::pinned_version(pin),
            properties: values(&bill::pinned_properties(pin)),
            ..BomComponent::default()
        });
    }
    // Modules are components beside the releases and not below them, because several programs hold the same module.
    for (module, name) in &module_names {
        // Build information lists the modules of a program, but not which module requires which.
        graph.edges.insert(name.clone(), BTreeSet::new());
        components.push(BomComponent {
            kind: "library",
            bom_ref: Some(name.clone()),
            name: module.path.clone(),
            version: module.version.clone(),
            purl: module.purl(),
            properties: values(&module.properties()),
            ..BomComponent::default()
        });
    }
    let tool = BomComponent {
        kind: "application",
        name: TOOL.to_owned(),
        version: Some(circumstances.tool_version.to_owned()),
        external_references: vec![BomReference {
            kind: "website",
            url: TOOL_URL,
        }],
        ..BomComponent::default()
    };
    let mut document = BomDocument {
        bom_format: "CycloneDX",
        spec_version: "1.6",
        serial_number: None,
        version: 1,
        metadata: BomMetadata {
            timestamp: circumstances.created.map(calendar::timestamp),
            tools: BomTools { components: [tool] },
            component: subject,
        },
        components,
        compositions: graph.compositions(bill),
        dependencies: graph
            .edges
            .into_iter()
            .map(|(of, depends_on)| BomDependency { of, depends_on })
            .collect(),
    };
    // The serial number is computed from the document without it.
    document.serial_number = Some(format!("urn:uuid:{}", identity::uuid(&document)));
    super::printed(&document)
}

impl BomGraph {
    /// Makes the subject of the document, and the components of all roots that are not the subject.
    fn roots(&mut self, bill: &Bill) -> (BomComponent, Vec<BomComponent>) {
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
            components.push(BomComponent {
                kind: "application",
                bom_ref: Some(root_ref(name)),
                name: name.clone(),
                properties: vec![named("lock-file", &root.lock_file)],
                ..BomComponent::default()
            });
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
        let subject = BomComponent {
            kind: "application",
            bom_ref: Some(ALL_ROOTS.to_owned()),
            name: "root modules".to_owned(),
            properties: bill
                .left_out
                .iter()
                .map(|name| named("left-out", name))
                .collect(),
            ..BomComponent::default()
        };
        (subject, components)
    }

    /// Makes the component of a release, with its packages below.
    fn release(
        &mut self,
        id: &ReleaseId,
        release: &BilledRelease,
        module_names: &BTreeMap<&BilledModule, String>,
    ) -> BomComponent {
        let (provider, version) = id;
        let purl = release_ref(id);
        let mut packages = BTreeSet::new();
        let mut below = Vec::new();
        for package in &release.packages {
            // A platform may have several zips, so the zip is part of the name.
            let zip = package.zh.0.value();
            let package_ref = format!("{purl}#{}-{zip}", package.platform);
            let modules = package.modules();
            let held = modules.filter_map(|module| module_names.get(module));
            self.edges
                .insert(package_ref.clone(), held.cloned().collect());
            if !matches!(package.contents, BilledContents::Go { .. }) {
                self.unknown.insert(package_ref.clone());
            }
            below.push(BomComponent {
                kind: "file",
                bom_ref: Some(package_ref.clone()),
                name: package.file_name(id),
                // `hashes` are those of the component itself, so the hash of a zip is not a hash of the release, which
                // has several zips.
                hashes: vec![BomHash {
                    alg: "SHA-256",
                    content: zip.to_owned(),
                }],
                properties: values(&package.properties()),
                ..BomComponent::default()
            });
            packages.insert(package_ref);
        }
        // Without facts no package is known, so no component below the release shows that modules are missing.
        if packages.is_empty() {
            self.unknown.insert(purl.clone());
        }
        self.edges.insert(purl.clone(), packages);
        BomComponent {
            kind: "library",
            bom_ref: Some(purl.clone()),
            group: Some(provider.namespace().to_owned()),
            name: provider.type_name().to_owned(),
            version: Some(version.to_string()),
            purl: Some(purl),
            components: below,
            properties: values(&release.properties()),
            ..BomComponent::default()
        }
    }

    /// Lists the components whose dependencies are incomplete or unknown.
    fn compositions(&self, bill: &Bill) -> Vec<BomComposition> {
        let incomplete = BomComposition {
            aggregate: "incomplete",
            dependencies: if bill.left_out.is_empty() {
                Vec::new()
            } else {
                vec![ALL_ROOTS.to_owned()]
            },
        };
        // Without this, an empty list of dependencies would look complete.
        let unknown = BomComposition {
            aggregate: "unknown",
            dependencies: self.unknown.iter().cloned().collect(),
        };
        let mut compositions = vec![incomplete, unknown];
        compositions.retain(|composition| !composition.dependencies.is_empty());
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

fn named(name: &str, value: &str) -> BomProperty {
    BomProperty {
        name: format!("{PROPERTY_PREFIX}{name}"),
        value: value.to_owned(),
    }
}

fn values(properties: &[Property]) -> Vec<BomProperty> {
    properties
        .iter()
        .map(|(name, value)| named(name, value))
        .collect()
}
