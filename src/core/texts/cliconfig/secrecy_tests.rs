//! What is shown of a file, and what stays secret.

use super::tests::{Run, TERRAFORM, one};
use super::tree;

/// Everything that could reach a terminal.
pub(super) fn everything_shown(run: &Run) -> String {
    let texts = run.found.iter().filter_map(|problem| {
        let file = problem.primary.as_ref()?.file;
        Some(String::from_utf8_lossy(run.texts.bytes(file)).into_owned())
    });
    let texts: String = texts.collect();
    format!("{:?} {:?} {:?} {texts}", run.config, run.found, run.texts)
}

#[test]
fn what_is_never_closed_is_marked() {
    let rows = [
        ("\nhost \"a\" {\n", "this is never closed", "host \"a\" {"),
        (
            "host \"a\" {\n  services = {\n",
            "this is never closed",
            "services = {",
        ),
        ("secret = [\n", "this is never closed", "secret = ["),
        ("a = ", "the file ends where a value is expected", ""),
        ("a", "the file ends where `=` or `{` is expected", ""),
        ("}", "nothing is open that this could close", "}"),
        ("{\"a\": {", "the file ends before this is closed", "{"),
        (
            "{\"a",
            "a string ends on its line; write \\n and \\t inside",
            "\"a",
        ),
    ];
    for (text, note, marked) in rows {
        let run = one(TERRAFORM, text);
        let problem = &run.found[0];
        let place = problem.primary.as_ref().expect("a place");
        assert_eq!(place.note, note, "{text:?}");
        assert_eq!(&text[place.span.start..place.span.end], marked, "{text:?}");
        let help = problem.help.as_ref().expect("help").text.as_str();
        assert!(help.contains("Terraform ignores"), "{help}");
    }
}

#[test]
fn names_are_shown_and_values_are_not() {
    let shown = |text: &str| String::from_utf8(tree::parse(text.as_bytes()).shown).expect("text");
    assert_eq!(
        shown("host \"h.x\" { services { \"providers.v1\" = 5, x = \"/v1\" } }"),
        "host \"h.x\" { services { \"providers.v1\" = *, x = \"***\" } }"
    );
    assert_eq!(
        shown("credentials \"h.x\" {\n  tokn = \"abc\"\n}\nbananas \"x\" { y = 1 }"),
        "credentials \"h.x\" {\n  tokn = \"***\"\n}\nbananas \"*\" { * = * }"
    );
    assert_eq!(
        shown("{\"credentials\": {\"h\": {\"token\": \"abc\", \"x\": [{\"y\": 1}]}}}"),
        "{\"credentials\": {\"h\": {\"token\": \"***\", \"x\": [{\"*\": *}]}}}"
    );
    // Punctuation within quotes may be a part of a password.
    assert_eq!(
        shown("credentials \"h\" { token = \"{a:\\\"=\" }"),
        "credentials \"h\" { token = \"******\" }"
    );
    assert_eq!(shown("{\"x\": \"[,\"}"), "{\"x\": \"**\"}");
    // No word is shown where something is broken.
    assert_eq!(
        shown("credentials \"h.x\" {\n  token = \"abc\"\n  def==\"\n}"),
        "*********** \"***\" {\n  ***** = \"***\"\n  ***==\"\n}"
    );
}

#[test]
fn no_password_reaches_the_debug_form() {
    let text = "host \"h\" { services { \"providers.v1\" = \"https://u:hunter2@h/\" } }\n\
                credentials \"h\" { token = \"hunter2\" }";
    let config = one(TERRAFORM, text).config;
    let shown = format!("{config:?} {config:#?}");
    assert!(shown.contains("providers.v1"), "{shown}");
    assert!(!shown.contains("hunter2"), "{shown}");
}

#[test]
fn no_token_reaches_an_error_or_a_text() {
    const SECRET: &str = "s3cr3t";
    let broken = [
        "credentials \"h\" { token = \"@\" \"x\" }",
        "credentials \"h\" { token = \"@ }",
        "credentials \"h\" { token = @ } }",
        "credentials \"h\" { token = @+@== }",
        "credentials \"h\" {\n token =\n @\n @\n}",
        "credentials \"h\" {\n token @\n}",
        "credentials \"h\" {\n token = 12@= \n}",
        "credentials \"h\" {\n token = \"x\n@==\n}",
        "credentials \"h\" {\n # token = \"@\"\n bad = 1 } x",
        "credentials \"h\" {\n token = <<E\n@\nE\n nope = 1\n}",
        "credentials \"h\" {\n token = [\"@\"]\n}",
        "credentials \"h\" {\n token = \"a\" @\n}",
        "credentials \"h\" {\n token = \"\\q@\"\n}",
        "credentials \"h\" {\n token = @\n}",
        "{\"credentials\":{\"h\":{\"token\":\"@\"}} \"x\"}",
        "{\"credentials\":{\"h\":{\"token\":@}}}",
        "{\"credentials\":{\"h\":{\"token\":\"@}}}",
        "{\"credentials\":{\"h\":{\"token\":\"\\q@\"}}}",
        "{\"credentials\":{\"h\":{\"token\":[\"@\"]}}}",
        "credentials \"h\" { token = \"@\" }\nbananas {}",
        "credentials \"h\" {\n token = \"x\"\n@==\n}",
        "credentials \"h\" {\n token = \"x\"\n@=\"x\"\n",
        "credentials \"h\" {\n token = \"x\"\n@ {\n",
        "credentials \"h\" { token \"@\" {} }\nbananas {}",
        "credentials \"h\" { token = { \"@\" = 1 } }",
        "credentials \"h\" { token { @ = 1 } }",
        "host \"h\" { services = { \"providers.v1\" = \"https://u:@@[\" } }",
        "host \"h\" { services = { \"providers.v1\" = \"@:x\" } }",
        "host \"h\" { services = { \"providers.v1\" = [\"@\"] } }",
        "{\"credentials\":{\"h\":{\"token\":{\"@\":1}}}}",
    ];
    for text in broken {
        let run = one(TERRAFORM, &text.replace('@', SECRET));
        assert!(!run.found.is_empty(), "{text}");
        let shown = everything_shown(&run);
        assert!(!shown.contains(SECRET), "{text}: {shown}");
        // `Texts` prints its bytes as numbers.
        let numbers = format!("{:?}", SECRET.as_bytes());
        assert!(!shown.contains(numbers.trim_matches(['[', ']'])), "{text}");
    }
}

#[test]
fn texts_keep_their_offsets_and_their_outline() {
    let text = "credentials \"hé\" {\n  token = \"abc\" # x\n}\nbananas {}\n";
    let run = one(TERRAFORM, text);
    let file = run.found[0].primary.as_ref().expect("a place").file;
    let shown = std::str::from_utf8(run.texts.bytes(file)).expect("text");
    let want = "credentials \"hé\" {\n  token = \"***\" * *\n}\nbananas {}\n";
    assert_eq!(shown, want);
    assert_eq!(run.problems(text), ["error unsupported-item @bananas"]);
}
