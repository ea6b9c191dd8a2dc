//! The state: the second source of providers, without constraints (rules 7).
//!
//! Only addresses are taken from it. Its attributes may be secrets, so nothing else is kept, and no
//! message shows a line of it.

use crate::module_config::decode::contents::LocalBackend;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};

use crate::addr::ProviderAddr;
use crate::config::loaded::Settings;
use crate::config::tree::reader::Reader;
use crate::diag::{self, Diagnostic, Span, rules};
use crate::flavor::Flavor;
use crate::json::{self, JsonValue, Members, ValueKind};
use crate::module_config::decode::contents::{Backend, ComputedBackend};
use crate::module_config::file::SourcePlace;
use crate::module_config::syntax::words;
use crate::requirement::{Requirement, RequirementOrigin, Requirements};
use crate::world::is_outside;

/// The largest state that is read, in bytes.
const MAX_STATE_BYTES: u64 = 1 << 30;
/// The longest name of a workspace, in bytes.
const MAX_WORKSPACE_BYTES: u64 = 4096;
/// The largest number of replacements that one help names.
const MAX_REPLACED: usize = 5;
/// The version of the format that holds addresses.
const FORMAT: u64 = 4;

/// The providers that the configuration requires, each with the places.
type Required = BTreeMap<ProviderAddr, Vec<Requirement>>;

/// The providers that the state names.
#[derive(Debug, Default)]
pub(in crate::texts::config) struct StateProviders {
    /// Each provider, with the file.
    pub providers: BTreeMap<ProviderAddr, SourcePlace>,
}

/// The members of the file that are kept; it may be large and full of secrets.
static WANTED: Members = Members::Only(&[
    ("version", Members::All),
    (
        "resources",
        Members::Only(&[
            ("provider", Members::All),
            ("instances", Members::Only(&[("provider", Members::All)])),
        ]),
    ),
]);

/// Reads the state of the selected workspace; `None` if it cannot be seen, which is said.
pub(in crate::texts::config) fn read(
    reader: &mut Reader<'_>,
    settings: &Settings,
    backend: Option<&Backend>,
    required: &Required,
) -> Option<StateProviders> {
    let path = match backend {
        None => locate(reader, settings, &LocalBackend::default()),
        Some(Backend::Local(local)) => locate(reader, settings, local),
        Some(
            Backend::Elsewhere { kind, place }
            | Backend::Computed(ComputedBackend { kind, place, .. }),
        ) => {
            let note = Diagnostic::note(rules::STATE_NOT_VISIBLE, "State not visible").at(
                place.file,
                place.span,
                format!(
                    "the state is kept by {kind}; which providers only the state needs is unknown"
                ),
            );
            reader.found.push(note);
            return None;
        }
    };
    let opened = match reader.open(&path) {
        Ok(opened) => opened,
        // Nothing was applied yet: that is a state without resources (rules 7.1).
        Err(error) if [ErrorKind::NotFound, ErrorKind::NotADirectory].contains(&error.kind()) => {
            return Some(StateProviders::default());
        }
        // The file is outside of what the reader may see: a revision of git, or the directory it is
        // confined to.
        Err(error) if is_outside(&error) => {
            let note = Diagnostic::note(rules::STATE_NOT_VISIBLE, "State not visible");
            reader.report(&path, note, &error.to_string());
            return None;
        }
        Err(error) => {
            refuse(reader, &path, "Failed to read file", &error.to_string());
            return None;
        }
    };
    read_opened(reader, settings, &path, opened, required)
}

