//! The file of pinned modules, `.lockctl.modules.hcl`, beside the lock file: bytes in, exact bytes out.
//!
//! It records for each remote call of the module tree its source, what was selected, and the hash of the package.
//! Terraform and OpenTofu do not read it. As with the lock file, [`parse`] never fails but returns what it understood
//! plus every problem, and [`write()`] prints from the model.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use crate::diag::{Diagnostic, FileId, Span, Texts, has_errors};
use crate::hash::{Hash, Scheme};
use crate::hcl;
use crate::lockfile::quote;
use crate::project::values::{BodySchema, ProjectReader};
use crate::remote_module::ModulePin;
use crate::version::Version;

/// The name of the file, in the root module directory.
pub const FILE_NAME: &str = ".lockctl.modules.hcl";

/// Maximum size of the file, in bytes; 1,000 pins have some 250 KB.
pub const MAX_BYTES: u64 = 1024 * 1024;

const HEADER: &str = "\
# This file is maintained automatically by `lockctl lock`; `lockctl explain modules` describes it.
# Manual edits may be lost in future updates.
";

/// The pins of a root, by the keys of their calls, as in `network.subnets`; the order of the file.
pub type Pins = BTreeMap<String, ModulePin>;

/// A file of pins as it was read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PinDocument {
    /// The pins without a fault.
    pub pins: Pins,
    /// The blocks of these pins.
    pub places: BTreeMap<String, Span>,
}

/// A file of pinned modules as it was read.
#[derive(Clone, Debug, Default)]
pub struct PinText {
    /// Its path, whether it exists or not.
    pub path: PathBuf,
    /// Its bytes, if there is one.
    pub bytes: Option<Arc<[u8]>>,
    /// Its place in the table of texts, if there is one.
    pub file: Option<FileId>,
    /// The pins of the file.
    pub document: PinDocument,
    /// All problems of the file, in the order of their places.
    pub diagnostics: Vec<Diagnostic>,
}

const TOP: BodySchema = BodySchema {
    subject: "a file of pinned modules",
    arguments: &[],
    blocks: &["module"],
};

const MODULE: BodySchema = BodySchema {
    subject: "a module block",
    arguments: &["source", "version", "commit", "hash"],
    blocks: &[],
};

impl PinText {
    /// Reads the file at a path; `bytes` are `None` if there is none.
    #[must_use]
    pub fn new(path: PathBuf, bytes: Option<Arc<[u8]>>, texts: &mut Texts) -> Self {
        let Some(bytes) = bytes else {
            return Self {
                path,
                ..Self::default()
            };
        };
        let file = texts.add(path.display().to_string(), Arc::clone(&bytes));
        let (document, diagnostics) = parse(file, &bytes);
        Self {
            path,
            bytes: Some(bytes),
            file: Some(file),
            document,
            diagnostics,
        }
    }
}

/// Reads a file of pins. With an error among the problems, nothing of it should be used.
///
/// ```
/// use lockctl_core::{diag::FileId, pins};
///
/// let text = "module \"net\" {\n  source = \"git::https://h/net.git\"\n  hash   = \"h1:x\"\n}\n";
/// let (document, problems) = pins::parse(FileId::ALONE, text.as_bytes());
/// assert!(problems.is_empty());
/// assert!(pins::write(&document.pins).ends_with(text));
/// ```
#[must_use]
pub fn parse(file: FileId, bytes: &[u8]) -> (PinDocument, Vec<Diagnostic>) {
    let (body, problems) = hcl::parse(file, bytes);
    let mut reader = ProjectReader { file, problems };
    reader.names(&body, &TOP);
    let mut document = PinDocument::default();
    for block in reader.blocks(&body, "module") {
        reader.names(&block.body, &MODULE);
        let Some(label) = reader.label(block, "network.subnets") else {
            continue;
        };
        let mut text = |name: &str| reader.text(&block.body, name);
        let (source, version) = (text("source"), text("version"));
        let (commit, hash) = (text("commit"), text("hash"));
        let version = match version {
            Some(text) => match text.value.parse::<Version>() {
                Ok(version) => Some(version),
                Err(_) => {
                    let help = "write a version as 1.2.3, or run `lockctl update --pins`";
                    reader.invalid("Invalid version", text.span, "this is no version", help);
                    continue;
                }
            },
            None => None,
        };
        let hash = match &hash {
            Some(text) => text.value.parse::<Hash>().ok(),
            None => None,
        }
        // Only an `h1:` can be computed again from the files of a package.
        .filter(|hash| hash.scheme() == Scheme::H1);
        let (Some(source), Some(hash)) = (source, hash) else {
            let remark = "it needs a source, and an h1: hash";
            let help = "delete the block, and run `lockctl lock`";
            reader.invalid("Incomplete pin", block.header, remark, help);
            continue;
        };
        let pin = ModulePin {
            source: source.value,
            version,
            commit: commit.map(|commit| commit.value),
            hash,
        };
        let key = label.text.clone();
        match document.places.get(&key) {
            Some(first) => reader.twice("Duplicate module block", block.header, *first),
            None => {
                document.places.insert(key.clone(), block.header);
                document.pins.insert(key, pin);
            }
        }
    }
    crate::diag::in_order(&mut reader.problems);
    (document, reader.problems)
}

/// Reads pins that a program needs as a whole; `None` if the file has an error.
#[must_use]
pub fn read(bytes: &[u8]) -> Option<Pins> {
    let (document, problems) = parse(FileId::ALONE, bytes);
    (!has_errors(&problems)).then_some(document.pins)
}

/// Prints a file of pins, exactly as `lock` writes it.
#[must_use]
pub fn write(pins: &Pins) -> String {
    let blocks: Vec<String> = pins.iter().map(|(key, pin)| write_pin(key, pin)).collect();
    write_blocks(&blocks)
}

/// Prints a file of blocks that are written already.
#[must_use]
pub fn write_blocks<'b>(blocks: impl IntoIterator<Item = &'b String>) -> String {
    let mut out = HEADER.to_owned();
    for block in blocks {
        out.push('\n');
        out.push_str(block);
    }
    out
}

/// Prints the block of one pin; [`write()`](fn@write) puts an empty line before each.
#[must_use]
pub fn write_pin(key: &str, pin: &ModulePin) -> String {
    let version = pin.version.as_ref().map(ToString::to_string);
    let arguments = [
        ("source", Some(&*pin.source)),
        ("version", version.as_deref()),
        ("commit", pin.commit.as_deref()),
        ("hash", Some(pin.hash.as_str())),
    ];
    let written = arguments
        .iter()
        .filter_map(|(name, value)| Some((*name, (*value)?)));
    let width = written.clone().map(|(name, _)| name.len()).max();
    let mut out = String::from("module ");
    quote(&mut out, key);
    out.push_str(" {\n");
    for (name, value) in written {
        let width = width.unwrap_or_default();
        write!(out, "  {name:width$} = ").expect("writing to a string cannot fail");
        quote(&mut out, value);
        out.push('\n');
    }
    out + "}\n"
}
