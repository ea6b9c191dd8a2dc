//! Traces of computed sources and versions of modules, for reports.

use serde::Serialize;

/// The computed source and version of a module call, with the values behind them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComputedCall {
    /// The source as written, if it is computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<ComputedArgument>,
    /// The version as written, if it is computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<ComputedArgument>,
    /// The values that they depend on, each once and followed by those that it depends on itself.
    pub values: Vec<TracedValue>,
    /// All values are listed: of very many, only some are.
    pub complete: bool,
}

/// An argument that is computed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComputedArgument {
    /// The expression as written, in one line and shortened.
    pub expression: String,
    /// The result, as the language writes it; absent of a source, and if there is no value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// The reason why it could not be computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
    /// The place of the expression in its file.
    #[serde(flatten)]
    pub place: TracedPlace,
}

/// A place in a file, without its bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TracedPlace {
    /// The path of the file, as messages show it.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
}

/// A value that something computed depends on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TracedValue {
    /// The number of values between it and the argument.
    pub level: usize,
    /// The name in its module, as in `var.env` or `local.dirs.prod`.
    pub name: String,
    /// The address of its module; empty for the root module.
    pub module: String,
    /// The state of the value when sources are computed.
    pub state: ValueState,
    /// The value as the language writes it, in one line and shortened; absent unless it is known and no
    /// secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// The reason why it is unknown or was not computed, unless it depends on a value that has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
    /// The construct that gives the value.
    pub from: ValueOrigin,
    /// The place of that construct, if it is in a file.
    #[serde(flatten)]
    pub place: Option<TracedPlace>,
}

/// The state of a value when sources are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ValueState {
    /// The value is known and may be shown.
    Known,
    /// The value is known, but sensitive.
    Sensitive,
    /// The value is known, but exists for one run only.
    Ephemeral,
    /// The program does not know it before the plan.
    Unknown,
    /// The program may know it, but lockctl cannot compute it.
    NotComputed,
}

/// The construct that gives a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ValueOrigin {
    /// The default of the variable.
    Default,
    /// Nothing: the variable has neither a value nor a default.
    Unset,
    /// The default of the variable, since null is given and the variable is never null.
    DefaultForNull,
    /// An argument of the call of the module.
    Argument,
    /// The run of a test that calls the module.
    Run,
    /// A file of values.
    ValuesFile,
    /// An environment variable, as in `TF_VAR_env`.
    Environment,
    /// A `-var` argument of the command line.
    CommandLine,
    /// The local value itself.
    Local,
    /// The program: the workspace that is selected.
    Program,
}

impl ComputedCall {
    /// Counts the lines to show: one for each argument and each value.
    #[must_use]
    pub fn lines(&self) -> usize {
        self.arguments().count() + self.values.len()
    }

    /// Returns the texts of expressions, names and values: what two calls have in common that were
    /// computed alike, wherever they are.
    #[must_use]
    pub fn texts(&self) -> Vec<&str> {
        let mut texts: Vec<&str> = self
            .arguments()
            .map(|(_, argument)| &*argument.expression)
            .collect();
        for value in &self.values {
            texts.push(&value.name);
            texts.push(value.value.as_deref().unwrap_or_default());
        }
        texts
    }

    /// Returns the computed arguments with their names.
    pub fn arguments(&self) -> impl Iterator<Item = (&'static str, &ComputedArgument)> {
        [("source", &self.source), ("version", &self.version)]
            .into_iter()
            .filter_map(|(name, argument)| Some((name, argument.as_ref()?)))
    }
}
