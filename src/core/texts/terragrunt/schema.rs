//! The blocks and arguments of unit files, and the errors of their structure (rules 2).

use std::collections::BTreeSet;
use std::path::Path;

use super::file_names::STACK_FILE;
use crate::diag::{Diagnostic, FileId, did_you_mean, rules};
use crate::hcl::tree::{Block, Body};

/// A kind of block.
#[derive(Debug)]
pub(super) struct BlockShape {
    pub(super) kind: &'static str,
    /// The number of labels; an include may have none all the same.
    pub(super) labels: usize,
    /// Only one block of the kind is allowed.
    is_single: bool,
    /// Its arguments; `None` if any are allowed.
    arguments: Option<&'static [Argument]>,
    pub(super) blocks: &'static [Self],
}

/// The name of an argument, and if it is required.
type Argument = (&'static str, ArgumentNeed);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ArgumentNeed {
    Required,
    Optional,
}

use ArgumentNeed::{Optional, Required};

const fn open(kind: &'static str, labels: usize) -> BlockShape {
    BlockShape {
        kind,
        labels,
        is_single: false,
        arguments: None,
        blocks: &[],
    }
}

const fn strict(kind: &'static str, labels: usize, arguments: &'static [Argument]) -> BlockShape {
    BlockShape {
        arguments: Some(arguments),
        ..open(kind, labels)
    }
}

const fn single(shape: BlockShape) -> BlockShape {
    BlockShape {
        is_single: true,
        ..shape
    }
}

/// The attributes at the top of a unit file.
pub(super) const ATTRIBUTES: &[&str] = &[
    "inputs",
    "terraform_binary",
    "terraform_version_constraint",
    "terragrunt_version_constraint",
    "download_dir",
    "prevent_destroy",
    "iam_role",
    "iam_assume_role_duration",
    "iam_assume_role_session_name",
    "iam_web_identity_token",
    "remote_state",
    "generate",
];

/// The blocks at the top of a unit file.
pub(super) const TOP: &[BlockShape] = &[
    strict(
        "include",
        1,
        &[
            ("path", Required),
            ("expose", Optional),
            ("merge_strategy", Optional),
        ],
    ),
    single(open("locals", 0)),
    single(BlockShape {
        blocks: &[
            open("extra_arguments", 1),
            open("before_hook", 1),
            open("after_hook", 1),
            open("error_hook", 1),
        ],
        ..strict(
            "terraform",
            0,
            &[
                ("source", Optional),
                ("version", Optional),
                ("include_in_copy", Optional),
                ("exclude_from_copy", Optional),
                ("copy_terraform_lock_file", Optional),
                ("update_source_with_cas", Optional),
                ("mutable", Optional),
            ],
        )
    }),
    single(strict(
        "remote_state",
        0,
        &[
            ("backend", Required),
            ("config", Optional),
            ("generate", Optional),
            ("disable_init", Optional),
            ("disable_dependency_optimization", Optional),
            ("encryption", Optional),
        ],
    )),
    strict(
        "generate",
        1,
        &[
            ("path", Required),
            ("if_exists", Required),
            ("contents", Required),
            ("if_disabled", Optional),
            ("disable", Optional),
            ("comment_prefix", Optional),
            ("disable_signature", Optional),
            ("hcl_fmt", Optional),
            ("mutable", Optional),
        ],
    ),
    open("dependency", 1),
    single(strict("dependencies", 0, &[("paths", Required)])),
    strict("feature", 1, &[("default", Required)]),
    single(open("exclude", 0)),
    single(open("errors", 0)),
    single(open("engine", 0)),
    single(open("catalog", 0)),
];

/// The arguments of a unit or a stack in a stack file.
const GENERATED: &[Argument] = &[
    ("source", Required),
    ("path", Required),
    ("values", Optional),
    ("no_dot_terragrunt_stack", Optional),
    ("no_validation", Optional),
];

const STACK: &[BlockShape] = &[
    strict("include", 1, &[("path", Required)]),
    single(open("locals", 0)),
    strict("unit", 1, GENERATED),
    strict("stack", 1, GENERATED),
];

