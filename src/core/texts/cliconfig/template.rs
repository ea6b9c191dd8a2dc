//! The repository of OCI artifacts that holds the packages of a provider (rules 7.1 to 7.3).

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use crate::addr::{ProviderAddr, ProviderPattern, RepositoryAddr, RepositoryAddrError};
use crate::diag::{Diagnostic, FileId, Span};
use crate::expr::{self, Budget, EvalScope, Typed};
use crate::hcl::{self, tree::Expr};

/// The names that a template may use.
const NAMES: [&str; 3] = ["hostname", "namespace", "type"];

/// Maximum length of a template, in bytes.
const MAX_BYTES: usize = 4096;

/// The parts of an address that each template is tested with.
const EXAMPLE: [&str; 3] = ["example.com", "example-namespace", "example-type"];

/// A template of repository addresses, as in `ghcr.io/acme/${namespace}/${type}`.
///
/// ```
/// use lockctl_core::addr::ProviderAddr;
/// use lockctl_core::cliconfig::RepositoryTemplate;
/// use lockctl_core::flavor::Flavor;
///
/// let provider = ProviderAddr::parse("acme/demo", Flavor::OpenTofu1_12)?;
/// for text in ["ghcr.io/x/${namespace}/${type}", "ghcr.io/x/{namespace}/{type}"] {
///     let template: RepositoryTemplate = text.parse()?;
///     assert_eq!(template.repository(&provider)?.to_string(), "ghcr.io/x/acme/demo");
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepositoryTemplate {
    text: Box<str>, // Invariant: it can be read, and makes an address of the example.
    language: TemplateLanguage,
}

/// The syntax of names in a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TemplateLanguage {
    /// As a template of HCL: `${namespace}`.
    Hcl,
    /// As a URI template of level 1 (RFC 6570): `{namespace}`.
    Uri,
}

