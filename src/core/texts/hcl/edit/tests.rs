use proptest::prelude::*;

use super::*;

const TRUST: BlockName<'_> = BlockName {
    kind: "trust",
    labels: &[],
};

fn provider<'a>(labels: &'a [&'a str]) -> BlockName<'a> {
    BlockName {
        kind: "provider",
        labels,
    }
}

#[track_caller]
fn check(text: &str, edit: impl Fn(&mut HclEditor) -> Result<(), EditError>, wanted: &str) {
    for line_end in ["\n", "\r\n"] {
        for mark in ["", "\u{feff}"] {
            let given = format!("{mark}{}", text.replace('\n', line_end));
            let mut editor = HclEditor::open(given.into_bytes()).expect("sound");
            edit(&mut editor).expect("edited");
            let edited = String::from_utf8(editor.into_bytes()).expect("text");
            let has_lines = text.contains('\n');
            let line_end = if has_lines { line_end } else { "\n" };
            assert_eq!(edited, format!("{mark}{}", wanted.replace('\n', line_end)));
        }
    }
}

#[test]
fn a_value_is_replaced_where_it_is() {
    let set = |editor: &mut HclEditor| editor.set(&[TRUST], "h1", "a ${b} \"c\"");
    let value = r#""a $${b} \"c\"""#;
    check(
        "# top\ntrust {\n  h1   = \"x\" # why\n\tb = 1\n}\n# end",
        set,
        &format!("# top\ntrust {{\n  h1   = {value} # why\n\tb = 1\n}}\n# end"),
    );
    check(
        "trust {\n  h1 = <<E\nx\nE\n}\n",
        |editor| editor.set(&[TRUST], "h1", true),
        "trust {\n  h1 = true\n}\n",
    );
    check(
        "a = (1 # c\n + 2)\nb =\t\"\\u0041\"\n",
        |editor| editor.set(&[], "b", vec!["x", "y"]),
        "a = (1 # c\n + 2)\nb =\t[\"x\", \"y\"]\n",
    );
}

#[test]
fn an_argument_is_added_at_the_end_of_its_block() {
    let set = |editor: &mut HclEditor| editor.set(&[TRUST], "b", false);
    check("trust {\n}\n", set, "trust {\n  b = false\n}\n");
    check("trust {}", set, "trust {\n  b = false\n}");
    check(
        "trust { a = 1 } # x\n",
        set,
        "trust {\n  a = 1\n  b = false\n} # x\n",
    );
    check(
        "trust { /* x */ }\n",
        set,
        "trust {\n  /* x */\n  b = false\n}\n",
    );
    check(
        "trust {\n\taaa = 1 /* x\n y */ # }\n\t# end\n}\n",
        set,
        "trust {\n\taaa = 1 /* x\n y */ # }\n\t# end\n\tb   = false\n}\n",
    );
    check("", set, "trust {\n  b = false\n}\n");
    check("x = 1", set, "x = 1\n\ntrust {\n  b = false\n}\n");
    check(
        "x {\n  y {\n    z = 1\n }\n}\n",
        |editor| {
            let y = BlockName {
                kind: "y",
                labels: &[],
            };
            editor.set(&[BlockName { kind: "x", ..y }, y], "b", 2)
        },
        "x {\n  y {\n    z = 1\n    b = 2\n }\n}\n",
    );
    check(
        "policy {\n  a = 1\n}\n",
        |editor| {
            let policy = BlockName {
                kind: "policy",
                labels: &[],
            };
            editor.set(&[policy, provider(&["a/b"])], "key_id", "c")
        },
        "policy {\n  a = 1\n\n  provider \"a/b\" {\n    key_id = \"c\"\n  }\n}\n",
    );
}

#[test]
fn an_argument_is_removed_with_its_line() {
    let remove = |editor: &mut HclEditor| editor.remove(&[TRUST], "a").map(drop);
    check(
        "trust {\n  a = [ # x\n1]  # y\n  b = 1\n}\n",
        remove,
        "trust {\n  b = 1\n}\n",
    );
    check("trust { a = 1 }\n", remove, "trust {  }\n");
    check("trust {\n  a = <<E\nE\n}\n", remove, "trust {\n}\n");
    check("trust {\n  b = 1\n}\n", remove, "trust {\n  b = 1\n}\n");
}

#[test]
fn a_faulty_text_is_refused_and_kept() {
    assert!(HclEditor::open(b"a = \n".to_vec()).is_err());
    let mut editor = HclEditor::open(b"a = 1\n".to_vec()).expect("sound");
    assert!(editor.set(&[], "b c", 1).is_err());
    assert_eq!(editor.into_bytes(), b"a = 1\n");
}

proptest! {
    // Every text between the edited tokens is a comment, white space or another item: all of it stays.
    #[test]
    fn all_other_bytes_stay(
        before in "(# [a-z]{0,5}\n|x[a-z]{1,3} = \\[ ?\"é\" ?\\]\n|\n| {0,3}k \"l\" \\{\\}\n){0,4}",
        inside in "( {0,3}(# [a-z]\\{\n|y[a-z]{1,3} += 1 /\\* [a-z]\n \\*/\n|\n)){0,4}",
        behind in "(# [a-z]{0,5}|z[a-z]{1,3} = 2 // x)?",
        old in "[ a-z~>.0-9,]{0,12}",
        new in "[ a-z~>.0-9,$\\{\"\\\\é]{0,12}",
    ) {
        let around = |value: &str| format!("{before}t {{\n{inside}  v = {value} # c\n}}\n{behind}");
        let name = BlockName { kind: "t", labels: &[] };
        let given = around(&Expression::from(&*old).to_string());
        // Names may repeat, which is an error of what reads the file, not of its syntax.
        if let Ok(mut editor) = HclEditor::open(given.clone().into_bytes()) {
            editor.set(&[name], "v", &*new).expect("edited");
            let wanted = around(&Expression::from(&*new).to_string());
            prop_assert_eq!(&*editor.bytes, wanted.as_bytes());
            let value = &editor.block(&[name]).expect("a block").body.attribute("v").expect("a value").value;
            prop_assert_eq!(&value.kind, &ExprKind::String(new));
            editor.set(&[name], "w", 7).expect("added");
            prop_assert!(editor.remove(&[name], "w").expect("removed"));
            prop_assert_eq!(&*editor.bytes, wanted.as_bytes());
        }
    }
}
