//! Bytes to model, with every problem of the file (rules 2).

use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use super::faulty::{FaultyEntry, WrongForm};
use super::header::header_of;
use super::{Document, Places, canonical, comments};
use crate::addr::ProviderAddr;
use crate::diag::{self, Diagnostic, FileId, Span, rules};
use crate::expr::{self, Value};
use crate::flavor::Flavor;
use crate::hash::Hash;
use crate::hcl::{
    self,
    tree::{Attribute, Block, Body, Expr, ExprKind, Item, Word},
};
use crate::version::{Constraints, Version};

/// Number of parts of an address that names its host.
const ADDRESS_PARTS: usize = 3;

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
            name_conflicts(diagnostic, bytes);
        }
    }
    let document = Document {
        header: header_of(bytes),
        comments: comments(bytes).len(),
        ..Document::default()
    };
    let mut faults: Vec<usize> = diagnostics
        .iter()
        .filter_map(|d| Some(d.primary.as_ref()?.span.start))
        .collect();
    // Sorted, so that the faults within a block are found by a search instead of a walk for each block.
    faults.sort_unstable();
    let mut reader = DocumentReader {
        file,
        flavor,
        document,
        diagnostics,
        faults,
        seen: BTreeMap::new(),
        forms: Vec::new(),
    };
    reader.body(&body);
    let mut diagnostics = reader.diagnostics;
    diag::in_order(&mut diagnostics);
    (reader.document, diagnostics)
}

