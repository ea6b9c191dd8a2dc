//! From a merged module to the tree: blocks and arguments with their origins, in the order of the files.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::diag::{FileId, Texts};
use crate::effective::json_syntax::{key_of, meaning, native};
use crate::effective::module::{
    EffectiveAttribute, EffectiveBlock, EffectiveItem, EffectiveModule,
};
use crate::effective::native::place_text;
use crate::effective::variables;
use crate::flavor::Flavor;
use crate::hcl::tree::{Expr, ExprKind, ObjectItem};
use crate::module_config::file::{ModuleFile, SourcePlace, Syntax};
use crate::module_config::{MergedAttribute, MergedBlock, MergedGroup, MergedItem, MergedModule};

/// Returns a merged module as a tree.
///
/// `files` are those that were merged, by the rules of the flavor; `texts` must be those that they were loaded into.
#[must_use]
pub fn effective<'m>(
    files: &[ModuleFile],
    merged: &'m MergedModule,
    texts: &'m Texts,
    flavor: Flavor,
) -> EffectiveModule<'m> {
    let mut builder = TreeBuilder {
        texts,
        flavor,
        files: files
            .iter()
            .map(|file| file.id)
            .zip(files.iter().enumerate())
            .collect(),
        path: Vec::new(),
        is_builtin: false,
        doubts: BTreeMap::new(),
    };
    let mut blocks = builder.settings(merged);
    blocks.reserve(merged.blocks.len());
    for block in &merged.blocks {
        // Local values are named one by one, and a block without any says nothing.
        if block.kind != "locals" || !block.body.is_empty() {
            blocks.push(builder.block(block));
        }
    }
    blocks.sort_by_key(|block| builder.position(block.origin));
    let mut module = EffectiveModule {
        blocks,
        doubts: builder.doubts.into_values().collect(),
    };
    variables::correct(&mut module, files, texts, flavor);
    module
}

/// Blocks of the program that no override file changes, each with the block around it; the table of the language
/// has no need of them.
const PROGRAM_BLOCKS: [(&str, &str); 5] = [
    ("check", "assert"),
    ("dynamic", "content"),
    ("provisioner", "connection"),
    ("removed", "connection"),
    ("removed", "lifecycle"),
];

/// The order of things: by file, then by place.
type Position = (usize, usize);

struct TreeBuilder<'f, 'm> {
    texts: &'m Texts,
    flavor: Flavor,
    /// The files, each with its number in their order.
    files: BTreeMap<FileId, (usize, &'f ModuleFile)>,
    /// The types of the blocks around an argument, the outermost first.
    path: Vec<&'m str>,
    /// The schema of the outermost block is that of the built-in provider, which has no nested blocks.
    is_builtin: bool,
    /// The sentences on names of JSON files, by name and by what they are printed as.
    doubts: BTreeMap<(&'m str, &'static str), String>,
}

/// An argument of a merged block, or a member of an object in a JSON file.
#[derive(Clone, Copy)]
struct WrittenArgument<'m> {
    name: &'m str,
    place: SourcePlace,
    value: &'m Expr,
    replaces: &'m [SourcePlace],
}

impl<'m> WrittenArgument<'m> {
    fn of(argument: &'m MergedAttribute) -> Self {
        Self {
            name: &argument.written.name.text,
            place: argument.name_place(),
            value: &argument.written.value,
            replaces: &argument.replaces,
        }
    }
}

