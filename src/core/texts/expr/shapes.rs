//! Properties of types, computed once per conversion: values may have many parts of one large type.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::failure::{Fit, Misfit};
use super::types::{AttributeType, Presence, Type};

/// Limit of what one conversion may add to a value, in bytes: nulls and defaults of optional attributes.
const MAX_ADDED: usize = 16 << 20;

/// The shapes of the types of one conversion, and the bytes that it may still add.
pub(super) struct Shapes {
    /// Shapes by the address of the shared part of a type; `of` keeps the part alive, so that no address is reused.
    known: BTreeMap<usize, TypeShape>,
    left: usize,
}

/// A type with its properties.
#[derive(Clone)]
struct TypeShape {
    of: Type,
    plain: Type,
    is_open: bool,
    has_defaults: bool,
}

impl Type {
    /// Returns the same type with every attribute required: types of values have no optional ones.
    #[must_use]
    pub fn plain(&self) -> Self {
        Shapes::default().plain(self)
    }

    /// Returns true if any attribute in the type has a default.
    #[must_use]
    pub fn has_defaults(&self) -> bool {
        Shapes::default().has_defaults(self)
    }
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
    /// Counts bytes that are added to a value.
    pub(super) fn charge(&mut self, bytes: usize) -> Fit<()> {
        let left = self.left.checked_sub(bytes);
        self.left = left.ok_or(Misfit::Uncertain("this computes too much"))?;
        Ok(())
    }

    /// Returns the type with every attribute required: types of values have no optional ones.
    pub(super) fn plain(&mut self, ty: &Type) -> Type {
        self.shape(ty).plain
    }

    /// Returns true if any part of a type is open.
    pub(super) fn is_open(&mut self, ty: &Type) -> bool {
        self.shape(ty).is_open
    }

    /// Returns true if any attribute in a type has a default.
    pub(super) fn has_defaults(&mut self, ty: &Type) -> bool {
        self.shape(ty).has_defaults
    }

    fn shape(&mut self, ty: &Type) -> TypeShape {
        let address = match ty {
            Type::Tuple(items) => items.as_ptr().addr(),
            Type::Object(items) => Arc::as_ptr(items).addr(),
            _ => return self.compute(ty),
        };
        if let Some(shape) = self.known.get(&address).filter(|shape| shape.of == *ty) {
            return shape.clone();
        }
        let shape = self.compute(ty);
        self.known.insert(address, shape.clone());
        shape
    }

    fn compute(&mut self, ty: &Type) -> TypeShape {
        let mut shape = TypeShape {
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
                shape.plain = Type::Tuple(
                    items
                        .iter()
                        .map(|item| self.part(item, &mut shape))
                        .collect(),
                );
            }
            Type::Object(items) => {
                let parts = items.iter().map(|(name, item)| {
                    // Only an attribute with a default changes a value while it is converted.
                    shape.has_defaults |= matches!(item.presence, Presence::Default(_));
                    let part = self.part(&item.ty, &mut shape);
                    (name.clone(), AttributeType::required(part))
                });
                shape.plain = Type::Object(Arc::new(parts.collect()));
            }
        }
        shape
    }

    /// Adds the properties of a part to the whole, and returns the plain type of the part.
    fn part(&mut self, part: &Type, whole: &mut TypeShape) -> Type {
        let part = self.shape(part);
        whole.is_open |= part.is_open;
        whole.has_defaults |= part.has_defaults;
        part.plain
    }
}
