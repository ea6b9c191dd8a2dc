//! The frame for evaluators of named values: the values of configuration and those of Terragrunt. Each value is
//! computed on the first use.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::scope::NameValue;
use super::typed::Typed;
use super::types::Type;
use super::value::Value;
use crate::diag::Diagnostic;
use crate::hcl::tree::{Expr, ExprKind, Step};

/// Maximum number of named values that need each other in a row: evaluation is recursive, and the stack limited.
const MAX_CHAIN: usize = 200;

/// A named value that could not be computed; `R` holds what an evaluator keeps of a refusal.
#[derive(Clone, Debug)]
pub enum NoValue<R> {
    /// The program refuses the value.
    Refused(R),
    /// The program may have a value; the diagnostic says why it is not known here.
    Uncertain(Arc<Diagnostic>),
}

/// Values by key, each computed once. A key that is asked for while its value is computed needs itself.
#[derive(Debug)]
pub struct OnDemand<K, V> {
    /// `None` for a value that is being computed.
    values: BTreeMap<K, Option<V>>,
}

/// The state of a value of [`OnDemand`] that an expression needs.
pub enum Demand<V> {
    /// The value was computed before.
    Computed(V),
    /// The value is being computed: it needs itself.
    Cycle,
    /// The value is not computed; the caller does that, and calls [`OnDemand::finish`].
    Begun,
}

impl<K, V> Default for OnDemand<K, V> {
    fn default() -> Self {
        Self {
            values: BTreeMap::new(),
        }
    }
}

impl<K: Ord, V: Clone> OnDemand<K, V> {
    /// Looks a value up; one that is absent is marked as being computed.
    pub fn begin(&mut self, key: K) -> Demand<V> {
        let mut begun = false;
        let value = self.values.entry(key).or_insert_with(|| {
            begun = true;
            None
        });
        match value {
            Some(value) => Demand::Computed(value.clone()),
            None if begun => Demand::Begun,
            None => Demand::Cycle,
        }
    }

    /// Keeps a value for those who ask for it later.
    pub fn finish(&mut self, key: K, value: V) {
        self.values.insert(key, Some(value));
    }

    /// Makes a value that was begun absent again.
    pub fn forget(&mut self, key: &K) {
        self.values.remove(key);
    }

    /// Returns `None` for a value that nothing needed, and `Some(None)` for one that is being computed.
    pub fn get(&self, key: &K) -> Option<Option<&V>> {
        self.values.get(key).map(Option::as_ref)
    }
}

/// The number of named values that are being computed because each needs the next.
#[derive(Clone, Copy, Debug, Default)]
pub struct DemandChain {
    length: usize,
}

impl DemandChain {
    /// Returns the chain with one more value, unless it is too long already.
    #[must_use]
    pub fn longer(self) -> Option<Self> {
        let length = self.length + 1;
        (length <= MAX_CHAIN).then_some(Self { length })
    }
}

/// The values of the names that one expression uses, gathered before it is evaluated.
#[derive(Debug, Default)]
pub struct UsedNames {
    attributes: BTreeMap<String, BTreeMap<String, Arc<Typed>>>,
    values: BTreeMap<String, Arc<Typed>>,
}

impl UsedNames {
    /// Makes a name an object, which may lack the attribute that the expression uses.
    pub fn add_object(&mut self, name: &str) {
        self.attributes.entry(name.to_owned()).or_default();
    }

    /// Adds `NAME.ATTRIBUTE`. Two references may have needed different parts of it: these are joined.
    pub fn add_attribute(&mut self, name: &str, attribute: &str, value: Arc<Typed>) {
        let attributes = self.attributes.entry(name.to_owned()).or_default();
        match attributes.get_mut(attribute) {
            // A shared value must stay shared: a copy would count as kept twice.
            Some(known) if Arc::ptr_eq(known, &value) => {}
            Some(known) => *known = Arc::new(joined(known, &value)),
            None => drop(attributes.insert(attribute.to_owned(), value)),
        }
    }

    /// Adds the whole value of a name, which hides its attributes.
    pub fn add_value(&mut self, name: &str, value: Arc<Typed>) {
        self.values.insert(name.to_owned(), value);
    }

    /// Makes the whole value of a name unknown.
    pub fn add_unknown(&mut self, name: &str) {
        self.add_value(name, Arc::new(Typed::unknown(Type::Any)));
    }

    /// Returns the value of an expression that is nothing but `NAME.ATTRIBUTE`: it needs no copy.
    #[must_use]
    pub fn only_attribute(&self, expr: &Expr) -> Option<Arc<Typed>> {
        let ExprKind::Traversal(base, steps) = &expr.kind else {
            return None;
        };
        match (&base.kind, &**steps) {
            (ExprKind::Variable(name), [Step::Attr(attribute)]) => {
                self.attributes.get(name)?.get(&attribute.text).cloned()
            }
            _ => None,
        }
    }

    /// Returns the names of a scope.
    #[must_use]
    pub fn into_names(self) -> BTreeMap<String, NameValue> {
        let mut names = BTreeMap::new();
        for (name, attributes) in self.attributes {
            names.insert(name, NameValue::Attributes(attributes));
        }
        for (name, value) in self.values {
            names.insert(name, NameValue::Value(value));
        }
        names
    }
}

/// Joins two parts of one object.
fn joined(a: &Typed, b: &Typed) -> Typed {
    match (&a.value, &b.value) {
        (Value::Object(_), Value::Object(_)) if a != b => {
            let mut items = a.attributes();
            for (name, item) in b.attributes() {
                let item = match items.get(&name) {
                    Some(known) => joined(known, &item),
                    None => item,
                };
                items.insert(name, item);
            }
            Typed::object(items)
        }
        _ => b.clone(),
    }
}
