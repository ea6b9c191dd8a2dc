//! Traces of computed sources and versions: the values that an expression needs, down to where these are given.
//!
//! Nothing is recorded while values are computed. For a trace, the values that were kept for the modules that lead
//! to a call are looked up again.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::config::computed::{
    ComputedArgument, ComputedCall, TracedPlace, TracedValue, ValueOrigin, ValueState,
};
use crate::config::loaded::ModuleNode;
use crate::config::tree::root_values::RootValue;
use crate::config::tree::values::{Entry, ModuleValues, Stop, ValueKey, Values};
use crate::diag::{Label, Span, Texts};
use crate::expr::{self, Value};
use crate::hcl::tree::Step;
use crate::module_config::decode::contents::{CallVersion, Source};
use crate::module_config::decode::late::Late;
use crate::module_config::decode::variables::Given;
use crate::module_config::file::SourcePlace;
use crate::module_config::syntax::references::{self, Reference};

/// Maximum number of values in a row that are followed, each needed by the one before it.
const MAX_LEVELS: usize = 16;
/// Maximum number of values that are listed for one call.
const MAX_VALUES: usize = 48;
/// Maximum number of characters of a value that are shown.
const MAX_VALUE_CHARS: usize = 60;
/// Maximum number of characters of an expression that are shown.
const MAX_EXPRESSION_CHARS: usize = 80;

/// The version of a computed call, or the reason why it has none.
pub(in crate::texts::config) struct ComputedResult {
    /// The version with its value, where there is one.
    pub(in crate::texts::config) version: CallVersion,
    /// The reason why source or version could not be computed, at its place.
    pub(in crate::texts::config) missing: Option<Label>,
}

/// A name with a value in a module.
struct TracedName<'a> {
    node: usize,
    /// The name with its attributes as it is written.
    text: String,
    reference: Reference<'a>,
}

/// The value of a name, and its origin.
struct TraceEntry<'a> {
    /// The value, or why there is none.
    value: Result<Cow<'a, Value>, Option<&'a Label>>,
    from: ValueOrigin,
    place: Option<SourcePlace>,
    /// The expression that gives the value, in the module of a node.
    given_by: Option<(usize, Late)>,
    /// Terraform does not compute the value early.
    is_late: bool,
}

impl Values {
    /// Traces the source and the version of a call, which is at this place of the calls of a module. `nodes` are the
    /// nodes that lead there.
    pub(in crate::texts::config) fn trace(
        &self,
        caller: usize,
        at: usize,
        result: &ComputedResult,
        nodes: &[ModuleNode],
        texts: &Texts,
    ) -> Option<ComputedCall> {
        let call = self.modules.get(&caller)?.module.contents.calls.get(at)?;
        let mut trace = Trace {
            values: self,
            nodes,
            texts,
            listed: BTreeSet::new(),
            missing: result.missing.as_ref(),
            list: Vec::new(),
            is_cut: false,
        };
        let is_source = matches!(call.source, Some(Source::Computed(_)));
        let source = call.source_late.as_ref().filter(|_| is_source);
        let is_version = call.version == CallVersion::Computed;
        let version = call.version_late.as_ref().filter(|_| is_version);
        // Both share one list: a name that source and version use is explained once.
        for late in source.into_iter().chain(version) {
            trace.follow(caller, late, 0);
        }
        let version_text = match &result.version {
            CallVersion::Stated(version) => Some(format!("{:?}", version.to_string())),
            CallVersion::Null => Some("null".to_owned()),
            CallVersion::Absent | CallVersion::Computed => None,
        };
        let version = version.map(|late| ComputedArgument {
            value: version_text,
            ..trace.argument(late)
        });
        Some(ComputedCall {
            source: source.map(|late| trace.argument(late)),
            version,
            values: trace.list,
            complete: !trace.is_cut,
        })
    }
}

/// The values behind one call, as they are found.
struct Trace<'a> {
    values: &'a Values,
    nodes: &'a [ModuleNode],
    texts: &'a Texts,
    /// The names that are listed already, by node.
    listed: BTreeSet<(usize, String)>,
    /// The reason why the call has no value, until a row states it.
    missing: Option<&'a Label>,
    list: Vec<TracedValue>,
    is_cut: bool,
}

