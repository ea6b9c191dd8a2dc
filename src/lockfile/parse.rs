//! Bytes to model, with every problem of the file (rules 2).

use std::collections::BTreeMap;

use super::header::{header_lines, header_of};
use super::{Document, Places, ProviderLock, canonical};
use crate::addr::ProviderAddr;
use crate::diag::{self, Diagnostic, FileId, Label, Span, rules};
use crate::expr::{self, Value};
use crate::flavor::Flavor;
use crate::hash::Hash;
use crate::hcl::{
    self,
    tree::{Attribute, Block, Body, Expr, ExprKind, Item, Word},
};
use crate::version::{Constraints, Version};

/// Returns the help for the markers of a merge, which a command resolves.
#[must_use]
pub fn markers_help(resolve: &str) -> String {
    format!(
        "a merge stopped in conflict here: run `{resolve}`, or keep one side of each conflict or join both, and delete \
         the marker lines"
    )
}

/// Reads a lock file; `bytes` need not be UTF-8, because comments may hold anything.
///
/// Every problem is returned with the title that the programs give to it, in the order of the
/// file, and each once: where a program follows an error up with a second one about the same
/// text, only the first is kept. An error means that the programs refuse the whole file.
#[must_use]
pub fn parse(file: FileId, bytes: &[u8], flavor: Flavor) -> (Document, Vec<Diagnostic>) {
    match canonical::read(bytes, flavor) {
        Some(document) => (document, Vec::new()),
        None => parse_any(file, bytes, flavor),
    }
}

/// Reads a lock file of any layout.
pub(super) fn parse_any(file: FileId, bytes: &[u8], flavor: Flavor) -> (Document, Vec<Diagnostic>) {
    let (body, mut diagnostics) = hcl::parse(file, bytes);
    for diagnostic in &mut diagnostics {
        if diagnostic.code == rules::CONFLICT_MARKERS {
            diagnostic.help = Some(markers_help("lockctl resolve").into());
            name_conflicts(diagnostic, bytes);
        }
    }
    let document = Document {
        header: header_of(bytes),
        comments: hcl::comments(bytes)
            .len()
            .saturating_sub(header_lines(bytes)),
        ..Document::default()
    };
    let mut faults: Vec<usize> = diagnostics
        .iter()
        .filter_map(|d| Some(d.primary.as_ref()?.span.start))
        .collect();
    faults.sort_unstable();
    let mut reader = DocumentReader {
        file,
        flavor,
        document,
        diagnostics,
        faults,
        seen: BTreeMap::new(),
    };
    reader.body(&body);
    let mut diagnostics = reader.diagnostics;
    diag::in_order(&mut diagnostics);
    (reader.document, diagnostics)
}

/// Says at the first marker of each conflict which providers it is about.
fn name_conflicts(diagnostic: &mut Diagnostic, bytes: &[u8]) {
    let starts_with = |span: Span, marker| bytes.get(span.start) == Some(marker);
    let mut labels: Vec<&mut Label> = diagnostic
        .primary
        .iter_mut()
        .chain(&mut diagnostic.related)
        .collect();
    let ends: Vec<usize> = labels
        .iter()
        .filter(|label| starts_with(label.span, &b'>'))
        .map(|label| label.span.start)
        .collect();
    for label in &mut labels {
        let start = label.span.start;
        let Some(end) = ends.iter().find(|end| **end > start) else {
            continue;
        };
        let inside = bytes.get(start..*end).unwrap_or_default();
        let mut names: Vec<&str> = inside
            .split(|byte| *byte == b'\n')
            .filter_map(entry_of)
            .collect();
        if names.is_empty() {
            // The markers are within a block, as a merge line by line leaves them.
            let above = bytes.get(..start).unwrap_or_default();
            names.extend(above.rsplit(|byte| *byte == b'\n').find_map(entry_of));
        }
        names.sort_unstable();
        names.dedup();
        if starts_with(label.span, &b'<') && !names.is_empty() {
            label.note = format!("{}: {}", label.note, names.join(", "));
        }
    }
}

