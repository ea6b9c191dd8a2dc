//! What a run of a test file says about providers.

use crate::config::faults::Faults;
use crate::config::file::SourcePlace;
use crate::config::syntax::names::ProviderKey;
use crate::config::syntax::references;
use crate::hcl::tree::{Block, Expr, ExprKind, ObjectKey, Step};

/// One run of a test file.
#[derive(Debug)]
pub(in crate::config) struct TestRun {
    pub name: String,
    pub calls_module: bool,
    /// The entries of its `providers`.
    pub passed: Vec<UsedProvider>,
}

/// A configuration of a test file that a run uses.
#[derive(Debug)]
pub(in crate::config) struct UsedProvider {
    /// Its name in the module.
    pub inside: ProviderKey,
    /// The block of the test file.
    pub block: ProviderKey,
    /// The place to show for it.
    pub place: SourcePlace,
}

/// Decodes what a run says about providers; what cannot be read says nothing, as to the program.
pub(in crate::config) fn decode(block: &Block, faults: &Faults) -> TestRun {
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
            [Step::Attr(alias)] => (&**base, Some(alias.text.clone())),
            _ => return None,
        },
        _ => (value, None),
    };
    Some((references::word(root)?.to_owned(), alias))
}
