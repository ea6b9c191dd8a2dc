//! Native syntax: places are in the text, and one item does not change how another one is read.

use lockctl::diag::{FileId, Span};
use lockctl::hcl::edit::{BlockName, HclEditor};
use lockctl::hcl::tree::{Block, Body, Item};
use lockctl::hcl::{parse, template};

use super::{Budget, diagnostics};

const BUDGET: Budget = Budget {
    base_bytes: 256 * 1024,
    bytes: 400,
    base_allocations: 1_000,
    allocations: 40,
};

pub fn run(data: &[u8]) {
    let (body, problems) = BUDGET.spend(data, || parse(FileId::ALONE, data));
    diagnostics::check(data, &problems);
    check_body(data, &body);
    if let Ok(text) = std::str::from_utf8(data) {
        let _ = template(FileId::ALONE, text, Span::default());
    }
    if problems.is_empty() {
        check_each(data, &body);
        check_longer(data, &body);
        check_edited(data, &body);
    }
}

fn check_body(text: &[u8], body: &Body) {
    let mut behind = body.span.start;
    for item in &body.items {
        let span = span(item);
        diagnostics::check_span(text, span);
        assert!(
            behind <= span.start && span.end <= body.span.end,
            "{item:?} in {:?}",
            body.span
        );
        behind = span.end;
        match item {
            Item::Attribute(attribute) => {
                let (name, value) = (attribute.name.span, attribute.value.span);
                assert!(
                    span.start == name.start && name.end <= value.start,
                    "{attribute:?}"
                );
                assert!(value.end <= span.end, "{attribute:?}");
            }
            Item::Block(block) => {
                let (header, inside) = (block.header, block.body.span);
                assert!(
                    span.start == header.start && header.end <= inside.start,
                    "{block:?}"
                );
                assert!(inside.end <= span.end, "{block:?}");
                check_body(text, &block.body);
            }
        }
    }
}

fn span(item: &Item) -> Span {
    match item {
        Item::Attribute(attribute) => attribute.span,
        Item::Block(block) => block.span,
    }
}

/// Checks that each item alone, at its place, is read as it is beside the others.
fn check_each(text: &[u8], body: &Body) {
    for item in body.items.iter().take(8) {
        let Span { start, end } = span(item);
        let mut alone: Vec<u8> = text
            .iter()
            .enumerate()
            .map(|(at, byte)| {
                // A carriage return alone may stand in a comment, and nowhere else.
                let ends_line = text[at..].starts_with(b"\r\n") || *byte == b'\n';
                if (start..end).contains(&at) || ends_line {
                    *byte
                } else {
                    b' '
                }
            })
            .collect();
        alone.push(b'\n');
        let (only, problems) = parse(FileId::ALONE, &alone);
        assert!(
            problems.is_empty(),
            "{problems:?} in {:?}",
            String::from_utf8_lossy(&alone)
        );
        assert_eq!(
            only.items,
            std::slice::from_ref(item),
            "{:?}",
            String::from_utf8_lossy(&alone)
        );
    }
}

/// Checks that a line more is an item more, and a faulty one takes nothing away.
fn check_longer(text: &[u8], body: &Body) {
    let longer = [text, b"\nzz_more = 1\n"].concat();
    let (read, problems) = parse(FileId::ALONE, &longer);
    assert!(
        problems.is_empty(),
        "{problems:?} in {:?}",
        String::from_utf8_lossy(&longer)
    );
    let (last, others) = read.items.split_last().expect("an item at least");
    assert_eq!(others, body.items);
    assert!(matches!(last, Item::Attribute(more) if more.name.text == "zz_more"));

    let faulty = [text, b"\nzz_more = = 1\n"].concat();
    let (read, problems) = parse(FileId::ALONE, &faulty);
    assert!(!problems.is_empty());
    assert_eq!(
        read.items,
        body.items,
        "{:?}",
        String::from_utf8_lossy(&faulty)
    );
}

/// Checks that an edit of a block changes nothing else, and can be taken back.
fn check_edited(text: &[u8], body: &Body) {
    let Some(block) = body.blocks().next() else {
        return;
    };
    let labels: Vec<&str> = block.labels.iter().map(|label| &*label.text).collect();
    let path = [BlockName {
        kind: &block.kind.text,
        labels: &labels,
    }];
    let mut editor = HclEditor::open(text.to_vec()).expect("there is no problem");
    if let Some(first) = block.body.attributes().next() {
        let span = first.value.span;
        editor
            .set(&path, &first.name.text, "zz")
            .expect("a text may stand where a value does");
        let edited = editor.clone().into_bytes();
        assert!(edited.starts_with(&text[..span.start]));
        assert!(edited.ends_with(&text[span.end..]));
    }
    let Ok(()) = editor.set(&path, "zz_more", true) else {
        return;
    };
    let added = names(editor.block(&path).expect("the block is still there"));
    assert!(editor.remove(&path, "zz_more").expect("it can be removed"));
    let left = names(editor.block(&path).expect("the block is still there"));
    assert_eq!(left, names(block));
    assert_eq!(added.len(), left.len() + 1);
    assert_eq!(
        parse(FileId::ALONE, &editor.into_bytes()).0.items.len(),
        body.items.len(),
        "no other item changed: {:?}",
        String::from_utf8_lossy(text)
    );
}

fn names(block: &Block) -> Vec<String> {
    block
        .body
        .attributes()
        .map(|attribute| attribute.name.text.clone())
        .collect()
}
