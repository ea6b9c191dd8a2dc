//! Override files, and what `config --expand` makes of them.

use super::{Case, Reader, case, nested, numbered, within};

/// Override files of [`OVERRIDDEN`].
const OVERRIDES: &[Case] = &[
    case("many", "overrides of one block", |bytes| {
        numbered(bytes, |n| {
            format!("resource \"a_x\" \"r\" {{\n  a = {n}\n}}\n")
        })
        .into()
    }),
    case("many", "overrides of one value", |bytes| {
        numbered(bytes, |n| format!("locals {{\n  l = [{n}]\n}}\n")).into()
    }),
    case("many", "nested blocks", |bytes| {
        let blocks = "  b {}\n".repeat(bytes / 7);
        within("resource \"a_x\" \"r\" {\n", &blocks, "}\n")
    }),
    case("many", "dynamic blocks", |bytes| {
        let block = "  dynamic \"b\" {\n    for_each = local.l\n    content {\n      v = b.value\n    }\n  }\n";
        let blocks = block.repeat(bytes.div_ceil(block.len()));
        within("resource \"a_x\" \"r\" {\n", &blocks, "}\n")
    }),
    case("wide", "arguments", |bytes| {
        let all = numbered(bytes, |n| format!("  a{n} = 1\n"));
        within("resource \"a_x\" \"r\" {\n", &all, "}\n")
    }),
    case("wide", "steps", |bytes| {
        let head = "resource \"a_x\" \"r\" {\n  dynamic \"b\" {\n    for_each = local.l\n    content {\n      v = b.value";
        within(head, &".a".repeat(bytes / 2), "\n    }\n  }\n}\n")
    }),
    case("deep", "dynamic blocks", |bytes| {
        let head = "dynamic \"b\" {\nfor_each = local.l\ncontent {\n";
        let text = nested(bytes, head, "", "}\n}\n");
        within("resource \"a_x\" \"r\" {\n", &text, "}\n")
    }),
];

/// A module to override.
const OVERRIDDEN: (&str, &str) = (
    "main.tf",
    "locals {\n  l = [1, 2]\n}\nresource \"a_x\" \"r\" {\n  a = 1\n}\n",
);

pub(super) fn reader() -> Reader {
    Reader::beside(
        "configuration, overrides",
        "main_override.tf",
        &["config", "--expand"],
        &[OVERRIDDEN],
        OVERRIDES,
    )
}
