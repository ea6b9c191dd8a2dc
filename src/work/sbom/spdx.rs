//! Bills as SPDX 2.3, in JSON.
//!
//! The document describes roots; a root depends on releases, a release contains its packages, and a package the modules
//! in its program. Elements are numbered, because their IDs may not hold the characters of paths.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::bill::{self, Property};
use super::{Bill, BilledModule, ReleaseId, TOOL, TOOL_VERSION, identity, modules, purl, stated};
use crate::package::calendar;
use crate::remote_module::ModulePin;

const DOCUMENT_ID: &str = "SPDXRef-DOCUMENT";

/// The value of a required field without a statement.
const NO_ASSERTION: &str = "NOASSERTION";

/// The elements of a document so far.
#[derive(Default)]
struct SpdxElements {
    packages: Vec<Value>,
    relationships: Vec<Value>,
}

/// Writes a bill; the same bill of the same time gives the same bytes.
///
/// The format requires a time of creation. Without one, the document has the beginning of 1970 and a comment.
pub fn document(bill: &Bill, created: Option<SystemTime>) -> String {
    let mut elements = SpdxElements::default();
    let mut releases: BTreeMap<&ReleaseId, String> = BTreeMap::new();
    // IDs may hold only letters, digits, dots and dashes (SPDX 2.3, 3.2), but paths of roots any character.
    for (number, id) in (1..).zip(bill.releases.keys()) {
        releases.insert(id, format!("SPDXRef-Provider-{number}"));
    }
    let pinned: BTreeMap<&ModulePin, String> = (1..)
        .zip(bill.pinned())
        .map(|(number, pin): (usize, _)| (pin, format!("SPDXRef-Pinned-{number}")))
        .collect();
    elements.roots(bill, &releases, &pinned);
    for (pin, id) in &pinned {
        let more = json!({"versionInfo": bill::pinned_version(pin)});
        let properties = bill::pinned_properties(pin);
        elements.add("LIBRARY", id, &pin.source, &properties, more);
    }
    let all_modules = bill.modules();
    let module_ids: BTreeMap<&BilledModule, String> = (1..)
        .zip(modules::names(&all_modules).into_keys())
        .map(|(number, module): (usize, _)| (module, format!("SPDXRef-Module-{number}")))
        .collect();
    elements.releases(bill, &releases, &module_ids);
    for (module, id) in &module_ids {
        let more = json!({
            "versionInfo": module.version,
            "externalRefs": Vec::from_iter(module.purl().map(purl_ref)),
        });
        elements.add("LIBRARY", id, &module.path, &module.properties(), more);
    }
    // The format has no field for completeness, so a comment names the roots that were left out.
    let left_out: Vec<&str> = bill.left_out.iter().map(String::as_str).collect();
    let comment = "no time was stated, so this is the beginning of 1970";
    let mut document = json!({
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": DOCUMENT_ID,
        "name": "root modules",
        "documentNamespace": "",
        "creationInfo": stated(json!({
            "created": calendar::timestamp(created.unwrap_or(UNIX_EPOCH)),
            "creators": [format!("Tool: {TOOL}-{TOOL_VERSION}")],
            "comment": created.is_none().then_some(comment),
        })),
        "packages": elements.packages,
        "relationships": elements.relationships,
    });
    if !left_out.is_empty() {
        document["comment"] = format!("left out: {}", left_out.join(", ")).into();
    }
    // The namespace is computed from the document without it.
    let uuid = identity::uuid(&document);
    document["documentNamespace"] = format!("https://spdx.org/spdxdocs/{TOOL}-{uuid}").into();
    super::printed(&document)
}

impl SpdxElements {
    /// Adds an element; the names of further fields and their values are in `more`.
    fn add(&mut self, purpose: &str, id: &str, name: &str, properties: &[Property], more: Value) {
        let mut element = json!({
            "SPDXID": id,
            "name": name,
            // The same package may come from a registry or from any mirror.
            "downloadLocation": NO_ASSERTION,
            "filesAnalyzed": false,
            // Lock files and build information contain no licenses.
            "licenseConcluded": NO_ASSERTION,
            "licenseDeclared": NO_ASSERTION,
            "copyrightText": NO_ASSERTION,
            "primaryPackagePurpose": purpose,
        });
        // The format has no fields for properties, so they are lines of a comment.
        let lines: Vec<String> = properties
            .iter()
            .map(|(name, value)| format!("{name}: {value}"))
            .collect();
        if !lines.is_empty() {
            element["comment"] = lines.join("\n").into();
        }
        if let (Value::Object(element), Value::Object(more)) = (&mut element, stated(more)) {
            element.extend(more);
        }
        self.packages.push(element);
    }

    fn relate(&mut self, from: &str, relationship_type: &str, to: &str) {
        self.relationships.push(json!({
            "spdxElementId": from,
            "relationshipType": relationship_type,
            "relatedSpdxElement": to,
        }));
    }

    fn roots(
        &mut self,
        bill: &Bill,
        releases: &BTreeMap<&ReleaseId, String>,
        pinned: &BTreeMap<&ModulePin, String>,
    ) {
        for (number, (name, root)) in (1..).zip(&bill.roots) {
            let root_id = format!("SPDXRef-Root-{number}");
            let lock_file = ("lock-file".to_owned(), root.lock_file.clone());
            self.add("APPLICATION", &root_id, name, &[lock_file], json!({}));
            self.relate(DOCUMENT_ID, "DESCRIBES", &root_id);
            for release in root.releases.iter().filter_map(|id| releases.get(id)) {
                self.relate(&root_id, "DEPENDS_ON", release);
            }
            for module in root.modules.iter().filter_map(|pin| pinned.get(pin)) {
                self.relate(&root_id, "DEPENDS_ON", module);
            }
        }
    }

    /// Adds the releases with their packages, each below its release.
    fn releases(
        &mut self,
        bill: &Bill,
        ids: &BTreeMap<&ReleaseId, String>,
        module_ids: &BTreeMap<&BilledModule, String>,
    ) {
        for (id, release) in &bill.releases {
            let (provider, version) = id;
            let release_id = &ids[id];
            let more = json!({
                "versionInfo": version.to_string(),
                "externalRefs": [purl_ref(purl::of_provider(provider, version))],
            });
            let properties = release.properties();
            self.add(
                "LIBRARY",
                release_id,
                &provider.to_string(),
                &properties,
                more,
            );
            for (number, billed) in (1..).zip(&release.packages) {
                let package_id = format!("{release_id}-Package-{number}");
                let file_name = billed.file_name(id);
                let more = json!({
                    "versionInfo": version.to_string(),
                    "packageFileName": file_name,
                    "checksums": [{"algorithm": "SHA256", "checksumValue": billed.zh.0.value()}],
                });
                let properties = billed.properties();
                self.add("ARCHIVE", &package_id, &file_name, &properties, more);
                self.relate(release_id, "CONTAINS", &package_id);
                for module in billed
                    .modules
                    .iter()
                    .filter_map(|module| module_ids.get(module))
                {
                    // It is unknown if the code is reached, so the module is not a dependency of the package.
                    self.relate(&package_id, "CONTAINS", module);
                }
            }
        }
    }
}

fn purl_ref(purl: String) -> Value {
    json!({
        "referenceCategory": "PACKAGE-MANAGER",
        "referenceType": "purl",
        "referenceLocator": purl,
    })
}
