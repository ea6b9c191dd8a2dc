//! The edits of one module: each `source` that names the old address, and each name that implies it.

use super::job::{AffectedRoot, ReplaceJob};
use crate::addr::ProviderAddr;
use crate::config::ModuleNode;
use crate::diag::{FileId, Span, Texts};
use crate::flavor::Flavor;
use crate::hcl;
use crate::hcl::tree::{Expr, ExprKind, ObjectKey};
use crate::module_config::{MergedAttribute, MergedModule};
use crate::report::Failure;
use crate::requirement::RequirementOrigin;
use crate::run::edits::EditablePlace;

impl ReplaceJob<'_, '_> {
    /// Plans the edits of sources; returns the reasons why some stay.
    pub(super) fn sources_of(&mut self, opened: &AffectedRoot, texts: &Texts) -> Vec<Failure> {
        let mut failures = Vec::new();
        let flavor = opened.root.flavor;
        let is_source = |key: &ObjectKey| match key {
            ObjectKey::Name(word) => word.text == "source",
            ObjectKey::Expr(key) => matches!(&key.kind, ExprKind::String(text) if text == "source"),
        };
        for node in &opened.loaded.modules {
            let merged = node.merged(texts, flavor);
            let required = &merged.settings.required_providers;
            for (name, attribute) in required {
                // Of several the last one counts, as for the programs.
                let source = match &attribute.written.value.kind {
                    ExprKind::Object(items) => items.iter().rfind(|item| is_source(&item.key)),
                    _ => None,
                };
                let source = source.map(|item| &item.value);
                let addr = match source {
                    Some(Expr {
                        kind: ExprKind::String(text),
                        ..
                    }) => ProviderAddr::parse(text, flavor).ok(),
                    Some(_) => None,
                    None => ProviderAddr::parse(name, flavor).ok(),
                };
                if addr.as_ref() != Some(&opened.old) {
                    continue;
                }
                let planned = match source {
                    Some(source) => self.source(opened, node, (attribute.file, source.span), texts),
                    None => self.entry(opened, node, name, attribute, texts),
                };
                failures.extend(planned.err());
            }
            failures.extend(self.implied(opened, node, &merged, texts).err());
        }
        failures
    }

    /// Plans to replace the text of a `source`.
    fn source(
        &mut self,
        opened: &AffectedRoot,
        node: &ModuleNode,
        (file, span): (FileId, Span),
        texts: &Texts,
    ) -> Result<(), Failure> {
        let place = self.place(opened, node, (file, span), texts)?;
        let place = place.quoted_text().ok_or_else(|| {
            stays(opened, (file, span), texts)
                .because("the source is built from parts, and is not edited")
                .help("write it by hand")
        })?;
        let new = spelled(&opened.new, &place.text, opened.root.flavor);
        self.replaced.edits.add(place, &opened.old, new)
    }

    /// Finds a place of this repository.
    fn place<'t>(
        &self,
        opened: &AffectedRoot,
        node: &ModuleNode,
        (file, span): (FileId, Span),
        texts: &'t Texts,
    ) -> Result<EditablePlace<'t>, Failure> {
        let place = EditablePlace::find(
            self.session.world,
            &opened.root.dir,
            (&opened.loaded, &node.path),
            texts,
            (file, span),
        );
        place.map_err(|_| {
            let (it, help) = if node.path.is_root() {
                let help = "change the source where it is written".to_owned();
                (format!("{} is not a file", texts.name(file)), help)
            } else {
                let new = opened.new.short(opened.root.flavor);
                let help = format!("a version of that module is needed that requires {new}");
                (format!("{} is not", node.path), help)
            };
            stays(opened, (file, span), texts)
                .because(format!("{it} of this repository, and is not edited"))
                .help(help)
        })
    }

    /// Plans a `source` for an entry without one: its name implied the old address.
    fn entry(
        &mut self,
        opened: &AffectedRoot,
        node: &ModuleNode,
        name: &str,
        attribute: &MergedAttribute,
        texts: &Texts,
    ) -> Result<(), Failure> {
        let value = &attribute.written.value;
        let new = opened.new.short(opened.root.flavor);
        let written = &texts.bytes(attribute.file)[value.span.start..value.span.end];
        let written = String::from_utf8_lossy(written);
        let is_json = texts.name(attribute.file).ends_with(".json");
        let text = match (&value.kind, is_json) {
            (ExprKind::Object(items), true) => {
                let comma = if items.is_empty() { "" } else { ", " };
                written.replacen('{', &format!("{{\"source\": {new:?}{comma}"), 1)
            }
            (_, true) => format!("{{\"source\": {new:?}, \"version\": {written}}}"),
            (ExprKind::Object(_), false) => with_source(&written, &new),
            (_, false) => format!("{{ source = {new:?}, version = {written} }}"),
        };
        let place = self.place(opened, node, (attribute.file, value.span), texts)?;
        let row = format!("{name} = {{ source = {new:?} }}");
        self.replaced.edits.insert(place, &opened.old, row, text)
    }

    /// Plans an entry of `required_providers` in a module whose blocks imply the old address.
    fn implied(
        &mut self,
        opened: &AffectedRoot,
        node: &ModuleNode,
        merged: &MergedModule,
        texts: &Texts,
    ) -> Result<(), Failure> {
        let name = opened.old.type_name();
        let required = &merged.settings.required_providers;
        // A block with another local name has its source in an entry of that name.
        let is_configured = merged
            .blocks
            .iter()
            .filter(|block| block.kind == "provider")
            .flat_map(|block| block.labels.first())
            .any(|label| label.text.eq_ignore_ascii_case(name));
        let implied = opened
            .loaded
            .requirements
            .places(&opened.old)
            .iter()
            .find(|place| {
                let is_implied = match place.origin {
                    RequirementOrigin::ProviderBlock => is_configured,
                    RequirementOrigin::Implied => true,
                    _ => false,
                };
                is_implied && place.module == node.path
            });
        // An entry with this name is edited in its own place, and nothing is implied beside it.
        let Some(implied) = implied.filter(|_| !required.contains_key(name)) else {
            return Ok(());
        };
        let new = opened.new.short(opened.root.flavor);
        let block = format!(
            "terraform {{\n  required_providers {{\n    {name} = {{\n      source = {new:?}\n    }}\n  }}\n}}\n"
        );
        // Beside the other entries of the module, else in the file that implies it.
        let file = required
            .values()
            .next()
            .map_or(implied.file, |entry| entry.file);
        let span = Span::new(texts.bytes(file).len(), texts.bytes(file).len());
        let place = self.place(opened, node, (file, span), texts)?;
        let is_json = texts.name(file).ends_with(".json");
        let inserted = if is_json {
            None
        } else {
            inserted(texts.bytes(file), name, &new)
        };
        let Some((at, text)) = inserted else {
            return Err(Failure::new(format!(
                "{} implies {}",
                texts.name(file),
                opened.old.short(opened.root.flavor)
            ))
            .help(format!("state the new source there:\n{block}")));
        };
        let row = format!("{name} = {{ source = {new:?} }}");
        let place = place.at(at);
        self.replaced.edits.insert(place, &opened.old, row, text)
    }
}

