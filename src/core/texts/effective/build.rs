//! From a merged module to the tree: blocks and arguments with their origins, in the order of the files.

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::config::ModuleNode;
use crate::diag::{FileId, Span, Texts};
use crate::effective::json_syntax::{meaning, native};
use crate::effective::module::{
    EffectiveAttribute, EffectiveBlock, EffectiveItem, EffectiveModule,
};
use crate::effective::native::place_text;
use crate::effective::variables;
use crate::flavor::Flavor;
use crate::hcl::tree::{Attribute, Expr, ExprKind, ObjectItem, ObjectKey, Word};
use crate::module_config::file::{ModuleFile, SourcePlace, Syntax};
use crate::module_config::merge;
use crate::module_config::{
    MergedAttribute, MergedBlock, MergedBody, MergedModule, MergedSettings,
};

/// Returns a module with its override files, by the rules of the flavor that it was loaded with.
///
/// `texts` must be those that it was loaded into.
#[must_use]
pub fn effective(node: &ModuleNode, texts: &Texts, flavor: Flavor) -> EffectiveModule {
    tree(&node.files, &node.merged(texts, flavor), texts, flavor)
}

/// Returns a module without its override files.
#[must_use]
pub fn declared(node: &ModuleNode, texts: &Texts, flavor: Flavor) -> EffectiveModule {
    let is_primary = |file: &&ModuleFile| !file.is_override();
    let files: Vec<ModuleFile> = node.files.iter().filter(is_primary).copied().collect();
    tree(&files, &merge::merge(&files, texts, flavor), texts, flavor)
}

fn tree(
    files: &[ModuleFile],
    merged: &MergedModule,
    texts: &Texts,
    flavor: Flavor,
) -> EffectiveModule {
    let builder = TreeBuilder {
        texts,
        flavor,
        files: files
            .iter()
            .enumerate()
            .map(|(index, file)| (file.id, (index, *file)))
            .collect(),
        doubts: RefCell::default(),
    };
    let mut module = builder.module(merged);
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

struct TreeBuilder<'a> {
    texts: &'a Texts,
    flavor: Flavor,
    files: BTreeMap<FileId, (usize, ModuleFile)>,
    /// The sentences on names of JSON files, by name and by what they are printed as.
    doubts: RefCell<BTreeMap<(String, &'static str), String>>,
}

/// The block around an argument.
#[derive(Clone)]
struct BlockPath<'b> {
    /// The types of the blocks, the outermost first.
    kinds: Vec<&'b str>,
    /// The schema of the block is that of the built-in provider, which has no nested blocks.
    is_builtin: bool,
}

impl<'b> BlockPath<'b> {
    fn top(kind: &'b str) -> Self {
        Self {
            kinds: vec![kind],
            is_builtin: false,
        }
    }

    fn below<'c>(&'c self, kind: &'c str) -> BlockPath<'c> {
        BlockPath {
            kinds: self.kinds.iter().copied().chain([kind]).collect(),
            is_builtin: self.is_builtin,
        }
    }
}