/// Says at the first marker of each conflict which entries it is about.
fn name_conflicts(diagnostic: &mut Diagnostic, bytes: &[u8]) {
    for label in diagnostic.primary.iter_mut().chain(&mut diagnostic.related) {
        let (above, behind) = bytes.split_at(label.span.start.min(bytes.len()));
        if !behind.starts_with(b"<") {
            continue;
        }
        let mut names: BTreeSet<&str> = behind
            .split(|byte| *byte == b'\n')
            .take_while(|line| !line.starts_with(b">>>>>>>"))
            .filter_map(entry_of)
            .collect();
        if names.is_empty() {
            // The markers are within a block, as a merge line by line leaves them.
            names.extend(above.rsplit(|byte| *byte == b'\n').find_map(entry_of));
        }
        if !names.is_empty() {
            let names: Vec<&str> = names.into_iter().collect();
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
    /// The texts of the block at hand that have one right form.
    forms: Vec<WrongForm>,
}

impl DocumentReader {
    fn body(&mut self, body: &Body) {
        let mut module_reported = false;
        for item in &body.items {
            match item {
                Item::Attribute(attribute) => {
                    self.unsupported("Unsupported argument", &attribute.name)
                }
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
                    _ => self.unsupported("Unsupported block type", &block.kind),
                },
            }
        }
    }

    fn provider(&mut self, block: &Block) {
        // Where the label is bad, the programs look at nothing inside the block (rules 2.11).
        let Some(label) = self.label(block, "source_addr") else {
            return;
        };
        let before = self.diagnostics.len();
        self.forms.clear();
        let Some(addr) = self.addr(label) else { return };
        let label_faults = self.diagnostics.len() - before;
        let mut entry = self.entry(addr, block);
        if label_faults > 0 {
            // Behind a label at fault nothing else is reported.
            self.diagnostics.truncate(before + label_faults);
            entry.title.clone_from(&self.diagnostics[before].title);
            entry.faults += label_faults;
            entry.reported = label_faults;
            self.document.faulty.push(entry);
            return;
        }
        // The first block counts, even if it is at fault; the entry is read before, so that all faults
        // of the repetition are reported as well.
        let first = self.seen.get(&entry.addr).copied();
        if let Some(first) = first {
            self.push(
                Diagnostic::error(rules::DUPLICATE_PROVIDER, "Duplicate provider lock")
                    .at(self.file, block.header, "locked again")
                    .see(self.file, first, "first locked here"),
            );
        } else {
            self.seen.insert(entry.addr.clone(), block.header);
        }
        if entry.faults > 0 || entry.version.is_none() {
            self.document.faulty.push(entry);
        } else {
            self.document.include(entry, first.is_some());
        }
    }

    /// Returns the only label of a block, else reports.
    fn label<'a>(&mut self, block: &'a Block, what: &str) -> Option<&'a Word> {
        let kind = &block.kind.text;
        match block.labels.as_slice() {
            [label] => return Some(label),
            [] => {
                let title = format!("Missing {what} for {kind}");
                self.error(
                    rules::LABEL_WRONG,
                    &title,
                    block.header,
                    "one label is needed",
                );
            }
            [_, second, ..] => {
                let title = format!("Extraneous label for {kind}");
                self.error(
                    rules::LABEL_WRONG,
                    &title,
                    second.span,
                    "only one label is allowed",
                );
            }
        }
        None
    }

    /// Reads the label of a provider block, which must be canonical; another form of it is reported.
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
                // A short address means another host in each program.
                if label.text.split('/').count() == ADDRESS_PARTS {
                    self.wrong_form(
                        rules::ADDRESS_NOT_CANONICAL,
                        label.span,
                        &label.text,
                        addr.to_string(),
                    );
                }
                Some(addr)
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

    /// Reads the inside of a provider block.
    fn entry(&mut self, addr: ProviderAddr, block: &Block) -> FaultyEntry {
        let before = self.diagnostics.len();
        for item in &block.body.items {
            match item {
                Item::Attribute(attribute) => match attribute.name.text.as_str() {
                    "version" | "constraints" | "hashes" => {}
                    _ => self.unsupported("Unsupported argument", &attribute.name),
                },
                Item::Block(inner) => self.unsupported("Unsupported block type", &inner.kind),
            }
        }
        let syntax_faults = self.syntax_faults(block);
        // An attribute that is not there may be what could not be parsed.
        let is_parsed = syntax_faults == 0;
        let attribute = |name| block.body.attribute(name);
        let span = |name| attribute(name).map(|attribute| attribute.value.span);
        // All three are read before any of them decides, so that every fault of the block is reported
        // at once.
        let version = self.version(block);
        let constraints = match attribute("constraints") {
            Some(attribute) => self.constraints(attribute),
            None => is_parsed.then(Constraints::default),
        };
        let listed = match attribute("hashes") {
            Some(attribute) => self.hashes(attribute),
            None => is_parsed.then(Vec::new),
        };
        let faults = self.diagnostics.len() - before + syntax_faults;
        let fault = self.diagnostics.get(before);
        FaultyEntry {
            addr,
            title: fault.map(|fault| fault.title.clone()).unwrap_or_default(),
            version,
            constraints,
            hashes: listed
                .as_ref()
                .map(|listed| listed.iter().map(|(hash, _)| hash.clone()).collect()),
            forms: mem::take(&mut self.forms),
            places: Places {
                header: block.header,
                version: span("version").unwrap_or(block.header),
                constraints: span("constraints"),
                hashes: span("hashes"),
                listed: listed.unwrap_or_default(),
            },
            faults,
            reported: faults,
        }
    }

    /// Counts the faults of syntax within a block.
    fn syntax_faults(&self, block: &Block) -> usize {
        let start = self.faults.partition_point(|at| *at < block.span.start);
        let end = self.faults.partition_point(|at| *at <= block.span.end);
        end.saturating_sub(start)
    }

    fn version(&mut self, block: &Block) -> Option<Version> {
        let file = self.file;
        let missing = |span, note: &str| {
            Diagnostic::error(rules::VERSION_MISSING, "Missing required argument")
                .at(file, span, note)
        };
        let Some(attribute) = block.body.attribute("version") else {
            // Where the argument is there but could not be parsed, that was reported already.
            if self.syntax_faults(block) == 0 {
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
            Ok(version) if version.to_string() == text => Some(version),
            // Only canonical text may be in a lock file: `1.2` is refused although it is a version
            // (`version` rules 1.5).
            Ok(version) => {
                let form = version.to_string();
                self.push(
                    Diagnostic::error(rules::VERSION_MALFORMED, title)
                        .at(self.file, span, format!("must be written as {form:?}"))
                        .help(format!("write version = {form:?}")),
                );
                self.wrong_form(rules::VERSION_MALFORMED, span, &text, form);
                Some(version)
            }
            Err(error) => {
                self.error(rules::VERSION_MALFORMED, title, span, &error.to_string());
                // Release tags have this prefix, and say which version is meant.
                let version: Version = text.strip_prefix('v')?.parse().ok()?;
                self.wrong_form(rules::VERSION_MALFORMED, span, &text, version.to_string());
                Some(version)
            }
        }
    }

    fn constraints(&mut self, attribute: &Attribute) -> Option<Constraints> {
        let span = attribute.value.span;
        let value = self.constant(&attribute.value)?;
        let text = self.text(&value, span)?;
        let title = "Invalid provider version constraints";
        match Constraints::parse_lock(&text) {
            Ok(set) if set.to_string() == text => Some(set),
            // Likewise: the programs compare the text with the canonical one (`version` rules 3.1).
            Ok(set) => {
                let form = set.to_string();
                self.push(
                    Diagnostic::error(rules::CONSTRAINTS_MALFORMED, title)
                        .at(self.file, span, format!("must be written as {form:?}"))
                        .help(format!("write constraints = {form:?}")),
                );
                self.wrong_form(rules::CONSTRAINTS_MALFORMED, span, &text, form);
                Some(set)
            }
            Err(error) => {
                self.error(
                    rules::CONSTRAINTS_MALFORMED,
                    title,
                    span,
                    &error.to_string(),
                );
                None
            }
        }
    }

    fn hashes(&mut self, attribute: &Attribute) -> Option<Vec<(Hash, Span)>> {
        let span = attribute.value.span;
        // A literal list, whose elements may be constant expressions (rules 2.3).
        let ExprKind::Tuple(elements) = &attribute.value.kind else {
            let note = "a list in brackets is required";
            self.error(rules::WRONG_TYPE, "Invalid expression", span, note);
            return None;
        };
        // The programs refuse an empty list, although an absent one is fine (rules 2.7).
        if elements.is_empty() {
            let title = "Invalid provider hash set";
            self.error(rules::HASHES_EMPTY, title, span, "must not be empty");
        }
        Some(
            elements
                .iter()
                .filter_map(|element| self.hash(element))
                .collect(),
        )
    }

    fn hash(&mut self, element: &Expr) -> Option<(Hash, Span)> {
        let value = self.constant(element)?;
        let text = self.text(&value, element.span)?;
        // Every element with a scheme is kept, even if its value is malformed (rules 2.7).
        match text.parse::<Hash>() {
            Ok(hash) => Some((hash, element.span)),
            Err(_) => {
                self.error(
                    rules::HASH_SCHEME_MISSING,
                    "Invalid provider hash string",
                    element.span,
                    "a scheme and a colon must come first, as in \"h1:…\"",
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
            self.error(
                rules::WRONG_TYPE,
                "Unsuitable value type",
                span,
                "a string is required",
            );
        }
        text
    }

    fn unsupported(&mut self, title: &str, name: &Word) {
        self.error(
            rules::UNSUPPORTED_ITEM,
            title,
            name.span,
            "not expected here",
        );
    }

    fn wrong_form(&mut self, rule: &'static str, span: Span, written: &str, required: String) {
        self.forms.push(WrongForm {
            rule,
            span,
            written: written.to_owned(),
            required,
        });
    }

    /// Reports an error without advice of its own.
    fn error(&mut self, code: &'static str, title: &str, span: Span, note: &str) {
        self.push(Diagnostic::error(code, title).at(self.file, span, note));
    }

    fn push(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }
}