impl<'a> Trace<'a> {
    /// Lists the values that an expression in the module of a node needs.
    fn follow(&mut self, node: usize, late: &Late, level: usize) {
        for reference in references::inside(&late.expr) {
            let Some(text) = name(reference) else {
                continue;
            };
            let named = TracedName {
                node,
                text,
                reference,
            };
            let Some(entry) = self.values.find(&named) else {
                continue;
            };
            // Several expressions may use one name; it is listed where it is used first.
            if self.listed.contains(&(node, named.text.clone())) {
                continue;
            }
            // The rest of a long trace is cut off, and the trace says so.
            if level >= MAX_LEVELS || self.list.len() >= MAX_VALUES {
                self.is_cut = true;
                return;
            }
            self.listed.insert((node, named.text.clone()));
            let at = self.list.len();
            let (state, value) = match &entry.value {
                Ok(value) => state(inside(value, named.reference)),
                Err(_) => (ValueState::NotComputed, None),
            };
            let module = &self.nodes[named.node].path;
            self.list.push(TracedValue {
                level,
                name: named.text.clone(),
                module: if module.is_root() {
                    String::new()
                } else {
                    module.to_string()
                },
                state,
                value,
                missing: entry
                    .is_late
                    .then(|| "the variable is not const".to_owned()),
                from: entry.from,
                place: entry.place.map(|place| self.place(place)),
            });
            if let Some((node, late)) = &entry.given_by {
                self.follow(*node, late, level + 1);
            }
            // A value that needs a missing one is missing, too: only the last one states the reason.
            if let Err(Some(label)) = entry.value {
                self.list[at].missing = self.state_reason(label);
            }
        }
    }

    /// Returns the note of a label, the first time that it is the reason.
    fn state_reason(&mut self, label: &Label) -> Option<String> {
        self.missing.take_if(|missing| *missing == label)?;
        Some(label.note.clone()).filter(|note| !note.is_empty())
    }

    fn argument(&mut self, late: &Late) -> ComputedArgument {
        let place = late.place();
        let written = self
            .texts
            .bytes(place.file)
            .get(place.span.start..place.span.end)
            .unwrap_or_default();
        let is_inside = |label: &&Label| {
            label.file == place.file
                && (place.span.start..=place.span.end).contains(&label.span.start)
        };
        let missing = self.missing.filter(is_inside);
        // A character has at most four bytes, and lines may be indented: twice that is enough to fill the line.
        let enough = &written[..written.len().min(8 * MAX_EXPRESSION_CHARS)];
        let line = String::from_utf8_lossy(enough)
            .lines()
            .map(str::trim)
            .collect::<Vec<_>>()
            .join(" ");
        let expression = match line.char_indices().nth(MAX_EXPRESSION_CHARS) {
            Some((end, _)) => format!("{}…", &line[..end]),
            None if enough.len() < written.len() => format!("{line}…"),
            None => line,
        };
        ComputedArgument {
            expression,
            value: None,
            missing: missing.and_then(|label| self.state_reason(label)),
            place: self.place(place),
        }
    }

    fn place(&self, place: SourcePlace) -> TracedPlace {
        let position = self.texts.position(place.file, place.span.start);
        TracedPlace {
            file: self.texts.name(place.file).to_owned(),
            line: position.line,
            column: position.column,
        }
    }
}

