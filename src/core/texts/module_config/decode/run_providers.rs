//! The `providers` argument of a run in a test file.

use crate::hcl::tree::{Block, Expr, ExprKind, ObjectKey, Step};
use crate::module_config::faults::Faults;
use crate::module_config::file::SourcePlace;
use crate::module_config::syntax::names::ProviderKey;
use crate::module_config::syntax::references;

/// One run of a test file.
#[derive(Debug)]
pub(crate) struct TestRun {
    pub name: String,
    pub calls_module: bool,
    /// The entries of its `providers`.
    pub passed: Vec<UsedProvider>,
}

/// A configuration of a test file that a run uses.
#[derive(Debug)]
pub(crate) struct UsedProvider {
    /// Its name in the module.
    pub inside: ProviderKey,
    /// The block of the test file.
    pub block: ProviderKey,
    /// The place to show for it.
    pub place: SourcePlace,
}

/// Decodes what a run says about providers; what cannot be read says nothing, as to the program.
pub(crate) fn decode(block: &Block, faults: &Faults) -> TestRun {
    let name = block.labels.first();
    let passed = block.body.attribute("providers");
    let items = match passed.map(|argument| &argument.value.kind) {
        Some(ExprKind::Object(items)) => &**items,
        _ => &[],
    };
    let passed = items.iter().filter_map(|item| {
        let inside = match &item.key {
            ObjectKey::Name(word) => Some((word.text.clone(), None)),
            ObjectKey::Expr(key) => key_of(key),
        };
        Some(UsedProvider {
            inside: inside?,
            block: key_of(&item.value)?,
            place: faults.place_of(&item.value),
        })
    });
    TestRun {
        name: name.map(|name| name.text.clone()).unwrap_or_default(),
        calls_module: block
            .body
            .blocks()
            .any(|nested| nested.kind.text == "module"),
        passed: passed.collect(),
    }
}

fn key_of(value: &Expr) -> Option<ProviderKey> {
    let (root, alias) = match &value.kind {
        ExprKind::Traversal(base, steps) => match &**steps {
            // Aliases are kept, although a local name is one provider whatever its aliases (config
            // rules 6.7).
            [Step::Attr(alias)] => (&**base, Some(alias.text.clone())),
            _ => return None,
        },
        _ => (value, None),
    };
    Some((references::word(root)?.to_owned(), alias))
}
