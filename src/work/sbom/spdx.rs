//! Bills as SPDX 2.3, in JSON.
//!
//! The document describes roots; a root depends on releases, a release contains its packages, and a package the modules
//! in its program. Elements are numbered, because their IDs may not hold the characters of paths.

use std::collections::BTreeMap;
use std::time::UNIX_EPOCH;

use serde::Serialize;

use super::bill::{self, Property};
use super::{Bill, BilledModule, Circumstances, ReleaseId, TOOL, identity, modules, purl};
use crate::package::calendar;
use crate::remote_module::ModulePin;

const DOCUMENT_ID: &str = "SPDXRef-DOCUMENT";

/// The value of a required field without a statement.
const NO_ASSERTION: &str = "NOASSERTION";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SpdxDocument {
    spdx_version: &'static str,
    data_license: &'static str,
    #[serde(rename = "SPDXID")]
    id: &'static str,
    name: &'static str,
    document_namespace: String,
    creation_info: SpdxCreation,
    #[serde(skip_serializing_if = "Option::is_none")]
    comment: Option<String>,
    packages: Vec<SpdxPackage>,
    relationships: Vec<SpdxRelationship>,
}

#[derive(Serialize)]
struct SpdxCreation {
    created: String,
    creators: [String; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    comment: Option<&'static str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SpdxPackage {
    #[serde(rename = "SPDXID")]
    id: String,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    version_info: Option<String>,
    download_location: &'static str,
    files_analyzed: bool,
    license_concluded: &'static str,
    license_declared: &'static str,
    copyright_text: &'static str,
    primary_package_purpose: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    package_file_name: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    checksums: Vec<SpdxChecksum>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    external_refs: Vec<SpdxReference>,
    #[serde(skip_serializing_if = "String::is_empty")]
    comment: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SpdxChecksum {
    algorithm: &'static str,
    checksum_value: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SpdxReference {
    reference_category: &'static str,
    reference_type: &'static str,
    reference_locator: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SpdxRelationship {
    spdx_element_id: String,
    relationship_type: &'static str,
    related_spdx_element: String,
}

/// The elements of a document so far.
#[derive(Default)]
struct SpdxElements {
    packages: Vec<SpdxPackage>,
    relationships: Vec<SpdxRelationship>,
}

/// Writes a bill; the same bill in the same circumstances gives the same bytes.
///
/// The format requires a time of creation. Without one, the document has the beginning of 1970 and a comment.
#[must_use]
pub fn document(bill: &Bill, circumstances: Circumstances) -> String {
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
        elements.packages.push(SpdxPackage {
            version_info: bill::pinned_version(pin),
            comment: commented(&bill::pinned_properties(pin)),
            ..package(id.clone(), pin.source.clone(), "LIBRARY")
        });
    }
    let all_modules = bill.modules();
    let module_ids: BTreeMap<&BilledModule, String> = (1..)
        .zip(modules::names(&all_modules).into_keys())
        .map(|(number, module): (usize, _)| (module, format!("SPDXRef-Module-{number}")))
        .collect();
    elements.releases(bill, &releases, &module_ids);
    for (module, id) in &module_ids {
        elements.packages.push(SpdxPackage {
            version_info: module.version.clone(),
            external_refs: module.purl().into_iter().map(purl_ref).collect(),
            comment: commented(&module.properties()),
            ..package(id.clone(), module.path.clone(), "LIBRARY")
        });
    }
    // The format has no field for completeness, so a comment names the roots that were left out.
    let left_out: Vec<&str> = bill.left_out.iter().map(String::as_str).collect();
    let comment = "no time was stated, so this is the beginning of 1970";
    let mut document = SpdxDocument {
        spdx_version: "SPDX-2.3",
        data_license: "CC0-1.0",
        id: DOCUMENT_ID,
        name: "root modules",
        document_namespace: String::new(),
        creation_info: SpdxCreation {
            created: calendar::timestamp(circumstances.created.unwrap_or(UNIX_EPOCH)),
            creators: [format!("Tool: {TOOL}-{}", circumstances.tool_version)],
            comment: circumstances.created.is_none().then_some(comment),
        },
        comment: (!left_out.is_empty()).then(|| format!("left out: {}", left_out.join(", "))),
        packages: elements.packages,
        relationships: elements.relationships,
    };
    // The namespace is computed from the document without it.
    let uuid = identity::uuid(&document);
    document.document_namespace = format!("https://spdx.org/spdxdocs/{TOOL}-{uuid}");
    super::printed(&document)
}

impl SpdxElements {
    fn relate(&mut self, from: &str, relationship_type: &'static str, to: &str) {
        self.relationships.push(SpdxRelationship {
            spdx_element_id: from.to_owned(),
            relationship_type,
            related_spdx_element: to.to_owned(),
        });
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
            self.packages.push(SpdxPackage {
                comment: commented(&[lock_file]),
                ..package(root_id.clone(), name.clone(), "APPLICATION")
            });
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
            self.packages.push(SpdxPackage {
                version_info: Some(version.to_string()),
                external_refs: vec![purl_ref(purl::of_provider(provider, version))],
                comment: commented(&release.properties()),
                ..package(release_id.clone(), provider.to_string(), "LIBRARY")
            });
            for (number, billed) in (1..).zip(&release.packages) {
                let package_id = format!("{release_id}-Package-{number}");
                let file_name = billed.file_name(id);
                self.packages.push(SpdxPackage {
                    package_file_name: Some(file_name.clone()),
                    version_info: Some(version.to_string()),
                    checksums: vec![SpdxChecksum {
                        algorithm: "SHA256",
                        checksum_value: billed.zh.0.value().to_owned(),
                    }],
                    comment: commented(&billed.properties()),
                    ..package(package_id.clone(), file_name, "ARCHIVE")
                });
                self.relate(release_id, "CONTAINS", &package_id);
                for module in billed.modules().filter_map(|module| module_ids.get(module)) {
                    // It is unknown if the code is reached, so the module is not a dependency of the package.
                    self.relate(&package_id, "CONTAINS", module);
                }
            }
        }
    }
}

/// Makes an element without any optional statement.
fn package(id: String, name: String, primary_package_purpose: &'static str) -> SpdxPackage {
    SpdxPackage {
        id,
        name,
        version_info: None,
        // The same package may come from a registry or from any mirror.
        download_location: NO_ASSERTION,
        files_analyzed: false,
        // Lock files and build information contain no licenses.
        license_concluded: NO_ASSERTION,
        license_declared: NO_ASSERTION,
        copyright_text: NO_ASSERTION,
        primary_package_purpose,
        package_file_name: None,
        checksums: Vec::new(),
        external_refs: Vec::new(),
        comment: String::new(),
    }
}

fn purl_ref(purl: String) -> SpdxReference {
    SpdxReference {
        reference_category: "PACKAGE-MANAGER",
        reference_type: "purl",
        reference_locator: purl,
    }
}

/// Writes properties as lines of a comment.
fn commented(properties: &[Property]) -> String {
    // The format has no fields for them.
    let lines: Vec<String> = properties
        .iter()
        .map(|(name, value)| format!("{name}: {value}"))
        .collect();
    lines.join("\n")
}