impl Values {
    /// Finds the value of a name; `None` for a name without an early value, or that is not declared.
    fn find(&self, named: &TracedName<'_>) -> Option<TraceEntry<'_>> {
        let module = self.modules.get(&named.node)?;
        let [Step::Attr(attribute), ..] = named.reference.steps else {
            return None;
        };
        let name = attribute.text.as_str();
        match named.reference.root {
            "var" => self.find_variable(named.node, name, module),
            "local" => {
                let local = module
                    .module
                    .contents
                    .locals
                    .iter()
                    .find(|local| local.name == name)?;
                Some(TraceEntry {
                    value: looked_up(module, &ValueKey::Local(name.to_owned())),
                    from: ValueOrigin::Local,
                    place: Some(local.place),
                    given_by: Some((named.node, local.value.clone())),
                    is_late: false,
                })
            }
            "terraform" | "tofu" if name == "workspace" && self.flavor.is_opentofu() => {
                Some(TraceEntry {
                    value: Ok(Cow::Owned(Value::string(&*self.workspace))),
                    from: ValueOrigin::Program,
                    place: None,
                    given_by: None,
                    is_late: false,
                })
            }
            // The directories of `path` need no explanation, and `each` and `count` have no early value.
            _ => None,
        }
    }

    fn find_variable<'v>(
        &self,
        node: usize,
        name: &str,
        module: &'v ModuleValues,
    ) -> Option<TraceEntry<'v>> {
        let variables = &module.module.contents.variables;
        let variable = variables.iter().find(|variable| variable.name == name)?;
        let default = variable.default.as_ref();
        let value = looked_up(module, &ValueKey::Variable(name.to_owned()));
        let is_const = Given::says(variable.constant.as_ref(), true);
        let default_place = default.map(|default| default.place);
        let entry = |from, place| TraceEntry {
            value: value.clone(),
            from,
            place,
            given_by: None,
            is_late: !self.flavor.is_opentofu() && !is_const,
        };
        // A null for a variable that is not nullable: the argument is there, and the default counts.
        if module.defaulted.contains(name) {
            return Some(entry(ValueOrigin::DefaultForNull, default_place));
        }
        let argument = self.argument(node, name);
        Some(match (&module.entry, argument) {
            (Entry::Call { caller, .. }, Some(late)) => TraceEntry {
                place: Some(late.place()),
                given_by: Some((*caller, late)),
                ..entry(ValueOrigin::Argument, None)
            },
            (Entry::Run(_), Some(late)) => entry(ValueOrigin::Run, Some(late.place())),
            (Entry::Root, _) => match self.given.get(name) {
                Some(RootValue::Written(late)) => {
                    entry(ValueOrigin::ValuesFile, Some(late.place()))
                }
                // Values of the command line replace those of the environment.
                Some(RootValue::Text(_))
                    if self.arguments.iter().any(|(given, _)| given == name) =>
                {
                    entry(ValueOrigin::CommandLine, None)
                }
                Some(RootValue::Text(_) | RootValue::Hidden) => {
                    entry(ValueOrigin::Environment, None)
                }
                // The value may be in a file that could not be read, so neither default nor absence is certain.
                None => match self.given.unread.last() {
                    Some(unread) => {
                        let (file, span) = (unread.file, Span::default());
                        entry(ValueOrigin::ValuesFile, Some(SourcePlace { file, span }))
                    }
                    None if default.is_none() => entry(ValueOrigin::Unset, Some(variable.place)),
                    None => entry(ValueOrigin::Default, default_place),
                },
            },
            (_, None) => entry(ValueOrigin::Default, default_place),
        })
    }
}

/// Returns a value that was computed, or the place of the reason why it has none. A value that was not needed
/// so far is not known early.
pub(super) fn looked_up<'v>(
    module: &'v ModuleValues,
    key: &ValueKey,
) -> Result<Cow<'v, Value>, Option<&'v Label>> {
    match module.computed.get(key) {
        Some(Some(Ok(value))) => Ok(Cow::Borrowed(&value.value)),
        Some(Some(Err(Stop::Uncertain(reason)))) => Err(reason.primary.as_ref()),
        Some(Some(Err(Stop::Refused(_))) | None) => Err(None),
        None => Ok(Cow::Owned(Value::Unknown)),
    }
}

/// Returns a name with its attributes as it is written; `None` for a name without attributes.
fn name(reference: Reference<'_>) -> Option<String> {
    let mut text = reference.root.to_owned();
    let attributes = reference.steps.iter().map_while(|step| match step {
        Step::Attr(name) => Some(&name.text),
        _ => None,
    });
    for attribute in attributes {
        text.push('.');
        text.push_str(attribute);
    }
    (text.len() > reference.root.len()).then_some(text)
}

/// Returns the part of a value that the steps of a name lead to, as far as they lead through known objects.
fn inside<'v>(value: &'v Value, reference: Reference<'_>) -> &'v Value {
    let mut value = value;
    for step in reference.steps.iter().skip(1) {
        value = match (value, step) {
            (Value::Object(items), Step::Attr(name)) => match items.get(&name.text) {
                Some(item) => item,
                None => return value,
            },
            _ => return value,
        };
    }
    value
}

/// Returns the state of a value, and its text if it may be shown.
fn state(value: &Value) -> (ValueState, Option<String>) {
    match value {
        Value::Marked(marks, _) if marks.sensitive => (ValueState::Sensitive, None),
        Value::Marked(..) => (ValueState::Ephemeral, None),
        Value::Unknown => (ValueState::Unknown, None),
        value => {
            let shown = expr::in_one_line(value, MAX_VALUE_CHARS);
            (ValueState::Known, Some(shown))
        }
    }
}