/// Returns the address on a line that opens an entry, as it is written.
fn entry_of(line: &[u8]) -> Option<&str> {
    let line = std::str::from_utf8(line).ok()?;
    let (addr, _) = line.strip_prefix("provider \"")?.split_once('"')?;
    Some(addr)
}

/// The state of reading one file.
struct DocumentReader {
    file: FileId,
    flavor: Flavor,
    document: Document,
    diagnostics: Vec<Diagnostic>,
    /// The offsets of syntax errors, sorted.
    faults: Vec<usize>,
    seen: BTreeMap<ProviderAddr, Span>,
}

impl DocumentReader {
    fn body(&mut self, body: &Body) {
        let mut module_reported = false;
        for item in &body.items {
            match item {
                Item::Attribute(attribute) => self.unsupported_argument(attribute),
                Item::Block(block) => match block.kind.text.as_str() {
                    "provider" => self.provider(block),
                    // Reserved for later versions: the programs warn once, and drop the blocks (rules 2.9).
                    "module" => {
                        if self.label(block, "path").is_some() && !module_reported {
                            module_reported = true;
                            let title = "Dependency locks for modules are not yet supported";
                            self.push(Diagnostic::warning(rules::MODULE_LOCK, title).at(
                                self.file,
                                block.header,
                                "ignored, and dropped when the file is written",
                            ));
                        }
                    }
                    _ => self.unsupported_block(block),
                },
            }
        }
    }

    fn provider(&mut self, block: &Block) {
        // Where the label is bad, the programs look at nothing inside the block (rules 2.11).
        let Some(label) = self.label(block, "source_addr") else {
            return;
        };
        let Some(addr) = self.addr(label) else { return };
        let entry = self.entry(block);
        // The first block counts, even if it is at fault; the entry is read before, so that all faults
        // of the repetition are reported as well.
        if let Some(first) = self.seen.get(&addr) {
            self.push(
                Diagnostic::error(rules::DUPLICATE_PROVIDER, "Duplicate provider lock")
                    .at(self.file, block.header, "locked again")
                    .see(self.file, *first, "first locked here")
                    .help("delete one of the two blocks"),
            );
            let repeated = entry.map(|(entry, _)| (addr, entry));
            self.document.repeated.extend(repeated);
            return;
        }
        self.seen.insert(addr.clone(), block.header);
        if let Some((entry, places)) = entry {
            self.document.lock.providers.insert(addr.clone(), entry);
            self.document.places.insert(addr, places);
        }
    }

