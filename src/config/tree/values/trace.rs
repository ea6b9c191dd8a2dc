//! How sources and versions got their values: from each expression along the names in it to where their
//! values are given.
//!
//! Nothing is recorded while values are computed. Once a call is, the values that were kept for the modules
//! that lead to it are looked up again, for those who ask.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::config::computed::{
    ComputedArgument, ComputedCall, TracedPlace, TracedValue, ValueOrigin, ValueState,
};
use crate::config::loaded::ModuleNode;
use crate::config::tree::root_values::RootValue;
use crate::config::tree::values::{Entry, Instance, Kind, Memo, Stop, Values};
use crate::diag::{Label, Texts};
use crate::expr::{self, Value};
use crate::hcl::tree::Step;
use crate::module_config::decode::contents::{CallVersion, Late, Source};
use crate::module_config::decode::variables::Given;
use crate::module_config::file::SourcePlace;
use crate::module_config::syntax::references::{self, Reference};

/// How many values in a row are followed, each needed by the one before it.
const MAX_LEVELS: usize = 16;
/// How many values are listed for one call.
const MAX_VALUES: usize = 48;
/// How many characters of a value are shown.
const MAX_VALUE_CHARS: usize = 60;
/// How many characters of an expression are shown.
const MAX_EXPRESSION_CHARS: usize = 80;

/// What a computed call came to.
pub(in crate::config) struct ComputedResult {
    /// The version with its value, where there is one.
    pub(in crate::config) version: CallVersion,
    /// What keeps source or version from being computed.
    pub(in crate::config) missing: Option<Label>,
}

/// A name that stands for a value of a module.
struct Named<'a> {
    node: usize,
    /// As it is written.
    text: String,
    reference: Reference<'a>,
}

/// What is known of a name.
struct Found<'a> {
    /// The value, or why there is none.
    value: Result<Cow<'a, Value>, Option<&'a Label>>,
    from: ValueOrigin,
    place: Option<SourcePlace>,
    /// The expression that gives the value, in the module of a node.
    given_by: Option<(usize, Late)>,
    /// Terraform does not compute it.
    is_late: bool,
}