/// Returns the failure of a place that keeps the old address.
fn stays(opened: &AffectedRoot, (file, span): (FileId, Span), texts: &Texts) -> Failure {
    let line = texts.position(file, span.start).line;
    let old = opened.old.short(opened.root.flavor);
    Failure::new(format!("{old} stays at {}:{line}", texts.name(file)))
}

/// Spells an address as another one is: with its host, or without.
pub(super) fn spelled(addr: &ProviderAddr, like: &str, flavor: Flavor) -> String {
    if like.matches('/').count() == 2 {
        addr.to_string()
    } else {
        addr.short(flavor)
    }
}

/// Writes a source before the first item of an entry: on a line of its own, with its `=` below that of the item, if
/// the items have lines of their own.
fn with_source(entry: &str, source: &str) -> String {
    let (before, items) = entry.split_once('{').unwrap_or((entry, ""));
    let lines = items
        .split_once('\n')
        .filter(|(opening, _)| opening.trim().is_empty());
    let Some((opening, lines)) = lines else {
        let comma = if items.trim_start().starts_with('}') {
            ""
        } else {
            ","
        };
        return format!("{before}{{ source = {source:?}{comma}{items}");
    };
    let first = lines.lines().next().unwrap_or_default();
    let item = first.trim_start();
    let indent = &first[..first.len() - item.len()];
    let width = match item.split_once('=') {
        Some((key, _)) if !key.starts_with(['#', '/']) => key.len().max("source ".len()),
        _ => "source ".len(),
    };
    // A carriage return before the first line end is one before the new line's end, too.
    format!(
        "{before}{{{opening}\n{indent}{:width$}= {source:?}{opening}\n{lines}",
        "source"
    )
}

/// Returns the text that adds an entry to the first block `required_providers` of a file, and its place.
fn inserted(bytes: &[u8], name: &str, source: &str) -> Option<(usize, String)> {
    use hcl::edit::{BlockName, Expression, HclEditor};
    let block = |kind| BlockName { kind, labels: &[] };
    let path = [block("terraform"), block("required_providers")];
    let mut editor = HclEditor::open(bytes.to_vec()).ok()?;
    let value: Expression = format!("{{ source = {} }}", hcl::edit::quoted(source))
        .parse()
        .ok()?;
    editor.set(&path, name, value).ok()?;
    let edited = editor.into_bytes();
    let start = bytes
        .iter()
        .zip(&edited)
        .take_while(|(old, new)| old == new)
        .count();
    let end = start + edited.len().checked_sub(bytes.len())?;
    // One part was added, and all else is as it was.
    (edited[end..] == bytes[start..]).then_some(())?;
    let text = String::from_utf8(edited[start..end].to_vec()).ok()?;
    Some((start, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(entry: &str, with: &str) {
        assert_eq!(with_source(entry, "a/b"), with);
    }

    #[test]
    fn a_source_is_added_in_the_form_of_the_entry() {
        check("{}", "{ source = \"a/b\"}");
        check(
            "{ version = \"1\" }",
            "{ source = \"a/b\", version = \"1\" }",
        );
        check(
            "{\n    version = \"1\"\n  }",
            "{\n    source  = \"a/b\"\n    version = \"1\"\n  }",
        );
        check(
            "{\r\n\tconfiguration_aliases = [x.y]\r\n}",
            "{\r\n\tsource                = \"a/b\"\r\n\tconfiguration_aliases = [x.y]\r\n}",
        );
        check(
            "{\n  # a = 1\n  version = \"1\"\n}",
            "{\n  source = \"a/b\"\n  # a = 1\n  version = \"1\"\n}",
        );
    }
}