/// A reason why a text is no template, or makes no address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// The text is no template.
    #[error("it is no template: {0}")]
    Syntax(String),
    /// The template uses an unknown name.
    #[error("it uses {0:?}: only hostname, namespace and type have a value")]
    Name(String),
    /// The template does not use names that have several values.
    #[error("it does not use {}, and `include` does not state exactly one of each", .0.join(", "))]
    Unused(Vec<&'static str>),
    /// The result is no address of a repository.
    #[error(transparent)]
    Address(#[from] RepositoryAddrError),
}

impl RepositoryTemplate {
    /// Reads a template of HCL for the providers that these patterns include, all if there is none.
    pub(super) fn of_method(
        text: &str,
        include: &[ProviderPattern],
    ) -> Result<Self, TemplateError> {
        let template = Self::read(text, TemplateLanguage::Hcl)?;
        let unused = unused(&names(&template.expr()?), include);
        if unused.is_empty() {
            Ok(template)
        } else {
            Err(TemplateError::Unused(unused))
        }
    }

    /// Returns the repository of a provider.
    ///
    /// # Errors
    /// If what the template makes of its address is no address of a repository.
    pub fn repository(&self, provider: &ProviderAddr) -> Result<RepositoryAddr, TemplateError> {
        let hostname = provider.hostname().ascii();
        self.filled([hostname, provider.namespace(), provider.type_name()])
    }

    fn read(text: &str, language: TemplateLanguage) -> Result<Self, TemplateError> {
        if text.len() > MAX_BYTES {
            let reason = format!("it is longer than {MAX_BYTES} bytes");
            return Err(TemplateError::Syntax(reason));
        }
        let template = Self {
            text: text.into(),
            language,
        };
        // Evaluation would report an unknown name as an error of the language.
        if language == TemplateLanguage::Hcl {
            let used = names(&template.expr()?);
            let unknown = used.into_iter().find(|name| !NAMES.contains(&&**name));
            if let Some(name) = unknown {
                return Err(TemplateError::Name(name));
            }
        }
        // The programs try a template with this address when they read the file (rules 7.2).
        template.filled(EXAMPLE).map(|_| template)
    }

    fn filled(&self, values: [&str; 3]) -> Result<RepositoryAddr, TemplateError> {
        if self.language == TemplateLanguage::Uri {
            return Ok(expanded(&self.text, values)?.parse()?);
        }
        let scope = EvalScope {
            names: NAMES
                .iter()
                .zip(values)
                .map(|(name, value)| ((*name).to_owned(), Typed::string(value).into()))
                .collect(),
            // Templates have no functions (rules 7.1).
            functions: None,
        };
        let value = expr::evaluate(FileId::ALONE, &self.expr()?, &scope, &mut Budget::default())
            .map_err(syntax)?;
        let text = value.bare().0.value.to_text();
        let text = text.ok_or_else(|| TemplateError::Syntax("its result is no text".to_owned()))?;
        Ok(text.parse()?)
    }

    fn expr(&self) -> Result<Expr, TemplateError> {
        hcl::template(FileId::ALONE, &self.text, Span::default()).map_err(|fault| syntax([*fault]))
    }
}

impl FromStr for RepositoryTemplate {
    type Err = TemplateError;

    /// Reads a template in either language. Nothing is required of the names that it uses: of several
    /// providers it may mean one repository.
    fn from_str(text: &str) -> Result<Self, TemplateError> {
        // A URI template has single braces; a text without any is the same in both languages.
        let is_hcl = text.contains("${") || text.contains("%{") || !text.contains('{');
        let language = if is_hcl {
            TemplateLanguage::Hcl
        } else {
            TemplateLanguage::Uri
        };
        Self::read(text, language)
    }
}

impl fmt::Display for RepositoryTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Returns the first problem of a template.
fn syntax(problems: impl IntoIterator<Item = Diagnostic>) -> TemplateError {
    let title = problems.into_iter().next().map(|problem| problem.title);
    TemplateError::Syntax(title.unwrap_or_else(|| "it has no value".to_owned()))
}

/// Collects the names that a template uses.
fn names(expr: &Expr) -> BTreeSet<String> {
    hcl::references::inside(expr)
        .iter()
        .map(|reference| reference.root.to_owned())
        .collect()
}

/// Finds the names that a template must use and does not.
fn unused(used: &BTreeSet<String>, include: &[ProviderPattern]) -> Vec<&'static str> {
    let count = |at: usize| {
        let parts = include
            .iter()
            .filter_map(|pattern| pattern.fixed_parts()[at]);
        parts.collect::<BTreeSet<_>>().len()
    };
    (0..NAMES.len())
        // A part that is the same for all providers need not be in the address of the repository.
        .filter(|at| count(*at) != 1 && !used.contains(NAMES[*at]))
        .map(|at| NAMES[at])
        .collect()
}