impl Values {
    /// Says how a call in the module of a node, the one at this place of its calls, got its source and its
    /// version; `nodes` has those that lead there.
    pub(in crate::config) fn trace(
        &self,
        caller: usize,
        at: usize,
        result: &ComputedResult,
        nodes: &[ModuleNode],
        texts: &Texts,
    ) -> Option<ComputedCall> {
        let call = self.instances.get(&caller)?.module.contents.calls.get(at)?;
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
        for late in source.into_iter().chain(version) {
            trace.follow(caller, late, 0);
        }
        let stated = match &result.version {
            CallVersion::Stated(version) => Some(format!("{:?}", version.to_string())),
            CallVersion::Null => Some("null".to_owned()),
            CallVersion::Absent | CallVersion::Computed => None,
        };
        let version = version.map(|late| ComputedArgument {
            value: stated,
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
    /// What is listed already: nodes with the names as written.
    listed: BTreeSet<(usize, String)>,
    /// What keeps the call from being computed, until it is said.
    missing: Option<&'a Label>,
    list: Vec<TracedValue>,
    is_cut: bool,
}

impl<'a> Trace<'a> {
    /// Lists what an expression in the module of a node depends on.
    fn follow(&mut self, node: usize, late: &Late, level: usize) {
        for reference in references::inside(&late.expr) {
            let Some(text) = name(reference) else {
                continue;
            };
            let named = Named {
                node,
                text,
                reference,
            };
            let Some(found) = self.values.find(&named) else {
                continue;
            };
            if self.listed.contains(&(node, named.text.clone())) {
                continue;
            }
            if level >= MAX_LEVELS || self.list.len() >= MAX_VALUES {
                self.is_cut = true;
                return;
            }
            self.listed.insert((node, named.text.clone()));
            let at = self.list.len();
            self.list.push(self.row(&named, &found, level));
            if let Some((node, late)) = &found.given_by {
                self.follow(*node, late, level + 1);
            }
            // Whatever needs a value that is missing has none itself: only the last one says why.
            if let Err(Some(label)) = found.value {
                self.list[at].missing = self.say(label);
            }
        }
    }

    /// Returns the reason that a label states, the first time.
    fn say(&mut self, label: &Label) -> Option<String> {
        self.missing.take_if(|missing| *missing == label)?;
        Some(label.note.clone()).filter(|note| !note.is_empty())
    }

    fn row(&self, named: &Named<'_>, found: &Found<'_>, level: usize) -> TracedValue {
        let (state, value) = match &found.value {
            Ok(value) => state(inside(value, named.reference)),
            Err(_) => (ValueState::NotComputed, None),
        };
        let module = &self.nodes[named.node].path;
        TracedValue {
            level,
            name: named.text.clone(),
            module: match module.is_root() {
                true => String::new(),
                false => module.to_string(),
            },
            state,
            value,
            missing: found
                .is_late
                .then(|| "the variable is not const".to_owned()),
            from: found.from,
            place: found.place.map(|place| self.place(place)),
        }
    }

    fn argument(&mut self, late: &Late) -> ComputedArgument {
        let place = late.place();
        let bytes = self.texts.bytes(place.file);
        let written = bytes
            .get(place.span.start..place.span.end)
            .unwrap_or_default();
        let is_inside = |label: &&Label| {
            label.file == place.file
                && (place.span.start..=place.span.end).contains(&label.span.start)
        };
        let missing = self.missing.filter(is_inside);
        ComputedArgument {
            expression: shortened(written),
            value: None,
            missing: missing.and_then(|label| self.say(label)),
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
    /// Finds what is known of a name; nothing for what has no value early, and what is not there.
    fn find(&self, named: &Named<'_>) -> Option<Found<'_>> {
        let instance = self.instances.get(&named.node)?;
        let [Step::Attr(attribute), ..] = named.reference.steps else {
            return None;
        };
        let name = attribute.text.as_str();
        match named.reference.root {
            "var" => self.find_variable(named.node, name, instance),
            "local" => {
                let mut locals = instance.module.contents.locals.iter();
                let local = locals.find(|one| one.name == name)?;
                Some(Found {
                    value: self.looked_up(named.node, Kind::Local, name),
                    from: ValueOrigin::Local,
                    place: Some(local.place),
                    given_by: Some((named.node, local.value.clone())),
                    is_late: false,
                })
            }
            "terraform" | "tofu" if name == "workspace" && self.flavor.is_opentofu() => {
                Some(Found {
                    value: Ok(Cow::Owned(Value::string(&*self.workspace))),
                    from: ValueOrigin::Program,
                    place: None,
                    given_by: None,
                    is_late: false,
                })
            }
            _ => None,
        }
    }

    fn find_variable(&self, node: usize, name: &str, instance: &Instance) -> Option<Found<'_>> {
        let mut variables = instance.module.contents.variables.iter();
        let variable = variables.find(|one| one.name == name)?;
        let default = variable.default.as_ref();
        let value = self.looked_up(node, Kind::Variable, name);
        let is_const = Given::says(variable.constant.as_ref(), true);
        let found = |from, place| Found {
            value: value.clone(),
            from,
            place,
            given_by: None,
            is_late: !self.flavor.is_opentofu() && !is_const,
        };
        if instance.defaulted.contains(name) {
            let place = default.map(|one| one.place);
            return Some(found(ValueOrigin::DefaultForNull, place));
        }
        let argument = self.argument(node, name);
        Some(match (&instance.entry, argument) {
            (Entry::Call { caller, .. }, Some(late)) => Found {
                place: Some(late.place()),
                given_by: Some((*caller, late)),
                ..found(ValueOrigin::Argument, None)
            },
            (Entry::Run(_), Some(late)) => found(ValueOrigin::Run, Some(late.place())),
            (Entry::Root, _) => match self.given.get(name) {
                Some(RootValue::Written(late)) => {
                    found(ValueOrigin::ValuesFile, Some(late.place()))
                }
                // Those of the command line replace those of the environment.
                Some(RootValue::Text(_)) if self.arguments.iter().any(|one| one == name) => {
                    found(ValueOrigin::CommandLine, None)
                }
                Some(RootValue::Text(_)) => found(ValueOrigin::Environment, None),
                None => found(ValueOrigin::Default, default.map(|one| one.place)),
            },
            (_, None) => found(ValueOrigin::Default, default.map(|one| one.place)),
        })
    }

    /// Returns a value that was computed. What was not needed to be is not known early.
    fn looked_up(
        &self,
        node: usize,
        kind: Kind,
        name: &str,
    ) -> Result<Cow<'_, Value>, Option<&Label>> {
        match self.known(node, kind, name) {
            Some(Memo::Done(Ok(value))) => Ok(Cow::Borrowed(&value.value)),
            Some(Memo::Done(Err(Stop::Uncertain(reason)))) => Err(reason.primary.as_ref()),
            Some(Memo::Done(Err(Stop::Refused | Stop::Unfit)) | Memo::Begun) => Err(None),
            None => Ok(Cow::Owned(Value::Unknown)),
        }
    }
}

/// Returns the name of a value as it is written, with its attributes.
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

/// Returns the part of a value that a name means, as far as that can be seen.
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

/// Says whether a value is known, and shows it if it may be seen.
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

/// Brings an expression into one short line.
fn shortened(bytes: &[u8]) -> String {
    // A character has at most four bytes; the rest need not be looked at.
    let enough = &bytes[..bytes.len().min(8 * MAX_EXPRESSION_CHARS)];
    let text = String::from_utf8_lossy(enough);
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let line = lines.join(" ");
    match line.char_indices().nth(MAX_EXPRESSION_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None if enough.len() < bytes.len() => format!("{line}…"),
        None => line,
    }
}
