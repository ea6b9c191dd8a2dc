//! Values that a user gives to the variables of a root, besides those in its files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// The beginning of the names of environment variables that hold values.
pub const VALUE_PREFIX: &str = "TF_VAR_";

/// Values for the variables of a root.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GivenValues {
    /// Of the environment, by the names of the variables: without [`VALUE_PREFIX`].
    pub environment: BTreeMap<String, String>,
    /// Names of variables that the environment gives values which must not be used.
    pub hidden: BTreeSet<String>,
    /// Of the command line, in their order.
    pub arguments: Vec<ValueArgument>,
}

/// One argument that gives values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueArgument {
    /// A value, as text.
    Value {
        /// The name of the variable.
        name: String,
        /// The value: text, or an expression where the type of the variable is not primitive.
        text: String,
    },
    /// A file of values, given from the root on.
    File(PathBuf),
}
