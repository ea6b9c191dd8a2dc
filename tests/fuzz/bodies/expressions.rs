//! Expressions: evaluation ends within its budget, and says the same twice.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lockctl::diag::{Diagnostic, FileId};
use lockctl::expr::{
    Budget as Work, EvalScope, FunctionSet, Number, Surroundings, Typed, Value, convert, evaluate,
    in_one_line,
};
use lockctl::hcl::parse;
use lockctl::hcl::tree::Item;
use lockctl::world::mem::MemFiles;

use super::{Budget, diagnostics};

/// Bytes of values; what the parser and the functions need beside them is counted, too.
const WORK: usize = 1 << 20;

const BUDGET: Budget = Budget {
    base_bytes: 32 << 20,
    bytes: 2_000,
    base_allocations: 400_000,
    allocations: 2_000,
};

/// Each argument of the input, as of a file, is evaluated.
pub fn run(data: &[u8]) {
    let (body, _) = parse(FileId::ALONE, data);
    let files = MemFiles::with(&[
        ("/top/a.txt", "text of a file\n"),
        ("/top/t.tftpl", "%{ for x in list ~}\n${x}\n%{ endfor ~}\n"),
        ("/top/big.json", "{\"a\": [1, 2.5, null, \"x\"]}"),
    ]);
    let dir = PathBuf::from("/top");
    for (functions, has_volatile) in [
        (FunctionSet::Current, true),
        (FunctionSet::Terraform0_15, false),
    ] {
        let surroundings = Surroundings {
            files: &files,
            dir: Path::new("/top"),
            absolute_dir: Some(&dir),
            has_volatile,
            functions,
            extra: None,
        };
        let scope = EvalScope {
            names: names(),
            functions: Some(&surroundings),
        };
        for item in body.items.iter().take(4) {
            let Item::Attribute(attribute) = item else {
                continue;
            };
            let evaluated = || {
                evaluate(
                    FileId::ALONE,
                    &attribute.value,
                    &scope,
                    &mut Work::of_work(WORK),
                )
            };
            let value = BUDGET.spend(data, evaluated);
            match value {
                Ok(typed) => check_value(&typed),
                Err(reason) => {
                    let problems: Vec<Diagnostic> = reason.into_iter().collect();
                    assert!(!problems.is_empty(), "a refusal has a reason");
                    diagnostics::check(data, &problems);
                }
            }
        }
    }
}

fn check_value(typed: &Typed) {
    let line = in_one_line(&typed.value, 40);
    assert!(!line.contains('\n'), "{line:?}");
    let same = convert(typed.clone(), &typed.ty);
    assert_eq!(
        same.as_ref().ok(),
        Some(typed),
        "a value is of its own type"
    );
}

/// A name of each kind.
fn names() -> BTreeMap<String, lockctl::expr::NameValue> {
    let list = Typed::tuple(vec![
        Typed::string("a"),
        Typed::number(Number::from(2_u32)),
        Typed::bool(true),
    ]);
    let object = Typed::object(BTreeMap::from([
        ("s".to_owned(), Typed::string("text")),
        ("l".to_owned(), list.clone()),
        ("n".to_owned(), Typed::of(Value::Null)),
        ("u".to_owned(), Typed::unknown(lockctl::expr::Type::String)),
    ]));
    BTreeMap::from([
        ("var".to_owned(), object.into()),
        ("l".to_owned(), list.into()),
    ])
}