/// Reads a file that should be a state.
fn read_opened(
    reader: &mut Reader<'_>,
    settings: &Settings,
    path: &Path,
    opened: impl Read,
    required: &Required,
) -> Option<StateProviders> {
    let mut limited = BufReader::new(opened).take(MAX_STATE_BYTES);
    // An empty file is no state yet.
    if limited.fill_buf().is_ok_and(<[u8]>::is_empty) {
        return Some(StateProviders::default());
    }
    let read = json::read(&mut limited, &WANTED);
    // A text that is cut at the limit is a syntax error as well; the limit is the cause to report.
    if limited.limit() == 0 && !matches!(read, Ok(Ok(_))) {
        let remark = format!("it has more than {MAX_STATE_BYTES} bytes");
        refuse(reader, path, "Failed to read file", &remark);
        return None;
    }
    let no_state = |reader: &mut Reader<'_>, reason: &str| {
        let remark = format!("it is no state: {reason}");
        refuse(reader, path, unreadable_title(settings.flavor), &remark);
        None
    };
    let document = match read {
        Ok(Ok(document)) => document,
        Ok(Err(faults)) => {
            let first = faults.first().map(|fault| (fault.line, fault.column));
            let (line, column) = first.unwrap_or_default();
            return no_state(reader, &format!("line {line}, column {column}"));
        }
        Err(error) => {
            refuse(reader, path, "Failed to read file", &error.to_string());
            return None;
        }
    };
    let document = match StateDocument::of(&document) {
        Ok(document) => document,
        Err(reason) => return no_state(reader, &reason),
    };
    // Only one format holds addresses.
    match document.version.cmp(&FORMAT) {
        Ordering::Equal => providers(reader, settings, path, &document, required),
        Ordering::Less => {
            let remark = format!("its format {} is not read, only {FORMAT}", document.version);
            let note = Diagnostic::note(rules::STATE_NOT_VISIBLE, "State not visible");
            reader.report(path, note, &remark);
            None
        }
        Ordering::Greater => {
            let remark = format!("its format {} is a later one", document.version);
            refuse(reader, path, unreadable_title(settings.flavor), &remark);
            None
        }
    }
}

/// The wanted part of a state file.
struct StateDocument<'v> {
    version: u64,
    /// Each resource's `provider` text, with those of its instances.
    resources: Vec<(&'v str, Vec<&'v str>)>,
}

impl<'v> StateDocument<'v> {
    /// Reads a document, or says why it is none; what is null is as good as not there.
    fn of(value: &'v JsonValue) -> Result<Self, String> {
        let version = match value.member("version").map(|version| &version.kind) {
            Some(ValueKind::Number(number)) => number.parse().ok(),
            _ => None,
        };
        let Some(version) = version else {
            return Err("its version is no number".to_owned());
        };
        let mut resources = Vec::new();
        for resource in list(value, "resources")? {
            let instances = list(resource, "instances")?
                .iter()
                .map(provider)
                .collect::<Result<_, _>>()?;
            resources.push((provider(resource)?, instances));
        }
        Ok(Self { version, resources })
    }
}

fn list<'v>(value: &'v JsonValue, name: &str) -> Result<&'v [JsonValue], String> {
    if !matches!(value.kind, ValueKind::Object(_)) {
        return Err(format!("what should have {name} is no object"));
    }
    match value.member(name).map(|list| &list.kind) {
        None | Some(ValueKind::Null) => Ok(&[]),
        Some(ValueKind::Array(items)) => Ok(items),
        Some(_) => Err(format!("{name} is no list")),
    }
}

/// Reads which provider a resource or an instance names; empty for none.
fn provider(value: &JsonValue) -> Result<&str, String> {
    if !matches!(value.kind, ValueKind::Object(_)) {
        return Err("what should have a provider is no object".to_owned());
    }
    match value.member("provider").map(|provider| &provider.kind) {
        None | Some(ValueKind::Null) => Ok(""),
        Some(ValueKind::String(text)) => Ok(text),
        Some(_) => Err("provider is no text".to_owned()),
    }
}

/// Returns the selected workspace.
pub(in crate::texts::config) fn workspace(reader: &Reader<'_>, settings: &Settings) -> String {
    let selected = settings.workspace.clone().or_else(|| {
        let mut text = String::new();
        let file = reader.open(&settings.data_dir.join("environment")).ok()?;
        file.take(MAX_WORKSPACE_BYTES)
            .read_to_string(&mut text)
            .ok()?;
        Some(text.trim().to_owned())
    });
    match selected.as_deref() {
        // An empty TF_WORKSPACE, or an empty file, selects the default workspace.
        None | Some("") => "default".to_owned(),
        Some(name) => name.to_owned(),
    }
}

fn locate(reader: &Reader<'_>, settings: &Settings, local: &LocalBackend) -> PathBuf {
    // `path` is that of the default workspace; the others are below `workspace_dir` (rules 7.2).
    match workspace(reader, settings).as_str() {
        "default" => local
            .path
            .clone()
            .unwrap_or_else(|| PathBuf::from("terraform.tfstate")),
        workspace => local
            .workspace_dir
            .clone()
            .unwrap_or_else(|| PathBuf::from("terraform.tfstate.d"))
            .join(workspace)
            .join("terraform.tfstate"),
    }
}