/// Checks the structure of a file as Terragrunt does.
pub(super) fn check(path: &Path, body: &Body) -> Vec<Diagnostic> {
    let mut errors = Vec::new();
    let name = path.file_name().unwrap_or_default();
    if name == super::file_names::VALUES_FILE {
        return errors;
    }
    if name == STACK_FILE {
        arguments_of(body, &[], &mut errors);
        blocks_of(body, STACK, &mut errors);
        return errors;
    }
    let arguments: Vec<Argument> = ATTRIBUTES.iter().map(|name| (*name, Optional)).collect();
    arguments_of(body, &arguments, &mut errors);
    blocks_of(body, TOP, &mut errors);
    errors
}

fn arguments_of(body: &Body, known: &[Argument], errors: &mut Vec<Diagnostic>) {
    for attribute in body.attributes() {
        let name = attribute.name.text.as_str();
        if !known.iter().any(|(other, _)| *other == name) {
            let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
            let hint = did_you_mean(name, &names)
                .unwrap_or_else(|| "Terragrunt 1.1 has no such argument here".to_owned());
            let error = Diagnostic::error(rules::UNSUPPORTED_ITEM, "Unsupported argument");
            errors.push(error.at(FileId::ALONE, attribute.name.span, hint));
        }
    }
    repeated(body, errors);
}

fn repeated(body: &Body, errors: &mut Vec<Diagnostic>) {
    let mut seen = BTreeSet::new();
    for attribute in body.attributes() {
        if !seen.insert(attribute.name.text.as_str()) {
            let error = Diagnostic::error(rules::DUPLICATE_KEY, "Attribute redefined");
            errors.push(error.at(FileId::ALONE, attribute.name.span, "this is set before"));
        }
    }
}

fn blocks_of(body: &Body, shapes: &[BlockShape], errors: &mut Vec<Diagnostic>) {
    let mut seen = BTreeSet::new();
    for block in body.blocks() {
        let kind = block.kind.text.as_str();
        let Some(shape) = shapes.iter().find(|shape| shape.kind == kind) else {
            let error = Diagnostic::error(rules::UNSUPPORTED_ITEM, "Unsupported block type");
            errors.push(error.at(
                FileId::ALONE,
                block.header,
                "Terragrunt 1.1 has no such block here",
            ));
            continue;
        };
        // Only an include may lack its label (rules 3.1).
        let is_bare = kind == "include" && block.labels.is_empty();
        if block.labels.len() != shape.labels && !is_bare {
            let title = if block.labels.len() < shape.labels {
                "Missing block label"
            } else {
                "Extraneous block label"
            };
            errors.push(Diagnostic::error(rules::LABEL_WRONG, title).at(
                FileId::ALONE,
                block.header,
                "",
            ));
        }
        // Two blocks of these kinds stop Terragrunt (rules 2.3).
        if shape.is_single && !seen.insert(kind) {
            let error = Diagnostic::error(rules::CONFIGURATION_INVALID, "Duplicate block");
            errors.push(error.at(FileId::ALONE, block.header, "only one of these is allowed"));
        }
        within(block, shape, errors);
    }
}

fn within(block: &Block, shape: &BlockShape, errors: &mut Vec<Diagnostic>) {
    match shape.arguments {
        Some(arguments) => {
            arguments_of(&block.body, arguments, errors);
            blocks_of(&block.body, shape.blocks, errors);
            for (name, _) in arguments.iter().filter(|(_, need)| *need == Required) {
                if block.body.attribute(name).is_none() {
                    let note = format!("{name} is required");
                    let error = Diagnostic::error(
                        rules::CONFIGURATION_INVALID,
                        "Missing required argument",
                    );
                    errors.push(error.at(FileId::ALONE, block.header, note));
                }
            }
        }
        // Blocks without a list of arguments take any name, but each only once.
        None => {
            repeated(&block.body, errors);
            if shape.kind == "locals"
                && let Some(inner) = block.body.blocks().next()
            {
                let error = Diagnostic::error(rules::UNSUPPORTED_ITEM, "Unexpected block");
                errors.push(error.at(FileId::ALONE, inner.header, "no blocks are allowed here"));
            }
        }
    }
}
