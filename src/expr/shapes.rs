//! What a conversion must know of types again and again, for values that have many parts of one type.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::failure::{Fit, Misfit};
use super::types::{AttributeType, Presence, Type};

/// How much one conversion may add to a value, in bytes.
const MAX_ADDED: usize = 16 << 20;

/// The types that one conversion met, and how much more it may make.
pub(super) struct Shapes {
    /// By the addresses of what tuples and objects hold; each keeps that alive.
    known: BTreeMap<usize, Shape>,
    left: usize,
}

/// What follows from a type.
#[derive(Clone)]
struct Shape {
    of: Type,
    plain: Type,
    is_open: bool,
    has_defaults: bool,
}

impl Default for Shapes {
    fn default() -> Self {
        Self {
            known: BTreeMap::new(),
            left: MAX_ADDED,
        }
    }
}

impl Shapes {
    /// Takes off what is added to a value, in bytes.
    pub(super) fn charge(&mut self, bytes: usize) -> Fit<()> {
        let left = self.left.checked_sub(bytes);
        self.left = left.ok_or(Misfit::Uncertain("this computes too much"))?;
        Ok(())
    }

    /// Returns the same type with every attribute required: types of values have no optional ones.
    pub(super) fn plain(&mut self, ty: &Type) -> Type {
        self.shape(ty).plain
    }

    /// Returns whether any place in a type is open.
    pub(super) fn is_open(&mut self, ty: &Type) -> bool {
        self.shape(ty).is_open
    }

    /// Returns whether any attribute in a type has a default.
    pub(super) fn has_defaults(&mut self, ty: &Type) -> bool {
        self.shape(ty).has_defaults
    }

    fn shape(&mut self, ty: &Type) -> Shape {
        let address = match ty {
            Type::Tuple(items) => items.as_ptr().addr(),
            Type::Object(items) => Arc::as_ptr(items).addr(),
            _ => return self.compute(ty),
        };
        if let Some(known) = self.known.get(&address).filter(|known| known.of == *ty) {
            return known.clone();
        }
        let shape = self.compute(ty);
        self.known.insert(address, shape.clone());
        shape
    }

    fn compute(&mut self, ty: &Type) -> Shape {
        let mut shape = Shape {
            of: ty.clone(),
            plain: ty.clone(),
            is_open: *ty == Type::Any,
            has_defaults: false,
        };
        match ty {
            Type::Any | Type::Bool | Type::Number | Type::String => {}
            Type::List(item) => shape.plain = Type::List(Box::new(self.part(item, &mut shape))),
            Type::Set(item) => shape.plain = Type::Set(Box::new(self.part(item, &mut shape))),
            Type::Map(item) => shape.plain = Type::Map(Box::new(self.part(item, &mut shape))),
            Type::Tuple(items) => {
                let parts = items.iter().map(|item| self.part(item, &mut shape));
                shape.plain = Type::Tuple(parts.collect());
            }
            Type::Object(items) => {
                let parts = items.iter().map(|(name, item)| {
                    shape.has_defaults |= matches!(item.presence, Presence::Default(_));
                    let part = self.part(&item.ty, &mut shape);
                    (name.clone(), AttributeType::required(part))
                });
                shape.plain = Type::Object(Arc::new(parts.collect()));
            }
        }
        shape
    }

    /// Adds what follows from a part to the whole, and returns the plain type of the part.
    fn part(&mut self, part: &Type, whole: &mut Shape) -> Type {
        let part = self.shape(part);
        whole.is_open |= part.is_open;
        whole.has_defaults |= part.has_defaults;
        part.plain
    }
}
