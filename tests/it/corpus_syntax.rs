//! The files of the corpus: all parse, all spans fit, and damage stays where it was done.

#![allow(
    clippy::print_stdout,
    reason = "a test tells what it counted or skipped"
)]

use std::collections::BTreeMap;
use std::path::PathBuf;

use lockctl::diag::{Diagnostic, FileId, Severity, Span, Texts};
use lockctl::hcl;
use lockctl::hcl::tree::{Attribute, Block, Body, Expr, ExprKind, Item, ObjectKey, Step};

use crate::corpus;

/// Collects files below a folder of the corpus by the ends of their names, sorted.
fn files(folder: &str, ends: &[&str]) -> Vec<PathBuf> {
    let mut open = corpus::folders(folder);
    let mut found = Vec::new();
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path.to_string_lossy().into_owned();
            if path.is_dir() {
                open.push(path);
            } else if ends.iter().any(|end| name.ends_with(end)) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn configurations() -> Vec<PathBuf> {
    files("configs", &[".tf", ".tofu", ".hcl"])
}

fn locks() -> Vec<PathBuf> {
    files("locks", &[".hcl"])
}

fn parse(bytes: &[u8]) -> (Body, Vec<Diagnostic>) {
    hcl::parse(file_id(), bytes)
}

fn file_id() -> FileId {
    Texts::default().add("test", Vec::new())
}

fn errors(problems: &[Diagnostic]) -> usize {
    let errors = problems.iter().filter(|p| p.severity == Severity::Error);
    errors.count()
}

#[test]
fn configurations_parse() {
    let mut notes = Vec::new();
    let files = configurations();
    for path in &files {
        let (body, problems) = parse(&std::fs::read(path).unwrap());
        assert_eq!(errors(&problems), 0, "{}: {problems:?}", path.display());
        notes.extend(problems.iter().map(|note| (path, note.code)));
        assert!(
            body.items
                .windows(2)
                .all(|pair| span(&pair[0]).end <= span(&pair[1]).start)
        );
    }
    println!("{} configuration files, notes: {notes:?}", files.len());
    assert!(notes.iter().all(|(_, code)| *code == "duplicate-key"));
}

#[test]
fn lock_files_parse_where_terraform_can() {
    let parts = corpus::parts("locks", "index.tsv");
    let rows = parts.iter().flat_map(|part| &part.rows);
    // Of syntax errors the corpus has only this title.
    let title = "Argument or block definition required";
    let refused = rows.filter(|row| row.get("terraform_1_11_4").contains(title));
    let refused: Vec<&str> = refused.map(|row| row.get("file")).collect();
    assert!(!refused.is_empty());
    let files = locks();
    for path in &files {
        let (_, problems) = parse(&std::fs::read(path).unwrap());
        let name = path.file_name().unwrap().to_str().unwrap();
        let is_refused = refused.contains(&name);
        assert_eq!(!problems.is_empty(), is_refused, "{name}: {problems:?}");
        if is_refused {
            assert_eq!(problems[0].title, title);
            assert_eq!(errors(&problems), 1, "{name}: {problems:?}");
        }
    }
    println!(
        "{} lock files, {} with syntax errors",
        files.len(),
        refused.len()
    );
}

#[test]
fn spans_cut_out_what_they_stand_for() {
    let mut counts = BTreeMap::new();
    for path in configurations().iter().chain(&locks()) {
        let bytes = std::fs::read(path).unwrap();
        let (body, _) = parse(&bytes);
        check_body(&bytes, &body, &mut counts);
    }
    println!("spans: {counts:?}");
}

type Counts = BTreeMap<&'static str, usize>;

fn cut(bytes: &[u8], span: Span) -> String {
    String::from_utf8_lossy(&bytes[span.start..span.end]).into_owned()
}

fn span(item: &Item) -> Span {
    match item {
        Item::Attribute(attribute) => attribute.span,
        Item::Block(block) => block.span,
    }
}

fn check_body(bytes: &[u8], body: &Body, counts: &mut Counts) {
    for item in &body.items {
        match item {
            Item::Attribute(attribute) => check_attribute(bytes, attribute, counts),
            Item::Block(block) => check_block(bytes, block, counts),
        }
    }
}

fn check_attribute(bytes: &[u8], attribute: &Attribute, counts: &mut Counts) {
    *counts.entry("attribute").or_default() += 1;
    assert_eq!(cut(bytes, attribute.name.span), attribute.name.text);
    assert_eq!(attribute.span.start, attribute.name.span.start);
    assert_eq!(attribute.span.end, attribute.value.span.end);
    check_expr(bytes, &attribute.value, counts);
}

fn check_block(bytes: &[u8], block: &Block, counts: &mut Counts) {
    *counts.entry("block").or_default() += 1;
    assert_eq!(cut(bytes, block.kind.span), block.kind.text);
    for label in &block.labels {
        let text = cut(bytes, label.span);
        assert!(
            text == label.text || text == format!("\"{}\"", label.text),
            "{text}"
        );
    }
    assert_eq!(
        &bytes[block.body.span.start - 1..block.body.span.start],
        b"{"
    );
    assert_eq!(&bytes[block.body.span.end..=block.body.span.end], b"}");
    assert_eq!(block.span.end, block.body.span.end + 1);
    assert_eq!(block.span.start, block.header.start);
    check_body(bytes, &block.body, counts);
}

fn check_expr(bytes: &[u8], expr: &Expr, counts: &mut Counts) {
    let text = cut(bytes, expr.span);
    assert_eq!(text.trim(), text);
    let ends = |open: &str, close: &str| text.starts_with(open) && text.ends_with(close);
    *counts.entry("expression").or_default() += 1;
    let mut children: Vec<&Expr> = Vec::new();
    match &expr.kind {
        ExprKind::Null => assert_eq!(text, "null"),
        ExprKind::Bool(value) => assert_eq!(text, value.to_string()),
        ExprKind::Number(number) => assert_eq!(text, *number),
        ExprKind::String(_) | ExprKind::Template(_) => {
            assert!(ends("\"", "\"") || text.starts_with("<<"), "{text}");
        }
        ExprKind::Tuple(items) => {
            assert!(ends("[", "]"), "{text}");
            children.extend(items);
        }
        ExprKind::Object(items) => {
            assert!(ends("{", "}"), "{text}");
            for item in items {
                match &item.key {
                    ObjectKey::Name(name) => assert_eq!(cut(bytes, name.span), name.text),
                    ObjectKey::Expr(key) => children.push(key),
                }
                children.push(&item.value);
            }
        }
        ExprKind::Paren(inner) => {
            assert!(ends("(", ")"), "{text}");
            children.push(inner);
        }
        ExprKind::Variable(name) => assert_eq!(text, *name),
        ExprKind::Traversal(base, steps) => {
            children.push(base);
            for step in steps {
                match step {
                    Step::Attr(name) => assert_eq!(cut(bytes, name.span), name.text),
                    Step::Index(index) => children.push(index),
                    Step::AttrSplat | Step::FullSplat => {}
                }
            }
        }
        ExprKind::Call(call) => {
            assert_eq!(cut(bytes, call.name.span), call.name.text);
            assert!(text.ends_with(')'), "{text}");
            children.extend(&call.args);
        }
        ExprKind::Conditional(choice) => {
            children.extend([&choice.condition, &choice.then, &choice.otherwise]);
        }
        ExprKind::Unary(_, operand) => children.push(operand),
        ExprKind::Binary(_, operands) => children.extend([&operands.0, &operands.1]),
        ExprKind::For(_) => assert!(ends("[", "]") || ends("{", "}"), "{text}"),
    }
    for child in children {
        assert!(expr.span.start <= child.span.start && child.span.end <= expr.span.end);
        check_expr(bytes, child, counts);
    }
}

/// Of the damaged texts, every so many-th is parsed; all of them take half a minute.
const SAMPLE: usize = 11;

/// One way to damage a block that begins and ends at given offsets.
type Damage = (&'static str, fn(&mut Vec<u8>, &Block) -> Option<()>);

/// Each makes exactly one problem, wherever the first argument of a block has a plain value.
const DAMAGES: [Damage; 4] = [
    ("no `=`", |bytes, block| {
        // Without `=` an object would make a block.
        let is_object = |a: &Attribute| bytes[a.value.span.start] == b'{';
        let first = block.body.attributes().find(|a| !is_object(a))?;
        let gap = first.name.span.end..first.value.span.start;
        let equal = gap.start + bytes[gap].iter().position(|b| *b == b'=')?;
        bytes[equal] = b' ';
        Some(())
    }),
    ("bad token", |bytes, block| {
        let first = block.body.attributes().next()?;
        let at = first.value.span.start;
        bytes.splice(at..at, *b"@ ");
        Some(())
    }),
    ("unclosed string", |bytes, block| {
        let is_plain = |a: &&Attribute| matches!(&a.value.kind, ExprKind::String(_));
        let first = block.body.attributes().find(is_plain)?;
        let quote = first.value.span.end - 1;
        (bytes[quote] == b'"').then(|| bytes[quote] = b' ')
    }),
    ("stray brace", |bytes, block| {
        bytes.splice(block.span.end..block.span.end, *b"\n}");
        Some(())
    }),
];

#[test]
fn damage_stays_in_its_block() {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut number = 0;
    for path in configurations().iter().chain(&locks()) {
        let bytes = std::fs::read(path).unwrap();
        let (body, problems) = parse(&bytes);
        if body.items.len() < 3 || !problems.is_empty() {
            continue;
        }
        for (at, item) in body.items.iter().enumerate() {
            let Item::Block(block) = item else { continue };
            // A block on one line or with indented neighbours has no line start to recover at.
            let is_usual = bytes[block.body.span.start..].starts_with(b"\n");
            for (name, damage) in DAMAGES.iter().filter(|_| is_usual) {
                number += 1;
                let mut damaged = bytes.clone();
                if number % SAMPLE > 0 {
                    continue;
                }
                if damage(&mut damaged, block).is_none() {
                    continue;
                }
                *counts.entry(name).or_default() += 1;
                let context = || format!("{name} in item {at} of {}", path.display());
                let (found, problems) = parse(&damaged);
                assert_eq!(errors(&problems), 1, "{}: {problems:?}", context());
                let others = without(&body, at);
                let found = headers(&found);
                assert!(is_subsequence(&others, &found), "{}: {found:?}", context());
            }
        }
    }
    println!("damaged: {counts:?}");
}

fn headers(body: &Body) -> Vec<String> {
    let header = |item: &Item| match item {
        Item::Attribute(attribute) => format!("{} {:?}", attribute.name.text, attribute.value.kind),
        Item::Block(block) => {
            let labels: Vec<&str> = block.labels.iter().map(|l| l.text.as_str()).collect();
            let items = block.body.items.len();
            format!("{} {labels:?} {items}", block.kind.text)
        }
    };
    body.items.iter().map(header).collect()
}

fn without(body: &Body, at: usize) -> Vec<String> {
    let mut headers = headers(body);
    headers.remove(at);
    headers
}

fn is_subsequence(part: &[String], whole: &[String]) -> bool {
    let mut whole = whole.iter();
    part.iter().all(|header| whole.any(|other| other == header))
}

#[test]
fn neither_truncation_nor_flipped_bytes_panic() {
    let sample = include_bytes!("../../fixtures/cases/parse/comments.in.hcl");
    let nasty = b"a = \"${x}$${y}%{ if a ~} b%{ endif }\"\r\nb \"l\" c { d = [1, { e : -2 }] }\nf = <<-E\n  x ${g(h...)}\n  E\n";
    let mut runs = 0;
    for bytes in [&sample[..], &nasty[..]] {
        for end in 0..=bytes.len() {
            parse(&bytes[..end]);
            for with in [0, b'"', b'{', b'}', b'\n', b'$', b'%', 0xFF, 0xE2] {
                let mut flipped = bytes.to_vec();
                flipped.splice(end.min(bytes.len() - 1)..=end.min(bytes.len() - 1), [with]);
                parse(&flipped);
                runs += 2;
            }
        }
    }
    println!("{runs} damaged texts");
}
