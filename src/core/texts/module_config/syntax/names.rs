//! Local names of providers, and references to provider configurations (config rules 4.6, 4.7).

use crate::addr::ProviderAddr;
use crate::diag::{Span, rules};
use crate::flavor::Flavor;
use crate::hcl::tree::{Body, Expr, ExprKind, Step};
use crate::module_config::faults::Faults;
use crate::module_config::file::SourcePlace;
use crate::module_config::file::Syntax;
use crate::module_config::syntax::words;
use crate::module_config::syntax::{references, text};

/// The identity of a provider in a test file: local name and alias.
pub(crate) type ProviderKey = (String, Option<String>);

/// A reference to a provider configuration: `NAME` or `NAME.ALIAS`.
#[derive(Clone, Debug)]
pub(crate) struct Reference {
    pub local_name: String,
    pub alias: Option<String>,
    pub place: SourcePlace,
}

/// Reads the meta-argument `provider` of a block, if it has one.
///
/// Returns `Err` where there is one that cannot be read; that is reported already.
pub(crate) fn provider_argument(body: &Body, faults: &mut Faults) -> Result<Option<Reference>, ()> {
    let Some(argument) = body.attribute("provider") else {
        return Ok(None);
    };
    // Only OpenTofu says what is wrong with a text that is no expression.
    let read = if faults.flavor.is_opentofu() {
        text::as_expression(&argument.value, faults).ok_or(())?
    } else {
        text::as_reference(&argument.value, faults)
    };
    configuration(&read, faults).map(Some)
}

/// Reads a reference to a provider configuration.
///
/// Returns `Err` if it cannot be read; that is reported already.
pub(crate) fn configuration(value: &Expr, faults: &mut Faults) -> Result<Reference, ()> {
    if let ExprKind::String(text) = &value.kind
        && faults.syntax == Syntax::Native
        && let Some(title) = references::fault_in_quoted(text)
    {
        faults.odd("Quoted references are deprecated", value.span, "");
        faults.invalid(title, value.span, "write NAME or NAME.ALIAS");
        return Err(());
    }
    let Some((local_name, alias)) = reference(value, faults) else {
        let remark = "write NAME or NAME.ALIAS";
        faults.invalid(
            "Invalid provider configuration reference",
            value.span,
            remark,
        );
        return Err(());
    };
    if !is_normal(&local_name, faults.flavor) {
        invalid_local_name(value.span, faults);
        return Err(());
    }
    Ok(Reference {
        local_name,
        alias,
        place: faults.place_of(value),
    })
}

/// Splits a reference into local name and alias; anything else is none.
fn reference(value: &Expr, faults: &mut Faults) -> Option<(String, Option<String>)> {
    match &value.kind {
        ExprKind::String(text) if faults.syntax == Syntax::Native => {
            let (name, alias) = match text.split_once('.') {
                Some((name, alias)) => (name, Some(alias)),
                None => (text.as_str(), None),
            };
            if !words::is_identifier(name) || !alias.is_none_or(words::is_identifier) {
                return None;
            }
            faults.odd("Quoted references are deprecated", value.span, "");
            Some((name.to_owned(), alias.map(str::to_owned)))
        }
        ExprKind::Traversal(base, steps) => {
            let name = references::word(base)?;
            // The key of an instance is OpenTofu's; it never decides which provider is meant (config rules 10.2).
            let alias = match &**steps {
                [Step::Attr(alias)] => alias,
                [Step::Attr(alias), Step::Index(_)] if faults.flavor.is_opentofu() => alias,
                _ => return None,
            };
            Some((name.to_owned(), Some(alias.text.clone())))
        }
        _ => references::word(value).map(|name| (name.to_owned(), None)),
    }
}

pub(crate) fn invalid_local_name(at: Span, faults: &mut Faults) {
    let remark = "a local name holds lower-case letters, digits and single dashes";
    faults.error(
        rules::ADDRESS_MALFORMED,
        "Invalid provider local name",
        at,
        remark,
    );
}

/// Brings a local name or the start of a type to normal form: lower case, as in an address.
pub(crate) fn fold(name: &str, flavor: Flavor) -> Option<String> {
    let addr = ProviderAddr::implied(name, flavor).ok()?;
    Some(addr.type_name().to_owned())
}

/// Returns the address that a name means where nothing maps it.
pub(crate) fn implied(name: &str, flavor: Flavor) -> Option<ProviderAddr> {
    // Folding comes first: `Terraform_data` is the built-in provider, too.
    ProviderAddr::implied(&fold(name, flavor)?, flavor).ok()
}

/// Returns whether a local name is as it must be where nothing folds it.
pub(crate) fn is_normal(name: &str, flavor: Flavor) -> bool {
    fold(name, flavor).is_some_and(|folded| folded == name)
}
