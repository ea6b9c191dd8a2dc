mod floods;

use std::collections::BTreeMap;

use super::*;
use crate::diag::{MAX_PROBLEMS, Severity, Texts};
use tree::{ExprKind, Item};

/// Recorded from `terraform fmt -` 1.11.4: line, first title (or `ok`), text with escapes.
const TITLES: &str = include_str!("../../../../../fixtures/hcl/titles.txt");

fn read(bytes: &[u8]) -> (Body, Vec<Diagnostic>, Vec<(usize, String)>) {
    let mut texts = Texts::default();
    let file = texts.add("test.tf", bytes.to_vec());
    let (body, problems) = parse(file, bytes);
    let reported = problems
        .iter()
        .filter(|problem| problem.severity == Severity::Error)
        .map(|problem| {
            let label = problem.primary.as_ref().unwrap();
            let line = texts.position(file, label.span.start).line;
            (line, problem.title.clone())
        })
        .collect();
    (body, problems, reported)
}

/// Reads the escapes of recorded texts.
pub(crate) fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        if *first != b'\\' {
            bytes.push(*first);
            continue;
        }
        rest = &tail[1..];
        bytes.push(match tail[0] {
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'x' => {
                rest = &tail[3..];
                let hex = std::str::from_utf8(&tail[1..3]).unwrap();
                u8::from_str_radix(hex, 16).unwrap()
            }
            other => other,
        });
    }
    bytes
}

/// Rows of the table on which we differ, and why.
const DELIBERATE: [(&str, &str); 3] = [
    (
        "a = b[0\\nc = 1\\n",
        "Terraform points behind the place, at the end of the file",
    ),
    (
        "a = <<E\\nx\\nE",
        "a heredoc that ends the file without a line end is harmless",
    ),
    (
        "b \"x\" {\\n a = [\\n<<<<<<< HEAD\\n \"q\",\\n=======\\n \"r\",\\n>>>>>>> b\\n ]\\n}\\nc\\n",
        "conflict markers have one title wherever they stand",
    ),
];

