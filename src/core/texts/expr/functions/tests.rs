use std::collections::BTreeMap;
use std::path::Path;

use crate::diag::{FileId, Texts};
use crate::expr::tests::{json, unescape};
use crate::expr::{
    Budget, EvalScope, ExtraCall, ExtraFault, ExtraFunctions, FunctionSet, Marks, NotConstant,
    Surroundings, Type, Typed, Value, evaluate,
};
use crate::hcl;
use crate::world::Disk as _;
use crate::world::mem::MemFiles;

/// Recorded with Terraform 1.11.4: a call with escapes, and its value as JSON; `!error` if it fails.
const CALLS: &str = include_str!("../../../../../fixtures/expr/calls.txt");

/// Recorded with Terraform 1.15.9 and OpenTofu 1.12.6: a call with escapes, and the titles of its errors.
const ERRORS: &str = include_str!("../../../../../fixtures/expr/call-errors.txt");

/// Recorded with OpenTofu 1.12.6: functions that Terraform has not, or has differently.
const CALLS_OPENTOFU: &str = include_str!("../../../../../fixtures/expr/calls-opentofu.txt");

fn run(expression: &str) -> Result<Typed, NotConstant> {
    run_as(expression, false)
}

fn run_as(expression: &str, is_opentofu: bool) -> Result<Typed, NotConstant> {
    run_within(expression, is_opentofu, &mut Budget::default())
}

fn run_within(
    expression: &str,
    is_opentofu: bool,
    budget: &mut Budget,
) -> Result<Typed, NotConstant> {
    let text = format!("a = {expression}\n");
    let file = Texts::default().add("test", text.clone().into_bytes());
    let (body, problems) = hcl::parse(file, text.as_bytes());
    assert!(problems.is_empty(), "{expression}: {problems:?}");
    let files = MemFiles::default();
    for (name, content) in [
        ("a.txt", &b"content\n"[..]),
        ("b.bin", b"\xff\xfe\0bin"),
        ("t.tftpl", b"%{ for n in names }<${n}>%{ endfor }"),
        ("self.tftpl", b"${templatefile(\"self.tftpl\", {})}"),
        ("grow.tftpl", b"${x}${x}"),
        ("bad.tftpl", b"${nope}"),
        ("d/inside.txt", b""),
    ] {
        let path = Path::new("w").join(name);
        files.replace(&path, None, content).unwrap();
    }
    let around = Surroundings {
        files: &files,
        dir: Path::new("w"),
        absolute_dir: None,
        has_volatile: is_opentofu,
        functions: FunctionSet::Current,
        extra: None,
    };
    let secret = Marks {
        sensitive: true,
        ..Marks::default()
    };
    let var = [
        ("unknown", Typed::unknown(Type::String)),
        ("secret", Typed::string("x").marked(secret)),
        ("known", Typed::string("k")),
    ];
    let var = var.map(|(name, value)| (name.to_owned(), value));
    let var = Typed::object(BTreeMap::from(var));
    let scope = EvalScope {
        names: BTreeMap::from([("var".to_owned(), var.into())]),
        functions: Some(&around),
    };
    let value = &body.attribute("a").unwrap().value;
    evaluate(file, value, &scope, budget)
}

#[test]
fn comparisons_of_items_are_work() {
    let work_of = |expression: &str| {
        let mut budget = Budget::default();
        let before = budget.work_left();
        assert!(
            run_within(expression, false, &mut budget).is_ok(),
            "{expression}"
        );
        before - budget.work_left()
    };
    for call in ["setintersection(§, §)", "setsubtract(§, §)", "distinct(§)"] {
        let few = work_of(&call.replace('§', "range(200)"));
        let many = work_of(&call.replace('§', "range(800)"));
        // 600,000 comparisons more, of which 16 count as a byte, beside at most 300 bytes for each item.
        assert!(many - few > 600_000 / 16, "{call}: {few}, {many}");
    }
    let union = |sets: usize| format!("setunion({})", vec!["range(100)"; sets].join(", "));
    let (few, many) = (work_of(&union(20)), work_of(&union(80)));
    assert!(many < 5 * few, "{few}, {many}");
}

