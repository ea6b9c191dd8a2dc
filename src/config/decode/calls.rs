//! `module` blocks: what their source means (rules 5.5).

use crate::config::decode::contents::CallVersion as Version;
use crate::config::decode::contents::{Call, Contents, Late, Source};
use crate::config::decode::handover;
use crate::config::faults::Faults;
use crate::config::file::{Role, SourcePlace};
use crate::config::syntax::{self, references, words};
use crate::config::validate::bodies;
use crate::expr::{self, Value};
use crate::flavor::Flavor;
use crate::hcl::tree::{Block, Expr};
use crate::version::CoreConstraints;

/// Decodes a `module` block; a faulty one is reported and gives no call.
pub(in crate::config) fn decode(block: &Block, contents: &mut Contents, faults: &mut Faults) {
    let [name] = &*block.labels else { return };
    if !words::is_identifier(&name.text) {
        let remark = "a name holds letters, digits, dashes and underscores";
        faults.invalid("Invalid module instance name", name.span, remark);
        return;
    }
    let handover = handover::decode(block, faults);
    let stated = version(block, faults);
    // What is wrong with a version says nothing about the source.
    let version = stated.clone().unwrap_or(Version::Computed);
    let (source, span) = match block.body.attribute("source") {
        Some(argument) => match source(&argument.value, &version, faults) {
            Some(source) => (Some(source), argument.value.span),
            None => return,
        },
        None if faults.role == Role::Override => (None, block.header),
        None => {
            faults.invalid(
                "Missing required argument",
                faults.gap(&block.body),
                "source is missing",
            );
            return;
        }
    };
    if stated.is_none() {
        return;
    }
    contents.calls.push(Call {
        name: name.text.clone(),
        source,
        version,
        version_place: version_place(block, faults),
        place: faults.place(span),
        header: faults.place(block.header),
        handover,
        source_late: late(block, "source", faults),
        version_late: late(block, "version", faults),
    });
}

/// Keeps an argument that may be computed.
fn late(block: &Block, name: &str, faults: &Faults) -> Option<Late> {
    let argument = block.body.attribute(name)?;
    Late::keep(&argument.value, faults)
}

/// Returns the place of the version of a call.
pub(in crate::config) fn version_place(block: &Block, faults: &Faults) -> Option<SourcePlace> {
    let argument = block.body.attribute("version")?;
    Some(faults.place_of(&argument.value))
}

/// Reads the version of a call; one that is no version is reported, and none.
pub(in crate::config) fn version(block: &Block, faults: &mut Faults) -> Option<Version> {
    let Some(argument) = block.body.attribute("version") else {
        return Some(Version::Absent);
    };
    let value = match evaluate(&argument.value, faults) {
        Ok(value) => value,
        Err(Unknown::Computed) => return Some(Version::Computed),
        Err(Unknown::Refused) => return None,
    };
    let read = stated_version(&value);
    if read.is_none() {
        let span = argument.value.span;
        faults.error("constraint-invalid", "Invalid version constraint", span, "");
    }
    read
}

/// Reads the value of a version; `None` if it is no constraint.
pub(in crate::config) fn stated_version(value: &Value) -> Option<Version> {
    if *value == Value::Null {
        return Some(Version::Null);
    }
    let constraints = CoreConstraints::parse(&value.to_text()?).ok()?;
    Some(Version::Stated(constraints))
}

/// Reads the source of a module that a test run calls: no program computes that, and only OpenTofu
/// takes more than local paths and registries (rules 6.3).
pub(in crate::config) fn of_run(
    value: &Expr,
    version: &Version,
    faults: &mut Faults,
) -> Option<Source> {
    let text = bodies::text(value, faults)?;
    let source = classify(&text);
    let (title, fits) = match (version, &source) {
        (Version::Absent, Some(Source::Remote(text))) => (
            NO_SOURCE,
            faults.flavor.is_opentofu() || is_registry_address(text),
        ),
        (Version::Absent, source) => (NO_SOURCE, source.is_some()),
        _ => (NO_REGISTRY_SOURCE, is_registry_address(&text)),
    };
    if !fits {
        let remark = match title {
            NO_SOURCE => {
                "write a local path, from the root on, or the address of a registry's module"
            }
            _ => "only a module of a registry has versions",
        };
        faults.invalid(title, value.span, remark);
    }
    source.filter(|_| fits)
}