fn providers(
    reader: &mut Reader<'_>,
    settings: &Settings,
    path: &Path,
    document: &StateDocument<'_>,
    required: &Required,
) -> Option<StateProviders> {
    let Some((mut named, mut legacy)) = named_providers(document, reader.flavor) else {
        let remark = "it names a provider in a form that the program does not read";
        refuse(reader, path, unreadable_title(reader.flavor), remark);
        return None;
    };
    if settings.keeps_legacy {
        named.append(&mut legacy);
    }
    if !legacy.is_empty() {
        // Commands that replace them by required providers of the same type.
        let flavor = reader.flavor;
        let commands: Vec<String> = legacy
            .iter()
            .take(MAX_REPLACED)
            .filter_map(|old| {
                let name = old.type_name();
                let new = required
                    .keys()
                    .find(|addr| addr.type_name() == name)
                    .cloned()
                    // The providers that had no namespace were those of hashicorp, which a type alone means.
                    .or_else(|| ProviderAddr::parse(name, flavor).ok())?;
                Some(format!(
                    "`{}`",
                    state_command(flavor, reader.root(), old, &new)
                ))
            })
            .collect();
        let help = format!(
            "run {}, or ignore the state with --no-state",
            commands.join(" and ")
        );
        let remark = "it names a provider in the form of Terraform 0.12";
        let title = "Invalid legacy provider address";
        let diagnostic = Diagnostic::error(rules::STATE_UNREADABLE, title).help(help);
        reader.report(path, diagnostic, remark);
        return None;
    }
    let file = reader.name_file(path);
    let place = SourcePlace {
        file,
        span: Span::default(),
    };
    Some(StateProviders {
        providers: named.into_iter().map(|addr| (addr, place)).collect(),
    })
}

/// Returns the providers that a state names, and those of them in the form of Terraform 0.12; `None` if the program does
/// not read a name.
fn named_providers(
    document: &StateDocument<'_>,
    flavor: Flavor,
) -> Option<(BTreeSet<ProviderAddr>, BTreeSet<ProviderAddr>)> {
    let mut named = BTreeSet::new();
    let mut legacy: BTreeSet<ProviderAddr> = BTreeSet::new();
    for (text, instances) in &document.resources {
        match read_provider(text, flavor) {
            StateReference::Provider(addr) => {
                if addr.is_legacy() {
                    legacy.insert(addr.clone());
                }
                named.insert(addr);
            }
            StateReference::Legacy(name) => {
                legacy.extend(ProviderAddr::parse(&format!("-/{name}"), flavor));
            }
            // OpenTofu refuses the whole state then (rules 7.4), Terraform passes over them.
            StateReference::Instance(_) | StateReference::Nothing => {
                if flavor.is_opentofu() && !text.is_empty() {
                    return None;
                }
            }
        }
        // Only OpenTofu has providers of single instances.
        for text in instances.iter().filter(|_| flavor.is_opentofu()) {
            if let StateReference::Provider(addr) | StateReference::Instance(addr) =
                read_provider(text, flavor)
            {
                named.insert(addr);
            }
        }
    }
    Some((named, legacy))
}

/// Returns the command that changes a provider in the state of a root; it asks before it writes.
#[must_use]
pub fn state_command(
    flavor: Flavor,
    root: &Path,
    old: &ProviderAddr,
    new: &ProviderAddr,
) -> String {
    let dir = match root.display().to_string().as_str() {
        "" | "." => String::new(),
        dir => format!(" -chdir={}", diag::quoted(dir)),
    };
    let moved = if old.is_legacy() {
        // A leading dash would be read as that of an option.
        format!("-- -/{} {}", old.type_name(), new.short(flavor))
    } else {
        format!("{old} {new}")
    };
    format!("{}{dir} state replace-provider {moved}", flavor.command())
}

fn unreadable_title(flavor: Flavor) -> &'static str {
    if flavor.is_opentofu() {
        "Failed refreshing the state"
    } else {
        "Error refreshing state"
    }
}

fn refuse(reader: &mut Reader<'_>, path: &Path, title: &str, remark: &str) {
    let diagnostic = Diagnostic::error(rules::STATE_UNREADABLE, title)
        .help("fix the state, or ignore it with --no-state");
    reader.report(path, diagnostic, remark);
}

