//! What holds for every value, type and expression; `PROPTEST_CASES` says how many are tried.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree as _;

use super::eval::MAX_WORK;
use super::{
    AttributeType, Budget, EvalScope, FunctionSet, Marks, Misfit, NotConstant, Number, Presence,
    Surroundings, Type, Typed, Value, convert, evaluate, fill,
};
use crate::diag::Texts;
use crate::hcl;
use crate::world::Disk as _;
use crate::world::mem::MemFiles;

const NAMES: &[&str] = &["a", "b", "c"];
const TEXTS: &[&str] = &[
    "", "a", "b", "1", "01", "-1.5", "true", "false", "é", "e\u{301}", "a,b", "${x}",
];

fn marks() -> impl Strategy<Value = Marks> {
    let mark = |weight| proptest::bool::weighted(weight);
    (mark(0.1), mark(0.05)).prop_map(|(sensitive, ephemeral)| Marks {
        sensitive,
        ephemeral,
    })
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        1 => Just(Value::Null),
        1 => Just(Value::Unknown),
        2 => any::<bool>().prop_map(Value::Bool),
        3 => (0_u32..20).prop_map(|number| Value::Number(Number::from(number))),
        5 => select(TEXTS).prop_map(Value::string),
    ];
    let value = leaf.prop_recursive(3, 24, 4, |inner| {
        let pairs =
            prop::collection::btree_map(select(NAMES).prop_map(str::to_owned), inner.clone(), 0..4);
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(Value::Tuple),
            pairs.prop_map(Value::Object),
        ]
    });
    (value, marks()).prop_map(|(value, marks)| value.marked(marks))
}

fn ty() -> impl Strategy<Value = Type> {
    let leaf = select(
        &[
            Type::Any,
            Type::Bool,
            Type::Number,
            Type::String,
            Type::String,
        ][..],
    );
    leaf.prop_recursive(3, 12, 3, |inner| {
        let boxed = inner.clone().prop_map(Box::new);
        let attribute = (inner.clone(), 0..4, value());
        let attribute = attribute.prop_map(|(ty, kind, default)| AttributeType {
            presence: presence(&ty, kind, default),
            ty,
        });
        let attributes =
            prop::collection::btree_map(select(NAMES).prop_map(str::to_owned), attribute, 0..4);
        prop_oneof![
            boxed.clone().prop_map(Type::List),
            boxed.clone().prop_map(Type::Set),
            boxed.prop_map(Type::Map),
            prop::collection::vec(inner, 0..3).prop_map(|items| Type::Tuple(items.into())),
            attributes.prop_map(|items| Type::Object(Arc::new(items))),
        ]
    })
}

/// Says whether an attribute must be there; a default is one only if it fits.
fn presence(ty: &Type, kind: i32, default: Value) -> Presence {
    let default = Typed::of(default.bare().0);
    match (kind, convert(default, ty)) {
        (0, _) => Presence::Optional,
        (1, Ok(default)) if default.value.is_wholly_known() => Presence::Default(default),
        _ => Presence::Required,
    }
}

/// Returns whether a second conversion gives the same, or no answer; it must not be refused.
fn stays(again: Result<Typed, Misfit>, once: &Typed) -> bool {
    match again {
        Ok(again) => again == *once,
        Err(misfit) => matches!(misfit, Misfit::Uncertain(_)),
    }
}