/// Why an expression has no value here.
enum Unknown {
    /// It depends on values that are not known here.
    Computed,
    /// It may not stand here; that is reported already.
    Refused,
}

/// Evaluates a source or a version. Terraform 1.11 takes a constant only, the others compute it; only
/// where it is computed is a string in JSON a template (rules 2.3).
fn evaluate(value: &Expr, faults: &mut Faults) -> Result<Value, Unknown> {
    if faults.flavor != Flavor::Terraform1_11 {
        let value = syntax::as_template(value, faults);
        // A constant may name what does not matter to its value, but to the program.
        let constant = expr::constant(faults.file, &value);
        return constant
            .ok()
            .filter(|_| !references::refers(&value))
            .ok_or(Unknown::Computed);
    }
    expr::constant(faults.file, value).map_err(|error| {
        if error.refused.is_empty() {
            Unknown::Computed
        } else {
            faults.add(error.refused);
            Unknown::Refused
        }
    })
}

const NO_SOURCE: &str = "Invalid module source address";
const NO_REGISTRY_SOURCE: &str = "Invalid registry module source address";

fn source(value: &Expr, version: &Version, faults: &mut Faults) -> Option<Source> {
    let constant = match evaluate(value, faults) {
        Ok(constant) => constant,
        Err(Unknown::Computed) => return Some(Source::Computed(faults.place(value.span))),
        Err(Unknown::Refused) => return None,
    };
    let Some(text) = constant.to_text() else {
        let title = no_text_title(&constant, faults.flavor);
        faults.invalid(title, value.span, "a string is needed here");
        return None;
    };
    let source = classify(&text);
    let has_version = match version {
        // The oldest Terraform only looks whether the argument is there.
        Version::Null => faults.flavor == Flavor::Terraform1_11,
        _ => matches!(version, Version::Stated(_)),
    };
    let fits = match version {
        // Whether the two fit each other shows where the module is installed.
        Version::Computed => return source.or(Some(Source::Remote(text))),
        _ if has_version => is_registry_address(&text),
        _ => source.is_some(),
    };
    if fits {
        return source;
    }
    if has_version {
        let remark = "only a module of a registry has versions";
        faults.invalid(NO_REGISTRY_SOURCE, value.span, remark);
    } else {
        let remark = "a local path starts with ./ or ../";
        faults.invalid(NO_SOURCE, value.span, remark);
    }
    None
}

/// Reads the text of a source beside the version of the call.
///
/// # Errors
/// The title of the program and what to do, if the two do not fit.
pub(in crate::config) fn fitting(
    text: &str,
    version: &Version,
) -> Result<Source, (&'static str, &'static str)> {
    let has_version = matches!(version, Version::Stated(_));
    match classify(text) {
        Some(source) if !has_version || is_registry_address(text) => Ok(source),
        _ if has_version => Err((
            NO_REGISTRY_SOURCE,
            "only a module of a registry has versions",
        )),
        _ => Err((NO_SOURCE, "a local path starts with ./ or ../")),
    }
}

/// Returns the title of a source that is no text.
pub(in crate::config) fn no_text_title(value: &Value, flavor: Flavor) -> &'static str {
    match flavor {
        Flavor::Terraform1_11 | Flavor::OpenTofu1_12 => "Unsuitable value type",
        _ if *value == Value::Null => "Unsuitable module source",
        _ => "Incorrect value type",
    }
}

/// Says what kind of address a source is; `None` is an address of no kind.
///
/// An absolute path is no local module to the programs: they copy it, as if it were remote.
fn classify(text: &str) -> Option<Source> {
    const PREFIXES: [&str; 4] = ["./", "../", ".\\", "..\\"];
    if PREFIXES.iter().any(|prefix| text.starts_with(prefix)) {
        // A backslash means the same on every system.
        return Some(Source::Local(text.replace('\\', "/")));
    }
    // Where the programs would need the network to find out, the call is not visible.
    let has_scheme = text.contains(':');
    let known_host = ["github.com/", "bitbucket.org/"]
        .iter()
        .any(|host| text.starts_with(host))
        || text.contains(".amazonaws.com/")
        || text.contains(".googleapis.com/");
    let remote = has_scheme || known_host || text.starts_with('/') || is_registry_address(text);
    remote.then(|| Source::Remote(text.to_owned()))
}

