use super::*;
use crate::diag::{Diagnostic, Texts};
use crate::hcl;

/// Recorded from outputs of Terraform 1.11.4: expression with escapes, value as JSON.
const VALUES: &str = include_str!("../../../../fixtures/expr/values.txt");

/// Recorded from lock files with Terraform 1.11.4: expression with escapes, titles of the errors
/// that evaluation gives, sorted. No title where it evaluates.
const ERRORS: &str = include_str!("../../../../fixtures/expr/errors.txt");

fn evaluate(expression: &str) -> Result<Value, Vec<Diagnostic>> {
    let text = format!("a = {expression}\n");
    let file = Texts::default().add("test", text.clone().into_bytes());
    let (body, problems) = hcl::parse(file, text.as_bytes());
    let is_note = |problem: &Diagnostic| problem.code == "duplicate-key";
    assert!(problems.iter().all(is_note), "{expression}: {problems:?}");
    let value = constant(file, &body.attribute("a").unwrap().value);
    value.map_err(|error| error.into_iter().collect())
}

pub(super) fn unescape(text: &str) -> String {
    String::from_utf8(hcl::tests::unescape(text)).unwrap()
}

pub(super) fn json(value: &Value) -> String {
    let text = |text: &str| serde_json::to_string(text).unwrap();
    match value {
        Value::Null => "null".to_owned(),
        Value::Unknown => "unknown".to_owned(),
        Value::Marked(_, value) => json(value),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(value) => text(value),
        Value::Tuple(items) => {
            let items: Vec<String> = items.iter().map(json).collect();
            format!("[{}]", items.join(","))
        }
        Value::Object(items) => {
            let item = |(key, value): (&String, &Value)| format!("{}:{}", text(key), json(value));
            let items: Vec<String> = items.iter().map(item).collect();
            format!("{{{}}}", items.join(","))
        }
    }
}