/// An expression, as text, of whatever type.
fn expression(has_try: bool) -> impl Strategy<Value = String> {
    let leaf = select(
        &[
            "null",
            "true",
            "false",
            "0",
            "1",
            "2.5",
            "\"\"",
            "\"a\"",
            "\"1\"",
            "[]",
            "{}",
            "x",
            "var.text",
            "var.number",
            "var.truth",
            "var.list",
            "var.object",
            "var.unknown",
            "var.open",
            "var.texts",
            "var.secret",
            "var.secret",
            "var.secrets",
            "var.holder",
            "var.holder.inside",
            "var.holder.open",
            "var.nope",
            "path.module",
        ][..],
    );
    let leaf = leaf.prop_map(str::to_owned);
    leaf.prop_recursive(3, 12, 2, move |inner| {
        let one = inner.clone();
        let two = (inner.clone(), inner.clone());
        let three = (inner.clone(), inner.clone(), inner);
        let binary = ["+", "-", "*", "/", "%", "==", "!=", "<", ">=", "&&", "||"];
        let ones = [
            "upper(§)", "length(§)", "keys(§)", "values(§)", "tostring(§)", "tonumber(§)", "tolist(§)", "toset(§)",
            "tomap(§)", "jsonencode(§)", "jsondecode(§)", "sort(§)", "reverse(§)", "distinct(§)", "flatten(§)",
            "compact(§)", "sum(§)", "max(§...)", "[jsonencode(§)]", "length([§])", "\"a${jsonencode(§)}\"", "[for x in [§, 1] : x]", "one(§)", "sensitive(§)", "alltrue(§)", "coalesce(§...)",
            "abs(§)", "trimspace(§)", "split(\",\", §)", "join(\"-\", §)", "file(§)", "chunklist(§, 2)",
            "templatefile(\"t.tftpl\", { x = § })", "(§)", "!§", "-§", "§.a", "§[0]", "§[\"a\"]", "§[*]", "§.*.a",
            "§[*].a", "[§]", "{ a = § }", "{ (§) = 1 }", "\"${§}\"", "\"a${§}b\"", "\"%{ if § }a%{ else }b%{ endif }\"",
            "\"%{ for x in § }${x},%{ endfor }\"", "[for x in § : x]", "[for k, x in § : k]", "[for x in § : 1]",
            "{ for k, x in § : k => x }", "{ for x in § : x => 1... }", "length([for x in [1, 2] : x if §])",
        ];
        let twos = [
            "[§, ¤]", "[§, ¤][0]", "§[¤]", "{ a = §, b = ¤ }", "{ (§) = ¤ }", "merge(§, ¤)", "concat(§, ¤)",
            "contains(§, ¤)", "element(§, ¤)", "index(§, ¤)", "lookup(§, ¤, 1)", "lookup(§, \"a\", ¤)", "zipmap(§, ¤)",
            "coalesce(§, ¤)", "format(\"%s-%v\", §, ¤)", "setunion(§, ¤)", "range(§, ¤)", "trimprefix(§, ¤)",
            "startswith(§, ¤)", "join(§, ¤)", "split(§, ¤)", "min(§, ¤)", "§ == ¤", "§ != jsonencode(¤)", "[jsonencode(§), ¤]", "concat([§], [¤])", "[§, ¤][length([1])]", "regex(§, ¤)", "slice(§, 0, ¤)",
            "\"${§}${¤}\"", "[for x in § : ¤]", "[for x in § : x if ¤]", "{ for x in § : x => ¤ }",
            "{ for k, x in § : k => ¤... }", "\"%{ for x in § }${¤}%{ endfor }\"", "true ? § : ¤", "var.truth ? § : ¤",
        ];
        let trying = match has_try {
            true => &["try(§, ¤)", "can(§) == ¤", "nonsensitive(§) == ¤", "issensitive(§) ? 1 : ¤"][..],
            false => &["(§ ? ¤ : ¤)", "[§, ¤]"][..],
        };
        prop_oneof![
            4 => (select(ones.to_vec()), one).prop_map(|(form, inner)| form.replace('§', &inner)),
            4 => (select(twos.to_vec()), two.clone()).prop_map(|(form, (left, right))| filled(form, &left, &right)),
            3 => (select(trying), two.clone()).prop_map(|(form, (left, right))| filled(form, &left, &right)),
            2 => (select(binary.to_vec()), two)
                .prop_map(|(operator, (left, right))| format!("({left} {operator} {right})")),
            2 => three.prop_map(|(one, two, three)| format!("({one} ? {two} : {three})")),
        ]
    })
}

fn filled(form: &str, left: &str, right: &str) -> String {
    // What is put in holds no sign itself.
    form.replace('§', left).replace('¤', right)
}

/// Evaluates with some secrets; nothing where the text is no expression.
fn run(
    text: &str,
    secret: &Typed,
    secrets: &Typed,
    marks: Marks,
) -> Option<(Result<Typed, NotConstant>, usize)> {
    let text = format!("_ = {text}\n");
    let file = Texts::default().add("test", text.clone().into_bytes());
    let (body, _) = hcl::parse(file, text.as_bytes());
    let expr = &body.attribute("_")?.value;
    let files = MemFiles::default();
    let template = b"${x}%{ if can(x) }!%{ endif }";
    files.replace(Path::new("t.tftpl"), None, template).ok()?;
    let around = Surroundings {
        files: &files,
        dir: Path::new(""),
        absolute_dir: None,
        has_volatile: true,
        functions: FunctionSet::Current,
        extra: None,
    };
    let object = |pairs: Vec<(&str, Typed)>| {
        Typed::object(
            pairs
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
        )
    };
    let secret = secret.clone().marked(marks);
    let texts = ["a", "b", "a"].map(Value::string).to_vec();
    let var = object(vec![
        ("text", Typed::string("a")),
        ("number", Typed::number(Number::from(1))),
        ("truth", Typed::bool(true)),
        (
            "list",
            Typed::tuple(vec![Typed::string("a"), Typed::number(Number::from(0))]),
        ),
        (
            "object",
            object(vec![
                ("a", Typed::string("b")),
                ("b", Typed::null(Type::Any)),
            ]),
        ),
        ("unknown", Typed::unknown(Type::String)),
        ("open", Typed::unknown(Type::Any)),
        ("texts", Typed::list(Type::String, texts)),
        (
            "holder",
            object(vec![
                ("inside", secret.clone()),
                ("open", Typed::string("c")),
            ]),
        ),
        ("secret", secret),
        ("secrets", secrets.clone().marked(marks)),
    ]);
    let path = object(vec![("module", Typed::string("m"))]);
    let names = [("var", var), ("path", path), ("x", Typed::string("x"))];
    let scope = EvalScope {
        names: BTreeMap::from(names.map(|(name, value)| (name.to_owned(), value.into()))),
        functions: Some(&around),
    };
    let mut budget = Budget::default();
    let before = budget.work;
    let result = evaluate(file, expr, &scope, &mut budget);
    Some((result, before - budget.work))
}