impl<'m> TreeBuilder<'_, 'm> {
    /// Puts the settings into `terraform` blocks: each into that of its base. What has none goes to the first.
    fn settings(&mut self, merged: &'m MergedModule) -> Vec<EffectiveBlock<'m>> {
        let mut groups: Vec<EffectiveBlock<'m>> = merged
            .groups
            .iter()
            .map(|group| EffectiveBlock::new("terraform", group.header))
            .collect();
        let mut added = Vec::new();
        for item in self.settings_items(merged) {
            let place = item.origin();
            // The blocks of a list in JSON have one header, and each its own braces.
            let is_before = |group: &MergedGroup| {
                let start = SourcePlace {
                    span: group.span,
                    ..group.header
                };
                self.position(start) <= self.position(place)
            };
            let base = merged.groups.partition_point(is_before).saturating_sub(1);
            let is_inside = merged.groups.get(base).is_some_and(|group| {
                group.header.file == place.file && place.span.end <= group.span.end
            });
            let base = if is_inside { base } else { 0 };
            match (groups.get_mut(base), &item) {
                // Several versions may be required, each by a block of its own.
                (Some(group), EffectiveItem::Attribute(attribute))
                    if group.attribute(&attribute.name).is_none() =>
                {
                    group.items.push(item);
                }
                (Some(group), EffectiveItem::Block(_)) => group.items.push(item),
                _ => added.push(EffectiveBlock {
                    items: vec![item],
                    ..EffectiveBlock::new("terraform", place)
                }),
            }
        }
        for group in &mut groups {
            group
                .items
                .sort_by_key(|item| self.position(item.first_place()));
        }
        groups.retain(|group| !group.items.is_empty());
        groups.append(&mut added);
        groups
    }

    fn settings_items(&mut self, merged: &'m MergedModule) -> Vec<EffectiveItem<'m>> {
        let settings = &merged.settings;
        self.path = vec!["terraform"];
        let mut items = Vec::new();
        for argument in settings.required_versions.iter().chain(&settings.others) {
            self.argument(WrittenArgument::of(argument), &mut items);
        }
        self.path.push("required_providers");
        let mut entries = Vec::new();
        for entry in settings.required_providers.values() {
            self.argument(WrittenArgument::of(entry), &mut entries);
        }
        self.path.pop();
        entries.sort_by_key(|entry| self.position(entry.first_place()));
        if let Some(origin) = entries.first().map(EffectiveItem::first_place) {
            items.push(EffectiveItem::Block(EffectiveBlock {
                items: entries,
                ..EffectiveBlock::new("required_providers", origin)
            }));
        }
        for block in settings
            .backend
            .iter()
            .chain(&settings.encryption)
            .chain(&settings.provider_metas)
        {
            items.push(EffectiveItem::Block(self.block(block)));
        }
        self.path.clear();
        items
    }

    fn block(&mut self, block: &'m MergedBlock) -> EffectiveBlock<'m> {
        let is_top = self.path.is_empty();
        if is_top {
            let first = block.labels.first().map(|label| &*label.text);
            let builtin = [Some("terraform_data"), Some("terraform_remote_state")];
            self.is_builtin = builtin.contains(&first);
        }
        // Where an override file brings the two together, `count` is the one that counts (config rules 3.3).
        let has_count = is_top && block.body.attribute("count").is_some();
        self.path.push(&block.kind);
        let count = block.body.items().size_hint().1;
        let mut items = Vec::with_capacity(count.unwrap_or_default());
        for item in block.body.items() {
            match item {
                MergedItem::Attribute(argument)
                    if has_count && argument.written.name.text == "for_each" => {}
                MergedItem::Attribute(argument) => {
                    self.argument(WrittenArgument::of(argument), &mut items);
                }
                MergedItem::Block(nested) => items.push(EffectiveItem::Block(self.block(nested))),
            }
        }
        self.path.pop();
        // What a block `_` keeps for the provider comes last.
        items.sort_by_key(|item| (item.name() == "_", self.position(item.first_place())));
        EffectiveBlock {
            labels: block
                .labels
                .iter()
                .map(|label| Cow::Borrowed(&*label.text))
                .collect(),
            items,
            ..EffectiveBlock::new(&*block.kind, block.header)
        }
    }

    /// Adds an argument, or the nested blocks that it is in a JSON file.
    fn argument(&mut self, argument: WrittenArgument<'m>, items: &mut Vec<EffectiveItem<'m>>) {
        let SourcePlace { file, .. } = argument.place;
        let text = match self.files[&file].1.syntax {
            Syntax::Native => {
                let span = argument.value.span;
                let bytes = &self.texts.bytes(file)[span.start..span.end];
                // Sound text is compared many bytes at a time.
                std::str::from_utf8(bytes)
                    .map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
            }
            Syntax::Json => {
                if let Some(blocks) = self.json_blocks(argument) {
                    items.extend(blocks.into_iter().map(EffectiveItem::Block));
                    return;
                }
                let meaning = meaning(&self.path, argument.name, self.flavor);
                native(file, argument.value, meaning).into()
            }
        };
        items.push(EffectiveItem::Attribute(EffectiveAttribute {
            name: Cow::Borrowed(argument.name),
            text,
            origin: argument.place,
            replaces: Cow::Borrowed(argument.replaces),
        }));
    }

    /// Makes the nested blocks that an argument of a JSON file is, or is likely to be: what a name means there, only
    /// the provider knows. A list of objects usually is a list of blocks.
    fn json_blocks(&mut self, argument: WrittenArgument<'m>) -> Option<Vec<EffectiveBlock<'m>>> {
        const PROVIDED: [&str; 5] = ["resource", "data", "ephemeral", "action", "provider"];
        let is_provided = PROVIDED.contains(&self.path[0]) && !self.is_builtin;
        let WrittenArgument {
            name, place, value, ..
        } = argument;
        let around = self.path.last().copied().unwrap_or_default();
        match (name, &value.kind) {
            ("dynamic", ExprKind::Object(items)) if is_provided => {
                let mut blocks = Vec::new();
                for item in items {
                    for body in objects(&item.value)? {
                        let (label, _) = key_of(item)?;
                        blocks.push(EffectiveBlock {
                            labels: vec![Cow::Borrowed(label)],
                            ..self.json_block(name, body, place)
                        });
                    }
                }
                return Some(blocks);
            }
            _ if PROGRAM_BLOCKS.contains(&(around, name)) => {}
            ("for_each", _) => return None,
            _ if !is_provided || around == "provisioner" => return None,
            _ => {
                let is_list = matches!(&value.kind, ExprKind::Tuple(items) if !items.is_empty());
                let printed = if is_list { "blocks" } else { "an argument" };
                objects(value)?;
                self.doubts.entry((name, printed)).or_insert_with(|| {
                    let place = place_text(place, self.texts);
                    format!(
                        "{place}: JSON syntax does not say whether '{name}' is an argument or a block; printed as \
                         {printed}"
                    )
                });
                if !is_list {
                    return None;
                }
            }
        }
        let block = |body| self.json_block(name, body, place);
        Some(objects(value)?.into_iter().map(block).collect())
    }

    fn json_block(
        &mut self,
        kind: &'m str,
        body: &'m [ObjectItem],
        origin: SourcePlace,
    ) -> EffectiveBlock<'m> {
        self.path.push(kind);
        let mut block = EffectiveBlock::new(kind, origin);
        for item in body {
            if let Some((name, span)) = key_of(item).filter(|(name, _)| *name != "//") {
                let argument = WrittenArgument {
                    name,
                    place: SourcePlace { span, ..origin },
                    value: &item.value,
                    replaces: &[],
                };
                self.argument(argument, &mut block.items);
            }
        }
        self.path.pop();
        block
    }

    fn position(&self, place: SourcePlace) -> Position {
        (self.files[&place.file].0, place.span.start)
    }
}

/// Returns the members of an object, or of each object of a list; `None` if it is anything else.
fn objects(value: &Expr) -> Option<Vec<&[ObjectItem]>> {
    match &value.kind {
        ExprKind::Object(items) => Some(vec![items]),
        ExprKind::Tuple(items) => items
            .iter()
            .map(|item| match &item.kind {
                ExprKind::Object(items) => Some(&**items),
                _ => None,
            })
            .collect(),
        _ => None,
    }
}
