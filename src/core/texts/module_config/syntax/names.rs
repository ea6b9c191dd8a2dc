//! Local names of providers, and references to provider configurations (config rules 4.6, 4.7).

use crate::addr::ProviderAddr;
use crate::diag::{Span, rules};
use crate::flavor::Flavor;
use crate::hcl::tree::{Body, Expr, ExprKind, Step};
use crate::module_config::faults::Faults;
use crate::module_config::file::SourcePlace;
use crate::module_config::file::Syntax;
use crate::module_config::syntax::text;
use crate::module_config::syntax::words;

/// The local name in a reference to a provider configuration.
#[derive(Clone, Debug)]
pub(crate) struct ProviderReference {
    pub local_name: String,
    pub place: SourcePlace,
}

/// Reads the meta-argument `provider` of a block, if it has one.
///
/// Returns `Err` where there is one that cannot be read; that is reported already.
pub(crate) fn provider_argument(
    body: &Body,
    faults: &mut Faults,
) -> Result<Option<ProviderReference>, ()> {
    let Some(argument) = body.attribute("provider") else {
        return Ok(None);
    };
    let value = text::as_reference(&argument.value, faults);
    let Some(local_name) = local_name(&value, faults) else {
        let title = "Invalid provider configuration reference";
        faults.invalid(title, value.span, "write NAME or NAME.ALIAS");
        return Err(());
    };
    if !is_normal(&local_name, faults.flavor) {
        invalid_local_name(value.span, faults);
        return Err(());
    }
    Ok(Some(ProviderReference {
        local_name,
        place: faults.place_of(&value),
    }))
}

/// Returns the name in `NAME` or `NAME.ALIAS`; anything else has none.
fn local_name(value: &Expr, faults: &mut Faults) -> Option<String> {
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
            Some(name.to_owned())
        }
        ExprKind::Traversal(base, steps) => {
            // The key of an instance is OpenTofu's (config rules 10.2).
            let is_configuration = match &**steps {
                [Step::Attr(_)] => true,
                [Step::Attr(_), Step::Index(_)] => faults.flavor.is_opentofu(),
                _ => false,
            };
            base.unquoted_word()
                .filter(|_| is_configuration)
                .map(str::to_owned)
        }
        _ => value.unquoted_word().map(str::to_owned),
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