/// Two secrets of one type.
fn secrets() -> impl Strategy<Value = (Typed, Typed)> {
    let text = || select(TEXTS).prop_map(Typed::string);
    let number = || (0_u32..4).prop_map(|number| Typed::number(Number::from(number)));
    let truth = || any::<bool>().prop_map(Typed::bool);
    let texts = || {
        let texts = prop::collection::vec(select(TEXTS).prop_map(Value::string), 0..3);
        texts.prop_map(|texts| Typed::list(Type::String, texts))
    };
    prop_oneof![
        (text(), text()),
        (number(), number()),
        (truth(), truth()),
        (texts(), texts()),
    ]
}

/// Returns whether two values differ in nothing that carries no mark.
fn differ_in_secrets_only(one: &Value, other: &Value, has_mark: fn(Marks) -> bool) -> bool {
    if one.clone().bare().0 == other.clone().bare().0 {
        return true;
    }
    let open = |value: &Value| value.clone().unmarked();
    let ((one, own), (other, others)) = (open(one), open(other));
    if has_mark(own) && has_mark(others) {
        return true;
    }
    match (&one, &other) {
        (Value::Tuple(one), Value::Tuple(other)) if one.len() == other.len() => one
            .iter()
            .zip(other)
            .all(|(one, other)| differ_in_secrets_only(one, other, has_mark)),
        (Value::Object(one), Value::Object(other)) if one.keys().eq(other.keys()) => one
            .values()
            .zip(other.values())
            .all(|(one, other)| differ_in_secrets_only(one, other, has_mark)),
        _ => false,
    }
}

proptest! {
    #[test]
    fn conversion_is_idempotent(value in value(), ty in ty()) {
        if let Ok(once) = convert(Typed::of(value), &ty) {
            prop_assert!(stays(convert(once.clone(), &ty), &once), "{once:?}");
        }
    }

    #[test]
    fn defaults_are_idempotent(value in value(), ty in ty()) {
        if let Ok(once) = fill(Typed::of(value), &ty) {
            prop_assert_eq!(fill(once.clone(), &ty), Ok(once));
        }
    }

    #[test]
    fn what_was_converted_has_its_defaults(value in value(), ty in ty()) {
        let given = Typed::of(value);
        let converted = fill(given, &ty).and_then(|filled| convert(filled, &ty));
        if let Ok(once) = converted {
            let again = fill(once.clone(), &ty).and_then(|filled| convert(filled, &ty));
            prop_assert!(stays(again, &once), "{once:?}");
        }
    }

    #[test]
    fn evaluation_is_deterministic_and_ends(text in expression(true), (secret, secrets) in secrets()) {
        let marks = Marks { sensitive: true, ephemeral: false };
        let once = run(&text, &secret, &secrets, marks);
        if let Some((_, work)) = &once {
            prop_assert!(*work <= MAX_WORK, "{text}: {work}");
        }
        prop_assert_eq!(&once, &run(&text, &secret, &secrets, marks), "{}", text);
    }

    #[test]
    fn secrets_show_in_marked_values_only(text in expression(false), (one, other) in secrets(), is_sensitive: bool) {
        let marks = Marks { sensitive: is_sensitive, ephemeral: !is_sensitive };
        let has_mark = match is_sensitive {
            true => |marks: Marks| marks.sensitive,
            false => |marks: Marks| marks.ephemeral,
        };
        let list = Typed::list(Type::String, vec![Value::string("a")]);
        let first = run(&text, &one, &list, marks);
        let second = run(&text, &other, &list, marks);
        if let (Some((Ok(first), _)), Some((Ok(second), _))) = (first, second) {
            let hidden = differ_in_secrets_only(&first.value, &second.value, has_mark);
            prop_assert!(hidden, "{text} with {one:?}, {other:?}: {first:?}, {second:?}");
        }
    }
}

#[test]
fn most_texts_are_expressions_with_a_value() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let text = expression(true);
    let (mut parsed, mut evaluated) = (0, 0);
    for _ in 0..200 {
        let text = text.new_tree(&mut runner).unwrap().current();
        let run = run(
            &text,
            &Typed::string("a"),
            &Typed::tuple(vec![]),
            Marks::default(),
        );
        parsed += u32::from(run.is_some());
        evaluated += u32::from(run.is_some_and(|(value, _)| value.is_ok()));
    }
    assert!(parsed >= 190, "{parsed} of 200 are parsed");
    assert!(evaluated >= 40, "{evaluated} of 200 have a value");
}
