//! `variable` blocks: what a module takes, and what stands in where nothing is given (config rules 3.13, 9.5,
//! 9.6, 12.4).
//!
//! A value that cannot be determined here changes no requirement by itself and is no fault: what needs it is not
//! computed.

use crate::diag::FileId;
use crate::expr::{self, Misfit, Type, Typed, Value};
use crate::hcl::tree::{Block, Expr, ExprKind};
use crate::module_config::faults::Faults;
use crate::module_config::file::{SourcePlace, Syntax};
use crate::module_config::language;

/// A `variable` block, together with what override files made of it.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    pub name: String,
    /// The header of its block.
    pub place: SourcePlace,
    /// The type that values are converted to.
    pub ty: Option<Given<Type>>,
    /// The type whose defaults of optional attributes are filled in before that. Overrides do not
    /// change it, although they change the other one.
    pub filled_by: Option<Type>,
    /// The value that counts if none is given; it has the type already.
    pub default: Option<Given<Typed>>,
    pub nullable: Option<bool>,
    pub sensitive: Option<bool>,
    pub ephemeral: Option<bool>,
    /// The variable must have a value before anything is installed.
    pub constant: Option<bool>,
}

/// The value of an argument with its place.
#[derive(Clone, Debug)]
pub(crate) struct Given<T> {
    /// Nothing where it could not be determined.
    pub value: Option<T>,
    /// The value as it is written.
    pub place: SourcePlace,
}

pub(crate) fn decode(block: &Block, faults: &mut Faults) -> Option<Variable> {
    let [name] = &*block.labels else {
        return None;
    };
    let (file, flavor) = (faults.file, faults.flavor);
    let argument = |name| {
        language::VARIABLE.argument(name, flavor)?;
        Some(&block.body.attribute(name)?.value)
    };
    let flag = |name| argument(name).map(|value| flag(file, value));
    let ty = argument("type").map(|value| Given {
        value: type_of(value, faults),
        place: faults.place_of(value),
    });
    let mut variable = Variable {
        name: name.text.clone(),
        place: faults.place(block.header),
        filled_by: ty.as_ref().and_then(|ty| ty.value.clone()),
        ty,
        default: None,
        nullable: flag("nullable"),
        sensitive: flag("sensitive"),
        ephemeral: flag("ephemeral"),
        constant: flag("const"),
    };
    variable.default = argument("default").map(|value| Given {
        value: variable.default_of(file, value),
        place: faults.place_of(value),
    });
    Some(variable)
}

/// Evaluates a flag; one that cannot be read counts as set, so that no secret is shown.
fn flag(file: FileId, value: &Expr) -> bool {
    match expr::constant(file, value) {
        Ok(Value::Bool(flag)) => flag,
        // The conversions of the language: `"0"` is false as well.
        Ok(Value::String(text)) => !["false", "0"].contains(&&*text),
        _ => true,
    }
}

/// Reads a type; the programs go on as if it were `any` where they refuse it.
fn type_of(value: &Expr, faults: &mut Faults) -> Option<Type> {
    let read = match (faults.syntax, &value.kind) {
        (Syntax::Json, ExprKind::String(text)) => Type::of_json(faults.file, text, value.span),
        _ => Type::of_variable(faults.file, value),
    };
    match read {
        Ok(ty) => Some(ty),
        Err(error) if error.refused.is_empty() => None,
        Err(error) => {
            faults.add(error.refused);
            Some(Type::Any)
        }
    }
}

impl Variable {
    /// Brings a value into the form in which the module sees it.
    ///
    /// # Errors
    /// The first thing that does not fit the type.
    pub(crate) fn take(&self, value: Typed) -> Result<Typed, Misfit> {
        let value = match &self.filled_by {
            // Defaults of `optional()` come first: they may be what makes the value fit the type
            // (config rules 9.6).
            Some(ty) => expr::fill(value, ty)?,
            None => value,
        };
        self.convert(value)
    }

    /// Returns whether a value has that form already.
    pub(crate) fn takes_as_it_is(&self, value: &Typed) -> bool {
        let types = [
            self.ty.as_ref().map(|ty| ty.value.as_ref()),
            self.filled_by.as_ref().map(Some),
        ];
        types
            .into_iter()
            .flatten()
            .all(|ty| ty.is_some_and(|ty| *ty == Type::Any || *ty == value.ty))
    }

    fn convert(&self, value: Typed) -> Result<Typed, Misfit> {
        match self.ty.as_ref().map(|ty| &ty.value) {
            Some(Some(ty)) => expr::convert(value, ty),
            Some(None) => Err(Misfit::Uncertain("a type that could not be determined")),
            None => Ok(value),
        }
    }

    fn default_of(&self, file: FileId, value: &Expr) -> Option<Typed> {
        let constant = expr::constant(file, value).ok()?;
        self.take(Typed::of(constant)).ok()
    }

    /// Returns the type that its values have, as far as it is known.
    pub(crate) fn value_type(&self) -> Type {
        let ty = self.ty.as_ref().and_then(|ty| ty.value.as_ref());
        ty.map_or(Type::Any, Type::plain)
    }

    /// Takes over what the block of an override file sets. The default is converted again, from what it was
    /// converted to before (config rules 3.13).
    pub(crate) fn merge(&mut self, over: Self) {
        self.ty = over.ty.or(self.ty.take());
        self.nullable = over.nullable.or(self.nullable);
        self.sensitive = over.sensitive.or(self.sensitive);
        self.ephemeral = over.ephemeral.or(self.ephemeral);
        self.constant = over.constant.or(self.constant);
        let default = over.default.or(self.default.take());
        self.default = default.map(|default| Given {
            value: default.value.and_then(|value| self.convert(value).ok()),
            ..default
        });
    }
}