#[test]
fn values_are_those_of_the_program() {
    let mut wrong = Vec::new();
    let mut uncertain = Vec::new();
    for row in VALUES.lines() {
        let (expression, wanted) = row.split_once('\t').unwrap();
        let (expression, wanted) = (unescape(expression), unescape(wanted));
        match evaluate(&expression) {
            Ok(value) if json(&value) == wanted => {}
            Ok(value) => wrong.push(format!("{expression}: {} for {wanted}", json(&value))),
            Err(problems) => {
                if problems
                    .iter()
                    .all(|problem| problem.code == "not-constant")
                {
                    uncertain.push(expression);
                } else {
                    wrong.push(format!("{expression}: {problems:?} for {wanted}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // Zeros with a sign, rounding, more than 38 digits, and brackets behind `.*`.
    let refused = [
        "-0",
        "-0.0",
        "0 * -1",
        "1.1 + 2.2",
        "0.1 + 0.2",
        "1/3",
        "2.5 % 0.7",
        "2 * 0.1",
        "0.1 * 10",
        "\"${-0}\"",
        "[{a=[1,3]},{a=[2,4]}].*.a[0]",
        "0.3 == 0.1 + 0.2",
        "1/3*3",
        "1/3 == 1/3",
        "999999999999999999999999999999999999999 + 1",
        "340282366920938463463374607431768211455 + 1",
        "100 / 3 * 3",
        "1e-5 + 0",
        "0.1 - 0.1",
        "0.1 % 0.1",
        "0 * 0.1",
        "0.1 + 0",
        "0.1 * 1",
        "0.1 / 1",
    ];
    assert_eq!(uncertain, refused);
}

#[test]
fn titles_are_those_of_the_program() {
    let mut wrong = Vec::new();
    let mut uncertain = Vec::new();
    for row in ERRORS.lines() {
        let (expression, wanted) = row.split_once('\t').unwrap();
        let expression = unescape(expression);
        let mut titles: Vec<String> = match evaluate(&expression) {
            Ok(_) => Vec::new(),
            Err(problems) => problems.into_iter().map(|problem| problem.title).collect(),
        };
        titles.sort();
        let titles = titles.join("; ");
        if titles == "Expression cannot be evaluated here" {
            uncertain.push(expression);
        } else if titles != wanted {
            wrong.push(format!("{expression}: {titles:?} for {wanted:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // Infinity, conversions between collections, splats that can be read in two ways.
    let refused = [
        "[{a=\"1.0.0\"}].*.a[0]",
        "true || null",
        "1 / 0",
        "1 % 0",
        "-1 / 0",
        "1e99999",
        "\"Inf\" + 1",
        "[1][*][*]",
        "[[1]].*.0",
        "null && true",
    ];
    assert_eq!(uncertain, refused);
}

#[track_caller]
fn check_text(expression: &str, text: Option<&str>) {
    let value = evaluate(expression).unwrap();
    assert_eq!(value.to_text().as_deref(), text, "{expression}");
}

#[test]
fn text_is_what_the_language_makes_of_a_value() {
    check_text("3.20", Some("3.2"));
    check_text("1e3", Some("1000"));
    check_text("-0.050", Some("-0.05"));
    check_text("true", Some("true"));
    check_text("\"a\"", Some("a"));
    check_text("null", None);
    check_text("[1]", None);
    check_text("{}", None);
}

#[test]
fn numbers_at_the_edge_are_refused_or_right() {
    for text in [
        "",
        "-",
        "1e",
        "e1",
        ".5",
        "1.2.3",
        "--1",
        "1e-2147483648",
        "1e2147483647",
    ] {
        assert_eq!(Number::parse(text), None, "{text}");
    }
    let order = [
        "-1e9", "-2", "-1.5", "0", "1e-9", "0.5", "1", "1.5", "2", "10", "1e900",
    ];
    let numbers: Vec<Number> = order.iter().map(|n| Number::parse(n).unwrap()).collect();
    assert!(numbers.is_sorted_by(|a, b| a < b));
    assert_eq!(Number::parse("1e900").unwrap().to_string().len(), 901);
    assert_eq!(Number::parse("1.0").unwrap().to_index(), Some(1));
    assert_eq!(Number::parse("1.5").unwrap().to_index(), None);
    assert_eq!(Number::parse("-1").unwrap().to_index(), None);
}

#[test]
fn work_and_depth_are_limited() {
    let ten = "[0,1,2,3,4,5,6,7,8,9]";
    let mut walk = "\"xxxxxxxxxxxxxxxxxxxx\"".to_owned();
    for name in ["a", "b", "c", "d", "e", "f", "g", "h"] {
        walk = format!("[for {name} in {ten} : {walk}]");
    }
    let problems = evaluate(&walk).unwrap_err();
    assert_eq!(problems[0].code, "not-constant");

    // Each level doubles the text, without any long text in the source.
    let mut double = "\"ab\"".to_owned();
    for at in 0..25 {
        double = format!("[for x{at} in [{double}] : \"${{x{at}}}${{x{at}}}\"][0]");
    }
    let problems = evaluate(&double).unwrap_err();
    assert_eq!(problems[0].code, "not-constant");

    let deepest = format!("{}1{}", "(".repeat(64), ")".repeat(64));
    let chain = format!("{deepest}{}", " + 1".repeat(127));
    check_text(&chain, Some("128"));
}

#[test]
fn all_that_stands_in_the_way_is_reported_with_its_place() {
    let problems = evaluate("[var.x, f(1), 1 + true]").unwrap_err();
    let reported: Vec<(&str, &str, usize)> = problems
        .iter()
        .map(|p| {
            (
                p.code,
                p.title.as_str(),
                p.primary.as_ref().unwrap().span.start,
            )
        })
        .collect();
    let wanted = [
        ("not-constant", "Variables not allowed", 5),
        ("not-constant", "Function calls not allowed", 12),
        ("wrong-type", "Invalid operand", 22),
    ];
    assert_eq!(reported, wanted);
}

#[test]
fn what_the_program_refuses_is_reported_apart_from_what_is_uncertain() {
    let file = Texts::default().add("test", Vec::new());
    let counts = |expression: &str| {
        let (body, _) = hcl::parse(file, format!("a = {expression}\n").as_bytes());
        let error = constant(file, &body.attribute("a").unwrap().value).unwrap_err();
        (error.refused.len(), error.uncertain.len())
    };
    assert_eq!(counts("1/3"), (0, 1));
    assert_eq!(counts("1 / 0"), (0, 1));
    assert_eq!(counts("f(1)"), (1, 0));
    assert_eq!(counts("1 + []"), (1, 0));
    assert_eq!(counts("[1/3, var.x, 1 % 0.1]"), (1, 2));
    assert_eq!(
        counts("true ? 1 : [1/3, var.x]"),
        (0, 1),
        "a fault there is no refusal"
    );
}