/// Brings the source of a module that is not local into the form that the manifest records, where
/// that is known for certain (rules 5.4).
pub(in crate::config) fn normal_source(text: &str, flavor: Flavor) -> Option<String> {
    if is_registry_address(text) {
        let (address, below) = match text.split_once("//") {
            Some((address, below)) => (address, format!("//{below}")),
            None => (text, String::new()),
        };
        let host = match address.split('/').count() {
            3 => format!("{}/", flavor.default_host()),
            _ => String::new(),
        };
        return Some(format!("{host}{address}{below}"));
    }
    if let Some(rest) = text.strip_prefix("github.com/") {
        let (path, query) = match rest.split_once('?') {
            Some((path, query)) => (path, format!("?{query}")),
            None => (rest, String::new()),
        };
        let (repository, below) = match path.split_once("//") {
            Some((repository, below)) => (repository, format!("//{below}")),
            None => (path, String::new()),
        };
        if repository.split('/').count() != 2 {
            return None;
        }
        let repository = repository.strip_suffix(".git").unwrap_or(repository);
        return Some(format!(
            "git::https://github.com/{repository}.git{below}{query}"
        ));
    }
    text.starts_with("git::https://").then(|| text.to_owned())
}

/// Returns whether a source has the form `[HOST/]NAMESPACE/NAME/SYSTEM[//DIR]`.
fn is_registry_address(text: &str) -> bool {
    let address = text.split_once("//").map_or(text, |(address, _)| address);
    let parts: Vec<&str> = address.split('/').collect();
    let (host, names) = match &*parts {
        [host, names @ ..] if names.len() == 3 => (Some(*host), names),
        names if names.len() == 3 => (None, names),
        _ => return false,
    };
    // These hosts have no registry; addresses on them mean repositories.
    let good_host = host.is_none_or(|host| {
        let reserved = ["github.com", "bitbucket.org"].contains(&host);
        !reserved && host.contains(['.', ':']) && !host.contains(['?', '@', ' '])
    });
    let is_name = |name: &&str| {
        let inside = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let edges = name.starts_with(|c: char| c.is_ascii_alphanumeric())
            && name.ends_with(|c: char| c.is_ascii_alphanumeric());
        edges && name.chars().all(inside)
    };
    good_host && names.iter().all(is_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_reported_apart_by_their_form() {
        let local = |path: &str| Some(Source::Local(path.to_owned()));
        let remote = |path: &str| Some(Source::Remote(path.to_owned()));
        assert_eq!(classify("./m"), local("./m"));
        assert_eq!(classify("../../m"), local("../../m"));
        assert_eq!(classify(".\\m\\n"), local("./m/n"));
        for text in [
            "acme/net/aws",
            "acme/net/aws//sub/dir",
            "registry.example.com/acme/net/aws",
            "localhost:8080/acme/net/aws",
            "github.com/acme/repo//sub?ref=v1",
            "git::https://example.com/x.git",
            "git@github.com:acme/repo.git",
            "https://example.com/m.zip",
            "s3::https://s3.amazonaws.com/b/m.zip",
            "/srv/modules/m",
            "C:\\modules\\m",
        ] {
            assert_eq!(classify(text), remote(text), "of {text}");
        }
        for text in ["", ".", "..", "mods", "a/b", "a/b/c/d/e", "12"] {
            assert_eq!(classify(text), None, "of {text:?}");
        }
    }

    #[test]
    fn only_some_addresses_have_versions() {
        assert!(is_registry_address("acme/net/aws//sub"));
        assert!(is_registry_address("example.com:8443/acme/net/aws"));
        for text in [
            "./m",
            "github.com/acme/net/aws",
            "git::https://example.com/x.git",
            "acme/net",
        ] {
            assert!(!is_registry_address(text), "{text}");
        }
    }
}
