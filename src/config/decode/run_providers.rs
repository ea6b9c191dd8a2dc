//! What a run of a test file says about providers.

use crate::config::faults::Faults;
use crate::config::file::SourcePlace;
use crate::config::syntax::names::ProviderKey;
use crate::hcl::tree::{Block, Expr, ExprKind, ObjectKey, Step};

/// One run of a test file.
#[derive(Debug)]
pub(in crate::config) struct TestRun {
    pub name: String,
    pub calls_module: bool,
    /// The entries of its `providers`.
    pub passed: Vec<UsedProvider<ProviderKey>>,
}

/// A configuration of a test file that a run uses.
#[derive(Debug)]
pub(in crate::config) struct UsedProvider<K> {
    /// Its name in the module.
    pub inside: K,
    /// The block of the test file.
    pub block: K,
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
    match &value.kind {
        ExprKind::Variable(name) => Some((name.clone(), None)),
        ExprKind::Traversal(base, steps) => match (&base.kind, &**steps) {
            (ExprKind::Variable(name), [Step::Attr(alias)]) => {
                Some((name.clone(), Some(alias.text.clone())))
            }
            _ => None,
        },
        _ => None,
    }
}
