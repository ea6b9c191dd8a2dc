//! Addresses of resources and modules, as `moved`, `removed`, `import` and overrides of tests
//! write them (config rules 12.6).

use std::fmt;

use crate::diag::Span;
use crate::expr::Number;
use crate::flavor::Flavor;
use crate::hcl::tree::{Expr, ExprKind, Step};
use crate::module_config::syntax::references;

/// One part of a written address.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AddressPart<'e> {
    pub text: PartText<'e>,
    pub span: Span,
}

/// The text or key of a part.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum PartText<'e> {
    Name(&'e str),
    /// An index, as in `[KEY]`.
    Key(InstanceKey),
    /// `[…]` with a key that only evaluating gives.
    ComputedKey,
}

/// The key of an instance.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum InstanceKey {
    Text(String),
    Number(usize),
    /// A constant that no instance has as its key.
    Unfit,
}

impl InstanceKey {
    fn is_fit(&self) -> bool {
        *self != Self::Unfit
    }
}

impl fmt::Display for InstanceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "[{text:?}]"),
            Self::Number(number) => write!(f, "[{number}]"),
            Self::Unfit => f.write_str("[]"),
        }
    }
}

/// An address that could be read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Address<'e> {
    pub modules: Vec<(&'e str, Option<InstanceKey>)>,
    /// The resource in the last of the modules; `None` means that module itself.
    pub resource: Option<ResourceName<'e>>,
}

/// The resource part of an address.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ResourceName<'e> {
    /// `resource`, `data`, `ephemeral` or `list`.
    pub kind: &'static str,
    pub type_name: &'e str,
    pub name: &'e str,
    pub key: Option<InstanceKey>,
}

impl Address<'_> {
    /// Writes it as the programs do, without the keys of instances.
    pub(crate) fn without_keys(&self) -> String {
        self.text(|_| String::new())
    }

    /// Writes all of it as the programs do.
    pub(crate) fn with_keys(&self) -> String {
        self.text(|key| key.map(InstanceKey::to_string).unwrap_or_default())
    }

    fn text(&self, key_text: fn(Option<&InstanceKey>) -> String) -> String {
        let mut words: Vec<String> = self
            .modules
            .iter()
            .map(|(name, key)| format!("module.{name}{}", key_text(key.as_ref())))
            .collect();
        if let Some(resource) = &self.resource {
            if resource.kind != "resource" {
                words.push(resource.kind.to_owned());
            }
            words.push(resource.type_name.to_owned());
            words.push(format!(
                "{}{}",
                resource.name,
                key_text(resource.key.as_ref())
            ));
        }
        words.join(".")
    }
}

/// A fault of an address: the title, and the place.
pub(crate) type AddressFault = (&'static str, Span);

/// Splits a reference; anything else is none.
pub(crate) fn parts(expr: &Expr) -> Option<Vec<AddressPart<'_>>> {
    match &expr.kind {
        ExprKind::Traversal(base, steps) => {
            let mut parts = parts(base)?;
            for step in steps {
                let (text, span) = match step {
                    Step::Attr(word) => (PartText::Name(&word.text), word.span),
                    Step::Index(key) => (key_of(key), key.span),
                    Step::AttrSplat | Step::FullSplat => return None,
                };
                parts.push(AddressPart { text, span });
            }
            Some(parts)
        }
        _ => {
            let text = PartText::Name(references::word(expr)?);
            let span = expr.span;
            Some(vec![AddressPart { text, span }])
        }
    }
}

fn key_of(key: &Expr) -> PartText<'_> {
    PartText::Key(match &key.kind {
        ExprKind::String(text) => InstanceKey::Text(text.clone()),
        ExprKind::Number(text) => match Number::parse(text).and_then(Number::to_index) {
            Some(index) => InstanceKey::Number(index),
            None => InstanceKey::Unfit,
        },
        ExprKind::Null | ExprKind::Bool(_) => InstanceKey::Unfit,
        _ => return PartText::ComputedKey,
    })
}

/// Returns whether a key needs evaluating, which no reference may.
pub(crate) fn is_computed(parts: &[AddressPart<'_>]) -> bool {
    parts.iter().any(|part| part.text == PartText::ComputedKey)
}

/// Reads the address of an instance, a resource or a module; computed keys are passed over.
pub(crate) fn instance<'e>(
    parts: &[AddressPart<'e>],
    flavor: Flavor,
) -> Result<Address<'e>, AddressFault> {
    let known = parts
        .iter()
        .filter(|part| part.text != PartText::ComputedKey);
    let parts: Vec<AddressPart<'e>> = known.cloned().collect();
    let (kinds, reserved) = match flavor {
        Flavor::OpenTofu1_12 => (&KINDS[..2], &[][..]),
        Flavor::Terraform1_11 => (&KINDS[..3], RESERVED),
        Flavor::Terraform1_15 | Flavor::Terraform1_16 => (KINDS, RESERVED),
    };
    let grammar = AddressGrammar {
        kinds,
        reserved,
        keys: Keys::Taken,
    };
    read(&parts, &grammar)
}