impl TreeBuilder<'_> {
    fn module(&self, merged: &MergedModule) -> EffectiveModule {
        let mut blocks: Vec<(Position, EffectiveBlock)> = Vec::new();
        let mut groups: Vec<EffectiveBlock> = Vec::new();
        for group in &merged.groups {
            groups.push(EffectiveBlock {
                kind: group.kind.to_owned(),
                labels: Vec::new(),
                origin: group.header,
                items: Vec::new(),
                remarks: Vec::new(),
            });
        }
        // Each value goes to the block of its base. What has none goes to the first block of settings.
        let starts: BTreeMap<(FileId, usize), usize> = merged
            .groups
            .iter()
            .enumerate()
            .map(|(index, group)| ((group.header.file, group.span.start), index))
            .collect();
        let group_of = |kind: &str, place: SourcePlace| {
            let SourcePlace { file, span } = place;
            let ((of, _), index) = starts.range(..=(file, span.start)).next_back()?;
            let group = &merged.groups[*index];
            let is_inside = *of == file && group.kind == kind && span.end <= group.span.end;
            is_inside.then_some(*index)
        };
        let first_settings = merged
            .groups
            .iter()
            .position(|group| group.kind == "terraform");
        let mut added = Vec::new();
        for (place, item) in self.settings(&merged.settings) {
            let index = group_of("terraform", place).or(first_settings);
            let Some(group) = index.and_then(|index| groups.get_mut(index)) else {
                added.push((place, item));
                continue;
            };
            match &item {
                // Several versions may be required, each by a block of its own.
                EffectiveItem::Attribute(attribute)
                    if group.attribute(&attribute.name).is_some() =>
                {
                    added.push((place, item));
                }
                _ => group.items.push(item),
            }
        }
        for value in merged.locals.values() {
            let base = value.replaces.first().copied();
            let place = base.unwrap_or(value.name_place());
            if let Some(index) = group_of("locals", place) {
                let item = self.attribute(&BlockPath::top("locals"), value);
                groups[index].items.push(EffectiveItem::Attribute(item));
            }
        }
        for mut group in groups {
            self.sort(&mut group.items);
            if !group.items.is_empty() {
                blocks.push((self.position(group.origin), group));
            }
        }
        for (place, item) in added {
            blocks.push((
                self.position(place),
                EffectiveBlock {
                    kind: "terraform".to_owned(),
                    labels: Vec::new(),
                    origin: place,
                    items: vec![item],
                    remarks: Vec::new(),
                },
            ));
        }
        for block in &merged.blocks {
            let position = self.position(block.header);
            blocks.push((position, self.block(None, block)));
        }
        blocks.sort_by_key(|(position, _)| *position);
        EffectiveModule {
            blocks: blocks.into_iter().map(|(_, block)| block).collect(),
            doubts: self.doubts.take().into_values().collect(),
        }
    }

    /// Makes the contents of `terraform` blocks, each with the place that says which block it belongs to.
    fn settings(&self, settings: &MergedSettings) -> Vec<(SourcePlace, EffectiveItem)> {
        let path = BlockPath::top("terraform");
        let mut items = Vec::new();
        for argument in settings.required_versions.iter().chain(&settings.others) {
            let place = argument.name_place();
            let item = self.attribute(&path, argument);
            items.push((place, EffectiveItem::Attribute(item)));
        }
        let mut entries: Vec<EffectiveItem> = settings
            .required_providers
            .values()
            .map(|entry| self.attribute(&path.below("required_providers"), entry))
            .map(EffectiveItem::Attribute)
            .collect();
        self.sort(&mut entries);
        if let Some(place) = entries.first().map(first_place) {
            let block = EffectiveBlock {
                kind: "required_providers".to_owned(),
                labels: Vec::new(),
                origin: place,
                items: entries,
                remarks: Vec::new(),
            };
            items.push((place, EffectiveItem::Block(block)));
        }
        let blocks = settings.backend.iter().chain(&settings.encryption);
        for block in blocks.chain(&settings.provider_metas) {
            let place = block.header;
            items.push((place, EffectiveItem::Block(self.block(Some(&path), block))));
        }
        items
    }

    fn block(&self, around: Option<&BlockPath<'_>>, block: &MergedBlock) -> EffectiveBlock {
        let kind = &*block.kind;
        let mut path = around.map_or_else(|| BlockPath::top(kind), |around| around.below(kind));
        // The content of a block `_` is outside of it here, so that one inside is the provider's.
        let escapes = |name: &str| name == "_" && (around.is_none() || kind == "data");
        if around.is_none() {
            let first = block.labels.first().map(|label| &*label.text);
            let builtin = [Some("terraform_data"), Some("terraform_remote_state")];
            path.is_builtin = builtin.contains(&first);
        }
        // Where an override file brings the two together, `count` is the one that counts (config rules 3.3).
        let has_count = around.is_none() && block.body.attributes.get("count").is_some();
        let mut items = self.body(&path, &block.body, |name| {
            escapes(name) || name == "for_each" && has_count
        });
        let mut escaped = self.body(&path, &block.escaped, |_| false);
        let provided = block.body.blocks.get("_").filter(|_| escapes("_"));
        escaped.extend(
            provided
                .into_iter()
                .flatten()
                .map(|block| EffectiveItem::Block(self.block(Some(&path), block))),
        );
        if !escaped.is_empty() {
            self.sort(&mut escaped);
            let origin = escaped.first().map_or(block.header, first_place);
            items.push(EffectiveItem::Block(EffectiveBlock {
                kind: "_".to_owned(),
                labels: Vec::new(),
                origin,
                items: escaped,
                remarks: Vec::new(),
            }));
        }
        EffectiveBlock {
            labels: block
                .labels
                .iter()
                .map(|label| label.text.clone())
                .collect(),
            origin: block.header,
            items,
            remarks: Vec::new(),
            kind: kind.to_owned(),
        }
    }

    /// Makes the contents of a block, without the names that are left out.
    fn body(
        &self,
        path: &BlockPath<'_>,
        body: &MergedBody,
        is_left_out: impl Fn(&str) -> bool,
    ) -> Vec<EffectiveItem> {
        let mut items = Vec::new();
        let is_printed = |name: &str| !is_left_out(name);
        for argument in body
            .attributes
            .iter()
            .filter(|argument| is_printed(&argument.written.name.text))
        {
            match self.json_blocks(path, argument) {
                Some(blocks) => items.extend(blocks.into_iter().map(EffectiveItem::Block)),
                None => items.push(EffectiveItem::Attribute(self.attribute(path, argument))),
            }
        }
        for (_, blocks) in body.blocks.iter().filter(|(kind, _)| is_printed(kind)) {
            for block in blocks {
                items.push(EffectiveItem::Block(self.block(Some(path), block)));
            }
        }
        self.sort(&mut items);
        items
    }

    fn attribute(&self, path: &BlockPath<'_>, argument: &MergedAttribute) -> EffectiveAttribute {
        let name = &argument.written.name.text;
        let value = &argument.written.value;
        EffectiveAttribute {
            text: match self.syntax(argument.file) {
                Syntax::Native => {
                    let bytes = self.texts.bytes(argument.file);
                    let bytes = &bytes[value.span.start..value.span.end];
                    String::from_utf8_lossy(bytes).into_owned()
                }
                Syntax::Json => native(
                    argument.file,
                    value,
                    meaning(&path.kinds, name, self.flavor),
                ),
            },
            origin: argument.name_place(),
            name: name.clone(),
            replaces: argument.replaces.clone(),
        }
    }

    /// Makes the nested blocks that an argument of a JSON file is, or is likely to be: what a name means there, only
    /// the provider knows. A list of objects usually is a list of blocks.
    fn json_blocks(
        &self,
        path: &BlockPath<'_>,
        argument: &MergedAttribute,
    ) -> Option<Vec<EffectiveBlock>> {
        const PROVIDED: [&str; 5] = ["resource", "data", "ephemeral", "action", "provider"];
        if self.syntax(argument.file) == Syntax::Native {
            return None;
        }
        let is_provided = PROVIDED.contains(&path.kinds[0]) && !path.is_builtin;
        let origin = argument.name_place();
        let name = &*argument.written.name.text;
        let value = &argument.written.value;
        let around = path.kinds.last().copied().unwrap_or_default();
        let is_list = matches!(&value.kind, ExprKind::Tuple(items) if !items.is_empty());
        match (name, &value.kind) {
            ("dynamic", ExprKind::Object(items)) if is_provided => {
                let mut blocks = Vec::new();
                for item in items {
                    for body in objects(&item.value)? {
                        let labels = vec![key_of(item)?.to_owned()];
                        blocks.push(self.json_block(path, name, labels, body, origin));
                    }
                }
                Some(blocks)
            }
            _ if PROGRAM_BLOCKS.contains(&(around, name)) => {
                let blocks = objects(value)?.into_iter();
                let block = |body| self.json_block(path, name, Vec::new(), body, origin);
                Some(blocks.map(block).collect())
            }
            ("for_each", _) => None,
            _ if !is_provided || around == "provisioner" => None,
            (_, ExprKind::Tuple(_) | ExprKind::Object(_)) => {
                let blocks = objects(value).filter(|_| is_list);
                let printed = if blocks.is_some() {
                    "blocks"
                } else {
                    "an argument"
                };
                if objects(value).is_some() {
                    let key = (name.to_owned(), printed);
                    self.doubts.borrow_mut().entry(key).or_insert_with(|| {
                        let place = place_text(origin, self.texts);
                        format!(
                            "{place}: JSON syntax does not say whether '{name}' is an argument or a block; printed \
                             as {printed}"
                        )
                    });
                }
                let blocks = blocks?.into_iter();
                let block = |body| self.json_block(path, name, Vec::new(), body, origin);
                Some(blocks.map(block).collect())
            }
            _ => None,
        }
    }

    fn json_block(
        &self,
        around: &BlockPath<'_>,
        kind: &str,
        labels: Vec<String>,
        body: &[ObjectItem],
        origin: SourcePlace,
    ) -> EffectiveBlock {
        let path = around.below(kind);
        let mut items = Vec::new();
        for item in body {
            let Some(name) = key_of(item).filter(|name| *name != "//") else {
                continue;
            };
            let argument = json_argument(origin.file, name, item);
            match self.json_blocks(&path, &argument) {
                Some(blocks) => items.extend(blocks.into_iter().map(EffectiveItem::Block)),
                None => items.push(EffectiveItem::Attribute(self.attribute(&path, &argument))),
            }
        }
        EffectiveBlock {
            kind: kind.to_owned(),
            labels,
            origin,
            items,
            remarks: Vec::new(),
        }
    }

    fn syntax(&self, file: FileId) -> Syntax {
        self.files[&file].1.syntax
    }

    fn position(&self, place: SourcePlace) -> Position {
        (self.files[&place.file].0, place.span.start)
    }

    /// Puts items in order: one that replaces others takes their place.
    fn sort(&self, items: &mut [EffectiveItem]) {
        items.sort_by_key(|item| self.position(first_place(item)));
    }
}

/// Returns the earliest place of an item.
fn first_place(item: &EffectiveItem) -> SourcePlace {
    match item {
        EffectiveItem::Attribute(attribute) => {
            let base = attribute.replaces.first();
            base.copied().unwrap_or(attribute.origin)
        }
        EffectiveItem::Block(block) => block.origin,
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

fn key_of(item: &ObjectItem) -> Option<&str> {
    match &item.key {
        ObjectKey::Expr(Expr {
            kind: ExprKind::String(name),
            ..
        }) => Some(name),
        _ => None,
    }
}

fn json_argument(file: FileId, name: &str, item: &ObjectItem) -> MergedAttribute {
    let span = match &item.key {
        ObjectKey::Expr(key) => key.span,
        ObjectKey::Name(word) => word.span,
    };
    MergedAttribute {
        file,
        written: Attribute {
            name: Word {
                text: name.to_owned(),
                span,
            },
            value: item.value.clone(),
            span: Span::new(span.start, item.value.span.end),
        },
        replaces: Vec::new(),
    }
}
