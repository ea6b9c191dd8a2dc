use super::tests::json;
use super::{Misfit, Type, Typed, constant, convert, fill};
use crate::diag::Texts;
use crate::hcl;

/// A type, a default, and what the program made of it: the type and the value in JSON, or `refused`.
/// Recorded with Terraform 1.11.4 (`scripts/record_types.py`).
const CONVERSIONS: &str = include_str!("../../../../fixtures/expr/conversions.tsv");

#[derive(Debug, PartialEq, Eq)]
enum Answer {
    Refused,
    Uncertain,
    Value(String),
}

fn answer(ty: &str, default: &str) -> Answer {
    let text = format!("type = {ty}\ndefault = {default}\n");
    let file = Texts::default().add("test", Vec::new());
    let (body, _) = hcl::parse(file, text.as_bytes());
    let default = constant(file, &body.attribute("default").unwrap().value).unwrap();
    let ty = match Type::of_variable(file, &body.attribute("type").unwrap().value) {
        Ok(ty) => ty,
        Err(found) if found.refused.is_empty() => return Answer::Uncertain,
        Err(_) => return Answer::Refused,
    };
    match fill(Typed::of(default), &ty).and_then(|filled| convert(filled, &ty)) {
        Ok(fitted) => Answer::Value(format!("{}\t{}", fitted.ty, json(&fitted.value))),
        Err(Misfit::Refused(_)) => Answer::Refused,
        Err(Misfit::Uncertain(_)) => Answer::Uncertain,
    }
}

#[test]
#[allow(clippy::print_stdout, reason = "says how much it left open")]
fn conversions_are_those_of_the_program() {
    let (mut wrong, mut uncertain, mut rows) = (Vec::new(), Vec::new(), 0);
    for row in CONVERSIONS.lines() {
        let (ty, rest) = row.split_once('\t').unwrap();
        let (default, wanted) = rest.split_once('\t').unwrap();
        rows += 1;
        match answer(ty, default) {
            Answer::Uncertain => uncertain.push(row),
            Answer::Refused if wanted == "refused" => {}
            Answer::Value(value) if value == wanted => {}
            other => wrong.push(format!("{row}\n    {other:?}")),
        }
    }
    println!("{} of {rows} uncertain", uncertain.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
