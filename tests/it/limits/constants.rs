//! Constants of the sources with their values, most of which are private to a room.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The value of a constant, by its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConstantValue {
    Number(u128),
    Milliseconds(u128),
}

/// Every constant that is a number or a duration, by its path in the crate.
pub(super) fn constants() -> BTreeMap<String, ConstantValue> {
    let mut texts = BTreeMap::new();
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    // The paths of constants begin with their room.
    for wing in ["core", "fetch", "."].map(|package| src.join(package)) {
        for entry in fs::read_dir(wing).unwrap() {
            let path = entry.unwrap().path();
            if path.join("mod.rs").exists() {
                read(&path, "", &mut texts);
            }
        }
    }
    texts
        .keys()
        .filter_map(|path| Some((path.clone(), value(path, &texts)?)))
        .collect()
}

/// Collects the expressions of constants below a directory.
fn read(dir: &Path, module: &str, texts: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let inner = match (module, name.as_str()) {
            (module, "mod" | "lib" | "main") => module.to_owned(),
            ("", name) => name.to_owned(),
            (module, name) => format!("{module}::{name}"),
        };
        if path.is_dir() {
            read(&path, &inner, texts);
        } else if path.extension().is_some_and(|extension| extension == "rs") && name != "tests" {
            let source = fs::read_to_string(&path).unwrap();
            let source = source.split("\n#[cfg(test)]\nmod tests {").next().unwrap();
            for (name, text) in declared(source) {
                texts.insert(format!("{inner}::{name}"), text);
            }
        }
    }
}

/// The constants that a file declares at its top, as `NAME`, `EXPRESSION`.
fn declared(source: &str) -> impl Iterator<Item = (String, String)> {
    source
        .split("\n")
        .enumerate()
        .filter_map(move |(number, line)| {
            let line = line.strip_prefix("pub").map_or(line, |line| {
                line.strip_prefix("(super)")
                    .or(line.strip_prefix("(crate)"))
                    .unwrap_or(line)
                    .trim_start()
            });
            let (name, rest) = line.strip_prefix("const ")?.split_once(": ")?;
            let (kind, text) = rest.split_once(" =")?;
            if !["usize", "u64", "u32", "u16", "i128", "Duration"].contains(&kind) {
                return None;
            }
            // A long expression stands in the next line.
            let text = match text.trim() {
                "" => source.split('\n').nth(number + 1)?,
                text => text,
            };
            let text = text.split("//").next()?.trim().strip_suffix(';')?;
            Some((name.to_owned(), text.to_owned()))
        })
}

/// Computes a constant; `None` if it is no sum, product or shift of numbers and other constants.
fn value(path: &str, texts: &BTreeMap<String, String>) -> Option<ConstantValue> {
    let text = texts.get(path)?;
    let module = path.rsplit_once("::")?.0;
    for (call, factor) in [
        ("Duration::from_secs(", 1000),
        ("Duration::from_millis(", 1),
    ] {
        if let Some(inner) = text.strip_prefix(call) {
            let number = number(inner.strip_suffix(')')?, module, texts)?;
            return Some(ConstantValue::Milliseconds(number * factor));
        }
    }
    let text = text.strip_suffix(" as u64").unwrap_or(text);
    let inner = text
        .strip_prefix('(')
        .and_then(|text| text.strip_suffix(')'));
    number(inner.unwrap_or(text), module, texts).map(ConstantValue::Number)
}

/// Computes a number; the operators bind in this order, the last one most.
fn number(text: &str, module: &str, texts: &BTreeMap<String, String>) -> Option<u128> {
    let part = |text: &str| number(text.trim(), module, texts);
    if let Some((left, right)) = text.rsplit_once(" << ") {
        return Some(part(left)? << part(right)?);
    }
    if let Some((left, right)) = text.rsplit_once(" + ") {
        return Some(part(left)? + part(right)?);
    }
    if let Some((left, right)) = text.rsplit_once(" - ") {
        return Some(part(left)? - part(right)?);
    }
    if let Some((left, right)) = text.rsplit_once(" / ") {
        return Some(part(left)? / part(right)?);
    }
    if let Some((left, right)) = text.rsplit_once(" * ") {
        return Some(part(left)? * part(right)?);
    }
    if let Ok(number) = text.replace('_', "").parse() {
        return Some(number);
    }
    let path = match text.strip_prefix("crate::") {
        Some(path) => path.to_owned(),
        None => format!("{module}::{text}"),
    };
    let path = if texts.contains_key(&path) {
        path
    } else {
        // Imported: the only constant of this name, or none.
        let ending = format!("::{text}");
        let mut named = texts.keys().filter(|path| path.ends_with(&ending));
        named.next().filter(|_| named.next().is_none())?.clone()
    };
    match value(&path, texts)? {
        ConstantValue::Number(number) => Some(number),
        ConstantValue::Milliseconds(_) => None,
    }
}