#[test]
fn first_title_and_line_are_those_of_the_program() {
    let mut wrong = Vec::new();
    let mut rows = 0;
    for row in TITLES.lines() {
        let mut fields = row.splitn(3, '\t');
        let line: usize = fields.next().unwrap().parse().unwrap();
        let title = fields.next().unwrap();
        let text = fields.next().unwrap();
        rows += 1;
        let (_, _, reported) = read(&unescape(text));
        let first = reported
            .first()
            .map(|(line, title)| (*line, title.as_str()));
        let wanted = (title != "ok").then_some((line, title));
        let is_deliberate = DELIBERATE.iter().any(|(known, _)| *known == text);
        if (first != wanted) != is_deliberate {
            wrong.push(format!("{text}: wanted {wanted:?}, reported {reported:?}"));
        }
    }
    assert!(rows > 600, "only {rows} rows");
    assert!(
        wrong.is_empty(),
        "{} of {rows}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// Cases of `parse.json` that are about HCL itself; every other one parses.
const SYNTAX_CASES: [&str; 9] = [
    "conflict_markers",
    "dup_attr",
    "json_syntax",
    "label_interp",
    "not_utf8_string",
    "semicolons",
    "single_quotes",
    "syntax_error",
    "unclosed",
];

#[test]
#[allow(clippy::disallowed_methods, reason = "fixtures lie in files")]
fn recorded_lock_files_have_the_recorded_syntax_errors() {
    let cases = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/cases");
    let text = std::fs::read_to_string(format!("{cases}/parse.json")).unwrap();
    let index: serde_json::Value = serde_json::from_str(&text).unwrap();
    for case in index["cases"].as_array().unwrap() {
        let input = format!("{cases}/{}", case["input"].as_str().unwrap());
        let (_, _, reported) = read(&std::fs::read(&input).unwrap());
        let name = case["id"].as_str().unwrap().trim_start_matches("parse/");
        if !SYNTAX_CASES.contains(&name) {
            assert_eq!(reported, [], "{name}");
            continue;
        }
        let [(line, title)] = reported.as_slice() else {
            panic!("{name}: {reported:?}");
        };
        let recorded = case["diagnostics"].as_array().unwrap();
        let is_recorded = |one: &serde_json::Value| {
            one["summary"] == title.as_str() && one["line"] == serde_json::json!(line)
        };
        assert!(recorded.iter().any(is_recorded), "{name}: {reported:?}");
    }
}

/// Shows what a tree holds, in short.
fn outline(body: &Body) -> String {
    let item = |item: &Item| match item {
        Item::Attribute(attribute) => attribute.name.text.clone(),
        Item::Block(block) => {
            let labels: Vec<&str> = block.labels.iter().map(|l| l.text.as_str()).collect();
            format!("{}{labels:?}({})", block.kind.text, outline(&block.body))
        }
    };
    let items: Vec<String> = body.items.iter().map(item).collect();
    items.join(" ")
}

#[track_caller]
fn check_rest(text: &str, rest: &str, titles: &[&str]) {
    let (body, problems, _) = read(text.as_bytes());
    let reported: Vec<&str> = problems.iter().map(|p| p.title.as_str()).collect();
    assert_eq!(outline(&body), rest, "{text}");
    assert_eq!(reported, titles, "{text}");
}

#[test]
fn a_fault_costs_as_little_as_possible() {
    let invalid = "Invalid expression";
    check_rest("a = 1\nb = \nc = 3\n", "a c", &[invalid]);
    check_rest(
        "b {\n x = 1\n y = \n z = \n}\n",
        "b[](x)",
        &[invalid, invalid],
    );
    check_rest(
        "b {\n c {\n  x = \n }\n y = 1\n}\n",
        "b[](c[]() y)",
        &[invalid],
    );
    check_rest("a = 1; b = 2\nc = 3\n", "a c", &["Invalid character"]);
    check_rest("b { a = 1 }; \nc = 3\n", "b[](a) c", &["Invalid character"]);
    check_rest(
        "b {\n a = 1 }\nc = 1\n",
        "b[](a) c",
        &["Missing newline after argument"],
    );
    check_rest(
        "b {\n a = 1}\nc = 1\n",
        "b[]() c",
        &["Missing newline after argument"],
    );
    check_rest(
        "b {\n c {} }\nd = 1\n",
        "b[](c[]()) d",
        &["Missing newline after block definition"],
    );
    check_rest(
        "b { a = 1, c = 2 }\nd = 1\n",
        "b[]() d",
        &["Invalid single-argument block definition"],
    );
    check_rest("a = 1\na = 2\n", "a", &["Attribute redefined"]);
    check_rest(
        "b {\n a = 1\n a = [\n 2 ]\n c = 3\n}\n",
        "b[](a c)",
        &["Attribute redefined"],
    );
    check_rest(
        "b\n{\n a = 1\n}\nc = 1\n",
        "c",
        &["Argument or block definition required"],
    );
    check_rest(
        "b \"x {\n a = 1\n}\nc = 1\n",
        "c",
        &["Invalid multi-line string"],
    );
}

#[test]
fn nothing_is_read_of_a_block_that_is_never_closed() {
    let unclosed = "Unclosed configuration block";
    let text = "a = 1\nprovider \"a\" {\n x = 1\n\nprovider \"b\" {\n y = 2\n}\nmodule c {\n}\n";
    check_rest(text, "a", &[unclosed]);
    let text = "resource \"a\" \"b\" {\n c {\n  x = \n }\n d {\n";
    check_rest(text, "", &["Invalid expression", unclosed]);
}

#[test]
fn labels_are_decoded_as_far_as_they_can_be_read() {
    check_rest("b \"a\\u00e9\\n\" c {}\n", "b[\"aé\\n\", \"c\"]()", &[]);
    let text = "b \"x${y}z\" {\n a = 1\n}\n";
    check_rest(text, "b[\"x${y}z\"](a)", &["Invalid string literal"]);
    let text = "b \"x${\"}\"}z\" \"\\q\" {\n a = 1\n}\n";
    check_rest(
        text,
        "b[\"x${\\\"}\\\"}z\", \"\\\\q\"](a)",
        &["Invalid string literal", "Invalid escape sequence"],
    );
}

#[test]
fn spans_count_from_the_first_byte_of_the_file() {
    let text = "\u{feff}# é\r\nkind \"l\" name {\r\n  a = [ 1 ] # c\r\n}\r\n";
    let (body, _, reported) = read(text.as_bytes());
    assert_eq!(reported, []);
    let block = body.blocks().next().unwrap();
    let cut = |span: Span| &text[span.start..span.end];
    assert_eq!(cut(block.header), "kind \"l\" name");
    assert_eq!(cut(block.labels[0].span), "\"l\"");
    assert_eq!(cut(block.body.span), "\r\n  a = [ 1 ] # c\r\n");
    let attribute = block.body.attribute("a").unwrap();
    assert_eq!(cut(attribute.span), "a = [ 1 ]");
    assert_eq!(cut(attribute.value.span), "[ 1 ]");
    assert_eq!(body.span, Span::new(0, text.len()));
}

#[test]
fn of_a_conflict_one_side_is_read_and_one_problem_reported() {
    let text = "a = 1\nb {\n<<<<<<< HEAD\n x = 1\n||||||| base\n x = 0\n=======\n x = 2\n y = 3\n>>>>>>> other\n}\n<<<<<<< HEAD\n=======\nc = 1\n>>>>>>> other\nd = \n";
    let (body, problems, reported) = read(text.as_bytes());
    assert_eq!(outline(&body), "a b[](x)");
    assert_eq!(problems[0].code, "conflict-markers");
    assert_eq!(problems[0].related.len(), 6);
    let wanted = [
        (3, "Argument or block definition required"),
        (16, "Invalid expression"),
    ];
    assert_eq!(
        reported
            .iter()
            .map(|(l, t)| (*l, t.as_str()))
            .collect::<Vec<_>>(),
        wanted
    );

    let text = "a = <<E\n<<<<<<< HEAD\nE\n# c\n/*\n>>>>>>> x\n*/\n";
    check_rest(text, "a", &[]);
}

#[test]
fn of_equal_keys_the_last_one_counts() {
    let text = "a = { k = 1, \"q\" = 2,\n  k = 3 # c\n \"q\" = 4, k = 5, \"k\" = 6, n = { k = 7, k = 8 } }\n";
    let (body, problems, reported) = read(text.as_bytes());
    assert_eq!(reported, []);
    assert_eq!(problems.len(), 4);
    assert!(
        problems
            .iter()
            .all(|p| p.code == "duplicate-key" && p.related.len() == 1)
    );
    let Some(tree::ExprKind::Object(items)) = body.attribute("a").map(|a| &a.value.kind) else {
        panic!("{body:?}");
    };
    let values: Vec<&tree::ExprKind> = items.iter().map(|item| &item.value.kind).collect();
    let numbers: Vec<&str> = values
        .iter()
        .filter_map(|kind| match kind {
            tree::ExprKind::Number(number) => Some(number.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(numbers, ["4", "5", "6"]);
}

#[test]
fn bytes_in_the_form_of_utf8_are_replaced_one_by_one() {
    let text = b"a = \"x\xed\xa0\x80\\n\xc0\x80\"\nb \"\xf5\x80\x80\x80\" {\n c = <<E\n\xe0\x80\x80\nE\n}\n\
                 d = \"\xf0\x9f\x98\x80${\"\xc1\xbf\"}\xc1\xbf\"\n";
    let (body, problems, _) = read(text);
    assert!(problems.is_empty(), "{problems:?}");
    let string = |body: &Body, name: &str| match &body.attribute(name).unwrap().value.kind {
        ExprKind::String(text) => text.clone(),
        other => format!("{other:?}"),
    };
    assert_eq!(
        string(&body, "a"),
        "x\u{FFFD}\u{FFFD}\u{FFFD}\n\u{FFFD}\u{FFFD}"
    );
    let block = body.blocks().next().unwrap();
    assert_eq!(block.labels[0].text, "\u{FFFD}".repeat(4));
    assert_eq!(string(&block.body, "c"), "\u{FFFD}\u{FFFD}\u{FFFD}\n");
    let d = string(&body, "d");
    assert_eq!(d.matches('\u{FFFD}').count(), 4, "{d}");
    assert!(d.contains('\u{1F600}'), "{d}");
}

/// Time that grew with the square would be felt here.
#[test]
fn large_objects_are_read() {
    let item = |at: usize| format!("k{at} = {at}\n");
    let items: String = (0..50_000).map(item).collect();
    let (body, problems, _) = read(format!("a = {{\n{items}}}\nb = 1\n").as_bytes());
    assert_eq!((body.items.len(), problems.len()), (2, 0));
}

#[test]
fn deep_nesting_is_an_error_and_no_disaster() {
    let shapes: BTreeMap<&str, (&str, &str)> = BTreeMap::from([
        ("tuple", ("[", "]")),
        ("object", ("{a=", "}")),
        ("key", ("{(", ")=1}")),
        ("paren", ("(", ")")),
        ("call", ("f(", ")")),
        ("index", ("a[", "]")),
        ("not", ("!", "")),
        ("negate", ("-", "")),
        ("both", ("-!", "")),
        ("template", ("\"${", "}\"")),
        ("if", ("\"%{if x}${", "}%{endif}\"")),
        ("directive", ("%{if x}", "%{endif}")),
        ("conditional", ("a ? b : ", "")),
        ("condition", ("(a ? b : ", ")")),
        ("for", ("[for x in y : ", "]")),
        ("chain", ("1 + ", "")),
        ("steps", ("a.b == ", "")),
        ("heredoc", ("<<E\n${", "}\nE\n")),
        ("unclosed comment", ("/* ", "")),
        ("marker", ("\n<<<<<<< ", "")),
    ]);
    for (name, (open, close)) in shapes {
        for depth in [60, 64, 65, 127, 129, 20_000] {
            let inside = match name {
                "directive" => format!("\"{}{}\"", open.repeat(depth), close.repeat(depth)),
                _ => format!("{}1{}", open.repeat(depth), close.repeat(depth)),
            };
            for text in [
                format!("a = {inside}\nb = 1\n"),
                format!("a = {}", open.repeat(depth)),
                format!("a = {}\nb = 1\n", close.repeat(depth)),
            ] {
                let (_, problems, _) = read(text.as_bytes());
                assert!(depth < 20_000 || !problems.is_empty(), "{name} {depth}");
                assert!(problems.len() <= MAX_PROBLEMS);
            }
        }
        let deep = format!("a = {}1{}\nb = 1\n", open.repeat(100), close.repeat(100));
        if matches!(
            name,
            "tuple" | "object" | "paren" | "not" | "template" | "for" | "condition"
        ) {
            check_rest(&deep, "b", &["Nested too deep"]);
        }
    }
    let blocks = format!("{}{}c = 1\n", "b {\n".repeat(20_000), "}\n".repeat(20_000));
    let (body, problems, _) = read(blocks.as_bytes());
    assert_eq!((body.items.len(), problems.len()), (2, 1));
    assert_eq!(problems[0].code, "nested-too-deep");
    let (_, problems, _) = read("b {\n".repeat(20_000).as_bytes());
    assert_eq!(problems[0].code, "nested-too-deep");
}

#[test]
fn comments_that_are_never_closed_are_searched_once() {
    // With a search for each of them this takes an hour.
    let (_, problems, _) = read(format!("a = {}\n", "/* ".repeat(200_000)).as_bytes());
    assert!(!problems.is_empty());
}

#[test]
fn operators_in_a_row_add_up_over_levels() {
    let chain = |inner: &str| format!("({inner}{})", " + 1".repeat(100));
    let text = format!("a = {}\nb = 1\n", chain(&chain("1")));
    check_rest(&text, "b", &["Nested too deep"]);
    check_rest(&format!("a = [{0}, {0}]\n", chain("1")), "a", &[]);
}

#[test]
fn operators_bind_as_in_the_programs() {
    for (text, wanted) in [
        ("a - b - c", "((a Subtract b) Subtract c)"),
        ("a + b * c - d", "((a Add (b Multiply c)) Subtract d)"),
        ("a || b && c == d", "(a Or (b And (c Equal d)))"),
        (
            "-a < !b + c ? d : e",
            "(((Negate a) Less ((Not b) Add c)) ? d : e)",
        ),
    ] {
        let (body, _, _) = read(format!("a = {text}\n").as_bytes());
        assert_eq!(bracketed(&body.attribute("a").unwrap().value), wanted);
    }
}

fn bracketed(value: &Expr) -> String {
    match &value.kind {
        ExprKind::Variable(name) => name.clone(),
        ExprKind::Unary(operator, inner) => format!("({operator:?} {})", bracketed(inner)),
        ExprKind::Conditional(parts) => format!(
            "({} ? {} : {})",
            bracketed(&parts.condition),
            bracketed(&parts.then),
            bracketed(&parts.otherwise)
        ),
        ExprKind::Binary(operator, sides) => format!(
            "({} {operator:?} {})",
            bracketed(&sides.0),
            bracketed(&sides.1)
        ),
        other => panic!("{other:?}"),
    }
}

#[test]
fn numbers_and_line_ends_are_read_as_by_the_programs() {
    check_rest(
        "a = 1e400\nb = 1.e5\nc = 340282366920938463463374607431768211456\n",
        "a b c",
        &[],
    );
    check_rest(
        "a = { for k, v in x :\n k => v +\n 1 # c\n if v ==\n 2 }\n",
        "a",
        &[],
    );
    check_rest("a = { null = 1, true = 2 }\n", "a", &[]);
    let (body, _, _) = read(b"a = -1.50\n");
    let value = &body.attribute("a").unwrap().value;
    let tree::ExprKind::Unary(tree::UnaryOp::Negate, operand) = &value.kind else {
        panic!("{value:?}");
    };
    assert_eq!(operand.kind, tree::ExprKind::Number("1.50".to_owned()));
    assert_eq!(
        (value.span, operand.span),
        (Span::new(4, 9), Span::new(5, 9))
    );
}

#[test]
fn a_heredoc_ends_where_its_marker_is_alone_on_the_line() {
    // Each was a value of Terraform 1.11.4 and OpenTofu 1.12.6.
    const TAILS: [&str; 18] = [
        "EOF\"",
        "EOF)",
        "EOF,",
        "EOF]",
        "EOF}",
        "EOF # x",
        "EOF // x",
        "EOF bar",
        "EOF = 1",
        "EOFX",
        "EOF-",
        "EOF.",
        "EOF\"\r",
        "  EOF)",
        "\tEOF \"",
        "\u{a0}EOF\"",
        "EOF EOF",
        "<<EOF",
    ];
    const ENDS: [&str; 6] = [
        "EOF",
        "  EOF",
        "EOF \t",
        "EOF\r",
        "\u{a0}EOF\u{a0}",
        "\u{c}EOF\u{b}",
    ];
    for tail in TAILS {
        for (open, end) in ["<<EOF", "<<-EOF"]
            .into_iter()
            .flat_map(|open| ENDS.map(|end| (open, end)))
        {
            let text = format!("a = {open}\n{tail}\nfoo\n{tail}\n{end}\nb = 1\n");
            let (body, _, reported) = read(text.as_bytes());
            assert_eq!(reported, [], "{text:?}");
            assert!(body.attribute("b").is_some(), "{text:?}");
            let value = &body.attribute("a").unwrap().value.kind;
            // "foo" keeps the common indent at nothing.
            let wanted = ExprKind::String(format!("{tail}\nfoo\n{tail}\n"));
            assert_eq!(*value, wanted, "{text:?}");
        }
    }
    // A sequence directly behind the marker, one that begins the line, and a heredoc in a heredoc.
    for text in [
        "a = <<E\nE${b}\nE\n",
        "a = <<E\n${b}E\nE\n",
        "a = <<E\nE$${b}\nE\n",
        "a = <<E\n%{if b}\nE)\n%{endif}\nE\n",
        "a = <<E\nE\"\n${f(<<F\nE\nF)\nF\n)}\nE)\nE\n",
        "a = [<<E\nE)\nE\n]\n",
        "b {\n a = f(<<E\nE)\nE\n, 1)\n}\n",
    ] {
        let (body, _, reported) = read(text.as_bytes());
        assert_eq!((body.items.len(), reported), (1, Vec::new()), "{text:?}");
    }
}

#[test]
fn an_encrypted_file_has_one_problem_with_the_command() {
    let (body, problems, _) = read(b"\0GITCRYPT\0\x8f\x11\"{\n");
    assert!(body.items.is_empty());
    let [problem] = &*problems else {
        panic!("{problems:?}");
    };
    assert_eq!(problem.title, "File is encrypted by git-crypt");
    let help = problem.help.as_ref().unwrap().to_string();
    assert_eq!(help, "run `git-crypt unlock`");
}