#[test]
fn calls_fail_as_in_the_program() {
    let (mut wrong, mut uncertain) = (Vec::new(), Vec::new());
    for row in ERRORS.lines() {
        let (expression, wanted) = row.split_once('\t').unwrap();
        let expression = unescape(expression);
        let titles = match run(&expression) {
            Ok(_) => String::new(),
            Err(problems) if problems.uncertain.is_empty() => {
                let refused = problems.refused.iter();
                let mut titles: Vec<&str> = refused.map(|one| &*one.title).collect();
                titles.sort_unstable();
                titles.join(",")
            }
            Err(_) => {
                uncertain.push(expression);
                continue;
            }
        };
        if titles != wanted {
            wrong.push(format!("{expression}: {titles:?} for {wanted:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let file = snapbox::file!["../../../../../fixtures/expr/call-errors-uncertain.txt"];
    snapbox::assert_data_eq!(uncertain.join("\n"), file.raw());
}

#[test]
fn calls_give_what_the_program_gives() {
    let (mut wrong, mut uncertain) = (Vec::new(), Vec::new());
    let opentofu = CALLS_OPENTOFU.lines().map(|row| (row, true));
    let rows = CALLS.lines().map(|row| (row, false)).chain(opentofu);
    for (row, is_opentofu) in rows {
        let (expression, wanted) = row.split_once('\t').unwrap();
        let (expression, wanted) = (unescape(expression), unescape(wanted));
        let given = match run_as(&expression, is_opentofu) {
            Ok(value) => value_of(&json(&value.value)),
            Err(problems) if problems.uncertain.is_empty() => "!error".to_owned(),
            Err(_) => {
                uncertain.push(expression);
                continue;
            }
        };
        // Escapes are compared as what they mean.
        let wanted = match &*wanted {
            "!error" => wanted,
            json => value_of(json),
        };
        if given != wanted {
            wrong.push(format!("{expression}: {given} for {wanted}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let file = snapbox::file!["../../../../../fixtures/expr/calls-uncertain.txt"];
    snapbox::assert_data_eq!(uncertain.join("\n"), file.raw());
}

fn value_of(json: &str) -> String {
    serde_json::from_str::<serde_json::Value>(json)
        .unwrap()
        .to_string()
}

#[track_caller]
fn gives(expression: &str, wanted: &str) {
    let given = match run(expression) {
        Ok(value) => value,
        Err(problems) => panic!("{expression}: {problems:?}"),
    };
    let shown = match given.value {
        Value::Marked(..) => format!("marked {}", json(&given.value)),
        value => json(&value),
    };
    assert_eq!(shown, wanted, "{expression}");
}

#[track_caller]
fn refuses(expression: &str, title: &str) {
    let problems = run(expression).expect_err(expression);
    let titles: Vec<&str> = problems.refused.iter().map(|one| &*one.title).collect();
    assert_eq!(titles, [title], "{expression}");
}

#[track_caller]
fn leaves_open(expression: &str, reason: &str) {
    let problems = run(expression).expect_err(expression);
    let found = problems
        .uncertain
        .first()
        .and_then(|one| one.primary.as_ref());
    assert_eq!(
        found.map(|label| &*label.note),
        Some(reason),
        "{expression}"
    );
}

#[test]
fn files_are_read_from_the_working_directory() {
    gives(r#"file("a.txt")"#, r#""content\n""#);
    gives(r#"fileexists("a.txt")"#, "true");
    gives(r#"fileexists("b.txt")"#, "false");
    gives(
        r#"templatefile("t.tftpl", {names = ["a", "b"]})"#,
        r#""<a><b>""#,
    );
    refuses(r#"file("b.txt")"#, "Invalid function argument");
    refuses(r#"file("b.bin")"#, "Error in function call");
    refuses(r#"fileexists("")"#, "Error in function call");
    refuses(r#"filebase64("b.txt")"#, "Invalid function argument");
    refuses(r#"filesha1("b.txt")"#, "Error in function call");
    refuses(
        r#"templatefile("b.tftpl", {})"#,
        "Invalid function argument",
    );
    refuses(
        r#"templatefile("bad.tftpl", {})"#,
        "Invalid function argument",
    );
    leaves_open(r#"abspath("a.txt")"#, "the working directory is not known");
}

#[test]
fn what_is_not_known_goes_through() {
    for open in [
        "var.unknown",
        r#""a${var.unknown}""#,
        "upper(var.unknown)",
        r#"join("", ["a", var.unknown])"#,
        r#"try(var.unknown, "b")"#,
        "can(var.unknown)",
        r#"var.unknown == "a" ? 1 : 2"#,
        "[for c in split(\",\", var.unknown) : c]",
        "jsondecode(var.unknown).a",
        "plantimestamp()",
        "timestamp()",
        "provider::x::y()",
        "coalesce(var.unknown, \"a\")",
    ] {
        gives(open, "unknown");
    }
    gives(r#"{a = var.unknown, b = "x"}.b"#, r#""x""#);
    gives(r#"merge({a = var.unknown}, {b = 1}).b"#, "1");
    gives(r#"coalesce("a", var.unknown)"#, r#""a""#);
    gives("length([var.unknown])", "1");
    gives("true ? var.known : var.unknown", r#""k""#);
    gives("sensitive(var.unknown)", "marked unknown");
    gives(
        "setproduct(var.unknown == \"a\" ? [] : [1], [1])",
        "unknown",
    );
    gives("setproduct([var.unknown], [1])[0][1]", "1");
}

#[test]
fn marks_are_never_lost() {
    for marked in [
        "var.secret",
        r#""a${var.secret}""#,
        r#"var.secret == "x""#,
        r#"[for c in split(",", var.secret) : c]"#,
        r#"upper(var.secret)"#,
        r#"{a = var.secret}["a"]"#,
        r#"var.secret == "y" ? 1 : 2"#,
        r#"coalesce("", var.secret)"#,
        r#"templatefile("t.tftpl", {names = [var.secret]})"#,
        r#"setproduct([var.secret], ["a"])[0][0]"#,
        r#"sha256(var.secret)"#,
        r#"yamldecode(var.secret)"#,
    ] {
        let value = run(marked).expect(marked);
        assert!(matches!(value.value, Value::Marked(..)), "{marked}");
    }
    gives("nonsensitive(var.secret)", r#""x""#);
}

#[test]
fn calls_that_cannot_be_are_refused() {
    refuses("nope()", "Call to unknown function");
    refuses(r#"type("a")"#, "Call to unknown function");
    refuses(r#"urldecode("a")"#, "Call to unknown function");
    refuses(r#"md5(null)"#, "Invalid function argument");
    refuses(r#"base64decode("/w==")"#, "Error in function call");
    refuses("lower()", "Not enough function arguments");
    refuses(r#"lower("a", "b")"#, "Too many function arguments");
    refuses("lower(null)", "Invalid function argument");
    refuses("lower([])", "Invalid function argument");
    refuses("max(1...)", "Invalid expanding argument value");
    refuses(r#"regex("(", "a")"#, "Invalid function argument");
    refuses("var.nope", "Unsupported attribute");
    refuses("nope.x", "Unknown variable");
}

#[test]
fn hostile_calls_end_soon() {
    const TOO_MUCH: &str = "this computes too much";
    let long = r#"join("0123456789", [for x in range(1000) : join("x", range(50))])"#;
    leaves_open(&format!(r#"replace({long}, "", {long})"#), TOO_MUCH);
    leaves_open(&format!(r#"join({long}, range(1000))"#), TOO_MUCH);
    leaves_open(r#"format("%99999999d", 1)"#, "this is very wide");
    leaves_open(
        "length(setproduct(range(1000), range(1000), range(1000)))",
        TOO_MUCH,
    );
    leaves_open("indent(99999999, \"a\\nb\")", TOO_MUCH);
    leaves_open(
        "[for a in range(1000) : [for b in range(1000) : [for c in range(1000) : 1]]]",
        TOO_MUCH,
    );
    leaves_open(
        r#"templatefile("self.tftpl", {})"#,
        "the template cannot be computed",
    );
    leaves_open(
        &format!(r#"regex("{}", "a")"#, "[^é]{1000}"),
        "this pattern is too large",
    );
    refuses("range(100000)", "Error in function call");
    let twice = (1..40).map(|at| format!("\\na{at}: &a{at} [*a{0}, *a{0}]", at - 1));
    let laughs = format!(r#"yamldecode("a0: &a0 x{}")"#, twice.collect::<String>());
    leaves_open(&laughs, TOO_MUCH);
    let nested = format!(r#"yamldecode("{}")"#, "- ".repeat(100));
    leaves_open(&nested, "this YAML is nested too deep");
}

#[test]
fn one_operand_may_decide_whatever_is_wrong_with_the_other() {
    gives("upper([]) == 1 || true", "true");
    gives("true || upper([]) == 1", "true");
    gives("false && null", "false");
    gives("null || true", "true");
    gives("var.unknown == \"a\" || true", "true");
    gives("false && var.secret == \"x\"", "marked false");
    refuses("upper([]) == 1 || false", "Invalid function argument");
    refuses("true || \"x\"", "Invalid operand");
    leaves_open("null || false", "a truth value that is null");
}

#[test]
fn branches_that_do_not_go_together_come_before_the_condition() {
    let title = "Inconsistent conditional result types";
    for condition in ["upper([])", "null", "\"x\""] {
        refuses(&format!("{condition} ? 1 : []"), title);
    }
    refuses("upper([]) ? upper([]) : 1", "Invalid function argument");
}

#[test]
fn a_fault_in_the_other_branch_leaves_the_type_around_it() {
    let title = "Inconsistent conditional result types";
    refuses("true ? { p = \"a\" } : { p = [upper([])] }", title);
    refuses("false ? [for x in [1] : upper([])] : 1", title);
    refuses(
        "true ? { p = \"a\" } : { for k, x in { p = [] } : k => upper(x)... }",
        title,
    );
    gives("(true ? { p = \"a\" } : { p = upper([]) }).p", "\"a\"");
    gives(
        "(true ? { p = \"a\" } : { for k, x in { p = [] } : k => upper(x) }).p",
        "\"a\"",
    );
    gives("(true ? { p = \"a\" } : upper([])).p", "\"a\"");
}

#[test]
fn conditions_of_for_are_checked_without_items() {
    refuses(
        "[for x in [] : x if upper([])]",
        "Invalid function argument",
    );
    refuses("[for x in [] : x if \"q\"]", "Invalid 'for' condition");
    refuses("[for x in [] : x if x + 1]", "Invalid 'for' condition");
    refuses("[for x in [] : x if null]", "Condition is null");
    gives("[for x in [] : x if x.a == 1]", "[]");
    gives("[for x in [] : upper([])]", "[]");
}

#[test]
fn marks_stay_where_it_is_not_known_how_many_arguments_there_are() {
    gives(
        "coalesce((var.secret == \"x\" ? a::b() : [])...)",
        "marked unknown",
    );
}

#[test]
fn what_is_flattened_marks_the_whole() {
    gives("flatten([sensitive([]), 1])", "marked [1]");
    gives("flatten([[sensitive(1)], 2])", "[1,2]");
}

/// A function of another program, which hides one of the language, and one that knows nothing.
struct Others;

impl ExtraFunctions for Others {
    fn knows(&self, name: &str) -> bool {
        ["upper", "beyond"].contains(&name)
    }

    fn call(&self, call: ExtraCall<'_>) -> Result<Typed, ExtraFault> {
        match (call.name, &call.args[..]) {
            ("upper", [Typed { value, .. }]) => {
                Ok(Typed::string(format!("<{:?}>", value.to_text())))
            }
            ("upper", _) => Err(ExtraFault::Argument(1, "one argument".to_owned())),
            _ => Err(ExtraFault::Uncertain("only a run knows".to_owned())),
        }
    }
}

#[test]
fn functions_of_another_program_hide_those_of_the_language() {
    let files = MemFiles::with(&[("w/t", "${lower(\"A\")}"), ("w/u", "${upper(\"a\")}")]);
    let around = Surroundings {
        files: &files,
        dir: Path::new("w"),
        absolute_dir: None,
        has_volatile: true,
        functions: FunctionSet::Terraform0_15,
        extra: Some(&Others),
    };
    let check = |expression: &str, expected: Result<&str, &str>| {
        let text = format!("_ = {expression}\n");
        let file = FileId::ALONE;
        let (body, problems) = hcl::parse(file, text.as_bytes());
        assert!(problems.is_empty(), "{expression}");
        let scope = EvalScope {
            functions: Some(&around),
            ..EvalScope::default()
        };
        let expr = &body.attribute("_").expect("an argument").value;
        let found = evaluate(file, expr, &scope, &mut Budget::default());
        let found = found.map(|value| value.value.to_text().unwrap_or_default());
        let found = found.map_err(|problems| {
            let first = problems.into_iter().next().expect("a problem");
            format!(
                "{}: {}",
                first.title,
                first.primary.map(|label| label.note).unwrap_or_default()
            )
        });
        match (expected, &found) {
            (Ok(value), Ok(found)) => assert_eq!(value, found, "{expression}"),
            (Err(part), Err(found)) => assert!(found.contains(part), "{expression}: {found}"),
            _ => panic!("{expression}: {found:?}"),
        }
    };
    check("upper(\"a\")", Ok("<Some(\"a\")>"));
    check("upper(1, 2)", Err("one argument"));
    check("range()", Err("range takes one to three arguments"));
    check("max()", Err("must pass at least one number"));
    check("try(upper(1, 2), \"d\")", Ok("d"));
    check("try(beyond(), \"d\")", Err("only a run knows"));
    check("templatefile(\"t\", {})", Ok("a"));
    // Templates know those of the language only.
    check("templatefile(\"u\", {})", Ok("A"));
    check("issensitive(\"a\")", Err("Call to unknown function"));
    check("core::upper(\"a\")", Err("Call to unknown function"));
    check("list(1)", Err("was removed"));
    check("defaults({}, {})", Err("does not compute"));
}