/// Reads an address that must have no keys: of what a `removed` block means.
pub(crate) fn object<'e>(
    parts: &[AddressPart<'e>],
    flavor: Flavor,
) -> Result<Address<'e>, AddressFault> {
    // A resource is removed with all of its instances (config rules 12.6).
    let (kinds, keys) = if flavor.is_opentofu() {
        let keys = Keys::Refused {
            of_module: "Module instance address with keys is not allowed",
            of_resource: "Resource instance address with keys is not allowed",
            beyond: Some(NO_ADDRESS),
        };
        (&KINDS[..2], keys)
    } else {
        let keys = Keys::Refused {
            of_module: "Module instance keys not allowed",
            of_resource: "Resource instance keys not allowed",
            beyond: None,
        };
        (&KINDS[..1], keys)
    };
    let grammar = AddressGrammar {
        kinds,
        reserved: &[],
        keys,
    };
    read(parts, &grammar)
}

/// The differences between the addresses of the flavors.
struct AddressGrammar {
    /// Words that may stand before a type; each is the kind of the resource.
    kinds: &'static [&'static str],
    /// Words that cannot be a type.
    reserved: &'static [&'static str],
    keys: Keys,
}

/// The keys that an address may have.
#[derive(Clone, Copy)]
enum Keys {
    Taken,
    Refused {
        of_module: &'static str,
        of_resource: &'static str,
        /// The title for more than a key, where that is another one and the place what follows it.
        beyond: Option<&'static str>,
    },
}

/// All kinds of resources; addresses of a flavor and use know the first ones.
const KINDS: &[&str] = &["data", "ephemeral", "resource", "list"];

/// Words that are no type of a resource to Terraform.
const RESERVED: &[&str] = &[
    "arg",
    "count",
    "each",
    "lazy",
    "local",
    "module",
    "path",
    "self",
    "template",
    "terraform",
    "var",
];

const NO_ADDRESS: &str = "Invalid address";
const NO_MODULE: &str = "Invalid address operator";

fn read<'e>(
    parts: &[AddressPart<'e>],
    grammar: &AddressGrammar,
) -> Result<Address<'e>, AddressFault> {
    let mut modules = Vec::new();
    let mut rest = parts;
    while let [first, inner @ ..] = rest {
        match first.text {
            PartText::Name("module") => {}
            PartText::Name(_) => break,
            _ => return Err((NO_MODULE, first.span)),
        }
        let [name, inner @ ..] = inner else {
            return Err((NO_MODULE, first.span));
        };
        let PartText::Name(text) = name.text else {
            return Err((NO_MODULE, name.span));
        };
        let (key, inner) = module_key(inner, grammar)?;
        modules.push((text, key));
        rest = inner;
    }
    let resource = match rest {
        [] => None,
        rest => Some(resource(rest, grammar)?),
    };
    Ok(Address { modules, resource })
}

fn module_key<'p, 'e>(
    rest: &'p [AddressPart<'e>],
    grammar: &AddressGrammar,
) -> Result<(Option<InstanceKey>, &'p [AddressPart<'e>]), AddressFault> {
    let [part, inner @ ..] = rest else {
        return Ok((None, rest));
    };
    let PartText::Key(key) = &part.text else {
        return Ok((None, rest));
    };
    match grammar.keys {
        Keys::Refused { of_module, .. } => Err((of_module, part.span)),
        Keys::Taken if key.is_fit() => Ok((Some(key.clone()), inner)),
        Keys::Taken => Err((NO_MODULE, part.span)),
    }
}

fn resource<'e>(
    parts: &[AddressPart<'e>],
    grammar: &AddressGrammar,
) -> Result<ResourceName<'e>, AddressFault> {
    let whole = parts[0].span;
    let PartText::Name(first) = parts[0].text else {
        return Err((NO_ADDRESS, whole));
    };
    if grammar.reserved.contains(&first) {
        return Err((NO_ADDRESS, whole));
    }
    let prefix = grammar.kinds.iter().find(|word| **word == first);
    let (kind, rest) = match prefix {
        Some(kind) => (*kind, &parts[1..]),
        None => ("resource", parts),
    };
    let [type_part, name_part, rest @ ..] = rest else {
        return Err((NO_ADDRESS, rest.first().map_or(whole, |part| part.span)));
    };
    let word = |part: &AddressPart<'e>| match part.text {
        PartText::Name(name) => Ok(name),
        _ => Err((NO_ADDRESS, part.span)),
    };
    Ok(ResourceName {
        kind,
        type_name: word(type_part)?,
        name: word(name_part)?,
        key: resource_key(rest, grammar)?,
    })
}

fn resource_key(
    rest: &[AddressPart<'_>],
    grammar: &AddressGrammar,
) -> Result<Option<InstanceKey>, AddressFault> {
    let [part, more @ ..] = rest else {
        return Ok(None);
    };
    match (grammar.keys, more, &part.text) {
        (
            Keys::Refused {
                beyond: Some(beyond),
                ..
            },
            [more, ..],
            _,
        ) => Err((beyond, more.span)),
        (Keys::Refused { of_resource, .. }, _, _) => Err((of_resource, part.span)),
        (Keys::Taken, [], PartText::Key(key)) if key.is_fit() => Ok(Some(key.clone())),
        (Keys::Taken, more, _) => Err((NO_ADDRESS, more.first().unwrap_or(part).span)),
    }
}