/// A parsed `provider` text of the state.
#[derive(Debug, PartialEq)]
enum StateReference {
    /// The provider of a text like `[module.X.]provider["ADDRESS"][.ALIAS]`.
    Provider(ProviderAddr),
    /// The same with the key of an instance behind the alias, which OpenTofu writes.
    Instance(ProviderAddr),
    /// `provider.NAME[.ALIAS]`, as before Terraform 0.13.
    Legacy(String),
    Nothing,
}

fn read_provider(text: &str, flavor: Flavor) -> StateReference {
    let mut rest = text;
    while let Some(module) = rest.strip_prefix("module.") {
        // Keys of instances may hold anything but are quoted.
        let Some(end) = end_of_module(module) else {
            return StateReference::Nothing;
        };
        rest = &module[end..];
    }
    let Some(rest) = rest.strip_prefix("provider") else {
        return StateReference::Nothing;
    };
    // The spelling from before Terraform 0.13 (rules 7.3).
    if let Some(names) = rest.strip_prefix('.') {
        let name = names.split('.').next().unwrap_or_default().to_owned();
        let mut names = names.splitn(3, '.');
        let are_identifiers = names.by_ref().take(2).all(words::is_identifier);
        return if are_identifiers && names.next().is_none() {
            StateReference::Legacy(name)
        } else {
            StateReference::Nothing
        };
    }
    let Some((address, behind)) = rest
        .strip_prefix("[\"")
        .and_then(|rest| rest.split_once("\"]"))
    else {
        return StateReference::Nothing;
    };
    let Ok(addr) = ProviderAddr::parse(address, flavor) else {
        return StateReference::Nothing;
    };
    match behind.strip_prefix('.') {
        None if behind.is_empty() => StateReference::Provider(addr),
        // OpenTofu writes the key of an instance behind the alias (rules 7.4).
        Some(alias) if alias.contains('[') => StateReference::Instance(addr),
        Some(_) => StateReference::Provider(addr),
        None => StateReference::Nothing,
    }
}

/// Finds where the name and key of a module end, the dot behind them included.
fn end_of_module(text: &str) -> Option<usize> {
    let mut quoted = false;
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '.' if !quoted => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// Returns the address that `init` looks for: OpenTofu moves those of Terraform's registry to its own,
/// unless the configuration itself requires them under that very name.
pub(in crate::texts::config) fn moved(
    addr: ProviderAddr,
    settings: &Settings,
    requirements: &Requirements,
) -> ProviderAddr {
    if !settings.flavor.is_opentofu() || !settings.moves_state_hosts {
        return addr;
    }
    // An address that the configuration itself requires is not moved (rules 7.5).
    let places = requirements.providers.get(&addr);
    let required = places.is_some_and(|places| {
        places
            .iter()
            .any(|place| place.origin != RequirementOrigin::State)
    });
    match addr.on_own_registry(settings.flavor) {
        Some(own) if !required => own,
        _ => addr,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_provider_are_reported_apart() {
        let flavor = Flavor::Terraform1_11;
        let aws = ProviderAddr::parse("hashicorp/aws", flavor).unwrap();
        let full = r#"provider["registry.terraform.io/hashicorp/aws"]"#;
        for (text, named) in [
            (full.to_owned(), StateReference::Provider(aws.clone())),
            (
                format!("{full}.west"),
                StateReference::Provider(aws.clone()),
            ),
            (
                format!("module.a[\"x.y\\\"]\"].module.b.{full}"),
                StateReference::Provider(aws.clone()),
            ),
            (format!("{full}.by[\"a\"]"), StateReference::Instance(aws)),
            (
                "provider.aws".to_owned(),
                StateReference::Legacy("aws".to_owned()),
            ),
            (
                "module.a.provider.aws".to_owned(),
                StateReference::Legacy("aws".to_owned()),
            ),
            (
                "provider.aws.west".to_owned(),
                StateReference::Legacy("aws".to_owned()),
            ),
            ("provider.aws.west.x".to_owned(), StateReference::Nothing),
            ("provider.aws[0]".to_owned(), StateReference::Nothing),
            (String::new(), StateReference::Nothing),
            ("provider[\"a b\"]".to_owned(), StateReference::Nothing),
            ("module.a".to_owned(), StateReference::Nothing),
        ] {
            assert_eq!(read_provider(&text, flavor), named, "of {text}");
        }
    }
}