    /// Returns the only label of a block, else reports.
    fn label<'a>(&mut self, block: &'a Block, what: &str) -> Option<&'a Word> {
        let kind = &block.kind.text;
        match block.labels.as_slice() {
            [label] => return Some(label),
            [] => self.push(
                Diagnostic::error(rules::LABEL_WRONG, format!("Missing {what} for {kind}")).at(
                    self.file,
                    block.header,
                    "one label is needed",
                ),
            ),
            [_, second, ..] => {
                self.push(
                    Diagnostic::error(rules::LABEL_WRONG, format!("Extraneous label for {kind}"))
                        .at(self.file, second.span, "only one label is allowed"),
                )
            }
        }
        None
    }

    /// Reads the label of a provider block, which must be canonical.
    fn addr(&mut self, label: &Word) -> Option<ProviderAddr> {
        let parsed = ProviderAddr::parse(&label.text, self.flavor);
        match parsed {
            // No lock file can hold a built-in or a legacy address, so no form of it can be asked for (rules 2.10).
            Ok(addr) if addr.is_builtin(self.flavor) => {
                self.bad_addr(
                    label,
                    "this provider is built into the program and never locked",
                );
                None
            }
            Ok(addr) if addr.is_legacy() => {
                self.bad_addr(label, "this is an address of Terraform 0.12");
                None
            }
            Ok(addr) if addr.to_string() != label.text => {
                let title = "Non-normalized provider source address";
                let note = format!("must be written as {:?}", addr.to_string());
                self.push(
                    Diagnostic::error(rules::ADDRESS_NOT_CANONICAL, title)
                        .at(self.file, label.span, note)
                        .help(format!("replace the label by {:?}", addr.to_string())),
                );
                None
            }
            Ok(addr) => Some(addr),
            Err(error) => {
                self.bad_addr(label, &error.kind().to_string());
                None
            }
        }
    }

    fn bad_addr(&mut self, label: &Word, note: &str) {
        self.push(
            Diagnostic::error(rules::ADDRESS_MALFORMED, "Invalid provider source address")
                .at(self.file, label.span, note)
                .help("write \"hostname/namespace/type\", or delete the block"),
        );
    }

    /// Reads the inside of a provider block; `None` if any of it is at fault.
    fn entry(&mut self, block: &Block) -> Option<(ProviderLock, Places)> {
        let before = self.diagnostics.len();
        for item in &block.body.items {
            match item {
                Item::Attribute(attribute) => match attribute.name.text.as_str() {
                    "version" | "constraints" | "hashes" => {}
                    _ => self.unsupported_argument(attribute),
                },
                Item::Block(inner) => self.unsupported_block(inner),
            }
        }
        // All three are read before any of them decides, so that every fault of the block is reported
        // at once.
        let version = self.version(block);
        let constraints = block
            .body
            .attribute("constraints")
            .map(|a| (self.constraints(a), a));
        let hashes = block.body.attribute("hashes").map(|a| (self.hashes(a), a));
        let (version, version_span) = version?;
        if self.diagnostics.len() > before {
            return None;
        }
        let listed = hashes
            .as_ref()
            .map(|(listed, _)| listed.clone())
            .unwrap_or_default();
        let places = Places {
            header: block.header,
            version: version_span,
            constraints: constraints.as_ref().map(|(_, a)| a.value.span),
            hashes: hashes.as_ref().map(|(_, a)| a.value.span),
            listed: listed.clone(),
        };
        let entry = ProviderLock {
            version,
            constraints: constraints.map(|(set, _)| set).unwrap_or_default(),
            hashes: listed.into_iter().map(|(hash, _)| hash).collect(),
        };
        Some((entry, places))
    }

    fn version(&mut self, block: &Block) -> Option<(Version, Span)> {
        let file = self.file;
        let missing = |span, note: &str| {
            Diagnostic::error(rules::VERSION_MISSING, "Missing required argument")
                .at(file, span, note)
                .help("restore the line from version control, or delete the block and lock again")
        };
        let Some(attribute) = block.body.attribute("version") else {
            // Where the argument is there but could not be parsed, that was reported already.
            let next = self
                .faults
                .partition_point(|start| *start < block.span.start);
            let hides_a_fault = self
                .faults
                .get(next)
                .is_some_and(|start| *start <= block.span.end);
            if !hides_a_fault {
                self.push(missing(block.header, "\"version\" is required here"));
            }
            return None;
        };
        let span = attribute.value.span;
        let value = self.constant(&attribute.value)?;
        // Null counts as missing (rules 2.5).
        if value == Value::Null {
            self.push(missing(span, "must not be null"));
            return None;
        }
        let text = self.text(&value, span)?;
        let title = "Invalid provider version number";
        match text.parse::<Version>() {
            Ok(version) if version.to_string() == text => Some((version, span)),
            // Only canonical text may be in a lock file: `1.2` is refused although it is a version
            // (`version` rules 1.5).
            Ok(version) => {
                let form = version.to_string();
                self.push(
                    Diagnostic::error(rules::VERSION_MALFORMED, title)
                        .at(self.file, span, format!("must be written as {form:?}"))
                        .help(format!("write version = {form:?}")),
                );
                None
            }
            Err(error) => {
                self.push(
                    Diagnostic::error(rules::VERSION_MALFORMED, title)
                        .at(self.file, span, error.to_string())
                        .help("restore the line from version control, or delete the block and lock again"),
                );
                None
            }
        }
    }

    fn constraints(&mut self, attribute: &Attribute) -> Constraints {
        let span = attribute.value.span;
        let Some(value) = self.constant(&attribute.value) else {
            return Constraints::default();
        };
        let Some(text) = self.text(&value, span) else {
            return Constraints::default();
        };
        let title = "Invalid provider version constraints";
        match Constraints::parse_lock(&text) {
            Ok(set) if set.to_string() == text => return set,
            // Likewise: the programs compare the text with the canonical one (`version` rules 3.1).
            Ok(set) => {
                let form = set.to_string();
                self.push(
                    Diagnostic::error(rules::CONSTRAINTS_MALFORMED, title)
                        .at(self.file, span, format!("must be written as {form:?}"))
                        .help(format!("write constraints = {form:?}")),
                );
            }
            Err(error) => self.push(
                Diagnostic::error(rules::CONSTRAINTS_MALFORMED, title)
                    .at(self.file, span, error.to_string())
                    .help("delete the line, and lock again"),
            ),
        }
        Constraints::default()
    }

    fn hashes(&mut self, attribute: &Attribute) -> Vec<(Hash, Span)> {
        let span = attribute.value.span;
        // A literal list, whose elements may be constant expressions (rules 2.3).
        let ExprKind::Tuple(elements) = &attribute.value.kind else {
            self.push(
                Diagnostic::error(rules::WRONG_TYPE, "Invalid expression").at(
                    self.file,
                    span,
                    "a list in brackets is required",
                ),
            );
            return Vec::new();
        };
        // The programs refuse an empty list, although an absent one is fine (rules 2.7).
        if elements.is_empty() {
            self.push(
                Diagnostic::error(rules::HASHES_EMPTY, "Invalid provider hash set")
                    .at(self.file, span, "must not be empty")
                    .help("delete the line, and lock again"),
            );
        }
        elements
            .iter()
            .filter_map(|element| self.hash(element))
            .collect()
    }

    fn hash(&mut self, element: &Expr) -> Option<(Hash, Span)> {
        let value = self.constant(element)?;
        let text = self.text(&value, element.span)?;
        // Every element with a scheme is kept, whatever its value (rules 2.7).
        match text.parse::<Hash>() {
            Ok(hash) => Some((hash, element.span)),
            Err(_) => {
                self.push(
                    Diagnostic::error(rules::HASH_SCHEME_MISSING, "Invalid provider hash string")
                        .at(
                            self.file,
                            element.span,
                            "a scheme and a colon must come first, as in \"h1:…\"",
                        )
                        .help("delete the line, and lock again"),
                );
                None
            }
        }
    }

    fn constant(&mut self, expr: &Expr) -> Option<Value> {
        match expr::constant(self.file, expr) {
            Ok(value) => Some(value),
            Err(diagnostics) => {
                self.diagnostics.extend(diagnostics);
                None
            }
        }
    }

    fn text(&mut self, value: &Value, span: Span) -> Option<String> {
        // A number or a bool becomes text, and is then checked as such (rules 2.3).
        let text = value.to_text();
        if text.is_none() {
            self.push(
                Diagnostic::error(rules::WRONG_TYPE, "Unsuitable value type").at(
                    self.file,
                    span,
                    "a string is required",
                ),
            );
        }
        text
    }

    fn unsupported_argument(&mut self, attribute: &Attribute) {
        self.push(
            Diagnostic::error(rules::UNSUPPORTED_ITEM, "Unsupported argument").at(
                self.file,
                attribute.name.span,
                "not expected here",
            ),
        );
    }

    fn unsupported_block(&mut self, block: &Block) {
        self.push(
            Diagnostic::error(rules::UNSUPPORTED_ITEM, "Unsupported block type").at(
                self.file,
                block.kind.span,
                "not expected here",
            ),
        );
    }

    fn push(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }
}
