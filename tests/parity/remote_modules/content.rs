//! The text of modules that are made up.

use std::fmt::Write as _;

use crate::dice::Dice;

/// Providers by their local names. The last two are required by a resource alone as well.
pub(super) const PROVIDERS: [(&str, &str); 6] = [
    ("alpha", "example.com/acme/alpha"),
    ("beta", "registry.terraform.io/acme/beta"),
    ("zeta", "registry.terraform.io/other/zeta"),
    ("epsilon", "example.com:8443/other/epsilon"),
    ("gamma", "registry.terraform.io/hashicorp/gamma"),
    ("delta", "registry.terraform.io/hashicorp/delta"),
];

/// The versions of every provider.
pub(super) const VERSIONS: [&str; 6] = ["0.9.0", "1.0.0", "1.1.0", "1.2.3", "1.10.0", "2.1.0"];

/// The providers of a tree; every constraint on one allows the version that stands beside it.
#[derive(Debug, Default)]
pub(super) struct Providers(Vec<(&'static str, &'static str, &'static str)>);

/// A call of a module.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) source: String,
    pub(super) version: Option<String>,
}

impl Providers {
    pub(super) fn make_up(dice: &mut Dice) -> Self {
        let count = 3 + dice.below(4);
        let start = dice.below(PROVIDERS.len());
        let chosen = PROVIDERS.iter().cycle().skip(start).take(count);
        let all = chosen.map(|(name, source)| (*name, *source, dice.one_of(&VERSIONS)));
        Self(all.collect())
    }
}

impl Call {
    /// Makes the call from one directory of a package to another.
    pub(super) fn local(from: &str, to: &str) -> Self {
        let from: Vec<&str> = from.split('/').filter(|part| !part.is_empty()).collect();
        let to: Vec<&str> = to.split('/').collect();
        let same = from
            .iter()
            .zip(&to)
            .take_while(|(one, other)| one == other)
            .count();
        let up = from.len() - same;
        let start = if up == 0 {
            "./".to_owned()
        } else {
            "../".repeat(up)
        };
        Self {
            source: format!("{start}{}", to[same..].join("/")),
            version: None,
        }
    }
}

/// Makes up a constraint that allows a version.
fn constraint(dice: &mut Dice, version: &str) -> Option<String> {
    let (line, _) = version.rsplit_once('.').unwrap();
    let (major, _) = line.split_once('.').unwrap();
    let others: Vec<&str> = VERSIONS.into_iter().filter(|one| *one != version).collect();
    Some(match dice.below(9) {
        0 => return None,
        1 => format!("~> {line}"),
        2 => format!("~> {major}.0"),
        3 => format!(">= {version}"),
        4 => format!(">= 0.1, <= {version}"),
        5 => format!("!= {}", dice.one_of(&others)),
        6 => format!("~> {line}.0"),
        7 => format!(">= {major}"),
        _ => format!("< 3.0, != {}, >= {line}", dice.one_of(&others)),
    })
}

/// Makes up the text of a module with these calls.
pub(super) fn module_text(dice: &mut Dice, providers: &Providers, calls: &[Call]) -> String {
    let mut text = String::new();
    let mut required = String::new();
    for (name, source, version) in &providers.0 {
        match dice.below(100) {
            0..30 => {
                let version = constraint(dice, version);
                let version =
                    version.map_or_else(String::new, |one| format!(", version = {one:?}"));
                writeln!(required, "    {name} = {{ source = {source:?}{version} }}").unwrap();
            }
            30..45 if source.contains("/hashicorp/") => {
                writeln!(text, "resource \"{name}_thing\" \"a\" {{}}\n").unwrap();
            }
            _ => {}
        }
    }
    if !required.is_empty() {
        writeln!(
            text,
            "terraform {{\n  required_providers {{\n{required}  }}\n}}\n"
        )
        .unwrap();
    }
    for (at, call) in calls.iter().enumerate() {
        writeln!(text, "module \"c{at}\" {{\n  source = {:?}", call.source).unwrap();
        if let Some(version) = &call.version {
            writeln!(text, "  version = {version:?}").unwrap();
        }
        if dice.chance(15) {
            writeln!(text, "  count = 2").unwrap();
        }
        writeln!(text, "}}\n").unwrap();
    }
    text
}
