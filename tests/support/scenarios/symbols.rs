//! What the symbols in recorded texts stand for in one run.

use std::path::Path;

use serde_json::{Map, Value};

use super::Engine;
use super::packages::Packages;
use crate::oci::OciRegistry;
use crate::registry::{Origin, Registry, TestKey};

/// Replaces symbols by their values.
#[derive(Clone, Debug)]
pub(crate) struct Symbols {
    /// `{name}` or `KEYID(name)`, and the value; in this order, as values may hold symbols.
    plain: Vec<(String, String)>,
    packages: &'static Packages,
}

impl Symbols {
    /// The symbols of a run of `engine` against `registry` in `dir`.
    pub(crate) fn of(
        registry: &Registry,
        oci: Option<&OciRegistry>,
        engine: Engine,
        dir: &Path,
    ) -> Self {
        let packages = Packages::recorded();
        let lab = registry.url(Origin::Lab);
        let demo = &packages.hashes["zh(demo/1.0.0/linux_amd64)"][3..];
        let evil = &packages.hashes["zh(evil/1.0.0/linux_amd64)"][3..];
        let mut plain: Vec<(String, String)> = [
            ("{hosts}", host_blocks(&lab)),
            ("{host}", engine.host().to_owned()),
            ("{dir}", dir.display().to_string()),
            (
                "{labhost}",
                format!("127.0.0.1:{}", registry.port(Origin::Lab)),
            ),
            (
                "{fileshost}",
                format!("127.0.0.1:{}", registry.port(Origin::Files)),
            ),
            (
                "{localhost}",
                format!("localhost:{}", registry.port(Origin::Lab)),
            ),
            ("{files}", registry.url(Origin::Files)),
            ("{mirror}", format!("{lab}/mirror/")),
            ("{lab}", lab),
            ("{upperzh}", format!("zh:{}", demo.to_uppercase())),
            ("{upper}", demo.to_uppercase()),
            ("{evil}", evil.to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into();
        for (name, key) in [
            ("main", TestKey::Main),
            ("stranger", TestKey::Stranger),
            ("expired", TestKey::Expired),
        ] {
            plain.push((format!("KEYID({name})"), key.id()));
        }
        if let Some(oci) = oci {
            plain.push(("{oci}".to_owned(), oci.domain().to_owned()));
            plain.push(("{ociport}".to_owned(), oci.port().to_string()));
        }
        Self { plain, packages }
    }

    /// Replaces all symbols in a text.
    pub(crate) fn fill(&self, given: &str) -> String {
        let plain = |text: String, (name, value): &(String, String)| text.replace(name, value);
        let text = self.plain.iter().fold(given.to_owned(), plain);
        self.fill_hashes(&text)
    }

    /// Replaces all symbols in the texts and names of a JSON value.
    pub(crate) fn fill_json(&self, given: &Value) -> Value {
        match given {
            Value::String(text) => Value::String(self.fill(text)),
            Value::Array(list) => list.iter().map(|value| self.fill_json(value)).collect(),
            Value::Object(map) => {
                let fill =
                    |(name, value): (&String, &Value)| (self.fill(name), self.fill_json(value));
                Value::Object(map.iter().map(fill).collect::<Map<_, _>>())
            }
            other => other.clone(),
        }
    }

    /// Replaces `h1(…)`, `zh(…)` and `hex zh(…)`.
    fn fill_hashes(&self, given: &str) -> String {
        let mut filled = String::new();
        let mut rest = given;
        while let Some((before, symbol, after)) = next_symbol(rest) {
            let value = &self.packages.hashes[symbol];
            match before.strip_suffix("hex ") {
                Some(before) => filled.extend([before, &value[3..]]),
                None => filled.extend([before, value]),
            }
            rest = after;
        }
        filled + rest
    }
}

/// Finds the first hash symbol, and what stands before and behind it.
fn next_symbol(text: &str) -> Option<(&str, &str, &str)> {
    let start = ["h1(", "zh("]
        .iter()
        .filter_map(|call| text.find(call))
        .min()?;
    let end = start + text[start..].find(')')? + 1;
    Some((&text[..start], &text[start..end], &text[end..]))
}

/// The first thing in a text that looks like a symbol.
pub(crate) fn left_over(text: &str) -> Option<&str> {
    let calls = ["KEYID(", "h1(", "zh("];
    if let Some(start) = calls.iter().filter_map(|call| text.find(call)).min() {
        return Some(&text[start..]);
    }
    let mut braces = text.match_indices('{');
    braces.find_map(|(start, _)| {
        let inner = text[start + 1..].split_once('}')?.0;
        // In a template of HCL it is a name of that.
        let is_template = text[..start].ends_with('$');
        let name =
            !is_template && !inner.is_empty() && inner.chars().all(|c| c.is_ascii_lowercase());
        name.then(|| &text[start..start + inner.len() + 2])
    })
}

/// The blocks that point both public registries here.
pub(crate) fn host_blocks(lab: &str) -> String {
    let block = |host| {
        format!(
            "host \"{host}\" {{\n  services = {{\n    \"providers.v1\" = \"{lab}/v1/providers/\"\n  }}\n}}\n"
        )
    };
    ["registry.terraform.io", "registry.opentofu.org"]
        .map(block)
        .concat()
}