/// Expands a URI template of level 1: values are encoded, but what repositories may be called needs none
/// of that.
fn expanded(template: &str, values: [&str; 3]) -> Result<String, TemplateError> {
    let mut expanded = String::new();
    let mut rest = template;
    while let Some((before, behind)) = rest.split_once('{') {
        let Some((name, after)) = behind.split_once('}') else {
            return Err(TemplateError::Syntax("a brace is not closed".to_owned()));
        };
        let Some(index) = NAMES.iter().position(|known| *known == name) else {
            return Err(TemplateError::Name(name.to_owned()));
        };
        expanded.extend([before, values[index]]);
        rest = after;
    }
    Ok(expanded + rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flavor::Flavor;

    const FLAVOR: Flavor = Flavor::OpenTofu1_12;

    #[track_caller]
    fn check(text: &str, include: &[&str], want: Result<&str, &str>) {
        let patterns = include.iter();
        let patterns = patterns.map(|text| ProviderPattern::parse(text, FLAVOR).expect("valid"));
        let patterns: Vec<ProviderPattern> = patterns.collect();
        let provider = ProviderAddr::parse("example.org/acme/demo", FLAVOR).expect("valid");
        let made = RepositoryTemplate::of_method(text, &patterns).map(|template| {
            let made = template.repository(&provider);
            made.map_or_else(|error| error.to_string(), |it| it.to_string())
        });
        let made = made.map_err(|error| error.to_string());
        assert_eq!(made.as_deref().map_err(|error| &**error), want, "{text}");
    }

    #[test]
    fn what_include_leaves_open_must_be_used() {
        let all = "r.example/x/${hostname}/${namespace}/${type}";
        check(all, &[], Ok("r.example/x/example.org/acme/demo"));
        let unused = |names: &str| {
            format!("it does not use {names}, and `include` does not state exactly one of each")
        };
        let host = unused("hostname");
        check("r.example/${namespace}/${type}", &[], Err(&host));
        check(
            "r.example/x",
            &[],
            Err(&unused("hostname, namespace, type")),
        );
        let included = &["example.org/acme/*", "acme/*"];
        check("r.example/${type}", included, Err(&host));
        let included = &["example.org/acme/*", "example.org/other/*"];
        check("r.example/${type}", included, Err(&unused("namespace")));
        let included = &["example.org/acme/*"];
        check("r.example/${type}", included, Ok("r.example/demo"));
        let included = &["example.org/acme/demo"];
        check("r.example/fixed", included, Ok("r.example/fixed"));
        let name = "it uses \"banana\": only hostname, namespace and type have a value";
        check("r.example/${banana}", &["example.org/*/*"], Err(name));
    }

    #[test]
    fn templates_are_those_of_hcl() {
        let one = &["example.org/acme/demo"];
        check(
            "r.example/%{ if type == \"demo\" }a%{ else }b%{ endif }/${namespace == \"acme\" ? \"c\" : \"d\"}",
            one,
            Ok("r.example/a/c"),
        );
        check(
            "${\"r.example\"}/$${x}",
            one,
            Err(
                "\"r.example/${x}\" is no OCI repository: write DOMAIN/NAME, as in ghcr.io/acme/demo, without scheme, \
                 tag or digest, and the name in lower case",
            ),
        );
        check(
            "https://r.example/x",
            one,
            Err(
                "\"https://r.example/x\" is no OCI repository: write DOMAIN/NAME, as in ghcr.io/acme/demo, without \
                 scheme, tag or digest, and the name in lower case",
            ),
        );
        for text in [
            "r.example/${",
            "r.example/${upper(type)}",
            "r.example/${namespace + 1}",
            "${[type]}",
            &"x".repeat(MAX_BYTES + 1),
        ] {
            let error = text.parse::<RepositoryTemplate>().expect_err(text);
            assert!(matches!(error, TemplateError::Syntax(_)), "{error}");
        }
    }

    #[test]
    fn the_command_line_takes_either_language() {
        let provider = ProviderAddr::parse("acme/demo", FLAVOR).expect("valid");
        let made = |text: &str| {
            let template = text.parse::<RepositoryTemplate>()?;
            template.repository(&provider).map(|made| made.to_string())
        };
        let want = "127.0.0.1:5000/acme/demo".to_owned();
        assert_eq!(made("127.0.0.1:5000/{namespace}/{type}"), Ok(want.clone()));
        assert_eq!(
            made("127.0.0.1:5000/${namespace}/${type}"),
            Ok(want.clone())
        );
        assert_eq!(made("127.0.0.1:5000/acme/demo"), Ok(want));
        let uses = |name: &str| Err(TemplateError::Name(name.to_owned()));
        assert_eq!(made("r.example/{+type}"), uses("+type"));
        assert_eq!(made("r.example/{banana}"), uses("banana"));
        assert_eq!(made("r.example/${banana}"), uses("banana"));
        let error = made("r.example/{type").expect_err("no template");
        assert_eq!(
            error.to_string(),
            "it is no template: a brace is not closed"
        );
        assert!(made("r.example/{type}/}").is_err());
        assert!(made("https://r.example/{type}").is_err());
    }

    #[test]
    fn an_address_that_makes_none_is_an_error() {
        let template: RepositoryTemplate = "r.example/${namespace}/${type}".parse().expect("valid");
        let provider = ProviderAddr::parse("ärzte/demo", FLAVOR).expect("valid");
        let error = template.repository(&provider).expect_err("no name");
        assert!(
            error.to_string().starts_with("\"r.example/ärzte/demo\""),
            "{error}"
        );
    }
}
