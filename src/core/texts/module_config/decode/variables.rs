//! `variable` blocks: what a module takes, and what stands in where nothing is given (config rules 3.13, 9.5,
//! 9.6, 12.4).
//!
//! All that can be said of a value without knowing it is said here: its type, its default in the form
//! that the type gives it, and whether it must be known early. What only we cannot compute changes no
//! requirement by itself and is no fault.

use crate::diag::{Diagnostic, rules};
use crate::expr::{self, Misfit, Type, Typed, Value};
use crate::hcl::tree::{Block, Expr, ExprKind};
use crate::module_config::decode::bodies;
use crate::module_config::faults::Faults;
use crate::module_config::file::{SourcePlace, Syntax};
use crate::module_config::syntax::words;
use crate::module_config::{flood, language};

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
    pub nullable: Option<Given<bool>>,
    pub sensitive: Option<Given<bool>>,
    pub ephemeral: Option<Given<bool>>,
    /// The variable must have a value before anything is installed.
    pub constant: Option<Given<bool>>,
}

/// The value of an argument with its place.
#[derive(Clone, Debug)]
pub(crate) struct Given<T> {
    /// Nothing where it could not be determined.
    pub value: Option<T>,
    /// The value as it is written.
    pub place: SourcePlace,
}

impl Given<bool> {
    /// Returns whether the argument is there and says this.
    pub(crate) fn says(given: Option<&Self>, wanted: bool) -> bool {
        given.is_some_and(|given| given.value == Some(wanted))
    }
}

const BAD_DEFAULT: &str = "Invalid default value for variable";
const NOT_NULL: &str = "null is no value of this variable";

pub(crate) fn decode(block: &Block, faults: &mut Faults) -> Option<Variable> {
    let [name] = &*block.labels else {
        return None;
    };
    bodies::check(&block.body, &language::VARIABLE, faults);
    if !words::is_identifier(&name.text) {
        faults.invalid("Invalid variable name", name.span, words::NAME);
    }
    let ty = given(block, "type", faults, type_of);
    let mut variable = Variable {
        name: name.text.clone(),
        place: faults.place(block.header),
        filled_by: ty.as_ref().and_then(|ty| ty.value.clone()),
        ty,
        default: None,
        nullable: given(block, "nullable", faults, bodies::truth),
        sensitive: given(block, "sensitive", faults, bodies::truth),
        ephemeral: given(block, "ephemeral", faults, bodies::truth),
        constant: given(block, "const", faults, bodies::truth),
    };
    variable.default = given(block, "default", faults, |value, faults| {
        let constant = bodies::constant(value, faults)?;
        match variable.take(Typed::of(constant)) {
            Ok(default) => {
                if variable.misses(&default) {
                    faults.error(rules::WRONG_TYPE, BAD_DEFAULT, value.span, NOT_NULL);
                }
                Some(default)
            }
            Err(Misfit::Refused(reason)) => {
                faults.error(rules::WRONG_TYPE, BAD_DEFAULT, value.span, &reason);
                None
            }
            Err(Misfit::Uncertain(_)) => None,
        }
    });
    Some(variable)
}

/// Reads an argument that the flavor has.
fn given<T>(
    block: &Block,
    name: &str,
    faults: &mut Faults,
    read: impl FnOnce(&Expr, &mut Faults) -> Option<T>,
) -> Option<Given<T>> {
    language::VARIABLE.argument(name, faults.flavor)?;
    let argument = block.body.attribute(name)?;
    Some(Given {
        value: read(&argument.value, faults),
        place: faults.place_of(&argument.value),
    })
}

/// Reads a type; the programs go on as if it were `any` where they refuse it.
fn type_of(value: &Expr, faults: &mut Faults) -> Option<Type> {
    let read = match (faults.syntax, &value.kind) {
        (Syntax::Json, ExprKind::String(text)) => Type::of_json(faults.file, text, value.span),
        _ => Type::of_variable(faults.file, value),
    };
    let repeated = Type::repeated(value, faults.overruled(value.span));
    for key in &repeated {
        let remark = "this attribute is written twice here";
        faults.error(
            rules::TYPE_INVALID,
            "Invalid type specification",
            *key,
            remark,
        );
    }
    match read {
        // The tree has the last of the two, the programs refuse both.
        Ok(_) if !repeated.is_empty() => Some(Type::Any),
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

    /// Returns the type that its values have, as far as it is known.
    pub(crate) fn value_type(&self) -> Type {
        let ty = self.ty.as_ref().and_then(|ty| ty.value.as_ref());
        ty.map_or(Type::Any, Type::plain)
    }

    /// Returns whether a value is null although the variable is never null.
    fn misses(&self, value: &Typed) -> bool {
        value.value == Value::Null && Given::says(self.nullable.as_ref(), false)
    }

    /// Takes over what the block of an override file sets; then the default must fit the type, where
    /// either of them may be the base's (config rules 3.13).
    ///
    /// A default of the base has been converted to the base's type before.
    pub(crate) fn merge(&mut self, over: Self, found: &mut Vec<Diagnostic>) {
        let place = over.place;
        self.ty = over.ty.or(self.ty.take());
        self.default = over.default.or(self.default.take());
        self.nullable = over.nullable.or(self.nullable.take());
        self.sensitive = over.sensitive.or(self.sensitive.take());
        self.ephemeral = over.ephemeral.or(self.ephemeral.take());
        self.constant = over.constant.or(self.constant.take());
        let Some(default) = self
            .default
            .as_ref()
            .and_then(|default| default.value.clone())
        else {
            return;
        };
        let (merged, refused) = match self.convert(default.clone()) {
            Ok(converted) => (Some(converted), None),
            Err(Misfit::Uncertain(_)) => (None, None),
            // The value stays as it was, so that a later override may still fit it.
            Err(Misfit::Refused(reason)) => (Some(default), Some(reason)),
        };
        let ty = self.ty.as_ref().map(|ty| (ty.place, "the type"));
        let nullable = self
            .nullable
            .as_ref()
            .map(|nullable| (nullable.place, "nullable"));
        if let Some(reason) = refused {
            flood::push(found, self.misfit(place, &reason, ty));
        }
        if merged.as_ref().is_some_and(|merged| self.misses(merged)) {
            flood::push(found, self.misfit(place, NOT_NULL, nullable));
        }
        if let Some(default) = &mut self.default {
            default.value = merged;
        }
    }

    /// Reports a default that does not go together with another argument, at the override that
    /// brought the two together.
    fn misfit(
        &self,
        over: SourcePlace,
        reason: &str,
        other: Option<(SourcePlace, &str)>,
    ) -> Diagnostic {
        let default = self
            .default
            .as_ref()
            .map(|default| (default.place, "the default"));
        let mut error =
            Diagnostic::error(rules::WRONG_TYPE, BAD_DEFAULT).at(over.file, over.span, reason);
        for (place, note) in default.into_iter().chain(other) {
            error = error.see(place.file, place.span, note);
        }
        error
    }
}
