//! The text of build information to values (rules 3).

use super::build_info::{BuildInfo, BuiltModule, ModuleReplacement, Setting};
use super::quoting::{needs_quotes_as_key, needs_quotes_as_value, unquoted, unquoted_prefix};

/// A module that a `=>` line would replace.
#[derive(Clone, Copy)]
enum Above {
    Nothing,
    Main,
    LastDependency,
}

/// Reads a text; `None` if a line of a known kind is not as Go writes it, or has control characters.
pub(super) fn parse(go_version: &str, text: &str) -> Option<BuildInfo> {
    let is_plain = |c: char| !c.is_control() || c == '\t' || c == '\n';
    // What is printed must not move a cursor; Go writes no control characters of its own (rules 3.4).
    if go_version.is_empty() || go_version.contains(char::is_control) || !text.chars().all(is_plain)
    {
        return None;
    }
    let mut info = BuildInfo {
        go_version: go_version.to_owned(),
        ..BuildInfo::default()
    };
    let mut main = BuiltModule::default();
    let mut above = Above::Nothing;
    for line in text.split_inclusive('\n') {
        // The last line counts only with its end (rules 3.1).
        let Some(line) = line.strip_suffix('\n') else {
            break;
        };
        let Some((kind, rest)) = line.split_once('\t') else {
            continue;
        };
        match kind {
            "path" => rest.clone_into(&mut info.path),
            "mod" => {
                main = module(rest)?;
                above = Above::Main;
            }
            "dep" => {
                info.deps.push(module(rest)?);
                above = Above::LastDependency;
            }
            "=>" => {
                let replaced = match above {
                    Above::Nothing => return None,
                    Above::Main => &mut main,
                    Above::LastDependency => info.deps.last_mut()?,
                };
                replaced.replacement = Some(replacement(rest)?);
                // Go writes only the checksum of what was built.
                replaced.sum = None;
                above = Above::Nothing;
            }
            "build" => info.settings.push(setting(rest)?),
            _ => {}
        }
    }
    // Go prints no line for a main module without any information.
    info.main = (main != BuiltModule::default()).then_some(main);
    Some(info)
}

fn module(columns: &str) -> Option<BuiltModule> {
    let columns: Vec<&str> = columns.split('\t').collect();
    let (path, version, sum) = match columns[..] {
        [path, version] => (path, version, ""),
        [path, version, sum] => (path, version, sum),
        _ => return None,
    };
    Some(BuiltModule {
        path: path.to_owned(),
        version: version.to_owned(),
        sum: present(sum),
        replacement: None,
    })
}

fn replacement(columns: &str) -> Option<ModuleReplacement> {
    let columns: Vec<&str> = columns.split('\t').collect();
    let [path, version, sum] = columns[..] else {
        return None;
    };
    Some(ModuleReplacement {
        path: path.to_owned(),
        version: version.to_owned(),
        sum: present(sum),
    })
}

/// Returns a checksum unless it is empty, as Go writes one that it does not know.
fn present(sum: &str) -> Option<String> {
    (!sum.is_empty()).then(|| sum.to_owned())
}

fn setting(text: &str) -> Option<Setting> {
    let (key, value) = if text.starts_with(['"', '`']) {
        let (key, rest) = unquoted_prefix(text)?;
        (key, rest.strip_prefix('=')?)
    } else {
        let (key, value) = text.split_once('=')?;
        if needs_quotes_as_key(key) {
            return None;
        }
        (key.to_owned(), value)
    };
    let value = if value.starts_with(['"', '`']) {
        unquoted(value)?
    } else if needs_quotes_as_value(value) {
        return None;
    } else {
        value.to_owned()
    };
    Some(Setting { key, value })
}
